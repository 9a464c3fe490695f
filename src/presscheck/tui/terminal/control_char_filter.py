"""Removes control characters and unsafe links from every strip before it is painted.

A second line of defence: text from the wire has passed `sanitize` before. Cell widths do not change.
"""

from __future__ import annotations

from rich.cells import get_character_cell_size
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from presscheck.text.sanitize import is_safe_url


class ControlCharFilter(LineFilter):
    """A Textual line filter that replaces control characters and removes unsafe links."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The safe segments; the same list if nothing had to be changed."""
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
