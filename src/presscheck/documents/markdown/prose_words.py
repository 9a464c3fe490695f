"""Finds the words of the prose of a page with their positions, for spell checking."""

from __future__ import annotations

import re
from typing import NamedTuple

from presscheck.documents.markdown.code_ranges import without_code
from presscheck.documents.markdown.plain_text import UNSEEN

_TOKEN = re.compile(r"\S++")
_WORD = re.compile(r"[^\W\d_]++(?:['’][^\W\d_]++)*")
_NO_PROSE = ("://", "www.", "@", "\\", "{", "}", "=", "$", "&")
"""Characters and texts that occur only in addresses, formulas, variables and entities."""


class WordPlace(NamedTuple):
    """The position of a word; line and column begin at 0, and the column counts characters."""

    line: int
    column: int


def prose_words(markdown: str) -> dict[str, list[WordPlace]]:
    """Return the positions of each word of a page, in the order of the first positions.

    Code, tags, addresses, file names, identifiers, abbreviations and single letters are left out.
    """
    words: dict[str, list[WordPlace]] = {}
    text = UNSEEN.sub(lambda match: " " * len(match[0]), without_code(markdown))
    for number, line in enumerate(text.split("\n")):
        for token in _TOKEN.finditer(line):
            if any(sign in token[0] for sign in _NO_PROSE) or token[0].count("/") > 1:
                continue
            for word in _WORD.finditer(token[0]):
                if _is_prose(token[0], word.start(), word.end()):
                    words.setdefault(word[0], []).append(WordPlace(number, token.start() + word.start()))
    return words


def _is_prose(token: str, start: int, end: int) -> bool:
    """Return whether the word at these offsets is prose, not part of an identifier or a file name."""
    word, before, after = token[start:end], token[:start], token[end:]
    if len(word) == 1 or word[1:] != word[1:].lower():
        return False
    is_joined = before[-1:].isdecimal() or after[:1].isdecimal() or _has_underscore(before[::-1], after)
    is_dotted = (before[-1:] == "." and before[-2:-1].isalnum()) or (after[:1] == "." and after[1:2].isalnum())
    return not is_joined and not is_dotted


def _has_underscore(before: str, after: str) -> bool:
    """Return whether an underscore joins a word to another; an underscore for emphasis does not."""
    return any(side[:1] == "_" and side[1:2].isalnum() for side in (before, after))
