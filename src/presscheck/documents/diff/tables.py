"""Table rows in a diff: columns are wide enough for both texts, so that old and new rows align."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len

from presscheck.documents.diff.block_pairs import SegmentPair
from presscheck.documents.diff.segments import Segment, table_cells
from presscheck.text.styled_text import Line, Span, width, wrap

GAP = 2
MIN_COLUMN = 9
"""The narrowest column; below it the cells follow one another instead."""
SEPARATOR = Span(" │ ", "quiet")

_markup = re.compile(r"\]\((?:[^)\]]++|\](?!\())*\)|\*\*|[`\[]|<[^<>]*>")


class TableColumns:
    """The column widths of every table of two texts."""

    def __init__(self, paired: Iterable[SegmentPair]) -> None:
        self._sizes: dict[int, list[int] | None] = {}
        self._table_of: dict[tuple[str, int], int] = {}
        self._widths: list[list[tuple[int, int]]] = []
        for pair in paired:
            if (pair.after or pair.before or _NO_PIECE).kind == "row":
                self._take(pair)

    def row(self, pair: SegmentPair, cells: Sequence[Sequence[Span]], columns: int) -> list[Line]:
        """Renders a row in at most this many cells."""
        sizes = self._of(pair, columns)
        if sizes is None:
            joined = [span for number, cell in enumerate(cells) for span in ((SEPARATOR, *cell) if number else cell)]
            return wrap(joined, columns)
        laid = [wrap(cell, size) for cell, size in zip(cells, sizes, strict=False)]
        height = max((len(cell) for cell in laid), default=0)
        return [_joined(laid, sizes, number) for number in range(height)]

    def rule(self, pair: SegmentPair, columns: int, hairline: str) -> Line:
        """Renders the hairline below a table's head."""
        sizes = self._of(pair, columns)
        text = (" " * GAP).join(hairline * size for size in sizes) if sizes else hairline * columns
        return (Span(text, "quiet"),)

    def _take(self, pair: SegmentPair) -> None:
        keys = [(side, piece.opener) for side, piece in (("a", pair.after), ("b", pair.before)) if piece]
        table = next((self._table_of[key] for key in keys if key in self._table_of), len(self._widths))
        if table == len(self._widths):
            self._widths.append([])
        self._table_of.update(dict.fromkeys(keys, table))
        widths = self._widths[table]
        for piece in (pair.before, pair.after):
            for number, cell in enumerate(table_cells(piece.text) if piece else ()):
                text = _markup.sub("", cell)
                word = max(map(cell_len, text.split()), default=1)
                known = widths[number] if number < len(widths) else (1, 1)
                widths[number : number + 1] = [(max(cell_len(text), known[0]), max(word, known[1]))]

    def _of(self, pair: SegmentPair, columns: int) -> list[int] | None:
        key = ("a", pair.after.opener) if pair.after else ("b", pair.before.opener if pair.before else -1)
        table = self._table_of.get(key, -1)
        if table < 0:
            return None
        if table not in self._sizes:
            self._sizes[table] = _fitted(self._widths[table], columns)
        return self._sizes[table]


_NO_PIECE = Segment("", "", 0)


def _fitted(widths: Sequence[tuple[int, int]], columns: int) -> list[int] | None:
    """Returns column widths for the wanted widths and longest words; None if there is no room."""
    left = columns - GAP * (len(widths) - 1)
    least = [min(wanted, max(MIN_COLUMN, min(word, columns // 4))) for wanted, word in widths]
    if sum(least) > left:
        return None
    low, high = 0, columns
    while low < high:
        cap = (low + high + 1) // 2
        fits = sum(min(wanted, max(small, cap)) for (wanted, _), small in zip(widths, least, strict=True)) <= left
        low, high = (cap, high) if fits else (low, cap - 1)
    return [min(wanted, max(small, low)) for (wanted, _), small in zip(widths, least, strict=True)]


def _joined(cells: Sequence[Sequence[Line]], sizes: Sequence[int], number: int) -> Line:
    return tuple(_parts(cells, sizes, number))


def _parts(cells: Sequence[Sequence[Line]], sizes: Sequence[int], number: int) -> Iterator[Span]:
    blank = 0
    for cell, size in zip(cells, sizes, strict=False):
        line = cell[number] if number < len(cell) else ()
        if line and blank:
            yield Span(" " * blank)
            blank = 0
        yield from line
        blank += size - width(line) + GAP
