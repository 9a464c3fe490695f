"""Delivery of writes: the outbox worker, immediate sends, reconciliation of unknown delivery, and the undo guard.

The worker sends queued writes in order within a scope, and in parallel across scopes. A write whose response was lost
is not sent again while its delayed request may still arrive: until the time-out plus a settle time have passed. If
sending it twice could have two effects, the write counts as not arrived only if two searches after that time do not
find its result. A write that the service rejects keeps its text and blocks only its own scope.

A write that cannot be queued is sent immediately by the instance that made it. It is in the outbox while it is being
sent, so that after a crash the next start can find out whether it arrived.

Before a write is sent, the undo guard records the values that the write replaces. An undo never overwrites later
changes.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from presscheck.api.operation import Operation, Page, revive
from presscheck.client.request_priority import RequestContext
from presscheck.client.responses import read_answer
from presscheck.engine.reads.listing_guard import ListingGuard
from presscheck.engine.reads.scheduler import RequestScheduler
from presscheck.engine.writes.folder_push import PushFolder
from presscheck.errors import (
    Ambiguous,
    ChangedSince,
    MalformedAnswer,
    NetworkError,
    NotSignedIn,
    PresscheckError,
    ServiceError,
    ServiceFailed,
    StoreError,
    TooManyRequests,
)
from presscheck.store.outbox import EndedRow, Outbox, Row

if TYPE_CHECKING:
    from presscheck.engine.writes.effects import Effects
    from presscheck.engine.writes.inverse import Comparison, Inverse, SentWrite

SETTLE = 2.0
"""Seconds after the time-out in which a delayed request may arrive, and seconds between two searches for its result."""
TIMEOUT = 30.0
"""Seconds after which the client stops waiting for a response."""
RETRY_AFTER_ERROR = 5.0
"""Seconds until a scope is tried again after a local error, such as a full disk."""
LONGEST_PAUSE = 60.0
"""Maximum pause in seconds before a write is tried again."""
POLL_INTERVAL = 1.0
"""Seconds between two checks of the outbox for writes of other instances."""
ABANDONED_AFTER = 240.0
"""Seconds after which a write that is being sent immediately is considered abandoned: its instance has ended."""
OTHER_AUTHOR = "Written by another user, not sent in your name: sign in as that user, or discard it"
ABANDONED = "presscheck ended while sending this, so it may be saved or not: check, then send it again or discard it"
Delivered = Callable[[Row, Operation[Any], bytes, Any], Awaitable[None]]
"""Called with the row, its call, the response body, and the created item if it was found without a response."""
Refused = Callable[[Row, PresscheckError], None]
QUOTED = 200
"""Maximum number of characters of each text in the message about a change."""
GONE = "Not undone: the history does not have this change any more"


class DeliveryReconciler:
    """A search in the service for the results of writes, bypassing the cache.

    Args:
        scheduler: has the client for the service.
        settle: replaces `SETTLE`; None for the default.
    """

    def __init__(self, scheduler: RequestScheduler, settle: float | None = None) -> None:
        self._scheduler, self.settle, self.timeout = scheduler, SETTLE if settle is None else settle, TIMEOUT

    async def existing(self, effects: Effects, call: Operation[Any], author: str) -> tuple[Any, ...]:
        """Return the items in all listings that would contain the result of a write.

        Raises:
            RequestError: a listing cannot be read.
        """
        found: list[Any] = []
        for listing in effects.listings(call, author) if effects.listings else ():
            page = await self.read(listing)
            found += page.items if page.next is None else await self._items(listing, page)
        return tuple(found)

    async def _items(self, listing: Operation[Any], page: Page[Any]) -> list[Any]:
        """Return the items of all pages of a listing, given the first page."""
        guard = ListingGuard(listing)
        found = guard.new_items(page.items)
        while page.next is not None and not guard.problem(page.next.page):
            page = await self.read(listing.model_copy(update={"page": page.next.page}))
            found += guard.new_items(page.items)
        return found

    async def find(self, row: Row, effects: Effects, call: Operation[Any], author: str) -> Any | None:
        """Search once for the result of a write: a new item with the same author and text. Return None without a match.

        Raises:
            RequestError: a listing cannot be read.
        """
        for item in await self.existing(effects, call, author):
            if item.id not in (row.existing_ids or ()) and effects.is_result and effects.is_result(item, call, author):
                return item
        return None

    async def result_of(self, row: Row, effects: Effects, call: Operation[Any], author: str) -> Any | None:
        """Return the item that a write created, or None if it was not found.

        Unless the item is found at once, this waits until the last request of the write can no longer arrive. If
        None is returned, the write can be sent again: it did not arrive, or sending it twice has the same effect.

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
        """Return the seconds until the last request can no longer arrive. Bounded even if the clock was set back."""
        now = time.time()
        sent_at = now if row.sent_at is None else min(row.sent_at, now)
        return max(0.0, sent_at + self.timeout + self.settle - now)

    async def read(self, call: Operation[Any]) -> Any:
        """Return the response of the service, bypassing the cache."""
        return read_answer(call, await self._scheduler.service.fetch(call))


