"""A page layout that is complete from the start, for items in the tree other than pages."""

from __future__ import annotations

from presscheck.documents.terminal.page_lines import Heading
from presscheck.text.styled_text import Line, Span, cut


class StaticLayout:
    """A page layout whose lines all exist from the start. The position of a line is the pair of 0 and its number.

    Args:
        columns: the width.
    """

    done = True

    def __init__(self, columns: int) -> None:
        self.width = max(columns, 1)
        self.lines: list[Line] = []
        self.headings: list[Heading] = []

    def title(self, text: str) -> None:
        """Add the title and a rule below it."""
        self.headings.append(Heading(1, text, 0))
        self.lines.append(cut((Span(text, "title strong"),), self.width))
        self.lines.append((Span("─" * self.width, "quiet"),))

    def at_least(self, count: int) -> None:
        """Do nothing: all lines exist already."""

    def advance(self, seconds: float) -> bool:
        """Return True: all lines exist already."""
        return True

    def place_of(self, line: int) -> tuple[int, int]:
        """Return the position of a line."""
        return 0, line

    def line_of(self, place: tuple[int, int]) -> int:
        """Return the line at a position."""
        return place[1]
