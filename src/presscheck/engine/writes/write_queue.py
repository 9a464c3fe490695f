"""What happens to a write: into the outbox first, applied to what is read, sent, and its fate told to its author."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar, cast

from presscheck.api.operation import Operation
from presscheck.api.users import GetCurrentUser
from presscheck.client.responses import read_answer
from presscheck.engine.path_patterns import beneath
from presscheck.engine.reads.scheduler import RequestScheduler
from presscheck.engine.reads.service_reads import ServiceReads
from presscheck.engine.reads.subscriptions import Subscriptions
from presscheck.engine.results import PendingWrite
from presscheck.engine.signed_in_user import SignedInUser
from presscheck.engine.writes.effects import Effects, effects_of
from presscheck.engine.writes.immediate import ImmediateSender
from presscheck.engine.writes.outbox_worker import OutboxWorker
from presscheck.engine.writes.pending_writes import PendingWrites, pending_entry
from presscheck.engine.writes.reconciliation import DeliveryReconciler
from presscheck.errors import NotNow, PresscheckError, ReadOnly
from presscheck.store.outbox import Outbox, Row

T = TypeVar("T")


class WriteQueue:
    """The writes of one engine.

    Args:
        outbox: where they stand until they are sent.
        pending: the same as calls.
        asking: the connection.
        watching: the open watches; those are woken that a write touches.
        reads: asks the service who we are.
        user: the signed-in user.
        read_only: refuse every write.
        settle: seconds before a write of unknown fate is looked for.
        changed: called after each change of the outbox.
        sent: told each call that was sent at once.
    """

    def __init__(
        self,
        outbox: Outbox,
        pending: PendingWrites,
        asking: RequestScheduler,
        watching: Subscriptions,
        reads: ServiceReads,
        user: SignedInUser,
        *,
        read_only: bool,
        settle: float | None,
        changed: Callable[[], None],
        sent: Callable[[Operation[Any]], None],
    ) -> None:
        self.read_only = read_only
        self._outbox, self._pending, self._user = outbox, pending, user
        self._asking, self._watching, self._reads = asking, watching, reads
        self._on_change, self._on_sent = changed, sent
        self._outcomes: dict[int, asyncio.Future[Any]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self.settling = DeliveryReconciler(asking, settle)
        self._at_once = ImmediateSender(outbox, asking, self.settling, self._who)
        self._sending = OutboxWorker(
            outbox,
            asking,
            self.settling,
            who=self._who,
            landed=self._landed,
            refused=self._refused,
            elsewhere=self._changed_elsewhere,
        )

    def start(self) -> None:
        """Begin to send, and find out who we are."""
        if not self.read_only:  # what waits from before it became so stays where it is
            self._sending.start()
        self.background(self._learn_who_we_are())

    async def close(self) -> None:
        """Stop at once."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for outcome in self._outcomes.values():
            outcome.cancel()
        await self._sending.close()

    def background(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run something to its end that nobody waits for."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def wake(self) -> None:
        """The service is back."""
        self._sending.wake()

    def write(self, call: Operation[T], hold: float, *, collect: bool = False) -> PendingWrite[T]:
        """Take a write; see `Engine.write`."""
        if self.read_only:
            raise ReadOnly("This profile is read-only: changes are not allowed")
        effects, outcome = effects_of(call), asyncio.get_running_loop().create_future()
        outcome.add_done_callback(_look_at)
        if not effects.waits and self._asking.offline:
            raise NotNow(f"You are offline and this action cannot be queued: {self._asking.offline}")
        now, scope = time.time(), effects.scope(call)
        scope = scope if effects.waits else f"{scope} {now}"  # nothing waits for it, and it for nothing
        state = "collected" if collect else "waiting"
        number = self._outbox.put(
            call.stored_name(),
            call.given(),
            scope,
            now,
            hold=hold,
            author=self._author(),
            state=state if effects.waits else "now",
        )
        if effects.waits:
            self._outcomes[number] = outcome
            self.changed()
        else:
            self.background(self._send_at_once(number, call, effects, outcome))
        return PendingWrite(number if effects.waits else 0, call, cast("asyncio.Future[T | None]", outcome))

    def changed(self) -> None:
        """The outbox changed: whoever looks at what its entries touch shows it, and the sender looks."""
        calls = self._pending.reload()
        self._watching.news_paths({pattern for call in calls for pattern in effects_of(call).stale(call)})
        self._on_change()
        self.wake()

    async def _learn_who_we_are(self) -> None:
        with contextlib.suppress(PresscheckError):
            self._user.remember(await self._reads.read(GetCurrentUser()))

    def _author(self) -> str | None:
        """Who writes, as far as is known of this token."""
        known = self._reads.stored.known(GetCurrentUser())
        return known.value.id if known else None

    async def _who(self) -> str:
        return (await self._reads.read(GetCurrentUser())).id

    async def _landed(self, row: Row, call: Operation[Any], body: bytes, item: Any) -> None:
        answer = read_answer(call, body) if body else item
        self._outbox.landed(row.id, getattr(answer, "id", None))
        await self._take_in(call, body)
        self._settle_outcome(row.id, answer)
        self.changed()

    def _changed_elsewhere(self) -> None:
        """Another window wrote, sent or decided: whoever waits here is told, and what is shown follows."""
        for number in tuple(self._outcomes):
            row = self._outbox.row(number)
            if row is None:
                self._settle_outcome(number, None)
            elif row.state in ("refused", "parked"):
                self._refused(row, PresscheckError(row.error or "The request failed"))
        self._user.forget()
        self.changed()

    def _refused(self, row: Row, error: PresscheckError) -> None:
        outcome = self._outcomes.pop(row.id, None)
        if outcome and not outcome.done():
            outcome.set_exception(error)
        call = pending_entry(row).call
        if call:  # often it is refused because somebody else moved something, which is to be seen then
            self._moved(call, *beneath(effects_of(call).scope(call)))
        self.changed()

    def _settle_outcome(self, number: int, answer: Any) -> None:
        outcome = self._outcomes.pop(number, None)
        if outcome and not outcome.done():
            outcome.set_result(answer)

    async def _take_in(self, call: Operation[Any], body: bytes) -> None:
        """A thing that the answer of a write holds is new everywhere; what it changed is asked for again."""
        if body:
            await self._reads.stored.in_store(lambda cache: cache.keep_resource(json.loads(body)))
        self._moved(call)

    def _moved(self, call: Operation[Any], *more: str) -> None:
        """Ask again for all that a write changes, and for what else these patterns name."""
        patterns = (*effects_of(call).stale(call), *more)
        self._asking.outdate(patterns)
        self._watching.stale_paths(patterns)

    async def _send_at_once(
        self, number: int, call: Operation[Any], effects: Effects, outcome: asyncio.Future[Any]
    ) -> None:
        body = b""
        try:
            body, item = await self._at_once.send(number, call, effects)
            self._on_sent(call)
            answer = read_answer(call, body) if body else item
            self._outbox.landed(number, getattr(answer, "id", None))
            outcome.set_result(answer)
        except PresscheckError as error:
            outcome.set_exception(error)
        finally:
            await self._take_in(call, body)
            self.changed()


def _look_at(outcome: asyncio.Future[Any]) -> None:
    """An error that nobody waits for is shown in the outbox, and is no crash."""
    if not outcome.cancelled():
        outcome.exception()
