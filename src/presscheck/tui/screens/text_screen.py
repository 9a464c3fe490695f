"""A place with nothing but lines to read: every error, the text of what waits, a request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult

from presscheck.documents.spans import Line, Span
from presscheck.tui.screens.base_screen import BaseScreen
from presscheck.tui.widgets.text_view import TextView

if TYPE_CHECKING:
    from presscheck.tui.app_context import AppContext


class TextScreen(BaseScreen):
    """Lines under a title, as display text.

    Args:
        heading: what they are.
        lines: what to read.
    """

    FOOTER = ("down", "half_down", "find_here", "close")

    def __init__(self, heading: str, lines: Sequence[Line]) -> None:
        super().__init__()
        self.heading, self.lines = heading, lines

    def title_line(self) -> Line:
        """What they are."""
        return (Span(f" {self.heading}", "title"),)

    def body(self) -> ComposeResult:
        """The lines."""
        yield TextView(self.style_for)

    def on_mount(self) -> None:
        """Show them, the last ones first seen."""
        lines = self.query_one(TextView)
        lines.show(self.lines)
        lines.focus()

    def show(self, lines: Sequence[Line]) -> None:
        """Read these instead, where it is still open."""
        self.lines = lines
        if self.is_mounted and not self.is_leaving:
            self.query_one(TextView).show(lines)


def errors(home: AppContext) -> TextScreen:
    """Every error since the start, the newest first."""
    lines: list[Line] = [
        (Span(f" {one.at.astimezone():%H:%M:%S}  ", "quiet"), Span("✗ ", "error"), Span(one.text))
        for one in reversed(home.notices.said)
        if one.is_error
    ]
    return TextScreen("Errors", [(), *(lines or [(Span(" No error so far.", "quiet"),)])])
