"""Where a text is written: every keystroke is kept as a draft, so that leaving, a crash or a closed line loses none."""

from __future__ import annotations

from collections.abc import Callable

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import TextArea

from presscheck.documents.spans import Span
from presscheck.tui.widgets.bar import Bar
from presscheck.tui.widgets.rows import Look


class Composer(ModalScreen[str | None], inherit_bindings=False):
    """Answers the text, or None where the person left; the draft is theirs to find again.

    Args:
        title: what is written, as display text.
        text: what to begin with.
        save: keeps a draft.
        look: the theme.
        may_be_empty: whether an empty text may be sent.
    """

    BINDINGS: list[BindingType] = []  # noqa: RUF012  # Textual reads it as a class attribute
    DEFAULT_CSS = """
    Composer { align: center bottom; }
    Composer > Vertical { height: 12; max-height: 80%; border-top: outer $ink-raised; padding: 0 1; }
    Composer > Vertical { background: $ink-ground; }
    Composer TextArea, Composer TextArea:focus { height: 1fr; border: none; background: $ink-ground; color: $ink-text; }
    """

    def __init__(
        self, title: str, text: str, save: Callable[[str], None], look: Look, *, may_be_empty: bool = False
    ) -> None:
        super().__init__()
        self.heading, self.text, self.save, self.look, self.may_be_empty = title, text, save, look, may_be_empty

    def compose(self) -> ComposeResult:
        """Title, text, keys."""
        with Vertical():
            yield Bar(self.look, id="composer-title")
            yield TextArea(self.text, soft_wrap=True, show_line_numbers=False)
            yield Bar(self.look, id="composer-keys")

    def on_mount(self) -> None:
        """The cursor stands after what is there; what is beneath stays in sight."""
        self.styles.background = "transparent"
        self.query_one("#composer-title", Bar).show((Span(self.heading, "title"),))
        keys = (Span("ctrl+s", "accent"), Span(" send   ", "quiet"), Span("esc", "accent"), Span(" leave", "quiet"))
        self.query_one("#composer-keys", Bar).show(keys, (Span("the draft is kept", "quiet"),))
        area = self.query_one(TextArea)
        area.focus()
        area.move_cursor(area.document.end)

    @on(TextArea.Changed)
    def keep(self) -> None:
        """Every change is kept."""
        self.save(self.query_one(TextArea).text)

    def on_key(self, event: events.Key) -> None:
        """Send, or leave."""
        if event.key in ("ctrl+s", "alt+enter"):
            event.stop()
            text = self.query_one(TextArea).text
            if text.strip() or self.may_be_empty:
                self.dismiss(text)
        elif event.key == "escape":
            event.stop()
            self.dismiss(None)
