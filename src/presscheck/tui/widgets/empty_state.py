"""The message of an empty pane: the reason, a hint, and a key that may help."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from typing_extensions import override

from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, wrap
from presscheck.tui.widgets.line_view import TextView

State = Literal["ready", "forbidden", "unsupported", "offline", "failed", "loading"]
"""The states of the content of a pane, in the order in which they are tested."""


class Message(NamedTuple):
    """The message of an empty pane.

    Attributes:
        title: the reason why the pane is empty.
        hint: details, or advice to the user; lines are separated by line feeds.
        state: the state of the content, which determines sign, color and key.
    """

    title: str
    hint: str = ""
    state: State = "ready"


class EmptyState(TextView):
    """The message of a pane that is empty, loading, failed or offline; hidden while the pane has content."""

    DEFAULT_CSS = "EmptyState { height: auto; min-height: 5; padding: 1 2; display: none; }"
    can_focus = False
    _texts: Sequence[Line] = ()
    _key: Sequence[Line] = ()

    def show_message(self, message: Message) -> None:
        """Show a message with the sign and the key of its state."""
        match message.state:
            case "failed":
                self.show_failed(message.title, message.hint)
            case "offline":
                self.show_offline(message.title, message.hint)
            case "loading":
                self.show_loading(message.title)
            case _:
                self.show_empty(message.title, message.hint)

    def show_empty(self, title: str, hint: str = "", key: str = "") -> None:
        """Show that there is nothing to list, and a hint."""
        self._show_message((Span(title, "strong"),), hint, key)

    def show_loading(self, title: str) -> None:
        """Show that data is being loaded."""
        self._show_message((Span(title, "quiet"),), "", "")

    def show_failed(self, title: str, reason: str, key: str = "ctrl+r") -> None:
        """Show that loading failed, and why."""
        self._show_message((Span("✗ ", "removed"), Span(title, "strong")), reason, key, "retry")

    def show_offline(self, title: str, age: str = "") -> None:
        """Show that the app is offline, and the age of the data."""
        self._show_message((Span("⚠ ", "waiting"), Span(title, "strong")), age, "ctrl+r", "retry now")

    def hide(self) -> None:
        """Hide the message."""
        self.display = False

    def _show_message(self, title: Line, hint: str, key: str, key_label: str = "") -> None:
        texts: list[Line] = [tuple(span._replace(text=sanitize(span.text)) for span in title)]
        texts += [(Span(sanitize(line), "quiet"),) for line in hint.split("\n") if line]
        self._texts = texts
        self._key = ((), (Span(key, "accent"), Span(f"  {key_label}" if key_label else "", "quiet"))) if key else ()
        self.display = True
        self._lay_out()

    @override
    def on_resize(self) -> None:
        self._lay_out()

    def _lay_out(self) -> None:
        columns = self.size.width
        lines = [line for text in self._texts for line in (wrap(text, columns) if columns else [text])]
        lines += self._key
        self.show(lines)
        self.styles.height = len(lines) + 2
