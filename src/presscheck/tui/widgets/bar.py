"""One line across the screen, with a left and a right side; repainted only when it says something new."""

from __future__ import annotations

from textual.strip import Strip
from textual.widget import Widget

from presscheck.documents.spans import Line, Span, cut, width
from presscheck.tui.widgets.rows import Look, drawn


class Bar(Widget):
    """A line with a left and a right side; the left is cut where there is no room for both."""

    DEFAULT_CSS = "Bar { height: 1; }"

    def __init__(self, look: Look, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.look = look
        self.left: Line = ()
        self.right: Line = ()

    def show(self, left: Line, right: Line = ()) -> None:
        """Say this from now on."""
        if (left, right) != (self.left, self.right):
            self.left, self.right = left, right
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """The line."""
        columns = self.size.width
        room = max(0, columns - width(self.right) - 2)
        left = cut(self.left, room)
        gap = max(1, columns - width(left) - width(self.right) - 1)
        return drawn((*left, Span(" " * gap), *self.right, Span(" ")), columns, self.look)
