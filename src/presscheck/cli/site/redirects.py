"""`presscheck site redirects`: lists, imports, exports and tests the redirects of a site."""

from __future__ import annotations

import sys
from typing import Any, BinaryIO, TextIO

import click

from presscheck.api.site_settings import (
    BulkUpsertRedirects,
    CreateRedirect,
    DeleteRedirect,
    ListRedirects,
    UpdateRedirect,
)
from presscheck.cli import lookup
from presscheck.cli.operations.command_factory import CommandSpec, group_of, sends
from presscheck.cli.output import print_message, print_text
from presscheck.cli.session import Session, confirm, limit_option, org_option, with_session, yes_option
from presscheck.engine.publish.redirects import (
    ImportPlan,
    Receipt,
    RedirectMap,
    destination_at,
    offline_problem,
    plan_import,
    read_paths,
    read_table,
    reference,
    send_changes,
    source_problem,
    write_table,
)
from presscheck.engine.publish.site_structure import plain_path, wire_path
from presscheck.errors import ChecksFailed, InvalidArgument
from presscheck.text.phrases import count

ENDS = {
    "page": "a page",
    "address": "outside of the site",
    "nothing": "page not found (404)",
    "loop": "redirect loop",
    "unknown": "not known: its space could not be read",
}


redirects = group_of(
    "redirects",
    "Manage the redirects of a site.\n\nA redirect leads from an old path, such as /old, to a page, a space or a "
    "section of the site, or to a web address. REDIRECT is the id or the source path of a redirect.",
    CommandSpec("edit", UpdateRedirect, done="Redirect updated."),
    CommandSpec("set", BulkUpsertRedirects, ("status", "source", "error"), items="results", done="Redirects sent."),
    CommandSpec("delete", DeleteRedirect, done="Redirect deleted.", confirm="Delete this redirect"),
)


@redirects.command("list")
@click.argument("site")
@org_option
@limit_option
@with_session
@sends(ListRedirects)
async def list_redirects(session: Session, site: str, org: str | None, limit: int) -> None:
    """List the redirects of a site with their problems."""
    _, known = await _redirects_of(session, site, org)
    rows = [
        {
            "id": redirect.id,
            "source": redirect.source,
            "destination": known.destination(redirect),
            "problem": known.problem(redirect),
        }
        for _, redirect in sorted(known.by_source.items())
    ]
    session.show(rows[: limit or None], ("id", "source", "destination", "problem"))


@redirects.command("add")
@click.argument("site")
@click.argument("source")
@click.argument("destination")
@org_option
@with_session
@sends(CreateRedirect)
async def add_redirect(session: Session, site: str, source: str, destination: str, org: str | None) -> None:
    """Add a redirect, or change its destination if it exists.

    DESTINATION is a path of the site, such as /guides/start, or a web address.
    """
    path, known = await _redirects_of(session, site, org)
    if reason := source_problem(source):
        raise InvalidArgument("SOURCE", f"{source}: {reason}")
    place = destination_at(destination, known.paths)
    if isinstance(place, str):
        raise InvalidArgument("DESTINATION", f"{destination}: {place}")
    present = known.by_source.get(plain_path(source))
    if present is None:
        call = CreateRedirect(**path, source=wire_path(source), destination=place)
        session.show_id(await session.write(call, "Redirect added."))
        return
    update = UpdateRedirect(**path, site_redirect_id=present.id, source=present.source, destination=place)
    session.show_id(await session.write(update, "Redirect changed."))


