"""Fetches listings page by page into the store; the first page is short, to be shown soon."""

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
"""Items of the first page, and of those after it."""


async def fetch_all_pages(
    reads: ServiceReads, listing: Operation[Any], priority: Priority
) -> AsyncIterator[Result[int]]:
    """Bring a listing in; yields how many items there are after each page.

    Stops where a cursor comes a second time. What is wrong is the error of what it yields last.
    """
    start, cursor, cursors, is_news = 0, None, set[str](), False
    try:
        while True:
            asked = {"limit": FIRST if cursor is None else REST, **({} if cursor is None else {"page": cursor})}
            call = listing.model_copy(update=asked)
            body = await reads.fetch(call, priority)
            start, total, cursor, changed = await reads.stored.in_store(
                partial(_keep, call, listing.key(), body, start)
            )
            is_news = is_news or changed
            priority = max(priority, PREFETCH)  # the eye has what it sees
            is_last = cursor is None or cursor in cursors
            yield Result(start if is_last else total, "fresh" if is_news or not is_last else "unchanged", 0.0)
            if is_last:
                return
            cursors.add(cursor or "")
    except PresscheckError as error:
        found = reads.stored.window(listing, 0, 0)
        state = "offline" if isinstance(error, NetworkError) else "failed"
        yield Result(found.total, state, found.age or 0.0, error)


def _keep(call: Operation[Any], key: str, body: bytes, start: int, cache: Cache) -> tuple[int, int, str | None, bool]:
    """Keep one page: where the next begins, the total, its cursor, whether it was news."""
    try:
        page: dict[str, Any] = json.loads(body)
        items: list[Any] = page["items"]
        total: int | None = page.get("count")
        following: dict[str, str] = page.get("next") or {}
        cursor = following.get("page")
    except (ValueError, KeyError, TypeError, AttributeError):
        raise MalformedAnswer("Unexpected response: not a list", request=str(call)) from None
    end = start + len(items)
    is_news = cache.keep_page(key, items, start, time.time(), total=total or end, last=cursor is None)
    return end, max(total or 0, end), cursor, is_news
