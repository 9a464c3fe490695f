"""A dialog that asks for confirmation before an action; "No" is selected at first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from typing_extensions import override

from presscheck.text.styled_text import Line, Span, wrap
from presscheck.tui.widgets.line_view import TextView
from presscheck.tui.widgets.search_inputs import SearchInput
from presscheck.tui.widgets.status_bar import ClickableLines, StatusLine, pressing

WIDEST = 76
CONFIRM, REFUSE = "confirm", "refuse"
"""Targets of clicks on the buttons."""
SWITCH_KEYS = ("left", "right", "tab", "shift+tab", "h", "l")
SCROLL_KEYS = {"down": 1, "j": 1, "up": -1, "k": -1, "pagedown": 8, "pageup": -8}
"""By how many lines a key scrolls a text that is higher than the dialog."""
DETAILS_KEY = "d"
"""The key that shows the details, and the summary again."""


class ConfirmDialog(ModalScreen[bool], inherit_bindings=False):
    """A dialog whose result is True only if the user confirmed the action.

    Args:
        title: the action, as display text.
        lines: what will happen, as display text.
        confirm_label: the label of the button that confirms.
        type_to_confirm: a text that the user must type before confirming.
        is_ready: whether `lines` is complete; otherwise it cannot be confirmed before `make_ready`.
        details: more lines, such as a diff, that a key shows instead of `lines`.
    """

    BINDINGS: ClassVar[list[BindingType]] = []
    drops_type_ahead = True
    """Whether keys typed before the dialog was open are dropped: they cannot mean what it asks."""
    DEFAULT_CSS = """
    ConfirmDialog { align: center middle; background: transparent; }
    ConfirmDialog > Vertical { width: 76; max-width: 100%; height: auto; max-height: 100%; padding: 1 2; }
    ConfirmDialog > Vertical { background: $ink-raised; }
    ConfirmDialog TextView { margin: 1 0; }
    """

    def __init__(
        self,
        title: str,
        lines: Sequence[Line],
        confirm_label: str,
        *,
        type_to_confirm: str | None = None,
        is_ready: bool = True,
        details: Sequence[Line] = (),
    ) -> None:
        super().__init__()
        self.heading, self.lines, self.confirm_label = title, list(lines), confirm_label
        self.type_to_confirm, self.is_ready = type_to_confirm, is_ready
        self.is_yes = False
        self._details, self._shows_details = details, False

    @override
    def compose(self) -> ComposeResult:
        with Vertical():
            yield StatusLine(id="dialog-title")
            text = TextView()
            text.styles.height = max(1, len(self.lines))  # about as high as in the end, from the first frame on
            yield text
            text_input = SearchInput()
            text_input.display = text_input.can_focus = False
            yield text_input
            yield StatusLine(id="dialog-buttons")

    def on_mount(self) -> None:
        """Show the title and the buttons; focus the input."""
        self.query_one(TextView).can_focus = False
        self.query_one("#dialog-title", StatusLine).show((Span(self.heading, "title"),))
        self._show_input()
        self._show()

    def make_ready(self, lines: Sequence[Line], *, type_to_confirm: str | None = None) -> None:
        """Show the final text; from now on it can be confirmed, after typing a text if one is given."""
        self.lines, self.type_to_confirm, self.is_ready = list(lines), type_to_confirm, True
        if self.is_mounted and not (self._closing or self._closed or self._pruning):  # its widgets may be gone
            self._show_input()
            self._show()
            self.on_resize()

    def close(self) -> None:
        """Close it as with No, such as when it turns out that the action is not possible."""
        if self.is_mounted and not (self._closing or self._closed or self._pruning):
            self.dismiss(False)

    def _show_input(self) -> None:
        text_input = self.query_one(SearchInput)
        if self.type_to_confirm is not None:
            text_input.display = text_input.can_focus = True
            text_input.placeholder = f"type: {self.type_to_confirm}"
            text_input.focus()

    def on_resize(self) -> None:
        """Wrap the text to the width of the dialog."""
        text, columns = self.query_one(TextView), max(20, min(WIDEST, self.size.width) - 4)
        shown = self._details if self._shows_details else self.lines
        rows = [row for line in shown for row in (wrap(line, columns) or [()])]
        text.styles.height = min(len(rows), max(1, self.size.height - 6))
        text.show(rows)

    def on_input_changed(self) -> None:
        """Allow confirming once the text is typed."""
        self.is_yes = self._can_confirm()
        self._show()

    def on_key(self, event: events.Key) -> None:
        """Select a button, confirm, or close."""
        is_typing = self.type_to_confirm is not None
        if event.key in ("escape", "ctrl+c") or (event.key in ("n", "q") and not is_typing):
            self.dismiss(False)
        elif event.key == "y" and not is_typing:
            if self.is_ready:
                self.dismiss(True)
        elif event.key == "enter":
            self.dismiss(self.is_yes and self._can_confirm())
        elif event.key == DETAILS_KEY and self._details and not is_typing:
            self._shows_details = not self._shows_details
            self.on_resize()
            self._show()
        elif event.key in SCROLL_KEYS and not (is_typing and len(event.key) == 1):
            self.query_one(TextView).scroll_lines(SCROLL_KEYS[event.key])
        elif event.key in SWITCH_KEYS and (not is_typing or "tab" in event.key):
            self.is_yes = not self.is_yes and self._can_confirm()
            self._show()
        else:
            return
        event.stop()
        event.prevent_default()

    def on_clickable_lines_target_clicked(self, event: ClickableLines.TargetClicked) -> None:
        """Confirm or close."""
        if event.target == REFUSE:
            self.dismiss(False)
        elif self._can_confirm():
            self.dismiss(True)

    def _can_confirm(self) -> bool:
        if not self.is_ready:
            return False
        if self.type_to_confirm is None:
            return True
        return self.query_one(SearchInput).value.strip() == self.type_to_confirm.strip()

    def _show(self) -> None:
        yes = "accent strong" if self.is_yes else "" if self._can_confirm() else "quiet"
        no = "" if self.is_yes else "accent strong"
        bars = (" ", "▌") if self.is_yes else ("▌", " ")
        confirm = Span(f"{bars[1]}{self.confirm_label}", yes, CONFIRM)
        buttons = (Span(f"{bars[0]}No", no, REFUSE), Span("      "), confirm)
        keys = "tab enter" if self.type_to_confirm is not None else "y  n  tab enter" if self.is_ready else "checking …"
        right: Line = (Span(keys, "quiet"),)
        if self._details:
            name = "summary" if self._shows_details else "diff"
            right = (*pressing(DETAILS_KEY, Span(f"{DETAILS_KEY} {name}", "quiet")), Span("  "), *right)
        self.query_one("#dialog-buttons", StatusLine).show(buttons, right)
