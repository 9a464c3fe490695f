"""Pieces of a comparison drawn twice: as they were, and as they are, each with the words that the other has not."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple

from presscheck.documents.difference_code import told_apart
from presscheck.documents.difference_drawing import (
    AS_WRITTEN,
    INLINE,
    READS_THE_SAME,
    Drawing,
    Drawn,
    all_marked,
    marked,
    reading,
)
from presscheck.documents.difference_runs import Ink, ink_runs, inks, is_rewritten, one_side
from presscheck.documents.difference_tags import tag_line
from presscheck.documents.matching import Gap, gaps
from presscheck.documents.pairing import Paired
from presscheck.documents.pieces import Piece, cells_of
from presscheck.documents.rendering.wrapping import wrap
from presscheck.documents.spans import Line
from presscheck.documents.words import Run, RunKind

EMPTY = Drawn("", ())
"""A line of the side that has nothing to say."""
GONE: RunKind = "removed"
CAME: RunKind = "added"


class Both(NamedTuple):
    """The same place on both sides; the shorter side is filled up where a pair of lines must stand in line."""

    left: list[Drawn]
    right: list[Drawn]

    def add(self, left: Sequence[Drawn], right: Sequence[Drawn]) -> None:
        """Lines that begin at the same height, and behind which both sides begin at the same height again."""
        for one, other in zip_longest(left, right, fillvalue=EMPTY):
            self.left.append(one)
            self.right.append(other)


class Sides(Drawing):
    """Draws the pieces of one comparison side by side; the columns are those of one side."""

    def both(self, one: Paired) -> Both:
        """The lines of a piece before, and after."""
        if one.kind == "changed" and one.before and one.after:
            return self._changed_sides(one, one.before, one.after)
        mark = "" if one.kind == "same" else one.kind
        left = one.before if one.kind in ("same", "removed") or not one.after else None
        tint = mark if mark in ("added", "removed") and not self._is_whole else ""
        right = all_marked(mark, self._read(one, one.after), tint) if one.after else []
        if left and one.after and self._is_alike(one, left, one.after):
            return Both(right, right)
        return Both(all_marked(mark, self._read(one, left), tint) if left else [], right)

    def _is_alike(self, one: Paired, before: Piece, after: Piece) -> bool:
        """Whether two pieces look the same because they are: most of a page is drawn once, not twice."""
        if (before.text, before.mark, before.within) != (after.text, after.mark, after.within):
            return False
        return before.kind != "code" or self._codes.line(one, before) == self._codes.line(one, after)

    def _changed_sides(self, one: Paired, before: Piece, after: Piece) -> Both:
        rooms = [self._room(piece.within) for piece in (before, after)]
        sizes = rooms[0][1], rooms[1][1]
        if before.kind == after.kind == "row":
            found = self._rows(one, before, after, sizes)
        else:
            found = self._texts(one, before, after, sizes)
        if not any(row.mark for side in found for row in side):
            found.right.append(Drawn("changed", wrap((READS_THE_SAME,), sizes[1])[0]))
            found.right.extend(Drawn("changed", line) for line in wrap((READS_THE_SAME,), sizes[1])[1:])
        sides = zip(found, rooms, strict=True)
        return Both(*([Drawn(row.mark, room[0] + row.line) for row in side] for side, room in sides))

    def _rows(self, one: Paired, before: Piece, after: Piece, sizes: tuple[int, int]) -> Both:
        cells: tuple[list[Line], list[Line]] = [], []
        for old, new in zip_longest(cells_of(before.text), cells_of(after.text), fillvalue=""):
            runs = ink_runs(inks(self._cell(before, old)), inks(self._cell(after, new)))
            cells[0].append(one_side(runs, GONE))
            cells[1].append(one_side(runs, CAME))
        drawn = (self._tables.row(one, side, columns) for side, columns in zip(cells, sizes, strict=True))
        return Both(*([marked(line) for line in lines] for lines in drawn))

    def _texts(self, one: Paired, before: Piece, after: Piece, sizes: tuple[int, int]) -> Both:
        if before.kind in INLINE and after.kind in INLINE:
            old, new = self._words(before.text), self._words(after.text)
            if old is not None and new is not None:
                return self._prose(before, after, ink_runs(inks(old), inks(new)), sizes)
        if before.kind == after.kind == "tag":
            tags = [
                tag_line(piece, columns, self._glyphs) for piece, columns in zip((before, after), sizes, strict=True)
            ]
            if tags[0] and tags[1] and reading(tags[0]) != reading(tags[1]):
                return Both(all_marked("removed", [tags[0]]), all_marked("added", [tags[1]]))
        if after.kind in AS_WRITTEN:
            return self._lines(before, after, self._as_written(one, before, after), sizes)
        return self._drawn_lines(before, after, sizes)

    def _prose(self, before: Piece, after: Piece, runs: Sequence[Run[Ink]], sizes: tuple[int, int]) -> Both:
        """Words; where hardly any stayed, both sides are of one colour."""
        if all(run.kind == "same" for run in runs) or is_rewritten(runs):
            bare = [piece._replace(within=()) for piece in (before, after)]
            old, new = ([*self._read(Paired("same", piece, piece), piece)] for piece in bare)
            is_same = [reading(line) for line in old] == [reading(line) for line in new]
            marks = ("", "") if is_same else (GONE, CAME)
            return Both(all_marked(marks[0], old), all_marked(marks[1], new))
        return Both(
            self._side(before, one_side(runs, GONE), sizes[0]), self._side(after, one_side(runs, CAME), sizes[1])
        )

    def _side(self, piece: Piece, spans: Line, columns: int) -> list[Drawn]:
        lines = self._hanging(piece, list(spans), columns) if piece.kind == "item" else wrap(spans, columns)
        return [marked(line) for line in lines]

    def _lines(self, before: Piece, after: Piece, lines: tuple[Line, Line], sizes: tuple[int, int]) -> Both:
        """One line as it is written, and what became of it."""
        sides, is_new = told_apart(after, lines)
        folded = self._folded(before, sides[0], sizes[0]), self._folded(after, sides[1], sizes[1])
        if is_new:
            return Both(all_marked("removed", folded[0]), all_marked("added", folded[1]))
        return Both(all_marked("changed", folded[0], ""), all_marked("changed", folded[1], ""))

    def _drawn_lines(self, before: Piece, after: Piece, sizes: tuple[int, int]) -> Both:
        """What is not made of words alone, such as cards: the lines that read differently stand side by side."""
        old, new = (
            self._layout.lines(piece.text, columns) for piece, columns in zip((before, after), sizes, strict=True)
        )
        found = Both([], [])
        for part in gaps([reading(line) for line in old], [reading(line) for line in new]):
            if not isinstance(part, Gap):
                same = old[part.before : part.before + part.size], new[part.after : part.after + part.size]
                found.add(*([Drawn("", line) for line in side] for side in same))
                continue
            went, came = old[part.before.start : part.before.stop], new[part.after.start : part.after.stop]
            if len(went) != len(came):
                found.add(all_marked("removed", went), all_marked("added", came))
            else:
                for one, other in zip(went, came, strict=True):
                    found.add(*self._lines(before, after, (one, other), sizes))
        return found
