"""The outbox: changes that were not sent yet, why, and the keys to retry, edit or discard them."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult

from presscheck.api.comments import Document
from presscheck.errors import PresscheckError
from presscheck.text.phrases import now, span
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, pad
from presscheck.tui.screens.base_screen import BaseScreen
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.widgets.composer import Composer
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog
from presscheck.tui.widgets.empty_state import EmptyState
from presscheck.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.engine.writes.pending_writes import OutboxEntry

_GLYPHS = {
    "waiting": ("◷", "waiting"),
    "sending": ("→", "link"),
    "collected": ("✎", "accent"),
    "refused": ("✗", "removed"),
    "parked": ("⚠", "waiting"),
}
STATES = {
    "waiting": "pending",
    "collected": "in your pending review: submitting it sends this",
    "refused": "failed",
    "parked": "unreadable",
}
"""Words for the states of an entry."""
_capital = re.compile(r"(?<=[a-z])(?=[A-Z])")


class OutboxScreen(BaseScreen):
    """Pending changes, the oldest first."""

    FOOTER: ClassVar[tuple[str, ...]] = ("open", "edit", "retry", "unsend", "delete", "close")

    def __init__(self) -> None:
        super().__init__()
        self.waiting: tuple[OutboxEntry, ...] = ()
        self._stop_listening: Any = None

    def title_line(self) -> Line:
        """The title and the number of changes."""
        return (Span(" Outbox", "strong"), Span(f"  {len(self.waiting)}" if self.waiting else "", "quiet"))

    def body(self) -> ComposeResult:
        """The changes, or the message that there are none."""
        yield EmptyState(self.style_for)
        yield RowList(self._row, self.style_for, second_line=self._state_row, key=lambda at: self.waiting[at].id)

    def on_mount(self) -> None:
        """Show the outbox from now on."""
        self._stop_listening = self.engine.on_status(lambda _: self.when_shown("status", self._update))
        self._update()
        self.query_one(RowList).focus()

    def on_unmount(self) -> None:
        """Stop listening."""
        if self._stop_listening:
            self._stop_listening()

    def reason_unsend(self) -> str | None:
        """Disabled without a change, and while it is being sent."""
        current = self._current
        if current is None:
            return "the outbox is empty"
        return "it is being sent" if current.state == "sending" else None

    def reason_retry(self) -> str | None:
        """Disabled unless the change failed."""
        current = self._current
        return None if current and current.state == "refused" else "only failed changes can be retried"

    reason_delete = reason_unsend

    def reason_edit(self) -> str | None:
        """Disabled while it is being sent, and if it contains no text."""
        current = self._current
        return self.reason_unsend() or (
            None if current and typed_text_in(current.call) else "it contains no text to edit"
        )

    def command_open(self) -> None:
        """Show all of the change."""
        if self._current:
            self.app_context.push_screen(TextScreen(change_name(self._current), _details(self._current)))

    def command_retry(self) -> None:
        """Retry the change."""
        if self._current:
            self.engine.retry(self._current.id)

    def command_edit(self) -> None:
        """Edit the text; the change keeps its position, and is retried if it failed."""
        current = self._current
        if current is None or current.call is None or not (typed_text := typed_text_in(current.call)):
            return
        call, (field, text), key = current.call, typed_text, f"outbox {current.id}"

        def save(typed: str) -> None:
            self.engine.outbox.save_draft(key, "" if typed == text else typed)

        def submit(typed: str) -> None:
            if not self.engine.rewrite(current.id, with_text(call, field, typed)):
                raise PresscheckError("already sent: your text is saved as a draft")
            save(text)

        title = change_name(current)
        self.app_context.push_screen(
            Composer(title, self.engine.outbox.draft(key) or text, save, self.style_for, submit=submit)
        )

    async def command_unsend(self) -> None:
        """Undo the change."""
        await self._discard("Undo this change?", "Undo")

    async def command_delete(self) -> None:
        """Discard the change."""
        await self._discard("Discard this change?", "Discard")

    async def _discard(self, question: str, action: str) -> None:
        current = self._current
        if current is None:
            return
        facts: list[Line] = [
            (Span(change_name(current)),),
            (Span("It will not be sent, and its text is lost.", "waiting"),),
        ]
        if await self.ask(ConfirmDialog(question, facts, action, self.style_for)):
            self.engine.drop(current.id)
            self.notify("discarded")

    @property
    def _current(self) -> OutboxEntry | None:
        rows = self.query_one(RowList)
        return self.waiting[rows.cursor] if rows.cursor < len(self.waiting) else None

    def _update(self) -> None:
        self.waiting = self.engine.waiting()
        empty_state, rows = self.query_one(EmptyState), self.query_one(RowList)
        rows.show(len(self.waiting))
        if self.waiting:
            empty_state.hide()
        else:
            empty_state.show_empty("Everything was sent.", "Changes made offline are listed here until they are sent.")
        self.refresh_status_bars()

    def _row(self, at: int, columns: int) -> Line:
        entry = self.waiting[at]
        glyph, style = _GLYPHS.get(entry.state, ("·", "quiet"))
        age = span(now().timestamp() - entry.created_at)
        head = (Span(f"{glyph} ", style), Span(change_name(entry)), Span(f"  {text_of(entry)}", "quiet"))
        return (*pad(cut(head, columns - 8), columns - 8), Span(f"{age:>7}", "quiet"))

    def _state_row(self, at: int, columns: int) -> Line:
        entry = self.waiting[at]
        state = STATES.get(entry.state, entry.state)
        text = f"{state}: {entry.error}" if entry.error else state
        return (Span(f"  {sanitize(text)}", "removed" if entry.state == "refused" else "quiet"),)


def change_name(entry: OutboxEntry) -> str:
    """The name of a change: `post comment`."""
    name = type(entry.call).__name__ if entry.call else entry.name.rpartition(".")[2]
    return _capital.sub(" ", name).lower()


def typed_text_in(call: Operation[Any] | None) -> tuple[str, str] | None:
    """The field of a call that contains typed text, and the text; None if there is none."""
    for field in ("body", "comment", "subject", "description"):
        typed_text: Any = getattr(call, field, None)
        text = typed_text.markdown if isinstance(typed_text, Document) else typed_text
        if isinstance(text, str) and text:
            return field, text
    return None


def with_text(call: Operation[Any], field: str, text: str) -> Operation[Any]:
    """The same call with another text.

    Raises:
        InvalidArgument: the text breaks a limit.
    """
    given: dict[str, Any] = {name: getattr(call, name) for name in call.model_fields_set}
    given[field] = Document(markdown=text) if isinstance(given[field], Document) else text
    return type(call)(**given)


def text_of(entry: OutboxEntry) -> str:
    """The text of a change, in one line."""
    typed_text = typed_text_in(entry.call)
    return sanitize(typed_text[1]) if typed_text else ""


def _details(entry: OutboxEntry) -> list[Line]:
    when = datetime.fromtimestamp(entry.created_at, UTC).astimezone()
    request = f"{entry.call.method()} {entry.call.wire_path()}" if entry.call else "this version cannot read it"
    facts = (
        ("what", change_name(entry)),
        ("state", STATES.get(entry.state, entry.state)),
        ("why", entry.error or ""),
        ("since", f"{when:%H:%M:%S %d %b}"),
        ("request", request),
    )
    lines: list[Line] = [()]
    lines += [(Span(f" {key:<9}", "quiet"), Span(sanitize(value))) for key, value in facts if value]
    if typed_text := typed_text_in(entry.call):
        lines += [(), *((Span(f" {line}"),) for line in sanitize(typed_text[1], lines=True).split("\n"))]
    return lines
