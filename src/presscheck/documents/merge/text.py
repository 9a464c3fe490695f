"""Three-way merge of texts: by line, then by sentence, then by word.

The merge loses nothing: if both sides changed the same words, both versions appear between conflict markers. It also
invents nothing: a word, number, link target or attribute value that both sides changed is a conflict, never a mixture,
and so is a table whose rows would have different numbers of cells. Code is merged by line only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from merge3 import Merge3

from presscheck.documents.diff.sequence_matcher import matches
from presscheck.documents.merge.conflict_blocks import (
    CONFLICT_DIVIDER,
    CONFLICT_END,
    CONFLICT_START,
    OUR_NAME,
    THEIR_NAME,
    fence_after,
)

MIN_KEPT = 0.5
"""The share of a sentence that each side must have left unchanged for a merge by word."""
_sentences = re.compile(
    r".(?:[^.!?;:。！？\n]++|[.!?;:][^\w\s。！？]*+(?!\s))*(?:[.!?;:][^\w\s。！？]*+|[。！？]|\n|\Z)\s*+", re.DOTALL
).findall
_words = re.compile(r"""(?:="[^"\n]*"|='[^'\n]*'|\(<[^>\n]*>|\S)+\s*|\s+""").findall
"""Splits at blanks, except in attribute values and link targets."""
_cells = re.compile(r"(?<!\\)\|").findall


class Region(NamedTuple):
    """A region of three sequences. `kind` is same, ours, theirs or conflict, by which sides changed the region.

    `start` is the index in ours at which a conflict starts.
    """

    kind: str
    base: Sequence[str]
    ours: Sequence[str]
    theirs: Sequence[str]
    start: int = 0

    @property
    def taken(self) -> Sequence[str]:
        """The items of the merged region; in a conflict, the items of `ours`."""
        return self.theirs if self.kind == "theirs" else self.ours


