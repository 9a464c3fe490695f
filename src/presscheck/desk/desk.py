"""The desk: the one door between screens and everything else; it answers from the store and then from the service.

It lives in the event loop of its caller. Reading what is known takes microseconds and never waits; everything that
waits is a coroutine. Writes are on disk before `write` returns.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from presscheck.api.operation import Operation, Page, Paged
from presscheck.api.users import User
from presscheck.client.errand import Priority
from presscheck.desk.activity import Activity, Entry
from presscheck.desk.asking import ASKED, BACKGROUND, EYE, NEXT, Asking, Service
from presscheck.desk.deciding import Deciding
from presscheck.desk.event_log import EventLog
from presscheck.desk.knowing import Knowing
from presscheck.desk.listings import pull
from presscheck.desk.mirror_progress import Progress
from presscheck.desk.remembering import Remembering
from presscheck.desk.searching import Hit, Searching
from presscheck.desk.seen import Seen, Status, Ticket, Waiting, Window
from presscheck.desk.support import Support
from presscheck.desk.triage import Triage
from presscheck.desk.watching import Watching
from presscheck.desk.world import World
from presscheck.desk.writing import Writing
from presscheck.errors import NetworkError, NotSupported, PresscheckError
from presscheck.store.cache import Cache
from presscheck.store.outbox import Outbox

__all__ = ["ASKED", "BACKGROUND", "EYE", "NEXT", "Desk", "Hit", "Progress", "Seen", "Status", "Ticket"]
__all__ += ["Waiting", "Window"]

if TYPE_CHECKING:
    from presscheck.desk.linking import LinksHere

T = TypeVar("T")
M = TypeVar("M")
Pace = Callable[[], Awaitable[None]]
EMPTY = b'{"items": []}'


class Desk(Knowing, Deciding):
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
        self._activity = activity or Activity()
        self._cache, self.outbox = cache, outbox
        self._asking = Asking(connect, self._connection_changed)
        self._watching = Watching()
        self._writing = Writing(self, outbox, self._asking, self._watching, read_only=read_only, settle=settle)
        self.world = World(self._writing.waiting, read_only=read_only)
        self.triage = Triage(outbox)
        self.notices = tuple(notice for notice in (cache.notice, outbox.notice) if notice)
        cache.notice = None
        self._remembering = Remembering(cache, self._watching, self._noticed)
        self._searching = Searching(self, self._remembering.do)
        self._support = Support(cache, self._remembering.thread)
        self.events = EventLog(self, outbox, self.triage, self._watching.redraw)

    async def start(self) -> None:
        """Begin to ask and to send."""
        self._asking.start()
        self._writing.start()
        self._searching.came()

    async def close(self) -> None:
        """Stop at once; what is not sent stays in the outbox."""
        await self._searching.close()
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
    ) -> AsyncIterator[Seen[tuple[Hit, ...]]]:
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

    async def read(self, call: Operation[T], *, priority: Priority = ASKED) -> T:
        """The service's answer; the stored one where the service cannot be reached.

        Raises:
            PresscheckError: the service said no, or cannot be reached and nothing is stored.
        """
        try:
            value, _ = await self._fresh(call, priority)
        except NetworkError:
            known = self._known(call, priority)
            if known is None:
                raise
            return known.value
        return value

    async def watch(self, call: Operation[T], *, priority: Priority = EYE) -> AsyncIterator[Seen[T | None]]:
        """What is known at once, then what the service says, and again whenever that may have changed.

        Ends only when it is closed. `value` is None where nothing is known and nothing came.
        """
        with self._watching.of(call) as wish:
            first: Priority | None = priority
            while True:
                known, first = self._known(call, first), None
                if known:
                    yield cast("Seen[T | None]", known)
                if wish.take_stale():
                    yield await self._asked(call, priority)
                await wish.changed()

    async def watch_listing(
        self, listing: Operation[Page[Any]], *, priority: Priority = EYE
    ) -> AsyncIterator[Seen[int]]:
        """Bring a whole listing into the store, page after page, and again whenever it may have changed.

        Yields how many items there are, as pages come in; read the rows with `window`.
        """
        with self._watching.of(listing) as wish:
            first: Priority | None = priority
            while True:
                began, found = time.perf_counter(), self._cache.window(listing.key(), 0, 0)
                if found.at is not None and first is not None:
                    self._activity.remembered(listing, began, 0, first)
                first = None
                if found.at is not None:
                    yield Seen(found.total, "cached", max(0.0, time.time() - found.at))
                if wish.take_stale():
                    async for seen in pull(self, listing, priority):
                        yield seen
                await wish.changed()

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
        from presscheck.desk.mirroring import Mirroring

        return Mirroring(self, self._watching, pace).run(organization, space)

    def refresh(self, call: Operation[Any] | None = None) -> None:
        """Ask again for one call, or for everything that is looked at; while offline, look for the service now."""
        self._watching.stale(None if call is None else call.key())
        if call is None:
            self.events.wake()
        if self._asking.offline:
            self._writing.background(self._asking.look_now())

    def write(self, call: Operation[T], *, hold: float = 0, collect: bool = False) -> Ticket[T]:
        """Take a write: on disk when this returns, or on its way at once if it may not wait.

        Args:
            call: the write.
            hold: seconds in which it can still be unsent.
            collect: keep it until it is released, where it may wait.

        Raises:
            NotNow: it may not wait, and the service cannot be reached; or the profile is read-only.
        """
        return self._writing.write(call, hold, collect=collect)

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
        return self._writing.me()

    def mark_viewed(self, change_request: str, page: str, revision: str | None) -> None:
        """Mark a page of a change request as viewed at a revision; None takes the mark away."""
        self.outbox.mark_viewed(change_request, page, revision)

    def viewed(self, change_request: str) -> dict[str, str]:
        """Page id → the revision at which it was viewed."""
        return self.outbox.viewed(change_request)

    async def fetch(self, call: Operation[Any], priority: Priority = ASKED) -> bytes:
        """The body of the service's answer, unread; where it lacks a whole feature, its listings are empty.

        Raises:
            NotSupported: the service does not have this call, as it said now or not long ago.
            RequestError: what else came instead.
        """
        try:
            self._support.demand(call)
            return await self._support.noting(call, self._asking.fetch(call, priority))
        except NotSupported:
            if call.feature and isinstance(call, Paged):
                return EMPTY
            raise

    def lacks(self, feature: str) -> bool:
        """Whether the service does not have a feature, such as reviews, as far as it was asked."""
        return self._support.lacks(feature)

    async def _fresh(self, call: Operation[T], priority: Priority) -> tuple[T, bool]:
        value, is_news = await self.keep(call, await self.fetch(call, priority))
        return cast("T", self._writing.lay_over(call, value)), is_news

    async def _asked(self, call: Operation[T], priority: Priority) -> Seen[T | None]:
        try:
            value, is_news = await self._fresh(call, priority)
        except PresscheckError as error:
            known = self.known(call)
            state = "offline" if isinstance(error, NetworkError) else "failed"
            return Seen(known.value if known else None, state, known.age if known else 0.0, error)
        return Seen(value, "fresh" if is_news else "unchanged", 0.0)

    def _noticed(self, notice: str) -> None:
        self.notices = (*self.notices, notice)
        self.world.tell()

    def _connection_changed(self) -> None:
        self.world.connected(online=not self._asking.offline)
        if not self._asking.offline:
            self._watching.stale(None)
            self._writing.wake()
