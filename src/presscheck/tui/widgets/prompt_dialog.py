"""A dialog that asks for one line of text, such as a title, and shows at once why the input is invalid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from typing_extensions import override

from presscheck.errors import PresscheckError
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, wrap
from presscheck.tui.widgets.line_view import TextView
from presscheck.tui.widgets.search_inputs import SearchInput
from presscheck.tui.widgets.status_bar import StatusLine, pressing

WIDEST = 76
EXPAND = "ctrl+e"
"""The key that continues in a larger input; there, it continues in the editor of the user."""


class PromptDialog(ModalScreen[str | None], inherit_bindings=False):
    """A dialog whose result is the text, without surrounding blanks; None if it was closed.

    Args:
        title: the question, as display text.
        value: the initial text.
        min_length: the minimum number of characters.
        max_length: the maximum number of characters; None for no limit.
        save: saves the draft.
        confirm_label: the label of the key that confirms.
        validate: returns why a text of a valid length is invalid, or None.
        hint: the placeholder of the empty input.
        notes: returns lines of a number of columns, shown above the input.
        expand: continues with the saved draft in a larger input; the dialog closes.
    """

    BINDINGS: ClassVar[list[BindingType]] = []
    DEFAULT_CSS = """
    PromptDialog { align: center middle; background: transparent; }
    PromptDialog > Vertical { width: 76; max-width: 100%; height: auto; padding: 1 2; background: $ink-raised; }
    PromptDialog SearchInput { margin: 1 0; }
    PromptDialog TextView { display: none; margin: 1 0 0 0; }
    """

    def __init__(
        self,
        title: str,
        value: str,
        *,
        min_length: int = 1,
        max_length: int | None = 256,
        confirm_label: str = "OK",
        save: Callable[[str], None] | None = None,
        validate: Callable[[str], str | None] | None = None,
        hint: str = "",
        notes: Callable[[int], Sequence[Line]] | None = None,
        expand: Callable[[], None] | None = None,
    ) -> None:
        super().__init__()
        self.heading, self.value, self.save = title, value, save
        self.min_length, self.max_length, self.validate = min_length, max_length, validate
        self.confirm_label = confirm_label
        self.hint, self._error = hint, ""
        self._notes, self._expand = notes, expand

    @override
    def compose(self) -> ComposeResult:
        with Vertical():
            yield StatusLine(id="prompt-title")
            yield TextView()
            yield SearchInput(self.value, placeholder=self.hint)
            yield StatusLine(id="prompt-keys")

    def on_mount(self) -> None:
        """Focus the input."""
        self.query_one(TextView).can_focus = False
        self.query_one(SearchInput).focus()
        self._show()

    def on_resize(self) -> None:
        """Cut the notes to the width of the dialog."""
        view = self.query_one(TextView)
        lines = self._notes(max(20, min(WIDEST, self.size.width) - 4)) if self._notes else ()
        view.display = bool(lines)
        view.styles.height = len(lines)
        view.show(lines)

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
        """Confirm, close, or continue in a larger input."""
        if event.key == "escape":
            self.dismiss(None)
        elif event.key == "enter":
            if self._disabled_reason() is None:
                self.dismiss(self.query_one(SearchInput).value.strip())
        elif event.key == EXPAND and self._expand:
            self.dismiss(None)
            self._expand()
        else:
            return
        event.stop()
        event.prevent_default()

    def _disabled_reason(self) -> str | None:
        text = self.query_one(SearchInput).value.strip()
        size = len(text)
        if size < self.min_length:
            return f"at least {self.min_length} characters" if self.min_length > 1 else "required"
        if self.max_length is not None and size > self.max_length:
            return f"{size - self.max_length:,} too many: at most {self.max_length:,}"
        return self.validate(text) if self.validate else None

    def _show(self) -> None:
        reason = self._disabled_reason()
        error = (Span(sanitize(self._error), "error"),) if self._error else (Span(reason or "", "waiting"),)
        self.query_one("#prompt-title", StatusLine).show((Span(self.heading, "title"),), error)
        confirm = Span("enter", "quiet" if reason else "accent"), Span(f" {self.confirm_label}", "quiet")
        expand = pressing(EXPAND, Span(EXPAND, "accent"), Span(" longer text", "quiet")) if self._expand else ()
        cancel = pressing("escape", Span("esc", "accent"), Span(" cancel", "quiet"))
        hints = [hint for hint in (pressing("enter", *confirm), expand, cancel) if hint]
        self.query_one("#prompt-keys", StatusLine).show(
            tuple(span for hint in hints for span in (*hint, Span("   ", "quiet")))
        )


def error_note(text: str) -> Callable[[int], Sequence[Line]]:
    """The notes of a dialog that asks again: why what was typed could not be used; none for an empty text."""
    return lambda columns: wrap((Span(sanitize(text), "error"),), columns) if text else ()
