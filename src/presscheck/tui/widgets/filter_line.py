"""The line in which one types what rows must hold: it holds at once, enter keeps it, escape takes it away."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input

from presscheck.tui.widgets.line_view import LineView
from presscheck.tui.widgets.typed import Typed


class FilterLine(Typed):
    """Opened by `FilterLine.open`; closes itself."""

    DEFAULT_CSS = "FilterLine { layer: above; dock: bottom; }"

    @dataclass
    class Filtered(Message):
        """Rows must hold this."""

        text: str

    def __init__(self, pane: LineView, text: str) -> None:
        super().__init__(text, placeholder="show only what holds these words")
        self.pane = pane

    @classmethod
    def open(cls, screen: Screen[None], pane: LineView, text: str) -> None:
        """Ask what rows must hold."""
        for other in screen.query(FilterLine):
            other.remove()
        line = cls(pane, text)
        screen.mount(line)
        line.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show while typing."""
        event.stop()
        self.post_message(self.Filtered(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """It stays."""
        event.stop()
        self._close()

    def on_key(self, event: events.Key) -> None:
        """Escape shows all."""
        if event.key == "escape":
            event.stop()
            event.prevent_default()
            self.post_message(self.Filtered(""))
            self._close()

    def _close(self) -> None:
        self.pane.focus()
        self.remove()
