"""A sheet before an act that cannot be undone: it says what will happen, and its answer is No until Yes is chosen."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from presscheck.documents.spans import Line, Span
from presscheck.tui.widgets.bar import Bar
from presscheck.tui.widgets.rows import Look


class Sheet(ModalScreen[bool], inherit_bindings=False):
    """Says what will happen; answers True only where the person chose so.

    Args:
        title: the act.
        lines: what will happen.
        act: the word that stands for yes.
        look: the theme.
    """

    BINDINGS: list[BindingType] = []  # noqa: RUF012  # Textual reads it as a class attribute
    DEFAULT_CSS = """
    Sheet { align: center middle; }
    Sheet > Vertical { width: 76; max-width: 96%; height: auto; max-height: 90%; border: outer $ink-raised; }
    Sheet > Vertical { padding: 1; background: $ink-ground; }
    Sheet .facts { margin: 1 0; height: auto; }
    """

    def __init__(self, title: str, lines: Sequence[Line], act: str, look: Look) -> None:
        super().__init__()
        self.heading, self.lines, self.act, self.look = title, list(lines), act, look
        self.answer = False

    def compose(self) -> ComposeResult:
        """Title, what will happen, the two answers."""
        with Vertical():
            yield Bar(self.look, id="sheet-title")
            with Vertical(classes="facts"):
                for _ in self.lines:
                    yield Bar(self.look)
            yield Bar(self.look, id="sheet-answers")

    def on_mount(self) -> None:
        """Show it, over what is beneath."""
        self.styles.background = "transparent"
        self.query_one("#sheet-title", Bar).show((Span(f" {self.heading}", "title"),))
        for bar, line in zip(self.query(".facts Bar").results(Bar), self.lines, strict=True):
            bar.show((Span(" "), *line))
        self._show()

    def on_key(self, event: events.Key) -> None:
        """Choose, and answer."""
        event.stop()
        event.prevent_default()
        if event.key in ("left", "right", "tab", "h", "l", "shift+tab"):
            self.answer = not self.answer
            self._show()
        elif event.key == "y":
            self.dismiss(True)
        elif event.key == "enter":
            self.dismiss(self.answer)
        elif event.key in ("n", "q", "escape"):
            self.dismiss(False)

    def _show(self) -> None:
        no, yes = ("", "accent strong") if self.answer else ("accent strong", "")
        marks = (" ", "▌") if self.answer else ("▌", " ")
        answers = (Span(f" {marks[0]}No   ", no), Span(f"{marks[1]}{self.act}", yes))
        self.query_one("#sheet-answers", Bar).show(answers, (Span("y · n · tab enter", "quiet"),))
