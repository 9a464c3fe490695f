"""Scheduling of API reads: highest priority first, identical reads share a request, unneeded requests are cancelled.

While offline, the only request is a connection check (the current user) at growing intervals, and earlier when the user
opens something. Once the service answers the check, requests are sent again, and so are the writes in the outbox.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import itertools
import random
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from presscheck.api.operation import Operation
from presscheck.api.users import GetCurrentUser
from presscheck.client.request_priority import Priority, RequestContext
from presscheck.engine.reads.subscriptions import matches
from presscheck.errors import NetworkError

if TYPE_CHECKING:
    from presscheck.client.responses import Reply

VISIBLE, REQUESTED, PREFETCH, BACKGROUND = Priority
AT_ONCE = {VISIBLE: 8, REQUESTED: 6, PREFETCH: 4, BACKGROUND: 2}
"""Maximum number of concurrent requests of this or a lower priority. Slow requests of a low priority leave room for
requests of a higher priority."""
LINGER = 0.3
"""Seconds until a request without callers is cancelled. The next screen often needs the same response."""
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
"""Seconds between two connection checks: the first pause, and the longest."""
SHORTEST_PAUSE = 1.0
"""Minimum seconds between two connection checks, even if the user opens something."""


class Service(Protocol):
    """The client interface that the engine uses."""

    async def fetch(self, call: Operation[Any], context: RequestContext | None = None) -> bytes:
        """Send a request and return the response body."""
        ...

    async def download(self, call: Operation[Any], url: str, limit: int | None = None) -> bytes:
        """Return the bytes of a file whose URL is in the response to `call`.

        Args:
            call: the read whose response has the URL.
            url: the URL of the file.
            limit: the maximum size in bytes; None for the client's default.
        """
        ...

    async def visit(self, call: Operation[Any], url: str) -> int:
        """Return the HTTP status of a published page for an anonymous visitor."""
        ...

    async def read_page(self, call: Operation[Any], url: str) -> Reply:
        """Return a page or a file of a published site as an anonymous visitor gets it."""
        ...

    async def aclose(self) -> None:
        """Close every connection."""
        ...


class _Request:
    """A request and the number of callers that wait for its response."""

    def __init__(self, call: Operation[Any], key: str, priority: Priority) -> None:
        self.call, self.key = call, key
        self.context, self.callers = RequestContext(priority), 0
        self.answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self.answer.add_done_callback(_retrieve_exception)
        self.task: asyncio.Task[None] | None = None


class RequestScheduler:
    """A priority queue of reads, and the connection state.

    Args:
        connect: creates the client; called when it is first needed.
        on_change: called when the service becomes unreachable, and when it can be reached again.

    Attributes:
        offline: the error that made the service unreachable; None while online.
    """

    def __init__(self, connect: Callable[[], Service], on_change: Callable[[], None]) -> None:
        self.offline: NetworkError | None = None
        self._connect, self._on_change = connect, on_change
        self._service: Service | None = None
        self._is_started = False
        self._queue: list[tuple[Priority, int, _Request]] = []
        self._order = itertools.count()
        self._shared: dict[str, _Request] = {}
        self._running: set[_Request] = set()
        self._checking: asyncio.Task[None] | None = None
        self._check_now, self._checked_at = asyncio.Event(), 0.0

    @property
    def service(self) -> Service:
        """The client, created when it is first needed."""
        if self._service is None:
            self._service = self._connect()
        return self._service

    def start(self) -> None:
        """Start sending queued requests."""
        self._is_started = True
        self._start_due()

    async def close(self) -> None:
        """Cancel all requests and close the client."""
        self._is_started = False
        for request in (*self._shared.values(), *self._running):
            request.answer.cancel()
        tasks = [
            *(request.task for request in self._running if request.task),
            *([self._checking] if self._checking else []),
        ]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._service:
            await self._service.aclose()

    async def fetch(self, call: Operation[Any], priority: Priority = VISIBLE) -> bytes:
        """Return the response body. Equal calls that are queued or running share one request.

        Raises:
            RequestError: the request failed.
        """
        if self.offline:
            if priority <= REQUESTED and time.monotonic() - self._checked_at >= SHORTEST_PAUSE:
                self._check_now.set()
            raise self.offline
        key = call.key()
        request = self._shared.get(key)
        if request is None:
            request = self._shared[key] = _Request(call, key, priority)
        request.context.raise_priority(priority)
        request.callers += 1
        if request.task is None:
            heapq.heappush(self._queue, (priority, next(self._order), request))
            self._start_due()
        try:
            return await asyncio.shield(request.answer)
        finally:
            request.callers -= 1
            if not request.callers and not request.answer.done():
                asyncio.get_running_loop().call_later(LINGER, self._cancel_unneeded, request)

    def stop_sharing(self, patterns: tuple[str, ...]) -> None:
        """Stop sharing running requests for these paths, because their responses may predate a write."""
        for request in self._running:
            if matches(request.call.wire_path(), patterns):
                self._unshare(request)

    def go_offline(self, error: NetworkError) -> None:
        """Go offline after an error, and check the connection repeatedly until the service answers."""
        if not self.offline:
            self.offline = error
            if self._checking:
                self._checking.cancel()
            self._checking = asyncio.create_task(self._check_until_online())
            self._on_change()

    async def check_connection(self) -> None:
        """Check the connection by reading the current user. Any response, even an error, ends the offline state."""
        try:
            await self.service.fetch(GetCurrentUser(), RequestContext(BACKGROUND))
        except NetworkError:
            return
        except Exception:  # noqa: S110  # an error response shows that the service can be reached
            pass
        self._reached()

    def _reached(self) -> None:
        if self.offline:
            self.offline = None
            self._on_change()

    def _start_due(self) -> None:
        """Start queued requests until a concurrency limit is reached."""
        while self._is_started and self._queue:
            priority, _, request = self._queue[0]
            is_needed = request.task is None and not request.answer.done() and request.callers
            if is_needed and not self._has_capacity(priority):
                return
            heapq.heappop(self._queue)
            if is_needed:
                self._running.add(request)
                request.task = asyncio.create_task(self._send(request))

    def _has_capacity(self, priority: Priority) -> bool:
        competing = sum(request.context.priority >= priority for request in self._running)
        return len(self._running) < AT_ONCE[VISIBLE] and competing < AT_ONCE[priority]

    async def _send(self, request: _Request) -> None:
        try:
            body = await self._exchange(request)
        except asyncio.CancelledError:
            request.answer.cancel()
            raise
        except Exception as error:  # callers receive every kind of error, also of those told about the connection
            if not request.answer.done():
                request.answer.set_exception(error)
        else:
            if not request.answer.done():
                request.answer.set_result(body)
        finally:
            self._running.discard(request)
            self._unshare(request)
            self._start_due()

    async def _exchange(self, request: _Request) -> bytes:
        try:
            body = await self.service.fetch(request.call, request.context)
        except NetworkError as error:
            self.go_offline(error)
            raise
        self._reached()
        return body

    def _cancel_unneeded(self, request: _Request) -> None:
        """Cancel a request that still has no callers."""
        if request.callers or request.answer.done():
            return
        self._unshare(request)
        request.answer.cancel()
        if request.task:
            request.task.cancel()

    def _unshare(self, request: _Request) -> None:
        if self._shared.get(request.key) is request:
            del self._shared[request.key]

    async def _check_until_online(self) -> None:
        pause = FIRST_PAUSE
        while self.offline:
            self._check_now.clear()
            self._checked_at = time.monotonic()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause * random.uniform(0.8, 1.2)):  # noqa: S311  # jitter
                    await self._check_now.wait()
            pause = min(pause * 2, LONGEST_PAUSE)
            await self.check_connection()


def _retrieve_exception(future: asyncio.Future[bytes]) -> None:
    """Retrieve the exception of a future without callers, so that asyncio does not log it."""
    with contextlib.suppress(asyncio.CancelledError):
        future.exception()
