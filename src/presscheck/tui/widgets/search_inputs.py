"""Single-line inputs: a base class, and the search bar of a pane."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.suggester import Suggester
from textual.widgets import Input
from typing_extensions import override

from presscheck.text.styled_text import Line, width
from presscheck.tui.keyboard import is_alt_letter
from presscheck.tui.widgets.status_bar import StatusLine

if TYPE_CHECKING:
    from presscheck.tui.app_context import AppContext


Complete = Callable[[str], Sequence[str]]
"""Returns the completions of the last word of a text."""


class _LastWordSuggester(Suggester):
    """A suggester that completes the last word. The typed letters keep their case."""

    def __init__(self, complete: Complete) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._complete = complete

    @override
    async def get_suggestion(self, value: str) -> str | None:
        words, typed = self._complete(value), len(value) - value.rfind(" ") - 1
        return value + words[0][typed:] if words else None


class SearchInput(Input):
    """A single-line input in the colors of the theme.

    Args:
        value: the initial text.
        placeholder: what an empty input shows.
        id: the widget's id.
        complete: returns the completions of the last word. The key right, at the end of the text, inserts the first.
    """

    DEFAULT_CSS = """
    SearchInput, SearchInput.-textual-compact, SearchInput:focus {
        border: none; height: 1; padding: 0 1; background: $ink-ground; color: $ink-text;
        background-tint: $ink-ground 0%;
    }
    SearchInput > .input--placeholder, SearchInput > .input--suggestion { color: $ink-quiet; }
    """
    takes_text = True

    def __init__(
        self,
        value: str = "",
        *,
        placeholder: str = "",
        id: str | None = None,  # noqa: A002
        complete: Complete | None = None,
    ) -> None:
        suggester = _LastWordSuggester(complete) if complete else None
        super().__init__(
            value=value, placeholder=placeholder, suggester=suggester, select_on_focus=False, compact=True, id=id
        )
        self.cursor_blink = False

    def on_key(self, event: events.Key) -> None:
        """Leave letters with alt to the dialog."""
        if is_alt_letter(event):
            event.prevent_default()


class FindInput(SearchInput):
    """The input of a search. Keys typed after enter wait until the match is selected.

    The text reaches the screen through several messages, so keys of the same burst would arrive before it.
    """

    @override
    async def action_submit(self) -> None:
        app = cast("AppContext", self.app)  # App is generic in its result
        app.type_ahead.hold(FindBar)
        await super().action_submit()


class FindBar(Horizontal):
    """A bar with the input of a search and the number of matches. The screen performs the search.

    Args:
        last: the previous search. Enter in an empty input repeats it, and the key up inserts it.
    """

    DEFAULT_CSS = """
    FindBar { layer: above; dock: bottom; height: 1; background: $ink-ground; }
    FindBar SearchInput { width: 1fr; }
    FindBar StatusLine { width: 0; }
    """

    @dataclass
    class Typed(Message):
        """Posted when the text changes."""

        text: str

    @dataclass
    class Submitted(Message):
        """Posted when enter was pressed, with the text to search."""

        text: str

    class Cancelled(Message):
        """Posted when the search was cancelled."""

    def __init__(self, last: str) -> None:
        super().__init__()
        self._last = last

    @override
    def compose(self) -> ComposeResult:
        yield FindInput(placeholder=f"find, or enter to find “{self._last}” again" if self._last else "find")
        yield StatusLine()

    def show_count(self, text: Line) -> None:
        """Show the number of matches."""
        line = self.query_one(StatusLine)
        line.styles.width = width(text) + 3 if text else 0
        line.show(text)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Post the typed text."""
        event.stop()
        self.post_message(self.Typed(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Post the text, or the last searched text if the input is empty."""
        event.stop()
        self.post_message(self.Submitted(event.value or self._last))

    def on_key(self, event: events.Key) -> None:
        """Cancel the search on escape, and insert the last text on the key up."""
        if event.key == "escape":
            self.post_message(self.Cancelled())
        elif event.key == "up" and self._last:
            line = self.query_one(SearchInput)
            line.value = self._last
            line.cursor_position = len(self._last)
        else:
            return
        event.stop()
        event.prevent_default()
