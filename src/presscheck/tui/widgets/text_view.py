"""A read-only text without a cursor; moving scrolls it."""

from __future__ import annotations

from collections.abc import Sequence

from presscheck.text.styled_text import Line
from presscheck.tui.widgets.line_view import LineView


class TextView(LineView):
    """Shows lines that are already laid out."""

    has_cursor = False
    bar_width = 0
    lines: Sequence[Line] = ()

    @property
    def count(self) -> int:
        """The number of lines."""
        return len(self.lines)

    def item(self, number: int, part: int, columns: int) -> Line:
        """A line."""
        return self.lines[number]

    def show(self, lines: Sequence[Line]) -> None:
        """Show other lines."""
        self.lines = lines
        self.top = self._clamped_top(self.top)
        self.redraw()
