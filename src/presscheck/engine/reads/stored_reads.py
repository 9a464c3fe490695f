"""Reads from the cache, writes of responses to it, and its upkeep: eviction and updates of the search index.

Reads are synchronous and take microseconds; writes and upkeep are done by the cache's own thread, in small steps, so
that other work of the thread gets its turn between them. Subscribed responses are not evicted.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Protocol, TypeVar

from presscheck.api.operation import Operation, Page, Paged
from presscheck.client.request_priority import Priority
from presscheck.client.responses import read_answer, unusable
from presscheck.engine.activity_log import Activity
from presscheck.engine.reads.subscriptions import Subscriptions
from presscheck.engine.results import Result, Window
from presscheck.engine.writes.pending_writes import PendingWrites
from presscheck.store.cache import Cache, Stored

T = TypeVar("T")
INDEX_DELAY = 2.0
"""Seconds between a change of the cache and the update of the index."""
INDEX_PAUSE = 0.02
"""Seconds between two transactions, for other work of the thread."""
M = TypeVar("M")


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
            await asyncio.sleep(INDEX_DELAY)
            while await self._in_store(_index_some):  # noqa: ASYNC110  # each pass does work
                await asyncio.sleep(INDEX_PAUSE)


def _index_some(cache: Cache) -> int:
    index = cache.search
    if not index.waiting():
        return 0  # without importing the readers
    from presscheck.engine.search.index_entries import read_source  # 3 ms, only if there is something to index

    return index.fill(read_source)


class StoredReads:
    """Reads cached responses and stores new ones.

    Args:
        cache: the cache.
        cache_writer: the thread that writes to it.
        pending: the unsent writes, which are applied to each response.
        activity: the log of cache reads.
        on_write: called before each write to the cache.
    """

    def __init__(
        self,
        cache: Cache,
        cache_writer: CacheWriter,
        pending: PendingWrites,
        activity: Activity,
        on_write: Callable[[], None],
    ) -> None:
        self._cache, self._cache_writer, self._pending = cache, cache_writer, pending
        self._activity, self._on_write = activity, on_write

    def known(self, call: Operation[T], priority: Priority | None = None) -> Result[T] | None:
        """The cached response with pending writes applied; None if it was never fetched.

        Args:
            call: the read.
            priority: its priority in the activity log; None if it is not logged.
        """
        started, stored = time.perf_counter(), self._cache.answer(call.key()) or self._unlimited(call)
        if stored is None:
            return None
        try:
            value = call.read_answer(stored.json.encode())
        except ValueError:
            return None  # stored by a version with another model: it is fetched again
        if priority is not None:
            self._activity.record_cached(call, started, len(stored.json), priority)
        return Result(self._pending.apply(call, value), "cached", max(0.0, time.time() - stored.at))

    def window(
        self, listing: Operation[Page[M]], start: int, count: int, priority: Priority | None = None
    ) -> Window[M]:
        """Cached rows of a listing that `watch_listing` fetched; `priority` as for `known`."""
        started, found = time.perf_counter(), self._cache.window(listing.key(), start, count)
        if found.at is not None and priority is not None:
            self._activity.record_cached(listing, started, 0, priority)
        items = _items(listing, found.items)
        if items is None:
            return Window((), start, 0, None, complete=False)
        age = None if found.at is None else max(0.0, time.time() - found.at)
        return Window(items, start, found.total, age, found.complete, found.is_total_known)

    def rows(self, listing: Operation[Page[M]], positions: Iterable[int]) -> dict[int, M]:
        """Cached rows of a listing by their positions."""
        found = self._cache.rows(listing.key(), positions)
        items = _items(listing, found.values())
        return {} if items is None else dict(zip(found, items, strict=True))

    def positions(self, listing: Operation[Page[Any]], ids: Iterable[str]) -> dict[str, int]:
        """The positions of the items with these ids in a cached listing, by id."""
        return self._cache.positions(listing.key(), ids)

    def remember(self, name: str, json: str) -> None:
        """Store a text of a screen in the cache, from which it may be evicted."""
        self._cache_writer.thread.submit(self._cache.keep, name, json.encode(), time.time())

    async def keep(self, call: Operation[T], body: bytes, request_id: str | None = None) -> tuple[T, bool]:
        """Parse a response and cache it, in the cache thread; returns it and whether it differs from the cached one.

        Raises:
            MalformedAnswer: the response does not have the declared type.
        """

        def parse_and_store(cache: Cache) -> tuple[T, bool]:
            value = read_answer(call, body, request_id)
            try:
                return value, cache.keep(call.key(), body, time.time())
            except ValueError as error:  # such as a number with too many digits for `json`
                raise unusable(call, str(error), request_id) from None

        return await self.in_store(parse_and_store)

    async def in_store(self, work: Callable[[Cache], T]) -> T:
        """Run a function on the cache in its writer thread; returns its result."""
        self._on_write()
        return await self._cache_writer.do(work)

    def _unlimited(self, call: Operation[Any]) -> Stored | None:
        """The response of the same listing without a limit, if all its rows are cached; it has all rows."""
        rows = _without_limit(call)
        is_cached = rows is not None and self._cache.window(rows.key(), 0, 0).complete
        return self._cache.answer(rows.key()) if rows and is_cached else None


def _items(listing: Operation[Page[M]], rows: Iterable[str]) -> tuple[M, ...] | None:
    """Cached rows of a listing; None if one was stored by a version with another model."""
    try:
        return listing.read_answer(f'{{"items":[{",".join(rows)}]}}'.encode()).items
    except ValueError:
        return None  # the listing is fetched again


def _without_limit(call: Operation[Any]) -> Operation[Any] | None:
    """The listing without its limit; None if the call has no limit, or is for another page than the first."""
    given = call.given()
    if "limit" not in given or "page" in given or not issubclass(type(call), Paged):
        return None
    del given["limit"]
    return type(call)(**given)
