"""Fetches listings page by page into the cache; the first page is small, so that it can be shown soon.

A listing that does not end is cut off: see `ListingGuard`.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar, cast

from pydantic import BaseModel

from presscheck.api.operation import Operation
from presscheck.client.request_context import Priority
from presscheck.client.responses import read_answer, read_json
from presscheck.engine.reads.scheduler import PREFETCH
from presscheck.engine.reads.service_reads import ServiceReads
from presscheck.engine.results import Result
from presscheck.errors import IncompleteList, NetworkError, PresscheckError
from presscheck.store.cache import Cache
from presscheck.text.plurals import count

Item = TypeVar("Item")
FIRST, REST = 100, 1000
"""Page sizes: of the first page, and of all others."""
MAX_ITEMS = 100_000
"""The maximum number of items of a listing."""
MAX_PAGES = 2_000
"""The maximum number of pages of a listing."""
MAX_EMPTY_PAGES = 10
"""The maximum number of empty pages in a row."""
MAX_SECONDS = 600.0
"""The maximum time to fetch a listing, in seconds."""


class ListingGuard:
    """Checks the pages of one listing as they come: drops repeated items, and notices if the listing does not end.

    Args:
        listing: the listing, for messages.
    """

    def __init__(self, listing: Operation[Any]) -> None:
        self._listing = listing
        self._cursors, self._seen = set[str](), set[int]()
        self._pages = self._empty_pages = self._items = 0
        self._is_repeated = False
        self._started = time.monotonic()

    def new_items(self, items: Sequence[Item]) -> list[Item]:
        """The items of the next page, without those that came before."""
        new, keys = list[Item](), set[int]()
        for item in items:
            is_resource, key = _identity(item)
            if key not in self._seen and not (is_resource and key in keys):
                new.append(item)
            keys.add(key)
        self._seen |= keys
        self._pages += 1
        self._items += len(new)
        self._is_repeated = bool(items) and not new
        self._empty_pages = 0 if items else self._empty_pages + 1
        return new

    def problem(self, cursor: str | None) -> IncompleteList | None:
        """Why the listing must be cut off after this page, if at all.

        Args:
            cursor: the cursor of the next page; None after the last one.
        """
        if cursor is None:
            return None
        reason = self._reason(cursor)
        self._cursors.add(cursor)
        return IncompleteList(f"The list is incomplete: {reason}", request=str(self._listing)) if reason else None

    def _reason(self, cursor: str) -> str:
        if cursor in self._cursors or self._is_repeated:
            return "the service repeats a page"
        if self._empty_pages >= MAX_EMPTY_PAGES:
            return f"the service returned {count(self._empty_pages, 'empty page')}"
        if self._items >= MAX_ITEMS:
            return f"only the first {count(self._items, 'item')} were loaded"
        if self._pages >= MAX_PAGES:
            return f"only the first {count(self._pages, 'page')} were loaded"
        seconds = time.monotonic() - self._started
        return f"loading it took longer than {MAX_SECONDS / 60:g} minutes" if seconds > MAX_SECONDS else ""


def _identity(item: Any) -> tuple[bool, int]:
    """Whether an item is a resource with an `object` and an `id`, and a hash of these, or else of its content."""
    if isinstance(item, BaseModel):
        named: tuple[Any, Any] = getattr(item, "object", None), getattr(item, "id", None)
    else:
        fields = cast("dict[str, Any]", item) if isinstance(item, dict) else {}
        named = fields.get("object"), fields.get("id")
    if all(isinstance(name, str) for name in named):
        return True, hash(named)
    return False, hash(item.model_dump_json() if isinstance(item, BaseModel) else json.dumps(item, sort_keys=True))


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
            paging = {"limit": FIRST if cursor is None else REST, **({} if cursor is None else {"page": cursor})}
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
    """What is known after a page was cached: the number of rows so far, and what the service said of the rest."""

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