class ImmediateSender:
    """A sender of writes that cannot be queued.

    Args:
        outbox: stores each write while it is being sent.
        scheduler: knows whether the service can be reached.
        reconciler: finds out whether a write arrived whose response was lost.
        guard: records the values that a write replaces.
        user_id: returns the id of the signed-in user, or an empty string if it is unknown.
    """

    def __init__(
        self,
        outbox: Outbox,
        scheduler: RequestScheduler,
        reconciler: DeliveryReconciler,
        guard: UndoGuard,
        user_id: Callable[[], Awaitable[str]],
    ) -> None:
        self._outbox, self._scheduler, self._reconciler, self._user_id = outbox, scheduler, reconciler, user_id
        self._guard = guard

    async def send(self, number: int, call: Operation[Any], effects: Effects) -> tuple[bytes, Any]:
        """Send a write.

        Returns:
            The response body, and the created item if the response was lost and the item was found.

        Raises:
            PresscheckError: the write failed. A write of unknown delivery stays in the outbox for the user to decide.
        """
        try:
            if effects.looks_before:
                items = await self._reconciler.existing(effects, call, await self._user_id())
                self._outbox.note_existing(number, tuple(item.id for item in items))
            if (row := self._outbox.row(number)) and not await self._guard.prepare(row, call, row.author or ""):
                raise PresscheckError("Not undone: it is already as it was before")
        except PresscheckError as error:  # the write itself was not sent
            self._outbox.drop(number, error=error.message)
            self._report(error)
            raise
        try:
            return await self._scheduler.service.fetch(call), None
        except (Ambiguous, ServiceFailed) as error:
            return b"", await self._check_result(number, call, effects, error)
        except PresscheckError as error:
            self._outbox.drop(number, error=error.message)
            self._report(error)
            raise

    def _report(self, error: PresscheckError) -> None:
        if isinstance(error, NetworkError):
            self._scheduler.go_offline(error)

    async def _check_result(
        self, number: int, call: Operation[Any], effects: Effects, error: Ambiguous | ServiceFailed
    ) -> Any:
        """Return the item that a write of unknown delivery created.

        Raises:
            PresscheckError: the item was not found, or the write creates no item. The message has the result of the
                write if the state of the resource shows it.
        """
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
            if is_done:
                self._outbox.delivered(number, None)
            else:
                self._outbox.drop(number, error=error.message)
            result = "the change was made anyway" if is_done else "the change was not made; try again"
            raise Ambiguous(f"{error.message}; {result}", request=error.request)
        if item:
            return item
        if (row := self._outbox.row(number)) and row.is_part:
            self._outbox.drop(number, error=error.message)
        else:
            self._outbox.refuse(number, error.message)
        raise error


