"""A page as a list of named pieces, so that a page that fails a test can be made smaller piece by piece."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

Item = TypeVar("Item")


class Chance:
    """Random choices that are the same for a seed on every version of Python: only `random()` is promised to be."""

    def __init__(self, seed: int | str) -> None:
        self._random = random.Random(str(seed)).random

    def below(self, count: int) -> int:
        """A number from 0 to `count` - 1."""
        return int(self._random() * count)

    def between(self, least: int, most: int) -> int:
        """A number, both ends included."""
        return least + self.below(most - least + 1)

    def choice(self, items: Sequence[Item]) -> Item:
        """One of the items."""
        return items[self.below(len(items))]

    def share(self, part: float) -> bool:
        """Whether something that happens so often happens."""
        return self._random() < part

    def shuffled(self, items: Iterable[Item]) -> list[Item]:
        """The items in another order."""
        left = list(items)
        return [left.pop(self.below(len(left))) for _ in range(len(left))]


@dataclass(frozen=True)
class Piece:
    """A block of a page. One that holds others has an end or an indent; `text` is then its beginning."""

    name: str
    text: str
    pieces: tuple[Piece, ...] = ()
    end: str = ""
    indent: str = ""
    """What stands before each line that the piece holds."""
    gap: str = "\n"
    """What stands between its beginning, what it holds, and its end."""

    @property
    def markdown(self) -> str:
        """The block as it is written."""
        if not self.pieces:
            return self.gap.join(part for part in (self.text, self.end) if part)
        inner = page_text(self.pieces)
        if self.indent:
            inner = "\n".join(f"{self.indent}{line}".rstrip() for line in inner.split("\n"))
        return self.gap.join(part for part in (self.text, inner, self.end) if part)


def page_text(pieces: Iterable[Piece]) -> str:
    """The pieces as blocks of a page, without a last line end."""
    return "\n\n".join(piece.markdown for piece in pieces)


def pieces_of(text: str) -> tuple[Piece, ...]:
    """A text that somebody wrote, as pieces: what stands between blank lines."""
    return tuple(Piece(part.strip()[:20], part) for part in text.split("\n\n"))


def all_pieces(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Every piece, with those that it holds behind it."""
    for piece in pieces:
        yield piece
        yield from all_pieces(piece.pieces)


Fails = Callable[[tuple[Piece, ...]], bool]


def smallest(pieces: Sequence[Piece], fails: Fails) -> tuple[Piece, ...]:
    """The fewest pieces that still fail: leaves out runs of them, then what is around others, then what they hold."""
    current = tuple(pieces)
    while True:
        smaller = next((candidate for candidate in _smaller(current) if fails(candidate)), None)
        if smaller is None:
            return current
        current = smaller


def _smaller(pieces: tuple[Piece, ...]) -> Iterator[tuple[Piece, ...]]:
    length = len(pieces)
    run = length // 2
    while run:
        for start in range(0, length, run):
            yield (*pieces[:start], *pieces[start + run :])
        run //= 2
    for number, piece in enumerate(pieces):
        before, after = pieces[:number], pieces[number + 1 :]
        if piece.pieces:
            yield (*before, *piece.pieces, *after)
            for inner in _smaller(piece.pieces):
                if inner:
                    yield (*before, replace(piece, pieces=inner), *after)
        else:
            for text in _shorter(piece.text):
                yield (*before, replace(piece, text=text), *after)


def _shorter(text: str) -> Iterator[str]:
    """A text without some of its lines."""
    lines = text.split("\n")
    run = len(lines) // 2
    while run and len(lines) < 400:
        for start in range(0, len(lines), run):
            yield "\n".join((*lines[:start], *lines[start + run :]))
        run //= 2
