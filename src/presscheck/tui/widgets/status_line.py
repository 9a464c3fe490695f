"""A line of text across the screen with a left and a right part; repainted only if the text changed."""

from __future__ import annotations

from textual.strip import Strip
from textual.widget import Widget

from presscheck.text.styled_text import Line, Span, cut, width
from presscheck.tui.theme import StyleLookup
from presscheck.tui.widgets.strip_renderer import render_strip


class StatusLine(Widget):
    """A line with a left and a right part; the left part is cut if there is no room for both."""

    DEFAULT_CSS = "StatusLine { height: 1; }"

    def __init__(self, style_for: StyleLookup, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self.style_for = style_for
        self.left: Line = ()
        self.right: Line = ()

    def show(self, left: Line, right: Line = ()) -> None:
        """Show another text."""
        if (left, right) != (self.left, self.right):
            self.left, self.right = left, right
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """The strip of the line."""
        columns = self.size.width
        right = cut(self.right, max(0, columns * 2 // 3))
        left = cut(self.left, max(0, columns - width(right) - 3))
        gap = max(1, columns - width(left) - width(right) - 1)
        return render_strip((*left, Span(" " * gap), *right, Span(" ")), columns, self.style_for)
