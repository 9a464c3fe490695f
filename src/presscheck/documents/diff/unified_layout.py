"""Lays out a diff from top to bottom: marks in the margin, blank lines between blocks, unchanged blocks folded."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby, pairwise

from presscheck.documents.diff.block_pairs import SegmentPair
from presscheck.documents.diff.inline_marks import tint_line
from presscheck.documents.diff.painter import MarkedLine, SegmentPainter, title_of
from presscheck.documents.diff.segments import BY_LINE, Segment
from presscheck.documents.markdown.page_sections import plain_line
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut

MARGIN = 2
"""Number of cells of a mark and the blank after it."""
MARKS = {
    "": Span("  "),
    "added": Span("+ ", "added"),
    "removed": Span("− ", "removed"),
    "changed": Span("~ ", "waiting"),
    "moved": Span("↕ ", "waiting"),
}
_ASCII = {"removed": Span("- ", "removed"), "moved": Span("> ", "waiting")}
_FAMILY = {"code": "code", "fence": "code", "row": "table", "align": "table", "meta": "meta", "line": "line"}
"""Kinds of blocks without a blank line between blocks of the same family."""
_BARE = frozenset(("end", "align", "fence"))
"""Kinds of blocks whose lines are not counted."""


class UnifiedLayout:
    """Collects the lines of a diff. For each line, it records the block and the block's line in the new text."""

    def __init__(self, paired: Sequence[SegmentPair], drawing: SegmentPainter, width: int, *, is_ascii: bool) -> None:
        self.lines: list[Line] = []
        self.changes: list[int] = []
        self.anchors: list[int | None] = []
        self.blocks: list[int | None] = []
        self.folds: dict[int, tuple[int, ...]] = {}
        self._paired, self._drawing, self._width = paired, drawing, width
        self._marks = MARKS | _ASCII if is_ascii else MARKS
        self._ellipsis = "..." if is_ascii else "…"
        self._last: SegmentPair | None = None
        self._moves: tuple[dict[int, int], dict[int, int]] = {}, {}
        for number, pair in enumerate(paired):
            if pair.kind == "moved" and pair.before:
                # by the line in the old text: first the numbers of pairs at new places, second at old places
                self._moves[pair.after is None][pair.before.line] = number

    def lay(self, context: int | None, keep: Collection[int]) -> None:
        """Lay out the whole diff; see `difference_lines` for the arguments."""
        shown = _visible_blocks(self._paired, context, keep)
        for is_shown, numbers in groupby(range(len(shown)), key=shown.__getitem__):
            if is_shown:
                for group in _groups(self._paired, list(numbers)):
                    self._show(group)
            else:
                self._fold(list(numbers))

    def _show(self, group: Sequence[int]) -> None:
        """Add blocks that are shown together: changed lines, moved blocks, or a single block."""
        pair = self._paired[group[0]]
        rows = [(number, row) for number in group for row in self._drawing.pair_lines(self._paired[number])]
        if pair.kind == "moved":
            note = (group[0], MarkedLine("moved", (Span(self._moved(group), "quiet"),)))
            rows = [note, *(rows if pair.after else ())]
        elif len(group) > 1:
            rows.sort(key=lambda row: row[1].mark != "removed")
        if not rows:
            return
        self._space(pair)
        if self._begins_change(pair):
            self.changes += [len(self.lines) + number for number, (_, row) in enumerate(rows) if row.mark][:1]
        for number, row in rows:
            after = self._paired[number].after
            self._add(
                (self._marks[row.mark], *row.line), number, after.line if after and row.mark != "removed" else None
            )
        self._last = self._paired[group[-1]]

    def _add(self, line: Line, block: int | None, anchor: int | None) -> None:
        self.lines.append(cut(line, self._width))
        self.blocks.append(block)
        self.anchors.append(anchor)

    def _begins_change(self, pair: SegmentPair) -> bool:
        last = self._last
        if pair.kind == "same" or last is None or last.kind == "same":
            return pair.kind != "same"
        if current_segment(pair).kind == "conflict":
            return True
        if current_segment(pair).kind == current_segment(last).kind == "item" or _is_family(last, pair):
            return False
        return pair.kind in ("changed", "moved") or last.kind in ("changed", "moved")

    def _space(self, pair: SegmentPair) -> None:
        """Add a blank line before a block, unless the block belongs to the previous block."""
        if self._last and needs_blank_line(self._last, pair):
            blank_line = self._drawing.around(
                common_prefix(current_segment(self._last).within, current_segment(pair).within)
            )
            mark = pair.kind if pair.kind == self._last.kind and pair.kind in ("added", "removed") else ""
            line = (self._marks[mark], *tint_line(blank_line, mark))
            self._add(line if any(span.text.strip() for span in blank_line) else (), None, None)

    def _moved(self, group: Sequence[int]) -> str:
        pair = self._paired[group[0]]
        place = self._moves[bool(pair.after)].get(pair.before.line if pair.before else -1, 0)
        way = "up" if place < group[0] else "down"
        if pair.after:
            return f"moved here, from further {way}"
        words = " ".join(sanitize(current_segment(pair).text).lstrip("#>-*+ ").split())
        words = words if len(words) < 40 else words[:40].rpartition(" ")[0] + f" {self._ellipsis}"
        return f"moved further {way}: {words}" + (f" and {len(group) - 1} more" if len(group) > 1 else "")

    def _fold(self, numbers: Sequence[int]) -> None:
        """Add one line for folded unchanged blocks, with the last heading among them."""
        hidden = [current_segment(self._paired[number]) for number in numbers]
        lines = sum(_line_count(self._paired[number]) for number in numbers)
        text = f"{self._ellipsis} {count(lines, 'unchanged line')}"
        heading = _heading_path(hidden)
        if self._last and needs_blank_line(self._last, self._paired[numbers[0]]):
            self._add((), None, None)
        self.folds[len(self.lines)] = tuple(piece.line for piece in hidden)
        heading_spans = (Span(" · ", "quiet"), Span(heading, "quiet strong")) if heading else ()
        self._add((self._marks[""], Span(text, "quiet"), *heading_spans), numbers[0], hidden[0].line)
        self._last = self._paired[numbers[-1]]


