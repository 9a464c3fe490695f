"""The startup snapshot: the last content of the inbox, painted at the next start while the program is loading.

The snapshot is stored in the cache for a single size and theme, without connection state and messages.
"""

from __future__ import annotations

import json
from typing import Any, cast

from rich.errors import StyleSyntaxError
from rich.segment import Segment
from rich.style import Style
from textual.screen import Screen
from textual.strip import Strip
from typing_extensions import override

KEY = "still inbox"
"""The key in the cache, for compatibility with earlier versions."""


class StartupSnapshot(Screen[None], inherit_bindings=False):
    """The first screen, which is blank if no snapshot has the current size and theme.

    Args:
        text: the stored result of `snapshot_text`.
        ground: the style of blank cells.
    """

    def __init__(self, text: str | None, ground: Style) -> None:
        super().__init__()
        self._ground = ground
        self._strips = _read(text)

    @override
    def render_line(self, y: int) -> Strip:
        columns, rows = self.size
        strips = self._strips.get(f"{self.app.theme} {columns} {rows}", ())
        return strips[y] if y < len(strips) else Strip.blank(columns, self._ground)


def snapshot_text(theme: str, columns: int, rows: int, strips: dict[int, Strip]) -> str:
    """Return the lines of a screen as a text to store; missing lines are blank."""
    styles: dict[str, int] = {}
    lines = [
        [(text, styles.setdefault(str(style), len(styles))) for text, style, _ in strips[y]] if y in strips else []
        for y in range(rows)
    ]
    return json.dumps({"for": f"{theme} {columns} {rows}", "columns": columns, "styles": [*styles], "lines": lines})


def _read(text: str | None) -> dict[str, list[Strip]]:
    """Return the lines by theme and size; empty if the text cannot be read."""
    try:
        stored = cast("dict[str, Any]", json.loads(text or "null"))
        styles = [Style.parse(style) for style in stored["styles"]]
        columns: int = stored["columns"]
        lines: list[list[tuple[str, int]]] = stored["lines"]
        strips = [Strip([Segment(text, styles[style]) for text, style in line]) for line in lines]
        return {stored["for"]: [strip.adjust_cell_length(columns) for strip in strips]}
    except (ValueError, TypeError, LookupError, AttributeError, StyleSyntaxError):
        return {}
