"""The sync engine: reads through the cache, subscriptions, queued writes, search and sync.

The engine runs in the event loop of its caller. Cache reads are synchronous and take microseconds; everything that
waits is a coroutine. Writes are on disk before `write` returns.
"""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from presscheck.api.operation import Operation, Page
from presscheck.api.users import User
from presscheck.client.request_priority import Priority
from presscheck.engine.connection import Activity, ConnectionState, Entry, Status
from presscheck.engine.inbox.held_texts import HeldTexts, held_texts
from presscheck.engine.inbox.triage import Triage
from presscheck.engine.mirror.progress import Progress
from presscheck.engine.reads.cached_reads import (
    CacheWriter,
    IndexUpdates,
    ServiceReads,
    StoredReads,
    SubscribedReads,
    UnsupportedCalls,
)
from presscheck.engine.reads.scheduler import BACKGROUND, PREFETCH, REQUESTED, VISIBLE, RequestScheduler, Service
from presscheck.engine.reads.subscriptions import Subscriptions
from presscheck.engine.results import Result, Window
from presscheck.engine.search.search import Hit, Search
from presscheck.engine.shortcuts import Shortcuts
from presscheck.engine.writes.pending_writes import OutboxEntry, PendingWrite, PendingWrites, SignedInUser
from presscheck.engine.writes.write_queue import OutboxActions, WriteQueue
from presscheck.errors import PresscheckError
from presscheck.store.cache import Cache, Condition
from presscheck.store.outbox import Outbox, Row

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
    from presscheck.api.sites import PublishSite
    from presscheck.client.responses import Reply
    from presscheck.engine.inbox.event_log import EventLog
    from presscheck.engine.inbox.notification_settings import NotificationSettings
    from presscheck.engine.search.backlinks import LocalLinks, OtherUses
    from presscheck.engine.site_config.snapshots import SnapshotRecorder
    from presscheck.engine.writes.folder_push import PushFolder
    from presscheck.engine.writes.history import HistoryEntry, WriteHistory

T = TypeVar("T")
M = TypeVar("M")
Pace = Callable[[], Awaitable[None]]
PENDING = 1e12
"""The time of a review that is not sent yet, later than the time of any cached review."""


def _import_writes() -> None:
    for module in ("effects", "inverses", "overlays"):
        import_module(f"presscheck.engine.writes.{module}")


