"""The line in which one types what to find in a pane; matches are marked while typing, enter goes to the next one."""

from __future__ import annotations

from textual import events
from textual.screen import Screen
from textual.widgets import Input

from presscheck.tui.widgets.line_view import LineView
from presscheck.tui.widgets.typed import Typed


class FindLine(Typed):
    """Opened by `FindLine.open`; closes itself."""

    DEFAULT_CSS = "FindLine { layer: above; dock: bottom; }"

    def __init__(self, pane: LineView) -> None:
        super().__init__(pane.needle, placeholder="find")
        self.pane = pane

    @classmethod
    def open(cls, screen: Screen[None], pane: LineView) -> None:
        """Ask what to find in that pane."""
        for other in screen.query(FindLine):
            other.remove()
        line = cls(pane)
        screen.mount(line)
        line.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Mark while typing."""
        event.stop()
        self.pane.needle = event.value.lower()
        self.pane.redraw()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go there."""
        event.stop()
        self.screen.run_worker(self.pane.search(event.value), group="find", exclusive=True)
        self._close()

    def on_key(self, event: events.Key) -> None:
        """Escape finds nothing."""
        if event.key == "escape":
            event.stop()
            event.prevent_default()
            self.pane.needle = ""
            self.pane.redraw()
            self._close()

    def _close(self) -> None:
        self.pane.focus()
        self.remove()
