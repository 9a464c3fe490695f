"""Reads through the cache: cached responses, responses of the service, and subscriptions to both.

Cache reads are synchronous and take microseconds. Writes, evictions and updates of the search index run in the cache's
own thread in small steps, so that other work of that thread can run between the steps. Responses with an open
subscription are not evicted.

Reads from the service fall back to the cache if the service cannot be reached. An operation that the service does not
have is remembered for 24 hours and then tried again, so that an upgrade of the service is noticed. The first page of a
listing is small, so that it can be shown soon. A listing that does not end is cut off.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from array import array
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, cast

from presscheck.api.operation import NOT_CACHED, Operation, Page, Paged
from presscheck.api.users import User
from presscheck.client.page_parts import PageParts, read_page_in_parts
from presscheck.client.request_priority import Priority
from presscheck.client.responses import read_answer, unusable
from presscheck.engine.connection import Activity
from presscheck.engine.reads.listing_guard import ListingGuard
from presscheck.engine.reads.scheduler import BACKGROUND, PREFETCH, REQUESTED, RequestScheduler
from presscheck.engine.reads.subscriptions import Subscriptions
from presscheck.engine.results import Result, Window
from presscheck.engine.writes.pending_writes import PendingWrites
from presscheck.errors import IncompleteList, NetworkError, NotSupported, PresscheckError
from presscheck.store.cache import Cache, Condition, Stored

if TYPE_CHECKING:
    from presscheck.engine.reads.substitutes import Substitutes

UNSUPPORTED_FOR = 24 * 3600.0
"""Seconds until an operation that the service lacks is tried again."""
COMMON_FEATURES = (
    "user lookup",
    "list of spaces",
    "page content outside change requests",
    "list of changes",
    "list of members",
)
"""Features that every session reads.

