"""A dialog that asks before an action: it tells what will happen; the answer is No until Yes is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from presscheck.documents.terminal.wrap import wrap
from presscheck.text.styled_text import Line, Span
from presscheck.tui.theme import StyleLookup
from presscheck.tui.widgets.search_inputs import SearchInput
from presscheck.tui.widgets.status_line import StatusLine
from presscheck.tui.widgets.strip_renderer import raised
from presscheck.tui.widgets.text_view import TextView

WIDEST = 76
TURNS = ("left", "right", "tab", "shift+tab", "h", "l")


class ConfirmDialog(ModalScreen[bool], inherit_bindings=False):
    """Tells what will happen; returns True only if the user confirmed it.

    Args:
        title: the action, as display text.
        lines: what will happen, as display text.
        act: the label of "yes".
        look: the theme.
        type_to_confirm: a text that must be typed before it can be confirmed.
        is_ready: whether all is known that the user needs to decide; if not, it can only be confirmed after
            `make_ready`.
    """

    BINDINGS: ClassVar[list[BindingType]] = []
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
        act: str,
        look: StyleLookup,
        *,
        type_to_confirm: str | None = None,
        is_ready: bool = True,
    ) -> None:
        super().__init__()
        self.heading, self.lines, self.verb, self.look = title, list(lines), act, raised(look)
        self.type_to_confirm, self.is_ready = type_to_confirm, is_ready
        self.answer = False

    def compose(self) -> ComposeResult:
        """Title, text, input, and both answers."""
        with Vertical():
            yield StatusLine(self.look, id="sheet-title")
            yield TextView(self.look)
            typed = SearchInput()
            typed.display = typed.can_focus = False
            yield typed
            yield StatusLine(self.look, id="sheet-answers")

    def on_mount(self) -> None:
        """Show the title and the answers; focus the input."""
        self.query_one(TextView).can_focus = False
        self.query_one("#sheet-title", StatusLine).show((Span(self.heading, "title"),))
        self._show_input()
        self._show()

    def make_ready(self, lines: Sequence[Line], *, type_to_confirm: str | None = None) -> None:
        """Show the final text; from now on it can be confirmed, after typing a text if one is given."""
        self.lines, self.type_to_confirm, self.is_ready = list(lines), type_to_confirm, True
        if self.is_mounted:
            self._show_input()
            self._show()
            self.on_resize()

    def _show_input(self) -> None:
        typed = self.query_one(SearchInput)
        if self.type_to_confirm is not None:
            typed.display = typed.can_focus = True
            typed.placeholder = f"type: {self.type_to_confirm}"
            typed.focus()

    def on_resize(self) -> None:
        """Wrap the text to the width of the dialog."""
        facts, room = self.query_one(TextView), max(20, min(WIDEST, self.size.width) - 4)
        laid = [row for line in self.lines for row in (wrap(line, room) or [()])]
        facts.styles.height = min(len(laid), max(1, self.size.height - 6))
        facts.show(laid)

    def on_input_changed(self) -> None:
        """Allow to confirm once the text is typed."""
        self.answer = self._may_be_yes()
        self._show()

    def on_key(self, event: events.Key) -> None:
        """Choose or give the answer."""
        is_typing = self.type_to_confirm is not None
        if event.key in ("escape", "ctrl+c") or (event.key in ("n", "q") and not is_typing):
            self.dismiss(False)
        elif event.key == "y" and not is_typing:
            if self.is_ready:
                self.dismiss(True)
        elif event.key == "enter":
            self.dismiss(self.answer and self._may_be_yes())
        elif event.key in TURNS and (not is_typing or "tab" in event.key):
            self.answer = not self.answer and self._may_be_yes()
            self._show()
        else:
            return
        event.stop()
        event.prevent_default()

    def _may_be_yes(self) -> bool:
        if not self.is_ready:
            return False
        if self.type_to_confirm is None:
            return True
        return self.query_one(SearchInput).value.strip() == self.type_to_confirm.strip()

    def _show(self) -> None:
        yes = "accent strong" if self.answer else "" if self._may_be_yes() else "quiet"
        no = "" if self.answer else "accent strong"
        bars = (" ", "▌") if self.answer else ("▌", " ")
        answers = (Span(f"{bars[0]}No", no), Span("      "), Span(f"{bars[1]}{self.verb}", yes))
        keys = "tab enter" if self.type_to_confirm is not None else "y  n  tab enter" if self.is_ready else "checking …"
        self.query_one("#sheet-answers", StatusLine).show(answers, (Span(keys, "quiet"),))
