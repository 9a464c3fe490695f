"""Texts for terminals without UTF-8: every character becomes ASCII.

Lines of `--linear` may get longer, so their punctuation is spelled out. On screens each character keeps its width, and
each sign becomes a different character.
"""

from __future__ import annotations

import unicodedata
from functools import cache

from rich.cells import cell_len, get_character_cell_size

_WORDS = str.maketrans(
    {
        "“": '"',
        "”": '"',
        "‘": "'",
        "’": "'",
        "–": "-",
        "—": "-",
        "−": "-",
        "…": "...",
        "›": ">",
        "→": "->",
        "←": "<-",
        "·": "-",
        "•": "*",
        "\N{NO-BREAK SPACE}": " ",
    }
)
"""ASCII spellings of the punctuation in presscheck's texts."""
SIGNS = {
    "✓": "Y",
    "✗": "X",
    "⚠": "W",
    "◷": "P",
    "✎": "D",
    "•": "*",
    "◆": "N",
    "☑": "V",
    "●": "O",
    "○": "o",
    "↻": "R",
    "¶": "r",
    "§": "S",
    "┃": "#",
    "↓": "v",
    "−": "-",
    "±": "=",
    "–": ".",
    "★": "B",
    "⊘": "m",
    "◉": "F",
    "□": "d",
    "◔": "z",
    "▤": "C",
    "▢": "s",
    "▣": "i",
    "⌂": "H",
    "■": "L",
    "◌": "l",
    "◍": "a",
    "◦": "c",
    "◇": "q",
    "⇄": "G",
}
"""The ASCII character for each sign on the screens. `!`, `+`, `~` and `?` are ASCII already."""
_CELLS = SIGNS | {
    "─": "-",
    "│": "|",
    "━": "=",
    "▌": ">",
    "▐": "<",
    "▸": ">",
    "▾": "v",
    "◂": "<",
    "→": ">",
    "←": "<",
    "↑": "^",
    "…": ".",
    "·": ".",
    "›": ">",
    "“": '"',
    "”": '"',
    "‘": "'",
    "’": "'",
    "—": "-",
}


def ascii_words(text: str) -> str:
    """Return a text in ASCII. Letters outside of ASCII are escaped, so that none is lost."""
    return text if text.isascii() else text.translate(_WORDS).encode("ascii", "backslashreplace").decode()


def ascii_cells(text: str) -> str:
    """Return a text in ASCII with the same width. Letters lose their accents; other characters become `?`."""
    if text.isascii():
        return text
    width = cell_len(text)
    # joined characters are narrower than their parts
    return "".join(map(_cells_of, text))[:width].ljust(width)


@cache
def _cells_of(character: str) -> str:
    if character.isascii():
        return character
    size = get_character_cell_size(character)
    base, *marks = unicodedata.normalize("NFKD", character)
    # `½` is not `1`, and `10²` is not `102`
    is_letter = all(map(unicodedata.combining, marks)) and not character.isnumeric()
    has_base = size == 1 and is_letter and base.isascii() and base.isprintable()
    return _CELLS.get(character) or (base if has_base else "?" * size)
