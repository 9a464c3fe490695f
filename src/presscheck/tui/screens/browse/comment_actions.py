"""Comments on live pages in the browse screen: write a comment at the line under the cursor, list a page's comments."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING

from presscheck.api.comments import ListSpaceComments, PostSpaceComment
from presscheck.documents.nodes.comment_targets import find_block_key
from presscheck.documents.pages.comment_text import normalize_text, quote, split_quote
from presscheck.engine.reads.scheduler import PREFETCH
from presscheck.engine.review.merge_readiness import comment_reason
from presscheck.engine.shared_calls import live_nodes
from presscheck.errors import PresscheckError
from presscheck.text.sanitize import sanitize
from presscheck.tui.commands import key_for, with_keys
from presscheck.tui.places import Place

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from presscheck.tui.comments.actions import PageComment, ThreadActions
    from presscheck.tui.comments.drafts import LiveDrafts
    from presscheck.tui.screens.browse.page_tree import Item
    from presscheck.tui.screens.browse.session import ContentTree

NO_SPACE = "go to a page first"
_number = re.compile(r"^\d{1,4}[.)]\s+").sub
ADDED = "comment added: {threads} lists the comments of the page, {unsend} undoes it"
WAITS = "you are offline: the comment waits in the outbox ({go_outbox}), {unsend} undoes it"


class PageCommentActions:
    """The comment commands of the browse screen.

    Args:
        session: the tree and the page pane.
    """

    def __init__(self, session: ContentTree) -> None:
        self._session, self._screen = session, session.screen
        self._engine = session.screen.engine
        self._drafts: LiveDrafts | None = None

    def reason_threads(self) -> str | None:
        """Return why the comments on the item cannot be listed.

        There is no space, the service cannot list comments, or the space is shown in a change request, whose comments
        are in its review.
        """
        return self._threads_reason(self._session.item)

    def _threads_reason(self, item: Item | None) -> str | None:
        if item is None or item.space is None:
            return NO_SPACE
        request = self._session.library.requests.get(item.space.id)
        if request:
            return f"shown in #{request.number}: its comments are in its review, {key_for('go_review')} opens it"
        return self._engine.missing_reason(ListSpaceComments)

    def command_threads(self) -> Awaitable[object] | None:
        """List the comments on the page or, if no page is under the cursor, on all pages of the space."""
        item = self._session.item
        if item is None or item.space is None:
            return None
        page = item.page.id if item.page and item.kind == "document" else ""
        return self._screen.app_context.go(Place.comments(item.space.id, page))

    def reason_comment(self) -> str | None:
        """Return why no comment can be written: no page is under the cursor, or its space allows no comments now."""
        item = self._session.item
        if item is None or item.kind != "document":
            return NO_SPACE
        if reason := self._threads_reason(item) or self._engine.write_reason(PostSpaceComment):
            return reason
        return comment_reason(item.space)

    def command_comment(self) -> None:
        """Comment on the line under the cursor or, in the tree, on the whole page."""
        self._comment(quotes=self._session.page_view.has_focus)

    reason_comment_on_all = reason_comment

    def command_comment_on_all(self) -> None:
        """Comment on the whole page."""
        self._comment(quotes=False)

    def _comment(self, *, quotes: bool) -> None:
        item = self._session.item
        if item is None or item.page is None or item.space is None:
            return
        view = self._session.page_view
        shown, source = view.source_at_cursor() if quotes else ("", "")
        about = split_quote(quote(sanitize(_words(shown, source))))[0]
        from presscheck.tui.comments.actions import PageComment  # 9 ms, only for a comment

        drafts, actions = self._parts(item)
        comment = PageComment(item.page.id, sanitize(item.page.title), about)
        if about:
            self._screen.run(self._find_block(item.space.id, comment, source, drafts))
        actions.comment(comment, lambda: with_keys(ADDED if self._engine.status.online else WAITS))

    async def _find_block(self, space: str, comment: PageComment, source: str, drafts: LiveDrafts) -> None:
        """Attach a comment to the block of the page that contains the quoted line `source`.

        If the block is not found or the page cannot be read, the quote alone marks the place of the comment.
        """
        with contextlib.suppress(PresscheckError):
            nodes = await self._engine.read(live_nodes(space, comment.page_id), priority=PREFETCH)
            if key := find_block_key(nodes.document or {}, _without_marks(source)):
                comment.nodes["node"] = key
                drafts.store_nodes(comment.name, comment.nodes)

    @property
    def can_undo(self) -> bool:
        """Whether the space under the cursor has an unsent comment."""
        item, drafts = self._session.item, self._drafts
        is_here = drafts and item and item.space and drafts.discussion.space_id == item.space.id
        return bool(drafts and is_here and drafts.can_undo)

    def undo(self) -> None:
        """Undo the last unsent comment, and restore its text as a draft."""
        if self._drafts:
            self._screen.notify(self._drafts.undo_last())

    def _parts(self, item: Item) -> tuple[LiveDrafts, ThreadActions]:
        """Return the unsent comments on the space of an item, and the actions that compose and send comments there."""
        # 9 ms, only for a comment
        from presscheck.engine.review.threads import LIVE, Discussion
        from presscheck.tui.comments.actions import ThreadActions
        from presscheck.tui.comments.drafts import LiveDrafts

        space = item.space.id if item.space else ""
        if self._drafts is None or self._drafts.discussion.space_id != space:
            self._drafts = LiveDrafts(self._screen, Discussion(self._engine, space, LIVE))
        self._drafts.space = item.space
        return self._drafts, ThreadActions(self._drafts)


def _without_marks(text: str) -> str:
    """Strip the markup, bullet and number at the start of a line, and the markup at its end."""
    return _number("", text.strip()).lstrip("#>-*+•◦▪ |│").rstrip(" |│")


def _words(shown: str, source: str) -> str:
    """Return the text to quote: the displayed line if its words are in the Markdown, or else the Markdown line."""
    seen, written = _without_marks(shown), _without_marks(source)
    return seen if (words := normalize_text(seen)) and words in normalize_text(written) else written
