"""Offline sync: fetches all content that screens show into the cache, for reading while offline.

Listings are fetched in every sync, other content only if it has changed. The cache determines the remaining work, so an
interrupted sync continues where it stopped.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from presscheck.api.operation import Operation
from presscheck.api.organizations import ListOrganizations, Organization
from presscheck.api.users import GetCurrentUser
from presscheck.engine.mirror import cache_state
from presscheck.engine.mirror.plan import (
    MirrorRequest,
    MirrorUnit,
    listings,
    parts_of_request,
    parts_of_space,
    same_as_organization,
    same_as_request,
    same_as_space,
    short_listings,
    unfinished,
)
from presscheck.engine.mirror.progress import Progress, ProgressCounter
from presscheck.engine.reads.cached_reads import ServiceReads, fetch_all_pages
from presscheck.engine.reads.listing_guard import ListingGuard
from presscheck.engine.reads.scheduler import BACKGROUND
from presscheck.engine.reads.subscriptions import Subscriptions
from presscheck.errors import (
    IncompleteList,
    MalformedAnswer,
    NetworkError,
    NotSignedIn,
    NotSupported,
    ServiceError,
    ServiceFailed,
    TooManyRequests,
)
from presscheck.store.cache import Cache

T = TypeVar("T")
CONCURRENT_PARTS, CONCURRENT_REQUESTS = 4, 8
"""Number of parts that are synced concurrently, and of concurrent requests per part. The scheduler limits how many are
sent."""
ROWS_PER_READ = 100
PROGRESS_INTERVAL = 0.25
"""Seconds between two progress reports."""
PAUSE = 60.0
"""Seconds to wait after a 429 response without `Retry-After`."""
LONGEST_PAUSE = 3600.0
"""Maximum number of seconds to wait after a 429 response. If the service asks for a longer wait, the sync ends."""
MAX_ATTEMPTS = 20
"""Number of 429 responses to a single request after which the sync ends."""


class MirrorRun:
    """A run of the sync.

    Args:
        reads: reads from the service into the cache.
        subscriptions: the open subscriptions, which are notified of changes.
        pace: awaited before each request, to limit the rate.
    """

    def __init__(
        self, reads: ServiceReads, subscriptions: Subscriptions, pace: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        self._reads, self._store, self._subscriptions, self._pace = reads, reads.stored, subscriptions, pace
        self._progress = ProgressCounter()

    async def run(self, organization: str | None, space: str | None) -> AsyncGenerator[Progress]:
        """Run the sync. Yields the progress repeatedly, and once more at the end. See `Engine.sync`."""
        work = asyncio.ensure_future(self._all(organization, space))
        try:
            while not work.done():
                await asyncio.wait((work,), timeout=PROGRESS_INTERVAL)
                if not work.done():
                    yield self._progress.progress()
            await work
            yield self._progress.progress()
        finally:
            work.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await work

    async def _all(self, organization: str | None, space: str | None) -> None:
        me = await self._user_id()
        parts: list[MirrorUnit] = []
        for listed in await self._organizations():
            if organization in (None, listed.id):
                parts += await self._list(listed.id, me, space)
        self._progress.begin(part.kind for part in parts)
        # a forecast can only be synced after both of its sides
        for is_forecast in (False, True):
            group = [part for part in parts if (part.kind == "forecast") is is_forecast]
            await _run_concurrently(self._sync_part, group, CONCURRENT_PARTS)

    async def _user_id(self) -> str:
        """Return the id of the signed-in user, or an empty string if the service does not have the operation."""
        call = GetCurrentUser()
        try:
            user, _ = await self._store.keep(call, await self._fetch_body(call))
        except NotSupported:
            return ""
        return user.id

    async def _organizations(self) -> list[Organization]:
        call, found, guard = ListOrganizations(), list[Organization](), ListingGuard(ListOrganizations())
        while True:
            page, _ = await self._store.keep(call, await self._fetch_body(call))
            found += guard.new_items(page.items)
            if page.next is None:
                return found
            if guard.problem(page.next.page):
                self._progress.count(failed=1)
                return found
            call = call.model_copy(update={"page": page.next.page})

    async def _list(self, organization: str, me: str, space: str | None) -> list[MirrorUnit]:
        """Fetch the listings of an organization, and return the changed parts.

        If `space` is set, the parts of all other spaces are left out.
        """
        found = list(listings(organization, me))
        same = same_as_organization(organization)
        await self._store.in_store(lambda cache: cache.keep_same([same], time.time()))
        await _run_concurrently(self._fetch_listing, found, CONCURRENT_REQUESTS)
        short = [*short_listings(organization, time.time())]
        await self._fill(await self._store.in_store(lambda cache: cache_state.find_missing(cache, short)))
        live: dict[str, str] = {}
        parts: list[MirrorUnit] = []
        async for rows in self._rows(found[0]):
            chosen = [row for row in rows if space in (None, row.id)]
            live |= {row.id: row.revision for row in chosen}
            self._progress.count(spaces=len(chosen))
            parts += await self._changed_parts(chosen, parts_of_space, same_as_space)
        for listing in unfinished(organization, me):
            async for rows in self._rows(listing):
                chosen = [row for row in rows if space in (None, row.space)]
                self._progress.count(change_requests=len(chosen))
                parts += await self._changed_parts(chosen, partial(parts_of_request, live=live), same_as_request)
        return parts

    async def _rows(self, listing: Operation[Any]) -> AsyncIterator[Any]:
        start = 0
        while rows := self._store.window(listing, start, ROWS_PER_READ).items:
            yield rows
            start += len(rows)

    async def _changed_parts(
        self,
        rows: list[T],
        parts_of: Callable[[T], Iterable[MirrorUnit]],
        same_as: Callable[[T], Iterable[tuple[str, str, str]]],
    ) -> list[MirrorUnit]:
        """Return the changed parts of rows. Also cache each row as the response to the call for only this row."""
        parts = [part for row in rows for part in parts_of(row)]
        same = [key_and_row for row in rows for key_and_row in same_as(row)]

        def find_changed(cache: Cache) -> list[MirrorUnit]:
            cache.keep_same(same, time.time())
            return cache_state.changed_parts(cache, parts)

        found = await self._store.in_store(find_changed)
        if found:
            self._subscriptions.news({key for key, _, _ in same})
        return found

    async def _sync_part(self, part: MirrorUnit) -> None:
        requests_before = self._progress.begin_part(part.kind)
        since, missing = await self._store.in_store(lambda cache: cache_state.begin(cache, part))
        if await self._fill(missing):
            await self._store.in_store(lambda cache: cache_state.complete(cache, part, since))
        self._progress.end_part(part.kind, requests_before)

    async def _fill(self, missing: list[MirrorRequest]) -> bool:
        """Fetch missing responses and their follow-ups. Returns False if a request failed, not if it was refused."""
        has_all = True
        while missing:
            self._progress.queued(len(missing))
            found = await _run_concurrently(self._fetch, missing, CONCURRENT_REQUESTS)
            has_all = has_all and None not in found
            missing = [request for following in found for request in following or ()]
        return has_all

    async def _fetch(self, request: MirrorRequest) -> list[MirrorRequest] | None:
        """Fetch and cache a response.

        Returns:
            The follow-up requests that are missing; empty if the service refused the request. None if the request
            failed and the next sync should try again.
        """
        try:
            body = await self._fetch_body(request.call)
            following, news = await self._store.in_store(lambda cache: cache_state.keep(cache, request, body))
        except (NetworkError, NotSignedIn):
            raise
        except (ServiceFailed, MalformedAnswer):
            self._progress.count(failed=1)
            return None
        except ServiceError as error:
            self._progress.count(refused=not isinstance(error, NotSupported))
            return []
        finally:
            self._progress.queued(-1)
        self._subscriptions.news(news)
        return following

    async def _fetch_listing(self, listing: Operation[Any]) -> None:

        async def fetch_pages() -> None:
            error = None
            async for seen in fetch_all_pages(self._reads, listing, BACKGROUND):
                self._progress.count(requests=1)
                error = seen.error
                if seen.state == "fresh":
                    self._subscriptions.news({listing.key()})
            if isinstance(error, IncompleteList):
                self._progress.count(failed=1)
            elif error:
                raise error

        await self._until_allowed(fetch_pages)

    async def _fetch_body(self, call: Operation[Any]) -> bytes:

        def fetch() -> Awaitable[bytes]:
            self._progress.count(requests=1)
            return self._reads.fetch(call, BACKGROUND)

        return await self._until_allowed(fetch)

    async def _until_allowed(self, fetch: Callable[[], Awaitable[T]]) -> T:
        """Fetch, and after a 429 response wait for the requested time and fetch again.

        Raises:
            TooManyRequests: the wait would be too long, or this was the last attempt.
        """
        attempt = 0
        while True:
            attempt += 1
            if self._pace:
                await self._pace()
            try:
                return await fetch()
            except TooManyRequests as error:
                seconds = error.retry_after or PAUSE
                if attempt >= MAX_ATTEMPTS or seconds > LONGEST_PAUSE:
                    raise
            self._progress.waits(seconds)
            await asyncio.sleep(seconds)
            self._progress.waits(0)


async def _run_concurrently(work: Callable[[Any], Awaitable[T]], items: list[Any], at_once: int) -> list[T]:
    """Run `work` for each item, in up to `at_once` tasks. Return the results in order of completion.

    The first error cancels all tasks and is raised.
    """
    results: list[T] = []
    waiting: Iterator[Any] = iter(items)

    async def run_waiting() -> None:
        for item in waiting:
            result = await work(item)
            results.append(result)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(at_once, len(items))):
                group.create_task(run_waiting())
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return results
