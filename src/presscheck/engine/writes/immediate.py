"""Writes that may not wait: sent by the window that wrote them, now; on disk while they are on their way.

So what nobody knows of after a crash is not forgotten: the next start settles it, or asks its author.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from presscheck.api.operation import Operation
from presscheck.engine.reads.scheduler import RequestScheduler
from presscheck.engine.writes.effects import Effects
from presscheck.engine.writes.reconciliation import DeliveryReconciler
from presscheck.errors import Ambiguous, NetworkError, PresscheckError, ServiceFailed
from presscheck.store.outbox import Outbox


class ImmediateSender:
    """Sends one write at once.

    Args:
        outbox: where it stands meanwhile.
        asking: the connection.
        settling: finds out what became of it.
        who: the id of the signed-in user.
    """

    def __init__(
        self, outbox: Outbox, asking: RequestScheduler, settling: DeliveryReconciler, who: Callable[[], Awaitable[str]]
    ) -> None:
        self._outbox, self._asking, self._settling, self._who = outbox, asking, settling, who

    async def send(self, number: int, call: Operation[Any], effects: Effects) -> tuple[bytes, Any]:
        """Send it; the body of the answer, or what was found instead of one.

        Raises:
            PresscheckError: what came instead; what nobody knows of is kept in the outbox for its author to decide.
        """
        try:
            if effects.settle == "look":
                there = await self._settling.there(effects, call, await self._who())
                self._outbox.note(number, tuple(item.id for item in there))
        except PresscheckError as error:  # it never left
            self._outbox.drop(number)
            self._take_note(error)
            raise
        try:
            return await self._asking.service.fetch(call), None
        except (Ambiguous, ServiceFailed) as error:
            return b"", await self._what_became(number, call, effects, error)
        except PresscheckError as error:
            self._outbox.drop(number)
            self._take_note(error)
            raise

    def _take_note(self, error: PresscheckError) -> None:
        if isinstance(error, NetworkError):
            self._asking.lost(error)

    async def _what_became(
        self, number: int, call: Operation[Any], effects: Effects, error: Ambiguous | ServiceFailed
    ) -> Any:
        """What was found; else both facts for the person: what went wrong, and whether it happened all the same."""
        is_so, item = None, None
        try:
            if effects.wanted:
                is_so = effects.wanted[1](await self._settling.read(effects.wanted[0](call)))
            elif effects.settle == "look" and (row := self._outbox.row(number)):
                await asyncio.sleep(self._settling.settle)
                item = await self._settling.found(row, effects, call, await self._who())
        except PresscheckError as second:
            error.add_note(f"could not check the result: {second}")  # what went wrong at first says more
        if is_so is not None:
            self._outbox.drop(number)
            said = "the change was made anyway" if is_so else "the change was not made; try again"
            raise Ambiguous(f"{error.message}; {said}", request=error.request)
        if item:
            return item
        self._outbox.refuse(number, error.message)
        raise error
