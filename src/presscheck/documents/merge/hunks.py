"""The hunks of an edited text: separate changes, each of which can be left out or applied alone.

A hunk is one change in the diff. It contains all changed lines of a block, and both places of a moved block, so that
leaving out a hunk loses no text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from presscheck.documents.diff.block_pairs import SegmentPair, pair_segments
from presscheck.documents.diff.segments import Segment, split_segments
from presscheck.documents.diff.sequence_matcher import Gap, gaps
from presscheck.text.phrases import count


class HunkPart(NamedTuple):
    """Changed lines in one place; either side may be empty. Line numbers start at 0, and lines keep their line ends."""

    first_before: int
    first_after: int
    removed: tuple[str, ...]
    added: tuple[str, ...]

    @property
    def lines_before(self) -> range:
        """The line numbers in the old text."""
        return range(self.first_before, self.first_before + len(self.removed))

    @property
    def lines_after(self) -> range:
        """The line numbers in the new text."""
        return range(self.first_after, self.first_after + len(self.added))


@dataclass(frozen=True)
class Hunk:
    """One change, in one or several places."""

    parts: tuple[HunkPart, ...]

    @property
    def texts(self) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
        """The removed and the added lines of each part, which are equal for the same change in another text."""
        return tuple((part.removed, part.added) for part in self.parts)

    @property
    def first_after(self) -> int:
        """The line of the new text where the hunk starts."""
        return self.parts[0].first_after


def split_hunks(before: str, after: str) -> list[Hunk]:
    """Return the hunks between two texts, in the order of the text."""
    parts = _parts(before, after)
    groups = [{number} for number in range(len(parts))]
    for blocks in _shown_as_one(pair_segments(split_segments(before), split_segments(after))):
        touched = [number for number, part in enumerate(parts) if any(_touches(part, *block) for block in blocks)]
        if len(touched) > 1:
            joined = set[int]().union(*(groups[number] for number in touched))
            for number in joined:
                groups[number] = joined
    numbers = {min(group): sorted(group) for group in groups}
    return [Hunk(tuple(parts[number] for number in numbers[first])) for first in sorted(numbers)]


def apply_hunks(before: str, after: str, hunks: Collection[Hunk]) -> str:
    """Return the old text with some hunks applied; with all hunks, the new text."""
    chosen = {part for hunk in hunks for part in hunk.parts}
    lines, at, text = _lines(before), 0, list[str]()
    for part in _parts(before, after):
        text += lines[at : part.first_before]
        text += part.added if part in chosen else part.removed
        at = part.lines_before.stop
    return "".join(text + lines[at:])


def hunk_of(hunks: Sequence[Hunk], block: SegmentPair) -> Hunk | None:
    """Return the hunk that changes a block of the diff, or None."""
    sides = _lines_of(block.before), _lines_of(block.after)
    return next((hunk for hunk in hunks if any(_touches(part, *sides) for part in hunk.parts)), None)


def same_hunk(hunks: Sequence[Hunk], hunk: Hunk) -> Hunk | None:
    """Return the hunk of another version of the text that makes the same change, or None.

    If several hunks make this change, return the nearest.
    """
    same = [other for other in hunks if other.texts == hunk.texts]
    return min(same, key=lambda other: abs(other.first_after - hunk.first_after), default=None)


def line_numbers(lines: range) -> str:
    """Format line numbers, counted from 1: `line 3` or `lines 3 to 5`."""
    first = lines.start + 1
    return f"line {first}" if len(lines) < 2 else f"lines {first} to {lines.stop}"


def hunk_size(hunk: Hunk) -> str:
    """Format the size of a hunk without blank lines: `2 lines added, 1 removed`."""
    added, removed = (sum(bool(line.strip()) for line in side) for side in _sides(hunk))
    if not added and not removed:
        return "blank lines"
    if not added:
        return f"{count(removed, 'line')} removed"
    return f"{count(added, 'line')} added" + (f", {removed:,} removed" if removed else "")


def _sides(hunk: Hunk) -> tuple[list[str], list[str]]:
    return [line for part in hunk.parts for line in part.added], [line for part in hunk.parts for line in part.removed]


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _parts(before: str, after: str) -> list[HunkPart]:
    old, new = _lines(before), _lines(after)
    parts: list[HunkPart] = []
    for gap in gaps(old, new):
        if isinstance(gap, Gap):
            at, to = gap.before.start, gap.after.start
            slid = _slide(old, new, gap, parts[-1] if parts else None)
            removed = old[at - slid : gap.before.stop - slid]
            parts.append(HunkPart(at - slid, to - slid, tuple(removed), tuple(new[to - slid : gap.after.stop - slid])))
    return parts


def _slide(old: Sequence[str], new: Sequence[str], gap: Gap, last: HunkPart | None) -> int:
    """Return by how many lines a pure addition or removal can start earlier with the same result.

    A paragraph can be added with the blank line before or after the paragraph. The choice must not depend on other
    edits, so that the same hunk can be found after other edits.
    """
    if gap.before and gap.after:
        return 0
    lines, run = (old, gap.before) if gap.before else (new, gap.after)
    room = gap.before.start - (last.lines_before.stop if last else 0)
    slid = 0
    while slid < room and lines[run.start - slid - 1] == lines[run.stop - slid - 1]:
        slid += 1
    return slid


def _shown_as_one(pairs: Sequence[SegmentPair]) -> list[list[tuple[range, range]]]:
    """Return the changed blocks as line ranges of both texts, with both places of a moved block together."""
    blocks: list[list[tuple[range, range]]] = []
    moved: dict[int, list[tuple[range, range]]] = {}
    for pair in pairs:
        if pair.kind == "moved" and pair.before:
            # the new place has the new segment, the old place has none; both are found by the old segment
            moved.setdefault(pair.before.line, []).append((_lines_of(pair.before), _lines_of(pair.after)))
        elif pair.kind != "same":
            blocks.append([(_lines_of(pair.before), _lines_of(pair.after))])
    return [*blocks, *moved.values()]


def _lines_of(segment: Segment | None) -> range:
    return range(segment.line, segment.line + segment.size) if segment else range(0)


def _touches(part: HunkPart, before: range, after: range) -> bool:
    return _overlap(part.lines_before, before) or _overlap(part.lines_after, after)


def _overlap(first: range, second: range) -> bool:
    return max(first.start, second.start) < min(first.stop, second.stop)
