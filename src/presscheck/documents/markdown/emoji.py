"""Emoji names such as `:rocket:`, and characters for icons.

The names are Rich's names; `emoji_names.txt` has names of GitHub (github/gemoji) that Rich lacks or reads differently.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from rich.emoji import Emoji, NoEmoji

match_name = re.compile(r"(?:(?<![^\W_]):(?=\d)|:(?=[a-z+-]))([a-z0-9_+-]+):").match
"""Matches a name between colons. A name that begins with a digit must not follow a letter or digit, as in `9:100:5`."""
_ICON_NAMES = (
    "check xmark star heart bolt arrow-right arrow-left arrow-up arrow-down plus minus circle square phone "
    "envelope flag gear triangle-exclamation circle-check circle-xmark music sun cloud umbrella snowflake"
)
_ICONS: dict[str, str] = dict(zip(_ICON_NAMES.split(), "✓✗★♥↯→←↑↓+−●■☎✉⚑⚙⚠✓✗♪☀☁☂❄", strict=True))


@cache
def emoji_by_name(name: str) -> str:
    """Return the emoji with a name, or an empty string."""
    if name in _github_names():
        return _github_names()[name]
    try:
        return str(Emoji(name))
    except NoEmoji:
        return ""


@cache
def icon_sign(name: str) -> str:
    """Return the symbol for a Font Awesome icon, or else the emoji with this name, or else an empty string."""
    return _ICONS.get(name) or emoji_by_name(name.replace("-", "_"))


def icon_text(name: str) -> str:
    """Return the character for a Font Awesome icon, or its name in brackets."""
    return icon_sign(name) or f"[{name}]"


def find_names(text: str) -> Iterator[re.Match[str]]:
    """Yield the emoji names in plain text, with their colons."""
    at = text.find(":")
    while at >= 0:
        match = match_name(text, at)
        if match and emoji_by_name(match[1]):
            yield match
            at = match.end() - 1
        at = text.find(":", at + 1)


def with_emoji(text: str) -> str:
    """Replace the emoji names in plain text, such as a title."""
    parts, end = list[str](), 0
    for match in find_names(text):
        parts += (text[end : match.start()], emoji_by_name(match[1]))
        end = match.end()
    return "".join((*parts, text[end:]))


@cache
def _github_names() -> dict[str, str]:
    text = files("presscheck.documents.markdown").joinpath("emoji_names.txt").read_text("utf-8")
    return dict(line.split(" ", 1) for line in text.splitlines())
