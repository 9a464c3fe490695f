"""Quotes connect a comment thread to its place in a page: a comment starts with a quote of the text it is about.

Markdown blocks have no ids, so the quote is the place: everybody can read it, wherever the comment is shown. The quote
of a cell is the first cell of its row and the cell itself: `Tokens › 90 days`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

MAX_QUOTE = 60
"""The longest quote, in characters."""
CELL_SEPARATOR = "›"
"""Separates the first cell of a row from the quoted cell."""
_LEAST = 3
_LEAST_BEGUN = 12
"""Letters that a line needs for a quote to continue in the next one."""
_target = re.compile(r"\]\((?:[^)\s\]]++|\](?!\())*(?:\s++\"[^\"]*+\")?\)|\{%(?:(?!\{%).)*?%\}|<[^<>]*>")
_letters = re.compile(r"\w")


def quote(words: str) -> str:
    """Returns the quote that starts a comment on a text; empty if the text has no words."""
    flat = _cut(words, MAX_QUOTE)
    return f"> {flat}\n\n" if _letters.search(flat) else ""


def quote_cell(cells: list[str], column: int) -> str:
    """Returns the quote that starts a comment on a table cell; empty if neither it nor the first cell has words."""
    head, cell = (_cut(cells[number], MAX_QUOTE // 2) for number in (0, column))
    if _letters.search(head):
        return f"> {head} {CELL_SEPARATOR} {cell if column else ''}".rstrip() + "\n\n"
    return f"> {CELL_SEPARATOR} {cell}\n\n" if column and _letters.search(cell) else ""


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
        head, _, cell = (normalize_text(part) for part in words.rpartition(CELL_SEPARATOR))
        return next((number for number, text in lines if _is_row(text, head, cell)), None) if head or cell else None
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


def normalize_text(markdown: str) -> str:
    """Returns the letters and digits that a reader sees: no markup, link targets or blanks."""
    return "".join(_letters.findall(_target.sub("", markdown))).casefold()


def _is_row(text: str, head: str, cell: str) -> bool:
    """Returns whether a line is a table row that starts with these words and has such a cell.

    Without words at the start, the first cell of the row has none either.
    """
    have = normalize_text(text)
    if not head and normalize_text(text.strip().removeprefix("|").partition("|")[0]):
        return False
    return "|" in text and have.startswith(head) and cell in have[len(head) if cell != head else 0 :]


def _cut(words: str, most: int) -> str:
    """Returns the words on one line, truncated between two words."""
    flat = " ".join(words.split())
    if len(flat) <= most:
        return flat
    cut = flat[:most].rpartition(" ")[0]
    return (cut or flat[:most]) + " …"
