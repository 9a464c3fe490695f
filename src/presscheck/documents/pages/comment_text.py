"""What the text of a comment holds besides words: the quote of its place, and a suggestion for it.

Quotes connect a comment thread to its place in a page: a comment starts with a quote of the text it is about. Markdown
blocks have no ids, so the quote is the place: everybody can read it, wherever the comment is shown. The quote of a cell
is the first cell of its row and the cell itself: `Tokens › 90 days`. If the row has the same text twice, the heading of
its column stands in between: `Tokens › Renewed › yes`.

A suggestion is a replacement for a block, which one key applies: a code block of the language `suggestion`, as on
GitHub, readable wherever the comment is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from presscheck.documents.markdown.block_splitter import Block, split_blocks

MAX_QUOTE = 60
"""The longest quote, in characters."""
CELL_SEPARATOR = "›"
"""Separates the first cell of a row from the quoted cell."""
_LEAST = 3
_LEAST_BEGUN = 12
"""Letters that a line needs for a quote to continue in the next one."""
_target = re.compile(r"\]\((?:[^)\s\]]++|\](?!\())*(?:\s++\"[^\"]*+\")?\)|\{%(?:(?!\{%).)*?%\}|<[^<>]*>")
_letters = re.compile(r"\w")
_fenced = re.compile(
    r"^ {0,3}(?P<fence>`{3,})suggestion(?P<info>[ \t]+[^\n`]*)?\n(?P<words>.*?)^ {0,3}(?P=fence)`*[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
_opening = re.compile(r"(?<!`)`{3,}+suggestion(?![^ \t])")
_ticks = re.compile(r"`{3,}")


def quote(words: str) -> str:
    """Returns the quote that starts a comment on a text; empty if the text has no words."""
    flat = _cut(words, MAX_QUOTE)
    return f"> {flat}\n\n" if _letters.search(flat) else ""


def quote_cell(cells: Sequence[str], column: int, headings: Sequence[str] = ()) -> str:
    """Returns the quote that starts a comment on a table cell; empty if neither it nor the first cell has words."""
    head, cell = (_cut(cells[number], MAX_QUOTE // 2) for number in (0, column))
    words = [head, cell if column else ""]
    heading = _cut(headings[column], MAX_QUOTE // 2) if column < len(headings) else ""
    if heading and find_quoted_cell(_joined(words), cells, headings) != column:
        words = [head, heading, cell]
    return f"> {_joined(words)}\n\n" if _letters.search(head) or (column and _letters.search(cell)) else ""


def quote_lines(words: str) -> str:
    """Returns the quote with these words, as a comment that starts with it has it; empty without words."""
    return f"> {words}\n\n" if words else ""


def split_quote(markdown: str) -> tuple[str, str]:
    """Splits a comment into its quote and the rest."""
    lines = markdown.lstrip("\n").split("\n")
    number = 0
    while number < len(lines) and lines[number].startswith(">"):
        number += 1
    quote = " ".join(line.lstrip(">").strip() for line in lines[:number]).strip()
    return quote, "\n".join(lines[number:]).lstrip("\n")


def find_quoted_line(words: str, lines: Iterable[tuple[int, str]]) -> int | None:
    """Returns the first line that starts with the quoted words, else the first that contains them; else None.

    If no line has all words, the longest line that they start with wins: a paragraph may span several lines.
    """
    if CELL_SEPARATOR in words:
        rows = [(number, text) for number, text in lines if "|" in text]
        rest, _, cell = words.rpartition(CELL_SEPARATOR)
        line = _find_row(rows, rest, cell)
        # the heading of the column may stand in between
        return _find_row(rows, rest.rpartition(CELL_SEPARATOR)[0], cell) if line is None else line
    wanted = normalize_text(words)
    if len(wanted) < _LEAST:
        return None
    inside: int | None = None
    begun, longest = None, _LEAST_BEGUN - 1
    for number, text in lines:
        have = normalize_text(text)
        if have.startswith(wanted):
            return number
        if inside is None and wanted in have:
            inside = number
        if len(have) > longest and wanted.startswith(have):
            begun, longest = number, len(have)
    return begun if inside is None else inside


def find_quoted_cell(words: str, cells: Sequence[str], headings: Sequence[str]) -> int | None:
    """Returns the column of a quoted cell in its row; None if the row has no such cell, or several.

    Args:
        words: the quote.
        cells: the cells of the row, as Markdown.
        headings: the headings of the columns; none in the row of the headings itself.
    """
    for is_quote in (_is_spelled, _is_read):
        columns = [
            column
            for column in range(len(cells))
            if any(is_quote(words, parts) for parts in _cell_quotes(cells, column, headings))
        ]
        if columns:
            return columns[0] if len(columns) == 1 else None
    return None


def normalize_text(markdown: str) -> str:
    """Returns the letters and digits that a reader sees: no markup, link targets or blanks."""
    return "".join(_letters.findall(_target.sub("", markdown))).casefold()


def _joined(parts: Sequence[str]) -> str:
    """Returns the parts of a cell's quote as one text."""
    return f" {CELL_SEPARATOR} ".join(parts).strip()


