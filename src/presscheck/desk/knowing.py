"""What the store knows, and how it comes to know it.

Reading answers and rows of listings takes microseconds and never waits; what is kept is kept by another thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from presscheck.api.operation import Operation, Page
from presscheck.desk.listings import whole
from presscheck.desk.seen import Seen, Window

if TYPE_CHECKING:
    from presscheck.client.errand import Priority
    from presscheck.desk.activity import Activity
    from presscheck.desk.remembering import Remembering
    from presscheck.desk.searching import Searching
    from presscheck.desk.writing import Writing
    from presscheck.store.cache import Cache, Stored

T = TypeVar("T")
M = TypeVar("M")


class Knowing:
    """A desk's store; the desk fills these in."""

    _cache: Cache
    _writing: Writing
    _activity: Activity
    _remembering: Remembering
    _searching: Searching

    def known(self, call: Operation[T]) -> Seen[T] | None:
        """What the store knows, with what waits laid over it; None where it was never fetched."""
        return self._known(call)

    def _known(self, call: Operation[T], priority: Priority | None = None) -> Seen[T] | None:
        began, stored = time.perf_counter(), self._cache.answer(call.key()) or self._answered_whole(call)
        if stored is None:
            return None
        try:
            value = call.read_answer(stored.json.encode())
        except ValueError:
            return None  # stored by a version that read it otherwise: it is asked for again
        if priority is not None:
            self._activity.remembered(call, began, len(stored.json), priority)
        return Seen(self._writing.lay_over(call, value), "cached", max(0.0, time.time() - stored.at))

    def window(self, listing: Operation[Page[M]], start: int, count: int) -> Window[M]:
        """Rows of a listing that `watch_listing` has brought in, from the store alone."""
        found = self._cache.window(listing.key(), start, count)
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
        from presscheck.client.answers import read_answer

        def take_in(cache: Cache) -> tuple[T, bool]:
            value = read_answer(call, body, request_id)
            return value, cache.keep(call.key(), body, time.time())

        return await self.in_store(take_in)

    async def in_store(self, work: Callable[[Cache], T]) -> T:
        """Do something to the cache, on its writing thread."""
        self._searching.came()
        return await self._remembering.do(work)

    def _answered_whole(self, call: Operation[Any]) -> Stored | None:
        """A listing of which all rows are here also answers for its first so many; it gives all of them."""
        rows = whole(call)
        is_here = rows is not None and self._cache.window(rows.key(), 0, 0).complete
        return self._cache.answer(rows.key()) if rows and is_here else None
