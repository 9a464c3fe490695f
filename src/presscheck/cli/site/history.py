"""`presscheck site history` and `restore`: lists publications and changes of a site, and restores earlier settings."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, cast

import click

from presscheck.cli import lookup
from presscheck.cli.output import print_message
from presscheck.cli.session import Session, limit_option, org_option, site_argument, with_session
from presscheck.cli.site.config import PushOptions, push_options, report_push, run_push
from presscheck.engine.site_config.document import Part, SiteConfig
from presscheck.engine.site_config.files import ConfigFile
from presscheck.engine.site_config.site_history import HistoryRow, part_of_config, read_history
from presscheck.engine.site_config.site_state import StateReader
from presscheck.errors import InvalidArgument
from presscheck.text.sanitize import sanitize

PART_NAMES: dict[str, Part] = {
    "customization": "customization",
    "structure": "structure",
    "schema": "visitor_schema",
    "redirects": "redirects",
}
"""The parts of a configuration by their names in `--part`."""
COLUMNS = ("time", "who", "what", "detail", "source", "snapshot")


@click.command()
@site_argument
@org_option
@limit_option
@with_session
async def history(session: Session, site: str, org: str | None, limit: int) -> None:
    """Show what was published and changed in a site, newest first.

    Merged change requests come from the service. Publications and changes from this machine come from its own records,
    which have a snapshot of the site before each change. Changes that others made in the web app are only detected by
    comparing.
    """
    owner, chosen = await lookup.site(session, site, org)
    records = await read_history(session.engine, owner.id, chosen.id)
    session.show([_row_json(row) for row in records.rows[: limit or None]], COLUMNS)
    for reason in records.unread:
        print_message(f"The history of the service could not be read: {reason}")


@click.command()
@click.argument("site")
@click.argument("snapshot")
@click.option(
    "--part", "names", multiple=True, type=click.Choice(list(PART_NAMES)), help="Restore this part (repeatable)."
)
@push_options
@with_session
async def restore(
    session: Session,
    site: str,
    snapshot: str,
    org: str | None,
    *,
    names: tuple[str, ...],
    dry_run: bool,
    prune: bool,
    yes: bool,
) -> None:
    """Restore earlier settings of a site from a snapshot.

    SNAPSHOT is the name of a snapshot in `presscheck site history`, or latest. Without --part, the whole snapshot is
    restored. Prints the calls and asks before they are sent. With --prune, settings that were added since the snapshot
    are removed. The current settings are kept as a snapshot first, so that they can be restored, too.
    """
    owner, chosen = await lookup.site(session, site, org)
    snapshots = session.engine.site_snapshots.of(chosen.id)
    taken = snapshots.named(snapshot)
    config = snapshots.config(taken)
    wanted = _only(config, [PART_NAMES[name] for name in names]) if names else config
    if not wanted.parts:
        raise InvalidArgument("SNAPSHOT", f"{taken.name} has no part that can be restored")
    reader = StateReader(session.engine, owner.id, chosen.id)
    options = PushOptions(dry_run=dry_run, prune=prune, yes=yes)
    read = ConfigFile(taken.file, "", wanted)
    what = f"restore of {', '.join(names) or 'all parts'} from {taken.name}"
    pushed = await run_push(session, read, chosen.title or chosen.id, reader, options, what=what)
    if pushed:
        report_push(pushed[1])


def _only(config: SiteConfig, parts: list[Part]) -> SiteConfig:
    """Return a configuration with only these parts.

    Raises:
        InvalidArgument: the configuration lacks one of the parts.
    """
    given: dict[str, Any] = {part: getattr(part_of_config(config, part), part) for part in parts}
    return SiteConfig(**given)


def _row_json(row: HistoryRow) -> dict[str, Any]:
    moment = datetime.fromtimestamp(row.at, UTC)
    snapshot = row.snapshot
    return {
        "time": f"{moment:%Y-%m-%dT%H:%M:%SZ}",
        "who": sanitize(row.who) or None,
        "what": row.what,
        "detail": sanitize(row.detail) or None,
        "source": row.source,
        "snapshot": snapshot.name if snapshot else None,
        "parts": [cast("str", part) for part in snapshot.parts] if snapshot else [],
    }
