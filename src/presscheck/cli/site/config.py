"""`presscheck site config`: the configuration of a site as a file in a repository."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

import click

from presscheck.cli import lookup
from presscheck.cli.output import print_line, print_message
from presscheck.cli.session import Session, confirm, org_option, with_session, yes_option
from presscheck.engine.site_config.bases import Base, Bases, overwritten
from presscheck.engine.site_config.comparison import Difference, Drift, Field
from presscheck.engine.site_config.document import WRITTEN, Part, SiteConfig
from presscheck.engine.site_config.files import ConfigFile, form_of, read_file, text_of, write_file
from presscheck.engine.site_config.push import Push, Receipt
from presscheck.engine.site_config.push_plan import prepare
from presscheck.engine.site_config.site_state import SiteState, StateReader
from presscheck.engine.site_config.steps import Plan, Step
from presscheck.engine.site_config.validation import Problem
from presscheck.errors import ChangedSince, ChecksFailed, ConfigurationError, InvalidArgument
from presscheck.paths import places
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Span

MARKS = {"added": ("+", "added"), "changed": ("~", ""), "removed": ("-", "removed")}
"""The mark and the style of a difference, by its change."""
LONGEST_VALUE = 60
"""Maximum number of printed characters of a value."""
MOST_LINES = 20
"""Maximum number of printed differences that a push does not change."""

Command = Callable[..., Any]
file_argument = click.argument("file", type=click.Path(path_type=Path))


def push_options(function: Command) -> Command:
    """Add the options of a push to a command."""
    for option in (
        org_option,
        yes_option,
        click.option("--prune", is_flag=True, help="Also remove settings from the site that are not in the file."),
        click.option("--dry-run", is_flag=True, help="Print the calls and send nothing."),
    ):
        function = option(function)
    return function


@click.group()
def config() -> None:
    """Keep the configuration of a site in a file.

    FILE ends with .toml, .yaml or .yml. It has up to five parts: customization, structure, redirects, visitor_schema
    and the names of share_links. Parts that are not in the file are not changed. The file never contains secrets.
    """


@config.command()
@click.argument("site")
@file_argument
@click.option("--only", multiple=True, metavar="PART", type=click.Choice(WRITTEN), help="Write this part (repeatable).")
@click.option("--force", is_flag=True, help="Replace the file even if it differs from the site.")
@org_option
@with_session
async def pull(session: Session, site: str, file: Path, org: str | None, *, only: tuple[str, ...], force: bool) -> None:
    """Write the configuration of a site to a file.

    A file that differs from the site is only replaced with --force. An existing file keeps its selection of parts;
    --only adds parts. Comments of a TOML file are kept. The pulled state is stored on this machine, so that a push of
    the file can detect changes by others.
    """
    form_of(file)
    _, reader = await _reader(session, site, org)
    before = _present_file(file, force=force)
    managed = (*(before.config.parts if before else ()), *cast("tuple[Part, ...]", only)) or WRITTEN
    state, _, plan = await prepare(before.config if before else SiteConfig(), reader)
    differences = [difference for difference in plan.differences if difference.field.part not in state.unread]
    problems = [problem for problem in plan.problems if problem.place[0] not in state.unread]
    if not force and (differences or problems):
        print_differences(differences)
        raise ChecksFailed(f"not written: {file} differs from the site. --force replaces it")
    plain, old = state.config.plain, before.config.plain if before else {}
    new = {part: plain.get(part) if part not in state.unread else old.get(part) for part in WRITTEN if part in managed}
    new = {part: value for part, value in new.items() if value is not None}
    for part, error in state.unread.items():
        if part in managed:
            print_message(f"{part} cannot be read, and is left out: {error.message}")
    is_equal = not differences and not problems and set(new) == set(old)  # the order of redirects is the user's own
    if before and before.config.parts and (new == old or (is_equal and not force)):
        print_message(f"{file} is up to date.")
    else:
        text, has_comments = text_of(new, file, before.text if before else None)  # pyrefly: ignore[bad-argument-type]
        write_file(file, text)
        print_message(f"{count(len(new), 'part')} written to {file}: {', '.join(new)}.")
        if not has_comments:
            print_message("The comments of the file could not be kept.")
    bases_of(session, state.site.id).keep(file, state.config)
    if session.json:
        session.show({"file": str(file), "parts": list(new)})


@config.command()
@click.argument("site")
@file_argument
@org_option
@with_session
async def diff(session: Session, site: str, file: Path, org: str | None) -> None:
    """Compare a file with a site, field by field.

    The exit code is 6 if they differ. Lines begin with + for additions by a push, ~ for changes, and - for settings
    that only the site has.
    """
    read = _read(file)
    _, reader = await _reader(session, site, org)
    _, _, plan = await prepare(read.config, reader)
    if session.json:
        session.show([difference_json(one) for one in plan.differences])
    else:
        print_differences(plan.differences)
    _require_valid(read, plan.problems)
    if plan.differences:
        raise ChecksFailed(f"{count(len(plan.differences), 'difference')} between {file} and the site")
    print_message("The file and the site are equal.")


@config.command()
@click.argument("site")
@file_argument
@push_options
@click.option("--overwrite", is_flag=True, help="Overwrite changes by others since the last pull.")
@with_session
async def push(
    session: Session,
    site: str,
    file: Path,
    org: str | None,
    *,
    dry_run: bool,
    prune: bool,
    yes: bool,
    overwrite: bool,
) -> None:
    """Apply the configuration in a file to a site.

    Prints the calls and asks before they are sent. Settings that are not in the file stay in the site, unless --prune
    is given. Nothing is sent if it would overwrite changes that others made since you pulled the file. These changes
    are shown field by field: take them into the file, or overwrite them with --overwrite. If the site is changed during
    the push, the push stops and shows the changes. If it fails, push again: only the remaining differences are sent.
    """
    read = _read(file)
    owner, chosen = await lookup.site(session, site, org)
    reader = StateReader(session.engine, owner.id, chosen.id)
    bases = bases_of(session, chosen.id)
    base = None if overwrite else bases.of(file)
    options = PushOptions(dry_run=dry_run, prune=prune, yes=yes)
    pushed = await run_push(
        session, read, chosen.title or chosen.id, reader, options, base, what=f"push of {file.name}"
    )
    if pushed is None:
        return
    resolved, receipt = pushed
    if receipt.failed is None:
        bases.keep(file, (await reader.read()).config)
    elif receipt.sent:
        bases.note_sent(file, resolved)
    report_push(receipt)


class PushOptions(NamedTuple):
    """The options of a push."""

    dry_run: bool
    prune: bool
    yes: bool


async def run_push(
    session: Session,
    read: ConfigFile,
    title: str,
    reader: StateReader,
    options: PushOptions,
    base: Base | None = None,
    *,
    what: str,
) -> tuple[SiteConfig, Receipt] | None:
    """Push a configuration to a site. Return it with names resolved and the receipt, or None if nothing differs.

    Args:
        session: the session.
        read: the file with the configuration.
        title: the title of the site.
        reader: reads the site.
        options: the options of the command.
        base: the state of the site when the file was pulled; None to overwrite changes by others.
        what: a description of the push for the history of the site.

    Raises:
        ChangedSince: the push would overwrite another user's changes since the base.
        ChecksFailed: `dry_run` is set, and there are calls to send.
        InvalidArgument: the configuration is invalid.
    """
    dry_run, prune, yes = options
    state, resolved, plan = await prepare(read.config, reader, prune=prune)
    _require_valid(read, plan.problems)
    staying = {difference.field for difference in (*plan.kept, *plan.manual)}
    changing = tuple(difference for difference in plan.differences if difference.field not in staying)
    drift = overwritten(base, state.config, resolved, changing) if base and plan.steps else ()
    _show_plan(session, plan, drift, dry_run=dry_run)
    if not plan.steps:
        print_message("Nothing to push.")
        if session.json and not dry_run:
            session.show(_receipt_json(Receipt(), None))
        return None
    _require_unchanged(session, read, drift, dry_run=dry_run)
    calls = count(len(plan.steps), "call")
    if dry_run:
        raise ChecksFailed(f"{calls} to send to {title}")
    confirm(f"Send {calls} to {sanitize(title)}?", yes=yes)
    kept = list[str]()

    def keep(present: SiteState) -> None:
        parts: set[Part] = {step.part for step in plan.steps}
        kept.append(session.engine.site_snapshots.keep(present.site.id, present.config, parts, what).name)

    receipt = await Push(session.engine, reader, state, resolved, plan, keep).send(_progress(len(plan.steps)))
    if sys.stderr.isatty() and (receipt.sent or receipt.unneeded):
        click.echo(err=True)  # end the progress line
    if session.json:
        session.show(_receipt_json(receipt, kept[0] if kept else None))
    if kept:
        print_message(f"What the site had before is kept as the snapshot {kept[0]}.")
    return resolved, receipt


def _show_plan(session: Session, plan: Plan, drift: Sequence[Drift], *, dry_run: bool) -> None:
    """Print the calls of a plan. JSON is printed only in a dry run; otherwise the receipt follows as JSON."""
    if dry_run and session.json:
        session.show(
            {
                "steps": [_step_json(step) for step in plan.steps],
                "kept": [difference_json(one) for one in plan.kept],
                "manual": [difference_json(one) for one in plan.manual],
                "drift": [drift_json(one) for one in drift],
            }
        )
    elif not session.json:
        _print_plan(plan)


def _require_unchanged(session: Session, read: ConfigFile, drift: tuple[Drift, ...], *, dry_run: bool) -> None:
    """Print the changes of other users that a push would overwrite.

    Raises:
        ChangedSince: a change would be overwritten.
    """
    if not drift:
        return
    if session.json and not dry_run:
        session.show(_receipt_json(Receipt(drift=drift), None))
    for one in drift:
        print_message(drift_text(one))
    fields = count(len(drift), "field")
    raise ChangedSince(
        f"Nothing was sent: it would overwrite {fields} that somebody else changed since {read.path.name} was pulled."
        " Take their values into the file, or push with --overwrite"
    )


def report_push(receipt: Receipt) -> None:
    """Print the result of a push.

    Raises:
        PresscheckError: the push failed.
        ChecksFailed: the site still differs from the pushed configuration.
    """
    if receipt.failed is None or receipt.error is None:
        print_message(f"{count(len(receipt.sent), 'call')} sent.")
        if receipt.differing:
            print_differences(receipt.differing)
            raise ChecksFailed(f"the service did not take over {count(len(receipt.differing), 'difference')}")
        return
    total = len(receipt.sent) + len(receipt.unneeded) + 1 + len(receipt.left)
    print_message(f"{len(receipt.sent):,} of {count(total, 'call')} sent.")
    for heading, steps in (("Sent", receipt.sent), ("Failed", [receipt.failed]), ("Not sent", receipt.left)):
        for step in steps:
            print_message(f"{heading}: {step.text}")
    for drift in receipt.drift:
        print_message(drift_text(drift))
    print_message("Push again to go on: it compares with the site first.")
    raise receipt.error


async def _reader(session: Session, site: str, org: str | None) -> tuple[str, StateReader]:
    owner, chosen = await lookup.site(session, site, org)
    return chosen.title or chosen.id, StateReader(session.engine, owner.id, chosen.id)


def bases_of(session: Session, site_id: str) -> Bases:
    """Return the stored base versions of a site's configuration, for the profile of the session."""
    return Bases(places().site_bases(session.profile.name), site_id)


