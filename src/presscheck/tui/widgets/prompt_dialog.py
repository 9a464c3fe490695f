"""A dialog that asks for one line of text, such as a title, and shows at once why the input is invalid."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from presscheck.errors import PresscheckError
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Span
from presscheck.tui.status_bar import StatusLine
from presscheck.tui.theme import StyleLookup
from presscheck.tui.widgets.line_view import raised
from presscheck.tui.widgets.search_inputs import SearchInput


class PromptDialog(ModalScreen[str | None], inherit_bindings=False):
    """A dialog whose result is the text, without surrounding blanks; None if it was closed.

    Args:
        title: the question, as display text.
        value: the initial text.
        style_for: returns the style for style words.
        min_length: the minimum number of characters.
        max_length: the maximum number of characters.
        save: saves the draft.
        validate: returns why a text of a valid length is invalid, or None.
        hint: the placeholder of the empty input.
    """

    BINDINGS: ClassVar[list[BindingType]] = []
    DEFAULT_CSS = """
    PromptDialog { align: center middle; background: transparent; }
    PromptDialog > Vertical { width: 76; max-width: 100%; height: auto; padding: 1 2; background: $ink-raised; }
    PromptDialog SearchInput { margin: 1 0; }
    """

    def __init__(
        self,
        title: str,
        value: str,
        style_for: StyleLookup,
        *,
        min_length: int = 1,
        max_length: int = 256,
        save: Callable[[str], None] | None = None,
        validate: Callable[[str], str | None] | None = None,
        hint: str = "",
    ) -> None:
        super().__init__()
        self.heading, self.value, self.style_for, self.save = title, value, raised(style_for), save
        self.min_length, self.max_length, self.validate = min_length, max_length, validate
        self.hint, self._error = hint, ""

    def compose(self) -> ComposeResult:
        """Title, input, keys."""
        with Vertical():
            yield StatusLine(self.style_for, id="prompt-title")
            yield SearchInput(self.value, placeholder=self.hint)
            yield StatusLine(self.style_for, id="prompt-keys")

    def on_mount(self) -> None:
        """Focus the input."""
        self.query_one(SearchInput).focus()
        self._show()

    def on_input_changed(self) -> None:
        """Save the draft, and show what is wrong with the input."""
        self._error = ""
        try:
            if self.save:
                self.save(self.query_one(SearchInput).value)
        except PresscheckError as error:  # such as on a disk that is full
            self._error = error.message
        self._show()

    def on_key(self, event: events.Key) -> None:
        """Confirm or close."""
        if event.key == "escape":
            self.dismiss(None)
        elif event.key == "enter":
            if self._disabled_reason() is None:
                self.dismiss(self.query_one(SearchInput).value.strip())
        else:
            return
        event.stop()
        event.prevent_default()

    def _disabled_reason(self) -> str | None:
        text = self.query_one(SearchInput).value.strip()
        size = len(text)
        if size < self.min_length:
            return f"at least {self.min_length} characters" if self.min_length > 1 else "required"
        if size > self.max_length:
            return f"{size - self.max_length:,} too many: at most {self.max_length:,}"
        return self.validate(text) if self.validate else None

    def _show(self) -> None:
        reason = self._disabled_reason()
        error = (Span(sanitize(self._error), "error"),) if self._error else (Span(reason or "", "waiting"),)
        self.query_one("#prompt-title", StatusLine).show((Span(self.heading, "title"),), error)
        keys = (Span("enter", "quiet" if reason else "accent"), Span(" OK   ", "quiet"))
        self.query_one("#prompt-keys", StatusLine).show((*keys, Span("esc", "accent"), Span(" cancel", "quiet")))
