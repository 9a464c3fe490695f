"""Edits to the pages of a change request, as every screen makes them: what was typed is a draft until it is taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from presscheck.api.changes import DeletePage, EditChangeRequestContent, InsertPage, UpdatePage
from presscheck.api.comments import Document
from presscheck.api.content import GetChangeRequestPage
from presscheck.documents.display_text import display_text
from presscheck.documents.spans import Span
from presscheck.documents.text_merging import BEGINS, merge_text
from presscheck.tui.external_programs import edit_text
from presscheck.tui.screens.page_markdown import Edited, Opened, edited, opened
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog
from presscheck.tui.widgets.prompt_dialog import PromptDialog

if TYPE_CHECKING:
    from presscheck.documents.spans import Line
    from presscheck.tui.screens.screen_context import ScreenContext

TITLE = 256
"""Characters that a title may have."""
OURS, THEIRS = "you", "somebody else"
"""Who wrote what stands between the marks of a text in which both wrote in the same words."""


def draft_key(change_request_id: str, name: str) -> str:
    """Under which a draft is kept; every screen finds it there again."""
    return f"review {change_request_id} {name}"


async def edit_page(screen: ScreenContext, path: dict[str, Any], page_id: str) -> None:
    """Edit a page's Markdown; what comes back is shown in numbers before it is sent, and kept where it is not.

    What somebody else writes meanwhile is joined with it; where both wrote in the same words, both are there to be
    decided over, and nothing is sent.

    Args:
        screen: where it is done.
        path: `space_id` and `change_request_id`.
        page_id: the page.
    """
    draft = _PageDraft(screen, path, page_id)
    title, before = await draft.opened()
    text = edit_text(screen.app_context, draft.begin(before))
    if edited(before, text) is None:
        screen.notify("nothing was changed")
        return
    draft.keep(text, before)
    _, after = await draft.opened()
    joined = merge_text(before.text, text, after.text, our_name=OURS, their_name=THEIRS)
    draft.keep(joined.text, after)
    found = edited(after, joined.text)
    if joined.conflicts or found is None:
        same = "somebody wrote in the same words meanwhile: e opens both, to be decided over"
        screen.notify(same if joined.conflicts else "somebody else wrote the same meanwhile: nothing is left to send")
        return
    lines = _in_numbers(found, title, joined.text, is_joined=after.text != before.text)
    if not await screen.ask(ConfirmDialog("Put this into the change request?", lines, "Save", screen.style_for)):
        screen.notify("not sent; e opens what you wrote again")
    elif (await draft.opened())[1].text != after.text:
        screen.notify("somebody wrote in the page just now: not sent; e opens what you wrote, joined with that")
    else:
        given: dict[str, Any] = {"title": found.title} if found.title else {}
        change = UpdatePage(page=page_id, document=Document(markdown=found.markdown), **given)
        await screen.desk.write(EditChangeRequestContent(**path, changes=(change,))).landed()
        draft.forget()


class _PageDraft:
    """What was written of a page and not sent yet, and the text of the page that it was written from."""

    def __init__(self, screen: ScreenContext, path: dict[str, Any], page_id: str) -> None:
        self._screen, self._outbox, self._path, self._page_id = screen, screen.desk.outbox, path, page_id
        self._keys = [draft_key(path["change_request_id"], f"{name} {page_id}") for name in ("edit", "base")]

    async def opened(self) -> tuple[str, Opened]:
        """The title and the text of the page, as it is now."""
        call = GetChangeRequestPage(**self._path, page_id=self._page_id, format="markdown")
        page = await self._screen.desk.read(call)
        return page.title, opened(page.title, page.markdown or "")

    def begin(self, now: Opened) -> str:
        """What to go on with: the draft, joined with what became of the page since; else the page."""
        text, base = (self._outbox.draft(key) for key in self._keys)
        return merge_text(base or now.text, text, now.text, our_name=OURS, their_name=THEIRS).text if text else now.text

    def keep(self, text: str, base: Opened) -> None:
        """Keep a text and what it was written from."""
        for key, kept in zip(self._keys, (text, base.text), strict=True):
            self._outbox.save_draft(key, kept)

    def forget(self) -> None:
        """It was sent."""
        for key in self._keys:
            self._outbox.save_draft(key, "")


def _in_numbers(found: Edited, title: str, text: str, *, is_joined: bool) -> list[Line]:
    """What will be other than it is."""
    lines: list[Line] = [(Span(f"{found.changed} lines of {display_text(title)} as you wrote them"),)]
    if found.title:
        lines.append((Span(f"a new title: {display_text(found.title)}"),))
    if found.collateral:
        lines.append((Span(f"{found.collateral} further lines, spelled otherwise by the service", "waiting"),))
    if is_joined:
        lines.append((Span("What somebody else wrote meanwhile stays.", "waiting"),))
    if f"\n{BEGINS} {OURS}" in f"\n{text}":
        lines.append((Span("The marks around what both wrote are still in it.", "removed"),))
    return lines


async def add_page(screen: ScreenContext, path: dict[str, Any], into: str | None) -> str | None:
    """Add a page below another, or at the root; its id, where the service tells."""
    key = draft_key(path["change_request_id"], "new page")
    title = await _titled(screen, "Title of the new page", "", key)
    if title is None:
        return None
    change = InsertPage(title=title, document=Document(markdown=""), into=into)
    answer = await screen.desk.write(EditChangeRequestContent(**path, changes=(change,), compat=False)).landed()
    screen.desk.outbox.save_draft(key, "")
    return next((one.page_id for one in answer.changes if one.object == "created_page"), None) if answer else None


async def rename_page(screen: ScreenContext, path: dict[str, Any], page_id: str, title: str) -> None:
    """Give a page another title."""
    key = draft_key(path["change_request_id"], f"title {page_id}")
    new = await _titled(screen, "Title of the page", title, key)
    if new is not None and new != title:
        change = UpdatePage(page=page_id, title=new)
        await screen.desk.write(EditChangeRequestContent(**path, changes=(change,))).landed()
    if new is not None:
        screen.desk.outbox.save_draft(key, "")


async def delete_page(screen: ScreenContext, path: dict[str, Any], page_id: str, title: str, below: int) -> None:
    """Take a page, and those below it, out of the change request."""
    lines: list[Line] = [(Span("Readers keep it until the change request is merged."),)]
    if below:
        lines.insert(0, (Span(f"{below} pages below it go with it.", "waiting"),))
    if await screen.ask(ConfirmDialog(f"Delete {display_text(title)}?", lines, "Delete", screen.style_for)):
        change = DeletePage(page=page_id)
        await screen.desk.write(EditChangeRequestContent(**path, changes=(change,))).landed()


async def _titled(screen: ScreenContext, question: str, title: str, key: str) -> str | None:
    outbox = screen.desk.outbox
    return await screen.ask(
        PromptDialog(
            question,
            outbox.draft(key) or title,
            screen.style_for,
            most=TITLE,
            save=lambda text: outbox.save_draft(key, "" if text == title else text),
        )
    )
