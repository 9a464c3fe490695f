"""Reads from the service, through the cache: single calls, listings page by page, subscriptions.

They fall back to the cache if the service cannot be reached. Operations that the service does not have are remembered
for 24 hours, so that an upgrade is noticed. The first page of a listing is small, so that it can be shown soon; a
listing that does not end is cut off.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from functools import partial
from typing import Any, NamedTuple, TypeVar, cast

from presscheck.api.operation import Operation, Page
from presscheck.api.users import User
from presscheck.client.request_priority import Priority
from presscheck.client.responses import read_answer, read_json
from presscheck.engine.reads.listing_guard import ListingGuard
from presscheck.engine.reads.scheduler import PREFETCH, REQUESTED, RequestScheduler
from presscheck.engine.reads.stored_reads import StoredReads
from presscheck.engine.reads.subscriptions import Subscriptions
from presscheck.engine.reads.substitutes import Substitutes
from presscheck.engine.reads.unsupported_calls import UnsupportedCalls
from presscheck.engine.results import Result
from presscheck.engine.writes.pending_writes import PendingWrites
from presscheck.errors import IncompleteList, NetworkError, NotSupported, PresscheckError
from presscheck.store.cache import Cache

T = TypeVar("T")
FIRST_PAGE, OTHER_PAGES = 100, 1000
"""Page sizes: of the first page, and of all others."""


class ServiceReads:
    """Reads from the service, through the cache.

    Args:
        scheduler: sends the requests.
        unsupported: the calls that the service does not have.
        stored: reads and writes the cache; also an attribute.
        pending: the unsent writes, which are applied to each response.
        user: who the user is, for a service that does not tell.
    """

    def __init__(
        self,
        scheduler: RequestScheduler,
        unsupported: UnsupportedCalls,
        stored: StoredReads,
        pending: PendingWrites,
        user: str | None = None,
    ) -> None:
        self._scheduler, self._unsupported, self._pending = scheduler, unsupported, pending
        self._substitutes = Substitutes(_FreshReader(self), user)
        self.stored = stored

    @property
    def is_online(self) -> bool:
        """Whether the service can be reached."""
        return self._scheduler.offline is None

    async def fetch(self, call: Operation[Any], priority: Priority = REQUESTED) -> bytes:
        """The response body, not parsed; of an operation that the service does not have, made from others if possible.

        Raises:
            NotSupported: the service does not have this operation, as it answered now or in the last 24 hours.
            RequestError: the request failed.
        """
        try:
            self._unsupported.check(call)
            return await self._unsupported.record(call, self._scheduler.fetch(call, priority))
        except NotSupported as error:
            if self._scheduler.offline:
                raise self._scheduler.offline from None
            return await self._substitutes.body(call, error, priority)

    async def note_missing(self, call: Operation[Any], error: NotSupported) -> None:
        """Store that the service answered to a write that it does not have the operation."""
        await self._unsupported.store(call, error)

    async def people(self, organization: str) -> list[User]:
        """The people of an organization, as far as the service lists them.

        Raises:
            RequestError: a request failed.
        """
        return await self._substitutes.people(organization, REQUESTED)

    def set_user(self, user: str) -> None:
        """Set who the user is, for a service that does not tell."""
        self._substitutes.user = user

    async def fresh(self, call: Operation[T], priority: Priority) -> tuple[T, bool]:
        """The response with pending writes applied, and whether it differs from the cached one.

        Raises:
            RequestError: the request failed.
        """
        value, is_changed = await self.stored.keep(call, await self.fetch(call, priority))
        return self._pending.apply(call, value), is_changed

    async def read(self, call: Operation[T], *, priority: Priority = REQUESTED) -> T:
        """The response of the service, or the cached one while the service cannot be reached.

        Raises:
            PresscheckError: the service returned an error, or cannot be reached and nothing is cached.
        """
        try:
            value, _ = await self.fresh(call, priority)
        except NetworkError:
            known = self.stored.known(call, priority)
            if known is None:
                raise
            return known.value
        return value

    async def result(self, call: Operation[T], priority: Priority) -> Result[T | None]:
        """The response of the service as a result; if the request fails, the cached one with the error."""
        try:
            value, is_changed = await self.fresh(call, priority)
        except PresscheckError as error:
            known = self.stored.known(call)
            state = "offline" if isinstance(error, NetworkError) else "failed"
            return Result(known.value if known else None, state, known.age if known else 0.0, error)
        return Result(cast("T | None", value), "fresh" if is_changed else "unchanged", 0.0)


class _FreshReader:
    """Reads from the service only, so that an answer made of several responses is not older than it seems."""

    def __init__(self, reads: ServiceReads) -> None:
        self._reads = reads

    async def read(self, call: Operation[T], *, priority: Priority = REQUESTED) -> T:
        """The response of the service."""
        value, _ = await self._reads.fresh(call, priority)
        return value

    def known(self, call: Operation[T], /) -> Result[T] | None:
        """The cached response."""
        return self._reads.stored.known(call)


async def fetch_all_pages(
    reads: ServiceReads, listing: Operation[Any], priority: Priority
) -> AsyncIterator[Result[int]]:
    """Fetch all pages of a listing into the cache; yields the number of items after each page.

    An error is not raised: it is in the last result. For a listing that does not end, that is IncompleteList; its first
    items are cached.
    """
    start, cursor, is_changed, guard = 0, None, False, ListingGuard(listing)
    try:
        while True:
            paging = {"limit": FIRST_PAGE} if cursor is None else {"limit": OTHER_PAGES, "page": cursor}
            call = listing.model_copy(update=paging)
            body = await reads.fetch(call, priority)
            stored = await reads.stored.in_store(partial(_store_page, call, listing.key(), body, start, guard))
            start, cursor = stored.end, stored.cursor
            is_changed = is_changed or stored.is_changed
            priority = max(priority, PREFETCH)  # the visible rows are on the first page
            if stored.problem:
                yield Result(start, "fresh", 0.0, stored.problem)
                return
            if cursor is None:
                yield Result(start, "fresh" if is_changed else "unchanged", 0.0)
                return
            yield Result(max(stored.total or 0, start), "fresh", 0.0)
    except PresscheckError as error:
        window = reads.stored.window(listing, 0, 0)
        state = "offline" if isinstance(error, NetworkError) else "failed"
        yield Result(window.total, state, window.age or 0.0, error)


class _StoredPage(NamedTuple):
    """The state of a listing after a page was cached."""

    end: int
    total: int | None
    cursor: str | None
    is_changed: bool
    problem: IncompleteList | None


def _store_page(
    call: Operation[Any], key: str, body: bytes, start: int, guard: ListingGuard, cache: Cache
) -> _StoredPage:
    """Cache one page of a listing.

    Raises:
        MalformedAnswer: it is not a page of this listing; nothing is cached.
    """
    page = read_answer(call, body)
    cursor = page.next.page if page.next else None
    items = guard.new_items(cast("list[Any]", read_json(call, body)["items"]))
    problem = guard.problem(cursor)
    is_last = cursor is None or problem is not None
    total = None if problem else page.total
    is_changed = cache.keep_page(
        key, items, start, time.time(), total=total, last=is_last, has_more=problem is not None
    )
    return _StoredPage(start + len(items), total, cursor, is_changed, problem)


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
