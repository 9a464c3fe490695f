"""`presscheck cr diff` and `presscheck cr edit`."""

from __future__ import annotations

import shutil
import sys
from contextlib import suppress
from typing import Any, cast

import click

from presscheck.api.change_requests import ChangeRequest, UpdateChangeRequest
from presscheck.api.comments import Document
from presscheck.api.content import GetChangeRequestPage, ListChangeRequestPages
from presscheck.api.content_changes import EditChangeRequestContent, SemanticChange, UpdatePage
from presscheck.cli import lookup
from presscheck.cli.operations.command_factory import sends
from presscheck.cli.output import as_json, print_json, print_line, print_message
from presscheck.cli.session import Session, request_argument, with_session
from presscheck.cli.text_input import body_options, body_text
from presscheck.documents.diff.page_diff import CONTEXT, Mode, PageDifference, compare, difference_lines
from presscheck.documents.merge.text import merge_text
from presscheck.engine.review.page_texts import page_texts
from presscheck.engine.shared_calls import changes_in
from presscheck.engine.writes.page_merge import page_base
from presscheck.engine.writes.queued_edits import edits_of_page, queue_edit
from presscheck.errors import ChecksFailed, InvalidArgument, PresscheckError
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Span

WIDE = 100
"""Line width without a terminal, and minimum width of the split layout, in cells."""


@click.command()
@request_argument
@click.option("--stat", is_flag=True, help="Print only the changed pages and their word counts.")
@click.option(
    "--format",
    "layout",
    type=click.Choice(["prose", "split", "source", "json"]),
    default="prose",
    show_default=True,
    help="Rendered text, side by side, Markdown source, or JSON.",
)
@click.option(
    "-U",
    "--unified",
    "context",
    type=click.IntRange(min=0),
    metavar="N",
    default=CONTEXT,
    show_default=True,
    help="Lines of unchanged text around each change.",
)
@with_session
async def diff(session: Session, which: str, *, stat: bool, layout: str, context: int) -> None:
    """Show the changes of a change request."""
    columns = shutil.get_terminal_size((WIDE, 24)).columns if sys.stdout.isatty() else WIDE
    if layout == "split" and columns < WIDE:
        raise InvalidArgument(
            "--format", f"split requires {WIDE} columns; this terminal has {columns}. Widen it, or use prose"
        )
    request = await lookup.change_request(session, which)
    changes = await session.read(changes_in(request))
    if changes.note:
        print_message(f"This service has no list of changes: {sanitize(changes.note)}.")
    if changes.more:
        changes = await session.read(changes_in(request, len(changes.changes) + changes.more))
    texts = [await page_texts(session, request, change) for change in changes.changes]
    if session.json or layout == "json":
        pairs = zip(changes.changes, texts, strict=True)
        print_json([{**as_json(change), "before": before, "after": after} for change, (before, after) in pairs])
        return
    for change, (before, after) in zip(changes.changes, texts, strict=True):
        has_text = before is not None or after is not None
        compared = compare(before or "", after or "")
        _print_heading(change, compared, has_text=has_text)
        if has_text and not stat:
            for line in difference_lines(compared, columns, mode=cast("Mode", layout), context=context).lines:
                print_line(line)
            print_line(())


@click.command()
@request_argument
@click.option("--subject", metavar="TEXT", help="New subject; at most 100 characters.")
@click.option("--status", type=click.Choice(["draft", "open"]), help="Draft, or open for review.")
@click.option("--page", metavar="PAGE", help="Replace the text of this page, by id, path or title.")
@body_options
@with_session
@sends(EditChangeRequestContent)
async def edit(
    session: Session,
    which: str,
    subject: str | None,
    status: str | None,
    page: str | None,
    body: str | None,
    body_file: str | None,
) -> None:
    """Edit the subject, the status or a page.

    With --page but without --body or --body-file, the page opens in your editor. Offline, the edit is queued in the
    outbox.
    """
    request = await lookup.change_request(session, which)
    path = lookup.path_of(request)
    given: dict[str, Any] = {
        name: value for name, value in (("subject", subject), ("status", status)) if value is not None
    }
    if not given and page is None:
        raise InvalidArgument("--page", "choose what to edit: --subject, --status or --page")
    if given:
        session.show_id(await session.write(UpdateChangeRequest(**path, **given), "Change request updated."))
    if page is not None:
        await edit_page(session, request, page, body, body_file)


async def edit_page(
    session: Session, request: ChangeRequest, page: str, body: str | None, body_file: str | None
) -> None:
    """Replace the text of a page with a given text, or open the editor. Offline, the edit is queued in the outbox.

    Raises:
        InvalidArgument: no page, or several pages match.
        ChecksFailed: another user changed the same text.
    """
    path = lookup.path_of(request)
    tree = await session.read(ListChangeRequestPages(**path))
    target = lookup.page(tree.pages, page)
    read_page = GetChangeRequestPage(**path, page_id=target.id, format="markdown")
    shown = await session.read(read_page)
    now = shown.markdown or ""
    with body_text(body, body_file, before=now) as text:
        is_whole = body is not None or body_file is not None
        markdown = text if is_whole else await _merge(session, read_page, now, text)
        change = UpdatePage(page=target.id, document=Document(markdown=markdown))
        engine = session.engine
        if not engine.status.online or edits_of_page(engine.outbox, request.id, target.id):
            number = queue_edit(engine, path, change, page_base(shown.title, now))
            if await session.sent(number):
                print_message("Page updated.")
            return
        written = await session.write(EditChangeRequestContent(**path, changes=(change,)), "Page updated.")
        session.show(written) if session.json else click.echo(target.id)
        with suppress(PresscheckError):  # only refreshes the cache; the page is saved
            await session.read(read_page)


async def _merge(session: Session, read_page: GetChangeRequestPage, before: str, text: str) -> str:
    """Return the edited text, merged with changes that others made to the page in the meantime.

    Raises:
        ChecksFailed: another user changed the same text.
    """
    merged = merge_text(before, text, (await session.read(read_page)).markdown or "")
    if merged.conflicts:
        raise ChecksFailed("Edit conflict: another user changed the same text. Nothing was saved; edit the page again")
    return merged.text


def _print_heading(change: SemanticChange, compared: PageDifference, *, has_text: bool) -> None:
    counts = f"  +{compared.added} −{compared.removed} words" if has_text else ""
    print_line((Span(f"{change.type.replace('_', ' ')}: {_name(change)}{counts}", "strong"),))
    for name, attribute in (change.attributes or {}).items():
        if name != "document":
            print_line((Span(sanitize(f"  {name}: {_side(attribute.before)} → {_side(attribute.after)}")),))


def _name(change: SemanticChange) -> str:
    thing: Any = change.page or change.file or change.reusable_content or change.tag
    words = (getattr(thing, name, None) for name in ("path", "title", "name", "label", "slug"))
    return sanitize(next((word for word in words if word), "") or getattr(thing, "id", ""))


def _side(value: Any) -> str:
    return "–" if value is None else str(value)
