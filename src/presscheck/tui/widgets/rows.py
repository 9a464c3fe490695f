"""A list drawn by the visible line: rows are asked for when the eye reaches them, and a moved cursor repaints two.

A hundred thousand rows cost what forty do. What is drawn has passed `display_text` before it comes here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from presscheck.documents.spans import Line, Span, cut, width

Look = Callable[[str], Style]
"""What the words of a style look like, as the theme has it."""


class Rows(ScrollView, can_focus=True, inherit_bindings=False):
    """Rows with a cursor; posts `RowPointed` when the cursor moves.

    Args:
        row: draws one row, given its index, the columns there are and whether the cursor is on it.
        look: the theme.
        id: the widget's id.
    """

    DEFAULT_CSS = "Rows { scrollbar-size: 0 0; }"

    @dataclass
    class RowPointed(Message):
        """The cursor stands on another row."""

        index: int

    def __init__(self, row: Callable[[int, int], Line], look: Look, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.row, self.look = row, look
        self.count, self.cursor = 0, 0

    def show(self, count: int, *, cursor: int | None = None) -> None:
        """There are so many rows now; all are drawn anew, the cursor stays where it may."""
        wanted = self.cursor if cursor is None else cursor
        self.count, self.cursor = count, max(0, min(wanted, count - 1))
        self.virtual_size = Size(self.size.width, count)
        self._follow()
        self.refresh()

    def point(self, index: int) -> None:
        """Move the cursor."""
        index = max(0, min(index, self.count - 1))
        if index == self.cursor or not self.count:
            return
        before, self.cursor = self.cursor, index
        for line in (before, index):
            y = line - self.scroll_offset.y
            if 0 <= y < self.size.height:
                self.refresh(Region(0, y, self.size.width, 1))
        self._follow()
        self.post_message(self.RowPointed(index))

    def move(self, by: int) -> None:
        """Move the cursor by so many rows."""
        self.point(self.cursor + by)

    @property
    def half_page(self) -> int:
        """Half of what is seen."""
        return max(1, self.size.height // 2)

    def _follow(self) -> None:
        top, height = self.scroll_offset.y, max(1, self.size.height)
        if self.cursor < top:
            self.scroll_to(y=self.cursor, animate=False, immediate=True)
        elif self.cursor >= top + height:
            self.scroll_to(y=self.cursor - height + 1, animate=False, immediate=True)

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        index, columns = y + self.scroll_offset.y, self.size.width
        if index >= self.count:
            return Strip.blank(columns, self.look("text"))
        is_cursor = index == self.cursor
        bar = Span("▌", "accent") if is_cursor else Span(" ")
        return drawn((bar, *self.row(index, columns - 1)), columns, self.look, "cursor" if is_cursor else "")


class Lines(ScrollView, can_focus=True, inherit_bindings=False):
    """Lines of text drawn by the visible line, to be scrolled."""

    DEFAULT_CSS = "Lines { scrollbar-size: 0 0; }"

    def __init__(self, look: Look, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.look = look
        self.lines: list[Line] = []

    def show(self, lines: list[Line]) -> None:
        """Show these from now on."""
        self.lines = lines
        self.virtual_size = Size(self.size.width, len(lines))
        self.refresh()

    def move(self, by: int) -> None:
        """Scroll by so many lines."""
        self.scroll_to(y=self.scroll_offset.y + by, animate=False, immediate=True)

    @property
    def half_page(self) -> int:
        """Half of what is seen."""
        return max(1, self.size.height // 2)

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        index = y + self.scroll_offset.y
        return drawn(self.lines[index] if index < len(self.lines) else (), self.size.width, self.look)


def drawn(line: Line, columns: int, look: Look, extra: str = "") -> Strip:
    """A line in exactly so many cells; `extra` words are added to every style."""
    line = cut(line, columns)
    missing = columns - width(line)
    segments = [Segment(span.text, look(f"{span.style} {extra}")) for span in line if span.text]
    if missing > 0:
        segments.append(Segment(" " * missing, look(extra)))
    return Strip(segments, columns)
