"""The write queue: stores writes in the outbox, applies them to reads, sends them and reports their results.

Users can undo, retry, edit, release and discard unsent writes.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from presscheck.api.operation import Operation
from presscheck.api.users import GetCurrentUser
from presscheck.client.responses import read_answer, read_json
from presscheck.engine.members import user_id
from presscheck.engine.reads.cached_reads import ServiceReads, StoredReads
from presscheck.engine.reads.scheduler import RequestScheduler
from presscheck.engine.reads.subscriptions import Subscriptions, beneath
from presscheck.engine.writes.delivery import DeliveryReconciler, ImmediateSender, OutboxWorker, UndoGuard
from presscheck.engine.writes.folder_push import PushFolder
from presscheck.engine.writes.pending_writes import PendingWrite, PendingWrites, SignedInUser, pending_entry
from presscheck.errors import Ambiguous, MalformedAnswer, NotNow, NotSupported, PresscheckError, ReadOnly, StoreError
from presscheck.store.outbox import FAILED, PART, Outbox, Row

if TYPE_CHECKING:
    from presscheck.engine.writes.effects import Effects

T = TypeVar("T")
PENDING_EDIT = "An earlier edit of this page is not sent yet: the outbox shows why"
"""The error of a write to a page with a pending edit."""
UNANSWERED = "Discarded before it was known whether it is saved: check"
"""The error of a write that the user discarded after it was sent."""
HAVE_TARGET = frozenset(("changes", "site_id", "team_id", "user_id"))
"""Writes with one of these arguments may have a target; see `target_names.target_names`."""


class WriteQueue:
    """The writes of an engine.

    Args:
        outbox: stores the writes until they are sent.
        pending: the entries of the outbox as calls.
        scheduler: the connection.
        subscriptions: the open subscriptions; a write notifies the subscribers that it affects.
        reads: reads the signed-in user.
        user: the signed-in user.
        read_only: whether to reject every write.
        settle: seconds to wait before checking a write of unknown delivery; None for the default.
        push: sends the push of a folder.
        keep: saves the state of a site before a write changes it, given the write and its number.
        note: called with each write that was sent immediately, its number and the answer, before its callers continue.
        changed: called after each change of the outbox.
        sent: called with each sent write.
    """

    def __init__(
        self,
        outbox: Outbox,
        pending: PendingWrites,
        scheduler: RequestScheduler,
        subscriptions: Subscriptions,
        reads: ServiceReads,
        stored: StoredReads,
        user: SignedInUser,
        *,
        read_only: bool,
        settle: float | None,
        push: Callable[[PushFolder], Awaitable[None]],
        keep: Callable[[Operation[Any], int], Awaitable[None]],
        note: Callable[[Operation[Any], int, Any], None],
        changed: Callable[[], None],
        sent: Callable[[Operation[Any]], None],
    ) -> None:
        self.read_only = read_only
        self._outbox, self._pending, self._user = outbox, pending, user
        self._scheduler, self._subscriptions, self._reads = scheduler, subscriptions, reads
        self._stored = stored
        self._on_change, self._on_sent, self._note = changed, sent, note
        self._tickets: dict[int, PendingWrite[Any]] = {}
        """The unsent writes that this instance queued, by outbox row."""
        self._tasks: set[asyncio.Task[Any]] = set()
        self.reconciler = DeliveryReconciler(scheduler, settle)
        self.guard = UndoGuard(outbox, self.reconciler.read, keep)
        self._immediate = ImmediateSender(outbox, scheduler, self.reconciler, self.guard, self._user_id)
        self._worker = OutboxWorker(
            outbox,
            scheduler,
            self.reconciler,
            self.guard,
            push=push,
            user_id=self._user_id,
            delivered=self._delivered,
            refused=self._refused,
            changed=self._rows_changed,
        )

    def start(self) -> None:
        """Start sending, and read the signed-in user."""
        if not self.read_only:  # writes from before the profile became read-only stay in the outbox
            self._worker.start()
        self.background(self._read_user())

    async def close(self) -> None:
        """Stop immediately. Unsent writes stay in the outbox."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for ticket in self._tickets.values():
            ticket.outcome.cancel()
        await self._worker.close()

    def background(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run a coroutine as a task that `close` cancels."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def wake(self) -> None:
        """Check the outbox for due writes now."""
        self._worker.wake()

    def write(
        self,
        call: Operation[T],
        hold: float,
        *,
        collect: bool = False,
        base: dict[str, Any] | None = None,
        agent: str | None = None,
        is_part: bool = False,
    ) -> PendingWrite[T]:
        """Queue or send a write. See `Engine.write`."""
        must_queue = base is not None or agent is not None
        effects = self._checked_effects(call, must_queue=must_queue, is_part=is_part)
        now, state = time.time(), "collected" if collect else "waiting"
        number = self._outbox.put(
            call.stored_name(),
            call.given(),
            _scope(effects, call, now) + (PART if is_part else ""),
            now,
            hold=hold,
            author=self.author(),
            state=state if effects.queued else "now",
            base=base,
            agent=agent,
            target=None if is_part else self._target(call),
        )
        return self._accepted(number, call, effects)

    def undo(self, undoes: int, calls: Sequence[Operation[Any]]) -> list[PendingWrite[Any]]:
        """Queue or send the writes that undo a sent write, as `write` does.

        Returns an empty list if the write is being undone already.

        Raises:
            ReadOnly: the profile is read-only.
            NotNow: the writes cannot be queued, and the service cannot be reached.
        """
        now, effects = time.time(), [self._checked_effects(call) for call in calls]
        rows = [
            (call.stored_name(), call.given(), _scope(effect, call, now), "waiting" if effect.queued else "now")
            for call, effect in zip(calls, effects, strict=True)
        ]
        undone = self._outbox.ended(undoes)
        former = undone.target if undone else None  # such as a deleted page, which is in no response
        targets = [self._target(call) or former for call in calls]
        numbers = self._outbox.put_undo(undoes, rows, now, self.author(), targets)
        return [self._accepted(*write) for write in zip(numbers, calls, effects, strict=bool(numbers))]

    def _target(self, call: Operation[Any]) -> str | None:
        if not HAVE_TARGET & type(call).model_fields.keys():
            return None
        from presscheck.engine.writes.target_names import target_names  # 3 ms, only for such a write

        return target_names(call, self._stored)

    def _checked_effects(self, call: Operation[Any], *, must_queue: bool = False, is_part: bool = False) -> Effects:
        if self.read_only:
            raise ReadOnly
        effects = _effects_of(call)
        if must_queue:
            effects = replace(effects, queued=True)
        elif not effects.queued and not is_part and self._has_pending_edit(call):
            raise NotNow(PENDING_EDIT)
        if not effects.queued and self._scheduler.offline:
            raise NotNow(f"You are offline and this action cannot be queued: {self._scheduler.offline}")
        return effects

    def _has_pending_edit(self, call: Any) -> bool:
        """Return whether a write replaces the text of a page that has a pending edit.

        Reads return the page with the pending edit, so the text would replace edits of others without a merge.
        """
        changes = getattr(call, "changes", ())
        pages = {change.page for change in changes if change.operation == "update_page" and change.document}
        entries = self._pending.entries() if pages else ()
        waiting: list[Any] = [
            entry.call for entry in entries if entry.has_base and entry.state not in ("refused", "collected")
        ]
        return any(
            edit.change_request_id == call.change_request_id and change.page in pages
            for edit in waiting
            for change in edit.changes
        )

    def _accepted(self, number: int, call: Operation[T], effects: Effects) -> PendingWrite[T]:
        outcome: asyncio.Future[T | None] = asyncio.get_running_loop().create_future()
        outcome.add_done_callback(_retrieve_exception)
        ticket = PendingWrite(number if effects.queued else 0, call, outcome)
        if effects.queued:
            self._tickets[number] = ticket
            self.changed()
        else:
            sending = self.background(self._send_immediately(number, call, effects, outcome))
            sending.add_done_callback(lambda _: outcome.cancel())  # if it was cancelled before there was a result
        return ticket

    def changed(self) -> None:
        """Reload the outbox, notify the subscribers that the changed entries affect, and wake the worker."""
        calls = self._pending.reload()
        self._subscriptions.news_paths({pattern for call in calls for pattern in _effects_of(call).stale(call)})
        self._note_held_up()
        self._on_change()
        self.wake()

    def _note_held_up(self) -> None:
        held_up = self._outbox.held_up() if self._tickets else {}
        for number, ticket in self._tickets.items():
            if number in held_up:
                ticket.held_up.set()
            else:
                ticket.held_up.clear()

    def user_changed(self) -> None:
        """Read the signed-in user again, for the author of new writes."""
        self._worker.forget_user()
        self.background(self._read_user())

    async def _read_user(self) -> None:
        with contextlib.suppress(PresscheckError):
            user = await self._reads.read(GetCurrentUser())
            self._user.remember(user)
            if self._reads.is_online:  # offline, the cached user may be outdated
                self._worker.set_user(user.id)

    def author(self) -> str | None:
        """Return the id of the token's user, or None if it is not cached."""
        known = self._reads.stored.known(GetCurrentUser())
        return known.value.id if known else None

    async def _user_id(self) -> str:
        return await user_id(self._reads)

    async def _delivered(self, row: Row, call: Operation[Any], body: bytes, item: Any) -> None:
        answer = read_answer(call, body) if body else item
        self._on_sent(call)
        identity = getattr(answer, "id", None)
        if row.is_tree_change:
            answer, identity = await self._with_added_page(row, call, answer)
        self._outbox.delivered(row.id, identity, result=_result(call, answer))
        await self._store_result(call, body)
        if row.base is not None:
            await self._read_edited(row, call)
        self._set_outcome(row.id, answer)
        self.changed()

    async def _with_added_page(self, row: Row, call: Any, answer: Any) -> tuple[Any, str | None]:
        """Return the response to a change of the page tree, and the id of the page that it added, if any."""
        from presscheck.engine.writes import tree_merge  # 4 ms, only after a queued change of the page tree

        page = tree_merge.added_page(answer)
        if page is None and (page := await tree_merge.find_added(self.reconciler.read, row, call)):
            answer = tree_merge.added(answer.change_request, page)
        return answer, page

    async def _read_edited(self, row: Row, call: Any) -> None:
        """Read the edited pages again while the edit is still shown as pending, so that the old text never appears."""
        # 40 ms, only after an edit of a page
        from presscheck.api.content import ListChangeRequestPages
        from presscheck.engine.shared_calls import at, changed_page

        pages = [change.page for change in call.changes] if row.is_edit else []
        reads: list[Operation[Any]] = [changed_page(call.space_id, call.change_request_id, page) for page in pages]
        for read in reads or [at(ListChangeRequestPages, call)]:
            with contextlib.suppress(PresscheckError):
                await self._reads.read(read)

    def _rows_changed(self) -> None:
        """Report the results of writes that the worker or another instance finished, and notify subscribers."""
        for number in tuple(self._tickets):
            row = self._outbox.row(number)
            if row is None:
                self._set_outcome(number, None)
            elif row.state in FAILED:
                self._refused(row, PresscheckError(row.error or "The request failed"))
        self._user.forget()
        self.changed()

    def _refused(self, row: Row, error: PresscheckError) -> None:
        ticket = self._tickets.pop(row.id, None)
        if ticket and not ticket.outcome.done():
            ticket.outcome.set_exception(error)
        call = pending_entry(row).call
        if call and isinstance(error, NotSupported):
            self.background(self._reads.note_missing(call, error))
        if call:  # the cause is often a change by another user, so the whole scope is fetched again
            self._invalidate(call, *beneath(_effects_of(call).scope(call)))
        self.changed()

    def _set_outcome(self, number: int, answer: Any) -> None:
        ticket = self._tickets.pop(number, None)
        if ticket and not ticket.outcome.done():
            ticket.outcome.set_result(answer)

    async def _store_result(self, call: Operation[Any], body: bytes) -> None:
        """Store the resource that a write returned, and invalidate the reads that the write changed."""
        if body:
            with contextlib.suppress(MalformedAnswer, Ambiguous):  # the write was sent; its result is fetched again
                resource = read_json(call, body)
                await self._reads.stored.in_store(lambda cache: cache.keep_resource(resource))
        self._invalidate(call)

    def _invalidate(self, call: Operation[Any], *more: str) -> None:
        """Fetch again all reads that a write changes or that match a further pattern."""
        patterns = (*_effects_of(call).stale(call), *more)
        self._scheduler.stop_sharing(patterns)
        self._subscriptions.stale_paths(patterns)

    async def _send_immediately(
        self, number: int, call: Operation[Any], effects: Effects, outcome: asyncio.Future[Any]
    ) -> None:
        body = b""
        try:
            body, item = await self._immediate.send(number, call, effects)
            self._on_sent(call)
            answer = read_answer(call, body) if body else item
            with contextlib.suppress(StoreError):  # it was sent; as after a crash, the worker finds out whether
                self._outbox.delivered(number, getattr(answer, "id", None), result=_result(call, answer))
            # callers that read after the write must not share a response from before the write
            self._scheduler.stop_sharing(effects.stale(call))
            self._note(call, number, answer)
            outcome.set_result(answer)
        except Exception as error:  # callers receive every kind of error
            if isinstance(error, NotSupported):
                self.background(self._reads.note_missing(call, error))
            self._scheduler.stop_sharing(effects.stale(call))
            outcome.set_exception(error)
        finally:
            await self._store_result(call, body)
            self.changed()


def _effects_of(call: Operation[Any]) -> Effects:
    from presscheck.engine.writes.effects import effects_of  # 30 ms, only for a write

    return effects_of(call)


def _scope(effects: Effects, call: Operation[Any], now: float) -> str:
    scope = effects.scope(call)
    return scope if effects.queued else f"{scope} {now}"  # a unique scope, so that the write blocks no others


def _result(call: Operation[Any], answer: Any) -> dict[str, Any] | None:
    from presscheck.engine.writes.inverses import inverse_of  # 57 ms, only for a write

    inverse = inverse_of(call)
    return inverse.result(answer) if inverse else None


def _retrieve_exception(outcome: asyncio.Future[Any]) -> None:
    """Retrieve the exception of a write without callers, so that asyncio does not log it.

    The outbox shows the error.
    """
    if not outcome.cancelled():
        outcome.exception()


class OutboxActions:
    """User actions on entries of the outbox.

    Args:
        outbox: the outbox.
        changed: called after each change.
    """

    def __init__(self, outbox: Outbox, changed: Callable[[], None]) -> None:
        self._outbox, self._changed = outbox, changed

    def unsend(self, number: int) -> Operation[Any] | None:
        """Undo an unsent write. Returns its call, so that its text can be edited.

        Returns None if the write is being sent or no longer in the outbox.
        """
        row = self._outbox.row(number)
        if row is None or not self._outbox.drop(number, unless_sending=True):
            return None
        self._changed()
        return pending_entry(row).call

    def retry(self, number: int) -> bool:
        """Send a failed write again. Returns False if the write has not failed."""
        is_queued = self._outbox.retry(number)
        self._changed()
        return is_queued

    def send_now(self, number: int) -> bool:
        """Send a write before the failed writes ahead of it.

        Returns False if the write refers to a failed write, such as a reply to an unsent comment.
        """
        is_sent = self._outbox.send_now(number)
        self._changed()
        return is_sent

    def rewrite(self, number: int, call: Operation[Any]) -> bool:
        """Replace a pending or refused write by this call.

        Returns False if the write is in another state or is gone, or if it has a base; see `replace_edit`.
        """
        is_replaced = self._outbox.rewrite(number, call.given())
        self._changed()
        return is_replaced

    def move_to_drafts(self, numbers: Collection[int], texts: Mapping[str, str], about: Mapping[str, str]) -> bool:
        """Move edits to a draft; see `Outbox.move_to_drafts`."""
        is_moved = self._outbox.move_to_drafts(numbers, texts, about)
        self._changed()
        return is_moved

    def replace_edit(self, row: Row, call: Operation[Any]) -> bool:
        """Replace the text of a pending edit that was queued with a base.

        Returns False if the edit has no base, or if its outbox row has changed since `row` was read.
        """
        is_replaced = row.base is not None and self._outbox.rebase(row, call.given(), row.base)
        self._changed()
        return is_replaced

    def release(self, numbers: Collection[int], *, hold: float = 0) -> None:
        """Send collected writes in their original order. All writes are released in a single transaction.

        Args:
            numbers: the outbox rows of the writes.
            hold: seconds before the writes are sent, in which `unsend` can undo them.
        """
        self._outbox.release(numbers, time.time() + hold)
        self._changed()

    def drop(self, number: int, *, only_held: bool) -> bool:
        """Discard an unsent write; see `Engine.drop`."""
        is_dropped = self._outbox.drop(number, unless_sending=True, only_held=only_held)
        if is_dropped:
            self._changed()
        return is_dropped

    def drop_unanswered(self, number: int) -> bool:
        """Discard a write that was sent but not answered. The history states that it may be saved.

        Returns False if the write was not sent yet, is already sent or discarded, or if another process may be sending
        it.
        """
        row = self._outbox.row(number)
        # while this process holds the lock, no other process waits for the answer
        if row is None or row.state != "sending" or not self._outbox.may_send():
            return False
        is_dropped = self._outbox.drop(number, error=UNANSWERED)
        self._changed()
        return is_dropped