A service that lacks most of these features offers only the operations of the published document. Writes of other
features are then assumed to be missing as well, because only sending a write would show whether it exists."""
MIN_MISSING = 3
"""Number of missing `COMMON_FEATURES` from which a service counts as one with only the published operations."""
_LACKING = "This service has no "
T = TypeVar("T")
M = TypeVar("M")
EVICTION_DELAY = 0.2
"""Seconds from a change of the cache to an eviction. Each eviction is a transaction, so several changes share it."""
INDEX_DELAY = 2.0
"""Seconds from a change of the cache to the update of the search index."""
INDEX_PAUSE = 0.2
"""Seconds between two index transactions. A transaction takes about a tenth of this time and blocks other work of the
cache's thread, such as storing the responses of a sync. A search does not wait for the background updates, see
`IndexUpdates.catch_up`."""
FIRST_PAGE, OTHER_PAGES = 100, 500
"""Page sizes of the first page and of all others. Pages of 1,000 items would need 1.3 MB more memory."""


class UnsupportedCalls:
    """The operations that the service does not have, stored in the cache of the profile.

    Args:
        cache: the cache.
        thread: the writer thread of the cache.
    """

    def __init__(self, cache: Cache, thread: Executor) -> None:
        self._cache, self._thread = cache, thread
        self._known: dict[str, tuple[str, float] | None] = {}
        self._answered: set[str] = set()

    def check(self, call: Operation[Any]) -> None:
        """Check that the service is not recorded as lacking an operation.

        Raises:
            NotSupported: the service answered in the last 24 hours that it does not have the operation.
        """
        message = self._message(call.optional_name()) if call.feature or call.release else None
        if message:
            raise NotSupported(message, request=str(call), status=404)

    def reason(self, operation: type[Operation[Any]]) -> str | None:
        """Return why an operation cannot be used, such as *This service has no reviews*.

        Returns None if the operation may be available.
        """
        if not operation.feature and not operation.release:
            return None
        message = self._message(operation.feature or operation.optional_name())
        if message or not operation.feature or self._answered:
            return message
        is_published_only = sum(self._message(name) is not None for name in COMMON_FEATURES) >= MIN_MISSING
        return lacking(operation.feature) if is_published_only else None

    def lacks(self, feature: str) -> bool:
        """Return whether the service answered in the last 24 hours that it does not have a feature."""
        return self._message(feature) is not None

    async def record(self, call: Operation[Any], response: Awaitable[bytes]) -> bytes:
        """Wait for a response and return it. If the service does not have the operation, record this.

        Raises:
            NotSupported: the service does not have the operation.
        """
        try:
            body = await response
        except NotSupported as error:
            await self.store(call, error)
            raise
        if call.feature:
            self._answered.add(call.feature)
        return body

    async def store(self, call: Operation[Any], error: NotSupported) -> None:
        """Store that the service does not have an operation."""
        if call.feature or call.release:
            name, now = call.optional_name(), time.time()
            self._known[name] = error.message, now
            loop, message = asyncio.get_running_loop(), json.dumps(error.message).encode()
            await loop.run_in_executor(self._thread, self._cache.keep, _key(name), message, now)

    def _message(self, name: str) -> str | None:
        if name not in self._known:
            stored = self._cache.answer(_key(name))
            self._known[name] = (json.loads(stored.json), stored.at) if stored else None
        known = self._known[name]
        return known[0] if known and time.time() - known[1] < UNSUPPORTED_FOR else None


def lacking(feature: str) -> str:
    """Return the message for a feature that the service does not have."""
    return f"{_LACKING}{feature}"


def is_about_service(reason: str) -> bool:
    """Return whether a reason is that the service does not have a feature: a message from `lacking`."""
    return reason.startswith(_LACKING)


def _key(name: str) -> str:
    return f"not supported: {name}"


class CacheWriter:
    """The writer thread of a cache.

    Args:
        cache: the cache.
        subscriptions: the open subscriptions, whose responses are not evicted.
        on_notice: called with each message of the cache for the user.
    """

    def __init__(self, cache: Cache, subscriptions: Subscriptions, on_notice: Callable[[str], None]) -> None:
        self.thread = ThreadPoolExecutor(1, "store")
        self._cache, self._subscriptions, self._on_notice = cache, subscriptions, on_notice
        self._eviction: asyncio.Task[None] | None = None
        self._has_grown = False

    async def do(self, work: Callable[[Cache], T]) -> T:
        """Run a function on the cache in the writer thread and return its result."""
        try:
            return await self._do(work)
        finally:
            self._report_notice()
            self._has_grown = True
            if self._eviction is None or self._eviction.done():
                self._eviction = asyncio.create_task(self._evict())

    async def close(self) -> None:
        """Stop the thread and close the cache."""
        if self._eviction and not self._eviction.done():
            self._eviction.cancel()
            await asyncio.gather(self._eviction, return_exceptions=True)
            with contextlib.suppress(RuntimeError):  # the thread was stopped
                await self._evict_some()
        self.thread.shutdown()
        self._cache.close()

    async def _do(self, work: Callable[[Cache], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.thread, work, self._cache)

    async def _evict(self) -> None:
        with contextlib.suppress(RuntimeError):  # the thread was stopped
            while self._has_grown:
                self._has_grown = False
                await asyncio.sleep(EVICTION_DELAY)
                while await self._evict_some():
                    pass

    async def _evict_some(self) -> bool:
        return await self._do(partial(Cache.evict, pinned=self._subscriptions.keys()))

    def _report_notice(self) -> None:
        notice, self._cache.notice = self._cache.notice, None
        if notice:
            self._on_notice(notice)


class InStore(Protocol):
    """A callable that runs a function on the cache in the writer thread."""

    def __call__(self, work: Callable[[Cache], T], /) -> Awaitable[T]:
        """Return the result of the function."""
        ...


class IndexUpdates:
    """Background updates of the search index of a cache, outside the user interface's thread.

    Args:
        in_store: runs a function on the cache in its writer thread.
    """

    def __init__(self, in_store: InStore) -> None:
        self._in_store = in_store
        self._task: asyncio.Task[None] | None = None
        self._is_outdated = False

    @property
    def is_settled(self) -> bool:
        """Whether no update of the index is scheduled or running."""
        return self._task is None or self._task.done()

    def schedule(self) -> None:
        """Schedule an update after a change of the cache."""
        self._is_outdated = True
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._update_later())

    async def close(self) -> None:
        """Stop updating. The next session indexes the responses that are still queued."""
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def catch_up(self, seconds: float) -> None:
        """Index queued responses for at most `seconds`. Schedule a background update for all others."""
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
        return 0  # before the import
    from presscheck.engine.search.index_entries import read_source  # 3 ms, only if there is something to index

    return index.fill(read_source)


class StoredReads:
    """A reader of cached responses, which also stores new responses.

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
        """Return the cached response with pending writes applied, or None if no usable response is cached.

        Args:
            call: the read.
            priority: the priority to write to the activity log; None to leave the read out of the log.
        """
        call = self._pending.resolved(call)
        if (page := self._pending.new_page(call)) is not None:
            return Result(page, "cached", 0.0)
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

    def resource(self, kind: str, identity: str) -> dict[str, Any]:
        """Return the fields of a cached resource under their API names, or an empty dict if it is not cached.

        The resource may come from the response of any operation.

        Args:
            kind: the `object` of the resource, such as `change-request`.
            identity: the id of the resource.
        """
        text = self._cache.resource(kind, identity)
        return json.loads(text) if text else {}

    def window(
        self, listing: Operation[Page[M]], start: int, count: int, priority: Priority | None = None
    ) -> Window[M]:
        """Return `count` cached rows of a listing that `watch_listing` fetched, from `start` on.

        `priority` has the same meaning as for `known`.
        """
        started, found = time.perf_counter(), self._cache.window(listing.key(), start, count)
        if found.at is not None and priority is not None:
            self._activity.record_cached(listing, started, 0, priority)
        items = _items(listing, found.items)
        if items is None:
            return Window((), start, 0, None, complete=False)
        age = None if found.at is None else max(0.0, time.time() - found.at)
        return Window(items, start, found.total, age, found.complete, found.is_total_known)

    def rows(self, listing: Operation[Page[M]], positions: Iterable[int]) -> dict[int, M]:
        """Return the cached rows of a listing at these positions, by position. Uncached rows are left out."""
        found = self._cache.rows(listing.key(), positions)
        items = _items(listing, found.values())
        return {} if items is None else dict(zip(found, items, strict=True))

    def positions(self, listing: Operation[Page[Any]], ids: Iterable[str]) -> dict[str, int]:
        """Return the positions of the items with these ids in a cached listing, by id."""
        return self._cache.positions(listing.key(), ids)

    def first_matching(self, listing: Operation[Page[Any]], conditions: Iterable[Condition], first: int) -> array[int]:
        """Return the positions of the rows that meet all conditions, in the first `first` rows of a cached listing."""
        return self._cache.first_matching(listing.key(), conditions, first)

    def remember(self, name: str, json: str) -> None:
        """Store a text of a screen in the cache. It may be evicted."""
        self._cache_writer.thread.submit(self._cache.keep, name, json.encode(), time.time())

    async def keep(self, call: Operation[T], body: bytes, request_id: str | None = None) -> tuple[T, bool]:
        """Parse and cache a response in the cache's thread.

        Returns:
            The parsed response, and whether it differs from the cached response.

        Raises:
            MalformedAnswer: the response does not have the declared type.
        """

        def parse_and_store(cache: Cache) -> tuple[T, bool]:
            value = read_answer(call, body, request_id)
            try:
                return value, cache.keep(call.key(), _without_secrets(call, body), time.time())
            except ValueError as error:  # such as a number with too many digits for `json`
                raise unusable(call, str(error), request_id) from None

        return await self.in_store(parse_and_store)

    async def in_store(self, work: Callable[[Cache], T]) -> T:
        """Run a function on the cache in the writer thread and return its result."""
        self._on_write()
        return await self._cache_writer.do(work)

    def _unlimited(self, call: Operation[Any]) -> Stored | None:
        """Return the cached response of the same listing without a limit, or None if not all of its rows are cached."""
        rows = _without_limit(call)
        is_cached = rows is not None and self._cache.window(rows.key(), 0, 0).complete
        return self._cache.answer(rows.key()) if rows and is_cached else None


