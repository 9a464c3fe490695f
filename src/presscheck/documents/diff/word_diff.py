"""Diffs texts by word into few, readable runs of unchanged, removed and added words.

Blanks belong to the following word, so that rewrapping a text is not a change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Generic, Literal, NamedTuple, TypeVar

from presscheck.documents.diff.sequence_matcher import Match, gaps

T = TypeVar("T")

_IDEOGRAPHS = "\u2e80-\u2fff\u3041-\u9fff\uf900-\ufaff"
_MARKS = "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0e7f\u200c\u200d\ufe00-\ufe0f"
WORD = rf"[^\W{_IDEOGRAPHS}](?:[^\W{_IDEOGRAPHS}]|[{_MARKS}])*|\S[{_MARKS}]*"
"""A word with its combining marks, an ideograph, or a punctuation character."""
_tokens = re.compile(WORD).findall
spaced = re.compile(rf"(\s*)({WORD}|\Z)").findall
"""The tokens of a text as pairs of preceding blanks and word; the last word is empty."""
_is_word = re.compile(r"\w").search

RunKind = Literal["same", "removed", "added"]


class Token(NamedTuple):
    """A word or a punctuation character, and the blanks before it."""

    blank: str
    text: str


class Run(NamedTuple, Generic[T]):
    """Consecutive tokens that are all unchanged, removed or added.

    For unchanged tokens, `old` has the tokens of the old text, which may differ in details that the diff ignores.
    """

    kind: RunKind
    tokens: Sequence[T]
    old: Sequence[T] = ()


def tokenize(text: str) -> list[Token]:
    """Split a text into tokens; trailing blanks become a token without text."""
    return [Token(blank, word) for blank, word in spaced(text) if blank or word]


def word_set(text: str) -> frozenset[str]:
    """Return the distinct words of a text in lower case, or its punctuation if it has no words."""
    tokens = _tokens(text.casefold())
    return frozenset(filter(_is_word, tokens)) or frozenset(tokens)


def count_words(tokens: Iterable[str]) -> int:
    """Count the tokens that are words."""
    return sum(1 for token in tokens if _is_word(token))


def word_count(text: str) -> int:
    """Count the words of a text."""
    return count_words(_tokens(text))


def word_runs(
    before: Sequence[T], after: Sequence[T], key: Callable[[T], Hashable], size: Callable[[T], int]
) -> list[Run[T]]:
    """Diff two sequences of tokens.

    Args:
        before: the old tokens.
        after: the new tokens.
        key: returns equal values for tokens that are the same.
        size: returns the weight of a token. An unchanged run that weighs no more than each of the changes around it
            is merged with them.
    """
    parts = list(gaps([key(word) for word in before], [key(word) for word in after]))
    steps = [
        _Step(range(part.before, part.before + part.size), range(part.after, part.after + part.size), is_same=True)
        if isinstance(part, Match)
        else _Step(part.before, part.after, is_same=False)
        for part in parts
    ]
    return list(_runs(_without_small_runs(steps, before, after, size), before, after))


class _Step(NamedTuple):
    before: range
    after: range
    is_same: bool


def _runs(steps: Iterable[_Step], before: Sequence[T], after: Sequence[T]) -> Iterator[Run[T]]:
    for step in steps:
        new = after[step.after.start : step.after.stop]
        if step.is_same:
            yield Run("same", new, before[step.before.start : step.before.stop])
            continue
        if step.before:
            yield Run("removed", before[step.before.start : step.before.stop])
        if new:
            yield Run("added", new)


def _without_small_runs(
    steps: Sequence[_Step], before: Sequence[T], after: Sequence[T], size: Callable[[T], int]
) -> list[_Step]:
    """Merge small unchanged runs into the changes around them."""
    merged: list[_Step] = []
    weights: list[int] = []
    for step in steps:
        merged.append(step)
        weights.append(max(sum(size(before[n]) for n in step.before), sum(size(after[n]) for n in step.after)))
        while len(merged) > 2 and not step.is_same and weights[-2] <= min(weights[-3], weights[-1]):
            first, last = merged[-3], merged[-1]
            joined = (range(first.before.start, last.before.stop), range(first.after.start, last.after.stop))
            merged[-3:] = [_Step(*joined, is_same=False)]
            weights[-3:] = [sum(weights[-3:])]
    return merged
