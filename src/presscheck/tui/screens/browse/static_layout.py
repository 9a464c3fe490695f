"""A page layout that is complete at once: what `PageView` shows next to the tree for a space or a site."""

from __future__ import annotations

from presscheck.documents.terminal.page_lines import Heading
from presscheck.text.styled_text import Line, Span, cut


class StaticLayout:
    """A page layout of one width; a place in them is a line, which is the same at any width.

    Args:
        columns: the width, in cells.
    """

    done = True

    def __init__(self, columns: int) -> None:
        self.width = max(columns, 1)
        self.lines: list[Line] = []
        self.headings: list[Heading] = []

    def title(self, text: str) -> None:
        """Begin with a title."""
        self.headings.append(Heading(1, text, 0))
        self.lines.append(cut((Span(text, "title strong"),), self.width))
        self.lines.append((Span("─" * self.width, "quiet"),))

    def at_least(self, count: int) -> None:
        """Everything is laid out already."""

    def advance(self, seconds: float) -> bool:
        """Everything is laid out already."""
        return True

    def place_of(self, line: int) -> tuple[int, int]:
        """The place of a line."""
        return 0, line

    def line_of(self, place: tuple[int, int]) -> int:
        """The line of a place."""
        return place[1]
