"""A driver that presses the keys of each row in the real app and checks which requests the local service receives."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tests.cli.hostile_service import operation_at
from tests.running_service import LOOPBACK, RunningService, running_service
from tests.tui.app_driver import app_on, pick, running, shown, until
from textual.screen import ModalScreen
from textual.widgets import Input, TextArea

from presscheck.api.operation import Operation
from presscheck.client.client import Client

MOST_ROWS = 80
"""Maximum number of rows that `Cursor` searches."""
AnyOperation = type[Operation[Any]]


class Step(ABC):
    """A step at the keyboard other than pressing keys."""

    @abstractmethod
    async def take(self, pilot: Any) -> None:
        """Perform the step."""


@dataclass(frozen=True)
class Shows(Step):
    """Wait until the screen shows a text."""

    text: str

    async def take(self, pilot: Any) -> None:
        await until(pilot, shows=self.text)


@dataclass(frozen=True)
class Text(Step):
    """Wait until an input has the focus, and type a text. The text of a single-line input is replaced."""

    text: str

    async def take(self, pilot: Any) -> None:
        await until(pilot, holds=lambda: isinstance(pilot.app.focused, Input | TextArea))
        if isinstance(pilot.app.focused, Input) and pilot.app.focused.value:
            await pilot.press("end", "ctrl+u")
        await pilot.press(*self.text)


@dataclass(frozen=True)
class Pick(Step):
    """Choose a row of a picker or menu, as soon as it is shown."""

    label: str

    async def take(self, pilot: Any) -> None:
        await pick(pilot, self.label)


@dataclass(frozen=True)
class Cursor(Step):
    """Move the cursor of the focused list from its top down to the first row with a text."""

    text: str

    async def take(self, pilot: Any) -> None:
        await until(pilot, shows=self.text)
        await pilot.press("g", "g")
        for _ in range(MOST_ROWS):
            if any(self.text in line.partition("▌")[2] for line in shown(pilot.app).split("\n")):
                return
            await pilot.press("j")
        raise AssertionError(f"no row with {self.text!r}:\n{shown(pilot.app)}")


@dataclass(frozen=True)
class Holds(Step):
    """Wait for a condition that the screen does not show, such as a loaded table."""

    holds: Callable[[Any], Any]

    async def take(self, pilot: Any) -> None:
        await until(pilot, holds=lambda: bool(self.holds(pilot)))


Steps = Sequence["str | Step"]
"""Steps at the keyboard; a string is keys, separated by spaces, such as `g a`."""
HERE: Steps = ()
"""The place where the previous row ended."""


class Row(NamedTuple):
    """One line of the table.

    Attributes:
        operations: the operations that the service receives, in any order.
        place: the steps from anywhere to the place where the row starts; `HERE` continues after the previous row.
        steps: the steps that send the operations.
    """

    operations: tuple[AnyOperation, ...]
    place: Steps
    steps: Steps


def row(operations: AnyOperation | tuple[AnyOperation, ...], place: Steps, *steps: str | Step) -> Row:
    """Return a row with one operation, with several that the same keys send, or with none if the keys only prepare."""
    return Row(operations if isinstance(operations, tuple) else (operations,), place, steps)


async def _nothing(_: Client) -> None: ...


Around = Callable[[RunningService, Client], AbstractAsyncContextManager[None]]
"""A context manager around a run of the app, for what no operation creates: database rows, or a website."""


@asynccontextmanager
async def _nobody(service: RunningService, client: Client) -> AsyncIterator[None]:
    yield


@dataclass(frozen=True)
class Family:
    """The rows of one run of the app, on its own service with the sample workspace.

    Attributes:
        rows: the rows of the table, in the order of the run.
        without_keys: operations that no key sends here, each with the reason.
        prepare: creates on the service what the rows need, before the app starts.
        around: the context of the run, entered before `prepare`.
        release: the operations that the service has; None for all, `document` for the operations of its document.
        profile: settings of the profile, such as `user`.
    """

    rows: Sequence[Row] = ()
    without_keys: dict[AnyOperation, str] = field(default_factory=dict[AnyOperation, str])
    prepare: Callable[[Client], Awaitable[None]] = _nothing
    around: Around = _nobody
    release: str | None = None
    profile: dict[str, Any] = field(default_factory=dict[str, Any])


class Request(NamedTuple):
    """A request from the log of the service."""

    line: str
    operation: AnyOperation | None
    status: int


class _Requests(logging.Handler):
    """Collects the requests that the service logs."""

    def __init__(self) -> None:
        super().__init__()
        self.received: list[Request] = []

    def emit(self, record: logging.LogRecord) -> None:
        details: dict[str, Any] = getattr(record, "details", {})
        method, path, status = details["method"], details["path"], details["status"]
        operation = operation_at(method, path.removeprefix("/v1")) if path.startswith("/v1/") else None
        self.received.append(Request(f"{method} {path} {status}", operation, status))


@contextmanager
def logged_requests() -> Iterator[list[Request]]:
    """Collect the requests that services in this process receive. The list grows while the app runs."""
    logger, handler = logging.getLogger("presscheck.requests"), _Requests()
    level, propagates = logger.level, logger.propagate
    logger.setLevel(logging.INFO)
    logger.propagate = False
    logger.addHandler(handler)
    try:
        yield handler.received
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagates


async def take(pilot: Any, steps: Steps) -> None:
    """Perform steps in their order."""
    for step in steps:
        if isinstance(step, str):
            await pilot.press(*step.split())
        else:
            await step.take(pilot)


async def close_dialogs(pilot: Any) -> None:
    """Close the dialogs that the previous row left open."""
    for _ in range(5):
        if not isinstance(pilot.app.screen, ModalScreen):
            return
        dialog = pilot.app.screen
        await pilot.press("escape")
        await until(pilot, holds=lambda dialog=dialog: pilot.app.screen is not dialog)


async def walk_row(pilot: Any, line: Row, requests: list[Request]) -> None:
    """Press the keys of a row.

    Raises:
        AssertionError: if the service did not receive an operation of the row, or refused it.
    """
    if line.place:
        await close_dialogs(pilot)
    start = len(requests)  # opening the place may already send an operation of the row
    await take(pilot, (*line.place, *line.steps))

    def missing() -> list[str]:
        done = {request.operation for request in requests[start:] if request.status < 400}
        return [operation.__name__ for operation in line.operations if operation not in done]

    try:
        await until(pilot, holds=lambda: not missing())
    except AssertionError as error:
        received = "\n".join(request.line for request in requests[start:])
        raise AssertionError(f"not received: {missing()}; received:\n{received}\n{error}") from None


async def walk(family: Family, home: Path) -> None:
    """Start a service and the app, and run all rows of a family.

    Raises:
        AssertionError: if a row failed; the message names its operations and steps.
    """
    (home / "service").mkdir()
    with (
        logged_requests() as requests,
        running_service(home / "service", sample=True, release=family.release, outside=LOOPBACK) as service,
    ):
        async with Client(service.base_url, service.token) as client, family.around(service, client):
            await family.prepare(client)
            async with running(app_on(service, home / "home", **family.profile)) as pilot:
                await until(pilot, shows="live")
                for line in family.rows:
                    names = ", ".join(operation.__name__ for operation in line.operations)
                    try:
                        await walk_row(pilot, line, requests)
                    except AssertionError as error:
                        raise AssertionError(f"{names} by {(*line.place, *line.steps)}: {error}") from None
