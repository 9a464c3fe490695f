"""The mirror: brings in what the screens ask for before they do, so that all of it can be read without a connection.

Listings are asked for each time, of the rest only what moved since; what is left to do is told by what the store holds,
so that a mirror which was killed goes on where it was.
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
from presscheck.engine.mirror import cache_state as keeping
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
from presscheck.engine.reads.pagination import fetch_all_pages
from presscheck.engine.reads.scheduler import BACKGROUND
from presscheck.engine.reads.service_reads import ServiceReads
from presscheck.engine.reads.subscriptions import Subscriptions
from presscheck.errors import (
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
PARTS_AT_ONCE, WANTS_AT_ONCE = 4, 8
"""Parts of the mirror under way together, and wants of each; how many leave together is decided in `asking`."""
ROWS_AT_ONCE = 100
LOOK = 0.25
"""Seconds between two tellings of how far it is."""
PAUSE = 60.0
"""Seconds to wait where the service wants us to, and does not say how long."""


class Mirroring:
    """One run of the mirror.

    Args:
        reads: asks the service, and fills the store.
        watching: who wants to hear of news.
        pace: awaited before each request.
    """

    def __init__(
        self, reads: ServiceReads, watching: Subscriptions, pace: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        self._reads, self._store, self._watching, self._pace = reads, reads.stored, watching, pace
        self._tally = ProgressCounter()

    async def run(self, organization: str | None, space: str | None) -> AsyncGenerator[Progress]:
        """Bring it up to date; tells how far it is, the last time when it is done. See `Engine.sync`."""
        work = asyncio.ensure_future(self._all(organization, space))
        try:
            while not work.done():
                await asyncio.wait((work,), timeout=LOOK)
                if not work.done():
                    yield self._tally.progress()
            await work
            yield self._tally.progress()
        finally:
            work.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await work

    async def _all(self, organization: str | None, space: str | None) -> None:
        user = GetCurrentUser()
        me, _ = await self._store.keep(user, await self._ask(user))
        parts: list[MirrorUnit] = []
        for one in await self._organizations():
            if organization in (None, one.id):
                parts += await self._list(one.id, me.id, space)
        self._tally.begin(part.kind for part in parts)
        # what a forecast compares is known only when both sides are here
        for later in (False, True):
            await _each(self._bring_in, [part for part in parts if (part.kind == "forecast") is later], PARTS_AT_ONCE)

    async def _organizations(self) -> list[Organization]:
        call, found = ListOrganizations(), list[Organization]()
        while True:
            page, _ = await self._store.keep(call, await self._ask(call))
            found += page.items
            if page.next is None or page.next.page == call.page:
                return found
            call = call.model_copy(update={"page": page.next.page})

    async def _list(self, organization: str, me: str, space: str | None) -> list[MirrorUnit]:
        """Bring in the listings of an organization; the parts of it that moved."""
        found = list(listings(organization, me))
        same = same_as_organization(organization)
        await self._store.in_store(lambda cache: cache.keep_same([same], time.time()))
        await _each(self._pull, found, WANTS_AT_ONCE)
        await self._fill(short_listings(organization, time.time()))
        live: dict[str, str] = {}
        parts: list[MirrorUnit] = []
        async for rows in self._rows(found[0]):
            chosen = [row for row in rows if space in (None, row.id)]
            live |= {row.id: row.revision for row in chosen}
            self._tally.count(spaces=len(chosen))
            parts += await self._moved(chosen, parts_of_space, same_as_space)
        for listing in unfinished(organization, me):
            async for rows in self._rows(listing):
                chosen = [row for row in rows if space in (None, row.space)]
                self._tally.count(change_requests=len(chosen))
                parts += await self._moved(chosen, partial(parts_of_request, live=live), same_as_request)
        return parts

    async def _rows(self, listing: Operation[Any]) -> AsyncIterator[Any]:
        start = 0
        while rows := self._store.window(listing, start, ROWS_AT_ONCE).items:
            yield rows
            start += len(rows)

    async def _moved(
        self,
        rows: list[T],
        parts_of: Callable[[T], Iterable[MirrorUnit]],
        same_as: Callable[[T], Iterable[tuple[str, str, str]]],
    ) -> list[MirrorUnit]:
        """The parts of these rows that moved; the rows themselves are answers too."""
        parts = [part for row in rows for part in parts_of(row)]
        same = [one for row in rows for one in same_as(row)]

        def look(cache: Cache) -> list[MirrorUnit]:
            cache.keep_same(same, time.time())
            return keeping.moved(cache, parts)

        found = await self._store.in_store(look)
        if found:
            self._watching.news({key for key, _, _ in same})
        return found

    async def _bring_in(self, part: MirrorUnit) -> None:
        """Fetch what of a part is not known as it is now."""
        begun = self._tally.begin_part(part.kind)
        since = await self._store.in_store(lambda cache: keeping.since(cache, part))
        if await self._fill(part.wants(since)):
            await self._store.in_store(lambda cache: keeping.complete(cache, part, since))
        self._tally.end_part(part.kind, begun)

    async def _fill(self, wants: Iterable[MirrorRequest]) -> bool:
        """Bring in what is wanted, and what is wanted then; whether all of it came."""
        has_all, todo = True, list(wants)
        while todo:
            missing, todo = await self._store.in_store(partial(keeping.look, wants=todo))
            self._tally.queued(len(missing))
            found = await _each(self._fetch, missing, WANTS_AT_ONCE)
            has_all = has_all and None not in found
            todo += [want for further in found for want in further or ()]
        return has_all

    async def _fetch(self, want: MirrorRequest) -> list[MirrorRequest] | None:
        """Ask for an answer and keep it; what is wanted then, or None where it did not come and might the next time."""
        try:
            body = await self._ask(want.call)
            further, news = await self._store.in_store(lambda cache: keeping.keep(cache, want, body))
        except (NetworkError, NotSignedIn):
            raise
        except (ServiceFailed, MalformedAnswer):
            self._tally.count(failed=1)
            return None
        except ServiceError as error:
            self._tally.count(refused=not isinstance(error, NotSupported))
            return []
        finally:
            self._tally.queued(-1)
        self._watching.news(news)
        return further

    async def _pull(self, listing: Operation[Any]) -> None:
        """Bring in a listing by rows."""
        while True:
            if self._pace:
                await self._pace()
            error = None
            async for seen in fetch_all_pages(self._reads, listing, BACKGROUND):
                self._tally.count(requests=1)
                error = seen.error
                if seen.state == "fresh":
                    self._watching.news({listing.key()})
            if error is None:
                return
            if not isinstance(error, TooManyRequests):
                raise error
            await self._wait(error)

    async def _ask(self, call: Operation[Any]) -> bytes:
        """The body of an answer; waits as long as the service wants us to."""
        while True:
            if self._pace:
                await self._pace()
            self._tally.count(requests=1)
            try:
                return await self._reads.fetch(call, BACKGROUND)
            except TooManyRequests as error:
                await self._wait(error)

    async def _wait(self, error: TooManyRequests) -> None:
        seconds = error.retry_after or PAUSE
        self._tally.waits(seconds)
        await asyncio.sleep(seconds)
        self._tally.waits(0)


async def _each(work: Callable[[Any], Awaitable[T]], things: list[Any], at_once: int) -> list[T]:
    """Do something with each, so many together; the first that fails ends it."""
    found: list[T] = []
    waiting: Iterator[Any] = iter(things)

    async def one() -> None:
        for thing in waiting:
            done = await work(thing)
            found.append(done)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(at_once, len(things))):
                group.create_task(one())
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return found
