"""The dialog that changes the key of a command; the key is saved in ``[keys]`` of the settings file."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from typing_extensions import override

from presscheck.config.settings_file import save_keys
from presscheck.errors import PresscheckError
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Span
from presscheck.tui.app_context import AppContext, app_of
from presscheck.tui.commands import Command, shown
from presscheck.tui.key_settings import MOST_KEYS, key_error
from presscheck.tui.keyboard import key_name
from presscheck.tui.widgets.dialog import Dialog
from presscheck.tui.widgets.status_bar import StatusLine


def change_keys(app: AppContext, command: Command) -> None:
    """Ask for the new key of a command."""
    app.push_screen(KeyEditor(command))


class KeyEditor(Dialog[None]):
    """A dialog that records the pressed keys as the new key of a command."""

    def __init__(self, command: Command) -> None:
        super().__init__(f"New key for {command.name}")
        self._command = command
        self._pressed: tuple[str, ...] = ()
        self._failure = ""

    @override
    def body(self) -> ComposeResult:
        yield StatusLine(id="pressed")
        yield StatusLine(id="error")

    def on_mount(self) -> None:
        """Show the current keys."""
        self._show()

    @override
    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        key = key_name(event)
        if key == "escape":
            self.cancel()
        elif key == "enter":
            self.submit()
        elif key == "backspace":
            self._pressed = self._pressed[:-1]
        elif key == "delete" and not self._pressed:
            self._save(None)
        elif len(self._pressed) < MOST_KEYS:
            self._pressed = (*self._pressed, key)
        if not self.is_leaving:
            self._failure = ""
            self._show()

    @override
    def current_key(self, key: str) -> str:
        return key  # also the keys that the user chose for dialogs can be recorded

    @override
    def submit(self) -> None:
        if self._pressed and self._error() is None:
            self._save((" ".join(self._pressed),))

    def _error(self) -> str | None:
        return key_error(app_of(self).keymap, self._command.name, " ".join(self._pressed)) if self._pressed else None

    def _save(self, keys: tuple[str, ...] | None) -> None:
        app = app_of(self)
        try:
            save_keys(app.settings_file, self._command.name, keys)
        except PresscheckError as error:
            self._failure = error.message
            self._show()
            return
        app.reload_keys()
        app.notify(f"{self._command.title}: {app.keymap.label(self._command.name)}, saved in {app.settings_file.name}")
        self.dismiss(None)

    def _show(self) -> None:
        keymap, name = app_of(self).keymap, self._command.name
        now = "  ".join(map(shown, keymap.keys(name)))
        typed = shown(" ".join(self._pressed))
        error = self._failure or self._error()
        self.show_title((Span(f"now {now}", "quiet"),))
        prompt = Span(f"Press the new key, or up to {MOST_KEYS} in turn.", "quiet")
        text = Span(sanitize(typed), "accent strong") if typed else prompt
        self.query_one("#pressed", StatusLine).show((text,))
        self.query_one("#error", StatusLine).show((Span(sanitize(error), "removed"),) if error else ())
        is_ready = bool(self._pressed) and not error
        reset = {"delete": "default key"} if name in keymap.own and not self._pressed else {}
        back = {"backspace": "remove last"} if self._pressed else {}
        hints = {"enter": "save", **back, **reset, "escape": "cancel"}
        self.show_keys(hints, disabled=() if is_ready else ("enter",))
