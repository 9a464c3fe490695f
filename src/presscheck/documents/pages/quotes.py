"""Where in a page a thread belongs: a comment begins with a quote of the words that it is about, and stands below them.

Markdown names no blocks, so the quote is the place: everybody can read it, wherever the comment is shown. The quote of
a cell is the first cell of its row and the cell itself: `Tokens › 90 days`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

MAX_QUOTE = 60
"""How many characters a quote has at most."""
CELL_SEPARATOR = "›"
"""Stands between the first cell of a row and the cell that is meant."""
_LEAST = 3
_LEAST_BEGUN = 12
"""Letters of a line from which a quote may go on in the next."""
_target = re.compile(r"\]\([^)\s]*(?:\s+\"[^\"]*\")?\)|\{%.*?%\}|<[^<>]*>")
_letters = re.compile(r"\w")


def quote(words: str) -> str:
    """The first words of a text, as the quote that a comment on it begins with; nothing where there are no words."""
    flat = _cut(words, MAX_QUOTE)
    return f"> {flat}\n\n" if _letters.search(flat) else ""


def quote_cell(cells: list[str], column: int) -> str:
    """The quote that a comment on a cell of a row begins with; nothing where the row begins with no words."""
    head, cell = (_cut(cells[number], MAX_QUOTE // 2) for number in (0, column))
    return f"> {head} {CELL_SEPARATOR} {cell if column else ''}".rstrip() + "\n\n" if _letters.search(head) else ""


def split_quote(markdown: str) -> tuple[str, str]:
    """The quote that a comment begins with, and the rest."""
    lines = markdown.lstrip("\n").split("\n")
    number = 0
    while number < len(lines) and lines[number].startswith(">"):
        number += 1
    quote = " ".join(line.lstrip(">").strip() for line in lines[:number]).strip()
    return quote, "\n".join(lines[number:]).lstrip("\n")


def find_quoted_line(words: str, lines: Iterable[tuple[int, str]]) -> int | None:
    """The number of the first line that begins with the quoted words, else of the first that has them; else None.

    Where no line has all of them, it is the longest that they begin with: a paragraph may be written on several lines.
    """
    if CELL_SEPARATOR in words:
        head, _, cell = (normalize_text(part) for part in words.rpartition(CELL_SEPARATOR))
        return next((number for number, text in lines if _is_row(text, head or cell, cell)), None)
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
    """The letters and digits that a reader sees: no markup, no targets of links, no blanks."""
    return "".join(_letters.findall(_target.sub("", markdown))).casefold()


def _is_row(text: str, head: str, cell: str) -> bool:
    """Whether a line is the row of a table that begins so and has such a cell."""
    have = normalize_text(text)
    return "|" in text and have.startswith(head) and cell in have[len(head) if cell != head else 0 :]


def _cut(words: str, most: int) -> str:
    """The words on one line, cut between two of them."""
    flat = " ".join(words.split())
    if len(flat) <= most:
        return flat
    cut = flat[:most].rpartition(" ")[0]
    return (cut or flat[:most]) + " …"
