"""Where in a page a thread belongs: a comment begins with a quote of the words that it is about, and stands below them.

Markdown names no blocks, so the quote is the place: everybody can read it, wherever the comment is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

MOST = 60
"""How many characters a quote has at most."""
_LEAST = 3
_target = re.compile(r"\]\([^)\s]*(?:\s+\"[^\"]*\")?\)|\{%.*?%\}|<[^<>]*>")
_letters = re.compile(r"\w")


def quote(words: str) -> str:
    """The first words of a text, as the quote that a comment on it begins with; nothing where there are no words."""
    flat = " ".join(words.split())
    if len(flat) > MOST:
        cut = flat[:MOST].rpartition(" ")[0]
        flat = (cut or flat[:MOST]) + " …"
    return f"> {flat}\n\n" if _letters.search(flat) else ""


def quoted(markdown: str) -> tuple[str, str]:
    """The quote that a comment begins with, and the rest."""
    lines = markdown.lstrip("\n").split("\n")
    number = 0
    while number < len(lines) and lines[number].startswith(">"):
        number += 1
    quote = " ".join(line.lstrip(">").strip() for line in lines[:number]).strip()
    return quote, "\n".join(lines[number:]).lstrip("\n")


def place(words: str, blocks: Iterable[tuple[int, str]]) -> int | None:
    """The number of the first block that begins with the quoted words, else of the first that has them; else None."""
    wanted = _only_letters(words)
    if len(wanted) < _LEAST:
        return None
    inside: int | None = None
    for number, text in blocks:
        have = _only_letters(text)
        if have.startswith(wanted):
            return number
        if inside is None and wanted in have:
            inside = number
    return inside


def _only_letters(markdown: str) -> str:
    """The letters and digits that a reader sees: no markup, no targets of links, no blanks."""
    return "".join(_letters.findall(_target.sub("", markdown))).casefold()
