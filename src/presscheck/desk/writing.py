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
from presscheck.errors import NotNow, PresscheckError, ReadOnly

if TYPE_CHECKING:
    from presscheck.desk.asking import Asking
    from presscheck.desk.desk import Desk
    from presscheck.desk.effects import Effects
    from presscheck.desk.sending import Sending
    from presscheck.desk.settling import Settling
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
        self._settling: Settling
        self._outcomes: dict[int, asyncio.Future[Any]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._waiting: tuple[Waiting, ...] | None = None

    def start(self) -> None:
        """Begin to send, and find out who we are."""
        from presscheck.desk.sending import Sending
        from presscheck.desk.settling import Settling

        self._settling = Settling(self._asking, self._settle)
        self._sending = Sending(
            self._outbox,
            self._asking,
            self._settling,
            who=self._who,
            landed=self._landed,
            refused=self._refused,
            elsewhere=self._changed_elsewhere,
        )
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

    def write(self, call: Operation[T], hold: float, *, collect: bool = False) -> Ticket[T]:
        """Take a write; see `Desk.write`."""
        from presscheck.desk.effects import effects_of

        if self.read_only:
            raise ReadOnly("This profile is read-only: nothing is written with it")
        effects, outcome = effects_of(call), asyncio.get_running_loop().create_future()
        outcome.add_done_callback(_look_at)
        if not effects.waits and self._asking.offline:
            raise NotNow(f"There is no connection, and this cannot wait: {self._asking.offline}")
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
        return Ticket(number if effects.waits else 0, call, cast("asyncio.Future[T | None]", outcome))

    def waiting(self) -> tuple[Waiting, ...]:
        """Everything that is not sent."""
        if self._waiting is None:
            self._waiting = tuple(_waiting(row) for row in self._outbox.rows() if row.state != "now")
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

    def _author(self) -> str | None:
        """Who writes, as far as is known of this token."""
        known = self._desk.known(GetCurrentUser())
        return known.value.id if known else None

    async def _who(self) -> str:
        return (await self._desk.read(GetCurrentUser())).id

    async def _landed(self, row: Row, call: Operation[Any], body: bytes, item: Any) -> None:
        from presscheck.client.answers import read_answer

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
                self._refused(row, PresscheckError(row.error or "it was refused"))
        self.changed()

    def _refused(self, row: Row, error: PresscheckError) -> None:
        outcome = self._outcomes.pop(row.id, None)
        if outcome and not outcome.done():
            outcome.set_exception(error)
        call = _waiting(row).call
        if call:  # often it is refused because somebody else moved something, which is to be seen then
            _moved(call, self._asking, self._watching)
        self.changed()

    def _settle_outcome(self, number: int, answer: Any) -> None:
        outcome = self._outcomes.pop(number, None)
        if outcome and not outcome.done():
            outcome.set_result(answer)

    async def _take_in(self, call: Operation[Any], body: bytes) -> None:
        """A thing that the answer of a write holds is new everywhere; what it changed is asked for again."""
        if body:
            await self._desk.in_store(lambda cache: cache.keep_resource(json.loads(body)))
        _moved(call, self._asking, self._watching)

    async def _send_at_once(
        self, number: int, call: Operation[Any], effects: Effects, outcome: asyncio.Future[Any]
    ) -> None:
        from presscheck.client.answers import read_answer
        from presscheck.desk.at_once import AtOnce

        body = b""
        try:
            sending = AtOnce(self._outbox, self._asking, self._settling, self._who)
            body, item = await sending.send(number, call, effects)
            self._desk.events.did(call)
            answer = read_answer(call, body) if body else item
            self._outbox.landed(number, getattr(answer, "id", None))
            outcome.set_result(answer)
        except PresscheckError as error:
            outcome.set_exception(error)
        finally:
            await self._take_in(call, body)
            self.changed()


def _waiting(row: Row) -> Waiting:
    try:
        call = revive(row.name, row.given)
    except PresscheckError:
        call = None
    return Waiting(row.id, call, row.name, row.state, row.error, row.created_at)


def _moved(call: Operation[Any], asking: Asking, watching: Watching) -> None:
    """Ask again for all that a write changes."""
    from presscheck.desk.effects import effects_of

    patterns = effects_of(call).stale(call)
    asking.outdate(patterns)
    watching.stale_paths(patterns)


def _look_at(outcome: asyncio.Future[Any]) -> None:
    """An error that nobody waits for is shown in the outbox, and is no crash."""
    if not outcome.cancelled():
        outcome.exception()
