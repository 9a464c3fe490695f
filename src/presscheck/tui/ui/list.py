"""A list as a declaration: columns, items, keys, the text to search, and the messages of an empty list."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from presscheck.text.styled_text import Line, Span, cut, pad, plain
from presscheck.tui.ui.loaded import Loaded, message_for
from presscheck.tui.ui.row_filter import RowFilter, has_words
from presscheck.tui.widgets.empty_state import Message
from presscheck.tui.widgets.row_list import RowList

T = TypeVar("T")
NO_MATCH = Message("No row has this text.")


@dataclass(frozen=True)
class Column(Generic[T]):
    """A column of a list.

    Attributes:
        title: the heading.
        cell: returns the cell of an item.
        width: the width in cells, including the gap; columns without a width share the remaining cells.
        share: the weight of a column without a width when the remaining cells are shared.
        gap: empty cells on the right.
        from_width: the minimum width of the list, in cells, at which the column is shown.
    """

    title: str
    cell: Callable[[T], Line | str]
    width: int = 0
    share: int = 1
    gap: int = 1
    from_width: int = 0


def layout(columns: Sequence[Column[Any]], width: int, least: int = 10) -> list[tuple[Column[Any], int]]:
    """Return the columns that fit into a list of this width, each with its width in cells.

    Args:
        columns: all columns.
        width: the cells of a row.
        least: the minimum cells that columns without a width share; in a narrower list the row is cut.
    """
    shown = [column for column in columns if width >= column.from_width]
    room = max(least, width - sum(column.width for column in shown))
    shares = sum(column.share for column in shown if not column.width)
    widths: list[tuple[Column[Any], int]] = []
    for column in shown:
        part = column.width
        if not part:
            part = room if shares == column.share else room * column.share // shares
            room, shares = room - part, shares - column.share
        widths.append((column, part))
    return widths


class List(ABC, Generic[T]):
    """A list of a screen. A subclass declares columns and items, and handles the commands on its rows.

    Its methods `command_<name>` and `reason_<name>` are commands of the screen while the list is shown.

    Attributes:
        name: the title of its tab.
        nouns: the noun for the items, in the plural.
        place: the owner of the items, with a leading space, such as ` of this site`.
        footer: the names of the commands whose keys the footer shows.
        has_marks: whether rows can be marked.
        columns: the columns, from left to right.
        rows: the widget.

    Args:
        columns: the columns, from left to right.
        second_line: returns the second line of an item's row; without it, a row is a single line.
        target: the key of the item that the cursor moves to once the item is listed.
    """

    name: str = ""
    nouns: str = ""
    place: str = ""
    footer: tuple[str, ...] = ()
    has_marks: bool = False

    def __init__(
        self,
        columns: Sequence[Column[T]],
        *,
        second_line: Callable[[T], Line] | None = None,
        target: Hashable | None = None,
    ) -> None:
        self.columns = columns
        self.target = target
        self._second_line = second_line
        self.rows = RowList(
            self.row,
            second_line=(lambda index, width: cut(second_line(self.items[index]), width)) if second_line else None,
            key=self.key,
            has_mark_column=self.has_marks,
        )
        self._text = ""
        self._filtered: tuple[object, str, Sequence[T]] = (None, "", ())
        """The cache of `items`: all items and the text of the last filter, and the matching items."""

    @property
    @abstractmethod
    def loaded(self) -> Loaded[Sequence[T]]:
        """All items."""

    def key_of(self, item: T) -> Hashable:
        """Return the stable key of an item."""
        return getattr(item, "id")  # noqa: B009

    def searched(self, item: T) -> str:
        """Return the text that the filter searches, by default all cells and the second line."""
        cells = [_line(column.cell(item)) for column in self.columns]
        return " ".join(map(plain, [*cells, self._second_line(item)] if self._second_line else cells))

    def summary(self) -> Line:
        """Return the line above the rows, such as the number of items of each kind."""
        return ()

    def details(self, width: int) -> Sequence[Line] | None:
        """Return the lines below the rows, about the item under the cursor; None for a list without such lines."""
        return None

    def empty(self) -> Message:
        """Return the message of a loaded list without items."""
        return Message(f"No {self.nouns} yet.")

    def explanation(self, *, online: bool) -> Message:
        """Return the message that explains why there are no rows."""
        if self.loaded.value is None:
            return message_for(self.loaded, self.nouns, self.place, online=online)
        return NO_MATCH if self.loaded.value else self.empty()

    @property
    def items(self) -> Sequence[T]:
        """The items that match the filter; all items without a filter."""
        value = self.loaded.value or ()
        if not self._text:
            return value
        if self._filtered[0] is not value or self._filtered[1] != self._text:
            kept = [item for item in value if has_words(self.searched(item), self._text)]
            self._filtered = (value, self._text, kept)
        return self._filtered[2]

    @property
    def total(self) -> int | None:
        """The number of all items; None until they are loaded."""
        return None if self.loaded.value is None else len(self.loaded.value)

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self.items)

    @property
    def current(self) -> T | None:
        """The item under the cursor; None without rows."""
        items, at = self.items, self.rows.cursor
        return items[at] if at < len(items) else None

    @property
    def marked(self) -> list[T]:
        """The marked items, including items that the filter hides."""
        return [item for item in self.loaded.value or () if self.key_of(item) in self.rows.marks.keys]

    def show(self) -> None:
        """Update the rows from the current items.

        The cursor moves to the item with the key `target` once the list contains the item.
        """
        at = None
        if self.target is not None:
            at = next((at for at, item in enumerate(self.items) if self.key_of(item) == self.target), None)
            self.target = self.target if at is None else None
        self.rows.show(self.count, cursor=at)

    def filter(self, text: str) -> None:
        """Show only items that contain all words of a lower-case text; an empty text shows all."""
        self._text = text

    def row_filter(self, draw: Callable[[], None]) -> RowFilter:
        """Return a search that filters the items while its text is typed, and draws them with `draw`."""

        def apply(text: str) -> None:
            self.filter(text)
            draw()

        return RowFilter(self.rows, apply)

    def key(self, index: int) -> Hashable | None:
        """Return the key of a row, or None if the row does not exist."""
        items = self.items
        return self.key_of(items[index]) if index < len(items) else None

    def heading(self, width: int) -> Line:
        """Return the line with the titles of the columns."""
        return self._laid_out(width, lambda column: (Span(column.title, "quiet"),), "quiet")

    def row(self, index: int, width: int) -> Line:
        """Return the cells of a row."""
        item = self.items[index]
        return self._laid_out(width, lambda column: _line(column.cell(item)), "")

    def _laid_out(self, width: int, cell: Callable[[Column[T]], Line], style: str) -> Line:
        spans: list[Span] = []
        widths = layout(self.columns, width)
        for number, (column, part) in enumerate(widths, 1):
            is_last = number == len(widths)
            text = cut(cell(column), max(0, part if is_last else part - column.gap))
            spans += text if is_last else pad(text, part)
        return tuple(span._replace(style=style) for span in spans) if style else tuple(spans)


class MarkedList(List[T]):
    """A list whose rows can be marked."""

    has_marks = True

    def command_mark(self) -> None:
        """Mark the row, or remove its mark."""
        self.rows.marks.command_mark()

    def command_mark_range(self) -> None:
        """Start or end a range of marks."""
        self.rows.marks.command_mark_range()

    def command_mark_visible(self) -> None:
        """Mark all visible rows; if all are marked, remove their marks."""
        self.rows.marks.command_mark_visible()


def _line(cell: Line | str) -> Line:
    return (Span(cell),) if isinstance(cell, str) else cell
