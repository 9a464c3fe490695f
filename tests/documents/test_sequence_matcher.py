from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product
from time import thread_time

import pytest
from tests.table import each_case, each_row

from presscheck.documents.diff import sequence_matcher
from presscheck.documents.diff.sequence_matcher import Gap, Match, gaps, longest_increasing_subsequence, matches


def check(before: Sequence[int], after: Sequence[int]) -> int:
    at = to = 0
    found = matches(before, after)
    for match in found:
        assert match.before >= at
        assert match.after >= to
        assert match.size > 0
        at, to = match.before + match.size, match.after + match.size
        assert before[match.before : at] == after[match.after : to]
    return sum(match.size for match in found)


def test_unique_items_are_anchors() -> None:
    assert matches("-a-b-c-", "-x-b-y-") == [Match(0, 0, 1), Match(2, 2, 3), Match(6, 6, 1)]
    assert matches("abc", "abc") == [Match(0, 0, 3)]
    assert matches("", "abc") == []


def test_moved_item_does_not_break_other_matches() -> None:
    assert sum(one.size for one in matches("xabcdefgh", "abcdefghx")) == 8


@each_row((f"seed {seed}", seed) for seed in range(300))
def test_random_sequences(seed: int) -> None:
    rand = random.Random(seed)
    letters = rand.choice([2, 5, 50])
    before = [rand.randrange(letters) for _ in range(rand.randint(0, 40))]
    after = [one for one in before if rand.random() < 0.8] if seed % 2 else [*before[10:], 99, *before[:10]]
    check(before, after)
    rebuilt: list[int] = []
    for part in gaps(before, after):
        if isinstance(part, Gap):
            assert part.before or part.after
        places = range(part.after, part.after + part.size) if isinstance(part, Match) else part.after
        rebuilt += [after[n] for n in places]
    assert rebuilt == after


@pytest.mark.parametrize("seed", range(50))
def test_gaps_with_many_equal_items_keep_as_many_as_possible(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sequence_matcher, "MAX_PAIRS", 0)
    rand = random.Random(seed)
    before, after = ([rand.choice("abc") for _ in range(rand.randint(0, 40))] for _ in range(2))
    most = [[0] * (len(after) + 1) for _ in range(len(before) + 1)]
    for a, b in product(range(len(before)), range(len(after))):
        most[a + 1][b + 1] = most[a][b] + 1 if before[a] == after[b] else max(most[a][b + 1], most[a + 1][b])
    assert sum(match.size for match in matches(before, after)) == most[-1][-1]


@each_case("letters", [1, 2, 3, 10, 100])
@each_case("size", [450, 5_000, 60_000])
def test_time_is_bounded_for_repeated_items(letters: int, size: int) -> None:
    rand = random.Random(letters)
    before, after = ([rand.randrange(letters) for _ in range(size)] for _ in range(2))
    started = thread_time()
    kept = check(before, after)
    assert thread_time() - started < 1
    assert kept > size / 50 or size > 10_000


def test_longest_increasing_subsequence() -> None:
    assert longest_increasing_subsequence([5, 1, 2, 9, 3]) == [1, 2, 4]
    assert longest_increasing_subsequence([]) == []
