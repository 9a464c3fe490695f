"""What the store knows, and how it comes to know it.

Reading answers and rows of listings takes microseconds and never waits; what is kept is kept by another thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from presscheck.api.operation import Operation, Page, Paged
from presscheck.client.request_context import Priority
from presscheck.client.responses import read_answer
from presscheck.engine.activity_log import Activity
from presscheck.engine.reads.cache_writer import CacheWriter
from presscheck.engine.results import Result, Window
from presscheck.engine.writes.pending_writes import PendingWrites
from presscheck.store.cache import Cache
from presscheck.store.cache_reader import Stored

T = TypeVar("T")
M = TypeVar("M")


class StoredReads:
    """Reads and keeps stored answers.

    Args:
        cache: where they stand.
        remembering: the thread that writes it.
        pending: what is not sent, and shows in what is read.
        activity: the log of what was read from the store.
        came: called when something new comes in.
    """

    def __init__(
        self,
        cache: Cache,
        remembering: CacheWriter,
        pending: PendingWrites,
        activity: Activity,
        came: Callable[[], None],
    ) -> None:
        self._cache, self._remembering, self._pending = cache, remembering, pending
        self._activity, self._came = activity, came

    def known(self, call: Operation[T], priority: Priority | None = None) -> Result[T] | None:
        """The stored answer with what is not sent applied to it; None where it was never fetched.

        Args:
            call: the read.
            priority: how urgent it is, where the activity log is to tell of it.
        """
        began, stored = time.perf_counter(), self._cache.answer(call.key()) or self._answered_whole(call)
        if stored is None:
            return None
        try:
            value = call.read_answer(stored.json.encode())
        except ValueError:
            return None  # stored by a version that read it otherwise: it is asked for again
        if priority is not None:
            self._activity.remembered(call, began, len(stored.json), priority)
        return Result(self._pending.apply(call, value), "cached", max(0.0, time.time() - stored.at))

    def window(
        self, listing: Operation[Page[M]], start: int, count: int, priority: Priority | None = None
    ) -> Window[M]:
        """Rows of a listing that `watch_listing` has brought in, from the store alone; `priority` as for `known`."""
        began, found = time.perf_counter(), self._cache.window(listing.key(), start, count)
        if found.at is not None and priority is not None:
            self._activity.remembered(listing, began, 0, priority)
        page = listing.read_answer(f'{{"items":[{",".join(found.items)}]}}'.encode())
        age = None if found.at is None else max(0.0, time.time() - found.at)
        return Window(page.items, start, found.total, age, found.complete)

    def rows(self, listing: Operation[Page[M]], places: Iterable[int]) -> dict[int, M]:
        """Rows of such a listing by their places, wherever they stand, from the store alone."""
        found = self._cache.rows(listing.key(), places)
        page = listing.read_answer(f'{{"items":[{",".join(found.values())}]}}'.encode())
        return dict(zip(found, page.items, strict=True))

    def positions(self, listing: Operation[Page[Any]], ids: Iterable[str]) -> dict[str, int]:
        """Where in such a listing the things with these ids stand, from the store alone."""
        return self._cache.positions(listing.key(), ids)

    def remember(self, name: str, json: str) -> None:
        """Keep a text of the screen's own in the cache, which may forget it."""
        self._remembering.thread.submit(self._cache.keep, name, json.encode(), time.time())

    async def keep(self, call: Operation[T], body: bytes, request_id: str | None = None) -> tuple[T, bool]:
        """Read an answer and keep it, off this thread; the answer, and whether it is news.

        Raises:
            MalformedAnswer: it is not of the declared shape.
        """

        def take_in(cache: Cache) -> tuple[T, bool]:
            value = read_answer(call, body, request_id)
            return value, cache.keep(call.key(), body, time.time())

        return await self.in_store(take_in)

    async def in_store(self, work: Callable[[Cache], T]) -> T:
        """Do something to the cache, on its writing thread."""
        self._came()
        return await self._remembering.do(work)

    def _answered_whole(self, call: Operation[Any]) -> Stored | None:
        """A listing of which all rows are here also answers for its first so many; it gives all of them."""
        rows = _without_limit(call)
        is_here = rows is not None and self._cache.window(rows.key(), 0, 0).complete
        return self._cache.answer(rows.key()) if rows and is_here else None


def _without_limit(call: Operation[Any]) -> Operation[Any] | None:
    """The listing of which a call asks the first so many; None where it asks something else."""
    given = call.given()
    if "limit" not in given or "page" in given or not issubclass(type(call), Paged):
        return None
    del given["limit"]
    return type(call)(**given)