class OutboxWorker:
    """The worker that sends queued writes: in order within a scope, and in parallel across scopes.

    The scope of a write is the change request, site or other resource that it changes; see `Effects.scope`.

    Args:
        outbox: the queue.
        scheduler: knows whether the service can be reached.
        reconciler: finds out whether a write arrived whose response was lost.
        guard: records the values that a write replaces, and checks the present values before an undo.
        push: sends the push of a folder.
        user_id: returns the id of the signed-in user, or an empty string if it is unknown.
        delivered: awaited after a write was sent, before it leaves the outbox.
        refused: called when a write has failed permanently.
        changed: called when a row changed, here or in another instance.
    """

    def __init__(
        self,
        outbox: Outbox,
        scheduler: RequestScheduler,
        reconciler: DeliveryReconciler,
        guard: UndoGuard,
        *,
        push: Callable[[PushFolder], Awaitable[None]],
        user_id: Callable[[], Awaitable[str]],
        delivered: Delivered,
        refused: Refused,
        changed: Callable[[], None],
    ) -> None:
        self._outbox, self._scheduler, self._reconciler, self._guard = outbox, scheduler, reconciler, guard
        self._push = push
        self._user_id, self._delivered, self._refused, self._changed = user_id, delivered, refused, changed
        self._me: str | None = None
        self._wake = asyncio.Event()
        self._busy: dict[str, asyncio.Task[None]] = {}
        self._retry_at: dict[str, float] = {}
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start sending."""
        self._task = asyncio.create_task(self._drain())

    def wake(self) -> None:
        """Check the outbox now instead of after the current pause."""
        self._wake.set()

    async def close(self) -> None:
        """Stop immediately. The next start checks the writes that are being sent."""
        tasks = [*self._busy.values(), *([self._task] if self._task else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _drain(self) -> None:
        while True:
            pause = POLL_INTERVAL
            try:
                if self._outbox.changed_elsewhere():
                    self._changed()
                if not self._scheduler.offline and self._outbox.rows() and self._outbox.may_send():
                    pause = self._start_due()
            except Exception as error:  # without this loop, nothing would be sent any more
                _report(error)
                pause = POLL_INTERVAL if isinstance(error, StoreError) else RETRY_AFTER_ERROR
            self._wake.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._wake.wait()

    def _start_due(self) -> float:
        """Start sending the oldest row of each idle scope. Returns the seconds until another row may be due."""
        pause, seen, now = POLL_INTERVAL, set[str](), time.time()
        for row in self._outbox.rows():
            if row.state == "collected" or row.scope in seen:
                continue
            if row.state == "now" and (row.sent_at or now) + ABANDONED_AFTER > now:
                continue
            if self._me is not None and row.author not in (None, self._me):
                self._hold_back(row)
                continue
            seen.add(row.scope)
            if row.state not in ("waiting", "sending", "now") or row.scope in self._busy:
                continue
            due = max(row.not_before, self._retry_at.get(row.scope, 0))
            if now < due < now + 60 * LONGEST_PAUSE:  # a later time means that the clock was set back
                pause = min(pause, due - now)
                continue
            task = asyncio.create_task(self._send(row))
            self._busy[row.scope] = task
            task.add_done_callback(lambda task, scope=row.scope: self._task_done(scope, task))
        return max(pause, 0.01)

    def _task_done(self, scope: str, task: asyncio.Task[None]) -> None:
        self._busy.pop(scope, None)
        error = None if task.cancelled() else task.exception()
        if error:
            self._retry_at[scope] = time.time() + RETRY_AFTER_ERROR
            _report(error)
        self._wake.set()

    async def _send(self, row: Row) -> None:
        """Send the write of a row. If the write fails, schedule another attempt or leave the write to the user.

        Raises:
            StoreError: the outbox could not be written; try again later.
        """
        try:
            call = revive(row.name, row.given)
        except PresscheckError as error:
            self._outbox.refuse(row.id, error.message, state="parked")
            self._refused(row, error)
            return
        try:
            from presscheck.engine.writes.effects import effects_of  # 30 ms, only for a write

            await self._send_as(await self._author(), row, call, effects_of(call))
        except StoreError:
            raise
        except PresscheckError as error:
            self._failed(row, error)

    def set_user(self, user_id: str) -> None:
        """Set the signed-in user from a response of the service."""
        self._me = user_id
        self._wake.set()

    def forget_user(self) -> None:
        """Read the signed-in user again before the next write."""
        self._me = None
        self._wake.set()

    async def _author(self) -> str:
        if self._me is None:
            self._me = await self._user_id()
        return self._me

    async def _send_as(self, me: str, row: Row, call: Operation[Any], effects: Effects) -> None:
        if row.author not in (None, me):
            self._hold_back(row)
        elif row.state == "now":
            await self._reconcile_abandoned(me, row, call, effects)
        elif row.state == "sending" and (item := await self._reconciler.result_of(row, effects, call, me)):
            await self._delivered(row, call, b"", item)
        else:
            if effects.looks_before and row.state == "waiting":
                items = await self._reconciler.existing(effects, call, me)
                self._outbox.note_existing(row.id, tuple(item.id for item in items))
            if row.base is not None:
                merged = await self._merged(row, call)
                if not isinstance(merged, tuple):  # nothing is left to send
                    await self._delivered(row, call, b"", merged)
                    return
                row, call = merged
            if not await self._guard.prepare(row, call, me):
                await self._delivered(row, call, b"", None)
            elif self._outbox.sending(row.id, time.time()):
                current = self._outbox.row(row.id)
                if current and current.given != row.given:  # edited while the existing items were listed
                    call = revive(current.name, current.given)
                await self._delivered(row, call, await self._fetch(call, row.agent), None)

    async def _fetch(self, call: Operation[Any], agent: str | None) -> bytes:
        if isinstance(call, PushFolder):
            await self._push(call)
            return b""
        return await self._scheduler.service.fetch(call, RequestContext(agent=agent or ""))

    async def _merged(self, row: Row, call: Operation[Any]) -> tuple[Row, Operation[Any]] | Any:
        """Merge an edit, or a change of the page tree, with edits of others, and store the merge.

        Returns the row and the call to send. If nothing is left to send, returns the result of the write or None.
        """
        # 4 ms, only for a queued edit
        from presscheck.engine.writes.page_merge import MergedEdit, merged_edit
        from presscheck.engine.writes.tree_merge import merged_tree

        read = self._reconciler.read
        if row.is_tree_change:
            merged = await merged_tree(read, row, call, self._reconciler.settle)
        else:
            merged = await merged_edit(read, row, call)
        if not isinstance(merged, MergedEdit):
            return merged
        if merged.call is call:
            return row, call
        given = merged.call.given()
        if self._outbox.rebase(row, given, merged.base):
            return replace(row, given=given, base=merged.base), merged.call
        current = self._outbox.row(row.id)  # edited again or discarded while the page was read
        return await self._merged(current, revive(current.name, current.given)) if current else (row, call)

    def _hold_back(self, row: Row) -> None:
        """Store the reason why another user's write is not sent. A failed write keeps its own error."""
        if row.error != OTHER_AUTHOR and row.state not in ("refused", "parked"):
            self._outbox.reschedule(row.id, row.not_before, OTHER_AUTHOR, state=row.state)
            self._changed()

    async def _reconcile_abandoned(self, me: str, row: Row, call: Operation[Any], effects: Effects) -> None:
        """Reconcile an immediate write whose instance has ended.

        The write is never sent again automatically: if it did not arrive, the user decides.
        """
        item = await self._reconciler.result_of(row, effects, call, me)
        if item is None and effects.state:
            resource = await self._reconciler.read(effects.state[0](call))
            item = resource if effects.state[1](resource) else None
        if item is not None:
            await self._delivered(row, call, b"", item)
        elif row.is_part:
            self._outbox.drop(row.id, error=ABANDONED)
        else:
            self._outbox.refuse(row.id, ABANDONED)
            self._changed()

    def _failed(self, row: Row, error: PresscheckError) -> None:
        """Schedule another attempt for a failed write, or leave it for the user to decide."""
        now, current = time.time(), self._outbox.row(row.id)
        if current is None:
            return
        state, due = row.state, now + self._pause(current, error)
        if isinstance(error, Ambiguous | ServiceFailed | MalformedAnswer):
            state = current.state  # a search may have failed before the write itself was sent
        elif isinstance(error, NetworkError):
            due = now
        elif isinstance(error, ChangedSince) or (
            isinstance(error, ServiceError) and not isinstance(error, TooManyRequests | NotSignedIn)
        ):
            self._outbox.refuse(row.id, error.message)
            self._refused(row, error)
            return
        is_lost = isinstance(error, NetworkError)
        message = None if is_lost and state == "waiting" else error.message
        self._outbox.reschedule(row.id, due, message, state=state)
        if isinstance(error, NetworkError):
            self._scheduler.go_offline(error)
        self._changed()

    def _pause(self, row: Row, error: PresscheckError) -> float:
        retry_after = getattr(error, "retry_after", None)
        return retry_after or min(LONGEST_PAUSE, self._reconciler.settle * 2 ** min(max(row.attempts - 1, 0), 8))


