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
        state: the state of the content, which determines the sign, its color and the key.
    """

    title: str
    hint: str = ""
    state: State = "ready"

    @property
    def line(self) -> str:
        """The message on a single line."""
        return f"{self.title.rstrip('.')}: {self.hint}" if self.hint else self.title


SIGNS: dict[State, tuple[Line, str]] = {
    "failed": ((Span("✗ ", "removed"),), "retry"),
    "offline": ((Span("⚠ ", "waiting"),), "retry now"),
}
"""The sign for a state, and the label of the key that reloads the content."""


class EmptyState(TextView):
    """The message of an empty, loading, failed or offline pane. It is hidden while the pane has content."""

    DEFAULT_CSS = "EmptyState { height: auto; min-height: 5; padding: 1 2; display: none; }"
    can_focus = False
    _texts: Sequence[Line] = ()
    _key: Sequence[Line] = ()

    def show_message(self, message: Message) -> None:
        """Show a message with the sign and the key of its state."""
        sign, retry = SIGNS.get(message.state, ((), ""))
        title = Span(sanitize(message.title), "quiet" if message.state == "loading" else "strong")
        hint = [(Span(sanitize(line), "quiet"),) for line in message.hint.split("\n") if line]
        self._texts = [(*sign, title), *hint]
        self._key = ((), (Span("ctrl+r", "accent"), Span(f"  {retry}", "quiet"))) if retry else ()
        self.display = True
        self._lay_out()

    def show_empty(self, title: str, hint: str = "") -> None:
        """Show that there is nothing to list, and a hint."""
        self.show_message(Message(title, hint))

    def hide(self) -> None:
        """Hide the message."""
        self.display = False

    @override
    def on_resize(self) -> None:
        self._lay_out()

    def _lay_out(self) -> None:
        columns = self.size.width
        lines = [line for text in self._texts for line in (wrap(text, columns) if columns else [text])]
        lines += self._key
        self.show(lines)
        self.styles.height = len(lines) + 2
