"""Styled text measured in terminal cells: a line is a tuple of spans.

A style consists of words separated by spaces (`strong link`, `hint-info`). The words name a meaning; a theme defines
their appearance. Only pictures have colors as styles (`#9a4f1b`, `on#ffffff`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from rich.cells import cell_len, get_character_cell_size, set_cell_size, split_graphemes

ELLIPSIS = "…"
_WORDS = (
    "text quiet accent link added removed waiting heading title strong emphasis strike underline code keyword string "
    "comment number you error hint-info hint-success hint-warning hint-danger mark cursor"
)
STYLES = frozenset(_WORDS.split())
"""Every word that a style may contain."""
_WIDE = "\u2e80-\u2fff\u3041-\u9fff\uf900-\ufaff\uff21-\uff3a\uff41-\uff5a"
_CLOSING = "、。，．！？：；）」』】〉》’”…ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ"


@cache
def _wide() -> re.Pattern[str]:
    """Return the pattern of a wide character. Compiling takes 3 ms."""
    return re.compile(f"[{_WIDE}]")


@cache
def _pattern() -> re.Pattern[str]:
    """Return the pattern of the pieces of a text between which a line may break.

    Compiling takes 4 ms, so the pattern is only compiled at its first use.
    """
    return re.compile(rf" +|\n|[{_WIDE}][{_CLOSING}\u0300-\u036f\u3099\u309a]*|[^ \n{_WIDE}]+")


class Span(NamedTuple):
    """Text in one style, with a target if it is a link."""

    text: str
    style: str = ""
    link: str | None = None


Line = tuple[Span, ...]
"""One line of a terminal."""


BREAK = Span("\n")
"""A span that ends the line."""


def width(line: Line) -> int:
    """Return the width of a line in cells."""
    # a list, not a generator, for speed: this runs for every line that is drawn
    return sum([cell_len(text) for text, _, _ in line])


def plain(line: Line) -> str:
    """Return the text of a line without styles."""
    return "".join(span.text for span in line)


def span_at(line: Line, column: int) -> tuple[Span, str] | None:
    """Return the span at a column (from 0) and the character at this column, or None past the end of the line."""
    for span in line:
        if 0 <= column < cell_len(span.text):
            rest = split_cells(span.text, column)[1]
            return span, rest[:1]
        column -= cell_len(span.text)
    return None


def cut(line: Line, columns: int, ellipsis: str = ELLIPSIS) -> Line:
    """Truncate a line to `columns` cells, with an ellipsis. Wide characters are never halved."""
    if width(line) <= columns:
        return line
    columns_left = columns - cell_len(ellipsis)
    if columns_left < 0:
        return (Span(set_cell_size(ellipsis, columns)),) if columns > 0 else ()
    spans: list[Span] = []
    for span in line:
        size = cell_len(span.text)
        if size > columns_left:
            # a blank replaces a wide character that would be halved
            spans.append(span._replace(text=set_cell_size(span.text, columns_left) + ellipsis))
            break
        spans.append(span)
        columns_left -= size
    return tuple(spans)


def cut_middle(text: str, columns: int, ellipsis: str = ELLIPSIS) -> str:
    """Shorten a text to `columns` cells by cutting out its middle: `ada.love…@acme.example`."""
    if cell_len(text) <= columns:
        return text
    columns_left = columns - cell_len(ellipsis)
    if columns_left < 0:
        return set_cell_size(ellipsis, max(0, columns))
    head = split_cells(text, columns_left // 2)[0]
    tail = text[len(head) :]
    while tail and (cell_len(tail) > columns_left - cell_len(head) or not get_character_cell_size(tail[0])):
        tail = tail[1:]
    return f"{head}{ellipsis}{tail}"


def pad(line: Line, columns: int, style: str = "") -> Line:
    """Pad or truncate a line to exactly `columns` cells."""
    missing = columns - width(line)
    if missing < 0:
        return pad(cut(line, columns), columns, style)
    return (*line, Span(" " * missing, style)) if missing else line


def join_fitting(texts: Sequence[str], columns: int) -> str:
    """Join as many texts as fit, and count the others: `Tokens, Errors and 3 more`.

    The first text is always included, and truncated if necessary.
    """
    for number in range(len(texts), 1, -1):
        joined = ", ".join(texts[:number]) + _more(len(texts) - number)
        if width((Span(joined),)) <= columns:
            return joined
    more = _more(len(texts) - 1)
    return plain(cut((Span(texts[0]),), columns - len(more))) + more if texts else ""


def _more(number: int) -> str:
    return f" and {number:,} more" if number > 0 else ""


def wrap(runs: Iterable[Span], columns: int, *, keeps_blanks: bool = False) -> list[Line]:
    """Wrap the spans in `runs` to lines of at most `columns` cells. A line feed in a text ends a line.

    Blanks at the start are dropped and others joined, unless `keeps_blanks`, as for source text.
    """
    wrapper = _LineWrapper(max(columns, 1), keeps_blanks=keeps_blanks)
    for text, style, link in runs:
        if text == " " or text.isspace():
            wrapper.blank(text, style, link)
            continue
        for piece in _pattern().findall(text):
            if piece[0] in " \n":
                wrapper.blank(piece, style, link)
            elif _wide().match(piece):
                wrapper.end_word()
                wrapper.add(piece, style, link)
                wrapper.end_word()
            else:
                wrapper.add(piece, style, link)
    return wrapper.finish()


def split_cells(text: str, columns: int) -> tuple[str, str]:
    """Split a text after at most `columns` cells; wide characters, joined emoji and combined marks stay whole."""
    if text.isascii():
        return text[:columns], text[columns:]
    used = 0
    for start, _, size in split_graphemes(text)[0]:
        used += size
        if used > columns:
            return text[:start], text[start:]
    return text, ""


def with_prefix(lines: Sequence[Line], first: Sequence[Span], rest: Sequence[Span]) -> list[Line]:
    """Return the lines with prefixes: `first` for the first line, `rest` for the others."""
    before, others = tuple(first), tuple(rest)
    return [(before if number == 0 else others) + line for number, line in enumerate(lines)]


def remaining_cells(columns: int, before: int, least: int = 8) -> int | None:
    """Return the number of cells after a prefix of `before` cells, or None if fewer than `least` remain."""
    columns_left = columns - before
    return columns_left if columns_left >= least else None


class _LineWrapper:
    def __init__(self, columns: int, *, keeps_blanks: bool) -> None:
        self.columns, self.keeps_blanks = columns, keeps_blanks
        self.lines: list[Line] = []
        self.line: list[Span] = []
        self.used = 0
        self.gap: Span | None = None
        self.word: list[Span] = []
        self.size = 0

    def add(self, text: str, style: str, link: str | None) -> None:
        self.word.append(Span(text, style, link))
        self.size += cell_len(text)

    def blank(self, text: str, style: str, link: str | None) -> None:
        self.end_word()
        if "\n" in text:
            self.end_line()
        elif self.line:
            before = self.gap.text if self.gap else ""
            self.gap = Span(before + text if self.keeps_blanks else " ", style, link)
        elif self.keeps_blanks:
            self.add(text, style, link)
            self.end_word()

    def end_word(self) -> None:
        if not self.word:
            return
        word, size = self.word, self.size
        gap = cell_len(self.gap.text) if self.gap else 0
        self.word, self.size = [], 0
        if self.used + gap + size > self.columns and self.line:
            self.end_line()
        elif self.gap:
            self._append(self.gap, gap)
        self.gap = None
        if size > self.columns:
            self._break(word)
            return
        for span in word:
            self._append(span, 0)
        self.used += size

    def _append(self, span: Span, size: int) -> None:
        self.used += size
        last = self.line[-1] if self.line else None
        if last and last.style == span.style and last.link == span.link:
            self.line[-1] = Span(last.text + span.text, span.style, span.link)
        else:
            self.line.append(span)

    def _break(self, word: Sequence[Span]) -> None:
        """Break a word that is longer than a line."""
        for span in word:
            rest = span.text
            while rest:
                head, rest = split_cells(rest, self.columns - self.used)
                if not head and not self.line:
                    # not even one character fits
                    head, rest = "…", rest[1:]
                if head:
                    self._append(Span(head, span.style, span.link), cell_len(head))
                if rest:
                    self.end_line()

    def end_line(self) -> None:
        self.lines.append(tuple(self.line))
        self.line, self.used, self.gap = [], 0, None

    def finish(self) -> list[Line]:
        self.end_word()
        if self.line:
            self.end_line()
        return self.lines


def widest(lines: Iterable[Line]) -> int:
    """Return the width of the widest line."""
    return max(map(width, lines), default=0)
