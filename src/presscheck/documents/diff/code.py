"""Highlighted lines of code in a diff, with changed words marked.

Lines are compared as text, never by their colours: an added quotation mark recolours everything after it although one
character changed. A diff colour wins over a syntax colour.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from rich.cells import cell_len

from presscheck.documents.diff.block_pairs import SegmentPair
from presscheck.documents.diff.inline_marks import StyledToken, is_rewritten, one_side, styled_tokens, token_runs
from presscheck.documents.diff.segments import Segment
from presscheck.documents.diff.word_diff import Run, RunKind
from presscheck.documents.terminal.code import highlight, split_spans
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, pad, plain, split_cells

MAX_HIGHLIGHTED = 100_000
"""Characters of code that are highlighted in one diff (20 ms); code beyond has one colour."""
_OF_DIFFERENCES = frozenset(("code added", "code removed"))
"""Colours of code in the language diff; here they would look like changes."""


class _Block(NamedTuple):
    """A code block; it is highlighted as a whole, because comments and strings span lines."""

    language: str
    lines: list[Segment]


class CodeBlocks:
    """The code blocks of two texts, highlighted on demand."""

    def __init__(self, paired: Iterable[SegmentPair]) -> None:
        self._blocks: dict[tuple[str, int], _Block] = {}
        self._languages: dict[tuple[str, int], str] = {}
        self._coloured: dict[tuple[str, int], Sequence[Line]] = {}
        self._known: dict[tuple[str, str], Sequence[Line]] = {}
        self._left = MAX_HIGHLIGHTED
        for pair in paired:
            if (pair.after or pair.before or _NO_PIECE).kind in ("fence", "code"):
                for side, piece in (("before", pair.before), ("after", pair.after)):
                    if piece:
                        self._take(side, piece)

    def line(self, pair: SegmentPair, segment: Segment) -> Line:
        """Returns a highlighted line of code."""
        key = "before" if segment is pair.before else "after", segment.opener
        block = self._blocks[key]
        if key not in self._coloured:
            self._coloured[key] = self._in_colours(block)
        lines = self._coloured[key]
        return lines[segment.line - block.lines[0].line] if lines else (Span(sanitize(segment.text), "code"),)

    def _take(self, side: str, piece: Segment) -> None:
        if piece.kind == "fence":
            self._languages[side, piece.line] = language_of(piece).lower()
        elif (side, piece.opener) in self._blocks:
            self._blocks[side, piece.opener].lines.append(piece)
        else:
            self._blocks[side, piece.opener] = _Block(self._languages.get((side, piece.line - 1), ""), [piece])

    def _in_colours(self, block: _Block) -> Sequence[Line]:
        """Returns the highlighted lines of a block, cached for both sides; none beyond the limit."""
        size = sum(len(line.text) + 1 for line in block.lines) if block.language else 0
        if not 0 < size <= self._left:
            return ()
        text = block.language, "\n".join(sanitize(line.text) for line in block.lines)
        if text not in self._known:
            self._left -= size
            self._known[text] = [tuple(map(_plainer, line)) for line in highlight(text[1], block.language)]
        return self._known[text]


_NO_PIECE = Segment("", "", 0)


def _plainer(span: Span) -> Span:
    return span._replace(style="code") if span.style in _OF_DIFFERENCES else span


def language_of(fence: Segment) -> str:
    """Returns the language that a fence names."""
    return sanitize(fence.mark.partition(" ")[0])


def mark_line_changes(segment: Segment, lines: tuple[Line, Line], ground: str = "") -> tuple[tuple[Line, Line], bool]:
    """Marks changed words in an old and a new line; also returns whether hardly any word stayed.

    Args:
        piece: the segment of the lines.
        lines: the old line and the new line.
        ground: the style of old words without one, outside of code.
    """
    if segment.kind != "code":
        runs = token_runs(*map(styled_tokens, lines))
        return (one_side(runs, "removed", ground), one_side(runs, "added")), is_rewritten(runs)
    runs = token_runs(*(styled_tokens([Span(plain(line), "code")]) for line in lines))
    return (_side(runs, "removed", lines[0]), _side(runs, "added", lines[1])), is_rewritten(runs)


def _side(runs: Iterable[Run[StyledToken]], side: RunKind, line: Line) -> Line:
    """Returns one side of code: diff colours for changed words, syntax colours for the others."""
    spans: list[Span] = []
    rest: Sequence[Span] = line
    for span in one_side(runs, side, "code"):
        same, rest = split_spans(rest, len(span.text))
        spans += same if span.style == "code" else [span]
    return tuple(spans)


def wrap_code(line: Line, columns: int) -> list[Line]:
    """Wraps a line of code to lines of exactly this many cells."""
    return [pad(part, columns, "code") for part in _by_cell(line, columns)]


def _by_cell(line: Line, columns: int) -> Iterator[Line]:
    row: list[Span] = []
    left = max(columns, 2)
    for span in line:
        rest = span.text
        while rest:
            head, rest = split_cells(rest, left)
            if head:
                row.append(span._replace(text=head))
                left -= cell_len(head)
            if rest:
                yield tuple(row)
                row, left = [], max(columns, 2)
    yield tuple(row)
