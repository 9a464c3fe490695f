"""A sheet before an act that cannot be undone: it says what will happen, and its answer is No until Yes is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from presscheck.documents.rendering.wrapping import wrap
from presscheck.documents.spans import Line, Span
from presscheck.tui.widgets.search_inputs import SearchInput
from presscheck.tui.widgets.status_line import StatusLine
from presscheck.tui.widgets.strip_renderer import StyleLookup, raised
from presscheck.tui.widgets.text_view import TextView

WIDEST = 76
TURNS = ("left", "right", "tab", "shift+tab", "h", "l")


class ConfirmDialog(ModalScreen[bool], inherit_bindings=False):
    """Says what will happen; answers True only where the person chose so.

    Args:
        title: the act, as display text.
        lines: what will happen, as display text.
        act: the word that stands for yes.
        look: the theme.
        type_to_confirm: what must be typed, as it is shown, before the answer can be yes.
    """

    BINDINGS: ClassVar[list[BindingType]] = []
    DEFAULT_CSS = """
    ConfirmDialog { align: center middle; background: transparent; }
    ConfirmDialog > Vertical { width: 76; max-width: 100%; height: auto; max-height: 100%; padding: 1 2; }
    ConfirmDialog > Vertical { background: $ink-raised; }
    ConfirmDialog TextView { margin: 1 0; }
    """

    def __init__(
        self, title: str, lines: Sequence[Line], act: str, look: StyleLookup, *, type_to_confirm: str | None = None
    ) -> None:
        super().__init__()
        self.heading, self.lines, self.verb, self.look = title, list(lines), act, raised(look)
        self.type_to_confirm = type_to_confirm
        self.answer = False

    def compose(self) -> ComposeResult:
        """Title, what will happen, what to type, the two answers."""
        with Vertical():
            yield StatusLine(self.look, id="sheet-title")
            yield TextView(self.look)
            if self.type_to_confirm is not None:
                yield SearchInput(placeholder=f"type: {self.type_to_confirm}")
            yield StatusLine(self.look, id="sheet-answers")

    def on_mount(self) -> None:
        """Show it; what must be typed can be typed at once."""
        self.query_one(TextView).can_focus = False
        self.query_one("#sheet-title", StatusLine).show((Span(self.heading, "title"),))
        for typed in self.query(SearchInput):
            typed.focus()
        self._show()

    def on_resize(self) -> None:
        """What will happen is said in the width there is."""
        facts, room = self.query_one(TextView), max(20, min(WIDEST, self.size.width) - 4)
        laid = [row for line in self.lines for row in (wrap(line, room) or [()])]
        facts.styles.height = min(len(laid), max(1, self.size.height - 6))
        facts.show(laid)

    def on_input_changed(self) -> None:
        """Yes can be chosen once all of it is typed."""
        self.answer = self._may_be_yes()
        self._show()

    def on_key(self, event: events.Key) -> None:
        """Choose, and answer."""
        is_typing = self.type_to_confirm is not None
        if event.key in ("escape", "ctrl+c") or (event.key in ("n", "q") and not is_typing):
            self.dismiss(False)
        elif event.key == "y" and not is_typing:
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
        if self.type_to_confirm is None:
            return True
        return self.query_one(SearchInput).value.strip() == self.type_to_confirm.strip()

    def _show(self) -> None:
        yes = "accent strong" if self.answer else "" if self._may_be_yes() else "quiet"
        no = "" if self.answer else "accent strong"
        bars = (" ", "▌") if self.answer else ("▌", " ")
        answers = (Span(f"{bars[0]}No", no), Span("      "), Span(f"{bars[1]}{self.verb}", yes))
        keys = "tab enter" if self.type_to_confirm is not None else "y  n  tab enter"
        self.query_one("#sheet-answers", StatusLine).show(answers, (Span(keys, "quiet"),))
