"""Subscriptions to reads: the cached result, then the fresh one, and again after each change."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, TypeVar, cast

from presscheck.api.operation import Operation, Page
from presscheck.client.request_context import Priority
from presscheck.engine.reads.pagination import fetch_all_pages
from presscheck.engine.reads.service_reads import ServiceReads
from presscheck.engine.reads.subscriptions import Subscriptions
from presscheck.engine.results import Result

T = TypeVar("T")


class SubscribedReads:
    """Results of subscribed calls as they change.

    Args:
        reads: reads from the service and the cache.
        subscriptions: the open subscriptions.
    """

    def __init__(self, reads: ServiceReads, subscriptions: Subscriptions) -> None:
        self._reads, self._subscriptions = reads, subscriptions

    async def watch(self, call: Operation[T], priority: Priority) -> AsyncIterator[Result[T | None]]:
        """Yield the results of a call; ends only when the iterator is closed."""
        with self._subscriptions.of(call) as subscription:
            first: Priority | None = priority
            while True:
                known, first = self._reads.stored.known(call, first), None
                if known:
                    subscription.answered(known.value)
                    yield cast("Result[T | None]", known)
                if subscription.take_stale():
                    result = await self._reads.result(call, priority)
                    subscription.answered(result.value)
                    yield result
                await subscription.changed()

    async def watch_listing(self, listing: Operation[Page[Any]], priority: Priority) -> AsyncIterator[Result[int]]:
        """Yield the number of cached rows after each fetched page; ends only when the iterator is closed."""
        with self._subscriptions.of(listing) as subscription:
            first: Priority | None = priority
            while True:
                window, first = self._reads.stored.window(listing, 0, 0, first), None
                if window.age is not None:
                    yield Result(window.total, "cached", window.age)
                if subscription.take_stale():
                    async for result in fetch_all_pages(self._reads, listing, priority):
                        yield result
                await subscription.changed()
