"""A small app with one screen."""

import asyncio
from collections.abc import AsyncIterator

from textual.app import ComposeResult
from textual.pilot import Pilot

from presscheck.engine.results import Result
from presscheck.errors import NotFound, NotNow
from presscheck.text.styled_text import Line, Span
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog
from presscheck.tui.widgets.row_list import RowList


class Room(BaseScreen):
    """A screen with a list, and commands that run, ask, wait and fail."""

    FOOTER = ("open", "publish", "approve", "comment")

    def __init__(self) -> None:
        super().__init__()
        self.did: list[str] = []
        self.seen: list[int] = []
        self.ended = 0
        self.why: str | None = None

    def body(self) -> ComposeResult:
        yield RowList(self._row)

    def on_mount(self) -> None:
        rows = self.query_one(RowList)
        rows.show(100)
        rows.focus()

    def _row(self, at: int, columns: int) -> Line:
        return (Span(f"row {at}"),)

    def reason_publish(self) -> str | None:
        return self.why

    def command_open(self) -> None:
        self.did.append(f"open {self.query_one(RowList).cursor}")

    def command_publish(self) -> None:
        self.did.append("publish")

    async def command_approve(self) -> None:
        answer = await self.ask(ConfirmDialog("Approve?", [(Span("All of it."),)], "Approve"))
        self.did.append(f"approve {answer}")

    def command_comment(self) -> None:
        raise NotNow("offline: this cannot wait")

    async def command_comment_on_all(self) -> None:
        await asyncio.sleep(0)
        raise NotFound("no such thing", request="GET /spaces/x", status=404)

    def command_tab(self) -> None:
        self.did.append(f"tab {self.last_key}")

    async def stream(self, *values: int) -> AsyncIterator[Result[int]]:
        try:
            for value in values:
                yield Result(value, "fresh", 0.0)
            await asyncio.Event().wait()
        finally:
            self.ended += 1


def room(pilot: Pilot[int]) -> Room:
    found = pilot.app.screen_stack[0]
    assert isinstance(found, Room)
    return found
