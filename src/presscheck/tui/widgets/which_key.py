"""A popup with the possible next keys of a prefix; it takes no focus and no keys."""

from __future__ import annotations

from collections.abc import Sequence

from textual.strip import Strip
from textual.widget import Widget

from presscheck.text.styled_text import Line, Span, pad, width
from presscheck.tui.theme import StyleLookup
from presscheck.tui.widgets.strip_renderer import render_strip

GAP = 4


class WhichKey(Widget):
    """Keys and the titles of their commands, in columns above the footer."""

    DEFAULT_CSS = "WhichKey { layer: above; dock: bottom; margin-bottom: 1; display: none; }"

    def __init__(self, style_for: StyleLookup) -> None:
        super().__init__()
        self.style_for = style_for
        self.title = ""
        self.entries: Sequence[tuple[str, str]] = ()

    def open(self, title: str, entries: Sequence[tuple[str, str]], columns: int) -> None:
        """Show these keys with the titles of their commands."""
        self.title, self.entries = title, entries
        self.styles.height = len(self._lines(columns))
        self.display = True
        self.refresh()

    def close(self) -> None:
        """Hide the popup."""
        if self.display:
            self.display = False

    def render_line(self, y: int) -> Strip:
        """The strip of one line of keys."""
        lines = self._lines(self.size.width)
        return render_strip(lines[y] if y < len(lines) else (), self.size.width, self.style_for)

    def _lines(self, columns: int) -> list[Line]:
        cells: list[Line] = [(Span(f" {key}", "accent strong"), Span(f" {title}")) for key, title in self.entries]
        size = max((width(cell) for cell in cells), default=0) + GAP
        per_line = max(1, columns // size)
        rule: Line = (Span(f" {self.title} ", "title"), Span("─" * max(0, columns - len(self.title) - 3), "quiet"))
        rows = [cells[at : at + per_line] for at in range(0, len(cells), per_line)]
        return [rule, *(tuple(span for cell in row for span in pad(cell, size)) for row in rows)]
