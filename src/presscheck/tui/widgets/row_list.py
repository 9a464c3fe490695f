"""A list that loads rows as they become visible; moving the cursor repaints two of them.

Marks belong to what a row shows, not to its number: they stay where they are when rows come and go.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from textual.message import Message

from presscheck.text.styled_text import Line, Span
from presscheck.tui.theme import StyleLookup
from presscheck.tui.widgets.line_view import LineView

Drawer = Callable[[int, int], Line]
"""Draws a row, given its number and the columns that it may take."""
NEAR = 200
"""How far from the cursor a row is looked for that moved."""


class RowList(LineView):
    """Rows with a cursor, and marks where rows have keys.

    Args:
        row: draws a row.
        look: the theme.
        second: draws a second line for each row.
        key: what a row is, whatever its number; None where that is not known. Without it nothing can be marked.
        is_heading: whether a row is a heading, which the cursor skips.
        id: the widget's id.
        classes: the widget's classes.
    """

    @dataclass
    class RowPointed(Message):
        """The cursor stands on another row."""

        rows: RowList
        index: int

    @dataclass
    class RowChosen(Message):
        """A row was opened."""

        rows: RowList
        index: int

    @dataclass
    class MarksChanged(Message):
        """Rows were marked, or are no longer."""

        rows: RowList

    def __init__(
        self,
        row: Drawer,
        look: StyleLookup,
        *,
        second: Drawer | None = None,
        key: Callable[[int], Hashable | None] | None = None,
        is_heading: Callable[[int], bool] | None = None,
        id: str | None = None,  # noqa: A002
        classes: str | None = None,
    ) -> None:
        super().__init__(look, id=id, classes=classes)
        self.row, self.second, self.key, self.is_heading = row, second, key, is_heading
        self.tall = 2 if second else 1
        self.bar_width = 2 if key else 1
        self.marked: set[Hashable] = set()
        self._count = 0
        self._pointed_key: Hashable | None = None
        self._range_start: int | None = None

    @property
    def count(self) -> int:
        """How many rows there are."""
        return self._count

    def item(self, number: int, part: int, columns: int) -> Line:
        """A row, or its second line."""
        return self.second(number, columns) if part and self.second else self.row(number, columns)

    def show(self, count: int, *, cursor: int | None = None) -> None:
        """There are so many rows now, and any may look otherwise; the cursor stays with what it stood on."""
        self._count = count
        wanted = self._where_it_went() if cursor is None else cursor
        self.cursor = self._beside_headings(max(0, min(wanted, count - 1)), 1)
        self.top = self._with_cursor(self.top)
        self._remember()
        self.redraw()

    def choose(self) -> None:
        """Open the row under the cursor; goes straight to the screen, like `RowPointed`, to arrive after it."""
        if self.count:
            self.screen.post_message(self.RowChosen(self, self.cursor))

    def mark(self) -> None:
        """Mark the row under the cursor, or take its mark away, and go on."""
        key = self._key_of(self.cursor)
        if key is not None:
            self.marked ^= {key}
            self._marked_anew()
            self.move(1)

    def mark_range(self) -> None:
        """Begin a range at the cursor; a second time, mark all rows from there to the cursor."""
        if self._range_start is None:
            self._range_start = self.cursor
            return
        first, last = sorted((self._range_start, self.cursor))
        self._range_start = None
        self._mark_all(range(first, min(last + 1, self.count)))

    def mark_visible(self) -> None:
        """Mark every row that is seen, or, where all are, take their marks away."""
        self._mark_all(self.seen)

    def unmark(self) -> bool:
        """Take all marks away; whether there were any."""
        had_any = bool(self.marked) or self._range_start is not None
        self.marked.clear()
        self._range_start = None
        if had_any:
            self._marked_anew()
        return had_any

    def margin(self, number: int, part: int) -> Line:
        """The bar, and the mark beside it."""
        spans = super().margin(number, part)
        if part == 0 and self.marked and self._key_of(number) in self.marked:
            return (spans[0]._replace(text=spans[0].text[0]), Span("•", "accent"))
        return spans

    def pointed(self) -> None:
        """Tell the screen of the row before it paints: the row and what is shown of it are then one picture."""
        self._remember()
        self.screen.post_message(self.RowPointed(self, self.cursor))

    def _go(self, number: int, top: int | None) -> None:
        super()._go(self._beside_headings(max(0, min(number, self._count - 1)), number - self.cursor), top)
        if self.top == self.cursor * self.tall and self._is_heading(self.cursor - 1):
            self.scroll_lines(-self.tall)  # a first row without what stands above it says too little

    def _beside_headings(self, number: int, by: int) -> int:
        """The row at a number, or beside it where that is a heading: the next one in the direction, else back."""
        for step in (1, -1) if by >= 0 else (-1, 1):
            found = number
            while self._is_heading(found):
                found += step
            if 0 <= found < self._count:
                return found
        return number

    def _is_heading(self, number: int) -> bool:
        return self.is_heading is not None and 0 <= number < self._count and self.is_heading(number)

    def _mark_all(self, numbers: range) -> None:
        keys = {key for number in numbers if (key := self._key_of(number)) is not None}
        if keys:
            self.marked = self.marked - keys if keys <= self.marked else self.marked | keys
            self._marked_anew()

    def _marked_anew(self) -> None:
        self.redraw()
        self.post_message(self.MarksChanged(self))

    def _key_of(self, number: int) -> Hashable | None:
        return self.key(number) if self.key and 0 <= number < self._count else None

    def _remember(self) -> None:
        self._pointed_key = self._key_of(self.cursor)

    def _where_it_went(self) -> int:
        if self._pointed_key is None or self._key_of(self.cursor) == self._pointed_key:
            return self.cursor
        for away in range(1, NEAR):
            for number in (self.cursor + away, self.cursor - away):
                if self._key_of(number) == self._pointed_key:
                    return number
        return self.cursor