def _read(file: Path) -> ConfigFile:
    """Read a configuration file.

    Raises:
        ConfigurationError: the file cannot be read.
        InvalidArgument: the file has mistakes, which are printed, or no part.
    """
    read = read_file(file)
    _require_valid(read, read.problems)
    if not read.config.parts:
        raise InvalidArgument("FILE", f"{file} has none of the parts {', '.join(WRITTEN)}")
    return read


def _require_valid(read: ConfigFile, problems: Sequence[Problem]) -> None:
    if problems:
        for line in read.described(problems):
            print_message(line)
        raise InvalidArgument("FILE", f"{count(len(problems), 'problem')} in {read.path}; nothing was sent")


def _present_file(file: Path, *, force: bool) -> ConfigFile | None:
    """Read the file that a pull changes.

    Return None if the file does not exist, or if `force` replaces an unreadable file.

    Raises:
        InvalidArgument: the file is not the configuration of a site, and `force` is not set.
    """
    if not file.exists():
        return None
    try:
        read = read_file(file)
        problem = str(read.problems[0]) if read.problems else ""
    except ConfigurationError as error:
        read, problem = None, error.message
    if not problem:
        return read
    if force:
        return None
    raise InvalidArgument("FILE", f"{file} is not the configuration of a site ({problem}). --force replaces it")


