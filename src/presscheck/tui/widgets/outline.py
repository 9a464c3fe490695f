"""The outline of a page: its headings, with the current heading highlighted."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from typing_extensions import override

from presscheck.documents.terminal.page_lines import Heading
from presscheck.text.styled_text import Line, Span, cut
from presscheck.tui.widgets.page_view import PageView
from presscheck.tui.widgets.row_list import RowList

INDENT = 2
"""Columns of indentation per heading level."""


class OutlineList(RowList):
    """A list of the headings of a page; a click goes to the heading.

    Args:
        view: the widget that shows the page.
        id: the widget's id.
    """

    def __init__(self, view: PageView, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(self._row, id=id)
        self._view = view
        self._current = -1
        self._known: tuple[object, int, int] = (None, 0, -1)

    @property
    def headings(self) -> Sequence[Heading]:
        """The headings in the laid-out part of the page."""
        return self._view.document.headings if self._view.document else []

    def follow(self) -> None:
        """Highlight the current heading, and move the cursor to it unless the list has the focus."""
        if not self.display:
            return
        count, current = len(self.headings), self._view.heading_in_view
        known = (self._view.document, count, current)
        if known != self._known:
            self._known, self._current = known, current
            self.show(count, cursor=self.cursor if self.has_focus else max(0, current))

    @override
    def on_blur(self) -> None:
        self.show(self.count, cursor=max(0, self._current))

    @override
    def on_click(self, event: events.Click) -> None:
        number = self._place_of(event).y
        if event.chain == 1 and not self._has_dragged and 0 <= number < self.count:
            self.move_to(number)
            self.choose()

    def _row(self, number: int, columns: int) -> Line:
        headings = self.headings
        if number >= len(headings):
            return ()
        heading = headings[number]
        least = headings[0].level  # the title or the first heading is not indented
        style = "quiet" if heading.is_hidden else "removed" if heading.is_conflict else ""
        if number == self._current:
            style = "accent strong"
        return cut((Span(" " * (INDENT * max(0, heading.level - least))), Span(heading.text, style)), columns)
