"""Builds commands from operations: fields in the path become arguments, other fields options.

Organizations, spaces, sites and change requests can be given in the ways that `lookup` supports, other objects by the
names in `references`. Fields are checked before any request is sent, even before a name is looked up.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar, cast
from urllib.parse import urlencode

import click

from presscheck.api.operation import Operation, Paged
from presscheck.api.shell_command import hidden
from presscheck.cli import lookup
from presscheck.cli.json_filter import unique_options
from presscheck.cli.operations.field_options import call_of, flag, limits_of, nullable, option_for
from presscheck.cli.operations.field_parts import joined, part_options, place_of
from presscheck.cli.operations.references import find_id
from presscheck.cli.output import print_message, print_text
from presscheck.cli.session import Session, confirm, limit_option, with_session
from presscheck.cli.text_input import body_options, body_text
from presscheck.config.profile import Profile
from presscheck.engine.forms.field_help import PARTS
from presscheck.engine.forms.form_files import FormFile, file_of
from presscheck.engine.forms.references import PART_REFERENCES, reference_of
from presscheck.errors import InvalidArgument
from presscheck.text.phrases import count

if TYPE_CHECKING:
    from presscheck.engine.forms.form import FormField

Command = TypeVar("Command", bound=Callable[..., Any])

LONGEST_NOTE = 100
"""Maximum number of printed characters of a value from a file."""
PAGING_FIELDS = frozenset(("page", "limit"))
METAVARS = {
    "change_request_id": "SPACE#NUMBER",
    "comment_reply_id": "REPLY",
    "email_domain": "DOMAIN",
    "import_run_id": "IMPORT",
    "integration_name": "INTEGRATION",
    "page_path": "PATH",
    "reusable_content_id": "CONTENT",
    "saml_provider_id": "PROVIDER",
    "share_link_id": "LINK",
    "site_finding_id": "FINDING",
    "site_redirect_id": "REDIRECT",
    "site_external_link_id": "LINK",
    "site_section_group_id": "GROUP",
    "site_section_id": "SECTION",
    "site_space_id": "SPACE",
    "spec_slug": "SPEC",
}
"""The metavars of arguments that are not named like their field."""
HIDDEN_FIELDS = frozenset(("metadata", "cached_metadata", "computed", "format", "share_key"))
"""Fields without an option; `presscheck api` has options for them."""
SECRET_FIELDS = ("privateKey", "apiToken", "shareKey")
"""Fields of responses that are only printed with --json, as field names of the API."""


@dataclass(frozen=True)
class CommandSpec:
    """A command that sends one operation.

    Attributes:
        name: the name of the command in its group.
        operation: the operation.
        columns: the columns of a list, as field names of the API.
        done: the message after success.
        confirm: the confirmation prompt without its question mark; empty if there is none.
        fixed: values of fields; a command with fixed values has no options for other fields.
        preset: values of fields that have no option.
        positional: fields outside the path that are arguments.
        ids: fields in the path that must be given as ids, because no listing has their names.
        items: the field of the response with the rows, if it is not a paginated list.
        text: the field of the response that is printed as a text.
        is_written: whether the editor opens for `body` if it is not given.
        is_shown: whether the whole response of a write is printed, not only its id.
        shown: converts an item for its row in a list, for example to hide a key in a URL. JSON has the whole item.
        help: the help text, instead of the docstring of the operation.
    """

    name: str
    operation: type[Operation[Any]]
    columns: tuple[str, ...] = ()
    done: str = ""
    confirm: str = ""
    fixed: Mapping[str, Any] = field(default_factory=dict[str, Any])
    preset: Mapping[str, Any] = field(default_factory=dict[str, Any])
    positional: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    items: str = "items"
    text: str = ""
    is_written: bool = False
    is_shown: bool = False
    shown: Callable[[Any], Any] = lambda item: item
    help: str = ""


COMMAND_SPECS: list[CommandSpec] = []
"""The specs of all commands in the imported modules."""


def sends(*operations: type[Operation[Any]]) -> Callable[[Command], Command]:
    """Decorate the function of a command to declare the operations that it sends."""

    def declare(function: Command) -> Command:
        function.__dict__["operations"] = operations
        return function

    return declare


def operations_of(command: click.Command) -> tuple[type[Operation[Any]], ...]:
    """Return the operations that a command sends; empty for a local command."""
    return getattr(command.callback, "operations", ())


def add(group: click.Group, *specs: CommandSpec) -> None:
    """Add commands to a group."""
    COMMAND_SPECS.extend(specs)
    for spec in specs:
        group.add_command(build_command(spec))


def group_of(name: str, description: str, *specs: CommandSpec) -> click.Group:
    """Create a group of commands."""
    group = click.Group(name, help=description)
    add(group, *specs)
    return group


def build_command(spec: CommandSpec) -> click.Command:
    """Build a command from its spec."""
    operation = spec.operation
    run = with_session(sends(operation)(_runner(spec)))
    shared: list[click.Parameter] = list(getattr(run, "__click_params__", []))
    text = spec.help or description_of(operation)
    parameters = [*_arguments(spec), *_field_options(spec), *_other_options(spec), *reversed(shared)]
    return click.Command(
        spec.name, params=unique_options(parameters), callback=run, help=text, short_help=text.partition("\n")[0]
    )


def description_of(operation: type[Operation[Any]]) -> str:
    """Return the description of an operation: a summary, and for some operations details in further paragraphs.

    Names of fields are replaced by the names of their options.
    """
    text = inspect.getdoc(operation) or ""
    return re.sub(r"`(\w+)`", lambda match: flag(match[1]) if match[1] in operation.model_fields else match[0], text)


def summary_of(operation: type[Operation[Any]]) -> str:
    """Return the summary of an operation: the first line of its description."""
    return description_of(operation).partition("\n")[0]


def is_listing(operation: type[Operation[Any]]) -> bool:
    """Return whether the operation returns a paginated list."""
    return issubclass(operation, Paged)


def print_request(call: Operation[Any], profile: Profile) -> None:
    """Print method, URL and body of a request, without the token and secrets."""
    query = urlencode(call.wire_query())
    base = profile.base_url.removesuffix("/v1")
    click.echo(f"{call.method()} {base}/v1{call.wire_path()}{'?' + query if query else ''}")
    body = call.wire_body()
    if body is not None:
        click.echo(json.dumps(hidden("", body), indent=2))


async def path_values(session: Session, spec: CommandSpec, given: Mapping[str, Any]) -> dict[str, str]:
    """Return the values of the path fields, with names replaced by ids."""
    path, values = spec.operation.path_fields(), dict[str, str]()
    values |= {name: given[name] for name in path if name in spec.ids}
    org = given.get("org")
    if "change_request_id" in path:
        request = await lookup.change_request(session, given["change_request_id"])
        values |= {"space_id": request.space, "change_request_id": request.id}
    elif "space_id" in path and "space_id" not in values:
        values["space_id"] = (await lookup.space(session, given["space_id"])).id
    if "site_id" in path:
        owner, site = await lookup.site(session, given["site_id"], org)
        values |= {"organization_id": owner.id, "site_id": site.id}
    elif "organization_id" in path and "organization_id" not in values:
        what = "ORG" if "organization_id" in given else "--org"
        values["organization_id"] = (await lookup.organization(session, given.get("organization_id", org), what)).id
    for name in path:
        if name not in values:
            reference = reference_of(spec.operation, name)
            named: str = given[name]
            if name == "page_path" and "change_request_id" in path:
                values[name] = await lookup.page_path(session, values, named, metavar(name))
                continue
            values[name] = await find_id(session, reference, named, values, metavar(name)) if reference else named
    return {name: values[name] for name in path}


async def option_values(
    session: Session, spec: CommandSpec, given: Mapping[str, Any], path: Mapping[str, str]
) -> dict[str, Any]:
    """Return the values of the other fields, with names replaced by ids."""
    values = dict[str, Any]()
    for name, value in given.items():
        if isinstance(value, dict):
            values[name] = {**value, **await _part_ids(session, name, cast("dict[str, Any]", value), path)}
            continue
        reference = reference_of(spec.operation, name)
        if reference is None or not value:
            values[name] = value
        elif isinstance(value, str):
            values[name] = await find_id(session, reference, value, path, flag(name))
        else:
            values[name] = tuple([await find_id(session, reference, item, path, flag(name)) for item in value])
    return values


async def _part_ids(session: Session, name: str, parts: Mapping[str, Any], path: Mapping[str, str]) -> dict[str, str]:
    """Return ids for the parts of a field that are names of objects.

    Parts are resolved in order, because an id can be needed for the next part: the pages of a space are listed by the
    id of the space.
    """
    known, found = dict(path), dict[str, str]()
    for part in PARTS.get(name, {}):
        reference = PART_REFERENCES.get((name, part))
        if reference and parts.get(part):
            found[part] = await find_id(session, reference, parts[part], known, flag(f"{name}_{part}"))
            known[f"{part}_id"] = found[part]
    return found


async def send(session: Session, spec: CommandSpec, call: Operation[Any], limit: int) -> None:
    """Send an operation and print its response."""
    if is_listing(spec.operation):
        await session.show_all(call, spec.columns or ("id", "title"), limit, shown=spec.shown)
        return
    if spec.operation.is_read():
        _show(session, spec, await session.read(call), limit)
        return
    answer = await session.write(call, spec.done or f"{spec.operation.__name__}: done.")
    if spec.is_shown and answer is not None:
        _show(session, spec, answer)
    else:
        session.show_id(answer)


def _show(session: Session, spec: CommandSpec, answer: Any, limit: int = 0) -> None:
    items = getattr(answer, spec.items, None)
    if spec.text and not session.json:
        print_text((getattr(answer, spec.text) or "").rstrip("\n"))
    elif spec.columns and items is not None:
        from presscheck.documents.pages.tree import flatten  # 10 ms, only for pages and such lists

        rows = list(flatten(items)) if spec.items == "pages" else list(items)
        session.show(rows[: limit or None], spec.columns)
        more = getattr(answer, "more", None)
        if isinstance(more, int) and more:
            hint = " Use --limit to list them." if "limit" in spec.operation.model_fields else ""
            print_message(f"{more:,} more.{hint}")
    else:
        session.show(answer, hidden=SECRET_FIELDS)


def _runner(spec: CommandSpec) -> Callable[..., Any]:
    async def run(
        session: Session,
        limit: int | None = None,
        yes: bool = False,
        dry_run: bool = False,
        null: Sequence[str] = (),
        body_file: str | None = None,
        **given: Any,
    ) -> None:
        operation, nulls = spec.operation, tuple(name.replace("-", "_") for name in null)
        file = file_of(operation)
        filled = _from_file(given, file) if file else {}
        if limit is not None and "limit" in operation.model_fields and not is_listing(operation):
            given["limit"] = limit
        checked = _checked(spec, given, nulls)
        path = await path_values(session, spec, given)
        others = {name: value for name, value in checked.items() if name not in operation.path_fields()}
        values = await option_values(session, spec, others, path)
        with body_text(given["body"], body_file) if spec.is_written else nullcontext() as body:
            text = {"body": body} if spec.is_written else {}
            call = call_of(operation, {**values, **text, **path, **spec.fixed, **spec.preset}, nulls)
            if dry_run:
                print_request(call, session.profile)
                return
            if filled:
                from presscheck.engine.forms.form import form_fields  # 6 ms, only for a file

                for part in form_fields(operation):
                    if part.name in filled:
                        print_message(f"{flag(part.name)}: {_note(part, filled[part.name])}")
            if spec.confirm or filled:
                confirm(f"{spec.confirm or 'Send these settings'}?", yes=yes)
            name = next(reversed(operation.path_fields()), "")
            is_named = name in given and operation.route.endswith(f"{{{name}}}")
            with lookup.not_found(metavar(name), given[name]) if is_named else nullcontext():
                await send(session, spec, call, limit or 0)

    return run


def _note(part: FormField, value: Any) -> str:
    """Format a value from a file on one line, with secrets hidden."""
    text = part.text_of(hidden(part.name, value))
    first, *others = (part.note_of(text) or text).strip().splitlines() or [""]
    is_cut = len(first) > LONGEST_NOTE or others
    return f"{first[:LONGEST_NOTE]} … ({count(len(text), 'character')})" if is_cut else first


def _from_file(given: dict[str, Any], file: FormFile) -> dict[str, Any]:
    """Add the values of a form file to `given`, except for fields that already have a value.

    Returns:
        The added values.

    Raises:
        InvalidArgument: the file cannot be read.
    """
    place: BinaryIO | str | None = given.pop(file.name, None)
    if place is None:
        return {}
    try:
        values = file.read_path(place) if isinstance(place, str) else file.read(place)
    except OSError as error:
        raise InvalidArgument(flag(file.name), f"could not be read: {error.strerror}") from None
    except InvalidArgument as error:
        raise InvalidArgument(flag(file.name), error.reason) from None
    added = {name: value for name, value in values.items() if given.get(name) in (None, ())}
    given.update(added)
    return added


def _checked(spec: CommandSpec, given: Mapping[str, Any], nulls: tuple[str, ...]) -> dict[str, Any]:
    """Validate the given values before ids are looked up (placeholders stand for ids). Return the values by field.

    Raises:
        InvalidArgument: a value exceeds a limit, or a required option is missing. The error names the option.
    """
    operation = spec.operation
    with errors_at_fields(operation):
        fields = joined(operation, given)
        placeholders: dict[str, Any] = dict.fromkeys(
            (*operation.path_fields(), *(["body"] if spec.is_written else [])), "id"
        )
        call_of(operation, {**placeholders, **fields, **spec.fixed, **spec.preset}, nulls)
    return fields


@contextmanager
def errors_at_fields(operation: type[Operation[Any]]) -> Generator[None]:
    """Convert errors about fields of the operation: they name the argument or option and its limits.

    Raises:
        InvalidArgument: the block raised an InvalidArgument; errors about anything else are not converted.
    """
    try:
        yield
    except InvalidArgument as error:
        if not error.call:
            raise
        name, _, inner = error.field.partition(".")
        if error.call != operation.__name__:
            where, more = place_of(operation, error.call, name)
            raise InvalidArgument(where or error.field, more + error.reason) from None
        if name not in operation.model_fields:
            raise
        where = metavar(name) if name in operation.path_fields() else flag(name)
        limits = "" if inner else limits_of(operation, name)
        reason = f"{inner}: {error.reason}" if inner else error.reason
        raise InvalidArgument(where, f"{reason}{f' ({limits})' if limits else ''}") from None


def metavar(name: str) -> str:
    """Return the name that help and errors show for an argument."""
    return METAVARS.get(name, name.removesuffix("_id").upper().replace("_", "-"))


def _arguments(spec: CommandSpec) -> list[click.Parameter]:
    operation = spec.operation
    path = operation.path_fields()
    hidden = {"organization_id", "space_id"} if "change_request_id" in path else {"organization_id"}
    hidden -= {*spec.positional}
    parameters: list[click.Parameter] = [
        click.Argument([name], metavar=metavar(name))
        for name in (*path, *(name for name in spec.positional if name not in path))
        if name not in hidden
    ]
    if path == ("organization_id",) and operation.route.count("/") == 2:
        return [*parameters, click.Argument(["organization_id"], metavar="[ORG]", required=False)]
    if "organization_id" in path and "organization_id" not in spec.positional:
        parameters.append(click.Option(["--org"], metavar="ORG", help="Organization, by title or id."))
    return parameters


def _field_options(spec: CommandSpec) -> list[click.Parameter]:
    if spec.fixed:
        return []
    operation = spec.operation
    left_out = {*operation.path_fields(), *operation.always_sent, *HIDDEN_FIELDS, *spec.preset, *spec.positional}
    left_out |= PAGING_FIELDS if is_listing(operation) else set()
    left_out |= {"body"} if spec.is_written else set()
    options: list[click.Parameter] = []
    for name in operation.model_fields:
        if name not in left_out:
            reference = reference_of(operation, name)
            parts = part_options(operation, name)
            note, names = "or the options below" if parts else "", reference.hint if reference else ""
            options += [option_for(operation, name, note, names), *parts]
    if spec.is_written:
        options += reversed(getattr(body_options(lambda: None), "__click_params__", []))
    return options


def _other_options(spec: CommandSpec) -> list[click.Parameter]:
    options: list[click.Parameter] = []
    if is_listing(spec.operation) or (spec.columns and "limit" not in spec.operation.model_fields):
        options += getattr(limit_option(lambda: None), "__click_params__", [])
    file = file_of(spec.operation)
    if file:
        by_path = file.read_at is not None  # the file refers to other files
        more = "" if by_path else "; - is standard input"
        text = f"Fill in from this file ({file.title}{more}); asks before it sends."
        kind = click.STRING if by_path else click.File("rb")
        options.append(click.Option([flag(file.name)], type=kind, metavar="PATH" if by_path else "FILE", help=text))
    if spec.confirm or file:
        options.append(click.Option(["--yes", "-y"], is_flag=True, help="Skip the confirmation."))
    if not spec.operation.is_read():
        options.append(click.Option(["--dry-run"], is_flag=True, help="Print the request without sending it."))
    clearable = [] if spec.fixed else nullable(spec.operation)
    if clearable and not spec.operation.is_read():
        names = click.Choice([flag(name).lstrip("-") for name in clearable])
        options.append(click.Option(["--null"], multiple=True, type=names, help="Clear this field (repeatable)."))
    return options
