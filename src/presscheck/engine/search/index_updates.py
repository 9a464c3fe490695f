"""Updates the search index in the background, in small transactions, after the cache has changed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from presscheck.store.cache import Cache

T = TypeVar("T")
LULL = 2.0
"""Seconds between a change of the cache and the update of the index."""
PAUSE = 0.02
"""Seconds between two transactions, for other work of the thread."""


class InStore(Protocol):
    """Runs a function on the cache in its writer thread."""

    def __call__(self, work: Callable[[Cache], T], /) -> Awaitable[T]:
        """Returns the result of the function."""
        ...


class IndexUpdates:
    """Keeps the search index of one cache up to date, outside the user interface's thread.

    Args:
        in_store: runs a function on the cache in its writer thread.
    """

    def __init__(self, in_store: InStore) -> None:
        self._in_store = in_store
        self._task: asyncio.Task[None] | None = None
        self._is_outdated = False

    def schedule(self) -> None:
        """Schedule an update: the cache has changed."""
        self._is_outdated = True
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._update_later())

    async def close(self) -> None:
        """Stop; the rest of the queue is indexed in the next session."""
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def catch_up(self, seconds: float) -> None:
        """Index the queue now, for at most this time; the rest in the background."""
        ends = time.monotonic() + seconds
        while await self._in_store(_index_some):
            if time.monotonic() > ends:
                self.schedule()
                return

    async def _update_later(self) -> None:
        while self._is_outdated:
            self._is_outdated = False
            await asyncio.sleep(LULL)
            while await self._in_store(_index_some):  # noqa: ASYNC110  # each pass does work
                await asyncio.sleep(PAUSE)


def _index_some(cache: Cache) -> int:
    index = cache.search
    if not index.waiting():
        return 0  # without importing the readers
    from presscheck.engine.search.index_entries import read_source  # 3 ms, only if there is something to index

    return index.fill(read_source)
