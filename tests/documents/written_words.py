"""Finds the words of Markdown with patterns independent of the program, and checks whether a drawing has them."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

_HIDDEN = re.compile(
    r"""<!--.*?(?:-->|\Z)                                       # comments
    | \{%.*?%\}                                                # tags: their values are names and settings
    | ^[ >]*(?:```|~~~)[^\n]*                                  # the name of a language
    | (?<=\])\((?:<[^<>\n]*>|(?:\\.|\([^()\s]*\)|[^()\s\\])*)(?:\s+(?:"[^"\n]*"|'[^'\n]*'))?\)   # what a link leads to
    | ^[ >]*\[[^\]\n]+\]:[^\n]*                                # the same, of a definition, and footnotes
    | (?<=\])\[[^\]\n]*\]                                      # its name
    | </?[A-Za-z][^<>]*>                                       # HTML, with addresses
    | \$\$.*?\$\$                                              # formulas, which are drawn
    | ^[ >]*\[!\w+\]                                           # the kind of a hint, which is drawn in its own words
    | :[a-z0-9_+-]+:                                           # emoji
    | <[a-z][a-z0-9+.-]*:[^<>\s]*>""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
_FRONT = re.compile(r"\A\ufeff?---[ \t]*\n.*?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_LABEL = re.compile(r"<a\b[^<>]*>[^<>]*</a>")
_WORD = re.compile(r"[^\W_]{2,}")
_UNSPACED = re.compile(r"[\u3040-\u9fff]")
"""A character of a language without spaces, in which lines can break anywhere."""


def written_words(markdown: str) -> set[str]:
    """Return the words that readers should see, without those of tags, URLs, formulas and comments.

    Labels of links in HTML are left out as well: in hidden columns, they are the targets of cards.
    """
    body = _LABEL.sub(" ", _FRONT.sub("", markdown.replace("\r\n", "\n")))
    return set(_WORD.findall(html.unescape(_HIDDEN.sub(" ", body))))


def unseen_words(words: Iterable[str], picture: str) -> list[str]:
    """Return the words that a drawing does not contain, not even broken at the edges of columns."""
    shown = set(_WORD.findall(picture))
    pieces = set(re.findall(r"[^\W_]+", picture))
    joined = re.sub(r"[\s│▍]+", "", picture)
    broken = {word for word in set(words) - shown if word not in joined and not _is_broken(word, pieces)}
    return sorted(word for word in broken if not _UNSPACED.search(word) or not set(word) <= set(picture))


def _is_broken(word: str, pieces: set[str]) -> bool:
    """Return True if a word can be assembled from words of the drawing."""
    ends = {0}
    for end in range(1, len(word) + 1):
        if any(word[start:end] in pieces for start in ends):
            ends.add(end)
    return len(word) in ends
