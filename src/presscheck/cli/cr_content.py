"""`presscheck cr diff` and `cr edit`: what a change request changes in its pages, and changing it."""

from __future__ import annotations

import shutil
import sys
from typing import Any, cast

import click

from presscheck.api.change_requests import ChangeRequest, UpdateChangeRequest
from presscheck.api.comments import Document
from presscheck.api.content import GetChangeRequestPage, GetRevisionPage, ListChangeRequestPages, RevisionPage
from presscheck.api.content_changes import EditChangeRequestContent, SemanticChange, UpdatePage
from presscheck.cli import lookup
from presscheck.cli.output import as_json, print_json, print_line
from presscheck.cli.session import Session, asking
from presscheck.cli.text_input import body_options, body_text
from presscheck.documents.diff.page_diff import Mode, PageDifference, compare, difference_lines
from presscheck.documents.merge.text import merge_text
from presscheck.documents.pages.tree import flatten
from presscheck.engine.shared_calls import changes_in
from presscheck.errors import ChecksFailed, InvalidArgument
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Span

WIDE = 100
"""Columns where there is no terminal that has a width, and the fewest for two sides."""


@click.command()
@click.argument("which", metavar="SPACE#NUMBER")
@click.option("--stat", is_flag=True, help="Print only the changed pages and their word counts.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["prose", "split", "source", "json"]),
    default="prose",
    show_default=True,
    help="Rendered text, side by side, Markdown source, or JSON.",
)
@asking
async def diff(session: Session, which: str, *, stat: bool, form: str) -> None:
    """Print what a change request changes, page by page."""
    columns = shutil.get_terminal_size((WIDE, 24)).columns if sys.stdout.isatty() else WIDE
    if form == "split" and columns < WIDE:
        raise InvalidArgument("--format", f"split needs {WIDE} columns, this terminal has {columns}")
    request = await lookup.change_request(session, which)
    found = await session.read(changes_in(request))
    if found.more:
        found = await session.read(changes_in(request, len(found.changes) + found.more))
    texts = [await _texts(session, request, one) for one in found.changes]
    if session.json or form == "json":
        pairs = zip(found.changes, texts, strict=True)
        print_json([{**as_json(one), "before": before, "after": after} for one, (before, after) in pairs])
        return
    for one, (before, after) in zip(found.changes, texts, strict=True):
        has_text = before is not None or after is not None
        compared = compare(before or "", after or "")
        _print_head(one, compared, has_text=has_text)
        if has_text and not stat:
            for line in difference_lines(compared, columns, mode=cast("Mode", form)).lines:
                print_line(line)
            print_line(())


@click.command()
@click.argument("which", metavar="SPACE#NUMBER")
@click.option("--subject", metavar="TEXT", help="New subject, at most 100 characters.")
@click.option("--status", type=click.Choice(["draft", "open"]), help="Draft, or open for review.")
@click.option("--page", metavar="PAGE", help="Replace the text of this page, by id, path or title.")
@body_options
@asking
async def edit(
    session: Session,
    which: str,
    subject: str | None,
    status: str | None,
    page: str | None,
    body: str | None,
    body_file: str | None,
) -> None:
    """Edit the subject, the state or a page; without --body the page opens in your editor."""
    request = await lookup.change_request(session, which)
    path = lookup.path_of(request)
    given: dict[str, Any] = {
        name: value for name, value in (("subject", subject), ("status", status)) if value is not None
    }
    if not given and page is None:
        raise InvalidArgument("--page", "pass what to edit: --subject, --status or --page")
    if given:
        session.show_new(await session.write(UpdateChangeRequest(**path, **given), "Changed."))
    if page is None:
        return
    tree = await session.read(ListChangeRequestPages(**path))
    found = page_named(tree.pages, page)
    question = GetChangeRequestPage(**path, page_id=found.id, format="markdown")
    now = (await session.read(question)).markdown or ""
    with body_text(body, body_file, before=now) as text:
        is_whole = body is not None or body_file is not None
        joined = text if is_whole else await _joined(session, question, now, text)
        changes = (UpdatePage(page=found.id, document=Document(markdown=joined)),)
        written = await session.write(EditChangeRequestContent(**path, changes=changes), "Written.")
        session.show(written) if session.json else click.echo(found.id)


async def _joined(session: Session, question: GetChangeRequestPage, before: str, text: str) -> str:
    """What was typed, with what somebody else wrote in the page meanwhile.

    Raises:
        ChecksFailed: both wrote in the same words.
    """
    joined = merge_text(before, text, (await session.read(question)).markdown or "")
    if joined.conflicts:
        raise ChecksFailed("Edit conflict: somebody else changed the same text. Nothing was saved")
    return joined.text


def page_named(pages: tuple[RevisionPage, ...], named: str) -> RevisionPage:
    """A page by id, path or title.

    Raises:
        InvalidArgument: there is none, or there are several.
    """
    every = [*flatten(pages)]
    for one in every:
        if named in (one.id, one.path):
            return one
    return lookup.pick(every, named, "PAGE")


async def _texts(session: Session, request: ChangeRequest, change: SemanticChange) -> tuple[str | None, str | None]:
    """A page's text before and after; None on a side where it is not."""
    if change.page is None or change.page.type != "document":
        return None, None
    before = after = None
    page, space = change.page.id, request.space
    if not change.type.endswith("_created"):
        revision = request.revision_merged_ancestor or request.revision_initial
        asked = GetRevisionPage(space_id=space, revision_id=revision, page_id=page, format="markdown")
        before = (await session.read(asked)).markdown or ""
    if not change.type.endswith("_deleted"):
        question = GetChangeRequestPage(space_id=space, change_request_id=request.id, page_id=page, format="markdown")
        after = (await session.read(question)).markdown or ""
    return before, after


def _print_head(change: SemanticChange, compared: PageDifference, *, has_text: bool) -> None:
    counts = f"  +{compared.added} −{compared.removed} words" if has_text else ""
    print_line((Span(f"{change.type.replace('_', ' ')}: {_name(change)}{counts}", "strong"),))
    for name, one in (change.attributes or {}).items():
        if name != "document":
            print_line((Span(sanitize(f"  {name}: {_side(one.before)} → {_side(one.after)}")),))


def _name(change: SemanticChange) -> str:
    thing: Any = change.page or change.file or change.reusable_content or change.tag
    words = (getattr(thing, name, None) for name in ("path", "title", "name", "label", "slug"))
    return sanitize(next((word for word in words if word), "") or getattr(thing, "id", ""))


def _side(value: Any) -> str:
    return "–" if value is None else str(value)
