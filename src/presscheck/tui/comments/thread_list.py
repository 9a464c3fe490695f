"""The base class of thread lists, for a change request or the live content of a space."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from typing_extensions import override

from presscheck.text.phrases import now
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut
from presscheck.tui.comments.commands import ThreadCommands
from presscheck.tui.comments.rows import one_line, states_line, thread_row
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.ui.signs import legend
from presscheck.tui.widgets.empty_state import EmptyState
from presscheck.tui.widgets.row_list import RowList
from presscheck.tui.widgets.status_bar import StatusLine

if TYPE_CHECKING:
    from presscheck.engine.review.threads import Thread, ThreadState
    from presscheck.tui.comments.actions import ThreadActions
    from presscheck.tui.comments.drafts import CommentDrafts


class ThreadList(BaseScreen):
    """A screen that lists threads filtered by state, with the commands for the thread under the cursor.

    Args:
        states: the states that can be shown or hidden, numbered from 1.
        has_marks: whether threads can be marked.

    Attributes:
        drafts: composes and sends comments; a subclass sets it and `actions`.
        actions: the actions on the threads.
    """

    drafts: CommentDrafts
    actions: ThreadActions

    LEGEND = legend("•●○↻¶✎◷✓✗")
    DEFAULT_CSS = "ThreadList RowList { height: 1fr; margin-top: 1; }"

    def __init__(self, states: Sequence[ThreadState], *, has_marks: bool) -> None:
        super().__init__()
        self._states = states
        self.rows = RowList(self._row, second_line=self._second_row, key=self._key, has_mark_column=has_marks)
        self.all_threads: Sequence[Thread] = ()
        self.shown: list[Thread] = []

    @abstractmethod
    def find_threads(self) -> Sequence[Thread]:
        """Return all threads, in the order of the list."""

    @property
    @abstractmethod
    def visible_states(self) -> Collection[ThreadState]:
        """The states whose threads are shown."""

    @abstractmethod
    def toggle_state(self, state: ThreadState) -> None:
        """Show or hide the threads in a state."""

    @abstractmethod
    def place_of(self, thread: Thread) -> str:
        """Return the place of a thread, such as the title of its page, as display text."""

    @abstractmethod
    def show_empty(self, empty: EmptyState) -> None:
        """Show why there are no threads."""

    def matches(self, thread: Thread) -> bool:
        """Return whether a thread matches the filters other than the state. A subclass can override this method."""
        return True

    def shown_changed(self) -> None:
        """Update other widgets after the list was drawn. A subclass can override this method."""

    @override
    def command_handlers(self) -> Iterable[object]:
        return (self, ThreadCommands(self.actions, lambda: (self.thread, None)))

    @override
    def body(self) -> ComposeResult:
        yield StatusLine(id="states")
        yield EmptyState()
        yield self.rows

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self.rows.focus()
        self.draw()

    @override
    def draw(self) -> None:
        if self.is_leaving:
            return
        self.all_threads, visible = self.find_threads(), self.visible_states
        self.shown = [thread for thread in self.all_threads if thread.state in visible and self.matches(thread)]
        self.query_one("#states", StatusLine).show(self.states_line())
        self.rows.show(len(self.shown))
        self.rows.display = bool(self.shown)
        empty = self.query_one(EmptyState)
        if self.shown:
            empty.hide()
            if self.focused is None:
                self.rows.focus()  # a hidden list loses the focus
        else:
            self.show_empty(empty)
        self.shown_changed()
        self.refresh_status_bars()

    def states_line(self) -> Line:
        """Return the line with the number of threads in each state."""
        return states_line(self._states, [*filter(self.matches, self.all_threads)], self.visible_states)

    @property
    def thread(self) -> Thread | None:
        """The thread under the cursor."""
        row = self.rows.cursor
        return self.shown[row] if row < len(self.shown) else None

    def command_tab(self) -> None:
        """Show or hide the state whose number was pressed."""
        number = self.pressed_number
        if number <= len(self._states):
            self.toggle_state(self._states[number - 1])

    def reason_copy_text(self) -> str | None:
        """Return why no text can be copied."""
        return None if self.thread else "no comment here"

    def command_copy_text(self) -> None:
        """Copy the text of the first comment of the thread under the cursor."""
        if self.thread:
            self.app_context.copy_to_clipboard(sanitize(self.thread.first.text, lines=True))
            self.notify("copied")

    def _key(self, index: int) -> str | None:
        return self.shown[index].id if index < len(self.shown) else None

    def _row(self, index: int, columns: int) -> Line:
        thread = self.shown[index]
        row = thread_row(thread, self.place_of(thread), columns - 2, now())
        return (Span(" "), *row)

    def _second_row(self, index: int, columns: int) -> Line:
        return cut((Span("   "), *one_line(self.shown[index].first)), columns)
