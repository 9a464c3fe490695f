"""The second wall before the terminal: whatever a widget was given, no strip that is painted holds a control character.

`sanitize` is the first; this one is for what it was not asked about. Widths stay as they were reckoned.
"""

from __future__ import annotations

from rich.cells import get_character_cell_size
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from presscheck.text.sanitize import is_safe_url


class ControlCharFilter(LineFilter):
    """Takes what could act out of painted text, and addresses that may not be opened out of links."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The segments as they may be painted; the same list where nothing was wrong."""
        for text, style, _ in segments:  # a loop, as every line that is painted passes here
            if not text.isprintable() or (style is not None and style.link is not None):
                return [_safe(segment) for segment in segments]
        return segments


def _safe(segment: Segment) -> Segment:
    text, style, _ = segment
    if not text.isprintable():
        text = "".join([character if character.isprintable() else _blank(character) for character in text])
    if style is not None and style.link is not None and not is_safe_url(style.link):
        style = style.update_link(None)
    return Segment(text, style)


def _blank(character: str) -> str:
    return (" " if character.isspace() else "?") * max(0, get_character_cell_size(character))
