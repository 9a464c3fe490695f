"""A still of the inbox: what it showed last, painted at the next start while the rest of the program is still loading.

It is text of this screen's own, kept in the cache; a terminal of another size, or another theme, gets none. What is
true only now is left out: the state of the world, and what was said below.
"""

from __future__ import annotations

import json
from typing import Any, cast

from rich.errors import StyleSyntaxError
from rich.segment import Segment
from rich.style import Style
from textual.screen import Screen
from textual.strip import Strip

KEY = "still inbox"
"""The name in the cache."""


class Still(Screen[None], inherit_bindings=False):
    """The screen that is seen first; blank where nothing is remembered for this size and theme.

    Args:
        text: what `taken` returned at an earlier time.
        ground: what blank cells look like.
    """

    def __init__(self, text: str | None, ground: Style) -> None:
        super().__init__()
        self._ground = ground
        self._kept = _read(text)

    def render_line(self, y: int) -> Strip:
        """One line of the still."""
        columns, rows = self.size
        strips = self._kept.get(f"{self.app.theme} {columns} {rows}", ())  # pyright: ignore[reportUnknownMemberType]
        return strips[y] if y < len(strips) else Strip.blank(columns, self._ground)


def taken(theme: str, columns: int, rows: int, strips: dict[int, Strip]) -> str:
    """These lines of a screen as text; where there is none, a line is blank."""
    styles: dict[str, int] = {}
    lines = [
        [(text, styles.setdefault(str(style), len(styles))) for text, style, _ in strips[y]] if y in strips else []
        for y in range(rows)
    ]
    return json.dumps({"for": f"{theme} {columns} {rows}", "columns": columns, "styles": [*styles], "lines": lines})


def _read(text: str | None) -> dict[str, list[Strip]]:
    """The still by what it is for; empty where it cannot be read, which costs nothing but the still."""
    try:
        found = cast("dict[str, Any]", json.loads(text or "null"))
        styles = [Style.parse(style) for style in found["styles"]]
        columns: int = found["columns"]
        lines: list[list[tuple[str, int]]] = found["lines"]
        strips = [Strip([Segment(text, styles[style]) for text, style in line]) for line in lines]
        return {found["for"]: [strip.adjust_cell_length(columns) for strip in strips]}
    except (ValueError, TypeError, LookupError, AttributeError, StyleSyntaxError):
        return {}
