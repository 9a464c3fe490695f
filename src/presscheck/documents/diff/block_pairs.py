"""Pairs the segments of two texts: unchanged, changed, added, removed or moved.

Equal segments are anchors. Between anchors, the most similar segments are paired first. In a large gap, only segments
that share a rare word are compared, which keeps the time linear.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from presscheck.documents.diff.segments import BY_LINE, Segment, table_cells
from presscheck.documents.diff.sequence_matcher import Gap, gaps
from presscheck.documents.diff.word_diff import word_set

Kind = Literal["same", "added", "removed", "changed", "moved"]

MIN_LIKENESS = 0.5
"""Minimum similarity of two segments to count as one changed segment."""
MIN_LIKENESS_ALONE = 0.25
"""The same if the gap has a single segment on each side, so that there is no other candidate."""
MAX_PAIRS = 400
"""Maximum number of pairs of a gap in which all pairs are compared."""
NEVER_MOVED = BY_LINE | {"row", "align", "tag", "end", "fence"}
"""Kinds of segments that mean little alone and are never reported as moved."""
MIN_WORDS_MOVED = 4
"""Minimum number of words of a moved segment; shorter ones may occur twice by chance."""


class SegmentPair(NamedTuple):
    """A segment of the old text and its counterpart in the new text.

    One of them is None if the segment was added or removed. A moved segment has two pairs: at its old place, `after` is
    None; at its new place, both are set.
    """

    kind: Kind
    before: Segment | None
    after: Segment | None


def pair_segments(before: Sequence[Segment], after: Sequence[Segment]) -> list[SegmentPair]:
    """Pair the segments of two texts, in reading order."""
    pairs: list[SegmentPair] = []
    for part in gaps([segment.key for segment in before], [segment.key for segment in after]):
        if isinstance(part, Gap):
            pairs += _in_gap(before[part.before.start : part.before.stop], after[part.after.start : part.after.stop])
        else:
            pairs += [
                SegmentPair("same", before[part.before + number], after[part.after + number])
                for number in range(part.size)
            ]
    return _with_moves(pairs)


def _in_gap(before: Sequence[Segment], after: Sequence[Segment]) -> Iterator[SegmentPair]:
    at = to = 0
    for old_number, new_number in [*_similar_pairs(before, after), (len(before), len(after))]:
        yield from (SegmentPair("removed", piece, None) for piece in before[at:old_number])
        yield from (SegmentPair("added", None, piece) for piece in after[to:new_number])
        if old_number < len(before):
            yield SegmentPair("changed", before[old_number], after[new_number])
        at, to = old_number + 1, new_number + 1


def _similar_pairs(before: Sequence[Segment], after: Sequence[Segment]) -> list[tuple[int, int]]:
    """Return the indices of the most similar segments, as pairs that are in the same order on both sides."""
    if not before or not after:
        return []
    words = [word_set(piece.text) for piece in before], [word_set(piece.text) for piece in after]
    threshold = MIN_LIKENESS_ALONE if len(before) == len(after) == 1 else MIN_LIKENESS
    scored: list[tuple[float, float, int, int]] = []
    for old_number, new_number in _candidates(*words):
        similarity = _similarity(before[old_number], after[new_number], words[0][old_number], words[1][new_number])
        if similarity >= threshold:
            apart = abs(old_number / len(before) - new_number / len(after))
            scored.append((-similarity, apart, old_number, new_number))
    chosen: list[tuple[int, int]] = []
    for _, _, old_number, new_number in sorted(scored):
        at = bisect_left(chosen, (old_number, new_number))
        below = chosen[at - 1] if at else (-1, -1)
        above = chosen[at] if at < len(chosen) else (len(before), len(after))
        if below[0] < old_number < above[0] and below[1] < new_number < above[1]:
            insort(chosen, (old_number, new_number))
    return chosen


def _candidates(before: Sequence[frozenset[str]], after: Sequence[frozenset[str]]) -> Iterable[tuple[int, int]]:
    """Return the pairs to compare: all pairs of a small gap, otherwise pairs that share rare words.

    A word is rare if at most three segments on each side have it. Each shared rare word is a vote; a segment is
    compared with the three candidates with the most votes, and with the segment at the same relative position.
    """
    if len(before) * len(after) <= MAX_PAIRS:
        return [(old_number, new_number) for old_number in range(len(before)) for new_number in range(len(after))]
    places: tuple[dict[str, list[int]], dict[str, list[int]]] = {}, {}
    for side, of_word in zip((before, after), places, strict=True):
        for number, words in enumerate(side):
            for word in words:
                of_word.setdefault(word, []).append(number)
    votes: list[Counter[int]] = [Counter() for _ in before]
    for word, old_numbers in places[0].items():
        others = places[1].get(word, ())
        if len(old_numbers) <= 3 and len(others) <= 3:
            for old_number in old_numbers:
                votes[old_number].update(others)
    diagonal = [(old_number, old_number * len(after) // len(before)) for old_number in range(len(before))]
    return {
        *diagonal,
        *(
            (old_number, new_number)
            for old_number, counts in enumerate(votes)
            for new_number, _ in counts.most_common(3)
        ),
    }


def _similarity(segment: Segment, other: Segment, words: frozenset[str], other_words: frozenset[str]) -> float:
    """Return the similarity of two segments, from 0 to 1."""
    if segment.kind != other.kind and not {segment.kind, other.kind} <= {"paragraph", "item", "heading"}:
        return 0.0
    both = len(words) + len(other_words)
    alike = 2 * len(words & other_words) / both if both else 0.0
    if segment.kind == "row" and alike < MIN_LIKENESS and table_cells(segment.text)[:1] == table_cells(other.text)[:1]:
        return MIN_LIKENESS
    return alike if segment.kind == other.kind else alike * 0.9


def _with_moves(pairs: list[SegmentPair]) -> list[SegmentPair]:
    """Turn a removed and an added segment with equal text into a move."""
    removed = _movable(pairs, "removed")
    added = _movable(pairs, "added")
    moved = {key: (removed[key], added[key]) for key in removed.keys() & added.keys()}
    for old, new in moved.values():
        piece = pairs[old].before
        pairs[old] = SegmentPair("moved", piece, None)
        pairs[new] = SegmentPair("moved", piece, pairs[new].after)
    return pairs


def _movable(pairs: Sequence[SegmentPair], kind: Kind) -> dict[object, int]:
    """Return the indices of the added or the removed pairs whose segment may have moved, by the key of the segment.

    The segment must be long enough, and the only one of this kind with its key.
    """
    places: dict[object, list[int]] = {}
    for number, pair in enumerate(pairs):
        piece = pair.before or pair.after
        if (
            pair.kind == kind
            and piece
            and piece.kind not in NEVER_MOVED
            and len(word_set(piece.text)) >= MIN_WORDS_MOVED
        ):
            places.setdefault(piece.key, []).append(number)
    return {key: numbers[0] for key, numbers in places.items() if len(numbers) == 1}
