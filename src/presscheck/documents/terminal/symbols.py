"""The marks that pages are drawn with: each of one cell in Unicode, and a set for terminals that have only ASCII."""

from __future__ import annotations

from typing import NamedTuple


class Symbols(NamedTuple):
    """One mark for each thing that is drawn."""

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
