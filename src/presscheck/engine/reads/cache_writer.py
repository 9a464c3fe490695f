"""Writes to the cache in one thread, and evicts old responses in small steps after each write.

Between two steps of the eviction, other work of the thread gets its turn. Subscribed responses are not evicted.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from presscheck.engine.reads.subscriptions import Subscriptions
from presscheck.store.cache import Cache

T = TypeVar("T")


class CacheWriter:
    """The writer thread of one cache.

    Args:
        cache: the cache.
        subscriptions: the open subscriptions, whose responses are not evicted.
        on_notice: called with each line that the cache has for the user.
    """

    def __init__(self, cache: Cache, subscriptions: Subscriptions, on_notice: Callable[[str], None]) -> None:
        self.thread = ThreadPoolExecutor(1, "store")
        self._cache, self._subscriptions, self._on_notice = cache, subscriptions, on_notice
        self._eviction: asyncio.Task[None] | None = None
        self._has_grown = False

    async def do(self, work: Callable[[Cache], T]) -> T:
        """Run a function on the cache in its thread; returns the function's result."""
        try:
            return await self._do(work)
        finally:
            self._report_notice()
            self._has_grown = True
            if self._eviction is None or self._eviction.done():
                self._eviction = asyncio.create_task(self._evict())

    async def close(self) -> None:
        """Stop the thread and close the cache."""
        if self._eviction:
            self._eviction.cancel()
            await asyncio.gather(self._eviction, return_exceptions=True)
        self.thread.shutdown()
        self._cache.close()

    async def _do(self, work: Callable[[Cache], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.thread, work, self._cache)

    async def _evict(self) -> None:
        with contextlib.suppress(RuntimeError):  # the thread was stopped
            while self._has_grown:
                self._has_grown = False
                while await self._do(partial(Cache.evict, pinned=self._subscriptions.keys())):
                    pass

    def _report_notice(self) -> None:
        notice, self._cache.notice = self._cache.notice, None
        if notice:
            self._on_notice(notice)