def three_way(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> Iterator[Region]:
    """Yield the regions of a three-way merge."""
    for region in Merge3(base, ours, theirs, sequence_matcher=_Matcher).merge_regions():
        if region[0] == "conflict":
            _, at, end, our_at, our_end, their_at, their_end = region
            yield Region("conflict", base[at:end], ours[our_at:our_end], theirs[their_at:their_end], our_at)
            continue
        kind, at, end = region
        if kind == "b":
            yield Region("theirs", (), (), theirs[at:end])
        else:
            yield Region("ours" if kind == "a" else "same", (), (base if kind == "unchanged" else ours)[at:end], ())


class _Matcher:
    """Adapts `sequence_matcher` to the interface that merge3 expects."""

    def __init__(
        self,
        isjunk: Callable[[str], bool] | None = None,
        a: Sequence[str] = (),
        b: Sequence[str] = (),
        autojunk: bool = False,
    ) -> None:
        self._sides = a, b

    def get_matching_blocks(self) -> list[tuple[int, int, int]]:
        """Return the matching blocks, followed by the empty block that merge3 expects."""
        return [*matches(*self._sides), (len(self._sides[0]), len(self._sides[1]), 0)]


class MergedText(NamedTuple):
    """A merged text and its number of conflicts."""

    text: str
    conflicts: int


def merge_text(
    base: str, ours: str, theirs: str, *, our_name: str = OUR_NAME, their_name: str = THEIR_NAME
) -> MergedText:
    """Merge two texts; `our_name` and `their_name` follow the conflict markers."""
    if theirs in (base, ours):
        return MergedText(ours, 0)
    if ours == base:
        return MergedText(theirs, 0)
    parts: list[str] = []
    conflicts = 0
    for region, joined in _merged(base, ours, theirs):
        conflicts += joined is None
        parts += _marked(region.ours, region.theirs, our_name, their_name) if joined is None else joined
    return MergedText("".join(parts), conflicts)


def conflicting_lines(base: str, ours: str, theirs: str) -> list[range]:
    """Return the lines of `ours` with conflicts; a range is empty where only `theirs` has text."""
    if theirs in (base, ours) or ours == base:
        return []
    return [
        range(region.start, region.start + len(region.ours))
        for region, joined in _merged(base, ours, theirs)
        if joined is None
    ]


def _merged(base: str, ours: str, theirs: str) -> Iterator[tuple[Region, Sequence[str] | None]]:
    """Yield the regions of a merge by line with their merged text, or None for a conflict."""
    fence = ""
    for region in three_way(_lines(base), _lines(ours), _lines(theirs)):
        if region.kind == "conflict":
            sides = (region.base, region.ours, region.theirs)
            is_code = fence or any(fence_after("", (line,)) for side in sides for line in side)
            joined = None if is_code else _joined_whole(*map("".join, sides))
            yield region, None if joined is None else [joined]
        else:
            yield region, region.taken
        fence = fence_after(fence, region.taken)


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _joined_whole(base: str, ours: str, theirs: str) -> str | None:
    """Merge three sides by sentence and word. Return None for a conflict.

    A result with a word that no side has, or with a table whose rows have different lengths, is also a conflict.
    """
    joined = _joined((_sentences, _words), base, ours, theirs)
    if joined is None or not {*joined.split()} <= {*base.split(), *ours.split(), *theirs.split()}:
        return None
    is_ragged = len(_widths(ours)) < 2 and len(_widths(theirs)) < 2 and len(_widths(joined)) > 1
    return None if is_ragged else joined


def _widths(text: str) -> set[int]:
    """Return the numbers of cells in the table rows of a text."""
    return {len(_cells(line.strip().strip("|"))) for line in text.splitlines() if line.lstrip().startswith("|")}


def _joined(grains: Sequence[Callable[[str], list[str]]], base: str, ours: str, theirs: str) -> str | None:
    """Merge three sides by sentences or words.

    Return None if both sides changed the same sentence or word, or if one side rewrote most of a sentence.
    """
    if ours.split() == theirs.split():
        return ours
    split, *finer = grains
    if not finer and not (_is_kept(split(base), split(ours)) and _is_kept(split(base), split(theirs))):
        return None
    parts: list[str] = []
    for region in three_way(split(base), split(ours), split(theirs)):
        if region.kind != "conflict":
            parts += region.taken
            continue
        sides = ("".join(side) for side in (region.base, region.ours, region.theirs))
        joined = _joined(finer, *sides) if finer else None
        if joined is None:
            return None
        parts.append(joined)
    return "".join(parts)


def _is_kept(base: Sequence[str], side: Sequence[str]) -> bool:
    """Return whether enough of a sentence is unchanged to merge it by word."""
    characters = sum(len("".join(base[match.before : match.before + match.size])) for match in matches(base, side))
    return characters >= MIN_KEPT * len("".join(base)) > 0


def _marked(ours: Sequence[str], theirs: Sequence[str], our_name: str, their_name: str) -> list[str]:
    """Return both sides between conflict markers; lines that both sides start or end with remain outside."""
    head = _common_length(ours, theirs)
    tail = _common_length(ours[head:][::-1], theirs[head:][::-1])
    our_part, their_part = (side[head : len(side) - tail] for side in (ours, theirs))
    return [
        *ours[:head],
        *(
            f"{CONFLICT_START} {our_name}\n",
            _with_line_end(our_part),
            f"{CONFLICT_DIVIDER}\n",
            _with_line_end(their_part),
            f"{CONFLICT_END} {their_name}\n",
        ),
        *ours[len(ours) - tail :],
    ]


def _common_length(ours: Sequence[str], theirs: Sequence[str]) -> int:
    """Return the number of lines that both sides start with."""
    pairs = zip(ours, theirs, strict=False)
    return next(
        (number for number, (our_item, their_item) in enumerate(pairs) if our_item != their_item),
        min(len(ours), len(theirs)),
    )


def _with_line_end(lines: Sequence[str]) -> str:
    text = "".join(lines)
    return text if not text or text.endswith("\n") else text + "\n"
