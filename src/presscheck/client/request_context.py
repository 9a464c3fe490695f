"""Request priorities and records, shared by the client and its callers; independent of HTTP.

The priority of a request can be raised while it waits, as when a screen needs what is being prefetched.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from presscheck.api.operation import Operation


class Priority(IntEnum):
    """The priority of a request; lower numbers are sent first."""

    VISIBLE = 0
    """A visible part of the screen needs it."""
    REQUESTED = 1
    """A user action needs it."""
    PREFETCH = 2
    """The user will probably need it next."""
    BACKGROUND = 3
    """Nothing waits for it."""


@dataclass(frozen=True)
class RequestRecord:
    """A request that was sent, for the activity log. `status` is None if there was no response."""

    method: str
    path: str
    status: int | None
    milliseconds: float
    bytes: int
    call: Operation[Any] | None = None
    priority: Priority = Priority.REQUESTED


class RequestContext:
    """The priority of one request, which can be raised.

    Args:
        priority: the initial priority.
    """

    def __init__(self, priority: Priority = Priority.REQUESTED) -> None:
        self.priority = priority
        self._raised = asyncio.Event()

    @property
    def is_background(self) -> bool:
        """Whether nothing waits for it."""
        return self.priority is Priority.BACKGROUND

    def raise_priority(self, priority: Priority) -> None:
        """Raise the priority to this one, if it is higher."""
        if priority < self.priority:
            self.priority = priority
            self._raised.set()

    async def wait_for_higher_priority(self, seconds: float) -> bool:
        """Wait until the priority is raised (returns True), or for this time (returns False)."""
        self._raised.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._raised.wait()
                return True
        return False
