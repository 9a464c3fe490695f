"""Prints and replaces the visitor schema and the customization of a site.

The service replaces the whole document at each write. So before a replacement is sent, the document is read again and
compared with the version that was edited. Nothing is sent if it would overwrite another user's changes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, NoReturn, cast

import click

from presscheck.api.operation import Operation
from presscheck.api.site_settings import (
    AdaptiveSchema,
    GetAdaptiveSchema,
    GetCustomization,
    UpdateAdaptiveSchema,
    UpdateCustomization,
)
from presscheck.api.sites import Site
from presscheck.cli import lookup
from presscheck.cli.operations.command_factory import errors_at_fields, print_request, sends
from presscheck.cli.operations.field_options import call_of
from presscheck.cli.output import print_message
from presscheck.cli.session import Session, confirm, org_option, site_argument, with_session, yes_option
from presscheck.cli.site.config import bases_of, difference_json, drift_json, drift_text, print_differences
from presscheck.engine.site_config.bases import Base, overwritten
from presscheck.engine.site_config.comparison import Difference, Drift, compare
from presscheck.engine.site_config.document import SiteConfig
from presscheck.engine.site_config.push import Push
from presscheck.engine.site_config.site_state import SiteSecrets, SiteState, StateReader, part_config
from presscheck.engine.site_config.steps import Plan, Step
from presscheck.errors import ChangedSince, ChecksFailed, InvalidArgument, PresscheckError
from presscheck.text.phrases import count

Command = Callable[..., Any]


class Document(NamedTuple):
    """A document of a site that is replaced as a whole.

    Attributes:
        part: its part of the configuration.
        noun: its name in messages.
        read: the operation that reads it.
        write: the operation that replaces it.
        field: the field of `write` for the document.
        printed: the command that prints it.
    """

    part: Literal["customization", "visitor_schema"]
    noun: str
    read: type[Operation[Any]]
    write: type[Operation[Any]]
    field: str
    printed: str

    def config(self, value: Mapping[str, Any] | None, secrets: SiteSecrets) -> SiteConfig:
        """Return a configuration with the document as its only part, or without parts if `value` is None."""
        return SiteConfig() if value is None else part_config(self.part, value, secrets)


CUSTOMIZATION = Document(
    "customization", "customization", GetCustomization, UpdateCustomization, "settings", "site customization show"
)
SCHEMA = Document(
    "visitor_schema", "visitor schema", GetAdaptiveSchema, UpdateAdaptiveSchema, "json_schema", "site schema"
)


class Options(NamedTuple):
    """The options of a replacement."""

    base: Path | None
    overwrite: bool
    dry_run: bool
    yes: bool = True


def _replacement_options(function: Command) -> Command:
    """Add the options of the commands that replace a document."""
    for option in (
        org_option,
        click.option("--dry-run", is_flag=True, help="Print the request without sending it."),
        click.option("--overwrite", is_flag=True, help="Overwrite changes that others made since."),
        click.option(
            "--base",
            metavar="FILE",
            type=click.Path(path_type=Path),
            help="The JSON as it was printed, before you edited it.",
        ),
    ):
        function = option(function)
    return function


@click.command()
@site_argument
@org_option
@with_session
@sends(GetAdaptiveSchema)
async def schema(session: Session, site: str, org: str | None) -> None:
    """Show the visitor schema for adaptive content."""
    owner, chosen = await lookup.site(session, site, org)
    shown = await session.read(GetAdaptiveSchema(organization_id=owner.id, site_id=chosen.id))
    session.show(shown)
    if session.json:
        await _keep_printed(session, SCHEMA, owner.id, chosen, shown.json_schema)


@click.command("set-schema")
@click.argument("site")
@click.option("--json-schema", metavar="JSON", help="JSON schema of the attributes of visitors (required).")
@_replacement_options
@with_session
@sends(UpdateAdaptiveSchema)
async def set_schema(
    session: Session,
    site: str,
    json_schema: str | None,
    base: Path | None,
    org: str | None,
    *,
    overwrite: bool,
    dry_run: bool,
) -> None:
    """Replace the visitor schema for adaptive content.

    Nothing is sent, and the exit code is 5, if it would overwrite changes that others made since `site schema --json`
    printed it on this machine, or since --base FILE. Their changes are shown field by field. The previous schema is
    kept as a snapshot. Fails with 400 if the service does not support the schema.
    """
    await _replace(session, SCHEMA, json_schema, site, org, Options(base, overwrite, dry_run))


@click.group()
def customization() -> None:
    """Manage the look of a site.

    Save and edit the output of `show --json`, then pass it to `set --settings @FILE`.
    """


@customization.command()
@site_argument
@click.option(
    "--unmasked", type=click.BOOL, metavar="[true|false]", help="Include settings that the plan does not show."
)
@org_option
@with_session
@sends(GetCustomization)
async def show(session: Session, site: str, org: str | None, *, unmasked: bool | None) -> None:
    """Show the customization of a site."""
    owner, chosen = await lookup.site(session, site, org)
    given: dict[str, Any] = {} if unmasked is None else {"unmasked": unmasked}
    shown = await session.read(GetCustomization(organization_id=owner.id, site_id=chosen.id, **given))
    session.show(shown)
    if session.json and not unmasked:  # later replacements are compared with the masked settings
        await _keep_printed(session, CUSTOMIZATION, owner.id, chosen, shown)


@customization.command("set")
@click.argument("site")
@click.option("--settings", metavar="JSON", help="All settings of the customization (required).")
@_replacement_options
@yes_option
@with_session
@sends(UpdateCustomization)
async def set_customization(
    session: Session,
    site: str,
    settings: str | None,
    base: Path | None,
    org: str | None,
    *,
    overwrite: bool,
    dry_run: bool,
    yes: bool,
) -> None:
    """Replace the customization of a site.

    Run `show --json` first: fields that are left out are reset. Nothing is sent, and the exit code is 5, if it would
    overwrite changes that others made since `show --json` printed it on this machine, or since --base FILE. Their
    changes are shown field by field. The previous customization is kept as a snapshot.
    """
    await _replace(session, CUSTOMIZATION, settings, site, org, Options(base, overwrite, dry_run, yes))


async def _replace(
    session: Session, document: Document, text: str | None, named: str, org: str | None, options: Options
) -> None:
    """Replace a document, unless that would overwrite another user's changes.

    Raises:
        ChangedSince: another user changed the document, or the version that was edited is unknown.
        ChecksFailed: the service did not store all values.
        InvalidArgument: the document or its base cannot be read.
    """
    with errors_at_fields(document.write):
        checked = call_of(document.write, {**dict.fromkeys(document.write.path_fields(), "id"), document.field: text})
    given = _read_base(options.base, document) if options.base else None
    owner, site = await lookup.site(session, named, org)
    reader = StateReader(session.engine, owner.id, site.id)
    state = await reader.read([document.part])
    if document.part in state.unread:
        raise state.unread[document.part]
    call = checked.model_copy(update=state.path)
    wanted = document.config(getattr(call, document.field), state.secrets)
    differences = tuple(compare(state.config, wanted))
    if differences and not options.overwrite:
        known = bases_of(session, site.id).printed(document.part)
        base = known if given is None else Base(document.config(given, state.secrets))
        if base is None and state.config.parts:
            _refuse_without_base(session, document, differences)
        if base:
            _require_unchanged(session, document, overwritten(base, state.config, wanted, differences))
    if options.dry_run:
        print_request(call, session.profile)
        return
    if differences or not state.config.parts:
        confirm(f"Replace the {document.noun}?", yes=options.yes)
    await _send(session, document, call, (state, wanted, differences), reader)


def _refuse_without_base(session: Session, document: Document, differences: Sequence[Difference]) -> NoReturn:
    """Print the differences of a replacement, and refuse it: the version that was edited is unknown.

    Raises:
        ChangedSince: always.
    """
    _print_differences(session, differences)
    raise ChangedSince(
        f"Nothing was sent: it is not known which {document.noun} was edited. Give it with --base FILE, as"
        f" `presscheck {document.printed} --json` prints it, or replace the present one with --overwrite"
    )


def _print_differences(session: Session, differences: Sequence[Difference]) -> None:
    if session.json:
        session.show([difference_json(one) for one in differences])
    else:
        print_differences(differences)


def _require_unchanged(session: Session, document: Document, drift: tuple[Drift, ...]) -> None:
    """Print the changes of other users that a replacement would overwrite.

    Raises:
        ChangedSince: a change would be overwritten.
    """
    if not drift:
        return
    if session.json:
        session.show({"drift": [drift_json(one) for one in drift]})
    for one in drift:
        print_message(drift_text(one))
    raise ChangedSince(
        f"Nothing was sent: it would overwrite {count(len(drift), 'field')} of the {document.noun} that somebody else"
        f" changed since it was printed. Take their values into yours, run `presscheck {document.printed} --json` and"
        " send it again, or use --overwrite"
    )


async def _send(
    session: Session,
    document: Document,
    call: Operation[Any],
    compared: tuple[SiteState, SiteConfig, tuple[Difference, ...]],
    reader: StateReader,
) -> None:
    """Send a replacement, unless the document has changed since it was read.

    Raises:
        ChangedSince: another user has just changed the document.
        ChecksFailed: the service did not store all values.
        PresscheckError: the call failed.
    """
    state, wanted, differences = compared
    kept = list[str]()

    def keep(present: SiteState) -> None:
        if present.config.parts:
            what = f"the whole {document.noun} from the command line"
            snapshot = session.engine.site_snapshots.keep(present.site.id, present.config, (document.part,), what)
            kept.append(snapshot.name)

    step = Step(document.part, f"replace the {document.noun}", type(call), call.given())
    is_needed = bool(differences) or not state.config.parts
    plan = Plan((step,) if is_needed else (), differences)
    receipt = await Push(session.engine, reader, state, wanted, plan, keep).send(lambda _: None)
    _require_unchanged(session, document, receipt.drift)
    if receipt.error:
        raise receipt.error
    answer = await session.read(document.read(**state.path))
    present: Any = answer.json_schema if isinstance(answer, AdaptiveSchema) else answer
    bases_of(session, state.site.id).keep_printed(document.part, document.config(present, state.secrets))
    noun = document.noun.capitalize()
    print_message(f"{noun} saved." if is_needed else f"No changes: the site has this {document.noun} already.")
    if kept:
        print_message(f"What the site had before is kept as the snapshot {kept[0]}.")
    if session.json:
        session.show(answer)
    if receipt.differing:
        if not session.json:
            print_differences(receipt.differing)
        raise ChecksFailed(f"the service did not take over {count(len(receipt.differing), 'difference')}")


async def _keep_printed(
    session: Session, document: Document, organization_id: str, site: Site, value: Mapping[str, Any] | None
) -> None:
    """Store a printed document as the base of a later replacement, without the keys of share links."""
    try:
        secrets = SiteSecrets(site, ())
        if document is CUSTOMIZATION:  # it may repeat the keys of share links
            secrets = (await StateReader(session.engine, organization_id, site.id).read(())).secrets
        bases_of(session, site.id).keep_printed(document.part, document.config(value, secrets))
    except PresscheckError as error:
        print_message(f"Not kept for a later replacement, which needs --base FILE then: {error.message}")


def _read_base(file: Path, document: Document) -> dict[str, Any]:
    """Read a printed document from a file. A file with only the JSON schema is accepted for the visitor schema.

    Raises:
        InvalidArgument: the file cannot be read, or has no JSON object.
    """
    try:
        value: Any = json.loads(file.read_text("utf-8-sig"))
    except OSError as error:
        raise InvalidArgument("--base", f"{file} could not be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise InvalidArgument("--base", f"{file} is not valid JSON") from None
    if not isinstance(value, dict):
        raise InvalidArgument("--base", f"{file} has no JSON object")
    found = cast("dict[str, Any]", value)
    inner: Any = found.get("jsonSchema") if document is SCHEMA else None
    return cast("dict[str, Any]", inner) if isinstance(inner, dict) else found
