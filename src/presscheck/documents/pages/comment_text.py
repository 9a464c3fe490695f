"""The structure of comment texts: the quote of the commented place, and a suggestion.

A comment starts with a quote of the text it is about, because Markdown blocks have no ids; users can read the quote
wherever the comment is shown. The quote of a table cell is the first cell of its row and the cell itself: `Tokens › 90
days`. If the row has the same text twice, the heading of the column is in between: `Tokens › Renewed › yes`. The quote
of several lines is the start of the first and of the last: `A token lasts … Ask before`.

A suggestion is the replacement of a block, which is applied with one key: a code block of the language `suggestion`, as
on GitHub, readable wherever the comment is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from presscheck.documents.markdown.block_splitter import Block, split_blocks, tag_pairs

MAX_QUOTE = 60
"""Maximum number of characters of a quote."""
CELL_SEPARATOR = "›"
"""Separates the first cell of a row from the quoted cell."""
_RANGE_SEPARATOR = " … "
"""Separates the first of several quoted lines from the last."""
_STRUCK = "~~"
_LEAST = 3
_LEAST_BEGUN = 12
"""Minimum number of letters of a line that matches only the start of a quote."""
_target = re.compile(r"\]\((?:[^)\s\]]++|\](?!\())*(?:\s++\"[^\"]*+\")?\)|\{%(?:(?!\{%).)*?%\}|<[^<>]*>")
_letters = re.compile(r"\w")
_fenced = re.compile(
    r"^ {0,3}(?P<fence>`{3,})suggestion(?P<info>[ \t]+[^\n`]*)?\n(?P<words>.*?)^ {0,3}(?P=fence)`*[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
_opening = re.compile(r"(?<!`)`{3,}+suggestion(?![^ \t])")
_ticks = re.compile(r"`{3,}")
_is_html = re.compile(r"[ \t]*</?[a-z]+[ >/]").match
_html_tag = re.compile(r"<[^<>]*>").sub


def strip_markup(text: str) -> str:
    """Strip the markers at both ends of a Markdown line; if it begins with an HTML tag, strip all tags."""
    if _is_html(text):
        text = " ".join(_html_tag(" ", text).split())
    return text.lstrip("#>-*+ |").rstrip(" |")


def quote(words: str) -> str:
    """Return the quote that starts a comment on a text, or an empty string if the text has no words."""
    flat = _cut(words, MAX_QUOTE)
    return f"> {flat}\n\n" if _letters.search(flat) else ""


def quote_deleted(words: str) -> str:
    """Return the quote that starts a comment on a deleted text, struck through; empty if the text has no words."""
    flat = _cut(words, MAX_QUOTE)
    return f"> {_STRUCK}{flat}{_STRUCK}\n\n" if _letters.search(flat) else ""


def deleted_words(quote: str) -> str:
    """Return the words in the quote of a deleted text; empty for any other quote."""
    is_struck = len(quote) > 2 * len(_STRUCK) and quote.startswith(_STRUCK) and quote.endswith(_STRUCK)
    return quote.removeprefix(_STRUCK).removesuffix(_STRUCK) if is_struck else ""


def quote_range(first: str, last: str) -> str:
    """Return the quote that starts a comment on several lines; empty if the first or the last line has no words."""
    parts = [_cut(words, MAX_QUOTE // 2) for words in (first, last)]
    start, end = parts[0].removesuffix(" …"), parts[1]
    return f"> {start}{_RANGE_SEPARATOR}{end}\n\n" if all(map(_letters.search, parts)) else ""


def quote_cell(cells: Sequence[str], column: int, headings: Sequence[str] = ()) -> str:
    """Return the quote that starts a comment on a table cell, or an empty string if the quote would have no words."""
    head, cell = (_cut(cells[number], MAX_QUOTE // 2) for number in (0, column))
    words = [head, cell if column else ""]
    heading = _cut(headings[column], MAX_QUOTE // 2) if column < len(headings) else ""
    if heading and find_quoted_cell(_joined(words), cells, headings) != column:
        words = [head, heading, cell]
    return f"> {_joined(words)}\n\n" if _letters.search(head) or (column and _letters.search(cell)) else ""


def quote_lines(words: str) -> str:
    """Format the words of a quote as the start of a comment; empty without words."""
    return f"> {words}\n\n" if words else ""


def split_quote(markdown: str) -> tuple[str, str]:
    """Split a comment into its quote and the rest."""
    lines = markdown.lstrip("\n").split("\n")
    number = 0
    while number < len(lines) and lines[number].startswith(">"):
        number += 1
    quote = " ".join(line.lstrip(">").strip() for line in lines[:number]).strip()
    return quote, "\n".join(lines[number:]).lstrip("\n")


def find_quoted_line(words: str, lines: Iterable[tuple[int, str]]) -> int | None:
    """Return the number of the line with the quoted words, or None.

    A line that starts with the words takes precedence over a line that contains them. Last comes the longest line that
    the words start with, because a quoted paragraph may span several lines.
    """
    if CELL_SEPARATOR in words:
        rows = [(number, text) for number, text in lines if "|" in text]
        rest, _, cell = words.rpartition(CELL_SEPARATOR)
        line = _find_row(rows, rest, cell)
        # the heading of the column may be in between
        return _find_row(rows, rest.rpartition(CELL_SEPARATOR)[0], cell) if line is None else line
    normalized, lines = normalize_text(words), list(lines)
    if len(normalized) < _LEAST:
        return None
    inside: int | None = None
    prefix_line, longest = None, _LEAST_BEGUN - 1
    # the first line of several does not count without the last line
    first = normalize_text(range_start(words)) if _RANGE_SEPARATOR in words else ""
    for number, text in lines:
        line_letters = normalize_text(text)
        if line_letters.startswith(normalized):
            return number
        if inside is None and normalized in line_letters:
            inside = number
        if len(line_letters) > longest and normalized.startswith(line_letters) and line_letters != first:
            prefix_line, longest = number, len(line_letters)
    if inside is None and (numbers := find_quoted_range(words, lines)):
        return numbers[1]
    return prefix_line if inside is None else inside


def find_quoted_range(words: str, lines: Sequence[tuple[int, str]]) -> tuple[int, int] | None:
    """Return the numbers of the first and the last line that a quote of several lines names, or None."""
    first, _, last = words.partition(_RANGE_SEPARATOR)
    start = find_quoted_line(first, lines) if last else None
    end = find_quoted_line(last, [line for line in lines if line[0] > start]) if start is not None else None
    return None if start is None or end is None else (start, end)


def range_start(words: str) -> str:
    """Return the words of the first line in a quote of several lines."""
    return words.partition(_RANGE_SEPARATOR)[0]


def find_quoted_cell(words: str, cells: Sequence[str], headings: Sequence[str]) -> int | None:
    """Return the column of a quoted cell in its row, or None if no cell or several cells match.

    Args:
        words: the quote.
        cells: the cells of the row, as Markdown.
        headings: the headings of the columns; empty if the row is the head itself.
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


