"""`presscheck cr drop`, `copy` and `move`: drop, copy or move the changes to whole pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from presscheck.api.change_requests import ChangeRequest, GetChangeRequest
from presscheck.api.content_changes import ChangedPage
from presscheck.cli import lookup
from presscheck.cli.output import print_message, print_text
from presscheck.cli.session import Session, confirm, request_argument, with_session, yes_option
from presscheck.engine.review.rearrange import (
    Kind,
    Rearrangement,
    Selection,
    carry_out,
    describe,
    plan_rearrangement,
)
from presscheck.engine.shared_calls import changes_in
from presscheck.errors import InvalidArgument
from presscheck.text.phrases import count

SUBJECT = 100
"""Maximum number of characters of a subject."""
_DONE: dict[Kind, str] = {"drop": "Dropped", "copy": "Copied", "move": "Moved"}

_pages = click.argument("pages", metavar="PAGE...", nargs=-1, required=True)
_dry_run = click.option("--dry-run", is_flag=True, help="Print what would happen to each page; send nothing.")


def _target_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options for the target change request."""
    to = click.option("--to", metavar="CR", help="The other change request: NUMBER in the same space, an id or a URL.")
    new = click.option("--new", "subject", metavar="SUBJECT", help="Create a change request with this subject.")
    return to(new(function))


@click.command()
@request_argument
@_pages
@_dry_run
@yes_option
@with_session
async def drop(session: Session, which: str, pages: tuple[str, ...], *, dry_run: bool, yes: bool) -> None:
    """Drop the changes to pages from a change request.

    The pages are reset to main as of the start or last update of the change request: new pages are deleted, deleted
    pages are restored, moved pages move back. PAGE is an id, a path or a title.
    """
    await _rearrange(session, "drop", which, pages, dry_run=dry_run, yes=yes)


@click.command()
@request_argument
@_pages
@_target_options
@_dry_run
@with_session
async def copy(
    session: Session, which: str, pages: tuple[str, ...], *, to: str | None, subject: str | None, dry_run: bool
) -> None:
    """Copy the changes to pages into another change request.

    It must be in the same space. The changes are merged with the pages there. If both changed the same lines, nothing
    is sent. PAGE is an id, a path or a title.
    """
    await _rearrange(session, "copy", which, pages, to=to, subject=subject, dry_run=dry_run)


@click.command()
@request_argument
@_pages
@_target_options
@_dry_run
@with_session
async def move(
    session: Session, which: str, pages: tuple[str, ...], *, to: str | None, subject: str | None, dry_run: bool
) -> None:
    """Move the changes to pages into another change request.

    It must be in the same space. This copies the changes, and then drops them. If both changed the same lines, nothing
    is sent. PAGE is an id, a path or a title.
    """
    await _rearrange(session, "move", which, pages, to=to, subject=subject, dry_run=dry_run)


async def _rearrange(
    session: Session,
    kind: Kind,
    which: str,
    pages: tuple[str, ...],
    *,
    to: str | None = None,
    subject: str | None = None,
    dry_run: bool,
    yes: bool = True,
) -> None:
    """Plan the changes of a command, then print them (`dry_run`) or send them.

    Raises:
        InvalidArgument: a page is not changed, or not exactly one target is given.
    """
    if kind != "drop" and (to is None) == (subject is None):
        raise InvalidArgument("--to", "choose where the changes go: either --to CR or --new SUBJECT")
    if subject is not None and not 0 < len(subject.strip()) <= SUBJECT:
        raise InvalidArgument("--new", f"must have 1 to {SUBJECT} characters")
    source = await lookup.change_request(session, which)
    target = await _target(session, source, to) if to is not None else None
    changed = await _changed_pages(session, source)
    selection = Selection(tuple(dict.fromkeys(_page_named(changed, page).id for page in pages)))
    plan = await plan_rearrangement(session.engine, kind, source, selection, target)
    if dry_run:
        session.show(_as_json(plan, None)) if session.json else print_text("\n".join(describe(plan)))
        return
    number = count(len(selection.pages), "page")
    if kind == "drop" and not yes:
        for line in describe(plan):
            print_message(line)
        confirm(f"Drop the changes to {number} from #{source.number}?", yes=yes)
    done = await carry_out(session.engine, plan, (subject or "").strip())
    print_message(f"{_DONE[kind]} the changes to {number}" + (f" to #{done.number}." if done else "."))
    for edits in (plan.copied, plan.dropped):
        for note in edits.notes if edits else ():
            print_message(f"{note}.")
    if session.json:
        session.show(_as_json(plan, done))
    elif done:
        session.show_id(done)


async def _target(session: Session, source: ChangeRequest, named: str) -> ChangeRequest:
    """Find the target change request, by its number in the same space or as `lookup.change_request` does."""
    number = named.lstrip("#")
    if number.isdigit():
        return await session.read(GetChangeRequest(space_id=source.space, change_request_id=number))
    return await lookup.change_request(session, named)


async def _changed_pages(session: Session, source: ChangeRequest) -> list[ChangedPage]:
    changes = await session.read(changes_in(source))
    if changes.more:
        changes = await session.read(changes_in(source, len(changes.changes) + changes.more))
    return list({change.page.id: change.page for change in changes.changes if change.page}.values())


def _page_named(pages: list[ChangedPage], named: str) -> ChangedPage:
    """Return the changed page with this id, path or title.

    Raises:
        InvalidArgument: no changed page matches, or several match.
    """
    match = next((page for page in pages if named in (page.id, page.path)), None)
    return match or lookup.pick(pages, named, "PAGE")


def _as_json(plan: Rearrangement, target: ChangeRequest | None) -> dict[str, Any]:
    """Return a plan as plain data; `target` is null if there is no target, or if it does not exist yet."""
    parts = {"copied": plan.copied, "dropped": plan.dropped}
    return {
        "kind": plan.kind,
        "source": plan.source,
        "target": target or plan.target,
        **{
            name: [{"page": step.page, "title": step.title, "what": step.what} for step in edits.steps]
            for name, edits in parts.items()
            if edits
        },
        "notes": [note for edits in parts.values() if edits for note in edits.notes],
    }
