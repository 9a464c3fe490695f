"""Limits on the size of texts, because parsing, rendering and converting take time for each part.

A part takes up to 60 microseconds, so a page at the limits takes about a second. Characters without markup take almost
no time; they are limited because texts are also sent, stored and searched.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class TextLimits(NamedTuple):
    """Maximum numbers of characters and of parts of a text."""

    characters: int
    parts: int


PAGE_LIMITS = TextLimits(characters=500_000, parts=20_000)
COMMENT_LIMITS = TextLimits(characters=50_000, parts=2_000)
"""Smaller than the limits of a page, because a list has up to a thousand comments."""

_line_break = re.compile(r"\r\n?|\n")
_delimiters = re.compile(r"[ \t>]*+[|:-][|: \t-]*+").fullmatch
"""Matches lines that may be the delimiter row of a table."""


def size_problem(markdown: str, limits: TextLimits = PAGE_LIMITS) -> str | None:
    """Return why a text is too large, or None."""
    if len(markdown) > limits.characters:
        return f"too large: {len(markdown):,} characters, at most {limits.characters:,} are allowed"
    parts = count_parts(markdown)
    if parts > limits.parts:
        return f"too large: {parts:,} lines, table cells, links and tags, at most {limits.parts:,} are allowed"
    return None


def count_parts(markdown: str) -> int:
    """Count the lines, table cells, links and tags of a text; four other marks, such as `*`, count as one part.

    The count is an upper bound, computed from characters without parsing; it takes a millisecond for a page.
    """
    lines = [line.strip(" \t") for line in _line_break.split(markdown)]
    written_lines = sum(map(bool, lines))
    links = markdown.count("[") + markdown.count("://")
    tags = markdown.count("<")
    open_tags = max(0, tags - 2 * markdown.count("</"))  # the sanitizer takes quadratic time for nested elements
    cells = markdown.count("|") + (_missing_cells(lines) if "|" in markdown and "-" in markdown else 0)
    marks = sum(map(markdown.count, "*_`{$:~&\\!>"))
    return written_lines + links + tags + open_tags + cells + marks // 4


def _missing_cells(lines: list[str]) -> int:
    """Count the cells that the parser adds to table rows with too few cells.

    The parser may add a thousand cells to a row of one character.
    """
    missing = columns = 0
    for line in lines:
        if not line:
            columns = 0
        elif "|" in line and "-" in line and _delimiters(line):
            columns = max(columns, line.count("|") + 1)
        elif columns:
            missing += max(0, columns - line.count("|") - 2)
    return missing
