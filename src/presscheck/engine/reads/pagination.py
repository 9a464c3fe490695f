"""Fetches listings page by page into the cache; the first page is small, so that it can be shown soon."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

from presscheck.api.operation import Operation
from presscheck.client.request_context import Priority
from presscheck.engine.reads.scheduler import PREFETCH
from presscheck.engine.reads.service_reads import ServiceReads
from presscheck.engine.results import Result
from presscheck.errors import MalformedAnswer, NetworkError, PresscheckError
from presscheck.store.cache import Cache

FIRST, REST = 100, 1000
"""Page sizes: of the first page, and of all others."""


async def fetch_all_pages(
    reads: ServiceReads, listing: Operation[Any], priority: Priority
) -> AsyncIterator[Result[int]]:
    """Fetch all pages of a listing into the cache; yields the number of items after each page.

    Stops if the service repeats a cursor. An error is not raised: it is in the last result.
    """
    start, cursor, cursors, is_changed = 0, None, set[str](), False
    try:
        while True:
            paging = {"limit": FIRST if cursor is None else REST, **({} if cursor is None else {"page": cursor})}
            call = listing.model_copy(update=paging)
            body = await reads.fetch(call, priority)
            start, total, cursor, changed = await reads.stored.in_store(
                partial(_store_page, call, listing.key(), body, start)
            )
            is_changed = is_changed or changed
            priority = max(priority, PREFETCH)  # the visible rows are on the first page
            is_last = cursor is None or cursor in cursors
            yield Result(start if is_last else total, "fresh" if is_changed or not is_last else "unchanged", 0.0)
            if is_last:
                return
            cursors.add(cursor or "")
    except PresscheckError as error:
        window = reads.stored.window(listing, 0, 0)
        state = "offline" if isinstance(error, NetworkError) else "failed"
        yield Result(window.total, state, window.age or 0.0, error)


def _store_page(
    call: Operation[Any], key: str, body: bytes, start: int, cache: Cache
) -> tuple[int, int, str | None, bool]:
    """Cache one page; returns the start of the next page, the total, the next cursor and whether anything changed."""
    try:
        page: dict[str, Any] = json.loads(body)
        items: list[Any] = page["items"]
        total: int | None = page.get("count")
        next_page: dict[str, str] = page.get("next") or {}
        cursor = next_page.get("page")
    except (ValueError, KeyError, TypeError, AttributeError):
        raise MalformedAnswer("Unexpected response: not a list", request=str(call)) from None
    end = start + len(items)
    is_changed = cache.keep_page(key, items, start, time.time(), total=total or end, last=cursor is None)
    return end, max(total or 0, end), cursor, is_changed