def line_to_quote(lines: Sequence[str], number: int) -> int:
    """Return the number of the line that a comment on a line quotes.

    This is the line itself or, if it is the opening tag of a block, the first line with words in the block.
    """
    if lines[number].lstrip().startswith("<"):
        return next((inside for inside in range(number, len(lines)) if normalize_text(lines[inside])), number)
    if not lines[number].lstrip().startswith("{%"):
        return number
    end = max((end for (start, _), end in tag_pairs(lines).items() if start == number), default=number)
    return next((inside for inside in range(number + 1, end) if normalize_text(lines[inside])), number)


def normalize_text(markdown: str) -> str:
    """Return the visible letters and digits of Markdown, without markup, link targets and blanks."""
    return "".join(_letters.findall(_target.sub("", markdown))).casefold()


def _joined(parts: Sequence[str]) -> str:
    return f" {CELL_SEPARATOR} ".join(parts).strip()


def _cell_quotes(cells: Sequence[str], column: int, headings: Sequence[str]) -> Iterator[list[str]]:
    """Yield the possible quotes of a cell as parts: truncated or whole, with and without the heading of its column."""
    for most in (MAX_QUOTE // 2, None):
        head, cell = (_cut(cells[number], most) for number in (0, column))
        if cell or not column:  # without a heading, the quote of an empty cell would equal the quote of the first cell
            yield [head, cell if column else ""]
        if column < len(headings):
            yield [head, _cut(headings[column], most), cell]


def _is_spelled(words: str, parts: Sequence[str]) -> bool:
    """Return whether a quote has exactly these parts."""
    return _short(words) == _short(_joined(parts))


def _is_read(words: str, parts: Sequence[str]) -> bool:
    """Return whether a quote has the same letters as these parts; False if its cell has only signs, such as ✓."""
    cell = words.rpartition(CELL_SEPARATOR)[2].strip()
    is_empty = not normalize_text(cell)
    return is_empty == (not cell) == (not parts[-1]) and normalize_text(words) == normalize_text(_joined(parts))


def _short(words: str) -> str:
    """Return a text with single blanks."""
    return " ".join(words.split())


def _find_row(lines: Iterable[tuple[int, str]], head: str, cell: str) -> int | None:
    """Return the line of the first table row that starts with `head` and contains `cell`, or None."""
    head, cell = normalize_text(head), normalize_text(cell)
    return next((number for number, text in lines if _is_row(text, head, cell)), None) if head or cell else None


def _is_row(text: str, head: str, cell: str) -> bool:
    """Return whether a table row starts with `head` and contains `cell`.

    If `head` has no letters, the first cell of the row must have none either.
    """
    row_letters = normalize_text(text)
    if not head and normalize_text(text.strip().removeprefix("|").partition("|")[0]):
        return False
    return row_letters.startswith(head) and cell in row_letters[len(head) if cell != head else 0 :]


def _cut(words: str, most: int | None) -> str:
    """Return a text on one line, cut off after at most `most` characters, if possible between words."""
    flat = _short(words)
    if most is None or len(flat) <= most:
        return flat
    cut = flat[:most].rpartition(" ")[0]
    return (cut or flat[:most]) + " …"


class Suggestion(NamedTuple):
    """A suggestion in a comment: the replacement of a block as Markdown, and the text before and after it."""

    words: str
    before: str
    after: str
    start: int
    """The offset of the words in the comment."""

    @property
    def end(self) -> int:
        """The offset after the words in the comment."""
        return self.start + len(self.words)


def block_at(markdown: str, line: int) -> Block | None:
    """Return the block at a line of a page, counted from 0, or None."""
    for block in split_blocks(markdown):
        if block.start_line <= line < block.start_line + len(block.text.split("\n")):
            return block
    return None


def format_suggestion(text: str) -> str:
    """Format a suggestion that contains the current text of a block, ready to be edited."""
    longest = max((len(run) for run in _ticks.findall(text)), default=2)
    fence = "`" * max(3, longest + 1)
    return f"{fence}suggestion\n{text}\n{fence}\n"


def parse_suggestion(comment: str) -> Suggestion | None:
    """Return the first suggestion in a comment, or None."""
    comment = comment.replace("\r\n", "\n")
    match = _fenced.search(comment)
    if match is None:
        return None
    words = match["words"].removesuffix("\n")
    return Suggestion(words, comment[: match.start()], comment[match.end() :], match.start("words"))


def suggestion_problem(comment: str) -> str | None:
    """Return why a suggestion in a comment is malformed, or None. Suggestions in quotes are ignored."""
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
    """Return a comment without the hash that earlier versions wrote after `suggestion`."""
    match = _fenced.search(comment)
    return comment[: match.start("info")] + comment[match.end("info") :] if match and match["info"] else comment


def replace_block(markdown: str, block: Block, words: str) -> str:
    """Replace a block of a page."""
    lines = markdown.replace("\r\n", "\n").split("\n")
    lines[block.start_line : block.start_line + len(block.text.split("\n"))] = words.split("\n") if words else []
    return "\n".join(lines)


def comment_words(markdown: str) -> str:
    """Return the unsanitized text of a comment on one line, without its quote and the fence of a suggestion."""
    text = split_quote(markdown)[1]
    if suggestion := parse_suggestion(text):
        text = f"{suggestion.before} suggestion: {suggestion.words or 'delete this text'} {suggestion.after}"
    return " ".join(text.split())