def _cell_quotes(cells: Sequence[str], column: int, headings: Sequence[str]) -> Iterator[list[str]]:
    """Yields the parts of the quotes that a cell may have: cut or whole, with and without the heading of its column."""
    for most in (MAX_QUOTE // 2, None):
        head, cell = (_cut(cells[number], most) for number in (0, column))
        if cell or not column:  # without a heading, the quote of an empty cell is that of the first one
            yield [head, cell if column else ""]
        if column < len(headings):
            yield [head, _cut(headings[column], most), cell]


def _is_spelled(words: str, parts: Sequence[str]) -> bool:
    """Returns whether a quote has exactly these parts."""
    return _short(words) == _short(_joined(parts))


def _is_read(words: str, parts: Sequence[str]) -> bool:
    """Returns whether a quote reads as these parts do; a cell without letters, such as ✓, must be spelled the same."""
    cell = words.rpartition(CELL_SEPARATOR)[2].strip()
    is_empty = not normalize_text(cell)
    return is_empty == (not cell) == (not parts[-1]) and normalize_text(words) == normalize_text(_joined(parts))


def _short(words: str) -> str:
    """Returns a text with single blanks."""
    return " ".join(words.split())


def _find_row(lines: Iterable[tuple[int, str]], head: str, cell: str) -> int | None:
    """Returns the first table row that starts with these words and has such a cell."""
    head, cell = normalize_text(head), normalize_text(cell)
    return next((number for number, text in lines if _is_row(text, head, cell)), None) if head or cell else None


def _is_row(text: str, head: str, cell: str) -> bool:
    """Returns whether a table row starts with these words and has such a cell.

    Without words at the start, the first cell of the row has none either.
    """
    have = normalize_text(text)
    if not head and normalize_text(text.strip().removeprefix("|").partition("|")[0]):
        return False
    return have.startswith(head) and cell in have[len(head) if cell != head else 0 :]


def _cut(words: str, most: int | None) -> str:
    """Returns the words on one line, truncated between two words."""
    flat = _short(words)
    if most is None or len(flat) <= most:
        return flat
    cut = flat[:most].rpartition(" ")[0]
    return (cut or flat[:most]) + " …"


class Suggestion(NamedTuple):
    """A suggestion in a comment: the replacement of a block as Markdown, and the rest of the comment around it."""

    words: str
    before: str
    after: str
    start: int
    """The first character of the words in the comment."""

    @property
    def end(self) -> int:
        """The character after the words in the comment."""
        return self.start + len(self.words)


def block_at(markdown: str, line: int) -> Block | None:
    """Returns the block at a line of a page, counted from 0."""
    for block in split_blocks(markdown):
        if block.start_line <= line < block.start_line + len(block.text.split("\n")):
            return block
    return None


def format_suggestion(text: str) -> str:
    """Formats a suggestion that contains the text of a block as it is, ready to be edited."""
    longest = max((len(run) for run in _ticks.findall(text)), default=2)
    fence = "`" * max(3, longest + 1)
    return f"{fence}suggestion\n{text}\n{fence}\n"


def parse_suggestion(comment: str) -> Suggestion | None:
    """Returns the first suggestion in the Markdown of a comment."""
    comment = comment.replace("\r\n", "\n")
    match = _fenced.search(comment)
    if match is None:
        return None
    words = match["words"].removesuffix("\n")
    return Suggestion(words, comment[: match.start()], comment[match.end() :], match.start("words"))


def suggestion_problem(comment: str) -> str | None:
    """Returns why a suggestion in a comment cannot be read, or None; quotes of suggestions do not count."""
    lines = comment.replace("\r\n", "\n").split("\n")
    for number, line in enumerate(lines):
        opening = _opening.search(line)
        before = line[: opening.start()].strip() if opening else ""
        if opening is None or "`" in line[opening.end() :] or before.startswith(">"):
            continue
        if before:
            return "```suggestion must start a line of its own"
        if parse_suggestion("\n".join(lines[number:])) is None:
            return "the suggestion has no end: close it with ``` on a line of its own"
    return None


def without_fingerprint(comment: str) -> str:
    """Returns a comment without what earlier versions wrote after `suggestion`: a hash that no reader needs."""
    match = _fenced.search(comment)
    return comment[: match.start("info")] + comment[match.end("info") :] if match and match["info"] else comment


def replace_block(markdown: str, block: Block, words: str) -> str:
    """Replaces a block of a page."""
    lines = markdown.replace("\r\n", "\n").split("\n")
    lines[block.start_line : block.start_line + len(block.text.split("\n"))] = words.split("\n") if words else []
    return "\n".join(lines)


def comment_words(markdown: str) -> str:
    """The text of a comment in one line, without its quote and without the fence of a suggestion; untrusted text."""
    text = split_quote(markdown)[1]
    if suggestion := parse_suggestion(text):
        text = f"{suggestion.before} suggestion: {suggestion.words or 'delete this text'} {suggestion.after}"
    return " ".join(text.split())
