"""Single-line inputs: the base of all, one that finds text in a pane, and one that filters rows."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input

from presscheck.tui.widgets.line_view import LineView


class SearchInput(Input):
    """A single-line input in the colours of the theme."""

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
    """Finds a text in a pane; opened by `FindLine.open`, closes itself."""

    DEFAULT_CSS = "FindLine { layer: above; dock: bottom; }"

    def __init__(self, pane: LineView) -> None:
        super().__init__(pane.search_text, placeholder="find")
        self.pane = pane

    @classmethod
    def open(cls, screen: Screen[None], pane: LineView) -> None:
        """Open the input for a pane, in place of an open one."""
        for other in screen.query(FindLine):
            other.remove()
        line = cls(pane)
        screen.mount(line)
        line.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Highlight the text while it is typed."""
        event.stop()
        self.pane.search_text = event.value.lower()
        self.pane.redraw()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go to the next match."""
        event.stop()
        self.screen.run_worker(self.pane.search(event.value), group="find", exclusive=True)
        self._close()

    def on_key(self, event: events.Key) -> None:
        """Close and remove the highlights on escape."""
        if event.key == "escape":
            event.stop()
            event.prevent_default()
            self.pane.search_text = ""
            self.pane.redraw()
            self._close()

    def _close(self) -> None:
        self.pane.focus()
        self.remove()


class FilterLine(SearchInput):
    """Filters the rows of a pane; opened by `FilterLine.open`, closes itself."""

    DEFAULT_CSS = "FilterLine { layer: above; dock: bottom; }"

    @dataclass
    class Filtered(Message):
        """Posted when the filter changes."""

        text: str

    def __init__(self, pane: LineView, text: str) -> None:
        super().__init__(text, placeholder="show only matching rows")
        self.pane = pane

    @classmethod
    def open(cls, screen: Screen[None], pane: LineView, text: str) -> None:
        """Open the input for a pane, in place of an open one."""
        for other in screen.query(FilterLine):
            other.remove()
        line = cls(pane, text)
        screen.mount(line)
        line.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter while the text is typed."""
        event.stop()
        self.post_message(self.Filtered(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Close and keep the filter."""
        event.stop()
        self._close()

    def on_key(self, event: events.Key) -> None:
        """Close and remove the filter on escape."""
        if event.key == "escape":
            event.stop()
            event.prevent_default()
            self.post_message(self.Filtered(""))
            self._close()

    def _close(self) -> None:
        self.pane.focus()
        self.remove()
