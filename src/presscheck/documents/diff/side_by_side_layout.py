"""Lays out a diff side by side, with each block next to its counterpart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from typing_extensions import override

from presscheck.documents.diff.block_pairs import SegmentPair
from presscheck.documents.diff.inline_marks import tint_line
from presscheck.documents.diff.painter import MarkedLine
from presscheck.documents.diff.side_painter import EMPTY, SidePainter
from presscheck.documents.diff.unified_layout import MARGIN, UnifiedLayout, common_prefix, needs_blank_line
from presscheck.documents.terminal.symbols import Symbols
from presscheck.text.styled_text import Line, Span, pad

_SEPARATOR = 3
"""Number of cells between the sides, for a hairline with blanks around it."""


def side_columns(width: int) -> int:
    """Return the width of the text on one side, for lines of `width` cells."""
    return max((width - _SEPARATOR) // 2 - MARGIN, 1)


class SideBySideLayout(UnifiedLayout):
    """Collects the lines of both sides, padding the shorter side of each block.

    Args:
        paired: the pairs of segments.
        sides: renders the pairs, in `side_columns` cells per side.
        width: the cells of a line with both sides.
        symbols: the symbols for the hairline.
        is_ascii: whether to draw marks with ASCII symbols only.
    """

    def __init__(
        self, paired: Sequence[SegmentPair], sides: SidePainter, width: int, symbols: Symbols, *, is_ascii: bool
    ) -> None:
        super().__init__(paired, sides, width, is_ascii=is_ascii)
        self._sides = sides
        self._columns = side_columns(width)
        self._between = Span(f" {symbols.quote} ", "quiet")

    @property
    def beside(self) -> Line:
        """The empty left side of a line that is inserted on the right."""
        return (Span(" " * (MARGIN + self._columns)), self._between)

    @override
    def _show(self, group: Sequence[int]) -> None:
        pair = self._paired[group[0]]
        rows: list[tuple[int, MarkedLine, MarkedLine]] = []
        if pair.kind == "moved":
            note = MarkedLine("moved", (Span(self._moved(group).partition(":")[0], "quiet"),))
            rows.append((group[0], EMPTY, note) if pair.after else (group[0], note, EMPTY))
        for number in group:
            sides = self._sides.both(self._paired[number])
            rows += [(number, left, right) for left, right in zip_longest(*sides, fillvalue=EMPTY)]
        if not rows:
            return
        self._space(pair)
        if self._begins_change(pair):
            marks = (number for number, (_, left, right) in enumerate(rows) if left.mark or right.mark)
            self.changes += [len(self.lines) + number for number in marks][:1]
        for number, left, right in rows:
            after = self._paired[number].after
            self._add(self._row(left, right), number, after.line if after else None)
        self._last = self._paired[group[-1]]

    @override
    def _add(self, line: Line, block: int | None, anchor: int | None) -> None:
        super()._add(line or self._row(EMPTY, EMPTY), block, anchor)

    def _row(self, left: MarkedLine, right: MarkedLine) -> Line:
        before = pad((self._marks[left.mark], *left.line), MARGIN + self._columns)
        return (*before, self._between, self._marks[right.mark], *right.line)

    @override
    def _space(self, pair: SegmentPair) -> None:
        last = self._last
        if last is None or not needs_blank_line(last, pair):
            return
        mark = pair.kind if pair.kind == last.kind and pair.kind in ("added", "removed") else ""
        pieces = ((last.before, pair.before), (last.after, pair.after))
        drawn = [
            MarkedLine(mark, tint_line(self._drawing.around(common_prefix(above.within, below.within)), mark))
            if above and below
            else EMPTY
            for above, below in pieces
        ]
        self._add(self._row(drawn[0], drawn[1]), None, None)