def current_segment(pair: SegmentPair) -> Segment:
    """Return the new segment of a pair, or the old segment if there is no new one.

    Raises:
        ValueError: the pair has no segments.
    """
    segment = pair.after or pair.before
    if segment is None:
        raise ValueError("a pair without segments")
    return segment


def _is_family(pair: SegmentPair, other: SegmentPair) -> bool:
    family = _FAMILY.get(current_segment(pair).kind)
    return family is not None and family == _FAMILY.get(current_segment(other).kind)


def _groups(paired: Sequence[SegmentPair], numbers: Sequence[int]) -> Iterator[list[int]]:
    group: list[int] = []
    for number in numbers:
        if group and not _go_together(paired[group[-1]], paired[number]):
            yield group
            group = []
        group.append(number)
    if group:
        yield group


def _go_together(pair: SegmentPair, other: SegmentPair) -> bool:
    if pair.kind == "same" or other.kind == "same":
        return False
    if "moved" in (pair.kind, other.kind):
        return pair.kind == other.kind and (pair.after is None) == (other.after is None)
    return current_segment(pair).kind in BY_LINE and current_segment(other).kind == current_segment(pair).kind


def needs_blank_line(last: SegmentPair, pair: SegmentPair) -> bool:
    """Return whether a blank line separates a block from the previous block."""
    before, piece = current_segment(last), current_segment(pair)
    if before.kind == "tag" or piece.kind == "end":
        return False
    if _is_family(last, pair):
        return piece.kind == "fence" or piece.mark == "head"
    if "item" in (before.kind, piece.kind) and (piece.kind == "item" or len(piece.within) > len(before.within)):
        for side in ("after", "before"):
            above, below = getattr(last, side), getattr(pair, side)
            if above and below:
                return below.line > above.line + above.size
        return before.kind != "item"
    return True


def common_prefix(first: Sequence[str], second: Sequence[str]) -> list[str]:
    """Return the longest common prefix."""
    parts: list[str] = []
    for part, other in zip(first, second, strict=False):
        if part != other:
            break
        parts.append(part)
    return parts


def _visible_blocks(paired: Sequence[SegmentPair], context: int | None, keep: Collection[int]) -> list[bool]:
    """Return for each block whether it is shown: near a change, near a line in `keep`, or in a gap of one line."""
    if context is None:
        return [True] * len(paired)
    starts = [(pair.after.line, number) for number, pair in enumerate(paired) if pair.after]
    centers = [number for number, pair in enumerate(paired) if pair.kind != "same"]
    centers += [starts[at - 1][1] for line in keep if (at := bisect_right(starts, (line, len(paired))))]
    visible = [False] * len(paired)
    for number in centers:
        visible[number] = True
        for step in (-1, 1):
            neighbour, lines = number + step, 0
            while 0 <= neighbour < len(paired) and lines < context:
                lines += _line_count(paired[neighbour])
                visible[neighbour] = True
                neighbour += step
    edges = [-1, *(number for number, is_shown in enumerate(visible) if is_shown), len(visible)]
    for left, right in pairwise(edges):
        if sum(map(_line_count, paired[left + 1 : right])) <= 1:
            visible[left + 1 : right] = [True] * (right - left - 1)
    return visible


def _line_count(pair: SegmentPair) -> int:
    """Return the number of source lines of a block, without the fences of code and ends of tags."""
    piece = current_segment(pair)
    return 0 if piece.kind in _BARE else piece.size


def _heading_path(hidden: Sequence[Segment]) -> str:
    """Return a text with the last heading of the blocks, and the titles of the tags that are open after the blocks."""
    heading = ""
    opened: list[str] = []
    for piece in hidden:
        if piece.kind == "heading" or (piece.kind == "line" and piece.text.startswith("#")):
            heading = " ".join(plain_line(piece.text.strip("#=- \n")).split())
        elif piece.kind == "tag":
            opened.append(title_of(piece))
        elif piece.kind == "end" and opened:
            opened.pop()
    return " › ".join(sanitize(name) for name in (heading, *opened) if name)
