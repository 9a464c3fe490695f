"""Text inputs in one line: the base of all, the line that finds in a pane, the line that filters rows."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input

from presscheck.tui.widgets.line_view import LineView


class SearchInput(Input):
    """A line of text."""

    DEFAULT_CSS = """
    SearchInput, SearchInput:focus {
        border: none; height: 1; padding: 0 1; background: $ink-ground; color: $ink-text;
        background-tint: $ink-ground 0%;
    }
    SearchInput > .input--placeholder { color: $ink-quiet; }
    """
    takes_text = True

    def __init__(self, value: str = "", *, placeholder: str = "", id: str | None = None) -> None:  # noqa: A002
        super().__init__(value=value, placeholder=placeholder, select_on_focus=False, compact=True, id=id)
        self.cursor_blink = False


class FindLine(SearchInput):
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


class FilterLine(SearchInput):
    """Opened by `FilterLine.open`; closes itself."""

    DEFAULT_CSS = "FilterLine { layer: above; dock: bottom; }"

    @dataclass
    class Filtered(Message):
        """Rows must hold this."""

        text: str

    def __init__(self, pane: LineView, text: str) -> None:
        super().__init__(text, placeholder="show only matching rows")
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
