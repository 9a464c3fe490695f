"""Where a text is written: every keystroke is kept as a draft, so that leaving, a crash or a closed line loses none.

An `@` at the beginning of a word asks who is meant; the text can be read as it will be shown before it is sent.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar, cast

from textual import events, on
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import TextArea

from presscheck.errors import PresscheckError
from presscheck.text.plurals import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, width
from presscheck.tui.commands import COMMANDS, shown
from presscheck.tui.external_programs import edit_text
from presscheck.tui.key_sequences import KeySequences, key_name
from presscheck.tui.theme import StyleLookup
from presscheck.tui.widgets.picker import Choice, Picker
from presscheck.tui.widgets.status_line import StatusLine
from presscheck.tui.widgets.strip_renderer import raised
from presscheck.tui.widgets.text_view import TextView

KEYS = tuple(command for command in COMMANDS if command.scope == "composer" or command.name == "back")


class Composer(ModalScreen[str | None], inherit_bindings=False):
    """Answers the text, or None where the person left; the draft is theirs to find again.

    Args:
        title: what is written and where it goes, as display text.
        text: what to begin with.
        save: keeps a draft.
        look: the theme.
        may_be_empty: whether an empty text may be sent.
        limit: how many characters it may have.
        people: those who can be mentioned, as display text.
        suggestion: what one key puts in: words of the page, to be changed.
        take: takes the text for good; where it cannot, the text stays here, with the reason.
    """

    BINDINGS: ClassVar[list[BindingType]] = []
    DEFAULT_CSS = """
    Composer { align: center bottom; background: transparent; }
    Composer > Vertical { height: 14; max-height: 100%; padding: 1 2; background: $ink-raised; }
    Composer TextArea, Composer TextArea:focus {
        height: 1fr; margin: 1 0; border: none; padding: 0; background: $ink-ground; color: $ink-text;
        background-tint: $ink-ground 0%;
    }
    Composer TextArea .text-area--cursor-line { background: $ink-ground; }
    Composer TextArea .text-area--cursor { background: $ink-accent; color: $ink-ground; }
    Composer TextArea .text-area--selection { background: $ink-accent 40%; }
    """

    def __init__(
        self,
        title: str,
        text: str,
        save: Callable[[str], None],
        look: StyleLookup,
        *,
        may_be_empty: bool = False,
        limit: int | None = None,
        people: Callable[[], Awaitable[Sequence[str]]] | None = None,
        suggestion: str = "",
        take: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__()
        self.heading, self.text, self.save, self.look = title, text, save, raised(look)
        self.may_be_empty, self.limit, self.take = may_be_empty, limit, take
        self.people, self.suggestion = people, suggestion
        self._known = [one for one in KEYS if one.name != "suggest" or suggestion]
        self._keys, self._trouble, self._length = KeySequences(self._known), "", len(text)

    def compose(self) -> ComposeResult:
        """Title, text, keys."""
        with Vertical():
            yield StatusLine(self.look, id="composer-title")
            yield TextArea(self.text, soft_wrap=True, show_line_numbers=False, compact=True)
            yield TextView(self.look)
            yield StatusLine(self.look, id="composer-keys")

    def on_mount(self) -> None:
        """The cursor stands after what is there."""
        area = self.query_one(TextArea)
        area.cursor_blink = False
        area.focus()
        area.move_cursor(area.document.end)
        self.query_one(TextView).display = False
        self._show()

    @on(TextArea.Changed)
    def keep(self) -> None:
        """Every change is kept."""
        area = self.query_one(TextArea)
        was, self._length = self._length, len(area.text)
        self._trouble = self._why_not(self.save)
        self._show()
        if self.people and self._length == was + 1 and _begins_a_name(area):
            self.run_worker(self._mention(self.people), exclusive=True)

    def on_key(self, event: events.Key) -> None:
        """Send, continue elsewhere, or leave."""
        command = self._keys.press(key_name(event))
        if command is None:
            return
        event.stop()
        event.prevent_default()
        if command.name == "back":
            self.dismiss(None)
        elif command.name == "edit_outside":
            self._edit_outside()
        elif command.name == "preview_text":
            self._preview()
        elif command.name == "suggest":
            self.query_one(TextArea).insert(self.suggestion)
        elif self._reason() is None:
            self._send()

    def _send(self) -> None:
        self._trouble = self._why_not(self.take) if self.take else ""
        if self._trouble:
            self._show()
        else:
            self.dismiss(self.query_one(TextArea).text)

    def _why_not(self, keep: Callable[[str], None]) -> str:
        """Why the text cannot be kept, such as on a disk that is full; empty where it is."""
        try:
            keep(self.query_one(TextArea).text)
        except PresscheckError as error:
            return error.message
        return ""

    def _edit_outside(self) -> None:
        """Continue where the person writes best; what came of it is a draft like any other."""
        area = self.query_one(TextArea)
        try:
            area.text = edit_text(cast("App[object]", self.app), area.text).rstrip("\n")
        except PresscheckError as error:
            self._trouble = error.message
        area.move_cursor(area.document.end)
        self._show()

    def _preview(self) -> None:
        """Show the text as it will be read, or go on writing."""
        area, lines = self.query_one(TextArea), self.query_one(TextView)
        area.display, lines.display = lines.display, area.display
        if lines.display:
            from presscheck.documents.terminal.page_lines import comment_lines  # late: few texts are looked at

            lines.show(comment_lines(area.text, max(20, area.size.width - 2)))
        (lines if lines.display else area).focus()

    async def _mention(self, people: Callable[[], Awaitable[Sequence[str]]]) -> None:
        """Ask who is meant, and write the name."""
        try:
            choices = [Choice(name, name) for name in await people()]
        except PresscheckError as error:
            self._trouble = error.message
            self._show()
            return
        app = cast("App[object]", self.app)
        chosen = await app.push_screen_wait(Picker("Who?", choices, self.look)) if choices else None
        if chosen:
            self.query_one(TextArea).insert(f"{chosen[0]} ")

    def _reason(self) -> str | None:
        """Why it cannot be sent."""
        text = self.query_one(TextArea).text
        if self.limit is not None and len(text) > self.limit:
            return f"{count(len(text) - self.limit, 'character')} too many"
        return None if text.strip() or self.may_be_empty else "nothing to send"

    def _show(self) -> None:
        size, why = len(self.query_one(TextArea).text), self._reason()
        of = f" of {self.limit:,}" if self.limit is not None else ""
        count: Line = (Span(f"{size:,}{of}", "quiet"),) if why is None or not size else (Span(why, "waiting"),)
        count = (Span(sanitize(self._trouble), "error"),) if self._trouble else count
        self.query_one("#composer-title", StatusLine).show((Span(self.heading, "title"),), count)
        keys: list[Span] = []
        for command in self._known:
            style = "quiet" if command.name == "send" and why is not None else "accent"
            keys += [Span(shown(command.keys[0]), style), Span(f" {command.title}  ", "quiet")]
        kept: Line = (Span("the draft is kept", "quiet"),)
        bar = self.query_one("#composer-keys", StatusLine)
        bar.show(tuple(keys), kept if width((*keys, *kept)) < self.size.width - 4 else ())


def _begins_a_name(area: TextArea) -> bool:
    """Whether what was typed last is an `@` at the beginning of a word."""
    row, column = area.cursor_location
    line = area.document.get_line(row)
    return line[column - 1 : column] == "@" and (column == 1 or not line[column - 2].isalnum())