def _items(listing: Operation[Page[M]], rows: Iterable[str]) -> tuple[M, ...] | None:
    """Parse cached rows. Returns None if a version with another model stored a row."""
    try:
        return listing.read_answer(f'{{"items":[{",".join(rows)}]}}'.encode()).items
    except ValueError:
        return None  # the listing is then fetched again


def _without_limit(call: Operation[Any]) -> Operation[Any] | None:
    """Return the listing without its limit.

    Returns None if the call has no limit, or reads another page than the first.
    """
    given = call.given()
    if "limit" not in given or "page" in given or not issubclass(type(call), Paged):
        return None
    del given["limit"]
    return type(call)(**given)


class ServiceReads:
    """A reader from the service through the cache.

    Args:
        scheduler: sends the requests.
        unsupported: the operations that the service does not have.
        stored: reads and writes the cache; also an attribute.
        pending: the unsent writes, which are applied to each response.
        user: the id, e-mail address or name of the user, for a service without an operation for the current user.
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
        self._user = user
        self._made_substitutes: Substitutes | None = None
        self.stored = stored

    @property
    def _substitutes(self) -> Substitutes:
        from presscheck.engine.reads.substitutes import Substitutes  # 10 ms, only for a service without an operation

        if self._made_substitutes is None:
            self._made_substitutes = Substitutes(_FreshReader(self), self._user)
        return self._made_substitutes

    @property
    def is_online(self) -> bool:
        """Whether the service can be reached."""
        return self._scheduler.offline is None

    async def fetch(self, call: Operation[Any], priority: Priority = REQUESTED) -> bytes:
        """Return the unparsed response body.

        If the service does not have the operation, the body is made from the responses of other operations where
        possible.

        Raises:
            NotSupported: the service answered now or in the last 24 hours that it does not have the operation.
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
        """Record that the service does not have the operation of a write."""
        await self._unsupported.store(call, error)

    async def people(self, organization: str) -> list[User]:
        """Return the people of an organization that the service lists: team members, authors and reviewers.

        Raises:
            RequestError: a request failed.
        """
        return await self._substitutes.people(organization, REQUESTED)

    def set_user(self, user: str) -> None:
        """Set the user, for a service without an operation for the current user."""
        self._substitutes.user = user

    async def fresh(self, call: Operation[T], priority: Priority) -> tuple[T, bool]:
        """Fetch a response.

        Returns:
            The response with pending writes applied, and whether it differs from the cached response.
        """
        call = self._pending.resolved(call)
        if (page := self._pending.new_page(call)) is not None:
            return page, False
        value, is_changed = await self.stored.keep(call, await self.fetch(call, priority))
        return self._pending.apply(call, value), is_changed

    async def read(self, call: Operation[T], *, priority: Priority = REQUESTED) -> T:
        """Return the response of the service, or the cached response while the service cannot be reached.

        Raises:
            PresscheckError: the service returned an error, or it cannot be reached and nothing is cached.
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
        """Return the response of the service as a result.

        If the request fails, return the cached response with the error.
        """
        try:
            value, is_changed = await self.fresh(call, priority)
        except PresscheckError as error:
            known = self.stored.known(call)
            state = "offline" if isinstance(error, NetworkError) else "failed"
            return Result(known.value if known else None, state, known.age if known else 0.0, error)
        return Result(cast("T | None", value), "fresh" if is_changed else "unchanged", 0.0)


def _without_secrets(call: Operation[Any], body: bytes) -> bytes:
    """Replace each secret of a response by a marker: the cache only shows that the secret is set."""
    if not call.secret_fields:
        return body
    answer: dict[str, Any] = json.loads(body)
    return json.dumps(answer | {name: NOT_CACHED for name in call.secret_fields if answer.get(name)}).encode()


class _FreshReader:
    """A reader without fallback to the cache, so that no outdated response becomes part of a new answer."""

    def __init__(self, reads: ServiceReads) -> None:
        self._reads = reads

    async def read(self, call: Operation[T], *, priority: Priority = REQUESTED) -> T:
        value, _ = await self._reads.fresh(call, priority)
        return value

    def known(self, call: Operation[T], /) -> Result[T] | None:
        return self._reads.stored.known(call)


async def fetch_all_pages(
    reads: ServiceReads, listing: Operation[Any], priority: Priority
) -> AsyncIterator[Result[int]]:
    """Fetch all pages of a listing into the cache.

    Yields the number of items after each page: the total if the service reports it, else the number so far.

    Errors are not raised: the last result has the error. If the listing does not end, the error is IncompleteList and
    the first items are cached.
    """
    start, cursor, is_changed, guard = 0, None, False, ListingGuard(listing)
    try:
        while True:
            paging = {"limit": FIRST_PAGE} if cursor is None else {"limit": OTHER_PAGES, "page": cursor}
            stored = await _fetch_page(reads, listing, listing.model_copy(update=paging), priority, start, guard)
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


async def _fetch_page(
    reads: ServiceReads,
    listing: Operation[Any],
    call: Operation[Any],
    priority: Priority,
    start: int,
    guard: ListingGuard,
) -> _StoredPage:
    """Fetch a page of a listing and cache it in parts, so that other work of the cache's thread can run in between.

    Raises:
        MalformedAnswer: the response is not a page of this listing; no part of the page is cached.
        RequestError: the request failed.
    """
    key, bodies = listing.key(), [await reads.fetch(call, priority)]

    def read_and_store(cache: Cache) -> tuple[PageParts, _StoredPart]:
        page = read_page_in_parts(call, bodies.pop())  # free the text of the page as soon as it is parsed
        return page, _store_part(page, 0, key, start, guard, cache)

    page, part = await reads.stored.in_store(read_and_store)
    is_changed = part.is_changed
    for number in range(1, page.parts):
        part = await reads.stored.in_store(partial(_store_part, page, number, key, part.end, guard))
        is_changed = is_changed or part.is_changed
    return _StoredPage(part.end, None if part.problem else page.total, page.cursor, is_changed, part.problem)


class _StoredPart(NamedTuple):
    """The state of a listing after a part of a page was cached."""

    end: int
    is_changed: bool
    problem: IncompleteList | None


def _store_part(page: PageParts, number: int, key: str, start: int, guard: ListingGuard, cache: Cache) -> _StoredPart:
    ends_page = number == page.parts - 1
    items = guard.new_items(page.items(number), ends_page=ends_page)
    problem = guard.problem(page.cursor) if ends_page else None
    is_last = ends_page and (page.cursor is None or problem is not None)
    total = None if problem else page.total
    is_changed = cache.keep_page(key, items, start, time.time(), total=total, last=is_last, has_more=bool(problem))
    return _StoredPart(start + len(items), is_changed, problem)


async def _first_and_last(results: AsyncIterator[T]) -> AsyncIterator[T]:
    number, last = 0, None
    async for last in results:
        number += 1
        if number == 1:
            yield last
    if number > 1:
        yield last


class SubscribedReads:
    """The results of subscribed calls, which are yielded again after each change.

    Args:
        reads: reads from the service and the cache.
        subscriptions: the open subscriptions.
    """

    def __init__(self, reads: ServiceReads, subscriptions: Subscriptions) -> None:
        self._reads, self._subscriptions = reads, subscriptions

    async def watch(
        self, call: Operation[T], priority: Priority, given: Result[T] | None = None
    ) -> AsyncIterator[Result[T | None]]:
        """Yield the results of a call until the iterator is closed.

        `given` is a cached result that the caller has already; it is not yielded again.
        """
        with self._subscriptions.of(call) as subscription:
            first: Priority | None = priority
            while True:
                known, first = given or self._reads.stored.known(call, first), None
                if known:
                    subscription.answered(known.value)
                    if known is not given:
                        yield cast("Result[T | None]", known)
                    given = None
                if subscription.take_stale():
                    result = await self._reads.result(call, priority)
                    subscription.answered(result.value)
                    yield result
                await subscription.changed()

    async def watch_listing(self, listing: Operation[Page[Any]], priority: Priority) -> AsyncIterator[Result[int]]:
        """Yield the number of items of a listing after each fetched page, until the iterator is closed.

        If all rows are cached already, only the first and the last page are reported: the cached rows stay visible
        until the last page.
        """
        with self._subscriptions.of(listing) as subscription:
            first: Priority | None = priority
            while True:
                window, first = self._reads.stored.window(listing, 0, 0, first), None
                if window.age is not None:
                    yield Result(window.total, "cached", window.age)
                if subscription.take_stale():
                    pages = fetch_all_pages(self._reads, listing, priority)
                    async for result in _first_and_last(pages) if window.complete else pages:
                        yield result
                await subscription.changed()

    async def poll(self, call: Operation[T]) -> T:
        """Fetch a response in the background. Subscribers are notified only if it differs from the cached response.

        Raises:
            RequestError: the request failed.
        """
        value, is_changed = await self._reads.fresh(call, BACKGROUND)
        if is_changed:
            self._subscriptions.news((call.key(),))
        return value