class UndoGuard:
    """A guard that records the values that writes replace, and compares values before an undo.

    Args:
        outbox: stores the writes and their history.
        read: returns the response of the service to a read, bypassing the cache.
        keep: saves the state of a site before a write changes it, given the write and its number.
    """

    def __init__(
        self,
        outbox: Outbox,
        read: Callable[[Operation[Any]], Awaitable[Any]],
        keep: Callable[[Operation[Any], int], Awaitable[None]],
    ) -> None:
        self._outbox, self._read, self._keep = outbox, read, keep

    async def prepare(self, row: Row, call: Operation[Any], me: str) -> bool:
        """Check the write that this write undoes, if any, and record the values that this write replaces.

        Returns:
            False if the undo is already done, so that the write must not be sent.

        Raises:
            ChangedSince: the undo would overwrite a later change.
            NetworkError: the service cannot be reached.
            TooManyRequests: the rate limit is reached.
            PresscheckError: the result of the write to undo cannot be read.
        """
        if row.undoes is not None and not await self._may_undo(row, row.undoes, me):
            return False
        if row.state != "sending":
            await self._keep(call, row.id)
        inverse = _inverse_of(call)
        if inverse and row.state != "sending":
            try:
                former = await inverse.former(self._read, call, me)
            except (NetworkError, TooManyRequests):
                raise
            except PresscheckError:  # sending the write matters more than its undo
                former = None
            if former is not None:
                self._outbox.note_former(row.id, former)
        return True

    async def compare(self, ended: EndedRow, me: str) -> Comparison:
        """Compare the values that a sent write left with the present values.

        Raises:
            ChangedSince: the values were changed since, or this version cannot read the write.
            PresscheckError: the present values cannot be read.
        """
        sent = sent_write(ended, me)
        inverse = _inverse_of(sent.call) if sent else None
        if sent is None or inverse is None:
            raise ChangedSince(GONE)
        comparison = await inverse.compare(self._read, sent)
        if comparison.state == "changed":
            message = self._message(ended, sent, comparison)
            raise ChangedSince(message, written=comparison.written, present=comparison.present)
        return comparison

    async def _may_undo(self, row: Row, undoes: int, me: str) -> bool:
        ended = self._outbox.ended(undoes)
        if ended is None:
            raise ChangedSince(GONE)
        batch = (other for other in self._outbox.history() if other.undoes == undoes and other.state == "sent")
        if any(other.created_at == row.created_at for other in batch):
            return True  # a part of this undo was sent already and made the change itself
        return (await self.compare(ended, me)).state == "unchanged"

    def _message(self, ended: EndedRow, sent: SentWrite, comparison: Comparison) -> str:
        later = self._own_later_change(ended, sent)
        cause = f"you changed it again since ({later}): undo that first" if later else "changed by others since"
        texts = [_quoted(text) for text in (comparison.written, comparison.present)]
        return f"Not undone: {cause}. You wrote “{texts[0]}”; now it is “{texts[1]}”"

    def _own_later_change(self, ended: EndedRow, sent: SentWrite) -> str | None:
        """Describe the newest later write of the same user to the same resource, or return None if there is none."""
        identity = (sent.result or {}).get("id")
        paths = {sent.call.wire_path(), f"{sent.call.wire_path()}/{identity}"}
        for row in self._outbox.history():
            later = sent_write(row, sent.me) if row.id > ended.id and row.state == "sent" else None
            is_own = later is not None and later.me == sent.me and later.call.wire_path() in paths
            if later and is_own and _is_about_same(later.call, sent.call):
                from presscheck.engine.writes.descriptions import describe  # 20 ms, only for an undo

                return describe(later.call)
        return None


