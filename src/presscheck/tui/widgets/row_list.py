"""A list that renders rows when they become visible. Moving the cursor repaints only two rows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

from textual.message import Message
from typing_extensions import override

from presscheck.text.styled_text import Line, Span
from presscheck.tui.widgets.line_view import LineView, Place
from presscheck.tui.widgets.marks import Marks

RowRenderer = Callable[[int, int], Line]
"""Renders a row, given its index and its width in cells."""
SEARCH_DISTANCE = 200
"""Maximum distance from its former index at which a moved row is searched."""


class RowList(LineView):
    """A list of rows with a cursor. Rows with keys can be marked.

    Args:
        row: renders a row.
        second_line: renders a second line of each row.
        key: returns the stable key of a row, or None if the row is not loaded. Without it, rows cannot be marked.
        find: returns the index of a key, or None. Without it, a moved row is searched near its former index.
        is_heading: whether a row is a heading, which the cursor skips.
        has_mark_column: whether marks have their own column; otherwise `row` renders them.
        id: the widget's id.
        classes: the widget's classes.
    """

    @dataclass
    class RowHighlighted(Message):
        """Posted when the cursor moved to another row."""

        rows: RowList
        index: int

    @dataclass
    class RowSelected(Message):
        """Posted when a row is opened."""

        rows: RowList
        index: int

    def __init__(
        self,
        row: RowRenderer,
        *,
        second_line: RowRenderer | None = None,
        key: Callable[[int], Hashable | None] | None = None,
        find: Callable[[Hashable], int | None] | None = None,
        is_heading: Callable[[int], bool] | None = None,
        has_mark_column: bool = True,
        id: str | None = None,  # noqa: A002
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.row, self.second_line, self.key, self.is_heading = row, second_line, key, is_heading
        self.find = find
        self.item_height = 2 if second_line else 1
        self.has_mark_column = key is not None and has_mark_column
        self.bar_width = 2 if self.has_mark_column else 1
        self._count = 0
        self._cursor_key: Hashable | None = None

    @cached_property
    def marks(self) -> Marks[Hashable]:
        """The marks of the rows, created when they are first used: most lists in dialogs have none."""
        return Marks(self, self._key_of, self._find_key)

    @override
    @property
    def count(self) -> int:
        return self._count

    @override
    def item(self, number: int, part: int, columns: int) -> Line:
        return self.items(((number, part),), columns)[0]

    @override
    def items(self, places: Sequence[Place], columns: int) -> list[Line]:
        row, second_line = self.row, self.second_line
        return [
            second_line(number, columns) if part and second_line else row(number, columns) for number, part in places
        ]

    def show(self, count: int, *, cursor: int | None = None) -> None:
        """Show `count` new rows. The cursor stays on the row with its key, or moves to the index `cursor`.

        If the cursor was scrolled out of view, the scroll position is kept.
        """
        follows = cursor is not None or self.cursor in self.visible_range
        self._count = count
        index = self._find_cursor_key() if cursor is None else cursor
        self.cursor = self._skip_headings(max(0, min(index, count - 1)), 1)
        self.top = self._top_with_cursor(self.top) if follows else self._clamped_top(self.top)
        if follows and self._is_below_hidden_heading():
            self.top -= self.item_height
        if count:
            self._store_cursor_key()
        self.redraw()

    def start_at(self, key: Hashable) -> None:
        """At the next call of `show`, move the cursor to the row with this key, if there is one."""
        self._cursor_key = key

    @override
    def choose(self) -> None:
        """Post `RowSelected` to the screen, so that the message arrives after `RowHighlighted`."""
        if self.count:
            self.screen.post_message(self.RowSelected(self, self.cursor))

    @override
    def margins(self, places: Sequence[Place]) -> list[Line]:
        margins = super().margins(places)
        if not self.has_mark_column or not self.marks.keys:
            return margins
        return [
            (spans[0]._replace(text=spans[0].text[0]), Span("•", "accent"))
            if part == 0 and self._key_of(number) in self.marks.keys
            else spans
            for (number, part), spans in zip(places, margins, strict=True)
        ]

    @override
    def cursor_moved(self) -> None:
        """Post `RowHighlighted` to the screen before the list repaints, so that row and details change in one frame."""
        self._store_cursor_key()
        self.screen.post_message(self.RowHighlighted(self, self.cursor))

    @override
    def _move_cursor(self, number: int, top: int | None) -> None:
        super()._move_cursor(self._skip_headings(max(0, min(number, self._count - 1)), number - self.cursor), top)
        if self._is_below_hidden_heading():
            self.scroll_lines(-self.item_height)

    def _is_below_hidden_heading(self) -> bool:
        """Return whether the cursor is at the top of the view, directly below a heading that should be visible."""
        return self.top == self.cursor * self.item_height and self._is_heading(self.cursor - 1)

    def _skip_headings(self, number: int, by: int) -> int:
        """Return `number`, or, if this row is a heading, the next row in the direction of `by` that is not a heading.

        If there is none in this direction, look in the other one. If all rows are headings, return `number`.
        """
        for step in (1, -1) if by >= 0 else (-1, 1):
            row = number
            while self._is_heading(row):
                row += step
            if 0 <= row < self._count:
                return row
        return number

    def _is_heading(self, number: int) -> bool:
        return self.is_heading is not None and 0 <= number < self._count and self.is_heading(number)

    def _key_of(self, number: int) -> Hashable | None:
        return self.key(number) if self.key and 0 <= number < self._count else None

    def _store_cursor_key(self) -> None:
        self._cursor_key = self._key_of(self.cursor)

    def _find_cursor_key(self) -> int:
        found = None if self._cursor_key is None else self._find_key(self._cursor_key, self.cursor)
        return self.cursor if found is None else found

    def _find_key(self, key: Hashable, near: int) -> int | None:
        """Return the index of a key, or None. `near` is its former index, where the search starts."""
        if self._key_of(near) == key:
            return near
        if self.find:
            return self.find(key)
        for distance in range(1, SEARCH_DISTANCE):
            for number in (near + distance, near - distance):
                if self._key_of(number) == key:
                    return number
        return None
