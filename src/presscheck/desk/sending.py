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
from presscheck.desk.asking import Asking
from presscheck.desk.effects import Effects, effects_of
from presscheck.errors import (
    Ambiguous,
    MalformedAnswer,
    NetworkError,
    NotSignedIn,
    PresscheckError,
    ServiceError,
    ServiceFailed,
    TooManyRequests,
)
from presscheck.store.outbox import Outbox, Row

SETTLE = 2.0
"""Seconds to wait before what nobody knows about is looked for, and between the two looks."""
PATIENCE = 5.0
"""Seconds until a write is tried again that the service could not take just now."""
LOOK_AGAIN = 1.0
"""Seconds between two looks into the outbox, for what another window wrote."""

Landed = Callable[[Row, Operation[Any], bytes], Awaitable[None]]
Refused = Callable[[Row, PresscheckError], None]


class Sending:
    """Sends what waits, one row per scope at a time."""

    def __init__(
        self, outbox: Outbox, asking: Asking, *, landed: Landed, refused: Refused, settle: float = SETTLE
    ) -> None:
        self._outbox, self._asking, self._settle = outbox, asking, settle
        self._landed, self._refused = landed, refused
        self._wake = asyncio.Event()
        self._busy: dict[str, asyncio.Task[None]] = {}
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
            if row.scope in seen:
                continue
            seen.add(row.scope)
            if row.state not in ("waiting", "sending") or row.scope in self._busy:
                continue
            if row.not_before > now:
                pause = min(pause, row.not_before - now)
                continue
            task = asyncio.create_task(self._send(row))
            self._busy[row.scope] = task
            task.add_done_callback(lambda _, scope=row.scope: self._ended(scope))
        return max(pause, 0.01)

    def _ended(self, scope: str) -> None:
        self._busy.pop(scope, None)
        self._wake.set()

    async def _send(self, row: Row) -> None:
        try:
            call = revive(row.name, row.given)
        except PresscheckError as error:
            self._outbox.refuse(row.id, error.message, state="parked")
            self._refused(row, error)
            return
        effects = effects_of(call)
        try:
            if row.state == "sending" and effects.settle == "look" and await self._is_there(row, call, effects):
                await self._done(row, call, b"")
                return
            if effects.settle == "look" and row.noted is None:
                self._outbox.note(row.id, tuple(item.id for item in await self._items(effects, call)))
            self._outbox.sending(row.id)
            body = await self._asking.service.fetch(call)
            await self._done(row, call, body)
        except PresscheckError as error:
            self._failed(row, error)

    async def _done(self, row: Row, call: Operation[Any], body: bytes) -> None:
        await self._landed(row, call, body)

    def _failed(self, row: Row, error: PresscheckError) -> None:
        now = time.time()
        if isinstance(error, Ambiguous | ServiceFailed | MalformedAnswer):
            self._outbox.again(row.id, now + self._settle, error.message, state="sending")
            if isinstance(error, NetworkError):
                self._asking.lost(error)
        elif isinstance(error, NetworkError):
            state = self._outbox.row(row.id)
            was_sent = row.state == "sending" and state is not None
            self._outbox.again(row.id, now, None, state="sending" if was_sent else "waiting")
            self._asking.lost(error)
        elif isinstance(error, TooManyRequests | NotSignedIn):
            pause = error.retry_after or PATIENCE
            self._outbox.again(row.id, now + pause, error.message, state=row.state)
        elif isinstance(error, ServiceError):
            self._outbox.refuse(row.id, error.message)
            self._refused(row, error)
        else:
            self._outbox.again(row.id, now + PATIENCE, error.message, state=row.state)

    async def _is_there(self, row: Row, call: Operation[Any], effects: Effects) -> bool:
        """Whether the write arrived after all: looked for twice, a settle time apart."""
        for look in (1, 2):
            if look == 2:
                await asyncio.sleep(self._settle)
            for item in await self._items(effects, call):
                is_new = item.id not in (row.noted or ())
                if is_new and effects.found and effects.found(item, call):
                    return True
        return False

    async def _items(self, effects: Effects, call: Operation[Any]) -> tuple[Any, ...]:
        """What is there now, asked past the cache."""
        if effects.listing is None:
            return ()
        listing = effects.listing(call)
        answer = listing.read_answer(await self._asking.service.fetch(listing))
        return answer.items
