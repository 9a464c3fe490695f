"""A tab of the screen of permissions: rows of cells, which share the width and are filtered by a text."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from presscheck.text.styled_text import Line, Span, cut, pad

GAP, NARROWEST = 2, 16
"""Cells between two columns, and the least of one that shares what the others leave."""
MARGIN = 3
"""Cells at the right that stay free: a line of headings needs them."""


@dataclass(frozen=True)
class AccessRow:
    """A row.

    Attributes:
        key: what identifies it.
        cells: its texts, as display text.
        thing: what it is about.
    """

    key: str
    cells: tuple[str, ...]
    thing: Any


class AccessTab:
    """One tab.

    Args:
        name: its title.
        noun: what it lists, in the plural.
        columns: the headings and widths of its columns; those without a width share what the others leave, and the
            last ones are left out where there is no room.
        footer: the commands of the footer.
        summary: returns the line above the rows.
        empty: returns a sentence and a hint for a list without rows.
    """

    def __init__(
        self,
        name: str,
        noun: str,
        columns: Sequence[tuple[str, int]],
        footer: tuple[str, ...],
        summary: Callable[[], Line],
        empty: Callable[[], tuple[str, str]],
    ) -> None:
        self.name, self.noun, self.footer = name, noun, footer
        self._columns, self._summary, self._empty = tuple(columns), summary, empty
        self._rows: tuple[AccessRow, ...] | None = None
        self._shown: tuple[AccessRow, ...] = ()
        self._text = ""

    def show(self, rows: Sequence[AccessRow]) -> None:
        """List other rows."""
        self._rows = tuple(rows)
        self.filter(self._text)

    def filter(self, text: str) -> None:
        """Show only the rows with a text, in lower case."""
        self._text = text
        self._shown = tuple(row for row in self._rows or () if text in " ".join(row.cells).lower())

    @property
    def total(self) -> int | None:
        """How many there are in all; None until that is known."""
        return None if self._rows is None else len(self._rows)

    @property
    def count(self) -> int:
        """The number of rows that are shown."""
        return len(self._shown)

    def at(self, index: int) -> AccessRow | None:
        """The row of this number; None if there is none."""
        return self._shown[index] if 0 <= index < len(self._shown) else None

    def key(self, index: int) -> Hashable | None:
        """What identifies a row."""
        row = self.at(index)
        return row.key if row else None

    def row(self, index: int, columns: int) -> Line:
        """The cells of a row."""
        row = self._shown[index]
        return self._line([(text, "quiet" if at else "strong") for at, text in enumerate(row.cells)], columns)

    def heading(self, columns: int) -> Line:
        """The names of the columns."""
        return self._line([(name, "quiet") for name, _ in self._columns], columns)

    def summary(self) -> Line:
        """The line above the rows."""
        return self._summary()

    def empty(self) -> tuple[str, str]:
        """A sentence and a hint."""
        return ("No row has this text.", "") if self._text and self._rows else self._empty()

    def _line(self, texts: Sequence[tuple[str, str]], columns: int) -> Line:
        widths = [width for _, width in self._columns]
        while len(widths) > 1 and _left(widths, columns) < NARROWEST * widths.count(0):
            widths.pop()
        share = max(1, _left(widths, columns) // (widths.count(0) or 1))
        spans: list[Span] = []
        for (text, style), width in zip(texts, widths, strict=False):
            room = width or share
            spans += pad(cut((Span(text, style),), room), room + GAP)
        return tuple(spans)


def _left(widths: Sequence[int], columns: int) -> int:
    """The cells that the columns without a width share."""
    return columns - MARGIN - sum(widths) - GAP * len(widths)
