"""Page edits in a change request, for all screens: the text is a draft until the service has accepted it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from presscheck.api.comments import Document
from presscheck.api.content import GetChangeRequestPage
from presscheck.api.content_changes import DeletePage, EditChangeRequestContent, InsertPage, UpdatePage
from presscheck.documents.merge.conflict_blocks import conflict_blocks
from presscheck.documents.merge.text import merge_text
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Span
from presscheck.tui.external_programs import edit_text
from presscheck.tui.screens.page_markdown import EditorPage, PageEdit, from_editor, to_editor
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog
from presscheck.tui.widgets.prompt_dialog import PromptDialog

if TYPE_CHECKING:
    from presscheck.text.styled_text import Line
    from presscheck.tui.screens.screen_context import ScreenContext

TITLE = 256
"""Characters that the title of a page may have."""
OURS, THEIRS = "you", "somebody else"
"""Names of both sides in conflict markers."""


def draft_key(change_request_id: str, name: str) -> str:
    """The key of a draft, the same for all screens."""
    return f"review {change_request_id} {name}"


async def edit_page(screen: ScreenContext, path: dict[str, Any], page_id: str) -> None:
    """Edit the Markdown of a page in the editor; asks before sending, and keeps the text as a draft until then.

    Edits of others since are merged in. On a conflict the draft contains both versions, and nothing is sent.

    Args:
        screen: the screen that asks.
        path: `space_id` and `change_request_id`.
        page_id: the page.
    """
    draft = _PageDraft(screen, path, page_id)
    title, before = await draft.read_page()
    text = edit_text(screen.app_context, draft.initial_text(before))
    if from_editor(before, text) is None:
        screen.notify("no changes")
        return
    draft.keep(text, before)
    _, after = await draft.read_page()
    merged = merge_text(before.text, text, after.text, our_name=OURS, their_name=THEIRS)
    draft.keep(merged.text, after)
    edit = from_editor(after, merged.text)
    if merged.conflicts or edit is None:
        message = "conflict: somebody edited the same lines; e opens both versions"
        screen.notify(message if merged.conflicts else "somebody else made the same edit: nothing is left to send")
        return
    lines = _summary(edit, title, merged.text, is_merged=after.text != before.text)
    if not await screen.ask(ConfirmDialog("Save to the change request?", lines, "Save", screen.style_for)):
        screen.notify("not saved; e opens your draft")
    elif (await draft.read_page())[1].text != after.text:
        screen.notify("somebody edited the page just now: not saved; e opens your draft, merged with it")
    else:
        new_title: dict[str, Any] = {"title": edit.title} if edit.title else {}
        change = UpdatePage(page=page_id, document=Document(markdown=edit.markdown), **new_title)
        await screen.engine.write(EditChangeRequestContent(**path, changes=(change,))).landed()
        draft.forget()


class _PageDraft:
    """The draft of a page, and the text that it was edited from."""

    def __init__(self, screen: ScreenContext, path: dict[str, Any], page_id: str) -> None:
        self._screen, self._outbox, self._path, self._page_id = screen, screen.engine.outbox, path, page_id
        self._keys = [draft_key(path["change_request_id"], f"{name} {page_id}") for name in ("edit", "base")]

    async def read_page(self) -> tuple[str, EditorPage]:
        """The current title and text of the page."""
        call = GetChangeRequestPage(**self._path, page_id=self._page_id, format="markdown")
        page = await self._screen.engine.read(call)
        return page.title, to_editor(page.title, page.markdown or "")

    def initial_text(self, now: EditorPage) -> str:
        """The text to edit: the draft merged with the current page, else the page."""
        text, base = (self._outbox.draft(key) for key in self._keys)
        return merge_text(base or now.text, text, now.text, our_name=OURS, their_name=THEIRS).text if text else now.text

    def keep(self, text: str, base: EditorPage) -> None:
        """Store the draft and the text that it was edited from."""
        for key, value in zip(self._keys, (text, base.text), strict=True):
            self._outbox.save_draft(key, value)

    def forget(self) -> None:
        """Remove the draft."""
        for key in self._keys:
            self._outbox.save_draft(key, "")


def _summary(edit: PageEdit, title: str, text: str, *, is_merged: bool) -> list[Line]:
    """A summary of the edit."""
    lines: list[Line] = [(Span(f"{count(edit.changed, 'line')} changed in {sanitize(title)}"),)]
    if edit.title:
        lines.append((Span(f"new title: {sanitize(edit.title)}"),))
    if edit.reformatted:
        lines.append((Span(f"{count(edit.reformatted, 'more line')} reformatted by the service", "waiting"),))
    if is_merged:
        lines.append((Span("Merged with an edit of somebody else.", "waiting"),))
    if any(block.our_name == OURS or not block.in_code for block in conflict_blocks(text)):
        lines.append((Span("It still contains conflict markers.", "removed"),))
    return lines


async def add_page(screen: ScreenContext, path: dict[str, Any], into: str | None) -> str | None:
    """Add a page below another or at the root; returns its id if the service reports it."""
    key = draft_key(path["change_request_id"], "new page")
    title = await _ask_title(screen, "Title of the new page", "", key)
    if title is None:
        return None
    change = InsertPage(title=title, document=Document(markdown=""), into=into)
    answer = await screen.engine.write(EditChangeRequestContent(**path, changes=(change,), compat=False)).landed()
    screen.engine.outbox.save_draft(key, "")
    changes = answer.changes if answer else ()
    return next((created.page_id for created in changes if created.object == "created_page"), None)


async def rename_page(screen: ScreenContext, path: dict[str, Any], page_id: str, title: str) -> None:
    """Change the title of a page."""
    key = draft_key(path["change_request_id"], f"title {page_id}")
    new = await _ask_title(screen, "Title of the page", title, key)
    if new is not None and new != title:
        change = UpdatePage(page=page_id, title=new)
        await screen.engine.write(EditChangeRequestContent(**path, changes=(change,))).landed()
    if new is not None:
        screen.engine.outbox.save_draft(key, "")


async def delete_page(screen: ScreenContext, path: dict[str, Any], page_id: str, title: str, below: int) -> None:
    """Delete a page and its subpages, after a confirmation."""
    lines: list[Line] = [(Span("It stays public until the change request is merged."),)]
    if below:
        lines.insert(0, (Span(f"Also deletes {count(below, 'subpage')}.", "waiting"),))
    if await screen.ask(ConfirmDialog(f"Delete {sanitize(title)}?", lines, "Delete", screen.style_for)):
        change = DeletePage(page=page_id)
        await screen.engine.write(EditChangeRequestContent(**path, changes=(change,))).landed()


async def _ask_title(screen: ScreenContext, question: str, title: str, key: str) -> str | None:
    outbox = screen.engine.outbox
    return await screen.ask(
        PromptDialog(
            question,
            outbox.draft(key) or title,
            screen.style_for,
            max_length=TITLE,
            save=lambda text: outbox.save_draft(key, "" if text == title else text),
        )
    )
