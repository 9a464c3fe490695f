"""The reading half of the worker: asks the service, the watched first; twins share one request; offline is a state.

While offline nothing is asked but, at growing intervals, who we are; when that is answered, everything goes on.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import random
from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any, Protocol

from presscheck.api.operation import Operation
from presscheck.api.users import GetCurrentUser
from presscheck.errors import NetworkError

AT_ONCE = 4
"""Requests under way together."""
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
"""Seconds between two looks whether the service is back."""
EYE, NEXT, BACKGROUND = 0, 1, 2
"""Priorities: what is looked at, what is likely next, what may come some time."""


class Service(Protocol):
    """What the desk needs of a client."""

    async def fetch(self, call: Operation[Any]) -> bytes:
        """The body of the answer."""
        ...

    async def aclose(self) -> None:
        """Close every connection."""
        ...


class Asking:
    """Requests in order of priority, and whether the service can be reached."""

    def __init__(self, connect: Callable[[], Service], on_change: Callable[[], None]) -> None:
        self.offline: NetworkError | None = None
        self._connect, self._on_change = connect, on_change
        self._service: Service | None = None
        self._queue: asyncio.PriorityQueue[tuple[int, int, str]] = asyncio.PriorityQueue()
        self._order = itertools.count()
        self._asked: dict[str, tuple[Operation[Any], asyncio.Future[bytes]]] = {}
        self._under_way: set[str] = set()
        self._wanting: dict[str, int] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._back: asyncio.Task[None] | None = None

    @property
    def service(self) -> Service:
        """The connection, made when it is first needed."""
        if self._service is None:
            self._service = self._connect()
        return self._service

    def start(self) -> None:
        """Begin to work through the queue."""
        self._tasks = [asyncio.create_task(self._work()) for _ in range(AT_ONCE)]

    async def close(self) -> None:
        """Stop at once; what was asked is not answered."""
        tasks = [*self._tasks, *([self._back] if self._back else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for _, future in self._asked.values():
            future.cancel()
        if self._service:
            await self._service.aclose()

    async def fetch(self, call: Operation[Any], priority: int = EYE) -> bytes:
        """The body of the service's answer; a twin of a request that is under way waits for that one.

        Raises:
            RequestError: what came instead.
        """
        if self.offline:
            raise self.offline
        key = call.key()
        if key not in self._asked:
            future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
            future.add_done_callback(_look_at)
            self._asked[key] = call, future
        self._queue.put_nowait((priority, next(self._order), key))
        self._wanting[key] = self._wanting.get(key, 0) + 1
        try:
            return await asyncio.shield(self._asked[key][1])
        finally:
            self._wanting[key] -= 1
            if not self._wanting[key]:
                del self._wanting[key]

    async def _work(self) -> None:
        while True:
            _, _, key = await self._queue.get()
            found = self._asked.get(key)
            if found is None or found[1].done() or key in self._under_way:
                continue
            call, future = found
            if key not in self._wanting:
                del self._asked[key]
                future.cancel()
                continue
            await self._answer(key, call, future)

    async def _answer(self, key: str, call: Operation[Any], future: asyncio.Future[bytes]) -> None:
        self._under_way.add(key)
        try:
            body = await self.service.fetch(call)
        except asyncio.CancelledError:
            future.cancel()
            raise
        except Exception as error:  # whoever asked gets it, whatever it is
            if isinstance(error, NetworkError):
                self.lost(error)
            if not future.done():
                future.set_exception(error)
        else:
            if not future.done():
                future.set_result(body)
        finally:
            if key in self._asked and self._asked[key][1] is future:
                del self._asked[key]
                self._under_way.discard(key)

    def outdate(self, patterns: tuple[str, ...]) -> None:
        """A write has landed: what is under way for these paths may have been answered before it, and gets no twin."""
        for key in [*self._under_way]:
            call, _ = self._asked[key]
            if any(fnmatchcase(call.wire_path(), pattern) for pattern in patterns):
                del self._asked[key]
                self._under_way.discard(key)

    def lost(self, error: NetworkError) -> None:
        """The service cannot be reached: look again from time to time."""
        if not self.offline:
            self.offline = error
            self._back = asyncio.create_task(self._look_for_service())
            self._on_change()

    async def _look_for_service(self) -> None:
        pause = FIRST_PAUSE
        while self.offline:
            await asyncio.sleep(pause * random.uniform(0.8, 1.2))  # noqa: S311  # jitter
            pause = min(pause * 2, LONGEST_PAUSE)
            await self.look_now()

    async def look_now(self) -> None:
        """Ask who we are; any answer at all means that the service is back."""
        try:
            await self.service.fetch(GetCurrentUser())
        except NetworkError:
            return
        except Exception:  # noqa: S110  # it answered, if only with a no
            pass
        if self.offline:
            self.offline = None
            self._on_change()


def _look_at(future: asyncio.Future[bytes]) -> None:
    """Take note of an error that nobody waits for any longer."""
    with contextlib.suppress(asyncio.CancelledError):
        future.exception()
