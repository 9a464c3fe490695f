"""The symbols that pages are drawn with: one cell each in Unicode, and a set for ASCII terminals."""

from __future__ import annotations

from typing import NamedTuple


class Symbols(NamedTuple):
    """One symbol for each kind of element."""

    hairline: str = "─"
    quote: str = "│"
    hint: str = "┃"
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


UNICODE = Symbols()
ASCII = Symbols("-", "|", "|", "*-+", "[ ]", "[x]", "[image]", "->", "[embed]", "[file]", "v", ">", "...")
