"""Every thread of a change request in one list, by state; what is chosen here is what the review shows in place."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult

from presscheck.documents.display_text import display_text
from presscheck.documents.moments import ago, now
from presscheck.documents.quotes import quoted
from presscheck.documents.spans import Line, Span, cut, width
from presscheck.tui.screens.base_screen import BaseScreen
from presscheck.tui.screens.review_thread_lines import OUTDATED
from presscheck.tui.screens.review_threads import STATES, Thread, ThreadState
from presscheck.tui.widgets.empty_state import EmptyState
from presscheck.tui.widgets.row_list import RowList
from presscheck.tui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from presscheck.tui.screens.review_changes import Changed
    from presscheck.tui.screens.review_placing import Placing

SIGNS: dict[ThreadState, tuple[str, str]] = {
    "open": ("●", "waiting"),
    "resolved": ("✓", "added"),
    "outdated": (OUTDATED, "quiet"),
}
"""The sign of each state, and its style."""


class ThreadList(BaseScreen):
    """The threads of a review; leads back to each.

    Args:
        review: whose threads they are.
    """

    DEFAULT_CSS = "ThreadList RowList { margin-top: 1; }"
    FOOTER: ClassVar[tuple[str, ...]] = ("open", "reply", "resolve", "down", "find_here", "close")

    def __init__(self, review: Placing) -> None:
        super().__init__()
        self.review = review
        self._shown: list[tuple[Changed | None, Thread]] = []

    def title_line(self) -> Line:
        """Whose threads they are."""
        request = self.review.known.request
        name = f"{request.number} {display_text(request.subject)}" if request else ""
        return (Span(" Threads of ", "quiet"), Span(name, "title"))

    def body(self) -> ComposeResult:
        """The states; the threads."""
        yield StatusLine(self.style_for, id="states")
        yield EmptyState(self.style_for)
        yield RowList(self._row, self.style_for, second=self._words, key=self._key)

    def on_mount(self) -> None:
        """Show them."""
        super().on_mount()
        self.query_one(RowList).focus()
        self._show()

    def show_threads(self) -> None:
        """Show what is known by now, where this is still open."""
        if self.is_mounted and not self.is_leaving:
            self._show()

    def _show(self) -> None:
        every, wanted = self.review.all_threads(), self.review.wanted
        self._shown = [(thing, one) for thing, one in every if one.state in wanted]
        states: list[Span] = []
        for number, state in enumerate(STATES, 1):
            count = sum(one.state == state for _, one in every)
            (sign, style), is_wanted = SIGNS[state], state in wanted
            states += [Span(f"  {number} ", "quiet"), Span(f"{sign} ", style if is_wanted else "quiet")]
            states += [Span(f"{state} {count}", "strong" if is_wanted else "quiet"), Span(" " * 3)]
            states += [] if is_wanted else [Span("not shown   ", "quiet")]
        self.query_one("#states", StatusLine).show(tuple(states))
        rows, block = self.query_one(RowList), self.query_one(EmptyState)
        rows.show(len(self._shown))
        rows.display = bool(self._shown)
        if self._shown:
            block.away()
            rows.focus()  # it lost that while it was hidden
        elif every:
            block.empty("No thread is in a state that is shown.", "1, 2 and 3 choose the states.")
        else:
            block.empty("Nobody said anything yet.", "In the review, c comments on what the cursor stands on.")
        self.refresh_status_bars()

    @property
    def thread(self) -> Thread | None:
        """The thread under the cursor."""
        at = self.query_one(RowList).cursor
        return self._shown[at][1] if at < len(self._shown) else None

    def command_tab(self) -> None:
        """Show the threads in the state of that number, or do not."""
        number = int(self.last_key)
        if number <= len(STATES):
            state = STATES[number - 1]
            self.review.want(state, shown=state not in self.review.wanted)

    def command_open(self) -> None:
        """Go to the thread in the review."""
        one = self.thread
        if one:
            self.app_context.pop_screen()
            self.review.run(self.review.show_thread(one.id))

    @on(RowList.RowChosen)
    def row_chosen(self) -> None:
        """A row was opened."""
        self.command_open()

    def reason_reply(self) -> str | None:
        """Why there is nothing to answer."""
        return self.review.reason_answer(self.thread)

    def command_reply(self) -> None:
        """Answer the thread under the cursor."""
        if self.thread:
            self.review.answer(self.thread)

    reason_resolve = reason_reply

    def command_resolve(self) -> None:
        """Resolve the thread under the cursor, or open it again."""
        if self.thread:
            self.review.settle(self.thread)

    def _key(self, at: int) -> str | None:
        return self._shown[at][1].id if at < len(self._shown) else None

    def _row(self, at: int, columns: int) -> Line:
        thing, one = self._shown[at]
        sign, style = SIGNS[one.state]
        where = thing.title if thing else "the whole"
        about = f" · {display_text(one.about)}" if one.about else ""
        who = Span(one.first.author, "you strong" if one.first.author == "you" else "strong")
        head = (Span(f"{sign} ", style), who, Span(f" {ago(one.first.posted_at, now())}", "quiet"))
        count = f"{one.reply_count} {'reply' if one.reply_count == 1 else 'replies'}" if one.reply_count else ""
        room = columns - len(count) - 1
        left = cut((*head, Span(f"   {where}{about}", "quiet")), room)
        return (*left, Span(" " * (room + 1 - width(left))), Span(count, "quiet"))

    def _words(self, at: int, columns: int) -> Line:
        text = self._shown[at][1].first.text
        words = quoted(text)[1] if self._shown[at][1].about else text
        return cut((Span(f"  {display_text(' '.join(words.split()))}"),), columns)
