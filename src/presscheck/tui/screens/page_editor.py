"""Page edits in a change request, for all screens: the text is a draft until the service has accepted it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from presscheck.api.comments import Document
from presscheck.api.content import GetChangeRequestPage, ListChangeRequestPages
from presscheck.api.content_changes import DeletePage, EditChangeRequestContent, InsertPage, UpdatePage
from presscheck.documents.merge.conflict_blocks import conflict_blocks
from presscheck.documents.merge.text import merge_text
from presscheck.documents.pages.page_order import PageOrder
from presscheck.documents.pages.tree import flatten
from presscheck.engine.review.pending_review import draft_key
from presscheck.engine.search.backlinks import backlinks
from presscheck.errors import ChecksFailed, PresscheckError
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Span
from presscheck.tui.external_programs import edit_text
from presscheck.tui.screens.page_markdown import EditorPage, PageEdit, from_editor, to_editor
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog
from presscheck.tui.widgets.prompt_dialog import PromptDialog

if TYPE_CHECKING:
    from presscheck.api.content import RevisionPage
    from presscheck.text.styled_text import Line
    from presscheck.tui.screens.screen_context import ScreenContext

Side = Literal["before", "after", "inside"]
"""Where a page is added, seen from another."""
LINKS_TIMEOUT = 5.0
"""Seconds after which a page is deleted without knowing the links to it."""
SHOWN_LINKS = 5
"""How many of the pages that link to a page are named."""
TITLE = 256
"""Characters that the title of a page may have."""
OURS, THEIRS = "you", "somebody else"
"""Names of both sides in conflict markers."""


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


async def add_page(screen: ScreenContext, path: dict[str, Any], target: str | None, side: Side) -> str | None:
    """Add a page before, after or inside another, or (None) at the end of the top level; returns its id if known."""
    key = draft_key(path["change_request_id"], "new page")
    title = await ask_line(screen, "Title of the new page", "", key, max_length=TITLE)
    if title is None:
        return None
    into, at = target, None
    if target is not None and side != "inside":
        order = PageOrder.of((await screen.engine.read(ListChangeRequestPages(**path))).pages)
        if target not in order:
            raise ChecksFailed("Not added: somebody removed the page next to it just now")
        into, at = order.parent(target), order.siblings(target).index(target) + (side == "after")
    place: dict[str, Any] = {name: value for name, value in (("into", into), ("at", at)) if value is not None}
    change = InsertPage(title=title, document=Document(markdown=""), **place)
    answer = await screen.engine.write(EditChangeRequestContent(**path, changes=(change,), compat=False)).landed()
    screen.engine.outbox.save_draft(key, "")
    changes = answer.changes if answer else ()
    return next((created.page_id for created in changes if created.object == "created_page"), None)


async def delete_pages(screen: ScreenContext, path: dict[str, Any], page_ids: Sequence[str]) -> bool:
    """Delete pages with their subpages in one write, after a confirmation with the links to them."""
    pages = (await screen.engine.read(ListChangeRequestPages(**path))).pages
    by_id = {page.id: page for page in flatten(pages)}
    deleted = [by_id[page] for page in PageOrder.of(pages).outermost(page_ids)]
    if not deleted:
        raise ChecksFailed("Not deleted: this change request does not have the page")
    lines: list[Line] = [(Span("It stays public until the change request is merged."),)]
    if len(deleted) > 1:
        lines = [(Span("They stay public until the change request is merged."),)]
    below = sum(1 for _ in flatten(deleted)) - len(deleted)
    if below:
        lines.insert(0, (Span(f"Also deletes {count(below, 'subpage')}.", "waiting"),))
    lines += await _links_to(screen, path, deleted)
    what = sanitize(deleted[0].title) if len(deleted) == 1 else count(len(deleted), "page")
    is_confirmed = bool(await screen.ask(ConfirmDialog(f"Delete {what}?", lines, "Delete", screen.style_for)))
    if is_confirmed:
        changes = tuple(DeletePage(page=page.id) for page in deleted)
        await screen.engine.write(EditChangeRequestContent(**path, changes=changes)).landed()
    return is_confirmed


async def _links_to(screen: ScreenContext, path: dict[str, Any], deleted: Sequence[RevisionPage]) -> list[Line]:
    """The pages that link to pages which are deleted, without those that go with them."""
    gone = {page.id for page in flatten(deleted)}
    titles: dict[str, str] = {}
    try:
        async with asyncio.timeout(LINKS_TIMEOUT):
            for page in deleted:
                links = await backlinks(screen.engine, path["space_id"], page.id, path["change_request_id"])
                sources = (link.page for link in links.items if link.page and link.page.id not in gone)
                titles |= {source.id: sanitize(source.title) or "(no title)" for source in sources}
    except (PresscheckError, TimeoutError):
        return [(Span("The pages that link here could not be listed.", "waiting"),)]
    if not titles:
        return []
    names = ", ".join([*titles.values()][:SHOWN_LINKS]) + (", …" if len(titles) > SHOWN_LINKS else "")
    return [(Span(f"{count(len(titles), 'page')} {'links' if len(titles) == 1 else 'link'} here: {names}", "waiting"),)]


async def ask_line(
    screen: ScreenContext,
    question: str,
    value: str,
    key: str,
    *,
    min_length: int = 1,
    max_length: int | None = None,
    validate: Callable[[str], str | None] | None = None,
    hint: str = "",
) -> str | None:
    """Ask for a line of text; what is typed is a draft with this key until it is removed."""
    outbox = screen.engine.outbox
    return await screen.ask(
        PromptDialog(
            question,
            outbox.draft(key) or value,
            screen.style_for,
            min_length=min_length,
            max_length=max_length,
            validate=validate,
            hint=hint,
            save=lambda text: outbox.save_draft(key, "" if text == value else text),
        )
    )
