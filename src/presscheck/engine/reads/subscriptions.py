"""Open subscriptions to reads. Each subscriber is notified only when its response may have changed.

A write names the reads that it affects by patterns of request paths. In a pattern, `*` matches any text including
slashes. All other characters are literal and percent-encoded as in a path.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Generator, Iterable
from contextlib import contextmanager
from fnmatch import fnmatchcase
from typing import Any

from presscheck.api.operation import Operation


def beneath(path: str) -> tuple[str, str]:
    """Return the patterns that match a path and all paths below it. `/spaces/s10` is not below `/spaces/s1`."""
    return path, f"{path}/*"


def matches(path: str, patterns: Iterable[str]) -> bool:
    """Return whether a path matches at least one pattern."""
    return any(fnmatchcase(path, pattern) for pattern in patterns)


class Subscription:
    """A subscription to a call, and whether the response must be fetched again."""

    def __init__(self, call: Operation[Any]) -> None:
        self.call, self.key = call, call.key()
        self._paths = {call.wire_path()}
        fields = call.path_fields()
        self._last_field = fields[-1] if fields and call.route.endswith(f"{{{fields[-1]}}}") else ""
        self._is_stale, self._event = True, asyncio.Event()

    def touched_by(self, patterns: Collection[str]) -> bool:
        """Return whether one of the patterns matches a path of the call."""
        return any(matches(path, patterns) for path in self._paths)

    def answered(self, answer: object) -> None:
        """Add the path with the id of the resource, if the call names the resource in another way.

        Writes name resources by id, so their patterns would not match the path of the call.
        """
        identity, name = getattr(answer, "id", None), self._last_field
        if name and isinstance(identity, str) and identity not in ("", getattr(self.call, name)):
            self._paths.add(self.call.model_copy(update={name: identity}).wire_path())

    def take_stale(self) -> bool:
        """Return whether the response must be fetched, and clear the flag. The caller then fetches the response."""
        was, self._is_stale = self._is_stale, False
        return was

    def notify(self, *, stale: bool) -> None:
        """Wake the subscriber after a change.

        Args:
            stale: whether the response must be fetched again; if not, only the cached or local result has changed.
        """
        self._is_stale = self._is_stale or stale
        self._event.set()

    async def changed(self) -> None:
        """Wait until `notify` is called."""
        await self._event.wait()
        self._event.clear()


class Subscriptions:
    """All open subscriptions."""

    def __init__(self) -> None:
        self._open: list[Subscription] = []

    @contextmanager
    def of(self, call: Operation[Any]) -> Generator[Subscription]:
        """Open a subscription to a call for the duration of the block."""
        subscription = Subscription(call)
        self._open.append(subscription)
        try:
            yield subscription
        finally:
            self._open.remove(subscription)

    def keys(self) -> frozenset[str]:
        """Return the cache keys of all subscribed calls."""
        return frozenset(subscription.key for subscription in self._open)

    def stale(self, key: str | None) -> None:
        """Make the call with a cache key stale, or all calls if `key` is None, so that they are fetched again."""
        for subscription in self._open:
            if key is None or subscription.key == key:
                subscription.notify(stale=True)

    def stale_paths(self, patterns: Collection[str]) -> None:
        """Make all calls stale whose path matches a pattern, so that they are fetched again."""
        self._notify(patterns, stale=True)

    def news(self, keys: Collection[str]) -> None:
        """Notify the subscribers of these cache keys that another reader has stored a new response."""
        for subscription in self._open:
            if subscription.key in keys:
                subscription.notify(stale=False)

    def news_paths(self, patterns: Collection[str]) -> None:
        """Notify the subscribers of matching calls that a local result has changed, such as by a pending write."""
        self._notify(patterns, stale=False)

    def _notify(self, patterns: Collection[str], *, stale: bool) -> None:
        for subscription in self._open:
            if subscription.touched_by(patterns):
                subscription.notify(stale=stale)
