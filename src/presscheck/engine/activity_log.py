"""The activity log: every request of this run and every answer from the store, the last of them, without a secret.

What is kept is bounded: so many entries, none with a call of more than a few kilobytes.
"""

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
from presscheck.client.request_context import Priority, RequestRecord
from presscheck.text.relative_time import now

KEPT = 1000
"""Entries."""
LARGEST = 8000
"""Characters of a line that is kept."""


@dataclass(frozen=True)
class Entry:
    """One request. `status` is None where nothing came back; `again` is the line that says it again, or empty."""

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
        self._entries: deque[Entry] = deque(maxlen=KEPT)
        self._numbers = itertools.count(1)
        self._bells: set[asyncio.Event] = set()

    def exchanged(self, exchange: RequestRecord) -> None:
        """The client has asked the service."""
        call, status, spent, size = exchange.call, exchange.status, exchange.milliseconds, exchange.bytes
        path = exchange.path.removeprefix("/v1")
        shown = shown_path(call, path) if call else path
        number, again = next(self._numbers), _again(call)
        self._add(Entry(number, now(), exchange.method, shown, status, spent, size, False, exchange.priority, again))

    def remembered(self, call: Operation[Any], began: float, size: int, priority: Priority) -> None:
        """The store has answered what was wanted at `began`, by the performance counter."""
        path = shown_path(call, call.wire_path())
        number, method, spent = next(self._numbers), call.method(), (time.perf_counter() - began) * 1000
        self._add(Entry(number, now(), method, path, None, spent, size, True, priority, _again(call)))

    async def watch(self) -> AsyncIterator[tuple[Entry, ...]]:
        """All that is kept, the newest first, and again whenever there is more; ends only when it is closed."""
        bell = asyncio.Event()
        self._bells.add(bell)
        try:
            while True:
                bell.clear()
                yield tuple(reversed(self._entries))
                await bell.wait()
        finally:
            self._bells.discard(bell)

    def _add(self, entry: Entry) -> None:
        self._entries.append(entry)
        for bell in self._bells:
            bell.set()


def _again(call: Operation[Any] | None) -> str:
    line = typed(call) if call else ""
    return line if len(line) <= LARGEST else ""
