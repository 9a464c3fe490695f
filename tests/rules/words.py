"""Lists of banned words, and a search for them."""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.root import ROOT

RULES = ROOT / "tests" / "rules"


class Word(NamedTuple):
    """A banned word or phrase, and what to write instead."""

    pattern: re.Pattern[str]
    plain: str


class Text(NamedTuple):
    """A piece of text with its line."""

    line: int
    text: str


def read_words(file: str) -> tuple[Word, ...]:
    """The words of a list, one regular expression per line, with the plain word after two spaces and #."""
    lines = (RULES / file).read_text("utf-8").splitlines()
    rows = [line.rsplit("  # ", 1) for line in lines if line and not line.startswith("#")]
    return tuple(Word(re.compile(pattern, re.IGNORECASE), plain) for pattern, plain in rows)


IN_TEXT = read_words("banned_words.txt")


@cache
def any_word(words: tuple[Word, ...]) -> re.Pattern[str]:
    """All words in one expression: nearly every text has none of them, and is searched once instead of 97 times."""
    return re.compile("|".join(f"(?:{word.pattern.pattern})" for word in words), re.IGNORECASE)


def findings(path: Path, texts: tuple[Text, ...], words: tuple[Word, ...]) -> list[str]:
    """One line for each banned word in texts, with the plain word to use instead."""
    return [
        f"{path}:{text.line}: {match[0]!r}: write {word.plain!r}"
        for text in texts
        if any_word(words).search(text.text)
        for word in words
        if (match := word.pattern.search(text.text))
    ]
