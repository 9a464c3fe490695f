"""One act on many things: what came of each, what can be tried again; leaving begins nothing more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult

from presscheck.api.change_requests import ChangeRequest, MergeResult
from presscheck.documents.display_text import display_text
from presscheck.documents.spans import Line, Span, cut, pad
from presscheck.errors import PresscheckError
from presscheck.tui.screens.base_screen import BaseScreen
from presscheck.tui.screens.inbox_triage import counted
from presscheck.tui.widgets.rows import Rows

if TYPE_CHECKING:
    from presscheck.api.operation import Operation

STATES = {
    "next": ("·", "quiet", "not begun"),
    "running": ("→", "link", "on its way"),
    "done": ("✓", "added", "done"),
    "kept": ("◷", "waiting", "waits in the outbox"),
    "failed": ("✗", "removed", ""),
}
"""The glyph, the style and the words of each state."""


@dataclass
class Receipt:
    """What came of one."""

    request: ChangeRequest
    call: Operation[Any] | None = None
    state: str = "next"
    says: str = ""
    row: int = 0
    """Its row in the outbox, where it went there."""


def path_of(request: ChangeRequest) -> dict[str, Any]:
    """The arguments that name a change request in a call."""
    return {"space_id": request.space, "change_request_id": request.id}


class Receipts(BaseScreen):
    """Does one after another, and shows what came of each.

    Args:
        title: the act.
        receipts: each change request, and what is said to it.
        stops: whether the first that fails ends it.
    """

    DEFAULT_CSS = "Receipts Rows { margin-top: 1; }"
    FOOTER: ClassVar[tuple[str, ...]] = ("retry", "down", "go_outbox", "close")

    def __init__(self, title: str, receipts: Sequence[Receipt], *, stops: bool = False) -> None:
        super().__init__()
        self.heading, self.receipts, self.stops = title, list(receipts), stops

    def title_line(self) -> Line:
        """The act, and how far it is."""
        counts = [f"{self._count(state)} {state}" for state in ("done", "kept", "failed") if self._count(state)]
        of = f"  {counted([one.request for one in self.receipts])}   {' · '.join(counts)}"
        return (Span(f" {self.heading}", "title"), Span(of, "quiet"))

    def body(self) -> ComposeResult:
        """A row for each."""
        yield Rows(self._row, self.style_for, second=self._why)

    def on_mount(self) -> None:
        """Begin."""
        super().on_mount()
        rows = self.query_one(Rows)
        rows.show(len(self.receipts))
        rows.focus()
        self.run(self._go, group="acts", exclusive=True)

    @property
    def done(self) -> set[str]:
        """The ids of what was done, or will be without anybody's help."""
        return {one.request.id for one in self.receipts if one.state in ("done", "kept")}

    def reason_retry(self) -> str | None:
        """Nothing failed."""
        return None if self._count("failed") else "nothing failed"

    def command_retry(self) -> None:
        """Try again what failed."""
        for one in self.receipts:
            if one.state == "failed":
                one.state, one.says = "next", ""
        self.run(self._go, group="acts", exclusive=True)

    async def _go(self) -> None:
        for one in self.receipts:
            if one.state != "next":
                continue
            one.state = "running"
            self.changed()
            await self.say(one)
            self.changed()
            if self.stops and self._count("failed"):
                return

    async def say(self, one: Receipt) -> None:
        """Say what is to be said to one, and note what came of it."""
        if one.call is None:
            return
        try:
            if one.row and self.desk.unsend(one.row) is None:  # refused before: there it would hold up what follows
                one.state, one.says = "kept", "decided on in the outbox"
                return
            ticket = self.desk.write(one.call)
            one.row = ticket.id
            if ticket.id and not self.desk.status.online:
                one.state = "kept"
                return
            answer = await ticket.landed()
        except PresscheckError as error:
            one.state, one.says = "failed", display_text(error.message)
            return
        one.state = "done"
        if isinstance(answer, MergeResult) and answer.result == "conflicts":
            one.says = "done, with conflicts: look at the pages that both sides changed"

    def changed(self) -> None:
        """Show what is known by now."""
        self.query_one(Rows).redraw()
        self.refresh_status_bars()

    def _count(self, state: str) -> int:
        return sum(one.state == state for one in self.receipts)

    def _row(self, at: int, columns: int) -> Line:
        one = self.receipts[at]
        glyph, style, _ = STATES[one.state]
        head = (Span(f"{glyph} ", style), Span(f"{one.request.number:>4} ", "quiet"))
        return pad(cut((*head, Span(display_text(one.request.subject) or "(no subject)")), columns), columns)

    def _why(self, at: int, columns: int) -> Line:
        one = self.receipts[at]
        _, style, words = STATES[one.state]
        return cut((Span(f"       {one.says or words}", style if one.state == "failed" else "quiet"),), columns)