def _report(error: BaseException) -> None:
    """Pass an unexpected error to the event loop's handler. A `StoreError` is expected: a full disk may get space."""
    if not isinstance(error, StoreError):
        loop = asyncio.get_running_loop()
        loop.call_exception_handler({"message": "a write could not be sent", "exception": error})


def sent_write(ended: EndedRow, me: str) -> SentWrite | None:
    """Return a row of the history as a sent write, or None if this version cannot read it."""
    try:
        call = revive(ended.name, ended.given)
    except PresscheckError:
        return None
    from presscheck.engine.writes.inverse import SentWrite  # 2 ms, only for an undo

    return SentWrite(call, ended.former, ended.result, ended.author or me)


def _inverse_of(call: Operation[Any]) -> Inverse | None:
    from presscheck.engine.writes.inverses import inverse_of  # 57 ms, only for a write

    return inverse_of(call)


def _is_about_same(later: Any, call: Any) -> bool:
    """Return whether two writes to the same path set a common field or page. True for writes of different types."""
    if type(later) is not type(call):
        return True
    if hasattr(call, "changes"):
        pages = [{getattr(change, "page", None) for change in one.changes} - {None} for one in (later, call)]
        return bool(pages[0] & pages[1])
    own = set(call.path_fields())
    return bool((later.model_fields_set - own) & (call.model_fields_set - own))


def _quoted(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= QUOTED else f"{flat[: QUOTED - 1].rstrip()}…"
