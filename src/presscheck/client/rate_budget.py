"""How much the service still takes: every request takes its turn here, so that we slow down before we are refused.

The last of a window is for what somebody waits for: what nobody waits for leaves it alone, and holds nobody up. The
service's own clock says when a window ends, for ours need not agree with it.
"""

from __future__ import annotations

import time
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from presscheck.client.request_context import RequestContext

if TYPE_CHECKING:
    from httpx import Headers

LONGEST_WAIT = 24 * 3600.0
"""Seconds; a service that asks for more is not believed."""
SLOW_FROM = 0.2
"""The share of a window that is left when we begin to spread what is left over its time."""
RESERVE = 0.1
"""The share of a window that is for what somebody waits for."""


class BudgetExhausted(Exception):
    """The service takes no more for longer than anybody waits; `seconds` says how long."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"{seconds:.0f} s")
        self.seconds = seconds


class Budget:
    """What is left of the service's patience, as its headers tell it.

    Args:
        longest: seconds that a request may wait for its turn.
    """

    def __init__(self, longest: float) -> None:
        self._longest = longest
        # by the monotonic clock, no request leaves before: none; none that somebody waits for; none of the others
        self._closed, self._next, self._next_idle = 0.0, 0.0, 0.0
        self._ends = 0.0  # when the window ends
        self._left: float | None = None
        self._limit = 0.0
        self._line: list[RequestContext] = []

    async def turn(self, errand: RequestContext) -> None:
        """Wait until a request may leave; one that becomes more urgent meanwhile need not wait as long.

        Raises:
            BudgetExhausted: that would take too long.
        """
        latest = time.monotonic() + self._longest
        self._line.append(errand)
        try:
            while (wait := self._wait_of(errand, time.monotonic())) > 0:
                if time.monotonic() + wait > latest:
                    raise BudgetExhausted(wait)
                await errand.hurried_within(wait)
            self._book(time.monotonic(), idle=errand.may_wait)
        finally:
            self._line.remove(errand)

    def update_from(self, status: int, headers: Headers) -> None:
        """Read what an answer says of the budget."""
        now = time.monotonic()
        pause = asked_pause(headers) if status in (429, 503) else None
        if pause is not None:
            self._closed = max(self._closed, now + pause)
        limit, left = _number(headers, "x-ratelimit-limit"), _number(headers, "x-ratelimit-remaining")
        ends = _until_reset(headers)
        if limit is None or left is None or ends is None:
            return
        is_same_window = self._left is not None and abs(self._ends - (now + ends)) < 2
        # answers overtake each other: within a window the least that was told is true
        self._left = min(left, self._left or 0) if is_same_window else left
        self._limit, self._ends = limit, now + ends
        if self._left <= 0:
            self._closed = max(self._closed, self._ends)
        else:
            self._next = max(self._next, now + self._gap(now))
            self._next_idle = max(self._next_idle, now + self._gap(now, idle=True))

    def _wait_of(self, errand: RequestContext, now: float) -> float:
        """Seconds until it is its turn, after those in the line that are more urgent, or as urgent and came before."""
        if self._left is not None and now >= self._ends:
            self._left = None
        idle, place = errand.may_wait, self._line.index(errand)
        before = sum(one.priority <= errand.priority for one in self._line[:place])
        before += sum(one.priority < errand.priority for one in self._line[place + 1 :])
        spread = max(now, self._free_at(idle=idle)) + before * self._gap(now, idle=idle)
        return max(0.0, min(spread, max(self._closed, self._ends)) - now)

    def _free_at(self, *, idle: bool) -> float:
        if not idle:
            return max(self._closed, self._next)
        is_reserved = self._left is not None and self._left <= self._limit * RESERVE
        return max(self._closed, self._next_idle, self._ends if is_reserved else 0.0)

    def _book(self, now: float, *, idle: bool) -> None:
        if self._left is None:
            return
        self._left -= 1
        if idle:
            self._next_idle = max(self._next_idle, now + self._gap(now, idle=True))
        else:
            self._next = max(self._next, now + self._gap(now))

    def _gap(self, now: float, *, idle: bool = False) -> float:
        """Seconds between two requests, such that what is left lasts as long as its window; none while it is plenty."""
        if self._left is None or self._left > self._limit * SLOW_FROM:
            return 0.0
        left = self._left - self._limit * RESERVE if idle else self._left
        return max(0.0, self._ends - now) / max(left + 1, 1)


def asked_pause(headers: Headers) -> float | None:
    """Seconds that a refusal asks us to wait, by ``Retry-After`` or else by the end of the window; None by neither."""
    given = headers.get("retry-after", "").strip()
    if given.isdecimal():
        return min(float(given[:9]), LONGEST_WAIT)
    if given:
        until = _date(given)
        return None if until is None else _from_now(until, headers)
    return _until_reset(headers)


def service_time(headers: Headers) -> float | None:
    """The time of the service's clock, in seconds of the epoch."""
    return _date(headers.get("date", ""))


def _until_reset(headers: Headers) -> float | None:
    at = _number(headers, "x-ratelimit-reset")
    return None if at is None else _from_now(at, headers)


def _from_now(until: float, headers: Headers) -> float:
    now = service_time(headers) or time.time()
    return min(max(until - now, 0.0), LONGEST_WAIT)


def _date(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None


def _number(headers: Headers, name: str) -> float | None:
    text = headers.get(name, "").strip()
    return float(text) if text.isdecimal() and len(text) < 12 else None
