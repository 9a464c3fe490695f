"""A question with one line for an answer, such as a title; it says at once why an answer will not do."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from presscheck.errors import PresscheckError
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Span
from presscheck.tui.theme import StyleLookup
from presscheck.tui.widgets.search_inputs import SearchInput
from presscheck.tui.widgets.status_line import StatusLine
from presscheck.tui.widgets.strip_renderer import raised


class PromptDialog(ModalScreen[str | None], inherit_bindings=False):
    """Answers the line, without blanks around it; None where the person left.

    Args:
        title: the question, as display text.
        value: what to begin with.
        look: the theme.
        least: how many characters it needs.
        most: how many it may have.
        save: keeps a draft.
        wrong: why a line will not do, where it has the right length.
        hint: what may be typed, shown while nothing is.
    """

    BINDINGS: ClassVar[list[BindingType]] = []
    DEFAULT_CSS = """
    PromptDialog { align: center middle; background: transparent; }
    PromptDialog > Vertical { width: 76; max-width: 100%; height: auto; padding: 1 2; background: $ink-raised; }
    PromptDialog SearchInput { margin: 1 0; }
    """

    def __init__(
        self,
        title: str,
        value: str,
        look: StyleLookup,
        *,
        least: int = 1,
        most: int = 256,
        save: Callable[[str], None] | None = None,
        wrong: Callable[[str], str | None] | None = None,
        hint: str = "",
    ) -> None:
        super().__init__()
        self.heading, self.value, self.look, self.save = title, value, raised(look), save
        self.least, self.most, self.wrong = least, most, wrong
        self.hint, self._trouble = hint, ""

    def compose(self) -> ComposeResult:
        """The question, the line, the keys."""
        with Vertical():
            yield StatusLine(self.look, id="entry-title")
            yield SearchInput(self.value, placeholder=self.hint)
            yield StatusLine(self.look, id="entry-keys")

    def on_mount(self) -> None:
        """Ready for typing."""
        self.query_one(SearchInput).focus()
        self._show()

    def on_input_changed(self) -> None:
        """Keep the input, and show what is wrong with it."""
        self._trouble = ""
        try:
            if self.save:
                self.save(self.query_one(SearchInput).value)
        except PresscheckError as error:  # such as on a disk that is full
            self._trouble = error.message
        self._show()

    def on_key(self, event: events.Key) -> None:
        """Answer, or leave."""
        if event.key == "escape":
            self.dismiss(None)
        elif event.key == "enter":
            if self._reason() is None:
                self.dismiss(self.query_one(SearchInput).value.strip())
        else:
            return
        event.stop()
        event.prevent_default()

    def _reason(self) -> str | None:
        text = self.query_one(SearchInput).value.strip()
        size = len(text)
        if size < self.least:
            return f"at least {self.least} characters" if self.least > 1 else "required"
        if size > self.most:
            return f"{size - self.most:,} too many: at most {self.most:,}"
        return self.wrong(text) if self.wrong else None

    def _show(self) -> None:
        why = self._reason()
        said = (Span(sanitize(self._trouble), "error"),) if self._trouble else (Span(why or "", "waiting"),)
        self.query_one("#entry-title", StatusLine).show((Span(self.heading, "title"),), said)
        keys = (Span("enter", "quiet" if why else "accent"), Span(" OK   ", "quiet"))
        self.query_one("#entry-keys", StatusLine).show((*keys, Span("esc", "accent"), Span(" cancel", "quiet")))
