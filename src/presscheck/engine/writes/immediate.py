"""Sends writes that cannot be queued, immediately and from the instance that made them.

Each is in the outbox while it is being sent, so that after a crash the next start can find out whether it arrived.
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
    """Sends single writes immediately.

    Args:
        outbox: stores each write while it is being sent.
        scheduler: the connection.
        reconciler: finds out whether a write of unknown delivery arrived.
        user_id: returns the id of the signed-in user; empty if it cannot be known.
    """

    def __init__(
        self,
        outbox: Outbox,
        scheduler: RequestScheduler,
        reconciler: DeliveryReconciler,
        user_id: Callable[[], Awaitable[str]],
    ) -> None:
        self._outbox, self._scheduler, self._reconciler, self._user_id = outbox, scheduler, reconciler, user_id

    async def send(self, number: int, call: Operation[Any], effects: Effects) -> tuple[bytes, Any]:
        """Send a write; returns the response body, or the created item if the response was lost and the item found.

        Raises:
            PresscheckError: the write failed; one of unknown delivery stays in the outbox for the user to decide.
        """
        try:
            if effects.reconcile == "look":
                items = await self._reconciler.existing(effects, call, await self._user_id())
                self._outbox.note_existing(number, tuple(item.id for item in items))
        except PresscheckError as error:  # the write itself was not sent
            self._outbox.drop(number)
            self._report(error)
            raise
        try:
            return await self._scheduler.service.fetch(call), None
        except (Ambiguous, ServiceFailed) as error:
            return b"", await self._check_result(number, call, effects, error)
        except PresscheckError as error:
            self._outbox.drop(number)
            self._report(error)
            raise

    def _report(self, error: PresscheckError) -> None:
        if isinstance(error, NetworkError):
            self._scheduler.go_offline(error)

    async def _check_result(
        self, number: int, call: Operation[Any], effects: Effects, error: Ambiguous | ServiceFailed
    ) -> Any:
        """The created item, if it is found; else raises the error and, if known, whether the write was done anyway."""
        is_done, item = None, None
        try:
            if effects.state:
                is_done = effects.state[1](await self._reconciler.read(effects.state[0](call)))
            elif effects.reconcile == "look" and (row := self._outbox.row(number)):
                await asyncio.sleep(self._reconciler.settle)
                item = await self._reconciler.find(row, effects, call, await self._user_id())
        except PresscheckError as second:
            error.add_note(f"could not check the result: {second}")  # the first error is more useful
        if is_done is not None:
            self._outbox.drop(number)
            result = "the change was made anyway" if is_done else "the change was not made; try again"
            raise Ambiguous(f"{error.message}; {result}", request=error.request)
        if item:
            return item
        self._outbox.refuse(number, error.message)
        raise error
