"""The reading half of the worker: asks the service, the most urgent first; twins share one request; offline is a state.

What nobody wants any longer is not asked, or broken off. While offline nothing is asked but, at growing intervals, who
we are; when that is answered, everything goes on.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import itertools
import random
from collections.abc import Callable
from typing import Any, Protocol

from presscheck.api.operation import Operation
from presscheck.api.users import GetCurrentUser
from presscheck.client.request_context import Priority, RequestContext
from presscheck.engine.path_patterns import matches
from presscheck.errors import NetworkError

VISIBLE, REQUESTED, PREFETCH, BACKGROUND = Priority
AT_ONCE = {VISIBLE: 8, REQUESTED: 6, PREFETCH: 4, BACKGROUND: 2}
"""Requests under way together that are no more urgent than this: however long the service lets them wait, they leave
room for what is more urgent."""
LINGER = 0.3
"""Seconds until a request that nobody wants any longer is broken off: the next screen often wants the same."""
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
"""Seconds between two looks whether the service is back."""


class Service(Protocol):
    """What the engine needs of a client."""

    async def fetch(self, call: Operation[Any], errand: RequestContext | None = None) -> bytes:
        """The body of the answer."""
        ...

    async def aclose(self) -> None:
        """Close every connection."""
        ...


class _Request:
    """One call that is asked, for all who want its answer."""

    def __init__(self, call: Operation[Any], priority: Priority) -> None:
        self.call, self.errand, self.wanting = call, RequestContext(priority), 0
        self.answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self.answer.add_done_callback(_look_at)
        self.task: asyncio.Task[None] | None = None


class RequestScheduler:
    """Requests in order of priority, and whether the service can be reached."""

    def __init__(self, connect: Callable[[], Service], on_change: Callable[[], None]) -> None:
        self.offline: NetworkError | None = None
        self._connect, self._on_change = connect, on_change
        self._service: Service | None = None
        self._is_started = False
        self._queue: list[tuple[Priority, int, _Request]] = []
        self._order = itertools.count()
        self._shared: dict[str, _Request] = {}
        self._under_way: set[_Request] = set()
        self._back: asyncio.Task[None] | None = None

    @property
    def service(self) -> Service:
        """The connection, made when it is first needed."""
        if self._service is None:
            self._service = self._connect()
        return self._service

    def start(self) -> None:
        """Begin to work through the queue."""
        self._is_started = True
        self._go_on()

    async def close(self) -> None:
        """Stop at once; what was asked is not answered."""
        self._is_started = False
        for request in (*self._shared.values(), *self._under_way):
            request.answer.cancel()
        tasks = [*(one.task for one in self._under_way if one.task), *([self._back] if self._back else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._service:
            await self._service.aclose()

    async def fetch(self, call: Operation[Any], priority: Priority = VISIBLE) -> bytes:
        """The body of the service's answer; a twin of a request that is under way waits for that one.

        Raises:
            RequestError: what came instead.
        """
        if self.offline:
            raise self.offline
        request = self._shared.get(call.key())
        if request is None:
            request = self._shared[call.key()] = _Request(call, priority)
        request.errand.hurry(priority)
        request.wanting += 1
        if request.task is None:
            heapq.heappush(self._queue, (priority, next(self._order), request))
            self._go_on()
        try:
            return await asyncio.shield(request.answer)
        finally:
            request.wanting -= 1
            if not request.wanting and not request.answer.done():
                asyncio.get_running_loop().call_later(LINGER, self._let_go, request)

    def outdate(self, patterns: tuple[str, ...]) -> None:
        """A write has landed: what is under way for these paths may have been answered before it, and gets no twin."""
        for request in self._under_way:
            if matches(request.call.wire_path(), patterns):
                self._share_no_more(request)

    def lost(self, error: NetworkError) -> None:
        """The service cannot be reached: look again from time to time."""
        if not self.offline:
            self.offline = error
            self._back = asyncio.create_task(self._look_for_service())
            self._on_change()

    async def look_now(self) -> None:
        """Ask who we are; any answer at all means that the service is back."""
        try:
            await self.service.fetch(GetCurrentUser(), RequestContext(BACKGROUND))
        except NetworkError:
            return
        except Exception:  # noqa: S110  # it answered, if only with a no
            pass
        if self.offline:
            self.offline = None
            self._on_change()

    def _go_on(self) -> None:
        """Begin whatever may begin now."""
        while self._is_started and self._queue:
            priority, _, request = self._queue[0]
            is_due = request.task is None and not request.answer.done() and request.wanting
            if is_due and not self._has_room(priority):
                return
            heapq.heappop(self._queue)
            if is_due:
                self._under_way.add(request)
                request.task = asyncio.create_task(self._ask(request))

    def _has_room(self, priority: Priority) -> bool:
        rivals = sum(one.errand.priority >= priority for one in self._under_way)
        return len(self._under_way) < AT_ONCE[VISIBLE] and rivals < AT_ONCE[priority]

    async def _ask(self, request: _Request) -> None:
        try:
            body = await self.service.fetch(request.call, request.errand)
        except asyncio.CancelledError:
            request.answer.cancel()
            raise
        except Exception as error:  # whoever asked gets it, whatever it is
            if isinstance(error, NetworkError):
                self.lost(error)
            if not request.answer.done():
                request.answer.set_exception(error)
        else:
            if not request.answer.done():
                request.answer.set_result(body)
        finally:
            self._under_way.discard(request)
            self._share_no_more(request)
            self._go_on()

    def _let_go(self, request: _Request) -> None:
        """Break off what nobody came to want in the meantime."""
        if request.wanting or request.answer.done():
            return
        self._share_no_more(request)
        request.answer.cancel()
        if request.task:
            request.task.cancel()

    def _share_no_more(self, request: _Request) -> None:
        key = request.call.key()
        if self._shared.get(key) is request:
            del self._shared[key]

    async def _look_for_service(self) -> None:
        pause = FIRST_PAUSE
        while self.offline:
            await asyncio.sleep(pause * random.uniform(0.8, 1.2))  # noqa: S311  # jitter
            pause = min(pause * 2, LONGEST_PAUSE)
            await self.look_now()


def _look_at(future: asyncio.Future[bytes]) -> None:
    """Take note of an error that nobody waits for any longer."""
    with contextlib.suppress(asyncio.CancelledError):
        future.exception()
