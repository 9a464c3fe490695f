"""Matches two sequences: items that are unique on both sides are anchors; the gaps between anchors are searched.

The time is bounded for all inputs: a gap with many equal items is searched with a bit-parallel LCS algorithm.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple, TypeVar

Item = TypeVar("Item", bound=Hashable)

MAX_PAIRS = 100_000
"""Maximum number of pairs of equal items in a gap that is searched with `difflib`."""
MAX_BITS = 100_000_000
"""Maximum size of a gap that is searched at all, as the product of its sides; in larger gaps nothing matches."""


class Match(NamedTuple):
    """A run of equal items: its start on each side, and its size."""

    before: int
    after: int
    size: int


def matches(before: Sequence[Item], after: Sequence[Item]) -> list[Match]:
    """Return the runs of equal items in order, with adjacent runs joined."""
    runs: list[Match] = []
    for match in _matches(before, after):
        last = runs[-1] if runs else None
        if last and (last.before + last.size, last.after + last.size) == (match.before, match.after):
            runs[-1] = Match(last.before, last.after, last.size + match.size)
        else:
            runs.append(match)
    return runs


class Gap(NamedTuple):
    """The items between two runs of equal items; one side may be empty."""

    before: range
    after: range


def gaps(before: Sequence[Item], after: Sequence[Item]) -> Iterator[Match | Gap]:
    """Yield the runs of equal items and the gaps between them."""
    at, to = 0, 0
    for match in [*matches(before, after), Match(len(before), len(after), 0)]:
        if at < match.before or to < match.after:
            yield Gap(range(at, match.before), range(to, match.after))
        if match.size:
            yield match
        at, to = match.before + match.size, match.after + match.size


def _matches(before: Sequence[Item], after: Sequence[Item]) -> Iterator[Match]:
    stack = [(0, len(before), 0, len(after))]
    while stack:
        at, end, to, stop = stack.pop()
        head = 0
        while at + head < end and to + head < stop and before[at + head] == after[to + head]:
            head += 1
        if head:
            yield Match(at, to, head)
            at, to = at + head, to + head
        tail = 0
        while at < end - tail and to < stop - tail and before[end - tail - 1] == after[stop - tail - 1]:
            tail += 1
        if tail:
            # processed again, as a common prefix, after the items before it
            stack.append((end - tail, end, stop - tail, stop))
            end, stop = end - tail, stop - tail
        if at == end or to == stop:
            continue
        anchors = _anchors(before, after, range(at, end), range(to, stop))
        if anchors:
            edges = [(at, to), *anchors, (end, stop)]
            stack += [(a, b, c, d) for (a, c), (b, d) in reversed([*pairwise(edges)])]
        else:
            yield from _search_gap(before[at:end], after[to:stop], at, to)


def _anchors(before: Sequence[Item], after: Sequence[Item], of_before: range, of_after: range) -> list[tuple[int, int]]:
    """Return the items that are unique on both sides, as pairs of indices.

    Only the longest list of pairs that is in order on both sides is returned.
    """
    counted = Counter(before[n] for n in of_before)
    places = {after[n]: n for n in of_after}
    counts_after = Counter(after[n] for n in of_after)
    pairs = [(n, places[before[n]]) for n in of_before if counted[before[n]] == 1 and counts_after.get(before[n]) == 1]
    return [pairs[number] for number in longest_increasing_subsequence([place for _, place in pairs])]


def longest_increasing_subsequence(numbers: Sequence[int]) -> list[int]:
    """Return the indices of one longest increasing subsequence."""
    ends: list[int] = []
    last: list[int] = []
    earlier: list[int] = []
    for place, number in enumerate(numbers):
        at = bisect_left(ends, number)
        earlier.append(last[at - 1] if at else -1)
        ends[at : at + 1], last[at : at + 1] = [number], [place]
    run: list[int] = []
    step = last[-1] if last else -1
    while step >= 0:
        run.append(step)
        step = earlier[step]
    return run[::-1]


def _search_gap(before: Sequence[Item], after: Sequence[Item], at: int, to: int) -> Iterator[Match]:
    counted, counts_after = Counter(before), Counter(after)
    pairs = sum(number * counts_after.get(item, 0) for item, number in counted.items())
    if not pairs:
        return
    if pairs <= MAX_PAIRS:
        for match in SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks():
            if match.size:
                yield Match(at + match.a, to + match.b, match.size)
    elif len(before) * len(after) <= MAX_BITS:
        for a, b in _longest_common(before, after):
            yield Match(at + a, to + b, 1)


def _longest_common(before: Sequence[Item], after: Sequence[Item]) -> list[tuple[int, int]]:
    """Return the pairs of a longest common subsequence, after H. Hyyrö, "Bit-parallel LCS-length computation" (2004).

    An integer represents a row of the usual table: bit `i` is 0 where the length grows at `before[i]`. The pairs are
    then traced back through the rows. Ten thousand items on each side take 50 ms.
    """
    places: dict[Item, int] = defaultdict(int)
    for number, item in enumerate(before):
        places[item] |= 1 << number
    all_ones = (1 << len(before)) - 1
    rows, row = list[int](), all_ones
    for item in after:
        equal = row & places.get(item, 0)
        row = ((row + equal) | (row - equal)) & all_ones
        rows.append(row)
    pairs: list[tuple[int, int]] = []
    a, b = len(before) - 1, len(after) - 1
    while a >= 0 and b >= 0:
        if rows[b] >> a & 1:
            a -= 1
        elif b and not rows[b - 1] >> a & 1:
            b -= 1
        else:
            pairs.append((a, b))
            a, b = a - 1, b - 1
    return pairs[::-1]
