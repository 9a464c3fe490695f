"""Updates of the search index: what came into the cache is indexed a little later, a little at a time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from presscheck.store.cache import Cache

T = TypeVar("T")
LULL = 2.0
"""Seconds after something new came, before it is indexed."""
PAUSE = 0.02
"""Seconds between two transactions, in which others have the thread."""


class InStore(Protocol):
    """Runs work on the thread that writes the cache."""

    def __call__(self, work: Callable[[Cache], T], /) -> Awaitable[T]:
        """The result of the work."""
        ...


class IndexUpdates:
    """Keeps the search index of one cache up to date, off the thread of the screen.

    Args:
        in_store: runs work on the thread that writes the cache.
    """

    def __init__(self, in_store: InStore) -> None:
        self._in_store = in_store
        self._task: asyncio.Task[None] | None = None
        self._has_news = False

    def came(self) -> None:
        """Something new is in the cache: index it in a while."""
        self._has_news = True
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._update_later())

    async def close(self) -> None:
        """Stop; what is not indexed stays noted."""
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def catch_up(self, patience: float) -> None:
        """Index what is noted; the rest later, where that takes longer than so many seconds."""
        ends = time.monotonic() + patience
        while await self._in_store(_index_some):
            if time.monotonic() > ends:
                self.came()
                return

    async def _update_later(self) -> None:
        while self._has_news:
            self._has_news = False
            await asyncio.sleep(LULL)
            while await self._in_store(_index_some):  # noqa: ASYNC110  # it is work, not a condition
                await asyncio.sleep(PAUSE)


def _index_some(cache: Cache) -> int:
    index = cache.search
    if not index.waiting():
        return 0  # and nothing is imported for it
    from presscheck.engine.search.index_entries import read_source  # 3 ms, only if there is something to index

    return index.fill(read_source)
