"""A dialog that asks for a line of text, such as a title. It validates while the user types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from typing_extensions import TypedDict, override

from presscheck.errors import PresscheckError
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, width, wrap
from presscheck.tui.widgets.dialog import Dialog
from presscheck.tui.widgets.line_view import TextView
from presscheck.tui.widgets.search_inputs import Complete, SearchInput

if TYPE_CHECKING:
    from presscheck.store.drafts import DraftSlot

EXPAND = "ctrl+e"
"""The key that opens the text in the composer. In the composer, the same key opens it in the user's editor."""
COMPLETION_LINES = 2
"""Number of lines reserved for completions, so that the dialog keeps its size."""


class PromptOptions(TypedDict, total=False, closed=True):
    """The optional arguments of a `PromptDialog`."""

    min_length: int
    max_length: int | None
    confirm_label: str
    validate: Callable[[str], str | None] | None
    complete: Complete | None
    hint: str
    notes: Callable[[int], Sequence[Line]] | None
    expand: Callable[[], None] | None


class PromptDialog(Dialog[str]):
    """A dialog that returns the text without surrounding blanks, or None if it was closed.

    Args:
        title: the question, as display text.
        text: the initial text, or a draft that is updated on every change.
        min_length: the minimum number of characters.
        max_length: the maximum number of characters; None for no limit.
        confirm_label: the label of the key that confirms.
        validate: returns why a text of a valid length is invalid, or None.
        complete: returns the completions of the last word, which are listed below the input.
        hint: the placeholder of the empty input.
        notes: returns the lines above the input, given the width in cells.
        expand: opens the saved draft in a larger input, after the dialog closed.
    """

    DEFAULT_CSS = """
    PromptDialog SearchInput { margin: 1 0; }
    PromptDialog #notes { display: none; margin: 1 0 0 0; }
    PromptDialog #below { height: auto; margin: 0 1 1 1; }
    """

    def __init__(
        self,
        title: str,
        text: str | DraftSlot = "",
        *,
        min_length: int = 1,
        max_length: int | None = 256,
        confirm_label: str = "OK",
        validate: Callable[[str], str | None] | None = None,
        complete: Complete | None = None,
        hint: str = "",
        notes: Callable[[int], Sequence[Line]] | None = None,
        expand: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(title)
        self._draft = None if isinstance(text, str) else text
        self.value = text if isinstance(text, str) else text.text
        self.min_length, self.max_length, self.validate = min_length, max_length, validate
        self.confirm_label, self._complete = confirm_label, complete
        self.hint, self._error = hint, ""
        self._notes, self._expand = notes, expand

    @override
    def body(self) -> ComposeResult:
        yield TextView(id="notes")
        yield SearchInput(self.value, placeholder=self.hint, complete=self._complete)
        yield TextView(id="below")

    def on_mount(self) -> None:
        """Focus the input."""
        for view in self.query(TextView):
            view.can_focus = False
        self.query_one(SearchInput).focus()
        self._show()

    def on_resize(self) -> None:
        """Lay out the notes and the error for the new width of the dialog."""
        view = self.query_one("#notes", TextView)
        lines = self._notes(self.columns) if self._notes else ()
        view.display = bool(lines)
        view.styles.height = len(lines)
        view.show(lines)
        self._show()

    def on_input_changed(self) -> None:
        """Save the draft, and update the error and the completions."""
        self._error = ""
        try:
            if self._draft:
                self._draft.save(self.query_one(SearchInput).value)
        except PresscheckError as error:  # such as a full disk
            self._error = error.message
        self._show()

    @override
    def keys(self) -> dict[str, Callable[[], object]]:
        return {**super().keys(), **({EXPAND: self._expand_input} if self._expand else {})}

    @override
    def submit(self) -> None:
        if self._disabled_reason() is None:
            self.dismiss(self.query_one(SearchInput).value.strip())

    def _expand_input(self) -> None:
        self.dismiss(None)
        if self._expand:
            self._expand()

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
        error: Line = (Span(sanitize(self._error), "error"),) if self._error else (Span(reason or "", "waiting"),)
        fits = width(error) + width((Span(self.heading),)) < self.columns
        self.show_title(error if fits else ())
        self._show_below(() if fits else error)
        hints = {"enter": self.confirm_label}
        hints |= {"right": "complete"} if self._complete else {}
        hints |= {EXPAND: "longer text"} if self._expand else {}
        hints["escape"] = "cancel"
        self.show_keys(hints, disabled=("enter",) if reason else ())

    def _show_below(self, error: Line) -> None:
        """Show the completions below the input, or an error that does not fit next to the title.

        Space for completions is always reserved, so that the dialog keeps its height.
        """
        words = self._complete(self.query_one(SearchInput).value) if self._complete else ()
        room = self.columns - 2
        lines = wrap(error, room) if error else wrap((Span(" ".join(map(sanitize, words)), "quiet"),), room)
        below = self.query_one("#below", TextView)
        size = max(len(lines) if error else 0, COMPLETION_LINES if self._complete else 0)
        below.display = size > 0
        below.styles.height = size
        below.show(lines[:size])


def error_note(text: str) -> Callable[[int], Sequence[Line]]:
    """Return a function for the argument `notes` that shows an error message, or nothing for an empty message."""
    return lambda columns: wrap((Span(sanitize(text), "error"),), columns) if text else ()
