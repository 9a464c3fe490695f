"""A dialog that asks for confirmation before an action; "No" is preselected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from textual.app import ComposeResult
from typing_extensions import override

from presscheck.text.styled_text import Line, Span, width, wrap
from presscheck.tui.widgets.dialog import SUBMIT, Dialog
from presscheck.tui.widgets.line_view import TextView
from presscheck.tui.widgets.search_inputs import SearchInput
from presscheck.tui.widgets.status_bar import ClickableLines, StatusLine, pressing

CONFIRM, REFUSE = "confirm", "refuse"
"""Targets of clicks on the buttons."""
PAGE = 8
"""Number of lines that a page key scrolls."""
OTHER_LINES = 6
"""Lines beside the text and the input: margins, the title and the buttons."""
DETAILS_KEY = "d"
"""The key that switches between summary and details."""


class ConfirmDialog(Dialog[bool]):
    """A dialog whose result is True only if the user confirmed the action.

    Args:
        title: the action, as display text.
        lines: the consequences, as display text.
        confirm_label: the label of the button that confirms.
        type_to_confirm: a text that the user must type before confirming.
        is_ready: whether `lines` is complete. Otherwise the action can only be confirmed after `make_ready`.
        details: the lines of a diff, which replace `lines` after a key press.
    """

    drops_type_ahead = True
    """Whether to drop keys typed before the dialog was open: they cannot be answers to its question."""
    DEFAULT_CSS = """
    ConfirmDialog > Vertical { max-height: 100%; }
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
        super().__init__(title)
        self.lines, self.confirm_label = list(lines), confirm_label
        self.type_to_confirm, self.is_ready = type_to_confirm, is_ready
        self.is_yes = False
        self._details, self._shows_details = details, False

    @override
    def body(self) -> ComposeResult:
        text = TextView()
        text.styles.height = max(1, len(self.lines))  # close to the final height, so that the dialog hardly moves
        yield text
        text_input = SearchInput()
        text_input.display = text_input.can_focus = False
        yield text_input

    def on_mount(self) -> None:
        """Show the title and the buttons; focus the input."""
        self.query_one(TextView).can_focus = False
        self.show_title()
        self._show_input()
        self._show()

    def make_ready(self, lines: Sequence[Line], *, type_to_confirm: str | None = None) -> None:
        """Show the final text and allow confirming, after typing `type_to_confirm` if it is set."""
        self.lines, self.type_to_confirm, self.is_ready = list(lines), type_to_confirm, True
        if self.is_mounted and not self.is_leaving:
            self._show_input()
            self._show()
            self.on_resize()

    def close(self) -> None:
        """Close the dialog without confirming, such as when the action turns out to be impossible."""
        if self.is_mounted and not self.is_leaving:
            self.cancel()

    def _show_input(self) -> None:
        text_input = self.query_one(SearchInput)
        if self.type_to_confirm is not None:
            text_input.display = text_input.can_focus = True
            text_input.placeholder = f"type: {self.type_to_confirm}"
            text_input.focus()

    def on_resize(self) -> None:
        """Wrap the text to the width of the dialog."""
        text = self.query_one(TextView)
        shown, draw = (self._details, self._as_written) if self._shows_details else (self.lines, self._wrapped)
        rows = [row for line in shown for row in draw(line)]
        room = self.size.height - OTHER_LINES - self.query_one(SearchInput).display
        text.styles.height = min(len(rows), max(1, room))
        text.show(rows)

    def _wrapped(self, line: Line) -> list[Line]:
        return wrap(line, self.columns) or [()]

    def _as_written(self, line: Line) -> list[Line]:
        return [line] if width(line) <= self.columns else wrap(line, self.columns, keeps_blanks=True)

    def on_input_changed(self) -> None:
        """Preselect the button that confirms once the required text is typed; until then, the other button."""
        self.is_yes = self._can_confirm()
        self._show()

    @override
    def keys(self) -> dict[str, Callable[[], object]]:
        keys = {**super().keys(), "ctrl+c": self.cancel, "tab": self._switch, "shift+tab": self._switch}
        if self.type_to_confirm is None:
            # the key for saving may be pressed twice; it must neither confirm an unread question nor cancel it
            keys |= dict.fromkeys(SUBMIT, lambda: None)
            keys |= {"y": self._confirm, "n": self.cancel, "q": self.cancel}
            keys |= {"j": partial(self.move, 1), "k": partial(self.move, -1)}
            keys |= dict.fromkeys(("left", "right", "h", "l"), self._switch)
            if self._details:
                keys[DETAILS_KEY] = self._show_details
        return keys

    @override
    def cancel(self) -> None:
        self.dismiss(False)

    @override
    def submit(self) -> None:
        self.dismiss(self.is_yes and self._can_confirm())

    @override
    def move(self, by: int) -> None:
        self.query_one(TextView).scroll_lines(by)

    @override
    def page(self, by: int) -> None:
        self.query_one(TextView).scroll_lines(by * PAGE)

    def _confirm(self) -> None:
        if self._can_confirm():
            self.dismiss(True)

    def _switch(self) -> None:
        self.is_yes = not self.is_yes and self._can_confirm()
        self._show()

    def _show_details(self) -> None:
        self._shows_details = not self._shows_details
        self.on_resize()
        self._show()

    def on_clickable_lines_target_clicked(self, event: ClickableLines.TargetClicked) -> None:
        """Confirm or cancel after a click on a button."""
        if event.target == REFUSE:
            self.cancel()
        else:
            self._confirm()

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
        self.query_one("#keys", StatusLine).show(buttons, right)
