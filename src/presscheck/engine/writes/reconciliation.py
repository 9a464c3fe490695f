"""Finds out whether a write of unknown delivery arrived: looks for the item that it would have created.

Absent means absent only when the time-out and a settle time have passed since it left, and it was looked for twice:
what delays a request may still deliver it.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from presscheck.api.operation import Operation
from presscheck.engine.reads.scheduler import RequestScheduler
from presscheck.engine.writes.effects import Effects
from presscheck.store.outbox import Row

SETTLE = 2.0
"""Seconds to wait before looking for a write of unknown delivery, and between two attempts."""
TAKES = 30.0
"""Seconds after which the client waits no longer for an answer."""


class DeliveryReconciler:
    """Looks for a written item on the service, without the cache."""

    def __init__(self, asking: RequestScheduler, settle: float | None = None) -> None:
        self._asking, self.settle, self.takes = asking, SETTLE if settle is None else settle, TAKES

    async def there(self, effects: Effects, call: Operation[Any], author: str) -> tuple[Any, ...]:
        """All that is there now, where such a write would be found.

        Raises:
            RequestError: the service does not say.
        """
        found: list[Any] = []
        for listing in effects.listing(call, author) if effects.listing else ():
            page, seen = await self.read(listing), set[str]()
            found += page.items
            while page.next is not None and page.next.page not in seen:
                seen.add(page.next.page)
                page = await self.read(listing.model_copy(update={"page": page.next.page}))
                found += page.items
        return tuple(found)

    async def found(self, row: Row, effects: Effects, call: Operation[Any], author: str) -> Any | None:
        """What the write came to, by one look: an item that was not there before, by this person and with this text.

        Raises:
            RequestError: the service does not say.
        """
        for item in await self.there(effects, call, author):
            if item.id not in (row.noted or ()) and effects.found and effects.found(item, call, author):
                return item
        return None

    async def came_of(self, row: Row, effects: Effects, call: Operation[Any], author: str) -> Any | None:
        """What the write came to; None when it is certain that it did not arrive, or need not be known.

        Raises:
            RequestError: the service does not say.
        """
        looks = effects.settle == "look"
        if looks and (item := await self.found(row, effects, call, author)):
            return item
        await asyncio.sleep(self.until_certain(row))
        for pause in (0, self.settle) if looks else ():
            await asyncio.sleep(pause)
            if item := await self.found(row, effects, call, author):
                return item
        return None

    def until_certain(self, row: Row) -> float:
        """Seconds until nothing can deliver any more what left last; a clock that was set back makes them no more."""
        now = time.time()
        left_at = now if row.sent_at is None else min(row.sent_at, now)
        return max(0.0, left_at + self.takes + self.settle - now)

    async def read(self, call: Operation[Any]) -> Any:
        """The service's own answer."""
        return call.read_answer(await self._asking.service.fetch(call))
