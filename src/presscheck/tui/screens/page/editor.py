"""Page edits in a change request, for all screens. The text is kept as a draft until the service has accepted it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from presscheck.api.comments import Document
from presscheck.api.content import ListChangeRequestPages, ListPages
from presscheck.api.content_changes import DeletePage, InsertPage
from presscheck.api.spaces import GetSpace, UpdateSpace
from presscheck.documents.merge.conflict_blocks import cut_conflicts
from presscheck.documents.pages.page_order import PageOrder
from presscheck.documents.pages.tree import flatten
from presscheck.engine.drafts import draft_about
from presscheck.engine.review.merge_readiness import lock_reason
from presscheck.engine.review.pending_review import draft_key
from presscheck.engine.search.backlinks import backlinks
from presscheck.engine.writes.tree_merge import added_page, change_tree, must_queue, pending_edit_reason, tree_base
from presscheck.errors import ChecksFailed, NotNow, PresscheckError
from presscheck.store.drafts import DraftSlot
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Span
from presscheck.tui.commands import with_keys
from presscheck.tui.external_programs import edit_text, is_built_in
from presscheck.tui.screens.page.draft import QUEUED, PageDraft
from presscheck.tui.screens.text_draft import confirm_discard
from presscheck.tui.ui.ask import choose, confirm, prompt
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.api.content import RevisionPage
    from presscheck.api.content_changes import ContentUpdate
    from presscheck.text.styled_text import Line
    from presscheck.tui.ui.screen import BaseScreen

Side = Literal["before", "after", "inside"]
"""Where a page is added, relative to another page."""
LINKS_TIMEOUT = 5.0
"""Seconds to wait for the links to a page before it is deleted."""
SHOWN_LINKS = 5
"""Maximum number of linking pages that are listed."""
TITLE = 256
"""Maximum number of characters in the title of a page."""


async def edit_page(
    screen: BaseScreen, path: dict[str, Any], page_id: str, *, uses_other_editor: bool = False, conflict: int = 0
) -> None:
    """Edit the Markdown of a page, and save it after a confirmation.

    The text is kept as a draft until the service has accepted it. Edits by other users are merged in. On a conflict,
    the draft contains both versions and nothing is sent. A text with conflicts is opened at a conflict.

    Args:
        screen: the screen that shows the dialogs.
        path: `space_id` and `change_request_id`.
        page_id: the id of the page.
        uses_other_editor: use the editor that is not the default: external instead of built-in, or the reverse.
        conflict: the number of the conflict at which to open the text, from 0; conflicts in code are not counted.
    """
    if await stays_locked(screen, path["space_id"]):
        return
    draft = PageDraft(screen, path, page_id)
    text = await draft.open()
    if is_built_in(screen.app_context.profile.editor) != uses_other_editor:
        # 23 ms, only for the built-in editor
        from presscheck.tui.screens.markdown_editor.screen import MarkdownEditor

        screen.app_context.push_screen(MarkdownEditor(draft, text, line=_line_of_conflict(text, conflict)))
        return
    if draft.is_kept:
        choice = await _ask_about(screen, draft)
        if choice is None:
            return
        text = draft.discard() if choice == "discard" else text
    edited = edit_text(screen.app_context, text, draft.keep, draft.slot, line=_line_of_conflict(text, conflict))
    saved = await draft.save(screen, edited)
    if saved.message:
        screen.notify(saved.message)


def _line_of_conflict(text: str, number: int) -> int | None:
    """Return the first line of a conflict, or of the last conflict if `number` is too large; None without conflicts."""
    lines = [block.first for block in cut_conflicts(text).conflicts]
    return lines[min(number, len(lines) - 1)] if lines else None


async def _ask_about(screen: BaseScreen, draft: PageDraft) -> str | None:
    """Ask whether to continue or discard the draft of a page. Returns `continue`, `discard`, or None if canceled."""
    choices = [
        Choice("continue", "Continue with the draft", "merged with the page", letter="c"),
        Choice("discard", "Discard the draft (asks first)", "edits the page as it is", letter="d"),
    ]
    title = f"You have a draft of {sanitize(draft.title) or 'this page'}{draft.age}"
    chosen = await choose(screen, title, choices)
    if chosen is None or (chosen == "discard" and not await confirm_discard(screen, draft)):
        return None
    return chosen


async def stays_locked(screen: BaseScreen, space_id: str) -> bool:
    """Return whether a lock prevents edits in a space. Admins of the space are asked to unlock it first."""
    call = GetSpace(space_id=space_id)
    known = screen.engine.known(call)
    is_locked = bool(known and known.value and known.value.edit_mode == "locked")
    if not is_locked and not screen.engine.status.online:
        return False  # offline, the cached state counts; online, somebody may have locked the space since
    space = await screen.engine.read(call)
    locked = lock_reason(space)
    if locked is None:
        return False
    if not space.permissions.admin:
        screen.notify(f"{locked}: ask somebody who administers it to unlock it")
        return True
    lines: list[Line] = [(Span(f"{locked}, so nothing in it can be edited or merged."),)]
    if not await confirm(screen, f"Unlock {sanitize(space.title)}?", lines, "Unlock"):
        return True
    await screen.engine.write(UpdateSpace(space_id=space_id, edit_mode="live")).landed()
    return False


async def add_page(screen: BaseScreen, path: dict[str, Any], target: str | None, side: Side) -> str | None:
    """Add a page before, after or inside a page, or at the end of the top level if `target` is None.

    Returns:
        The id of the new page; None if the user canceled, or if the service has not returned the id.

    Raises:
        ChecksFailed: the page `target` no longer exists.
    """
    key = draft_key(path["change_request_id"], "new page")
    draft = DraftSlot(screen.engine.outbox, key, about=draft_about(screen.engine, path))
    title = await prompt(screen, "Title of the new page", draft, max_length=TITLE)
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
    answer = await change_pages(screen, path, (change,))
    draft.discard()
    return added_page(answer)


async def change_pages(screen: BaseScreen, path: dict[str, Any], changes: Sequence[Any]) -> ContentUpdate | None:
    """Send changes of the page tree. Offline, queue them, show a message, and return None."""
    answer = await change_tree(screen.engine, path, changes)
    if answer is None:
        screen.notify(with_keys(QUEUED))
    return answer


async def delete_pages(screen: BaseScreen, path: dict[str, Any], page_ids: Sequence[str]) -> bool:
    """Delete pages and their subpages in a single write, after a confirmation that lists links to them.

    Returns False if the user canceled.

    Raises:
        ChecksFailed: the change request has none of the pages.
    """
    pages = (await screen.engine.read(ListChangeRequestPages(**path))).pages
    by_id = {page.id: page for page in flatten(pages)}
    deleted = [by_id[page] for page in PageOrder.of(pages).outermost(page_ids)]
    if not deleted:
        raise ChecksFailed("Not deleted: this change request does not have the page")
    if must_queue(screen.engine, path):
        base = tree_base(pages, [DeletePage(page=page.id) for page in deleted])
        if reason := pending_edit_reason(screen.engine, path, base):
            raise NotNow(reason)
    lines = await _live_pages(screen, path["space_id"], deleted)
    below = sum(1 for _ in flatten(deleted)) - len(deleted)
    if below:
        lines.insert(0, (Span(f"Also deletes {count(below, 'subpage')}.", "waiting"),))
    lines += await _links_to(screen, path, deleted)
    what = sanitize(deleted[0].title) if len(deleted) == 1 else count(len(deleted), "page")
    is_confirmed = await confirm(screen, f"Delete {what}?", lines, "Delete")
    if is_confirmed:
        changes = tuple(DeletePage(page=page.id) for page in deleted)
        await change_pages(screen, path, changes)
    return is_confirmed


async def _live_pages(screen: BaseScreen, space_id: str, deleted: Sequence[RevisionPage]) -> list[Line]:
    """Render how many of the deleted pages stay live until the merge. Empty if the live pages cannot be read."""
    try:
        async with asyncio.timeout(LINKS_TIMEOUT):
            live = {page.id for page in flatten((await screen.engine.read(ListPages(space_id=space_id))).pages)}
    except (PresscheckError, TimeoutError):
        return []
    kept = sum(page.id in live for page in deleted)
    is_one = len(deleted) == 1
    if not kept:
        added = "It is not live, because this change request added it."
        return [(Span(added if is_one else "They are not live, because this change request added them."),)]
    who = "It stays" if is_one else "They stay" if kept == len(deleted) else f"{kept} of them stay"
    return [(Span(f"{who} live until the change request is merged."),)]


async def _links_to(screen: BaseScreen, path: dict[str, Any], deleted: Sequence[RevisionPage]) -> list[Line]:
    """Render the pages that link to deleted pages and stay, or a note if the links cannot be read in time."""
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
