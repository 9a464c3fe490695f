"""The symbols for drawing pages: one cell each in Unicode, and a set for ASCII terminals."""

from __future__ import annotations

from typing import NamedTuple


class Symbols(NamedTuple):
    """A symbol for each kind of element."""

    hairline: str = "─"
    quote: str = "│"
    hint: str = "▍"
    bullets: str = "•◦▪"
    unchecked: str = "☐"
    checked: str = "☑"
    image: str = "▣"
    reference: str = "→"
    embed: str = "▶"
    file: str = "↓"
    opened: str = "▾"
    continued: str = "↪"
    ellipsis: str = "…"
    closed: str = "▸"
    broken: str = "⚠"
    before: str = "‹"
    after: str = "›"
    star: str = "★"
    no_star: str = "☆"
    is_ascii: bool = False


UNICODE = Symbols()
ASCII = Symbols(
    hairline="-",
    quote="|",
    hint="|",
    bullets="*-+",
    unchecked="[ ]",
    checked="[x]",
    image="[image]",
    reference="->",
    embed="[embed]",
    file="[file]",
    opened="v",
    continued=">",
    ellipsis="...",
    closed=">",
    broken="(!)",
    before="<",
    after=">",
    star="*",
    no_star=".",
    is_ascii=True,
)
