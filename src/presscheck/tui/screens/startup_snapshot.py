"""The startup snapshot: the last content of the inbox, painted at the next start while the program is loading.

The snapshot is stored in the cache for a single view, size and theme, without connection state and messages.
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

from presscheck.config.saved_views import same_name

KEY = "still inbox"
"""The key in the cache, for compatibility with earlier versions."""


class StartupSnapshot(Screen[None], inherit_bindings=False):
    """The first screen, which is blank if no snapshot has the current size and theme.

    Args:
        text: the stored result of `snapshot_text`.
        ground: the style of blank cells.
        view: the title or id of the view that the inbox will show; empty for the view that was shown last.
    """

    def __init__(self, text: str | None, ground: Style, view: str = "") -> None:
        super().__init__()
        self._ground = ground
        self._strips = _read(text, view)

    @override
    def render_line(self, y: int) -> Strip:
        columns, rows = self.size
        strips = self._strips.get(f"{self.app.theme} {columns} {rows}", ())
        return strips[y] if y < len(strips) else Strip.blank(columns, self._ground)

    def on_screen_suspend(self) -> None:
        """Free the lines, because the screen is not shown again."""
        self._strips = {}
        self._styles_cache.clear()


def snapshot_text(theme: str, columns: int, rows: int, strips: dict[int, Strip], view: tuple[str, ...] = ()) -> str:
    """Return the lines of a screen as a text to store; missing lines are blank. `view` has the names of the view."""
    styles: dict[str, int] = {}
    lines = [
        [(text, styles.setdefault(str(style), len(styles))) for text, style, _ in strips[y]] if y in strips else []
        for y in range(rows)
    ]
    shown_for = {"for": f"{theme} {columns} {rows}", "view": view, "columns": columns}
    return json.dumps({**shown_for, "styles": [*styles], "lines": lines})


def _read(text: str | None, view: str) -> dict[str, list[Strip]]:
    """Return the lines by theme and size; empty if the text cannot be read, or shows another view than `view`."""
    try:
        stored = cast("dict[str, Any]", json.loads(text or "null"))
        if view and not any(same_name(view, name) for name in stored.get("view", ())):
            return {}
        styles = [Style.parse(style) for style in stored["styles"]]
        columns: int = stored["columns"]
        lines: list[list[tuple[str, int]]] = stored["lines"]
        strips = [Strip([Segment(text, styles[style]) for text, style in line]) for line in lines]
        return {stored["for"]: [strip.adjust_cell_length(columns) for strip in strips]}
    except (ValueError, TypeError, LookupError, AttributeError, StyleSyntaxError):
        return {}
