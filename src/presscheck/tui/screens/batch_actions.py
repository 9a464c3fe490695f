"""Batch actions: one action on many things, one after another, with the state of each; the merge train too."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from textual.app import ComposeResult
from typing_extensions import override

from presscheck.api.change_requests import ChangeRequest, MergeResult
from presscheck.engine.review.merge_train import merge_next, save_train
from presscheck.errors import NotNow, PresscheckError
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, pad
from presscheck.tui.places import Place
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.engine.engine import Engine

STATES = {
    "next": ("·", "quiet", "not started"),
    "running": ("→", "link", "running"),
    "done": ("✓", "added", "done"),
    "pending": ("◷", "waiting", "pending in the outbox"),
    "failed": ("✗", "removed", ""),
}
"""Glyph, style and words of each state."""


class BatchRow(Protocol):
    """One thing of a batch, and the state of its action."""

    state: str
    message: str

    @property
    def key(self) -> str:
        """Its id."""
        ...

    @property
    def label(self) -> Line:
        """Its name."""
        ...


R = TypeVar("R", bound=BatchRow)


@dataclass
class BatchItem:
    """One change request of a batch, and its state."""

    request: ChangeRequest
    call: Operation[Any] | None = None
    state: str = "next"
    message: str = ""
    outbox_row: int = 0
    """Its row in the outbox, if it went there."""

    @property
    def key(self) -> str:
        """The id of the change request."""
        return self.request.id

    @property
    def label(self) -> Line:
        """Its number and its subject."""
        return (
            Span(f"{'#' + str(self.request.number):>5} ", "quiet"),
            Span(sanitize(self.request.subject) or "(no subject)"),
        )


BatchAction = Callable[[R, Callable[[], None]], Awaitable[None]]
"""Processes one item of a batch and sets its state; calls the function after each change of the item."""


def path_of(request: ChangeRequest) -> dict[str, Any]:
    """The arguments that name a change request in a call."""
    return {"space_id": request.space, "change_request_id": request.id}


def count_text(requests: Sequence[ChangeRequest]) -> str:
    """The number of change requests, in words."""
    return count(len(requests), "change request")


class WriteAction:
    """Sends the call of an item.

    Args:
        engine: the engine.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def __call__(self, item: BatchItem, redraw: Callable[[], None]) -> None:
        """Send the call and set the state of the item."""
        if item.call is None:
            return
        try:
            if item.outbox_row and self._engine.unsend(item.outbox_row) is None:  # a failed row would block later ones
                item.state, item.message = "pending", "already retried or discarded in the outbox"
                return
            ticket = self._engine.write(item.call)
            item.outbox_row = ticket.id
            if ticket.id and not self._engine.status.online:
                item.state = "pending"
                return
            try:
                answer = await ticket.landed()
            except NotNow as error:
                item.state, item.message = "pending", sanitize(error.message)
                return
        except PresscheckError as error:
            item.state, item.message = "failed", sanitize(error.message)
            return
        item.state = "done"
        if isinstance(answer, MergeResult) and answer.result == "conflicts":
            item.message = "done, with conflicts: check the pages that both sides changed"


class MergeTrainAction:
    """Merges an item; the remaining items are stored before and after, so that a crash loses none.

    Args:
        engine: the engine.
        items: all items of the train.
    """

    def __init__(self, engine: Engine, items: Sequence[BatchItem]) -> None:
        self._engine, self._items = engine, items

    async def __call__(self, item: BatchItem, redraw: Callable[[], None]) -> None:
        """Merge the change request, showing each step."""

        def show_step(words: str) -> None:
            item.message = words
            redraw()

        self._store_remaining()
        try:
            item.message = await merge_next(self._engine, path_of(item.request), show_step)
        except PresscheckError as error:
            item.state, item.message = "failed", f"stopped here: {sanitize(error.message)}"
            return
        item.state = "done"
        self._store_remaining()

    def _store_remaining(self) -> None:
        save_train(self._engine.outbox, [item.request for item in self._items if item.state != "done"])


