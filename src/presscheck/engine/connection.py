"""The connection to the service: its status (online, offline, pending writes) and the log of the latest requests.

The log is a bounded list of the requests and cache reads of this session, without secrets.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from presscheck.api.operation import Operation
from presscheck.api.shell_command import shown_path, typed
from presscheck.client.request_priority import Priority, RequestRecord
from presscheck.engine.writes.pending_writes import OutboxEntry

MAX_ENTRIES = 1000
MAX_COMMAND_LENGTH = 8000
"""Maximum number of characters of a command line in the log."""


@dataclass(frozen=True)
class Entry:
    """A request or a cache read.

    Attributes:
        status: the HTTP status; None if there was no response.
        call: the operation; None for a request without an operation.
        agent: the name of the agent that wrote what was sent, as display text; empty if the user wrote it.
    """

    number: int
    at: datetime
    method: str
    request_path: str
    status: int | None
    milliseconds: float
    bytes: int
    from_cache: bool
    priority: Priority
    call: Operation[Any] | None
    agent: str = ""

    @cached_property
    def path(self) -> str:
        """The path without secrets, formatted on first use."""
        return shown_path(self.call, self.request_path) if self.call else self.request_path

    @cached_property
    def again(self) -> str:
        """The command line that repeats the request, without secrets.

        Empty if it is too long, or if the request has no operation.
        """
        line = typed(self.call) if self.call else ""
        return line if len(line) <= MAX_COMMAND_LENGTH else ""


class Activity:
    """The activity log of an engine."""

    def __init__(self) -> None:
        self._entries: deque[Entry] = deque(maxlen=MAX_ENTRIES)
        self._numbers = itertools.count(1)
        self._listeners: set[asyncio.Event] = set()

    def record_request(self, record: RequestRecord) -> None:
        """Log a request that the client sent."""
        number, at, path = next(self._numbers), datetime.now(UTC), record.path.removeprefix("/v1")
        duration, size, call = record.milliseconds, record.bytes, record.call
        status, priority, agent = record.status, record.priority, record.agent
        self._add(Entry(number, at, record.method, path, status, duration, size, False, priority, call, agent))

    def record_cached(self, call: Operation[Any], started: float, size: int, priority: Priority) -> None:
        """Log a read from the cache.

        Args:
            call: the read.
            started: the start time from `time.perf_counter`.
            size: the size of the response in bytes.
            priority: the priority of the read.
        """
        path, method = call.wire_path(), call.method()
        number, duration = next(self._numbers), (time.perf_counter() - started) * 1000
        self._add(Entry(number, datetime.now(UTC), method, path, None, duration, size, True, priority, call))

    async def watch(self) -> AsyncIterator[tuple[Entry, ...]]:
        """Yield all entries, newest first, and again after each new entry, until the iterator is closed."""
        changed = asyncio.Event()
        self._listeners.add(changed)
        try:
            while True:
                changed.clear()
                yield tuple(reversed(self._entries))
                await changed.wait()
        finally:
            self._listeners.discard(changed)

    def _add(self, entry: Entry) -> None:
        self._entries.append(entry)
        for changed in self._listeners:
            changed.set()


@dataclass(frozen=True)
class Status:
    """The connection status, and the numbers of pending (`waiting`) and failed (`refused`) writes.

    Attributes:
        offline_since: seconds since the epoch; None while online.
        running: a description of the task in progress.
    """

    online: bool = True
    offline_since: float | None = None
    waiting: int = 0
    refused: int = 0
    running: str | None = None
    read_only: bool = False


class ConnectionState:
    """The connection status, and the listeners to its changes.

    Args:
        pending: returns the writes that are not sent yet.
        read_only: whether the profile rejects all writes.
    """

    def __init__(self, pending: Callable[[], tuple[OutboxEntry, ...]], *, read_only: bool) -> None:
        self._pending, self._status = pending, Status(read_only=read_only)
        self._listeners: list[Callable[[Status], None]] = []

    @cached_property
    def status(self) -> Status:
        """The current status. The numbers of pending and failed writes are counted again after each change."""
        rows = [row for row in self._pending() if row.state != "collected"]  # collected: held for a review
        refused = sum(row.state in ("refused", "parked") for row in rows)
        return replace(self._status, waiting=len(rows) - refused, refused=refused)

    def set_online(self, *, online: bool) -> None:
        """Set whether the service can be reached."""
        if online != self._status.online:
            self._status = replace(self._status, online=online, offline_since=None if online else time.time())
        self.notify()

    def set_running(self, task: str | None) -> None:
        """Set the description of the task in progress, or None at its end."""
        self._status = replace(self._status, running=task)
        self.notify()

    def listen(self, listener: Callable[[Status], None]) -> Callable[[], None]:
        """Call the listener with each new status. Returns a function that removes the listener."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def notify(self) -> None:
        """Call all listeners, after a change of the status or of the pending writes."""
        self.__dict__.pop("status", None)
        status = self.status
        for listener in tuple(self._listeners):
            listener(status)
