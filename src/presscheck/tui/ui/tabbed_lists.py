"""Lists in tabs: the names of the tabs, a summary, the names of the columns, and the rows of one tab."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from typing_extensions import override

from presscheck.text.styled_text import Line, Span
from presscheck.tui.status_bar import StatusLine, pressing
from presscheck.tui.ui.screen_context import ScreenContext
from presscheck.tui.widgets.empty_state import EmptyState
from presscheck.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from presscheck.tui.ui.find import Find


class ListTab(Protocol):
    """One tab: its rows, and what stands above them."""

    @property
    def name(self) -> str:
        """Its title."""
        ...

    @property
    def noun(self) -> str:
        """What it lists, in the plural."""
        ...

    @property
    def footer(self) -> tuple[str, ...]:
        """The commands of the footer."""
        ...

    @property
    def total(self) -> int | None:
        """How many there are in all; None while that is not known."""
        ...

    @property
    def count(self) -> int:
        """The number of its rows."""
        ...

    def key(self, index: int) -> Hashable | None:
        """What identifies a row; None if there is none."""
        ...

    def row(self, index: int, columns: int) -> Line:
        """A row."""
        ...

    def heading(self, columns: int) -> Line:
        """The names of the columns."""
        ...

    def summary(self) -> Line:
        """The line above the rows: how many of which kind."""
        ...

    def empty(self) -> tuple[str, str]:
        """A sentence and a hint for a list without rows that is loaded."""
        ...


class TabsContext(ScreenContext, Protocol):
    """The screen as the lists see it."""

    find: Find
    """The search, which ends with its tab."""

    @property
    def is_leaving(self) -> bool:
        """Whether the screen is being closed."""
        ...

    def when_shown(self, key: str, action: Callable[[], None]) -> None:
        """Run an action now; on a hidden screen the latest one of each key, once it is shown again."""
        ...


T = TypeVar("T", bound=ListTab)


class TabbedLists(Vertical, Generic[T]):
    """Tabs with a list each, of which one is shown. It handles the commands that go from tab to tab.

    Args:
        screen: the screen.
        tabs: the tabs, numbered from 1.
        show_empty: shows why the tab has no rows.
        notes: returns what stands at the right of the summary.
        has_mark_column: whether rows can be marked.
    """

    DEFAULT_CSS = """
    TabbedLists #tabs { margin-top: 1; }
    TabbedLists #columns { margin-top: 1; }
    """

    def __init__(
        self,
        screen: TabsContext,
        tabs: Sequence[T],
        show_empty: Callable[[EmptyState], None],
        *,
        notes: Callable[[], Line] = tuple,
        has_mark_column: bool = True,
    ) -> None:
        super().__init__()
        self._screen, self._show_empty, self._notes = screen, show_empty, notes
        self.tabs = tuple(tabs)
        self._number = 0
        self._has_mark_column = has_mark_column

    @override
    def compose(self) -> ComposeResult:
        for name in ("tabs", "summary", "columns"):
            yield StatusLine(id=name)
        with Vertical():
            yield EmptyState()
            for number, tab in enumerate(self.tabs):
                yield RowList(tab.row, key=tab.key, has_mark_column=self._has_mark_column, id=f"rows-{number}")

    @property
    def tab(self) -> T:
        """The tab that is shown."""
        return self.tabs[self._number]

    @property
    def rows(self) -> RowList:
        """Its rows."""
        return self.rows_of(self.tab)

    def rows_of(self, tab: T) -> RowList:
        """The rows of a tab."""
        return self.query_one(f"#rows-{self.tabs.index(tab)}", RowList)

    def show_tab(self, tab: T) -> None:
        """Show a tab."""
        self._screen.find.end()
        self._number = self.tabs.index(tab)
        self.draw()

    def redraw(self) -> None:
        """Draw the tab again, once it is seen."""
        if self.is_mounted and not self._screen.is_leaving:
            self._screen.when_shown("redraw", self.draw)

    def draw(self) -> None:
        """Draw the tab."""
        screen, shown = self._screen, self.tab
        if screen.is_leaving:
            return
        for tab in self.tabs:
            rows = self.rows_of(tab)
            rows.show(tab.count)
            rows.display = tab is shown and bool(tab.count)
        empty, columns = self.query_one(EmptyState), self.query_one("#columns", StatusLine)
        columns.display = bool(shown.count)
        if shown.count:
            empty.hide()
            if not self.rows.has_focus and not screen.find.is_open:
                self.rows.focus()
        else:
            self._show_empty(empty)
        margin = 2 if self._has_mark_column else 1
        columns.show((Span(" " * margin), *shown.heading(max(0, self.size.width - margin))))
        self.query_one("#tabs", StatusLine).show(self._names())
        self.draw_summary()
        screen.refresh_status_bars()

    def draw_summary(self) -> None:
        """Draw the line above the rows, such as after the cursor moved."""
        if self.is_mounted and not self._screen.is_leaving:
            self.query_one("#summary", StatusLine).show((Span(" "), *self.tab.summary()), self._notes())

    def _names(self) -> Line:
        spans: list[Span] = []
        for number, tab in enumerate(self.tabs, 1):
            style = "accent strong" if tab is self.tab else ""
            total = "" if tab.total is None else f" {tab.total:,}"
            name = pressing(str(number), Span(f"{number} ", "quiet"), Span(tab.name, style), Span(total, "quiet"))
            spans += [Span(" "), *name, Span("   ")]
        return tuple(spans)

    @on(RowList.MarksChanged)
    def marks_changed(self) -> None:
        """Count the marks."""
        self.redraw()

    def on_resize(self) -> None:
        """Fit the columns to the new width."""
        self.redraw()

    def command_tab(self) -> None:
        """Show the tab of this number."""
        self._show_number(int(self._screen.last_key) - 1)

    def command_left(self) -> None:
        """Show the tab on the left."""
        self._show_number(self._number - 1)

    def command_right(self) -> None:
        """Show the tab on the right."""
        self._show_number(self._number + 1)

    command_previous_pane, command_next_pane = command_left, command_right

    def _show_number(self, number: int) -> None:
        if 0 <= number < len(self.tabs):
            self.show_tab(self.tabs[number])
