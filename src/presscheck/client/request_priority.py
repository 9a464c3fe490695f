"""Priorities of requests, and their order under the service's rate limit.

The priority of a request can be raised while the request waits, such as when a screen needs prefetched data. Requests
are slowed down by the `X-RateLimit` headers before the service rejects them; the last part of a window is reserved for
requests that a user waits for. The end of a window is computed from the service's clock, because the local clock may
differ.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from enum import IntEnum
from functools import lru_cache
from typing import Any

from presscheck.api.operation import Operation

MAX_WAIT = 24 * 3600.0
"""Maximum seconds to wait; longer waits are capped."""
SLOW_FROM = 0.2
"""If less than this fraction of a window's requests remains, they are spread over the rest of the window."""
RESERVE = 0.1
"""The fraction of a window's requests that is reserved for requests that a user waits for."""


class Priority(IntEnum):
    """The priority of a request; lower numbers are sent first."""

    VISIBLE = 0
    """A visible part of the screen needs the response."""
    REQUESTED = 1
    """A user action needs the response."""
    PREFETCH = 2
    """The user will probably need the response next."""
    BACKGROUND = 3
    """Nothing waits for the response."""


@dataclass(frozen=True)
class RequestRecord:
    """A sent request, for the activity log.

    Attributes:
        status: the HTTP status; None without a response.
        agent: the name of the agent that wrote the content; empty if the user wrote it.
    """

    method: str
    path: str
    status: int | None
    milliseconds: float
    bytes: int
    call: Operation[Any] | None = None
    priority: Priority = Priority.REQUESTED
    agent: str = ""


class RequestContext:
    """The priority of a request, which can be raised, and the agent that wrote the content.

    Args:
        priority: the initial priority.
        agent: the name of the agent; empty if the user wrote it.
    """

    def __init__(self, priority: Priority = Priority.REQUESTED, agent: str = "") -> None:
        self.priority, self.agent = priority, agent
        self._raised = asyncio.Event()

    @property
    def is_background(self) -> bool:
        """Whether nothing waits for the response."""
        return self.priority is Priority.BACKGROUND

    def raise_priority(self, priority: Priority) -> None:
        """Raise the priority, unless it is already higher."""
        if priority < self.priority:
            self.priority = priority
            self._raised.set()

    async def wait_for_higher_priority(self, seconds: float) -> bool:
        """Wait at most `seconds` until the priority is raised. Return whether it was raised."""
        self._raised.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._raised.wait()
                return True
        return False


class BudgetExhausted(Exception):
    """The rate limit is reached for longer than a request may wait; `seconds` is the time until the reset."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"{seconds:.0f} s")
        self.seconds = seconds


class Budget:
    """The remaining requests of the current rate limit window.

    Args:
        max_wait: the maximum number of seconds that a request waits for its turn.
    """

    def __init__(self, max_wait: float) -> None:
        self._max_wait = max_wait
        # monotonic times before which these are not sent: any request, requests of users, background requests
        self._blocked_until, self._next, self._next_idle = 0.0, 0.0, 0.0
        self._ends = 0.0  # when the window ends
        self._left: float | None = None
        self._limit = 0.0
        self._queue: list[RequestContext] = []

    async def wait_for_turn(self, context: RequestContext) -> None:
        """Wait until a request may be sent. The wait is shortened if the priority of the request is raised.

        Raises:
            BudgetExhausted: the wait would be too long.
        """
        latest = time.monotonic() + self._max_wait
        self._queue.append(context)
        try:
            while (wait := self._wait_of(context, time.monotonic())) > 0:
                if time.monotonic() + wait > latest:
                    raise BudgetExhausted(wait)
                await context.wait_for_higher_priority(wait)
            self._count_request(time.monotonic(), idle=context.is_background)
        finally:
            self._queue.remove(context)

    def update_from(self, status: int, headers: Mapping[str, str]) -> None:
        """Update the budget from a response."""
        now = time.monotonic()
        pause = retry_after(headers) if status in (429, 503) else None
        if pause is not None:
            self._blocked_until = max(self._blocked_until, now + pause)
        limit, left = _number(headers, "x-ratelimit-limit"), _number(headers, "x-ratelimit-remaining")
        ends = _until_reset(headers)
        if limit is None or left is None or ends is None:
            return
        is_same_window = self._left is not None and abs(self._ends - (now + ends)) < 2
        # responses can arrive out of order: within a window, the lowest value is right
        self._left = min(left, self._left or 0) if is_same_window else left
        self._limit, self._ends = limit, now + ends
        if self._left <= 0:
            self._blocked_until = max(self._blocked_until, self._ends)
        else:
            self._next = max(self._next, now + self._gap(now))
            self._next_idle = max(self._next_idle, now + self._gap(now, idle=True))

    def _wait_of(self, context: RequestContext, now: float) -> float:
        """Return the seconds that a request must wait; queued requests of higher or equal priority are sent first."""
        if self._left is not None and now >= self._ends:
            self._left = None
        idle, place = context.is_background, self._queue.index(context)
        before = sum(other.priority <= context.priority for other in self._queue[:place])
        before += sum(other.priority < context.priority for other in self._queue[place + 1 :])
        spread = max(now, self._free_at(idle=idle)) + before * self._gap(now, idle=idle)
        return max(0.0, min(spread, max(self._blocked_until, self._ends)) - now)

    def _free_at(self, *, idle: bool) -> float:
        if not idle:
            return max(self._blocked_until, self._next)
        is_reserved = self._left is not None and self._left <= self._limit * RESERVE
        return max(self._blocked_until, self._next_idle, self._ends if is_reserved else 0.0)

    def _count_request(self, now: float, *, idle: bool) -> None:
        if self._left is None:
            return
        self._left -= 1
        if idle:
            self._next_idle = max(self._next_idle, now + self._gap(now, idle=True))
        else:
            self._next = max(self._next, now + self._gap(now))

    def _gap(self, now: float, *, idle: bool = False) -> float:
        """Return the seconds between requests that spread the remaining requests over the window; 0 if many remain."""
        if self._left is None or self._left > self._limit * SLOW_FROM:
            return 0.0
        left = self._left - self._limit * RESERVE if idle else self._left
        return max(0.0, self._ends - now) / max(left + 1, 1)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait after an error response, from ``Retry-After`` or the end of the window, or None."""
    value = headers.get("retry-after", "").strip()
    if value.isdecimal():
        return min(float(value[:9]), MAX_WAIT)
    if value:
        until = _date(value)
        return None if until is None else _from_now(until, headers)
    return _until_reset(headers)


def service_time(headers: Mapping[str, str]) -> float | None:
    """Return the time of the service's clock, in seconds since the epoch, or None without a date header."""
    return _date(headers.get("date", ""))


def _until_reset(headers: Mapping[str, str]) -> float | None:
    at = _number(headers, "x-ratelimit-reset")
    return None if at is None else _from_now(at, headers)


def _from_now(until: float, headers: Mapping[str, str]) -> float:
    now = service_time(headers) or time.time()
    return min(max(until - now, 0.0), MAX_WAIT)


@lru_cache(8)  # all responses of a second have the same date
def _date(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None


def _number(headers: Mapping[str, str], name: str) -> float | None:
    text = headers.get(name, "").strip()
    return float(text) if text.isdecimal() and len(text) < 12 else None
