"""The list of all threads of a change request by state; it also chooses which states the review shows."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from typing_extensions import override

from presscheck.engine.review.threads import STATES, Thread
from presscheck.text.phrases import ago, count, now
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, width
from presscheck.tui.screens.notification_actions import NotificationActions, Selection
from presscheck.tui.screens.review.comment_actions import CommentActions
from presscheck.tui.screens.review.renderer import STATE_SIGNS, one_line, pending_words
from presscheck.tui.screens.review.suggestion_actions import SuggestionActions
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.widgets.empty_state import EmptyState
from presscheck.tui.widgets.row_list import RowList
from presscheck.tui.widgets.status_bar import StatusLine, pressing

if TYPE_CHECKING:
    from presscheck.engine.review.changes import ChangedItem
    from presscheck.tui.screens.review.session import ReviewSession


class ThreadListScreen(BaseScreen):
    """The threads of a review.

    Args:
        session: the review.
    """

    DEFAULT_CSS = "ThreadListScreen RowList { margin-top: 1; }"
    FOOTER: ClassVar[tuple[str, ...]] = ("open", "reply", "resolve", "mark", "act_on_marked", "close")

    def __init__(self, session: ReviewSession) -> None:
        super().__init__()
        self._session = session
        self._comments, self._suggestions = CommentActions(session), SuggestionActions(session)
        self.rows = RowList(self._row, second_line=self._text, key=self._key)
        self._shown: list[tuple[ChangedItem | None, Thread]] = []
        self._notifications = NotificationActions(
            self.engine, self.notify, self._to_notify, session.notifications_changed
        )

    @override
    def command_handlers(self) -> Iterable[object]:
        return (self, self._notifications)

    @override
    def title_line(self) -> Line:
        request = self._session.model.request
        name = f"#{request.number} {sanitize(request.subject)}" if request else ""
        return (Span(" Threads of ", "quiet"), Span(name, "title"))

    @override
    def body(self) -> ComposeResult:
        yield StatusLine(id="states")
        yield EmptyState()
        yield self.rows

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self.rows.focus()
        self._show()

    @override
    def redraw(self) -> None:
        if self.is_mounted and not self.is_leaving:
            self._show()

    def _show(self) -> None:
        threads, visible = self._session.threads.all_threads(), self._session.threads.visible
        self._session.texts.prefetch([item for item, _ in threads if item])  # they tell which threads are outdated
        self._shown = [(item, thread) for item, thread in threads if thread.state in visible]
        self.query_one("#states", StatusLine).show(self._states([thread for _, thread in threads]))
        empty_state = self.query_one(EmptyState)
        self.rows.show(len(self._shown))
        self.rows.display = bool(self._shown)
        if self._shown:
            empty_state.hide()
            self.rows.focus()  # it loses the focus while it is hidden
        elif threads:
            empty_state.show_empty("All threads are hidden.", "1 to 4 show the threads of a state.")
        else:
            empty_state.show_empty("No comments yet.", "In the review, c comments on the line under the cursor.")
        self.refresh_status_bars()

    def _states(self, threads: list[Thread]) -> Line:
        """The number of threads in each state, and whether they are shown."""
        spans: list[Span] = []
        for number, state in enumerate(STATES, 1):
            count = sum(thread.state == state and thread.first.pending is None for thread in threads)
            (sign, style), is_visible = STATE_SIGNS[state], state in self._session.threads.visible
            parts = Span(f"{number} ", "quiet"), Span(f"{sign} ", style if is_visible else "quiet")
            name = Span(f"{state} {count}", "strong" if is_visible else "quiet")
            spans += [Span("  ", "quiet"), *pressing(str(number), *parts, name), Span(" " * 3)]
            spans += [] if is_visible else [Span("hidden   ", "quiet")]
        unsent = sum(thread.first.pending is not None for thread in threads)
        return (*spans, Span(f"  ✎ {unsent} not sent", "accent")) if unsent else tuple(spans)

    @property
    def thread(self) -> Thread | None:
        """The thread under the cursor."""
        row = self.rows.cursor
        return self._shown[row][1] if row < len(self._shown) else None

    def command_tab(self) -> None:
        """Show or hide the threads in the state of this number."""
        number = int(self.last_key)
        if number <= len(STATES):
            state = STATES[number - 1]
            self._session.threads.set_visible(state, visible=state not in self._session.threads.visible)
            self._session.screen.redraw()

    def command_open(self) -> None:
        """Go to the thread in the review."""
        if thread := self.thread:
            self.app_context.pop_screen()
            self._session.show_thread(thread.id)

    def reason_reply(self) -> str | None:
        """Why there is no reply."""
        return self._comments.reply_reason(self.thread)

    def reason_resolve(self) -> str | None:
        """Why it can neither be resolved nor reopened."""
        return self._comments.resolve_reason(self.thread)

    def command_reply(self) -> None:
        """Reply to the thread under the cursor."""
        if thread := self.thread:
            self._comments.reply(thread)

    def command_resolve(self) -> None:
        """Resolve the thread under the cursor, or reopen it."""
        if thread := self.thread:
            self._comments.toggle_resolved(thread)

    def command_mark(self) -> None:
        """Mark the thread, or remove the mark, and go to the next one."""
        self.rows.mark()
        self.refresh_status_bars()

    def command_unsend(self) -> Awaitable[None] | None:
        """Undo the last mute or follow, or the newest write of the review."""
        if not self._notifications.can_undo:
            return self._session.undo_last()
        self._notifications.undo()
        return None

    def reason_act_on_marked(self) -> str | None:
        """Why no suggestions can be applied."""
        return self._suggestions.apply_reason(self._chosen)

    async def command_act_on_marked(self) -> None:
        """Apply the suggestions of the marked threads, or of all that are shown."""
        threads = self._chosen
        self.rows.clear_marks()
        await self._suggestions.apply_all(threads)

    @property
    def _chosen(self) -> list[Thread]:
        """The marked threads; without marks, all that are shown."""
        threads = [thread for _, thread in self._shown]
        return [thread for thread in threads if thread.id in self.rows.marked] or threads

    def _to_notify(self) -> Selection | str:
        """The marked threads, or the one under the cursor."""
        thread = self.thread
        if thread is None:
            return "no thread here"
        marked = [shown for _, shown in self._shown if shown.id in self.rows.marked]
        return self._session.to_notify(marked or [thread])

    def _key(self, index: int) -> str | None:
        return self._shown[index][1].id if index < len(self._shown) else None

    def _row(self, index: int, columns: int) -> Line:
        item, thread = self._shown[index]
        sign, style = STATE_SIGNS[thread.state] if thread.first.pending is None else ("✎", "accent")
        where = item.title if item else "conversation"
        about = f" · {sanitize(thread.about)}" if thread.about else ""
        author = Span(thread.first.author, "you strong" if thread.first.author == "you" else "strong")
        head = (Span(f"{sign} ", style), author, Span(f" {ago(thread.first.posted_at, now())}", "quiet"))
        replies = count(thread.reply_count, "reply", "replies") if thread.reply_count else ""
        unsent = pending_words(thread.first.pending or thread.pending_status)
        replies = " · ".join(filter(None, (unsent, thread.notifications, replies)))
        room = columns - len(replies) - 1
        left = cut((*head, Span(f"   {where}{about}", "quiet")), room)
        return (*left, Span(" " * (room + 1 - width(left))), Span(replies, "quiet"))

    def _text(self, index: int, columns: int) -> Line:
        thread = self._shown[index][1]
        return cut((Span(f"  {one_line(thread.first)}"),), columns)
