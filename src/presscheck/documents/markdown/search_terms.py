"""The words that a text is found by, and those that a query asks for: the same for every database.

Case, accents and punctuation count for nothing; `a_name` is a word, and so are its parts. Writing without blanks
between words (Chinese, Japanese, Korean, Thai) is cut into its characters and its pairs of characters.
"""

from __future__ import annotations

import re
import unicodedata

MAX_TERM = 64
"""Characters of a word that count."""

_WORD = re.compile(r"\w+")
_ASKED = re.compile(r'"([^"]*)"?|([^\s"]+)')
_UNSPACED = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+")


def fold(text: str) -> str:
    """A text without case and accents, to look for a word in."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", "".join(one for one in decomposed if not unicodedata.combining(one))).casefold()


def index_terms(text: str) -> list[str]:
    """The words of a text, each once, in order."""
    found: set[str] = set()
    for run in _WORD.findall(fold(text)):
        for part in _UNSPACED.findall(run):
            found.update(part)
            found.update(part[at : at + 2] for at in range(len(part) - 1))
        for word in _UNSPACED.split(run):
            found.update(part[:MAX_TERM] for part in (word, *word.split("_")) if part)
    return sorted(found)


def query_terms(query: str) -> list[tuple[str, bool]]:
    """The words that a query asks for, all of them wanted; whether a word that only begins so is found too."""
    asked: dict[str, bool] = {}
    for run in _WORD.findall(fold(query)):
        for part in _UNSPACED.findall(run):
            pairs = [part[at : at + 2] for at in range(len(part) - 1)]
            asked.update(dict.fromkeys(pairs or [part], False))
        asked.update({word[:MAX_TERM]: True for word in _UNSPACED.split(run) if word})
    return list(asked.items())


def split_unspaced(text: str) -> str:
    """A text folded, with blanks around each character of writing that has none; its lines stay lines."""
    return _UNSPACED.sub(lambda run: f" {' '.join(run[0])} ", fold(text))


def query_phrases(query: str) -> list[tuple[str, bool]]:
    """The phrases of words that a query asks for in a `divided` text; whether the last word of it may go on.

    What stands between quotation marks is a phrase of whole words; any other word may go on, as one still types it.
    """
    asked: list[tuple[str, bool]] = []
    for quoted, word in _ASKED.findall(query):
        words = " ".join("".join(one if one.isalnum() else " " for one in split_unspaced(quoted or word)).split())
        if words:
            asked.append((words, bool(word) and not _UNSPACED.match(words[-1])))
    return asked
