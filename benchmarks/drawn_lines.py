"""The baseline for a key: a Textual list of 100,000 rows that repaints only two rows when the cursor moves.

Usage: python -m benchmarks.drawn_lines [ROWS]. `j` and `k` move, ctrl+d moves half a page, `q` ends it.
"""

import sys
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

ROWS = 100_000
BAR = Style(bold=True)


class Rows(ScrollView, can_focus=True):
    """A list of rows with a cursor."""

    BINDINGS: ClassVar = [Binding("j", "move(1)"), Binding("k", "move(-1)"), Binding("ctrl+d", "half_a_page")]

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count, self.cursor = count, 0

    def on_mount(self) -> None:
        self.virtual_size = Size(self.size.width, self.count)

    def render_line(self, y: int) -> Strip:
        number = y + round(self.scroll_y)
        if number >= self.count:
            return Strip.blank(self.size.width)
        text = f" Row {number} of the list, with a few words that say what it is about "
        row = Strip([Segment(text, BAR if number == self.cursor else None)])
        return row.adjust_cell_length(self.size.width)

    def action_move(self, by: int) -> None:
        before, self.cursor = self.cursor, max(0, min(self.cursor + by, self.count - 1))
        top, height = round(self.scroll_y), self.size.height
        if top <= self.cursor < top + height:
            width = self.size.width
            self.refresh(Region(0, before - top, width, 1), Region(0, self.cursor - top, width, 1))
        else:
            self.scroll_to(y=self.cursor - height // 2, animate=False)

    def action_half_a_page(self) -> None:
        half = self.size.height // 2
        self.cursor = min(self.cursor + half, self.count - 1)
        self.scroll_to(y=self.scroll_y + half, animate=False)


class Drawn(App[None]):
    """An app with the list; `q` ends it."""

    BINDINGS: ClassVar = [("q", "quit", "quit")]

    def compose(self) -> ComposeResult:
        yield Rows(int(sys.argv[1]) if sys.argv[1:] else ROWS)


if __name__ == "__main__":
    Drawn().run()
