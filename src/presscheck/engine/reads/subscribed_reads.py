"""Reads that go on: the stored answer at once, then the service's, and again whenever either may have changed."""

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
    """Answers as they change, for whoever goes on looking at them.

    Args:
        reads: asks the service and the store.
        watching: the open watches.
    """

    def __init__(self, reads: ServiceReads, watching: Subscriptions) -> None:
        self._reads, self._watching = reads, watching

    async def watch(self, call: Operation[T], priority: Priority) -> AsyncIterator[Result[T | None]]:
        """The answers to a call; ends only when it is closed."""
        with self._watching.of(call) as wish:
            first: Priority | None = priority
            while True:
                known, first = self._reads.stored.known(call, first), None
                if known:
                    wish.answered(known.value)
                    yield cast("Result[T | None]", known)
                if wish.take_stale():
                    seen = await self._reads.result(call, priority)
                    wish.answered(seen.value)
                    yield seen
                await wish.changed()

    async def watch_listing(self, listing: Operation[Page[Any]], priority: Priority) -> AsyncIterator[Result[int]]:
        """How many rows of a listing are in the store, as pages come in; ends only when it is closed."""
        with self._watching.of(listing) as wish:
            first: Priority | None = priority
            while True:
                window, first = self._reads.stored.window(listing, 0, 0, first), None
                if window.age is not None:
                    yield Result(window.total, "cached", window.age)
                if wish.take_stale():
                    async for seen in fetch_all_pages(self._reads, listing, priority):
                        yield seen
                await wish.changed()
