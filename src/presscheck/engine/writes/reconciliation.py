"""Finds out whether a write of unknown delivery arrived, by looking for the item that it would have created.

It counts as not arrived only if two searches after the time-out plus a settle time find nothing, because a delayed
request may still arrive until then.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from presscheck.api.operation import Operation
from presscheck.client.responses import read_answer
from presscheck.engine.reads.pagination import ListingGuard
from presscheck.engine.reads.scheduler import RequestScheduler
from presscheck.engine.writes.effects import Effects
from presscheck.store.outbox import Row

SETTLE = 2.0
"""Seconds to wait before looking for a write of unknown delivery, and between two searches."""
TIMEOUT = 30.0
"""Seconds after which the client stops waiting for a response."""


class DeliveryReconciler:
    """Looks for the results of writes in the service, bypassing the cache.

    Args:
        scheduler: the connection.
        settle: seconds to wait before looking; None for the default.
    """

    def __init__(self, scheduler: RequestScheduler, settle: float | None = None) -> None:
        self._scheduler, self.settle, self.timeout = scheduler, SETTLE if settle is None else settle, TIMEOUT

    async def existing(self, effects: Effects, call: Operation[Any], author: str) -> tuple[Any, ...]:
        """All items that are now in the listings that would contain the result of a write.

        Raises:
            RequestError: a listing cannot be read.
        """
        found: list[Any] = []
        for listing in effects.listings(call, author) if effects.listings else ():
            page, guard = await self.read(listing), ListingGuard(listing)
            found += guard.new_items(page.items)
            while page.next is not None and not guard.problem(page.next.page):
                page = await self.read(listing.model_copy(update={"page": page.next.page}))
                found += guard.new_items(page.items)
        return tuple(found)

    async def find(self, row: Row, effects: Effects, call: Operation[Any], author: str) -> Any | None:
        """Search once for the result of a write: an item that did not exist before, with the same author and text.

        Raises:
            RequestError: a listing cannot be read.
        """
        for item in await self.existing(effects, call, author):
            if item.id not in (row.existing_ids or ()) and effects.is_result and effects.is_result(item, call, author):
                return item
        return None

    async def result_of(self, row: Row, effects: Effects, call: Operation[Any], author: str) -> Any | None:
        """The item that a write created; None if it certainly did not arrive, or if it can be repeated anyway.

        Raises:
            RequestError: a listing cannot be read.
        """
        is_searched = effects.reconcile == "look"
        if is_searched and (item := await self.find(row, effects, call, author)):
            return item
        await asyncio.sleep(self.until_certain(row))
        for pause in (0, self.settle) if is_searched else ():
            await asyncio.sleep(pause)
            if item := await self.find(row, effects, call, author):
                return item
        return None

    def until_certain(self, row: Row) -> float:
        """Seconds until a request that was sent last can no longer arrive; not more if the clock was set back."""
        now = time.time()
        sent_at = now if row.sent_at is None else min(row.sent_at, now)
        return max(0.0, sent_at + self.timeout + self.settle - now)

    async def read(self, call: Operation[Any]) -> Any:
        """The response of the service, not cached."""
        return read_answer(call, await self._scheduler.service.fetch(call))
