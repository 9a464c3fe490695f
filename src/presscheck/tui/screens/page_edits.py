"""Edits to the pages of a change request, as every place makes them: what was typed is a draft until it is taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from presscheck.api.changes import DeletePage, EditChangeRequestContent, InsertPage, UpdatePage
from presscheck.api.comments import Document
from presscheck.api.content import GetChangeRequestPage
from presscheck.documents.display_text import display_text
from presscheck.documents.spans import Span
from presscheck.tui.outside import edit_text
from presscheck.tui.screens.page_markdown import edited, opened
from presscheck.tui.widgets.entry import Entry
from presscheck.tui.widgets.sheet import Sheet

if TYPE_CHECKING:
    from presscheck.documents.spans import Line
    from presscheck.tui.screens.place import Place

TITLE = 256
"""Characters that a title may have."""


def draft_key(change_request_id: str, name: str) -> str:
    """Under which a draft is kept; every place finds it there again."""
    return f"review {change_request_id} {name}"


async def edit_page(place: Place, path: dict[str, Any], page_id: str) -> None:
    """Edit a page's Markdown; what comes back is shown in numbers before it is sent, and kept where it is not.

    Args:
        place: where it is done.
        path: `space_id` and `change_request_id`.
        page_id: the page.
    """
    page = await place.desk.read(GetChangeRequestPage(**path, page_id=page_id, format="markdown"))
    before, key = opened(page.title, page.markdown or ""), draft_key(path["change_request_id"], f"edit {page_id}")
    text = edit_text(place.home, place.desk.outbox.draft(key) or before.text)
    found = edited(before, text)
    if found is None:
        place.home.notice("nothing was changed")
        return
    place.desk.outbox.save_draft(key, text)
    lines: list[Line] = [(Span(f"{found.changed} lines of {display_text(page.title)} as you wrote them"),)]
    if found.title:
        lines.append((Span(f"a new title: {display_text(found.title)}"),))
    if found.collateral:
        lines.append((Span(f"{found.collateral} further lines, spelled otherwise by the service", "waiting"),))
    if await place.ask(Sheet("Put this into the change request?", lines, "Save", place.home.look)):
        given: dict[str, Any] = {"title": found.title} if found.title else {}
        change = UpdatePage(page=page_id, document=Document(markdown=found.markdown), **given)
        await place.desk.write(EditChangeRequestContent(**path, changes=(change,))).landed()
        place.desk.outbox.save_draft(key, "")
    else:
        place.home.notice("not sent; e opens what you wrote again")


async def add_page(place: Place, path: dict[str, Any], into: str | None) -> str | None:
    """Add a page below another, or at the root; its id, where the service tells."""
    key = draft_key(path["change_request_id"], "new page")
    title = await _titled(place, "Title of the new page", "", key)
    if title is None:
        return None
    change = InsertPage(title=title, document=Document(markdown=""), into=into)
    answer = await place.desk.write(EditChangeRequestContent(**path, changes=(change,), compat=False)).landed()
    place.desk.outbox.save_draft(key, "")
    return next((one.page_id for one in answer.changes if one.object == "created_page"), None) if answer else None


async def rename_page(place: Place, path: dict[str, Any], page_id: str, title: str) -> None:
    """Give a page another title."""
    key = draft_key(path["change_request_id"], f"title {page_id}")
    new = await _titled(place, "Title of the page", title, key)
    if new is not None and new != title:
        change = UpdatePage(page=page_id, title=new)
        await place.desk.write(EditChangeRequestContent(**path, changes=(change,))).landed()
    if new is not None:
        place.desk.outbox.save_draft(key, "")


async def delete_page(place: Place, path: dict[str, Any], page_id: str, title: str, below: int) -> None:
    """Take a page, and those below it, out of the change request."""
    lines: list[Line] = [(Span("Readers keep it until the change request is merged."),)]
    if below:
        lines.insert(0, (Span(f"{below} pages below it go with it.", "waiting"),))
    if await place.ask(Sheet(f"Delete {display_text(title)}?", lines, "Delete", place.home.look)):
        change = DeletePage(page=page_id)
        await place.desk.write(EditChangeRequestContent(**path, changes=(change,))).landed()


async def _titled(place: Place, question: str, title: str, key: str) -> str | None:
    outbox = place.desk.outbox
    return await place.ask(
        Entry(
            question,
            outbox.draft(key) or title,
            place.home.look,
            most=TITLE,
            save=lambda text: outbox.save_draft(key, "" if text == title else text),
        )
    )
