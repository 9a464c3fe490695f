"""The outbox: what has not been sent, why, and the keys to send it again, take it back or drop it."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult

from presscheck.api.comments import Document
from presscheck.documents.display_text import display_text
from presscheck.documents.moments import now, span
from presscheck.documents.spans import Line, Span, cut, pad
from presscheck.errors import PresscheckError
from presscheck.tui.screens.base_screen import BaseScreen
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.widgets.composer import Composer
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog
from presscheck.tui.widgets.empty_state import EmptyState
from presscheck.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.desk.seen import Waiting

_GLYPHS = {
    "waiting": ("◷", "waiting"),
    "sending": ("→", "link"),
    "collected": ("✎", "accent"),
    "refused": ("✗", "removed"),
    "parked": ("⚠", "waiting"),
}
_upper = re.compile(r"(?<=[a-z])(?=[A-Z])")


class OutboxScreen(BaseScreen):
    """Writes that wait, the oldest first."""

    FOOTER: ClassVar[tuple[str, ...]] = ("open", "edit", "retry", "unsend", "delete", "close")

    def __init__(self) -> None:
        super().__init__()
        self.waiting: tuple[Waiting, ...] = ()
        self._end_listening: Any = None

    def title_line(self) -> Line:
        """What this is, and how much of it there is."""
        return (Span(" Outbox", "strong"), Span(f"  {len(self.waiting)}" if self.waiting else "", "quiet"))

    def body(self) -> ComposeResult:
        """The writes, or that there are none."""
        yield EmptyState(self.style_for)
        yield RowList(self._row, self.style_for, second=self._why, key=lambda at: self.waiting[at].id)

    def on_mount(self) -> None:
        """Show what waits, from now on."""
        self._end_listening = self.desk.on_status(lambda _: self.when_shown("status", self._changed))
        self._changed()
        self.query_one(RowList).focus()

    def on_unmount(self) -> None:
        """Listen no longer."""
        if self._end_listening:
            self._end_listening()

    def reason_unsend(self) -> str | None:
        """Nothing is there, or it is on its way."""
        current = self._current
        if current is None:
            return "nothing waits"
        return "it is on its way" if current.state == "sending" else None

    def reason_retry(self) -> str | None:
        """Nothing was refused here."""
        current = self._current
        return None if current and current.state == "refused" else "only what was refused is sent again by hand"

    reason_delete = reason_unsend

    def reason_edit(self) -> str | None:
        """It has left, or nothing in it was typed."""
        current = self._current
        return self.reason_unsend() or (None if current and written_in(current.call) else "there is no text in it")

    def command_open(self) -> None:
        """Read all of it."""
        if self._current:
            self.app_context.push_screen(TextScreen(told(self._current), _details(self._current)))

    def command_retry(self) -> None:
        """Send it again."""
        if self._current:
            self.desk.retry(self._current.id)

    def command_edit(self) -> None:
        """Change what was typed; it keeps its place in the order, and is sent again where it was refused."""
        current = self._current
        if current is None or current.call is None or not (found := written_in(current.call)):
            return
        call, (field, text), key = current.call, found, f"outbox {current.id}"

        def save(typed: str) -> None:
            self.desk.outbox.save_draft(key, "" if typed == text else typed)

        def take(typed: str) -> None:
            if not self.desk.rewrite(current.id, rewritten(call, field, typed)):
                raise PresscheckError("it was sent meanwhile; what you typed is kept here as a draft")
            save(text)

        title = told(current)
        self.app_context.push_screen(
            Composer(title, self.desk.outbox.draft(key) or text, save, self.style_for, take=take)
        )

    async def command_unsend(self) -> None:
        """Take it back."""
        await self._give_up("Take it back?", "Take back")

    async def command_delete(self) -> None:
        """Drop it."""
        await self._give_up("Drop it?", "Drop")

    async def _give_up(self, question: str, act: str) -> None:
        current = self._current
        if current is None:
            return
        facts: list[Line] = [(Span(told(current)),), (Span("It will not be sent, and its text is gone.", "waiting"),)]
        if await self.ask(ConfirmDialog(question, facts, act, self.style_for)):
            self.desk.drop(current.id)
            self.notify("it is not sent")

    @property
    def _current(self) -> Waiting | None:
        rows = self.query_one(RowList)
        return self.waiting[rows.cursor] if rows.cursor < len(self.waiting) else None

    def _changed(self) -> None:
        self.waiting = self.desk.waiting()
        block, rows = self.query_one(EmptyState), self.query_one(RowList)
        rows.show(len(self.waiting))
        if self.waiting:
            block.away()
        else:
            block.empty("Everything is sent.", "What you write while offline waits here.")
        self.refresh_status_bars()

    def _row(self, at: int, columns: int) -> Line:
        one = self.waiting[at]
        glyph, style = _GLYPHS.get(one.state, ("·", "quiet"))
        age = span(now().timestamp() - one.created_at)
        head = (Span(f"{glyph} ", style), Span(told(one)), Span(f"  {text_of(one)}", "quiet"))
        return (*pad(cut(head, columns - 8), columns - 8), Span(f"{age:>7}", "quiet"))

    def _why(self, at: int, columns: int) -> Line:
        one = self.waiting[at]
        state = "in your review: a verdict there sends it" if one.state == "collected" else one.state
        said = f"{state}: {one.error}" if one.error else state
        return (Span(f"  {display_text(said)}", "removed" if one.state == "refused" else "quiet"),)


def told(one: Waiting) -> str:
    """What a write is, in words: `post comment`."""
    return _upper.sub(" ", one.name.rpartition(".")[2]).lower()


def written_in(call: Operation[Any] | None) -> tuple[str, str] | None:
    """The field of a call that somebody typed, and what; None where there is none."""
    for field in ("body", "comment", "subject", "description"):
        found: Any = getattr(call, field, None)
        text = found.markdown if isinstance(found, Document) else found
        if isinstance(text, str) and text:
            return field, text
    return None


def rewritten(call: Operation[Any], field: str, text: str) -> Operation[Any]:
    """The same call with another text.

    Raises:
        InvalidArgument: the text breaks a limit.
    """
    given: dict[str, Any] = {name: getattr(call, name) for name in call.model_fields_set}
    given[field] = Document(markdown=text) if isinstance(given[field], Document) else text
    return type(call)(**given)


def text_of(one: Waiting) -> str:
    """What was typed into it, in one line."""
    found = written_in(one.call)
    return display_text(found[1]) if found else ""


def _details(one: Waiting) -> list[Line]:
    asked = f"{one.call.method()} {one.call.wire_path()}" if one.call else "it cannot be read by this version"
    when = datetime.fromtimestamp(one.created_at, UTC).astimezone()
    facts = [("what", told(one)), ("state", one.state), ("why", one.error or ""), ("since", f"{when:%H:%M:%S %d %b}")]
    facts.append(("request", asked))
    lines: list[Line] = [(), *((Span(f" {key:<9}", "quiet"), Span(display_text(said))) for key, said in facts if said)]
    if found := written_in(one.call):
        lines += [(), *((Span(f" {line}"),) for line in display_text(found[1], lines=True).split("\n"))]
    return lines
