"""The base class of dialogs: a title, a body, a line of clickable keys, and key handling."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import ClassVar, Generic, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from typing_extensions import override

from presscheck.text.styled_text import Line, Span
from presscheck.tui.app_context import app_of
from presscheck.tui.commands import shown
from presscheck.tui.keyboard import key_name
from presscheck.tui.widgets.status_bar import StatusLine, pressing

T = TypeVar("T")
SUBMIT = ("ctrl+s", "alt+enter")
MOVES = {"down": 1, "ctrl+n": 1, "tab": 1, "up": -1, "ctrl+p": -1, "shift+tab": -1}
PAGES = {"pagedown": 1, "pageup": -1}


class Dialog(ModalScreen[T | None], Generic[T], inherit_bindings=False):
    """A dialog. Its result is None if it was closed.

    The keys to submit, cancel and move are the same in all dialogs. A subclass adds its own keys in `keys`. All are
    default keys; the user's keys are translated when they are pressed and shown.

    Args:
        title: the question, as display text.
        classes: CSS classes.
    """

    BINDINGS: ClassVar[list[BindingType]] = []
    DEFAULT_CSS = """
    Dialog { align: center middle; background: transparent; }
    Dialog > Vertical { width: 76; max-width: 100%; height: auto; padding: 1 2; background: $ink-raised; }
    """
    WIDEST: ClassVar[int] = 76
    """The width of the dialog on a wide screen, in cells."""
    GAP: ClassVar[int] = 3
    """Cells between two key hints."""

    def __init__(self, title: str, *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self.heading = title

    def body(self) -> ComposeResult:
        """Yield the widgets between the title and the keys."""
        yield from ()

    @override
    def compose(self) -> ComposeResult:
        with Vertical():
            yield StatusLine(id="title")
            yield from self.body()
            yield StatusLine(id="keys")

    @property
    def is_leaving(self) -> bool:
        """Whether the dialog is being closed, so that some of its widgets may be gone."""
        return self._closing or self._closed or self._pruning

    @property
    def columns(self) -> int:
        """The width of the body, in cells."""
        return max(20, min(self.WIDEST, self.size.width) - 4)

    def keys(self) -> dict[str, Callable[[], object]]:
        """Return the action of each key; other keys go to the focused widget."""
        return {
            "escape": self.cancel,
            "enter": self.submit,
            **dict.fromkeys(SUBMIT, self.submit),
            **{key: partial(self.move, by) for key, by in MOVES.items()},
            **{key: partial(self.page, by) for key, by in PAGES.items()},
        }

    def on_key(self, event: events.Key) -> None:
        """Run the action of a key. In a text input, letters are typed, even if the user chose them for a command."""
        key, actions = key_name(event), self.keys()
        if key not in actions or len(key) > 1:
            key = key if len(key) == 1 and self._is_typing else app_of(self).keymap.default_of(key)
        action = actions.get(key)
        if action:
            event.stop()
            event.prevent_default()
            action()

    @property
    def _is_typing(self) -> bool:
        return getattr(self.focused, "takes_text", False)

    def cancel(self) -> None:
        """Close without a result."""
        self.dismiss(None)

    def submit(self) -> None:
        """Close with the result if it is valid."""

    def move(self, by: int) -> None:
        """Focus the next field, or the previous field if `by` is negative."""
        if by > 0:
            self.focus_next()
        else:
            self.focus_previous()

    def page(self, by: int) -> None:
        """Scroll down by a page, or up if `by` is negative."""

    def show_title(self, right: Line = ()) -> None:
        """Show the title, and a message on the right."""
        self.query_one("#title", StatusLine).show((Span(self.heading, "title"),), right)

    def show_keys(self, hints: Mapping[str, str], *, disabled: Iterable[str] = (), right: Line = ()) -> None:
        """Show keys with their labels; a click on a key presses it."""
        line = self.key_hints(hints, disabled, self.GAP)
        self.query_one("#keys", StatusLine).show(line, right)

    def current_key(self, key: str) -> str:
        """Return the key to press for a default key."""
        return app_of(self).keymap.current_of(key)

    def key_hints(self, hints: Mapping[str, str], disabled: Iterable[str], gap: int) -> Line:
        """Return a line of clickable keys and labels. `hints` maps default keys to labels."""
        parts: list[Line] = []
        for key, label in hints.items():
            own, style = self.current_key(key), "quiet" if key in disabled else "accent"
            parts.append(pressing(own, Span(shown(own), style), Span(f" {label}", "quiet")))
        return tuple(span for part in parts for span in (*part, Span(" " * gap, "quiet")))
