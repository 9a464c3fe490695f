"""The engine's way to the cache: a thread of its own that writes; after a write what is too much goes, slice by slice.

Between two slices whatever else waits for that thread has its turn, and what is looked at stays.
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
    """The writing thread of one cache.

    Args:
        cache: the cache.
        watching: what is looked at.
        tell: called with each line that the cache has for the user.
    """

    def __init__(self, cache: Cache, watching: Subscriptions, tell: Callable[[str], None]) -> None:
        self.thread = ThreadPoolExecutor(1, "store")
        self._cache, self._watching, self._tell = cache, watching, tell
        self._thinning: asyncio.Task[None] | None = None
        self._has_grown = False

    async def do(self, work: Callable[[Cache], T]) -> T:
        """Do something to the cache, on its thread."""
        try:
            return await self._do(work)
        finally:
            self._take_notice()
            self._has_grown = True
            if self._thinning is None or self._thinning.done():
                self._thinning = asyncio.create_task(self._thin())

    async def close(self) -> None:
        """End the thread, and close the file."""
        if self._thinning:
            self._thinning.cancel()
            await asyncio.gather(self._thinning, return_exceptions=True)
        self.thread.shutdown()
        self._cache.close()

    async def _do(self, work: Callable[[Cache], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.thread, work, self._cache)

    async def _thin(self) -> None:
        with contextlib.suppress(RuntimeError):  # the thread has ended
            while self._has_grown:
                self._has_grown = False
                while await self._do(partial(Cache.thin, pinned=self._watching.keys())):
                    pass

    def _take_notice(self) -> None:
        notice, self._cache.notice = self._cache.notice, None
        if notice:
            self._tell(notice)
