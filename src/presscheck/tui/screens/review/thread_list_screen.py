"""The list of all threads of a change request by state; it also chooses which states the review shows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from typing_extensions import override

from presscheck.engine.inbox.notification_settings import request_target
from presscheck.engine.review.threads import STATES, Thread, ThreadState
from presscheck.text.phrases import ago, count, now
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, width
from presscheck.tui.screens.notification_actions import NotificationActions, Selection
from presscheck.tui.screens.review.renderer import OUTDATED, first_words, one_line, pending_words
from presscheck.tui.status_bar import StatusLine, pressing
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.widgets.empty_state import EmptyState
from presscheck.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest
    from presscheck.engine.review.changes import ChangedItem
    from presscheck.engine.review.model import ReviewModel, ThreadFilter
    from presscheck.tui.screens.review.comment_actions import CommentActions
    from presscheck.tui.screens.review.context import ReviewContext
    from presscheck.tui.screens.review.loader import PageTextLoader
    from presscheck.tui.screens.review.suggestion_actions import SuggestionActions


def thread_selection(request: ChangeRequest, threads: Sequence[Thread]) -> Selection | str:
    """Threads of a change request to mute or follow; why not, if one of them is not sent yet."""
    if any(thread.first.pending for thread in threads):
        return "that comment is not sent yet"
    target = request_target(request)
    return Selection(
        [replace(target, thread=thread.id) for thread in threads],
        f"thread {first_words(threads[0].first)}",
        "thread",
    )


SIGNS: dict[ThreadState, tuple[str, str]] = {
    "open": ("●", "waiting"),
    "resolved": ("✓", "added"),
    "outdated": (OUTDATED, "quiet"),
    "review": ("◇", "quiet"),
}
"""The sign of each state, and its style."""


class ThreadListActions:
    """The command that opens the list of threads.

    Args:
        model: the change request.
        context: the screen.
        texts: the texts of its pages.
        threads: the threads by item.
        comments: replies and resolves.
        suggestions: applies suggestions.
        show_thread: goes to a thread in the review, by its id.
        on_notifications: called after threads were muted or followed, or no longer are.
        undo_last: undoes the newest write of the review.
    """

    def __init__(
        self,
        model: ReviewModel,
        context: ReviewContext,
        texts: PageTextLoader,
        threads: ThreadFilter,
        comments: CommentActions,
        suggestions: SuggestionActions,
        show_thread: Callable[[str], None],
        on_notifications: Callable[[], None],
        undo_last: Callable[[], Awaitable[None] | None],
    ) -> None:
        self._model, self._context, self._texts, self._threads = model, context, texts, threads
        self._comments, self._suggestions, self._show_thread = comments, suggestions, show_thread
        self._on_notifications, self._undo_last = on_notifications, undo_last
        self.screen: ThreadListScreen | None = None
        """The list, once it was opened."""

    def command_threads(self) -> None:
        """List the threads, and choose which are shown."""
        self.load_texts()
        self.screen = ThreadListScreen(
            self._model,
            self._threads,
            self._comments,
            self._suggestions,
            self._show_thread,
            self._context.redraw,
            self._on_notifications,
            self._undo_last,
        )
        self._context.app_context.push_screen(self.screen)

    @property
    def is_shown(self) -> bool:
        """Whether the user sees the list."""
        return self.screen is not None and self.screen.is_shown

    def load_texts(self) -> None:
        """Load the texts of all items with threads, to find out which threads are outdated."""
        self._texts.prefetch([item for item, _ in self._threads.all_threads() if item])

    def redraw(self) -> None:
        """Draw the list again, if it is open."""
        if self.screen:
            self.screen.redraw()


class ThreadListScreen(BaseScreen):
    """The threads of a review.

    Args:
        model: the change request.
        threads: its threads by item.
        comments: replies and resolves.
        suggestions: applies suggestions.
        show_thread: goes to a thread in the review, by its id.
        on_filter: called after other states were chosen.
        on_notifications: called after threads were muted or followed, or no longer are.
        undo_last: undoes the newest write of the review.
    """

    DEFAULT_CSS = "ThreadListScreen RowList { margin-top: 1; }"
    FOOTER: ClassVar[tuple[str, ...]] = ("open", "reply", "resolve", "mark", "act_on_marked", "close")

    def __init__(
        self,
        model: ReviewModel,
        threads: ThreadFilter,
        comments: CommentActions,
        suggestions: SuggestionActions,
        show_thread: Callable[[str], None],
        on_filter: Callable[[], None],
        on_notifications: Callable[[], None],
        undo_last: Callable[[], Awaitable[None] | None],
    ) -> None:
        super().__init__()
        self._model, self._threads, self._comments, self._suggestions = model, threads, comments, suggestions
        self._marked: set[str] = set()
        self._show_thread, self._on_filter, self._undo_last = show_thread, on_filter, undo_last
        self._shown: list[tuple[ChangedItem | None, Thread]] = []
        self._notifications = NotificationActions(self.engine, self.notify, self._to_notify, on_notifications)

    @override
    def command_handlers(self) -> Iterable[object]:
        return (self, self._notifications)

    @override
    def title_line(self) -> Line:
        request = self._model.request
        name = f"#{request.number} {sanitize(request.subject)}" if request else ""
        return (Span(" Threads of ", "quiet"), Span(name, "title"))

    @override
    def body(self) -> ComposeResult:
        yield StatusLine(id="states")
        yield EmptyState()
        yield RowList(self._row, second_line=self._text, key=self._key)

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(RowList).focus()
        self._show()

    @override
    def redraw(self) -> None:
        if self.is_mounted and not self.is_leaving:
            self._show()

    def _show(self) -> None:
        threads, visible = self._threads.all_threads(), self._threads.visible
        self._shown = [(item, thread) for item, thread in threads if thread.state in visible]
        self.query_one("#states", StatusLine).show(self._states([thread for _, thread in threads]))
        rows, empty_state = self.query_one(RowList), self.query_one(EmptyState)
        rows.show(len(self._shown))
        rows.display = bool(self._shown)
        if self._shown:
            empty_state.hide()
            rows.focus()  # it loses the focus while it is hidden
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
            (sign, style), is_visible = SIGNS[state], state in self._threads.visible
            parts = Span(f"{number} ", "quiet"), Span(f"{sign} ", style if is_visible else "quiet")
            name = Span(f"{state} {count}", "strong" if is_visible else "quiet")
            spans += [Span("  ", "quiet"), *pressing(str(number), *parts, name), Span(" " * 3)]
            spans += [] if is_visible else [Span("hidden   ", "quiet")]
        unsent = sum(thread.first.pending is not None for thread in threads)
        return (*spans, Span(f"  ✎ {unsent} not sent", "accent")) if unsent else tuple(spans)

    @property
    def thread(self) -> Thread | None:
        """The thread under the cursor."""
        row = self.query_one(RowList).cursor
        return self._shown[row][1] if row < len(self._shown) else None

    def command_tab(self) -> None:
        """Show or hide the threads in the state of this number."""
        number = int(self.last_key)
        if number <= len(STATES):
            state = STATES[number - 1]
            self._threads.set_visible(state, visible=state not in self._threads.visible)
            self._on_filter()

    def command_open(self) -> None:
        """Go to the thread in the review."""
        if thread := self.thread:
            self.app_context.pop_screen()
            self._show_thread(thread.id)

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
        if thread := self.thread:
            self._marked ^= {thread.id}
            rows = self.query_one(RowList)
            rows.redraw()
            rows.move(1)
            self.refresh_status_bars()

    def command_unsend(self) -> Awaitable[None] | None:
        """Undo the last mute or follow, or the newest write of the review."""
        if not self._notifications.can_undo:
            return self._undo_last()
        self._notifications.undo()
        return None

    def reason_act_on_marked(self) -> str | None:
        """Why no suggestions can be applied."""
        return self._suggestions.apply_reason(self._chosen)

    async def command_act_on_marked(self) -> None:
        """Apply the suggestions of the marked threads, or of all that are shown."""
        threads, self._marked = self._chosen, set()
        await self._suggestions.apply_all(threads)

    @property
    def _chosen(self) -> list[Thread]:
        """The marked threads; without marks, all that are shown."""
        threads = [thread for _, thread in self._shown]
        return [thread for thread in threads if thread.id in self._marked] or threads

    def _to_notify(self) -> Selection | str:
        """The marked threads, or the one under the cursor."""
        request, thread = self._model.request, self.thread
        if request is None or thread is None:
            return "no thread here"
        marked = [shown for _, shown in self._shown if shown.id in self._marked]
        return thread_selection(request, marked or [thread])

    def _key(self, index: int) -> str | None:
        return self._shown[index][1].id if index < len(self._shown) else None

    def _row(self, index: int, columns: int) -> Line:
        item, thread = self._shown[index]
        sign, style = SIGNS[thread.state] if thread.first.pending is None else ("✎", "accent")
        where = item.title if item else "conversation"
        about = f" · {sanitize(thread.about)}" if thread.about else ""
        author = Span(thread.first.author, "you strong" if thread.first.author == "you" else "strong")
        mark = Span("✓ " if thread.id in self._marked else "  ", "accent")
        head = (mark, Span(f"{sign} ", style), author, Span(f" {ago(thread.first.posted_at, now())}", "quiet"))
        replies = count(thread.reply_count, "reply", "replies") if thread.reply_count else ""
        unsent = pending_words(thread.first.pending or thread.pending_status)
        replies = " · ".join(filter(None, (unsent, thread.notifications, replies)))
        room = columns - len(replies) - 1
        left = cut((*head, Span(f"   {where}{about}", "quiet")), room)
        return (*left, Span(" " * (room + 1 - width(left))), Span(replies, "quiet"))

    def _text(self, index: int, columns: int) -> Line:
        thread = self._shown[index][1]
        return cut((Span(f"    {one_line(thread.first)}"),), columns)
