"""What changed between two texts of a page, line by line and word by word within a line, and how that is shown.

Nothing is left out but what a reader asks to fold; every shown line knows which line of the new text it stands for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

from rich.cells import cell_len, set_cell_size

from presscheck.documents.display_text import display_text
from presscheck.documents.spans import Line, Span

Kind = Literal["same", "added", "removed", "changed"]
ALIKE = 0.4
"""From this likeness on two lines are one line that was changed."""
_MARKS = {"same": ("  ", ""), "added": ("+ ", "added"), "removed": ("− ", "removed"), "changed": ("± ", "waiting")}
_words = re.compile(r"\s+|\w+|[^\w\s]").findall
_is_word = re.compile(r"\w").search


class Piece(NamedTuple):
    """A line of the comparison: what became of it, its words, and its number in the new text."""

    kind: Kind
    words: Line
    line: int | None


@dataclass(frozen=True)
class PageDifference:
    """Two texts compared; how many words were added and removed."""

    pieces: tuple[Piece, ...]
    added: int
    removed: int


@dataclass(frozen=True)
class DifferenceLines:
    """Lines for a terminal; where changes begin; for each line the number of its line in the new text."""

    lines: tuple[Line, ...]
    changes: tuple[int, ...]
    anchors: tuple[int | None, ...]


def compare(before: str, after: str) -> PageDifference:
    """Compare two texts."""
    old, new = before.rstrip("\n").split("\n"), after.rstrip("\n").split("\n")
    old, new = ([] if side == [""] else side for side in (old, new))
    pieces = tuple(_pieces(old, new))
    added = sum(_count(piece, "added") for piece in pieces)
    return PageDifference(pieces, added, sum(_count(piece, "removed") for piece in pieces))


def difference_lines(difference: PageDifference, width: int, *, context: int | None = None) -> DifferenceLines:
    """The comparison in so many columns; `context` folds what is farther from a change than so many lines."""
    lines: list[Line] = []
    changes: list[int] = []
    anchors: list[int | None] = []
    shown = _shown(difference.pieces, context)
    folded, was_same = 0, True
    for number, piece in enumerate(difference.pieces):
        if not shown[number]:
            folded += 1
            continue
        if folded:
            lines.append((Span(f"  ⋯ {folded} unchanged lines", "quiet"),))
            anchors.append(None)
            folded = 0
        if piece.kind != "same" and was_same:
            changes.append(len(lines))
        was_same = piece.kind == "same"
        mark, style = _MARKS[piece.kind]
        for wrapped in wrap(piece.words, width - 2):
            lines.append((Span(mark, style), *wrapped))
            anchors.append(piece.line)
    if folded:
        lines.append((Span(f"  ⋯ {folded} unchanged lines", "quiet"),))
        anchors.append(None)
    return DifferenceLines(tuple(lines), tuple(changes), tuple(anchors))


def wrap(line: Line, columns: int) -> list[Line]:
    """A line in lines of at most so many cells, broken between words where that can be."""
    columns = max(columns, 1)
    done: list[Line] = []
    row: list[Span] = []
    used = 0
    for span in line:
        for word in re.findall(r"\s+|\S+", span.text):
            rest = word
            while used + cell_len(rest) > columns:
                if row and cell_len(rest) <= columns:
                    done.append(tuple(row))
                    row, used = [], 0
                    rest = rest.lstrip()
                    continue
                head = set_cell_size(rest, columns - used).rstrip() if columns > used else ""
                if head:
                    row.append(Span(head, span.style, span.link))
                elif not row:
                    head = rest[:1]
                    row.append(Span(head, span.style, span.link))
                done.append(tuple(row))
                row, used, rest = [], 0, rest[len(head) :]
            if rest:
                row.append(Span(rest, span.style, span.link))
                used += cell_len(rest)
    return [*done, tuple(row)] if row or not done else done


def _pieces(old: Sequence[str], new: Sequence[str]) -> Iterator[Piece]:
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            for line in range(j1, j2):
                yield Piece("same", _whole(new[line], ""), line)
        else:
            yield from _replaced(old[i1:i2], new[j1:j2], j1)


def _replaced(old: Sequence[str], new: Sequence[str], first: int) -> Iterator[Piece]:
    at = 0
    for line in old:
        found = next((n for n in range(at, len(new)) if _likeness(line, new[n]) >= ALIKE), None)
        if found is None:
            yield Piece("removed", _whole(line, "removed strike"), None)
            continue
        for number in range(at, found):
            yield Piece("added", _whole(new[number], "added"), first + number)
        yield Piece("changed", _by_word(line, new[found]), first + found)
        at = found + 1
    for number in range(at, len(new)):
        yield Piece("added", _whole(new[number], "added"), first + number)


def _likeness(one: str, other: str) -> float:
    if not one.strip() or not other.strip():
        return 0.0
    return SequenceMatcher(None, _words(one), _words(other), autojunk=False).ratio()


def _by_word(old: str, new: str) -> Line:
    before, after = _words(old), _words(new)
    spans: list[Span] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            spans.append(Span(display_text("".join(after[j1:j2]))))
            continue
        if i2 > i1:
            spans.append(Span(display_text("".join(before[i1:i2])), "removed strike"))
        if j2 > j1:
            if i2 > i1 and not before[i2 - 1].isspace():
                spans.append(Span(" "))
            spans.append(Span(display_text("".join(after[j1:j2])), "added underline"))
    return tuple(spans)


def _whole(line: str, style: str) -> Line:
    heading = "heading" if line.startswith("#") and not style else style
    return (Span(display_text(line), heading),) if line else ()


def _count(piece: Piece, word: str) -> int:
    return sum(
        len([one for one in _words(span.text) if _is_word(one)]) for span in piece.words if word in span.style.split()
    )


def _shown(pieces: Sequence[Piece], context: int | None) -> list[bool]:
    if context is None:
        return [True] * len(pieces)
    shown = [False] * len(pieces)
    for number, piece in enumerate(pieces):
        if piece.kind != "same":
            for near in range(max(0, number - context), min(len(pieces), number + context + 1)):
                shown[near] = True
    return shown
