"""What happens to a write: into the outbox first, laid over what is read, sent, and its fate told to its author."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, TypeVar, cast

from presscheck.api.operation import Operation, revive
from presscheck.api.users import GetCurrentUser, User
from presscheck.desk.seen import Ticket, Waiting
from presscheck.errors import Ambiguous, NetworkError, NotNow, PresscheckError, ReadOnly, ServiceFailed

if TYPE_CHECKING:
    from presscheck.desk.asking import Asking
    from presscheck.desk.desk import Desk
    from presscheck.desk.effects import Effects
    from presscheck.desk.sending import Sending
    from presscheck.desk.watching import Watching
    from presscheck.store.outbox import Outbox, Row

T = TypeVar("T")
ME = "me"
"""Under this name the signed-in user is remembered."""


class Writing:
    """The writes of one desk."""

    def __init__(
        self,
        desk: Desk,
        outbox: Outbox,
        asking: Asking,
        watching: Watching,
        *,
        read_only: bool,
        settle: float | None,
    ) -> None:
        self.read_only = read_only
        self._desk, self._outbox, self._asking, self._watching = desk, outbox, asking, watching
        self._settle = settle
        self._sending: Sending | None = None
        self._outcomes: dict[int, asyncio.Future[Any]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._waiting: tuple[Waiting, ...] | None = None

    def start(self) -> None:
        """Begin to send, and find out who we are."""
        from presscheck.desk.sending import SETTLE, Sending

        settle = SETTLE if self._settle is None else self._settle
        self._sending = Sending(self._outbox, self._asking, landed=self._landed, refused=self._refused, settle=settle)
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
        if self._sending:
            await self._sending.close()

    def background(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run something to its end that nobody waits for."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def wake(self) -> None:
        """The service is back."""
        if self._sending:
            self._sending.wake()

    def write(self, call: Operation[T], hold: float) -> Ticket[T]:
        """Take a write; see `Desk.write`."""
        from presscheck.desk.effects import effects_of

        if self.read_only:
            raise ReadOnly("This profile is read-only: nothing is written with it")
        effects, outcome = effects_of(call), asyncio.get_running_loop().create_future()
        outcome.add_done_callback(_look_at)
        number = 0
        if effects.waits:
            number = self._outbox.put(call.stored_name(), call.given(), effects.scope(call), time.time(), hold=hold)
            self._outcomes[number] = outcome
            self.changed()
        elif self._asking.offline:
            raise NotNow(f"There is no connection, and this cannot wait: {self._asking.offline}")
        else:
            self.background(self._send_at_once(call, effects, outcome))
        return Ticket(number, call, cast("asyncio.Future[T | None]", outcome))

    def waiting(self) -> tuple[Waiting, ...]:
        """Everything that is not sent."""
        if self._waiting is None:
            self._waiting = tuple(_waiting(row) for row in self._outbox.rows())
        return self._waiting

    def unsend(self, number: int) -> Operation[Any] | None:
        """Take a write back that has not left."""
        row = self._outbox.row(number)
        if row is None or not self._outbox.drop(number, unless_sending=True):
            return None
        self.changed()
        return _waiting(row).call

    def changed(self) -> None:
        """The outbox changed: everything shows it, and the sender looks."""
        self._waiting = None
        self._watching.redraw()
        self._desk.world.tell()
        self.wake()

    def lay_over(self, read: Operation[Any], answer: Any) -> Any:
        """An answer with what waits laid over it."""
        if not self.waiting():
            return answer
        from presscheck.desk.overlays import laid_over

        return laid_over(read, answer, self.waiting(), self.me())

    def me(self) -> User:
        """The signed-in user, as far as known."""
        known = self._outbox.recall(ME)
        return User.model_validate_json(known) if known else User(id="me", display_name="you")

    async def _learn_who_we_are(self) -> None:
        with contextlib.suppress(PresscheckError):
            found = await self._desk.read(GetCurrentUser())
            self._outbox.remember(ME, found.model_dump_json(by_alias=True, exclude_unset=True))

    async def _landed(self, row: Row, call: Operation[Any], body: bytes) -> None:
        answer = await self._take_in(call, body) if body else None
        self._outbox.landed(row.id, getattr(answer, "id", None))
        self._settle_outcome(row.id, answer)
        self._after(call)
        self.changed()

    def _refused(self, row: Row, error: PresscheckError) -> None:
        outcome = self._outcomes.pop(row.id, None)
        if outcome and not outcome.done():
            outcome.set_exception(error)
        self.changed()

    def _settle_outcome(self, number: int, answer: Any) -> None:
        outcome = self._outcomes.pop(number, None)
        if outcome and not outcome.done():
            outcome.set_result(answer)

    async def _take_in(self, call: Operation[Any], body: bytes) -> Any:
        """Read the answer of a write; a thing that it holds is new everywhere."""
        from presscheck.client.answers import read_answer

        answer = read_answer(call, body)
        await self._desk.in_store(lambda cache: cache.keep_resource(json.loads(body)))
        return answer

    def _after(self, call: Operation[Any]) -> None:
        from presscheck.desk.effects import effects_of

        patterns = effects_of(call).stale(call)
        self._asking.outdate(patterns)
        self._watching.stale_paths(patterns)

    async def _send_at_once(self, call: Operation[Any], effects: Effects, outcome: asyncio.Future[Any]) -> None:
        try:
            body = await self._asking.service.fetch(call)
            self._desk.events.did(call)
            outcome.set_result(await self._take_in(call, body) if body else None)
        except (Ambiguous, ServiceFailed) as error:
            outcome.set_exception(await self._what_became(call, effects, error))
        except NetworkError as error:
            self._asking.lost(error)
            outcome.set_exception(error)
        except PresscheckError as error:
            outcome.set_exception(error)
        finally:
            self._after(call)

    async def _what_became(
        self, call: Operation[Any], effects: Effects, error: Ambiguous | ServiceFailed
    ) -> PresscheckError:
        """Both facts for the person: what went wrong, and whether it happened all the same."""
        if effects.wanted is None:
            return error
        read, happened = effects.wanted[0](call), effects.wanted[1]
        try:
            found = read.read_answer(await self._asking.service.fetch(read))
        except PresscheckError:
            return error
        said = "it has happened all the same" if happened(found) else "it did not happen; try again"
        return Ambiguous(f"{error.message}; {said}", request=error.request)


def _waiting(row: Row) -> Waiting:
    try:
        call = revive(row.name, row.given)
    except PresscheckError:
        call = None
    return Waiting(row.id, call, row.name, row.state, row.error, row.created_at)


def _look_at(outcome: asyncio.Future[Any]) -> None:
    """An error that nobody waits for is shown in the outbox, and is no crash."""
    if not outcome.cancelled():
        outcome.exception()
