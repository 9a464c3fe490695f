"""The list of comments on a page, or on all pages of a space. The thread under the cursor is shown below the list."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from typing_extensions import override

from presscheck.api.comments import ListSpaceComments
from presscheck.api.content import ListPages, Pages, RevisionPage
from presscheck.api.spaces import GetSpace, Space
from presscheck.documents.diff.suggestion_lines import comment_with_suggestion
from presscheck.documents.pages.tree import flatten
from presscheck.engine.drafts import message_id
from presscheck.engine.review.threads import LIVE, Discussion, Thread, ThreadState, locate_thread
from presscheck.engine.shared_calls import live_comments, live_nodes, live_page
from presscheck.text.phrases import long_ago, now
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for, tab_label, with_keys
from presscheck.tui.comments.actions import PageComment, ThreadActions
from presscheck.tui.comments.drafts import IS_SENT, LiveDrafts
from presscheck.tui.comments.rows import thread_lines
from presscheck.tui.comments.thread_list import ThreadList
from presscheck.tui.places import Place
from presscheck.tui.screens.undo import undo_last_sent
from presscheck.tui.ui.loaded import Loaded, message_for
from presscheck.tui.widgets.empty_state import EmptyState
from presscheck.tui.widgets.line_view import TextView
from presscheck.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from presscheck.api.comments import Comment, CommentReply
    from presscheck.api.operation import Operation, Page
    from presscheck.engine.results import Result
    from presscheck.engine.writes.descriptions import Place as WritePlace
    from presscheck.errors import PresscheckError

STATES: tuple[ThreadState, ...] = ("open", "resolved", "outdated")
HIDDEN = "page comments not shown"
"""The storage key of the hidden states."""


class PageCommentsScreen(ThreadList):
    """The comments on the live content of a space.

    Args:
        space_id: the id of the space.
        page_id: the id of the page whose comments are listed; empty to list the comments on all pages.
        comment_id: the id of the comment to go to once it is loaded.
    """

    FOOTER: ClassVar[tuple[str, ...]] = ("open", "comment", "reply", "resolve", "edit", "delete", "all_pages", "close")
    DEFAULT_CSS = "PageCommentsScreen #thread { height: 1fr; margin-top: 1; padding: 0 1; }"

    def __init__(self, space_id: str, page_id: str = "", comment_id: str = "") -> None:
        super().__init__(STATES, has_marks=False)
        self.discussion = Discussion(self.engine, space_id, LIVE)
        self._live = LiveDrafts(self, self.discussion)
        self.drafts, self.actions = self._live, ThreadActions(self._live)
        self.space_id, self.page_id = space_id, page_id
        self._page_of_start = page_id
        self._target = comment_id
        self._pages: dict[str, RevisionPage] = {}
        self._text: tuple[str, str] = ("", "")
        """The id of the page whose text is loaded, and its text."""
        self._node_tree: tuple[str, Mapping[str, Any] | None] = ("", None)
        self._error: PresscheckError | None = None
        """The error of the latest request of the listing."""
        self._age: float | None = None
        self._listings: set[str] = set()
        hidden = (self.engine.outbox.recall(HIDDEN) or "").split()
        self._visible: set[ThreadState] = {state for state in STATES if state not in hidden}

    @override
    def title_line(self) -> Line:
        space = sanitize(self._live.space.title) if self._live.space else ""
        page = self._pages.get(self.page_id)
        name = sanitize(page.title) if page else "" if self.page_id else "all pages"
        age = f"   as it was {long_ago(self._age)}" if self._age is not None else ""
        path = " › ".join(filter(None, (space, name)))
        return (Span(f" {path}", "title"), Span(" › Comments", "quiet"), Span(age, "quiet"))

    @override
    def body(self) -> ComposeResult:
        yield from super().body()
        yield TextView(id="thread")

    @override
    def on_mount(self) -> None:
        super().on_mount()
        watch = self.engine.watch
        self.subscribe(watch(GetSpace(space_id=self.space_id)), self._take_space, group="space", shows_errors=False)
        self.subscribe(watch(ListPages(space_id=self.space_id)), self._take_pages, group="pages", shows_errors=False)
        self._subscribe(live_comments(self.space_id))
        self._subscribe_text()

    def _take_space(self, result: Result[Space | None]) -> None:
        self._live.space = result.value or self._live.space
        self.refresh_status_bars()

    def _take_pages(self, result: Result[Pages | None]) -> None:
        if result.value:
            self._pages = {page.id: page for page in flatten(result.value.pages)}
            self.draw()

    def _subscribe(self, call: ListSpaceComments) -> None:
        """Subscribe to a chunk of the listing of comments, once."""
        key = call.key()
        if key in self._listings:
            return
        self._listings.add(key)
        take = partial(self._take_comments, call)
        self.subscribe(self.engine.watch(call), take, group=f"comments {key}", shows_errors=False)

    def _take_comments(self, call: ListSpaceComments, result: Result[Page[Comment] | None]) -> None:
        self._error = result.error
        self._age = result.age if result.state == "offline" and result.value else None
        if result.value:
            self.discussion.set_comments(call.page, result.value.items)
            if following := self.discussion.next_comments(call, result.value):
                self._subscribe(following)
            for comment in self.discussion.outdated_replies():
                self.engine.refresh(self.discussion.list_replies(comment))
        self.draw()

    def _subscribe_text(self) -> None:
        """Subscribe to the text of the page, which determines the positions of threads."""
        if self.page_id:
            call = live_page(self.space_id, self.page_id)
            self.subscribe(self.engine.watch(call), self._take_text, group="text", shows_errors=False)

    def _take_text(self, result: Result[RevisionPage | None]) -> None:
        if result.value:
            self._text = (result.value.id, result.value.markdown or "")
            self.draw()

    def _take_nodes(self, result: Result[RevisionPage | None]) -> None:
        if result.value:
            self._node_tree = (result.value.id, result.value.document or {})
            self.draw()

    def _load_replies(self, thread: Thread) -> None:
        """Subscribe to the replies of a thread, once."""
        call: Operation[Any] = self.discussion.list_replies(thread.id)
        if thread.first.pending or not thread.reply_count or call.key() in self._listings:
            return
        self._listings.add(call.key())

        def take(result: Result[Page[CommentReply] | None]) -> None:
            if result.value:
                self.discussion.set_replies(thread.id, result.value.items)
                self.draw()

        self.subscribe(self.engine.watch(call), take, group=f"replies {thread.id}")

    @override
    def find_threads(self) -> Sequence[Thread]:
        """Return the threads of the page in line order, or all threads in page order."""
        threads = self.discussion.threads()
        if not self.page_id:
            order = {page: at for at, page in enumerate(self._pages, 1)}
            return sorted(threads, key=lambda thread: order.get(thread.page or "", 0 if thread.page is None else MANY))
        threads = [thread for thread in threads if thread.page == self.page_id]
        if self._text[0] != self.page_id:
            return threads
        if any(thread.needs_nodes for thread in threads) and self._node_tree[0] != self.page_id:
            self._node_tree = (self.page_id, None)
            call = live_nodes(self.space_id, self.page_id)
            self.subscribe(self.engine.watch(call), self._take_nodes, group="nodes", shows_errors=False)
        nodes = self._node_tree[1] if self._node_tree[0] == self.page_id else None
        found = [locate_thread(thread, self._text[1], nodes) for thread in threads]
        return sorted(found, key=lambda thread: -1 if thread.line is None else thread.line)

    @override
    @property
    def visible_states(self) -> Collection[ThreadState]:
        return self._visible

    @override
    def states_line(self) -> Line:
        line = super().states_line()
        if self._error is None or self._age is not None or not self.all_threads:
            return line
        return (*line, Span(f"  not up to date: {sanitize(self._error.message)}", "waiting"))

    @override
    def shown_changed(self) -> None:
        at = next((at for at, thread in enumerate(self.shown) if thread.id == self._target), None)
        if at is not None:
            self._target = ""
            self.rows.move_to(at)
        self.query_one("#thread").display = bool(self.shown)
        self._show_thread()

    def _show_thread(self) -> None:
        """Show the whole thread under the cursor."""
        view, thread = self.query_one("#thread", TextView), self.thread
        if thread is None:
            view.show(())
            return
        self._load_replies(thread)
        whole = replace(thread, line=None)  # with its quote, because the page is not visible
        columns = max(20, self.size.width - 4)  # of the screen, because a hidden view has no width
        view.show([line for _, line in thread_lines(whole, columns, now(), comment_with_suggestion, unfolded=True)])

    @override
    def show_empty(self, empty: EmptyState) -> None:
        where = "on this page" if self.page_id else "in this space"
        if self.all_threads:
            empty.show_empty(
                "All comments are hidden.", f"{tab_label(1)} to {tab_label(3)} show the comments of a state."
            )
        elif self.discussion.is_known:
            more = "" if self.page_id == "" else f"\n{key_for('all_pages')} shows those of all pages."
            empty.show_empty(f"No comments {where} yet.", f"{key_for('comment')} adds one.{more}")
        else:
            loaded = Loaded[Discussion](None, self._error)
            empty.show_message(message_for(loaded, "comments", " of this space", online=self.engine.status.online))

    @on(RowList.RowHighlighted)
    def row_highlighted(self) -> None:
        """Show the thread under the cursor in full, and update the keys in the footer."""
        self._show_thread()
        self.refresh_status_bars()

    @override
    def on_resize(self) -> None:
        super().on_resize()
        self.call_after_refresh(self.redraw)

    @override
    def toggle_state(self, state: ThreadState) -> None:
        self._visible = {other for other in STATES if (other in self._visible) is not (other == state)}
        hidden = " ".join(state for state in STATES if state not in self._visible)
        self.engine.outbox.remember(HIDDEN, hidden or None)
        self.draw()

    def reason_all_pages(self) -> str | None:
        """Return why there is no page to switch to: the comments were opened for the whole space."""
        return (
            None
            if self._page_of_start
            else f"all pages are listed: {key_for('threads')} on a page in Browse lists its own"
        )

    def command_all_pages(self) -> None:
        """Switch between the comments on all pages and the comments on the page."""
        self.page_id = "" if self.page_id else self._page_of_start
        self.draw()

    def reason_open(self) -> str | None:
        """Return why no page can be opened: there is no comment, or the comment is on the whole space."""
        if self.thread is None:
            return "no comment here"
        return None if self.thread.page else "this comment is on the whole space, not on a page"

    def command_open(self) -> Awaitable[object] | None:
        """Open the page at the line of the comment."""
        thread = self.thread
        if thread is None or thread.page is None:
            return None
        return self.app_context.go(Place.page(self.space_id, thread.page, quote=thread.about))

    def reason_comment(self) -> str | None:
        """Return why no comment can be written: for example, the user may not comment in the space."""
        return self.drafts.disabled_reason()

    reason_comment_on_all = reason_comment

    def command_comment(self) -> None:
        """Comment on the page. In the list of all pages, comment on the page of the thread under the cursor.

        If that thread has no page, or if there is no thread, comment on the whole space.
        """
        page = self.page_id or (self.thread.page if self.thread else None)
        if page:
            known = self._pages.get(page)
            self.actions.comment(PageComment(page, sanitize(known.title) if known else ""))
        else:
            self.actions.comment_on_all()

    def command_comment_on_all(self) -> None:
        """Comment on the whole space."""
        self.actions.comment_on_all()

    def command_unsend(self) -> Awaitable[None] | None:
        """Undo the last unsent comment, or else offer to undo the last sent change here."""
        if self.drafts.can_undo:
            self.notify(self.drafts.undo_last())
            return None
        return undo_last_sent(self, self._is_here)

    def _is_here(self, place: WritePlace) -> bool:
        return place.space == self.space_id and place.request is None and place.comment is not None

    def continue_draft(self, name: str, target: str, about: Mapping[str, str]) -> None:
        """Open the composer with a draft.

        Args:
            name: the kind of draft, such as `reply`.
            target: the id of the page, comment or outbox row that the draft belongs to.
            about: the data stored with the draft.
        """
        author = about.get("author", "")
        if name == "page":
            self.actions.comment(self.actions.stored_comment(target, about.get("page", "")))
        elif name == "reply":
            self.actions.reply_to(target, author, about.get("words", ""))
        elif name == "message":
            self.actions.edit_comment(target, author)
        elif name == "whole":
            self.actions.comment_on_all()
        elif not self.actions.edit_pending(int(target)):
            if sent := self.drafts.take_sent(int(target)):
                self.actions.edit_comment(message_id(sent), "")
            else:
                self.notify(with_keys(IS_SENT))

    @override
    def place_of(self, thread: Thread) -> str:
        """Return the title of a thread's page in the list of all pages; empty in the list of a single page."""
        if self.page_id:
            return ""
        page = self._pages.get(thread.page or "")
        if page:
            return sanitize(page.title)
        return "the whole space" if thread.page is None else "page deleted" if self._pages else ""


MANY = 1_000_000
"""The position of pages that are not in the tree: they are sorted after all others."""