@redirects.command("import")
@click.argument("site")
@click.argument("file", type=click.File("rb"))
@click.option("--replace", is_flag=True, help="Delete redirects that are not in the file.")
@click.option("--dry-run", is_flag=True, help="Show what would be done, and send nothing.")
@yes_option
@org_option
@with_session
async def import_redirects(
    session: Session, site: str, file: BinaryIO, org: str | None, *, replace: bool, dry_run: bool, yes: bool
) -> None:
    """Import redirects from a CSV file; - reads standard input.

    The columns are source and destination; a heading is optional. Duplicates, loops and invalid paths are reported by
    line, with exit code 6, before anything is sent. Existing redirects are not sent again, so you can repeat an
    interrupted import.
    """
    path, known = await _redirects_of(session, site, org)
    rows, problems = read_table(file.read())
    plan = ImportPlan(problems=tuple(problems)) if problems else plan_import(path, rows, known, replace=replace)
    if plan.problems:
        for problem in plan.problems:
            print_text(str(problem))
        raise ChecksFailed(f"nothing was imported: {count(len(plan.problems), 'problem')} in the file")
    print_message(f"{plan.summary}.")
    if dry_run:
        session.show([_planned(change.call) | {"line": change.line} for change in plan.changes], ("change", "source"))
        return
    if not plan.changes:
        return
    if not session.engine.status.online and (reason := offline_problem(len(plan.changes))):
        raise ChecksFailed(reason)
    confirm(f"Import {count(len(plan.changes), 'change')}?", yes=yes)
    receipt = await send_changes(session.engine, plan.changes, _progress(len(plan.changes)))
    for problem in receipt.failed:
        print_text(str(problem))
    print_message(f"{receipt.summary}.")
    if receipt.failed:
        raise ChecksFailed(f"{count(len(receipt.failed), 'redirect')} refused by the service; import the file again")


@redirects.command("export")
@click.argument("site")
@click.option(
    "--output", "-o", type=click.File("w", encoding="utf-8", lazy=True), metavar="FILE", help="Write to this file."
)
@org_option
@with_session
async def export_redirects(session: Session, site: str, output: TextIO | None, org: str | None) -> None:
    """Export the redirects of a site as CSV, for `import`.

    With --json, standard output gets JSON; a file is always CSV.
    """
    _, known = await _redirects_of(session, site, org)
    if session.json:
        redirects = known.by_source.values()
        rows = [{"source": item.source, "destination": known.destination(item)} for item in redirects]
        session.show(sorted(rows, key=lambda row: row["source"]))
    text = write_table(known)
    if output is None:
        click.echo(text if not session.json else "", nl=False)
        return
    output.write(text)
    print_message(f"{count(len(known.by_source), 'redirect')} exported.")


@redirects.command("test")
@click.argument("site")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@org_option
@with_session
async def check_paths(session: Session, site: str, paths: tuple[str, ...], org: str | None) -> None:
    """Show where paths of a site lead, with chains and loops.

    The exit code is 6 if a path is in a redirect loop, or leads to no page.
    """
    _, known = await _redirects_of(session, site, org)
    trails = [known.trail(known.paths.inside(path) or path) for path in paths]
    if session.json:
        session.show([{"steps": list(trail.steps), "end": trail.end, "title": trail.title} for trail in trails])
    else:
        for trail in trails:
            chain = f", a chain of {trail.redirects}" if trail.redirects > 1 and trail.end != "loop" else ""
            title = f" “{trail.title}”" if trail.title else ""
            print_text(f"{' → '.join(trail.steps)}  ({ENDS[trail.end]}{title}{chain})")
    if any(trail.end in ("loop", "nothing") for trail in trails):
        raise ChecksFailed("not every path leads to a page")


async def _redirects_of(session: Session, site: str, org: str | None) -> tuple[dict[str, Any], RedirectMap]:
    owner, chosen = await lookup.site(session, site, org)
    path: dict[str, Any] = {"organization_id": owner.id, "site_id": chosen.id}
    redirects = await session.all(ListRedirects(**path))
    return path, RedirectMap(redirects, await read_paths(session.engine, owner.id, chosen))


def _planned(call: Any) -> dict[str, object]:
    """Return a planned change of an import as a row."""
    if isinstance(call, DeleteRedirect):
        return {"change": "delete", "source": call.site_redirect_id}
    verb = "add" if isinstance(call, CreateRedirect) else "change"
    return {"change": verb, "source": call.source, "destination": reference(call.destination)}


def _progress(total: int) -> Any:
    def show(receipt: Receipt) -> None:
        if sys.stderr.isatty():
            click.echo(f"\r{receipt.done + len(receipt.failed):,} of {total:,}", err=True, nl=False)

    return show
