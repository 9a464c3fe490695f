"""The engine: the one door between screens and everything else; it answers from the store and then from the service.

It lives in the event loop of its caller. Reading what is known takes microseconds and never waits; everything that
waits is a coroutine. Writes are on disk before `write` returns.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from presscheck.api.operation import Operation, Page
from presscheck.api.users import User
from presscheck.client.request_context import Priority
from presscheck.engine.activity_log import Activity, Entry
from presscheck.engine.connection_state import ConnectionState
from presscheck.engine.inbox.event_log import EventLog
from presscheck.engine.inbox.triage import Triage
from presscheck.engine.mirror.progress import Progress
from presscheck.engine.reads.cache_writer import CacheWriter
from presscheck.engine.reads.scheduler import BACKGROUND, PREFETCH, REQUESTED, VISIBLE, RequestScheduler, Service
from presscheck.engine.reads.service_reads import ServiceReads
from presscheck.engine.reads.stored_reads import StoredReads
from presscheck.engine.reads.subscribed_reads import SubscribedReads
from presscheck.engine.reads.subscriptions import Subscriptions
from presscheck.engine.reads.unsupported_calls import Support
from presscheck.engine.results import OutboxEntry, PendingWrite, Result, Status, Window
from presscheck.engine.search.index_updates import IndexUpdates
from presscheck.engine.search.search import Hit, Searching
from presscheck.engine.signed_in_user import SignedInUser
from presscheck.engine.writes.effects import may_wait
from presscheck.engine.writes.outbox_actions import OutboxActions
from presscheck.engine.writes.pending_writes import PendingWrites
from presscheck.engine.writes.write_queue import WriteQueue
from presscheck.store.cache import Cache
from presscheck.store.outbox import Outbox

__all__ = [
    "BACKGROUND",
    "PREFETCH",
    "REQUESTED",
    "VISIBLE",
    "Engine",
    "Hit",
    "PendingWrite",
    "Progress",
    "Result",
    "Status",
]
__all__ += ["OutboxEntry", "Window"]

if TYPE_CHECKING:
    from presscheck.engine.search.backlinks import LinksHere

T = TypeVar("T")
M = TypeVar("M")
Pace = Callable[[], Awaitable[None]]


class Engine:
    """Read, watch, write: what is known at once, what is new when it comes, what was typed for good.

    Args:
        connect: makes the connection to the service, when it is first needed.
        cache: what the service said before.
        outbox: what is not sent yet.
        read_only: refuse every write, whoever asks.
        settle: seconds before a write of unknown fate is looked for.
        activity: what the connection tells of its exchanges.
    """

    def __init__(
        self,
        connect: Callable[[], Service],
        cache: Cache,
        outbox: Outbox,
        *,
        read_only: bool = False,
        settle: float | None = None,
        activity: Activity | None = None,
    ) -> None:
        self.notices = tuple(notice for notice in (cache.notice, outbox.notice) if notice)
        cache.notice = None
        self.outbox, self._activity = outbox, activity or Activity()
        self._asking = RequestScheduler(connect, self._connection_changed)
        self._watching = Subscriptions()
        self._user = SignedInUser(outbox)
        self._pending = PendingWrites(outbox, self._user)
        self.world = ConnectionState(self._pending.entries, read_only=read_only)
        self._remembering = CacheWriter(cache, self._watching, self._noticed)
        self._index = IndexUpdates(self._remembering.do)
        self._stored = StoredReads(cache, self._remembering, self._pending, self._activity, self._index.came)
        self._support = Support(cache, self._remembering.thread)
        self._reads = ServiceReads(self._asking, self._support, self._stored, self._pending)
        self._subscribed = SubscribedReads(self._reads, self._watching)
        self._searching = Searching(self._reads, self._remembering.do, self._index)
        self.triage = Triage(outbox)
        self.events = EventLog(self._reads, self.world, outbox, self.triage, self._watching)
        self._writing = WriteQueue(
            outbox,
            self._pending,
            self._asking,
            self._watching,
            self._reads,
            self._user,
            read_only=read_only,
            settle=settle,
            changed=self.world.tell,
            sent=self.events.did,
        )
        self._deciding = OutboxActions(outbox, self._writing.changed)

    async def start(self) -> None:
        """Begin to ask and to send."""
        self._asking.start()
        self._writing.start()
        self._index.came()

    async def close(self) -> None:
        """Stop at once; what is not sent stays in the outbox."""
        await self._index.close()
        await self._writing.close()
        await self._asking.close()
        await self._remembering.close()
        self.outbox.close()

    def search(
        self,
        text: str,
        *,
        most: int = 50,
        organization: str | None = None,
        patience: float = 0.2,
        here_only: bool = False,
    ) -> AsyncIterator[Result[tuple[Hit, ...]]]:
        """What a text is found in: pages, change requests and comments of the store, then what the service adds.

        Args:
            text: words, of which each may only be begun, and "phrases"; all of it must be found.
            most: hits; only in the `organization` with this id where one is given.
            patience: seconds in which what came lately is read up first; `here_only` asks the store alone.
        """
        return self._searching.search(text, most, organization, patience, here_only=here_only)

    async def links_here(self, space: str, change_request: str | None = None) -> LinksHere | None:
        """What points at what in the pages that the store knows; None where it does not know the tree of pages."""
        return await self._searching.links(space, change_request)

    async def read(self, call: Operation[T], *, priority: Priority = REQUESTED) -> T:
        """The service's answer; the stored one where the service cannot be reached.

        Raises:
            PresscheckError: the service said no, or cannot be reached and nothing is stored.
        """
        return await self._reads.read(call, priority=priority)

    def known(self, call: Operation[T]) -> Result[T] | None:
        """What the store knows, with what waits applied to it; None where it was never fetched."""
        return self._stored.known(call)

    def window(self, listing: Operation[Page[M]], start: int, count: int) -> Window[M]:
        """Rows of a listing that `watch_listing` has brought in, from the store alone."""
        return self._stored.window(listing, start, count)

    def rows(self, listing: Operation[Page[M]], places: Iterable[int]) -> dict[int, M]:
        """Rows of such a listing by their places, wherever they stand, from the store alone."""
        return self._stored.rows(listing, places)

    def positions(self, listing: Operation[Page[Any]], ids: Iterable[str]) -> dict[str, int]:
        """Where in such a listing the things with these ids stand, from the store alone."""
        return self._stored.positions(listing, ids)

    def remember(self, name: str, json: str) -> None:
        """Keep a text of the screen's own in the cache, which may forget it."""
        self._stored.remember(name, json)

    async def keep(self, call: Operation[T], body: bytes, request_id: str | None = None) -> tuple[T, bool]:
        """Read an answer and keep it, off this thread; the answer, and whether it is news.

        Raises:
            MalformedAnswer: it is not of the declared shape.
        """
        return await self._stored.keep(call, body, request_id)

    async def in_store(self, work: Callable[[Cache], T]) -> T:
        """Do something to the cache, on its writing thread."""
        return await self._stored.in_store(work)

    def watch(self, call: Operation[T], *, priority: Priority = VISIBLE) -> AsyncIterator[Result[T | None]]:
        """What is known at once, then what the service says, and again whenever that may have changed.

        Ends only when it is closed. `value` is None where nothing is known and nothing came.
        """
        return self._subscribed.watch(call, priority)

    def watch_listing(
        self, listing: Operation[Page[Any]], *, priority: Priority = VISIBLE
    ) -> AsyncIterator[Result[int]]:
        """Bring a whole listing into the store, page after page, and again whenever it may have changed.

        Yields how many items there are, as pages come in; read the rows with `window`.
        """
        return self._subscribed.watch_listing(listing, priority)

    def activity(self) -> AsyncIterator[tuple[Entry, ...]]:
        """What was asked in this run, the newest first, and again whenever there is more."""
        return self._activity.watch()

    def sync(
        self, organization: str | None = None, space: str | None = None, *, pace: Pace | None = None
    ) -> AsyncGenerator[Progress]:
        """Bring all that screens show into the store, as far as it moved; tells how far that is.

        Args:
            organization: only what this one has, by id.
            space: only what belongs to this space, by id.
            pace: awaited before each request.

        Raises:
            NetworkError: the service cannot be reached any more; what came stays, and the next time goes on from it.
            RequestError: a listing cannot be had.
        """
        from presscheck.engine.mirror.mirror import Mirroring  # 10 ms, only for a sync

        return Mirroring(self._reads, self._watching, pace).run(organization, space)

    def refresh(self, call: Operation[Any] | None = None) -> None:
        """Ask again for one call, or for everything that is looked at; while offline, look for the service now."""
        self._watching.stale(None if call is None else call.key())
        if call is None:
            self.events.wake()
        if self._asking.offline:
            self._writing.background(self._asking.look_now())

    def write(self, call: Operation[T], *, hold: float = 0, collect: bool = False) -> PendingWrite[T]:
        """Take a write: on disk when this returns, or on its way at once if it may not wait.

        Args:
            call: the write.
            hold: seconds in which it can still be unsent.
            collect: keep it until it is released, where it may wait.

        Raises:
            NotNow: it may not wait, and the service cannot be reached; or the profile is read-only.
        """
        return self._writing.write(call, hold, collect=collect)

    def waiting(self) -> tuple[OutboxEntry, ...]:
        """Everything that is not sent, the oldest first."""
        return self._pending.entries()

    def may_wait(self, call: type[Operation[Any]]) -> bool:
        """Whether a write can be queued in the outbox while offline."""
        return may_wait(call)

    def unsend(self, number: int) -> Operation[Any] | None:
        """Undo an unsent write. Returns its call, so that its text can be edited."""
        return self._deciding.unsend(number)

    def retry(self, number: int) -> None:
        """Send a refused write again."""
        self._deciding.retry(number)

    def rewrite(self, number: int, call: Operation[Any]) -> bool:
        """Send this in the place of a write that waits or was refused; False where it has left meanwhile."""
        return self._deciding.rewrite(number, call)

    def release(self, numbers: Collection[int], *, hold: float = 0) -> None:
        """Send what was collected, all of it or nothing, in the order in which it was written.

        Args:
            numbers: of the writes.
            hold: seconds in which they can still be unsent.
        """
        self._deciding.release(numbers, hold=hold)

    def drop(self, number: int) -> None:
        """Give a write up."""
        self._deciding.drop(number)

    @property
    def status(self) -> Status:
        """The state of the world."""
        return self.world.status

    def on_status(self, listener: Callable[[Status], None]) -> Callable[[], None]:
        """Call this with each new state of the world; returns what ends that."""
        return self.world.listen(listener)

    @property
    def me(self) -> User:
        """The signed-in user, as far as known."""
        return self._user.user

    def mark_viewed(self, change_request: str, page: str, revision: str | None) -> None:
        """Mark a page of a change request as viewed at a revision; None takes the mark away."""
        self.outbox.mark_viewed(change_request, page, revision)

    def viewed(self, change_request: str) -> dict[str, str]:
        """Page id → the revision at which it was viewed."""
        return self.outbox.viewed(change_request)

    async def fetch(self, call: Operation[Any], priority: Priority = REQUESTED) -> bytes:
        """The body of the service's answer, unread; where it lacks a whole feature, its listings are empty.

        Raises:
            NotSupported: the service does not have this call, as it said now or not long ago.
            RequestError: what else came instead.
        """
        return await self._reads.fetch(call, priority)

    def lacks(self, feature: str) -> bool:
        """Whether the service does not have a feature, such as reviews, as far as it was asked."""
        return self._support.lacks(feature)

    def _noticed(self, notice: str) -> None:
        self.notices = (*self.notices, notice)
        self.world.tell()

    def _connection_changed(self) -> None:
        self.world.connected(online=not self._asking.offline)
        if not self._asking.offline:
            self._watching.stale(None)
            self._writing.wake()