class BatchScreen(BaseScreen, Generic[R]):
    """Runs an action on one item after another, and shows the state of each; closing it starts no further item.

    Args:
        title: the name of the action.
        items: the change requests, or other things.
        action: processes one item.
        stops: whether the first failure ends the batch.
        noun: what an item is.
        address_of: returns the web address of an item, which can be copied; empty if it has none.
    """

    DEFAULT_CSS = "BatchScreen RowList { margin-top: 1; }"
    FOOTER: ClassVar[tuple[str, ...]] = ("retry", "down", "go_outbox", "close")

    def __init__(
        self,
        title: str,
        items: Sequence[R],
        action: BatchAction[R],
        *,
        stops: bool = False,
        noun: str = "change request",
        address_of: Callable[[R], str] | None = None,
    ) -> None:
        super().__init__()
        self.heading, self.items, self._action, self._stops = title, list(items), action, stops
        self._noun, self._is_running, self._address_of = noun, False, address_of

    @override
    @property
    def footer_commands(self) -> tuple[str, ...]:
        return ("copy", *self.FOOTER) if self._address_of else self.FOOTER

    @override
    def title_line(self) -> Line:
        counts = [f"{self._count(state)} {state}" for state in ("done", "pending", "failed") if self._count(state)]
        progress = f"  {count(len(self.items), self._noun)}   {' · '.join(counts)}"
        return (Span(f" {self.heading}", "title"), Span(progress, "quiet"))

    @override
    def place(self) -> Place | None:
        """The batch while it runs, so that it goes on when the user goes elsewhere."""
        return Place("batch", self.heading, (str(id(self)),)) if self._is_running else None

    @override
    def body(self) -> ComposeResult:
        yield RowList(self._row, second_line=self._state_row)

    @override
    def on_mount(self) -> None:
        super().on_mount()
        rows = self.query_one(RowList)
        rows.show(len(self.items))
        rows.focus()
        self._start()

    @property
    def done(self) -> set[str]:
        """The ids of the items that are done, or will be without further action."""
        return {item.key for item in self.items if item.state in ("done", "pending")}

    def reason_retry(self) -> str | None:
        """Disabled unless something failed, and until the batch has ended.

        A second run would end the first one: the item that is being sent would stay `running` for ever, and its mark
        would remain, so that it would be sent twice.
        """
        if self._is_running:
            return "it is still running"
        return None if self._count("failed") else "nothing failed"

    def command_retry(self) -> None:
        """Retry what failed."""
        for item in self.items:
            if item.state == "failed":
                item.state, item.message = "next", ""
        self._start()

    def reason_copy(self) -> str | None:
        """Disabled if the item under the cursor has no address."""
        return None if self._address() else "it has no web address"

    def command_copy(self) -> None:
        """Copy the web address of the item under the cursor."""
        self.app_context.copy_to_clipboard(self._address())
        self.notify("copied")

    def _address(self) -> str:
        at = self.query_one(RowList).cursor
        return self._address_of(self.items[at]) if self._address_of and at < len(self.items) else ""

    def _start(self) -> None:
        self._is_running = True
        self.run(self._run_all, group="batch", exclusive=True)

    async def _run_all(self) -> None:
        try:
            await self._run_items()
        finally:
            self._is_running = False

    async def _run_items(self) -> None:
        for item in self.items:
            if item.state != "next":
                continue
            item.state = "running"
            self.redraw()
            await self._action(item, self.redraw)
            self.redraw()
            if self._stops and self._count("failed"):
                return

    @override
    def redraw(self) -> None:
        self.query_one(RowList).redraw()
        self.refresh_status_bars()

    def _count(self, state: str) -> int:
        return sum(item.state == state for item in self.items)

    def _row(self, at: int, columns: int) -> Line:
        item = self.items[at]
        glyph, style, _ = STATES[item.state]
        return pad(cut((Span(f"{glyph} ", style), *item.label), columns), columns)

    def _state_row(self, at: int, columns: int) -> Line:
        item = self.items[at]
        _, style, words = STATES[item.state]
        return cut((Span(f"       {item.message or words}", style if item.state == "failed" else "quiet"),), columns)


def merge_train(engine: Engine, requests: Sequence[ChangeRequest]) -> BatchScreen[BatchItem]:
    """A screen that merges change requests one after another and stops at the first that cannot be merged."""
    items = [BatchItem(request) for request in requests]
    return BatchScreen("Merge, one after another", items, MergeTrainAction(engine, items), stops=True)
