"""Plain lines to look at: no cursor, moving scrolls."""

from __future__ import annotations

from collections.abc import Sequence

from presscheck.text.styled_text import Line
from presscheck.tui.widgets.line_view import LineView


class TextView(LineView):
    """A text that is already laid out."""

    has_cursor = False
    bar_width = 0
    lines: Sequence[Line] = ()

    @property
    def count(self) -> int:
        """How many lines there are."""
        return len(self.lines)

    def item(self, number: int, part: int, columns: int) -> Line:
        """A line."""
        return self.lines[number]

    def show(self, lines: Sequence[Line]) -> None:
        """Show these from now on."""
        self.lines = lines
        self.top = self._fitting(self.top)
        self.redraw()
