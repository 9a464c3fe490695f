"""Compares two texts of a page by block, and by word within blocks, and renders the diff as terminal lines.

Every difference is visible without color: changed lines have marks in the margin, removed words are struck through,
added words are underlined. The rendered lines of a block refer to the line of the new text at which it starts.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from presscheck.documents.diff.block_pairs import SegmentPair, pair_segments
from presscheck.documents.diff.painter import SegmentPainter
from presscheck.documents.diff.segments import line_segments, split_segments
from presscheck.documents.diff.side_by_side_layout import SideBySideLayout, side_columns
from presscheck.documents.diff.side_painter import SidePainter
from presscheck.documents.diff.unified_layout import MARGIN, UnifiedLayout
from presscheck.documents.diff.word_diff import count_words, tokenize, word_count, word_runs
from presscheck.documents.terminal.symbols import ASCII, UNICODE
from presscheck.text.styled_text import Line
from presscheck.text.styled_text import wrap as wrapped

Mode = Literal["prose", "split", "source"]
CONTEXT = 3
"""Default number of unchanged lines around a change."""


@dataclass(frozen=True)
class PageDifference:
    """The comparison of two texts: the pairs of segments, and the numbers of added and removed words."""

    before: str
    after: str
    blocks: tuple[SegmentPair, ...]
    added: int
    removed: int

    @property
    def kind(self) -> Literal["same", "added", "removed", "changed"]:
        """The kind of change of the whole page."""
        if all(block.kind == "same" for block in self.blocks):
            return "same"
        if not self.before.strip() or not self.after.strip():
            return "removed" if self.before.strip() else "added"
        return "changed"

    @cached_property
    def source(self) -> tuple[SegmentPair, ...]:
        """The pairs of source lines."""
        sides = (line_segments(side) if side.strip() else [] for side in (self.before, self.after))
        return tuple(pair_segments(*sides))


@dataclass(frozen=True)
class DifferenceLines:
    """A diff as terminal lines.

    Attributes:
        lines: the rendered lines.
        changes: for each change, the index of its first line.
        anchors: for each line, the line of the new text at which its block starts, or None.
        blocks: for each line, the number of its block, or None.
        folds: for each folded line, the lines of the new text that it replaces.
        beside: in side-by-side mode, a blank old side, to put before content that is inserted below a line.
    """

    lines: tuple[Line, ...]
    changes: tuple[int, ...]
    anchors: tuple[int | None, ...]
    blocks: tuple[int | None, ...]
    folds: dict[int, tuple[int, ...]]
    beside: Line = ()

    def below(self, line: int) -> int | None:
        """Return the index of the last rendered line for a line of the new text, or for the fold that contains it.

        Return None if no block starts at or above the line.
        """
        index = bisect_right(self._anchored[0], line)
        return self._anchored[1][index - 1] if index else None

    @cached_property
    def _anchored(self) -> tuple[list[int], list[int]]:
        pairs = [(anchor, number) for number, anchor in enumerate(self.anchors) if anchor is not None]
        return [anchor for anchor, _ in pairs], [number for _, number in pairs]


def compare(before: str, after: str) -> PageDifference:
    """Compare two texts of a page."""
    blocks = tuple(pair_segments(split_segments(before), split_segments(after)))
    added = removed = 0
    for block in blocks:
        if block.kind == "changed":
            block_added, block_removed = _changed_words(block)
            added, removed = added + block_added, removed + block_removed
        elif block.kind == "added":
            added += word_count(block.after.text) if block.after else 0
        elif block.kind == "removed":
            removed += word_count(block.before.text) if block.before else 0
    return PageDifference(before, after, blocks, added, removed)


def difference_lines(
    difference: PageDifference,
    width: int,
    *,
    mode: Mode = "prose",
    context: int | None = CONTEXT,
    keep: Collection[int] = (),
    ascii: bool = False,  # noqa: A002
) -> DifferenceLines:
    """Render a diff in lines of at most `width` cells.

    Args:
        difference: the compared texts.
        width: the cells of a line.
        mode: `prose` shows the rendered page, `split` both sides rendered side by side, `source` the Markdown.
        context: number of unchanged lines around a change, in whole blocks; the others are folded. None folds nothing.
        keep: lines of the new text that must not be folded, because content such as a thread is inserted below them.
        ascii: whether to draw with ASCII symbols only.
    """
    symbols = ASCII if ascii else UNICODE
    paired = difference.source if mode == "source" else difference.blocks
    is_whole = difference.kind in ("added", "removed")
    beside: Line = ()
    if mode == "split":
        sides = SidePainter(paired, side_columns(width), symbols, is_whole=is_whole)
        layout = SideBySideLayout(paired, sides, max(width, 1), symbols, is_ascii=ascii)
        beside = layout.beside
    else:
        painter = SegmentPainter(paired, max(width - MARGIN, 1), symbols, is_whole=is_whole)
        layout = UnifiedLayout(paired, painter, max(width, 1), is_ascii=ascii)
    layout.lay(context, keep)
    shown, changes = tuple(layout.lines), tuple(layout.changes)
    return DifferenceLines(shown, changes, tuple(layout.anchors), tuple(layout.blocks), layout.folds, beside)


def wrap(line: Line, columns: int) -> list[Line]:
    """Wrap a line to a width, between words if possible; an empty line remains one line."""
    return wrapped(line, columns) or [()]


def _changed_words(pair: SegmentPair) -> tuple[int, int]:
    """Return the numbers of added and removed words in a block."""
    old, new = (tokenize(piece.text) if piece else [] for piece in (pair.before, pair.after))
    counts = {"added": 0, "removed": 0, "same": 0}
    for run in word_runs(old, new, lambda token: token.text, lambda token: len(token.text)):
        counts[run.kind] += count_words(token.text for token in run.tokens)
    return counts["added"], counts["removed"]