class Engine:
    """The facade for reads, subscriptions, writes, search and sync of one profile.

    Args:
        connect: creates the client; called when it is first needed.
        cache: the cached responses of the service.
        outbox: the unsent writes, and local state.
        read_only: whether to reject every write.
        settle: seconds to wait before checking a write of unknown delivery; None for the default.
        activity: the log to which the client reports its requests.
        user: the id, e-mail address or name of the user, for a service without an operation for the current user.
        snapshots: the directory of the site snapshots; None to keep no snapshots.

    Attributes:
        notices: messages for the user, such as about a file that could not be read.
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
        user: str | None = None,
        snapshots: Path | None = None,
    ) -> None:
        self._snapshots = snapshots
        self._recorder: SnapshotRecorder | None = None
        self._notes: dict[str, asyncio.Task[None]] = {}
        """The tasks that record the published state of a site, by site id."""
        self._are_writes_prepared = False
        self.notices = tuple(notice for notice in (cache.notice, outbox.notice) if notice)
        cache.notice = None
        self.outbox, self._activity = outbox, activity or Activity()
        self._scheduler = RequestScheduler(connect, self._connection_changed)
        self._subscriptions = Subscriptions()
        self._user = SignedInUser(outbox)
        self._pending = PendingWrites(outbox, self._user)
        self.connection = ConnectionState(self._pending.entries, read_only=read_only)
        self._cache_writer = CacheWriter(cache, self._subscriptions, self._add_notice)
        self._index = IndexUpdates(self._cache_writer.do)
        self._stored_reads = StoredReads(cache, self._cache_writer, self._pending, self._activity, self._index.schedule)
        self._unsupported = UnsupportedCalls(cache, self._cache_writer.thread)
        self._reads = ServiceReads(self._scheduler, self._unsupported, self._stored_reads, self._pending, user)
        self._subscribed = SubscribedReads(self._reads, self._subscriptions)
        self._search = Search(self._reads, self._cache_writer.do, self._index)
        self.triage = Triage(outbox)
        self.shortcuts = Shortcuts(outbox)
        self._write_queue = WriteQueue(
            outbox,
            self._pending,
            self._scheduler,
            self._subscriptions,
            self._reads,
            self._stored_reads,
            self._user,
            read_only=read_only,
            settle=settle,
            push=self._push_folder,
            keep=self._keep_snapshot,
            note=self._note_publish,
            changed=self.connection.notify,
            sent=lambda call: self.events.record_own(call),
        )
        self._outbox_actions = OutboxActions(outbox, self._write_queue.changed)
        self._write_history: WriteHistory | None = None

    @cached_property
    def notification_settings(self) -> NotificationSettings:
        """The muted and followed change requests, threads and spaces."""
        # 5 ms with the events, not for a command that only reads
        from presscheck.engine.inbox.event_log import INBOX_PATHS
        from presscheck.engine.inbox.notification_settings import NotificationSettings

        return NotificationSettings(self.outbox, lambda: self._subscriptions.news_paths(INBOX_PATHS))

    @cached_property
    def events(self) -> EventLog:
        """The stored events and the poller."""
        from presscheck.engine.inbox.event_log import EventLog  # 5 ms, not for a command that only reads

        return EventLog(
            self._reads, self.connection, self.outbox, self.triage, self.notification_settings, self._subscriptions
        )

    async def start(self) -> None:
        """Start sending requests and queued writes."""
        self._scheduler.start()
        self._write_queue.start()
        self._index.schedule()

    async def close(self) -> None:
        """Stop immediately and close all files; unsent writes stay in the outbox."""
        await self._index.close()
        await self._write_queue.close()
        await self._scheduler.close()
        await self._cache_writer.close()
        self.outbox.close()

    def search(
        self,
        text: str,
        *,
        limit: int = 50,
        organization: str | None = None,
        index_timeout: float = 0.2,
        local_only: bool = False,
    ) -> AsyncIterator[Result[tuple[Hit, ...]]]:
        """Search the cached pages, change requests and comments, then the service.

        Args:
            text: words or their beginnings, and "phrases"; all must match.
            limit: the maximum number of hits.
            organization: search only in the organization with this id.
            index_timeout: seconds to spend on updating the index before searching.
            local_only: do not ask the service.
        """
        return self._search.search(text, limit, organization, index_timeout, local_only=local_only)

    async def local_links(self, space: str, change_request: str | None = None) -> LocalLinks | None:
        """Return the links in the cached pages of a space or change request, or None if the page tree is not cached."""
        return await self._search.links(space, change_request)

    async def uses_elsewhere(self, space: str, addresses: frozenset[str]) -> OtherUses:
        """Return the cached pages that link to any of the addresses, in other spaces of the same organization."""
        return await self._search.uses_elsewhere(space, addresses)

    async def specification_uses(self, organization: str, names: frozenset[str]) -> OtherUses:
        """Return the cached pages of an organization whose OpenAPI blocks have one of these specification names."""
        return await self._search.specification_uses(organization, names)

    async def read(self, call: Operation[T], *, priority: Priority = REQUESTED) -> T:
        """Return the response of the service, or the cached response while the service cannot be reached.

        Raises:
            PresscheckError: the service returned an error, or it cannot be reached and nothing is cached.
        """
        return await self._reads.read(call, priority=priority)

    def known(self, call: Operation[T], *, priority: Priority | None = None) -> Result[T] | None:
        """Return the cached response with pending writes applied, or None if no response is cached.

        Args:
            call: the read.
            priority: the priority to write to the activity log; None to leave the read out of the log.
        """
        return self._stored_reads.known(call, priority)

    def window(self, listing: Operation[Page[M]], start: int, count: int) -> Window[M]:
        """Return `count` cached rows of a listing that `watch_listing` fetched, from `start` on."""
        return self._stored_reads.window(listing, start, count)

    def rows(self, listing: Operation[Page[M]], places: Iterable[int]) -> dict[int, M]:
        """Return the cached rows of a listing at these positions, by position. Uncached rows are left out."""
        return self._stored_reads.rows(listing, places)

    def positions(self, listing: Operation[Page[Any]], ids: Iterable[str]) -> dict[str, int]:
        """Return the positions of the items with these ids in a cached listing, by id."""
        return self._stored_reads.positions(listing, ids)

    def first_matching(self, listing: Operation[Page[Any]], conditions: Iterable[Condition], first: int) -> array[int]:
        """Return the positions of the rows that meet all conditions, in the first `first` rows of a cached listing."""
        return self._stored_reads.first_matching(listing, conditions, first)

    def own_reviews(self) -> dict[str, float]:
        """Return the times of the user's latest reviews by change request id.

        Only reviews that the cache may lack are included: reviews of this session and pending reviews.
        """
        from presscheck.api.change_requests import SubmitReview  # 25 ms, only for an inbox

        pending = {
            entry.call.change_request_id: PENDING
            for entry in self._pending.entries()
            if isinstance(entry.call, SubmitReview) and entry.state in ("waiting", "sending")
        }
        return {**self.events.reviewed, **pending}

    def held_texts(self) -> dict[str, HeldTexts]:
        """Return the numbers of drafts and held comments by change request id; other drafts are counted under ""."""
        return held_texts(self._pending.entries(), self.outbox.draft_keys())

    def remember(self, name: str, json: str) -> None:
        """Store a text of a screen in the cache. It may be evicted."""
        self._stored_reads.remember(name, json)

    async def keep(self, call: Operation[T], body: bytes, request_id: str | None = None) -> tuple[T, bool]:
        """Parse and cache a response in the cache's thread.

        Returns:
            The parsed response, and whether it differs from the cached response.

        Raises:
            MalformedAnswer: the response does not have the declared type.
        """
        return await self._stored_reads.keep(call, body, request_id)

    async def in_store(self, work: Callable[[Cache], T]) -> T:
        """Run a function on the cache in the writer thread and return its result."""
        return await self._stored_reads.in_store(work)

    def watch(
        self, call: Operation[T], *, priority: Priority = VISIBLE, known: Result[T] | None = None
    ) -> AsyncIterator[Result[T | None]]:
        """Subscribe to a call: yield the cached result, then the fresh result, and again after each change.

        The iterator ends only when it is closed. `value` is None if nothing is cached and the request failed. `known`
        is the cached result if the caller has it already; it is not yielded again.
        """
        return self._subscribed.watch(call, priority, known)

    def watch_listing(
        self, listing: Operation[Page[Any]], *, priority: Priority = VISIBLE
    ) -> AsyncIterator[Result[int]]:
        """Subscribe to a listing: fetch all its pages into the cache, and again after each change.

        Yields the number of items after each page, which is the total if the service reports it. Read the rows with
        `window`.
        """
        return self._subscribed.watch_listing(listing, priority)

    async def poll(self, call: Operation[T]) -> T:
        """Fetch a response in the background. Subscribers are notified only if it differs from the cached response.

        Raises:
            RequestError: the request failed.
        """
        return await self._subscribed.poll(call)

    def activity(self) -> AsyncIterator[tuple[Entry, ...]]:
        """Yield the entries of the activity log, newest first, and again after each new entry."""
        return self._activity.watch()

    def sync(
        self, organization: str | None = None, space: str | None = None, *, pace: Pace | None = None
    ) -> AsyncGenerator[Progress]:
        """Fetch all content that screens show and that changed since the last sync. Yields the progress.

        Args:
            organization: the id of the only organization to sync; None for all.
            space: the id of the only space to sync; None for all.
            pace: awaited before each request, to limit the rate.

        Raises:
            NetworkError: the service cannot be reached any more; the next sync continues from here.
            RequestError: a listing could not be fetched.
        """
        from presscheck.engine.mirror.mirror import MirrorRun  # 7 ms, only for a sync

        return MirrorRun(self._reads, self._subscriptions, pace).run(organization, space)

    def refresh(self, call: Operation[Any] | None = None) -> None:
        """Fetch a subscribed call again, or all subscribed calls if `call` is None.

        While offline, check the connection now.
        """
        self._subscriptions.stale(None if call is None else call.key())
        if call is None:
            self.events.wake()
        if self._scheduler.offline:
            self._write_queue.background(self._scheduler.check_connection())

    def write(
        self,
        call: Operation[T],
        *,
        hold: float = 0,
        collect: bool = False,
        base: dict[str, Any] | None = None,
        agent: str | None = None,
        is_part: bool = False,
    ) -> PendingWrite[T]:
        """Queue a write, which is on disk when this returns. A write that cannot be queued is sent immediately.

        Args:
            call: the write.
            hold: seconds before the write is sent, in which `unsend` can undo it.
            collect: whether to keep the write until `release` is called, if it can be queued.
            base: for an edit of a page that is queued: the page before the edit, see `page_merge.page_base`. The edit
                is merged with edits of others when it is sent.
            agent: the name of the agent that wrote it. Its write is always queued.
            is_part: whether the write is a part of a longer task that can be continued, such as the push of a folder.
                If its delivery is unknown, it does not stay in the outbox: the task compares and sends it again.

        Raises:
            ReadOnly: the profile is read-only.
            NotNow: the write cannot be queued, and the service cannot be reached.
        """
        return self._write_queue.write(call, hold, collect=collect, base=base, agent=agent, is_part=is_part)

    @property
    def site_snapshots(self) -> SnapshotRecorder:
        """The recorder of site snapshots: the configuration of a site before its changes and after each publish."""
        from presscheck.engine.site_config.snapshots import SnapshotRecorder  # 50 ms, only for sites

        if self._recorder is None:
            self._recorder = SnapshotRecorder(
                self._snapshots, self._write_queue.reconciler.read, lambda: self.me.display_name, self._add_notice
            )
        return self._recorder

    async def _keep_snapshot(self, call: Operation[Any], number: int) -> None:
        if "site_id" in type(call).model_fields:
            await self.site_snapshots.before(call, number)

    async def _push_folder(self, call: PushFolder) -> None:
        from presscheck.engine.checkout.queued_push import send_push  # 120 ms, only for a folder

        await send_push(self, call)

    def _note_publish(self, call: Operation[Any], number: int, answer: Any) -> None:
        """If the write published a site, start recording the published state, without delaying the caller."""
        if "site_id" in type(call).model_fields:
            from presscheck.api.sites import PublishSite, Site  # 5 ms, only for sites

            # if payment is due first, the answer is not a site
            if isinstance(call, PublishSite) and isinstance(answer, Site):
                self._notes[call.site_id] = self._write_queue.background(self._note_published(call, number))

    async def _note_published(self, call: PublishSite, number: int) -> None:
        from presscheck.engine.publish.publishing import note_published  # 50 ms, only for sites

        try:
            await note_published(self, call, number)
        except PresscheckError as error:  # such as a full disk; the site is live anyway
            self._add_notice(f"What was published could not be noted: {error.message}")

    async def noted(self, site_id: str | None = None) -> None:
        """Wait until every publish of a site is recorded; if `site_id` is None, every publish of any site."""
        notes = [note for site, note in self._notes.items() if site_id in (None, site) and not note.done()]
        if notes:
            await asyncio.wait(notes)

    def waiting(self) -> tuple[OutboxEntry, ...]:
        """Return all unsent writes, oldest first."""
        return self._pending.entries()

    @property
    def _history(self) -> WriteHistory:
        from presscheck.engine.writes.history import WriteHistory  # 63 ms, only for the history and an undo

        if self._write_history is None:
            queue, stored = self._write_queue, self._stored_reads
            self._write_history = WriteHistory(self.outbox, queue.guard, stored, self._unsupported.reason, queue.author)
        return self._write_history

    def history(self) -> tuple[HistoryEntry, ...]:
        """Return the writes that were sent, refused or discarded: the newest 500 of the last 30 days, newest first."""
        return self._history.entries()

    def place_name(self, call: Operation[Any]) -> str:
        """Return the name of the place that a write changes, such as `#5 Rewrite the auth guide › Tokens`.

        Returns ids where no names are cached.
        """
        return self._history.place_name(call)

    def history_entry(self, number: int) -> HistoryEntry | None:
        """Return a write of the history, or None if the history does not have it."""
        return self._history.entry(number)

    async def check_undo(self, number: int) -> None:
        """Check that a sent write can be undone, given the present state of the service.

        Raises:
            ChangedSince: the written values were changed since; the error has both texts.
            PresscheckError: the write cannot be undone for another reason, or the service cannot be reached.
        """
        await self._history.check(number)

    def undo(self, number: int) -> list[PendingWrite[Any]]:
        """Undo a sent write by queueing or sending the writes that reverse it. Returns these writes.

        Returns an empty list if the write is being undone already.

        Raises:
            PresscheckError: the write cannot be undone, or not now.
        """
        return self._write_queue.undo(number, self._history.calls(number))

    def prepare_writes(self) -> None:
        """Import the modules for writes in a thread.

        They take 70 ms, which would freeze the screen at the first write.
        """
        if not self._are_writes_prepared:
            self._are_writes_prepared = True
            asyncio.get_running_loop().run_in_executor(None, _import_writes)

    def may_wait(self, call: type[Operation[Any]]) -> bool:
        """Return whether a write can be queued in the outbox while offline."""
        from presscheck.engine.writes.effects import may_wait  # 30 ms, only for a write

        return may_wait(call)

    def unsend(self, number: int) -> Operation[Any] | None:
        """Undo an unsent write. Returns its call, so that its text can be edited.

        Returns None if the write is being sent or is no longer in the outbox.
        """
        return self._outbox_actions.unsend(number)

    def retry(self, number: int) -> bool:
        """Send a failed write again. Returns False if the write has not failed."""
        return self._outbox_actions.retry(number)

    def send_now(self, number: int) -> bool:
        """Send a write before the failed writes ahead of it.

        Returns False if the write refers to a failed write, such as a reply to an unsent comment.
        """
        return self._outbox_actions.send_now(number)

    def rewrite(self, number: int, call: Operation[Any]) -> bool:
        """Replace a pending or refused write by this call.

        Returns False if the write is in another state or is gone, or if it has a base; see `replace_edit`.
        """
        return self._outbox_actions.rewrite(number, call)

    def move_to_drafts(self, numbers: Collection[int], texts: Mapping[str, str], about: Mapping[str, str]) -> bool:
        """Move queued edits to a draft. Returns False if one of them is being sent or is gone.

        Args:
            numbers: the outbox rows.
            texts: the text of the draft and the text before the edit, each under its draft key.
            about: the details of the draft.
        """
        return self._outbox_actions.move_to_drafts(numbers, texts, about)

    def replace_edit(self, row: Row, call: Operation[Any]) -> bool:
        """Replace the text of a pending edit that was queued with a base, see `write`.

        Returns False if the edit has no base, or if its outbox row has changed since `row` was read.
        """
        return self._outbox_actions.replace_edit(row, call)

    def release(self, numbers: Collection[int], *, hold: float = 0) -> None:
        """Send collected writes in their original order. All writes are released in a single transaction.

        Args:
            numbers: the outbox rows of the writes.
            hold: seconds before the writes are sent, in which `unsend` can undo them.
        """
        self._outbox_actions.release(numbers, hold=hold)

    def drop(self, number: int, *, only_held: bool = False) -> bool:
        """Discard an unsent write. Returns False if it is being sent, or is already sent or discarded.

        Args:
            number: the outbox row.
            only_held: also return False if the write was released.
        """
        return self._outbox_actions.drop(number, only_held=only_held)

    def drop_unanswered(self, number: int) -> bool:
        """Discard a write that was sent but not answered.

        Returns False if the write is in another state, or if another process may be waiting for the answer.
        """
        return self._outbox_actions.drop_unanswered(number)

    @property
    def status(self) -> Status:
        """The connection status, with the numbers of pending and failed writes."""
        return self.connection.status

    @property
    def offline_reason(self) -> str:
        """Why the service cannot be reached; empty while online."""
        return str(self._scheduler.offline or "")

    @property
    def is_index_settled(self) -> bool:
        """Whether the search index is up to date with the cache."""
        return self._index.is_settled

    def on_status(self, listener: Callable[[Status], None]) -> Callable[[], None]:
        """Call the listener with each new status. Returns a function that removes the listener."""
        return self.connection.listen(listener)

    @property
    def me(self) -> User:
        """The signed-in user; a placeholder with the id `me` if unknown."""
        return self._user.user

    def mark_viewed(self, change_request: str, page: str, revision: str | None) -> None:
        """Mark a page of a change request as viewed at a revision. None removes the mark."""
        self.outbox.mark_viewed(change_request, page, revision)

    def viewed(self, change_request: str) -> dict[str, str]:
        """Return the revision at which each page of a change request was viewed, by page id."""
        return self.outbox.viewed(change_request)

    async def fetch(self, call: Operation[Any], priority: Priority = REQUESTED) -> bytes:
        """Return the unparsed response body.

        If the service does not have the operation, the body is made from the responses of other operations where
        possible.

        Raises:
            NotSupported: the service answered now or in the last 24 hours that it does not have the operation.
            RequestError: the request failed.
        """
        return await self._reads.fetch(call, priority)

    async def download(self, call: Operation[Any], url: str, limit: int | None = None) -> bytes:
        """Return the bytes of a file whose URL is in the response to `call`. They are not cached.

        Args:
            call: the read whose response has the URL.
            url: the URL of the file.
            limit: the maximum size in bytes; None for the client's default.

        Raises:
            RequestError: the file cannot be downloaded.
        """
        return await self._scheduler.service.download(call, url, limit)

    async def visit(self, call: Operation[Any], url: str) -> int:
        """Return the HTTP status of a published page for a visitor. The wait is bounded.

        Raises:
            RequestError: the page cannot be reached.
        """
        return await self._scheduler.service.visit(call, url)

    async def read_page(self, call: Operation[Any], url: str) -> Reply:
        """Return a page or a file of a published site as a visitor gets it. Redirects are not followed.

        Args:
            call: the read that error messages name.
            url: the URL.

        Raises:
            RequestError: the page cannot be read.
        """
        return await self._scheduler.service.read_page(call, url)

    def lacks(self, feature: str) -> bool:
        """Return whether a request showed that the service does not have a feature, such as reviews."""
        return self._unsupported.lacks(feature)

    def missing_reason(self, operation: type[Operation[Any]]) -> str | None:
        """Return why the service cannot do an operation, such as *This service has no reviews*.

        Returns None if the operation may be available.
        """
        return self._unsupported.reason(operation)

    def write_reason(
        self, write: type[Operation[Any]] | None = None, what: str = "this", *, at_once: bool = False
    ) -> str | None:
        """Return why a write can be neither sent nor queued now, or None if it can.

        The reason is the profile, the connection or the service.

        Args:
            write: the operation; None for an operation that every service has and that is never queued.
            what: a noun for the message, such as *edits*.
            at_once: whether the user waits for the answer, so that the write is not queued even if it could be.
        """
        status = self.connection.status
        if status.read_only:
            return "this profile is read-only"
        if not status.online and (at_once or write is None or not self.may_wait(write)):
            return f"you are offline, and {what} cannot be queued"
        return None if write is None else self._unsupported.reason(write)

    async def people(self, organization: str) -> list[User]:
        """Return the people of an organization that the service lists: team members, authors and reviewers.

        Raises:
            RequestError: a request failed.
        """
        return await self._reads.people(organization)

    def set_user(self, user: str) -> None:
        """Set the user by id, e-mail address or name, for a service without an operation for the current user.

        The signed-in user and all subscribed calls are read again.
        """
        self._reads.set_user(user)
        self._write_queue.user_changed()
        self.refresh()

    def _add_notice(self, notice: str) -> None:
        self.notices = (*self.notices, notice)
        self.connection.notify()

    def _connection_changed(self) -> None:
        if not self._scheduler.offline:
            self._subscriptions.stale(None)
            self._write_queue.wake()
        # last, because it counts the pending writes, and the file may be unreadable for a while
        self.connection.set_online(online=not self._scheduler.offline)
