"""A diff for screen readers: each block is one line, with words instead of marks and colors.

A changed block is read once, with its removed and added words in brackets: `changed: lasts [removed: 30] [added: 90]
days`. The text is Markdown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from presscheck.documents.diff.block_pairs import SegmentPair
from presscheck.documents.diff.page_diff import CONTEXT, PageDifference
from presscheck.documents.diff.word_diff import Token, tokenize, word_runs

_SILENT = frozenset(("align",))
"""Kinds of segments that are not read aloud: the delimiter row of a table."""


@dataclass(frozen=True)
class SpokenLine:
    """A line of the diff.

    Attributes:
        number: the number of its block in the whole diff, from 1; 0 for a note.
        text: the line.
        pair: the block; None for a note.
        is_change: whether the block is a change.
    """

    number: int
    text: str
    pair: SegmentPair | None = None
    is_change: bool = False


def spoken_lines(difference: PageDifference, *, context: int | None = CONTEXT) -> tuple[SpokenLine, ...]:
    """Return a diff as lines to read aloud.

    Args:
        difference: the compared texts.
        context: number of unchanged blocks around a change; a note replaces the others. None keeps all blocks.
    """
    pairs = [pair for pair in difference.blocks if (pair.after or pair.before) and _kind_of(pair) not in _SILENT]
    lines = [
        SpokenLine(number, _spoken(pair), pair, is_change=pair.kind != "same") for number, pair in enumerate(pairs, 1)
    ]
    return tuple(lines if context is None else _near_changes(lines, context))


def _near_changes(lines: Sequence[SpokenLine], context: int) -> Iterator[SpokenLine]:
    near = {
        index
        for at, line in enumerate(lines)
        if line.is_change
        for index in range(max(at - context, 0), at + context + 1)
    }
    left_out = 0
    for index, line in enumerate(lines):
        if index not in near:
            left_out += 1
            continue
        if left_out:
            yield _note(left_out)
        left_out = 0
        yield line
    if left_out:
        yield _note(left_out)


def _note(number: int) -> SpokenLine:
    return SpokenLine(0, f"{number:,} unchanged {'line' if number == 1 else 'lines'} left out")


def _kind_of(pair: SegmentPair) -> str:
    segment = pair.after or pair.before
    return segment.kind if segment else ""


def _spoken(pair: SegmentPair) -> str:
    before, after = pair.before.text if pair.before else "", pair.after.text if pair.after else ""
    if pair.kind == "changed":
        return f"changed: {_words(before, after)}"
    if pair.kind == "moved":
        # a moved block has two places; only the new one has the new text
        return f"moved here: {after}" if pair.after else f"moved away: {before}"
    if pair.kind in ("added", "removed"):
        return f"{pair.kind}: {after or before}"
    return after


def _words(before: str, after: str) -> str:
    runs = word_runs(tokenize(before), tokenize(after), lambda token: token.text, lambda token: len(token.text))
    parts = [
        _text(run.tokens) if run.kind == "same" else f"{run.tokens[0].blank}[{run.kind}: {_text(run.tokens).strip()}]"
        for run in runs
        if run.kind == "same" or _text(run.tokens).strip()
    ]
    # a removed and an added run follow each other without a blank if only their words differ
    return "".join(parts).replace("][", "] [").strip()


def _text(tokens: Sequence[Token]) -> str:
    return "".join(f"{token.blank}{token.text}" for token in tokens)
