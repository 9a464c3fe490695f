"""Reads lists of banned words and finds the words in texts."""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.root import ROOT

RULES = ROOT / "tests" / "rules"


class Word(NamedTuple):
    """A banned word or phrase, and its replacement."""

    pattern: re.Pattern[str]
    plain: str


class Text(NamedTuple):
    """A text and its line number."""

    line: int
    text: str


def read_words(file: str) -> tuple[Word, ...]:
    """Read a list of banned words: a regular expression per line, with its replacement after two spaces and #."""
    lines = (RULES / file).read_text("utf-8").splitlines()
    rows = [line.rsplit("  # ", 1) for line in lines if line and not line.startswith("#")]
    return tuple(Word(re.compile(pattern, re.IGNORECASE), plain) for pattern, plain in rows)


IN_TEXT = read_words("banned_words.txt")


@cache
def any_word(words: tuple[Word, ...]) -> re.Pattern[str]:
    """Combine all words into one pattern: most texts contain none of them, so that one search suffices."""
    return re.compile("|".join(f"(?:{word.pattern.pattern})" for word in words), re.IGNORECASE)


def findings(path: Path, texts: tuple[Text, ...], words: tuple[Word, ...]) -> list[str]:
    """Return a line for each banned word in the texts, with its replacement."""
    return [
        f"{path}:{text.line}: {match[0]!r}: write {word.plain!r}"
        for text in texts
        if any_word(words).search(text.text)
        for word in words
        if (match := word.pattern.search(text.text))
    ]
