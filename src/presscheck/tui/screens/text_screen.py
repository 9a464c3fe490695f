"""A screen that shows a text, such as a notice, a pending change or a request."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from typing_extensions import override

from presscheck.text.styled_text import Line, Span
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.widgets.line_view import TextView


class TextScreen(BaseScreen):
    """A screen with a title and lines of display text.

    Args:
        heading: the title.
        lines: the text.
    """

    FOOTER = ("down", "half_down", "find_here", "close")

    def __init__(self, heading: str, lines: Sequence[Line]) -> None:
        super().__init__()
        self.heading, self.lines = heading, lines

    @override
    def title_line(self) -> Line:
        return (Span(f" {self.heading}", "title"),)

    @override
    def body(self) -> ComposeResult:
        yield TextView()

    @override
    def on_mount(self) -> None:
        lines = self.query_one(TextView)
        lines.show(self.lines)
        lines.focus()

    def show(self, lines: Sequence[Line]) -> None:
        """Replace the text; does nothing visible after the screen was closed."""
        self.lines = lines
        if self.is_mounted and not self.is_leaving:
            self.query_one(TextView).show(lines)
