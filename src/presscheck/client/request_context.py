"""How urgent a request is, and what became of it: the words between the client and whoever asks; nothing of HTTP.

What was begun for nobody in particular becomes urgent when the eye comes to want it.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from presscheck.api.operation import Operation


class Priority(IntEnum):
    """How urgent: the lower number goes first."""

    VISIBLE = 0
    """Somebody looks at where it will stand."""
    REQUESTED = 1
    """Somebody did something that needs it."""
    PREFETCH = 2
    """It is likely to be looked at next."""
    BACKGROUND = 3
    """It may come some time: nobody waits for it."""


@dataclass(frozen=True)
class RequestRecord:
    """One exchange with the service, for the activity log. `status` is None where nothing came back."""

    method: str
    path: str
    status: int | None
    milliseconds: float
    bytes: int
    call: Operation[Any] | None = None
    priority: Priority = Priority.REQUESTED


class RequestContext:
    """One thing to ask for.

    Args:
        priority: how urgent it is now.
    """

    def __init__(self, priority: Priority = Priority.REQUESTED) -> None:
        self.priority = priority
        self._bell = asyncio.Event()

    @property
    def may_wait(self) -> bool:
        """Whether nobody waits for it."""
        return self.priority is Priority.BACKGROUND

    def hurry(self, priority: Priority) -> None:
        """Somebody else wants it too, and maybe sooner."""
        if priority < self.priority:
            self.priority = priority
            self._bell.set()

    async def hurried_within(self, seconds: float) -> bool:
        """Wait that long; True as soon as it becomes more urgent."""
        self._bell.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._bell.wait()
                return True
        return False
