"""The writing half of the worker: drains the outbox, in order within a scope and in parallel across scopes.

A write that was on its way when the answer, the connection or this process was lost is never sent again before it was
looked for; what the service refuses stops its own scope and keeps its text.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from typing import Any

from presscheck.api.operation import Operation, revive
from presscheck.engine.reads.scheduler import RequestScheduler
from presscheck.engine.writes.effects import Effects, effects_of
from presscheck.engine.writes.reconciliation import DeliveryReconciler
from presscheck.errors import (
    Ambiguous,
    MalformedAnswer,
    NetworkError,
    NotSignedIn,
    PresscheckError,
    ServiceError,
    ServiceFailed,
    StoreError,
    TooManyRequests,
)
from presscheck.store.outbox import Outbox, Row

PATIENCE = 5.0
"""Seconds until a scope is tried again where our own disk, or a mistake of ours, was in the way."""
LONGEST_PAUSE = 60.0
"""Seconds; pauses before what the service cannot take just now grow up to this."""
LOOK_AGAIN = 1.0
"""Seconds between two looks into the outbox, for what another window wrote."""
LIVES = 240.0
"""Seconds after which a write that its own window was to send is left over from one that ended."""
FOREIGN = "Written by another user, not sent in your name: sign in as that user, or discard it"
LEFT_OVER = "presscheck ended while sending this, so it may be saved or not: check, then send it again or discard it"

Landed = Callable[[Row, Operation[Any], bytes, Any], Awaitable[None]]
"""(the row, its call, the body of the answer, or what was found instead of one)"""
Refused = Callable[[Row, PresscheckError], None]


class OutboxWorker:
    """Sends what waits, one row per scope at a time.

    Args:
        outbox: what waits.
        asking: the connection.
        settling: finds out what became of a write.
        who: the id of the signed-in user.
        landed: told what was sent, before it leaves the outbox.
        refused: told what the service refused.
        elsewhere: told that another window changed the outbox.
    """

    def __init__(
        self,
        outbox: Outbox,
        asking: RequestScheduler,
        settling: DeliveryReconciler,
        *,
        who: Callable[[], Awaitable[str]],
        landed: Landed,
        refused: Refused,
        elsewhere: Callable[[], None],
    ) -> None:
        self._outbox, self._asking, self._settling = outbox, asking, settling
        self._who, self._landed, self._refused, self._elsewhere = who, landed, refused, elsewhere
        self._me: str | None = None
        self._wake = asyncio.Event()
        self._busy: dict[str, asyncio.Task[None]] = {}
        self._resting: dict[str, float] = {}
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin."""
        self._task = asyncio.create_task(self._drain())

    def wake(self) -> None:
        """Something was written, or the service is back."""
        self._wake.set()

    async def close(self) -> None:
        """Stop at once; what is on its way is settled at the next start."""
        tasks = [*self._busy.values(), *([self._task] if self._task else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _drain(self) -> None:
        while True:
            pause = LOOK_AGAIN
            with contextlib.suppress(StoreError):  # a disk that is full now may have room later
                if self._outbox.changed_elsewhere():
                    self._elsewhere()
                if not self._asking.offline and self._outbox.may_send():
                    pause = self._begin_what_is_due()
            self._wake.clear()
            # not wait_for: it can swallow the cancellation that ends us
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._wake.wait()

    def _begin_what_is_due(self) -> float:
        """Start the oldest row of each scope that is free; how long until another may be due."""
        pause, seen, now = LOOK_AGAIN, set[str](), time.time()
        for row in self._outbox.rows():
            if row.state == "collected" or row.scope in seen or (self._me and row.author not in (None, self._me)):
                continue
            if row.state == "now" and (row.sent_at or now) + LIVES > now:
                continue
            seen.add(row.scope)
            if row.state not in ("waiting", "sending", "now") or row.scope in self._busy:
                continue
            due = max(row.not_before, self._resting.get(row.scope, 0))
            if now < due < now + 60 * LONGEST_PAUSE:  # beyond that, the clock was set back
                pause = min(pause, due - now)
                continue
            task = asyncio.create_task(self._send(row))
            self._busy[row.scope] = task
            task.add_done_callback(lambda task, scope=row.scope: self._ended(scope, task))
        return max(pause, 0.01)

    def _ended(self, scope: str, task: asyncio.Task[None]) -> None:
        self._busy.pop(scope, None)
        error = None if task.cancelled() else task.exception()
        if error:
            self._resting[scope] = time.time() + PATIENCE
        if error and not isinstance(error, StoreError):
            task.get_loop().call_exception_handler({"message": "a write could not be sent", "exception": error})
        self._wake.set()

    async def _send(self, row: Row) -> None:
        """Raises StoreError: it must be tried again."""
        try:
            call = revive(row.name, row.given)
        except PresscheckError as error:
            self._outbox.refuse(row.id, error.message, state="parked")
            self._refused(row, error)
            return
        try:
            await self._send_as(await self._author(), row, call, effects_of(call))
        except StoreError:
            raise
        except PresscheckError as error:
            self._failed(row, error)

    async def _author(self) -> str:
        self._me = self._me or await self._who()
        return self._me

    async def _send_as(self, me: str, row: Row, call: Operation[Any], effects: Effects) -> None:
        if row.author not in (None, me):
            self._outbox.again(row.id, row.not_before, FOREIGN, state=row.state)
            self._elsewhere()
        elif row.state == "now":
            await self._settle_left_over(me, row, call, effects)
        elif row.state == "sending" and (item := await self._settling.came_of(row, effects, call, me)):
            await self._landed(row, call, b"", item)
        else:
            if effects.settle == "look" and row.state == "waiting":
                self._outbox.note(row.id, tuple(item.id for item in await self._settling.there(effects, call, me)))
            if self._outbox.sending(row.id, time.time()):
                left = self._outbox.row(row.id)
                if left and left.given != row.given:  # its author changed it while we looked at what is there
                    call = revive(left.name, left.given)
                await self._landed(row, call, await self._asking.service.fetch(call), None)

    async def _settle_left_over(self, me: str, row: Row, call: Operation[Any], effects: Effects) -> None:
        """A write that could not wait is not sent by itself later: either it arrived, or its author decides."""
        item = await self._settling.came_of(row, effects, call, me)
        if item is None and effects.wanted:
            state = await self._settling.read(effects.wanted[0](call))
            item = state if effects.wanted[1](state) else None
        if item is not None:
            await self._landed(row, call, b"", item)
        else:
            self._outbox.refuse(row.id, LEFT_OVER)
            self._elsewhere()

    def _failed(self, row: Row, error: PresscheckError) -> None:
        """Keep it for another attempt, or for its author to decide."""
        now, left = time.time(), self._outbox.row(row.id)
        if left is None:
            return
        state, due = row.state, now + self._pause(left, error)
        if isinstance(error, Ambiguous | ServiceFailed | MalformedAnswer):
            state = left.state  # what failed may have been a look of ours, and the write never have left
        elif isinstance(error, NetworkError):
            due = now
        elif isinstance(error, ServiceError) and not isinstance(error, TooManyRequests | NotSignedIn):
            self._outbox.refuse(row.id, error.message)
            self._refused(row, error)
            return
        is_lost = isinstance(error, NetworkError)
        self._outbox.again(row.id, due, None if is_lost and state == "waiting" else error.message, state=state)
        if isinstance(error, NetworkError):
            self._asking.lost(error)
        self._elsewhere()

    def _pause(self, row: Row, error: PresscheckError) -> float:
        asked = getattr(error, "retry_after", None)
        return asked or min(LONGEST_PAUSE, self._settling.settle * 2 ** min(max(row.attempts - 1, 0), 8))
