"""Limits on concurrent calls, so that one kind of call never delays another.

`Turns` limit the calls with the same key, such as the writers of a space; a waiting call takes no thread. `Threads`
limit one kind of call, such as reads. Where too many calls wait, or one waits too long, the response is 503 with
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
"""Seconds after which a call that found no place may try again."""


class Busy(ApiError):
    """503 with ``Retry-After``: too many calls wait already, or one waited too long."""

    def __init__(self, what: str) -> None:
        super().__init__(503, f"{what}; try again later.", retry_after=RETRY_AFTER)


class Turns:
    """Turns of calls by key, first come, first served.

    Args:
        at_once: calls that hold a turn of one key at once.
        waiting: calls that may wait for one key.
        patience: seconds that a call waits.
        what: what is full, for the error.
    """

    def __init__(self, at_once: int, *, waiting: int, patience: float, what: str) -> None:
        self._at_once, self._waiting, self._patience, self._what = at_once, waiting, patience, what
        self._places: dict[str, _Place] = {}

    @asynccontextmanager
    async def turn(self, key: str) -> AsyncGenerator[None, None]:
        """Waits for a turn and holds it for the duration of the block.

        Raises:
            Busy: too many calls wait already, or the turn does not come in time.
        """
        place = self._places.setdefault(key, _Place(self._at_once))
        if place.calls >= self._at_once + self._waiting:
            raise Busy(f"{self._what}: too many calls wait already")
        place.calls += 1
        try:
            try:
                async with asyncio.timeout(self._patience):
                    await place.free.acquire()
            except TimeoutError:
                raise Busy(f"{self._what}: the calls before this one take too long") from None
            try:
                yield
            finally:
                place.free.release()
        finally:
            place.calls -= 1
            if not place.calls:
                del self._places[key]

    def held(self) -> frozenset[str]:
        """The keys of calls that hold a turn or wait for one."""
        return frozenset(self._places)


class _Place:
    def __init__(self, at_once: int) -> None:
        self.free = asyncio.Semaphore(at_once)
        self.calls = 0
        """Calls that hold a turn or wait for one."""


class Threads:
    """Threads for one kind of call.

    Args:
        at_once: threads.
        waiting: calls that may wait for a thread.
        what: what is full, for the error.
    """

    def __init__(self, at_once: int, *, waiting: int, what: str) -> None:
        self._limiter = CapacityLimiter(at_once)
        self._most, self._what = at_once + waiting, what
        self._calls = 0

    async def run(self, work: Callable[[Unpack[Arguments]], Result], *arguments: *Arguments) -> Result:
        """Calls a function in a thread.

        Raises:
            Busy: too many calls wait already.
        """
        if self._calls >= self._most:
            raise Busy(f"{self._what}: too many calls wait already")
        self._calls += 1
        try:
            return await run_sync(work, *arguments, limiter=self._limiter)
        finally:
            self._calls -= 1
