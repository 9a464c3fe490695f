"""Limits on concurrent calls, so that one kind of call does not delay others.

`Turns` limits calls with the same key, such as writes to a space, and waiting calls occupy no thread. `Threads` limits
one kind of call, such as reads. If too many calls wait, or a call waits too long, the response is 503 with
``Retry-After``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from typing_extensions import TypeVarTuple, Unpack

from presscheck.service.http.operations import ApiError

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")

RETRY_AFTER = 2
"""Number of seconds after which a rejected call may be repeated."""


class Busy(ApiError):
    """A 503 with ``Retry-After``: too many calls are waiting, or the call waited too long."""

    def __init__(self, what: str) -> None:
        super().__init__(503, f"{what}; try again later.", retry_after=RETRY_AFTER)


class Turns:
    """A limit on concurrent calls with the same key, first come, first served.

    Args:
        at_once: maximum number of running calls per key.
        waiting: maximum number of waiting calls per key.
        patience: maximum wait of a call, in seconds.
        what: the name of the calls in error messages.
    """

    def __init__(self, at_once: int, *, waiting: int, patience: float, what: str) -> None:
        self._at_once, self._waiting, self._patience, self._what = at_once, waiting, patience, what
        self._queues: dict[str, _Queue] = {}

    @asynccontextmanager
    async def turn(self, key: str) -> AsyncGenerator[None, None]:
        """Wait for a turn and hold it for the duration of the block.

        Raises:
            Busy: too many calls are waiting, or the turn does not come in time.
        """
        queue = self._queues.setdefault(key, _Queue(self._at_once))
        if queue.calls >= self._at_once + self._waiting:
            raise Busy(f"{self._what}: too many calls wait already")
        queue.calls += 1
        try:
            try:
                async with asyncio.timeout(self._patience):
                    await queue.free.acquire()
            except TimeoutError:
                raise Busy(f"{self._what}: the calls before this one take too long") from None
            try:
                yield
            finally:
                queue.free.release()
        finally:
            queue.calls -= 1
            if not queue.calls:
                del self._queues[key]

    def held(self) -> frozenset[str]:
        """Return the keys of running and waiting calls."""
        return frozenset(self._queues)


class _Queue:
    def __init__(self, at_once: int) -> None:
        self.free = asyncio.Semaphore(at_once)
        self.calls = 0
        """Number of running and waiting calls."""


class Threads:
    """A limited number of threads for one kind of call.

    Args:
        at_once: number of threads.
        waiting: maximum number of calls that wait for a thread.
        what: the name of the calls in error messages.
    """

    def __init__(self, at_once: int, *, waiting: int, what: str) -> None:
        self._limiter = CapacityLimiter(at_once)
        self._most, self._what = at_once + waiting, what
        self._calls = 0

    async def run(self, work: Callable[[Unpack[Arguments]], Result], *arguments: *Arguments) -> Result:
        """Call a function in a thread.

        Raises:
            Busy: too many calls are waiting.
        """
        if self._calls >= self._most:
            raise Busy(f"{self._what}: too many calls wait already")
        self._calls += 1
        try:
            return await run_sync(work, *arguments, limiter=self._limiter)
        finally:
            self._calls -= 1
