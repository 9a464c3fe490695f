"""Emojis of spaces and pages. The service stores them as hexadecimal code points, such as `1f4d6`."""

from __future__ import annotations

import re
import unicodedata

from rich.cells import cell_len

from presscheck.text.sanitize import sanitize

_PLANE = range(0x1F000, 0x1FC00)
"""Code points of the emoji blocks, including emojis that are newer than Python's Unicode tables."""
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)
"""Regional indicator letters: two of them form a flag."""
_OLDER = range(0x2190, 0x3000)
"""Code points of older symbol blocks, some of which are emojis."""
_JOINING = frozenset((0x200D, 0xFE0F))
"""The zero-width joiner, and the variation selector of the colored form."""
_CODE = re.compile(r"[0-9a-f]{4,6}(-[0-9a-f]{2,6}){0,9}")
_COLORED = "\ufe0f"


def emoji_character(code: str | None) -> str:
    """Return the character of an emoji, given as a code point or as the character itself.

    The result is empty for other text, and for emojis that not every terminal shows in two cells, such as flags and
    families.
    """
    text = (code or "").strip()
    try:
        number = ord(text) if len(text) == 1 else int(text, 16)
    except ValueError:
        return ""
    is_shown = number in _PLANE and number not in _FLAG_LETTERS
    return chr(number) if is_shown or (number in _OLDER and _is_wide(number)) else ""


def emoji_text(code: str | None) -> str:
    """Return an emoji as a character if terminals show it, else as its code; empty without an emoji."""
    return emoji_character(code) or " ".join(sanitize(code or "").split())


def emoji_code(text: str) -> str | None:
    """Return the service's code for an emoji that is typed as a character or a code, or None for other text."""
    text = text.strip()
    if _CODE.fullmatch(text.lower()):
        numbers = [int(point, 16) for point in text.split("-")]
        return text.lower() if _is_emoji(numbers) else None
    alone = text.replace(_COLORED, "")
    numbers = [ord(character) for character in (alone if len(alone) == 1 else text)]
    return "-".join(f"{number:x}" for number in numbers) if _is_emoji(numbers) and cell_len(text) <= 2 else None


def emoji_problem(text: str) -> str | None:
    """Return why a text is not an emoji; None for an emoji, its code, or an empty text."""
    return None if not text or emoji_code(text) else "one emoji, or its code such as 1f4d6"


def _is_emoji(numbers: list[int]) -> bool:
    if not numbers or len(numbers) > 10:
        return False
    is_whole = len(numbers) > 1 or numbers[0] not in _FLAG_LETTERS
    return is_whole and _is_symbol(numbers[0]) and all(one in _JOINING or _is_symbol(one) for one in numbers[1:])


def _is_symbol(number: int) -> bool:
    if number in _PLANE:
        return True
    return number in _OLDER and (unicodedata.category(chr(number)) == "So" or _is_wide(number))


def _is_wide(number: int) -> bool:
    return unicodedata.east_asian_width(chr(number)) == "W"