def _print_plan(plan: Plan) -> None:
    for step in plan.steps:
        print_line((Span(f"{step.part}: ", "quiet"), Span(sanitize(step.text))))
    _print_left("Only in the site, and stays there without --prune", plan.kept)
    _print_left("Can only be changed in the web app", plan.manual)


def _print_left(heading: str, differences: Sequence[Difference]) -> None:
    for difference in differences[:MOST_LINES]:
        print_message(f"{heading}: {_field_text(difference.field)}")
    if len(differences) > MOST_LINES:
        print_message(f"{heading}: {len(differences) - MOST_LINES:,} more")


def print_differences(differences: Iterable[Difference]) -> None:
    """Print each field that differs, with a mark for how it changes in the site."""
    for difference in differences:
        mark, style = MARKS[difference.change]
        values = [_value_text(value) for value in (difference.site, difference.file) if value is not None]
        text = f"{mark} {_field_text(difference.field)}{': ' if values else ''}{' → '.join(values)}"
        print_line((Span(sanitize(text), style),))


def _field_text(field: Field) -> str:
    return str(field)


def _value_text(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"


def drift_text(drift: Drift) -> str:
    """Describe another user's change of a field, with the values before, now, and in the file."""
    values = [_value_text(value) if value is not None else "–" for value in (drift.before, drift.now, drift.file)]
    return f"Changed by somebody else: {_field_text(drift.field)}: {values[0]} → {values[1]} (in the file: {values[2]})"


def _field_json(field: Field) -> dict[str, Any]:
    return {"part": field.part, "item": field.item, "field": field.name}


def difference_json(difference: Difference) -> dict[str, Any]:
    """Return a difference as JSON."""
    values = {"change": difference.change, "site": difference.site, "file": difference.file}
    return {**_field_json(difference.field), **values, "needsPrune": difference.needs_prune}


def drift_json(drift: Drift) -> dict[str, Any]:
    """Return another user's change as JSON."""
    return {**_field_json(drift.field), "before": drift.before, "now": drift.now, "file": drift.file}


def _step_json(step: Step) -> dict[str, Any]:
    return {"part": step.part, "call": step.operation.stored_name(), "text": step.text}


def _receipt_json(receipt: Receipt, snapshot: str | None) -> dict[str, Any]:
    failed = (
        {**_step_json(receipt.failed), "error": receipt.error.message} if receipt.failed and receipt.error else None
    )
    return {
        "sent": [_step_json(step) for step in receipt.sent],
        "unneeded": [_step_json(step) for step in receipt.unneeded],
        "failed": failed,
        "left": [_step_json(step) for step in receipt.left],
        "drift": [drift_json(one) for one in receipt.drift],
        "differing": [difference_json(one) for one in receipt.differing],
        "snapshot": snapshot,
    }


def _progress(total: int) -> Callable[[Receipt], None]:
    def show(receipt: Receipt) -> None:
        if sys.stderr.isatty():
            click.echo(f"\r{len(receipt.sent) + len(receipt.unneeded):,} of {total:,}", err=True, nl=False)

    return show
