"""Renders the segments of a diff twice, old and new, marking the words that the other side lacks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple

from presscheck.documents.diff.block_pairs import SegmentPair
from presscheck.documents.diff.inline_marks import StyledToken, is_rewritten, one_side, styled_tokens, token_runs
from presscheck.documents.diff.painter import (
    AS_WRITTEN,
    INLINE,
    READS_THE_SAME,
    MarkedLine,
    SegmentPainter,
    mark_all,
    mark_changes,
    mark_line_changes,
    reading_text,
    tag_line,
)
from presscheck.documents.diff.segments import Segment, table_cells
from presscheck.documents.diff.sequence_matcher import Gap, gaps
from presscheck.documents.diff.word_diff import Run, RunKind
from presscheck.text.styled_text import Line, wrap

EMPTY = MarkedLine("", ())
"""An empty line, for the shorter side."""
REMOVED: RunKind = "removed"
ADDED: RunKind = "added"


class SideLines(NamedTuple):
    """The lines of both sides; the shorter side is padded only where pairs of lines must align."""

    left: list[MarkedLine]
    right: list[MarkedLine]

    def add(self, left: Sequence[MarkedLine], right: Sequence[MarkedLine]) -> None:
        """Add lines of both sides, padded to the same height."""
        for left_line, right_line in zip_longest(left, right, fillvalue=EMPTY):
            self.left.append(left_line)
            self.right.append(right_line)


class SidePainter(SegmentPainter):
    """Renders the segments of a diff side by side, with `columns` cells per side."""

    def both(self, pair: SegmentPair) -> SideLines:
        """Render a pair of segments on both sides."""
        if pair.kind == "changed" and pair.before and pair.after:
            return self._changed_sides(pair, pair.before, pair.after)
        mark = "" if pair.kind == "same" else pair.kind
        left = pair.before if pair.kind in ("same", "removed") or not pair.after else None
        is_conflict = any(piece and piece.kind == "conflict" for piece in (pair.before, pair.after))
        tint = mark if mark in ("added", "removed") and not self._is_whole and not is_conflict else ""
        right = mark_all(mark, self._read(pair, pair.after), tint) if pair.after else []
        if left and pair.after and self._is_alike(pair, left, pair.after):
            return SideLines(right, right)
        return SideLines(mark_all(mark, self._read(pair, left), tint) if left else [], right)

    def _is_alike(self, pair: SegmentPair, before: Segment, after: Segment) -> bool:
        """Return whether both segments render the same, so that they need not be rendered twice."""
        if (before.text, before.mark, before.within) != (after.text, after.mark, after.within):
            return False
        return before.kind != "code" or self._codes.line(pair, before) == self._codes.line(pair, after)

    def _changed_sides(self, pair: SegmentPair, before: Segment, after: Segment) -> SideLines:
        rooms = [self._room(piece.within) for piece in (before, after)]
        sizes = rooms[0][1], rooms[1][1]
        if before.kind == after.kind == "row":
            drawn = self._rows(pair, before, after, sizes)
        else:
            drawn = self._texts(pair, before, after, sizes)
        if not any(row.mark for side in drawn for row in side):
            drawn.right.append(MarkedLine("changed", wrap((READS_THE_SAME,), sizes[1])[0]))
            drawn.right.extend(MarkedLine("changed", line) for line in wrap((READS_THE_SAME,), sizes[1])[1:])
        sides = zip(drawn, rooms, strict=True)
        return SideLines(*([MarkedLine(row.mark, room[0] + row.line) for row in side] for side, room in sides))

    def _rows(self, pair: SegmentPair, before: Segment, after: Segment, sizes: tuple[int, int]) -> SideLines:
        cells: tuple[list[Line], list[Line]] = [], []
        for old, new in zip_longest(table_cells(before.text), table_cells(after.text), fillvalue=""):
            runs = token_runs(styled_tokens(self._cell(before, old)), styled_tokens(self._cell(after, new)))
            cells[0].append(one_side(runs, REMOVED))
            cells[1].append(one_side(runs, ADDED))
        drawn = (self._tables.row(pair, side, columns) for side, columns in zip(cells, sizes, strict=True))
        return SideLines(*([mark_changes(line) for line in lines] for lines in drawn))

    def _texts(self, pair: SegmentPair, before: Segment, after: Segment, sizes: tuple[int, int]) -> SideLines:
        if after.kind == "conflict":
            rendered = [self._conflict(pair, piece, size) for piece, size in zip((before, after), sizes, strict=True)]
            return SideLines(mark_all(REMOVED, rendered[0], ""), mark_all(ADDED, rendered[1], ""))
        if before.kind in INLINE and after.kind in INLINE:
            old, new = self._words(before.text), self._words(after.text)
            if old is not None and new is not None:
                return self._prose(before, after, token_runs(styled_tokens(old), styled_tokens(new)), sizes)
        if before.kind == after.kind == "tag":
            tags = [
                tag_line(piece, columns, self._symbols) for piece, columns in zip((before, after), sizes, strict=True)
            ]
            if tags[0] and tags[1] and reading_text(tags[0]) != reading_text(tags[1]):
                return SideLines(mark_all("removed", [tags[0]]), mark_all("added", [tags[1]]))
        if after.kind in AS_WRITTEN:
            return self._lines(before, after, self._as_written(pair, before, after), sizes)
        return self._drawn_lines(before, after, sizes)

    def _prose(
        self, before: Segment, after: Segment, runs: Sequence[Run[StyledToken]], sizes: tuple[int, int]
    ) -> SideLines:
        """Render inline text on both sides, with the changed words marked.

        If most of the text is rewritten, each side has one color instead.
        """
        if all(run.kind == "same" for run in runs) or is_rewritten(runs):
            bare = [piece._replace(within=()) for piece in (before, after)]
            old, new = ([*self._read(SegmentPair("same", piece, piece), piece)] for piece in bare)
            is_same = [reading_text(line) for line in old] == [reading_text(line) for line in new]
            marks = ("", "") if is_same else (REMOVED, ADDED)
            return SideLines(mark_all(marks[0], old), mark_all(marks[1], new))
        return SideLines(
            self._side(before, one_side(runs, REMOVED), sizes[0]), self._side(after, one_side(runs, ADDED), sizes[1])
        )

    def _side(self, segment: Segment, spans: Line, columns: int) -> list[MarkedLine]:
        lines = self._hanging(segment, list(spans), columns) if segment.kind == "item" else wrap(spans, columns)
        return [mark_changes(line) for line in lines]

    def _lines(self, before: Segment, after: Segment, lines: tuple[Line, Line], sizes: tuple[int, int]) -> SideLines:
        """Render one source line on both sides."""
        sides, is_new = mark_line_changes(after, lines)
        folded = self._folded(before, sides[0], sizes[0]), self._folded(after, sides[1], sizes[1])
        if is_new:
            return SideLines(mark_all("removed", folded[0]), mark_all("added", folded[1]))
        return SideLines(mark_all("changed", folded[0], ""), mark_all("changed", folded[1], ""))

    def _drawn_lines(self, before: Segment, after: Segment, sizes: tuple[int, int]) -> SideLines:
        """Render segments that are more than inline text, such as cards; lines that read differently are aligned."""
        old, new = (
            self._layout.lines(piece.text, columns) for piece, columns in zip((before, after), sizes, strict=True)
        )
        aligned = SideLines([], [])
        for part in gaps([reading_text(line) for line in old], [reading_text(line) for line in new]):
            if not isinstance(part, Gap):
                same = old[part.before : part.before + part.size], new[part.after : part.after + part.size]
                aligned.add(*([MarkedLine("", line) for line in side] for side in same))
                continue
            removed, added = old[part.before.start : part.before.stop], new[part.after.start : part.after.stop]
            if len(removed) != len(added):
                aligned.add(mark_all("removed", removed), mark_all("added", added))
            else:
                for old_line, new_line in zip(removed, added, strict=True):
                    aligned.add(*self._lines(before, after, (old_line, new_line), sizes))
        return aligned
