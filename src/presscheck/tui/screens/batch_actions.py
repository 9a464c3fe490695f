"""Batch actions: an action on many items in sequence, with the state of each item. A merge train is one of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

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
"""The glyph, style and words of each state."""


class BatchItem(ABC):
    """An item of a batch, with the state of its action (a key of `STATES`) and a message."""

    def __init__(self) -> None:
        self.state, self.message = "next", ""

    @property
    @abstractmethod
    def key(self) -> str:
        """The id of the item."""

    @property
    @abstractmethod
    def label(self) -> Line:
        """The name of the item."""

    @property
    def address(self) -> str:
        """The web address to copy; empty without an address."""
        return ""

    @abstractmethod
    async def run(self, redraw: Callable[[], None]) -> None:
        """Run the action and set the state; `redraw` shows progress."""


class RequestItem(BatchItem):
    """A change request of a batch.

    Args:
        engine: the engine.
        request: the change request.
        name: its space and number, as display text.
    """

    def __init__(self, engine: Engine, request: ChangeRequest, name: str) -> None:
        super().__init__()
        self._engine, self.request, self._name = engine, request, name

    @override
    @property
    def key(self) -> str:
        return self.request.id

    @override
    @property
    def label(self) -> Line:
        return Span(f"{self._name}  ", "quiet"), Span(sanitize(self.request.subject) or "(no subject)")


def path_of(request: ChangeRequest) -> dict[str, Any]:
    """Return the path parameters of a change request."""
    return {"space_id": request.space, "change_request_id": request.id}


def count_text(requests: Sequence[ChangeRequest]) -> str:
    """Return the number of change requests as text, such as `2 change requests`."""
    return count(len(requests), "change request")


class WriteItem(RequestItem):
    """A write to a change request.

    Args:
        engine: the engine.
        request: the change request.
        name: its space and number, as display text.
        call: the write.

    Attributes:
        outbox_row: the number of the write in the outbox; 0 if the write is not in the outbox.
    """

    def __init__(self, engine: Engine, request: ChangeRequest, name: str, call: Operation[Any]) -> None:
        super().__init__(engine, request, name)
        self._call, self.outbox_row = call, 0

    @override
    async def run(self, redraw: Callable[[], None]) -> None:
        try:
            # a retry removes the failed row first, because it would block later writes
            if self.outbox_row and self._engine.unsend(self.outbox_row) is None:
                self.state, self.message = "pending", "already retried or discarded in the outbox"
                return
            ticket = self._engine.write(self._call)
            self.outbox_row = ticket.id
            if ticket.id and not self._engine.status.online:
                self.state = "pending"
                return
            try:
                answer = await ticket.landed()
            except NotNow as error:
                self.state, self.message = "pending", sanitize(error.message)
                return
        except PresscheckError as error:
            self.state, self.message = "failed", sanitize(error.message)
            return
        self.state = "done"
        if isinstance(answer, MergeResult) and answer.result == "conflicts":
            self.message = "done, with conflicts: check the pages that both sides changed"


class MergeItem(RequestItem):
    """A merge of a merge train. The remaining merges are stored before and after it, so that a crash loses none.

    Args:
        engine: the engine.
        request: the change request.
        name: its space and number, as display text.
        train: all merges of the train.
    """

    def __init__(self, engine: Engine, request: ChangeRequest, name: str, train: Sequence[MergeItem]) -> None:
        super().__init__(engine, request, name)
        self._train = train

    @override
    async def run(self, redraw: Callable[[], None]) -> None:
        def show_step(words: str) -> None:
            self.message = words
            redraw()

        self._store_remaining()
        try:
            self.message = await merge_next(self._engine, path_of(self.request), show_step)
        except PresscheckError as error:
            self.state, self.message = "failed", f"stopped here: {sanitize(error.message)}"
            return
        self.state = "done"
        self._store_remaining()

    def _store_remaining(self) -> None:
        save_train(self._engine.outbox, [item.request for item in self._train if item.state != "done"])


class BatchScreen(BaseScreen):
    """A screen that runs items in sequence and shows their states; closing the screen ends the batch.

    Args:
        title: the name of the action.
        items: the items.
        stops: whether the first failure ends the batch.
        noun: the noun for an item.
    """

    DEFAULT_CSS = "BatchScreen RowList { margin-top: 1; }"
    FOOTER: ClassVar[tuple[str, ...]] = ("down", "go_outbox", "close")

    def __init__(
        self, title: str, items: Sequence[BatchItem], *, stops: bool = False, noun: str = "change request"
    ) -> None:
        super().__init__()
        self.heading, self.items, self._stops, self._noun = title, items, stops, noun
        self._is_running = False

    @override
    @property
    def footer_commands(self) -> tuple[str, ...]:
        copy = ("copy",) if any(item.address for item in self.items) else ()
        retry = ("retry",) if self.reason_retry() is None else ()
        return (*retry, *copy, *self.FOOTER)

    @override
    def title_line(self) -> Line:
        counts = [f"{self._count(state)} {state}" for state in ("done", "pending", "failed") if self._count(state)]
        progress = f"  {count(len(self.items), self._noun)}   {' · '.join(counts)}"
        return (Span(f" {self.heading}", "title"), Span(progress, "quiet"))

    @override
    def place(self) -> Place | None:
        """Return the place of a running batch, which continues while another screen is open; None after its end."""
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
        """The ids of the items that are done or pending in the outbox."""
        return {item.key for item in self.items if item.state in ("done", "pending")}

    def reason_retry(self) -> str | None:
        """Return why the batch cannot be retried: it is still running, or nothing failed.

        A second run would cancel the first. The current item would then stay `running`, and would stay marked in the
        list, so that a later batch would send it twice.
        """
        if self._is_running:
            return "it is still running"
        return None if self._count("failed") else "nothing failed"

    def command_retry(self) -> None:
        """Retry the failed items."""
        for item in self.items:
            if item.state == "failed":
                item.state, item.message = "next", ""
        self._start()

    def reason_copy(self) -> str | None:
        """Return why no address can be copied: the item has none."""
        return None if self._address() else "it has no web address"

    def command_copy(self) -> None:
        """Copy the web address of the item under the cursor."""
        self.app_context.copy_to_clipboard(self._address())
        self.notify("copied")

    def _address(self) -> str:
        at = self.query_one(RowList).cursor
        return self.items[at].address if at < len(self.items) else ""

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
            await item.run(self.redraw)
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


def merge_train(engine: Engine, requests: Sequence[ChangeRequest], name: Callable[[ChangeRequest], str]) -> BatchScreen:
    """Return a screen that merges change requests in sequence, and stops at the first failure.

    Args:
        engine: the engine.
        requests: the change requests, in merge order.
        name: returns the space and number of a change request, as display text.
    """
    items: list[MergeItem] = []
    items += [MergeItem(engine, request, name(request), items) for request in requests]
    return BatchScreen("Merge, one after another", items, stops=True)
