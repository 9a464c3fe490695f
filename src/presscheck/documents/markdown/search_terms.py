"""Search terms of texts and queries, the same for every database.

Case, accents and punctuation are ignored; `a_name` is a term, and so are its parts. Scripts without spaces (Chinese,
Japanese, Korean, Thai) are split into characters and pairs of characters.
"""

from __future__ import annotations

import re
import unicodedata

MAX_TERM = 64
"""Number of characters of a term that are indexed."""

_ASCII_WORDS = bytes(
    ord(chr(code).lower()) if code < 128 and (chr(code).isalnum() or chr(code) == "_") else 32 for code in range(256)
)
"""Maps ASCII bytes to lower case, and bytes that are not in words to blanks."""
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_WORD = re.compile(r"\w+")
_QUERY_PART = re.compile(r'"([^"]*)"?|([^\s"]+)')
_UNSPACED = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+")


def fold(text: str) -> str:
    """Remove case and accents for comparison."""
    if text.isascii():
        return text.lower()
    return _NOT_ASCII.sub(_without_accents, text).casefold()


def _without_accents(run: re.Match[str]) -> str:
    decomposed = unicodedata.normalize("NFKD", run[0])
    return unicodedata.normalize(
        "NFC", "".join([character for character in decomposed if not unicodedata.combining(character)])
    )


def index_terms(text: str) -> list[str]:
    """Return the terms of a text, sorted and without duplicates."""
    return sorted(index_text(text).split())


def index_text(text: str) -> str:
    """Return the terms of a text without duplicates, in any order and separated by blanks."""
    folded = text if text.isascii() else fold(text)
    if not folded.isascii():
        return " ".join(_terms(folded))
    words = {*folded.encode().translate(_ASCII_WORDS).split()}  # on bytes, which takes a quarter of the time
    if "_" in folded:
        words.update([part for word in words if b"_" in word for part in word.split(b"_") if part])
    if len(max(words, key=len, default=b"")) > MAX_TERM:
        words = {word[:MAX_TERM] for word in words}
    return b" ".join(words).decode()


def _terms(folded: str) -> set[str]:
    terms: set[str] = set()
    for run in {*_WORD.findall(folded)}:
        if run.isascii() and "_" not in run:  # the common case, in a tenth of the time
            terms.add(run[:MAX_TERM])
            continue
        for part in _UNSPACED.findall(run):
            terms.update(part)
            terms.update(part[at : at + 2] for at in range(len(part) - 1))
        for word in _UNSPACED.split(run):
            terms.update(part[:MAX_TERM] for part in (word, *word.split("_")) if part)
    return terms


def split_unspaced(text: str) -> str:
    """Fold a text and put blanks around each character of scripts without spaces; lines are preserved."""
    return _UNSPACED.sub(lambda run: f" {' '.join(run[0])} ", fold(text))


def query_phrases(query: str) -> list[tuple[str, bool]]:
    """Return the phrases of a query, and for each phrase whether its last word may be a prefix.

    The phrases match texts after `split_unspaced`.

    Quoted text is a phrase of whole words. Any other word may be a prefix, because the user may still be typing it,
    unless it ends in a script without spaces.
    """
    phrases: list[tuple[str, bool]] = []
    for quoted, word in _QUERY_PART.findall(query):
        words = " ".join(
            "".join(character if character.isalnum() else " " for character in split_unspaced(quoted or word)).split()
        )
        if words:
            phrases.append((words, bool(word) and not _UNSPACED.match(words[-1])))
    return phrases
