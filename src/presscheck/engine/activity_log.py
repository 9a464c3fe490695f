"""The activity log: the latest requests and cache reads of this session, without secrets, in a bounded list."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from presscheck.api.operation import Operation
from presscheck.api.shell_command import shown_path, typed
from presscheck.client.request_priority import Priority, RequestRecord
from presscheck.text.relative_time import now

MAX_ENTRIES = 1000
MAX_COMMAND_LENGTH = 8000
"""Characters; the command line of a longer call is not kept."""


@dataclass(frozen=True)
class Entry:
    """One request or cache read.

    Attributes:
        status: the HTTP status; None if there was no response.
        again: the command line that repeats the request; empty if it is too long.
    """

    number: int
    at: datetime
    method: str
    path: str
    status: int | None
    milliseconds: float
    bytes: int
    from_cache: bool
    priority: Priority
    again: str


class Activity:
    """The log of one engine."""

    def __init__(self) -> None:
        self._entries: deque[Entry] = deque(maxlen=MAX_ENTRIES)
        self._numbers = itertools.count(1)
        self._listeners: set[asyncio.Event] = set()

    def record_request(self, record: RequestRecord) -> None:
        """Log a request that the client sent."""
        call, status, duration, size = record.call, record.status, record.milliseconds, record.bytes
        path = record.path.removeprefix("/v1")
        shown = shown_path(call, path) if call else path
        number, again = next(self._numbers), _command_line(call)
        self._add(Entry(number, now(), record.method, shown, status, duration, size, False, record.priority, again))

    def record_cached(self, call: Operation[Any], started: float, size: int, priority: Priority) -> None:
        """Log a read from the cache; `started` is its start by the performance counter, `size` is in bytes."""
        path = shown_path(call, call.wire_path())
        number, method, duration = next(self._numbers), call.method(), (time.perf_counter() - started) * 1000
        self._add(Entry(number, now(), method, path, None, duration, size, True, priority, _command_line(call)))

    async def watch(self) -> AsyncIterator[tuple[Entry, ...]]:
        """Yield all entries, newest first, and again after each new entry; ends only when the iterator is closed."""
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


def _command_line(call: Operation[Any] | None) -> str:
    line = typed(call) if call else ""
    return line if len(line) <= MAX_COMMAND_LENGTH else ""
