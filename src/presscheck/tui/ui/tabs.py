"""A list, or lists in tabs, and the screen that consists of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from typing_extensions import override

from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import tab_key, tab_label
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.widgets.empty_state import EmptyState
from presscheck.tui.widgets.line_view import TextView
from presscheck.tui.widgets.marks import Marks
from presscheck.tui.widgets.row_list import RowList
from presscheck.tui.widgets.status_bar import StatusLine, pressing

if TYPE_CHECKING:
    from presscheck.tui.ui.list import List


class Tabs(Vertical):
    """A container with a list in each tab, and the commands that switch tabs. A single list has no line of tabs.

    Args:
        screen: the screen.
        tabs: the lists, numbered from 1.
    """

    DEFAULT_CSS = """
    Tabs { padding-top: 1; }
    Tabs #columns { margin-top: 1; }
    Tabs #details { height: 4; padding-top: 1; }
    Tabs.single #tabs, Tabs.single #summary { display: none; }
    Tabs.single #columns { margin-top: 0; }
    Tabs.single EmptyState { padding-top: 0; }
    """

    def __init__(self, screen: TabScreen, tabs: Sequence[List[Any]]) -> None:
        super().__init__(classes="single" if len(tabs) == 1 else None)
        self._screen = screen
        self.tabs = tuple(tabs)
        self._number = 0
        self._margin = 2 if any(tab.has_marks for tab in tabs) else 1
        for tab in tabs:
            tab.rows.bar_width = self._margin  # the same for all, so that rows keep their position when the tab changes

    @override
    def compose(self) -> ComposeResult:
        for name in ("tabs", "summary", "columns"):
            yield StatusLine(id=name)
        with Vertical():
            yield EmptyState()
            for tab in self.tabs:
                yield tab.rows
        details = TextView(id="details")
        details.can_focus = False
        yield details

    @property
    def tab(self) -> List[Any]:
        """The visible tab."""
        return self.tabs[self._number]

    def show_tab(self, tab: List[Any]) -> None:
        """Show a tab."""
        self._screen.find.end()
        self._number = self.tabs.index(tab)
        self._screen.draw()

    def draw(self) -> None:
        """Draw the visible tab."""
        screen, shown = self._screen, self.tab
        if screen.is_leaving:
            return
        for tab in self.tabs:
            tab.show()
            tab.rows.display = tab is shown and bool(tab.count)
        empty, columns = self.query_one(EmptyState), self.query_one("#columns", StatusLine)
        columns.display = bool(shown.count)
        if shown.count:
            empty.hide()
            if not shown.rows.has_focus and not screen.find.is_open:
                shown.rows.focus()
        else:
            empty.show_message(shown.explanation(online=screen.engine.status.online))
        columns.show((Span(" " * self._margin), *shown.heading(max(0, self.size.width - self._margin))))
        self.query_one("#tabs", StatusLine).show(self._names())
        self.draw_details()
        screen.refresh_status_bars()

    def draw_details(self) -> None:
        """Draw the lines that depend on the item under the cursor."""
        if not self.is_mounted or self._screen.is_leaving:
            return
        self.query_one("#summary", StatusLine).show((Span(" "), *self.tab.summary()), self._screen.notes())
        view, lines = self.query_one("#details", TextView), self.tab.details(self.size.width)
        view.display = lines is not None
        view.show(lines or ())

    def _names(self) -> Line:
        spans: list[Span] = []
        for number, tab in enumerate(self.tabs, 1):
            style = "accent strong" if tab is self.tab else ""
            total = "" if tab.total is None else f" {tab.total:,}"
            parts = Span(f"{tab_label(number)} ", "quiet"), Span(tab.name, style), Span(total, "quiet")
            name = pressing(tab_key(number), *parts)
            spans += [Span(" "), *name, Span("   ")]
        return tuple(spans)

    @on(Marks.Changed)
    def marks_changed(self) -> None:
        """Draw the new number of marks."""
        self._screen.redraw()

    def on_resize(self) -> None:
        """Fit the columns to the new width."""
        self._screen.redraw()

    def command_tab(self) -> None:
        """Show the tab whose number was pressed."""
        self._show_number(self._screen.pressed_number - 1)

    def command_left(self) -> None:
        """Show the tab on the left."""
        self._show_number(self._number - 1)

    def command_right(self) -> None:
        """Show the tab on the right."""
        self._show_number(self._number + 1)

    def command_previous_pane(self) -> None:
        """Show the tab on the left. Before the first tab, continue with the last."""
        self._show_number((self._number - 1) % len(self.tabs))

    def command_next_pane(self) -> None:
        """Show the tab on the right. After the last tab, start again with the first."""
        self._show_number((self._number + 1) % len(self.tabs))

    def _show_number(self, number: int) -> None:
        if 0 <= number < len(self.tabs):
            self.show_tab(self.tabs[number])


class TabScreen(BaseScreen):
    """A screen of a list, or of lists in tabs; a subclass sets `lists`.

    A command of the visible list takes precedence over a command of the screen with the same name.
    """

    lists: Tabs

    @override
    def body(self) -> ComposeResult:
        yield self.lists

    @override
    def command_handlers(self) -> Iterable[object]:
        return (self, self.lists) if len(self.lists.tabs) > 1 else (self,)

    @override
    def parts(self) -> Mapping[str, List[Any]]:
        return {tab.name: tab for tab in self.lists.tabs}

    @override
    def shown_parts(self) -> Iterable[object]:
        return (self.lists.tab,)

    @property
    def shown_tab(self) -> List[Any]:
        """The visible tab."""
        return self.lists.tab

    @override
    @property
    def footer_commands(self) -> tuple[str, ...]:
        return self.lists.tab.footer

    def notes(self) -> Line:
        """Return the text on the right of the summary, such as the progress of a load."""
        return ()

    @override
    def draw(self) -> None:
        self.lists.draw()

    @on(RowList.RowHighlighted)
    def row_highlighted(self) -> None:
        """Update the details and the footer for the new row."""
        self.lists.draw_details()
        self.refresh_status_bars()

    async def command_find_here(self) -> None:
        """Filter the rows by a text."""
        tab = self.lists.tab
        await self.find.open(tab.row_filter(self.redraw), tab.rows)
