"""The event log: polls for activity and stores new events for the inbox, notifications and `inbox --watch`.

The events and the last snapshot are in the outbox file, because the service cannot list them again and the cache may be
deleted. If two instances poll at the same time, only the first instance stores its events, so that no event is reported
twice.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from typing import Any

from presscheck.api.users import GetCurrentUser, User
from presscheck.engine.connection import ConnectionState
from presscheck.engine.inbox.events import Event, diff_snapshots, read_event, read_snapshot, write_event, write_snapshot
from presscheck.engine.inbox.notification_settings import NotificationSettings
from presscheck.engine.inbox.triage import Triage
from presscheck.engine.reads.cached_reads import ServiceReads
from presscheck.engine.reads.subscriptions import Subscriptions
from presscheck.errors import NotSupported, PresscheckError, StoreError
from presscheck.store.outbox import Outbox

POLL_INTERVAL = 60.0
"""The default number of seconds between two polls."""
MAX_INTERVAL = 600.0
"""Maximum number of seconds between two polls while polls fail."""
MAX_EVENTS = 200
"""Maximum number of stored events."""
INBOX_PATHS = ("/orgs/*/change-requests",)
"""The paths of the listings in the inbox."""
VERSION, EVENT, SEEN, OWN, NOTIFIED = "events", "event ", "seen ", "own ", "notified"
"""Storage keys: the version of the log, its events, the last snapshot, the user's own actions, and the last event that
the user was notified of."""


class EventLog:
    """The stored inbox events, and the poller that adds new events.

    Args:
        reads: reads from the service.
        connection: the connection status; when the service can be reached again, the next poll starts immediately.
        outbox: the file that stores the events.
        triage: the hidden change requests; an event shows a change request again.
        settings: the muted and followed targets.
        subscriptions: the open subscriptions; subscribers of the inbox are notified of changes.

    Attributes:
        pause: seconds between two polls.
        first: seconds before the first poll, so that it does not delay the start.
    """

    pause, first = POLL_INTERVAL, 20.0

    def __init__(
        self,
        reads: ServiceReads,
        connection: ConnectionState,
        outbox: Outbox,
        triage: Triage,
        settings: NotificationSettings,
        subscriptions: Subscriptions,
    ) -> None:
        self._reads, self._connection, self._subscriptions = reads, connection, subscriptions
        self._outbox, self._triage, self._settings = outbox, triage, settings
        self._wake = asyncio.Event()
        self._last = ""
        self.unread: set[str] = set()
        """The ids of change requests with events since the user last opened them in this session."""
        self.reviewed: dict[str, float] = {}
        """The times of the user's reviews in this session, in seconds since the epoch, by change request id."""

    async def watch(self) -> AsyncIterator[tuple[tuple[Event, ...], PresscheckError | None]]:
        """Poll repeatedly. Yields the new events and, if the poll failed, the error.

        The interval grows while polls fail. When the service can be reached again, the next poll starts immediately.
        """
        self._last = max(self._outbox.recall_all(EVENT), default="")
        wait = self.pause
        await asyncio.sleep(self.first)
        while True:
            self._wake.clear()
            events, error = await self._look()
            wait = min(wait * 2, max(MAX_INTERVAL, self.pause)) if error else self.pause
            yield events, error
            is_online = self._connection.status.online
            stop = self._connection.listen(lambda now, was=is_online: self._wake.set() if now.online > was else None)
            try:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(wait):
                        await self._wake.wait()
            finally:
                stop()

    async def _look(self) -> tuple[tuple[Event, ...], PresscheckError | None]:
        """Poll once. Return the new events and, if the poll failed or the events could not be stored, the error."""
        error = None
        try:
            await self.poll()
        except PresscheckError as caught:
            error = caught
        try:
            return self._new_events(), error  # other instances may have stored some
        except StoreError as caught:  # such as a full disk
            return (), caught

    def wake(self) -> None:
        """Poll now."""
        self._wake.set()

    async def poll(self) -> None:
        """Poll once and store the new events, unless another instance did so in the meantime.

        Raises:
            PresscheckError: a request failed.
        """
        # 60 ms, not for a command or before the first poll
        from presscheck.api.change_requests import ListOrganizationChangeRequests
        from presscheck.engine.inbox.activity_poller import poll

        user = await self._user()
        me = user.id if user else ""
        self._settings.reload()
        version, text = self._outbox.recall(VERSION), self._outbox.recall(SEEN + me)
        before, own = read_snapshot(text), self._outbox.recall_all(OWN)
        news = set[str]()
        try:
            result = await poll(self._reads, user, before, self._settings, news)
        finally:  # responses read before an error are cached, so the next poll would not see them as changed
            self._subscriptions.news(news)
            rows = f"{ListOrganizationChangeRequests.stored_name()} "
            if any(key.startswith(rows) for key in news):
                self._subscriptions.news_paths(INBOX_PATHS)  # a row can be in several listings
        requests = result.snapshot.requests
        self._triage.followed = {key for key, request in requests.items() if request.actions is not None}
        after = write_snapshot(result.snapshot)
        if after != text or own:
            # without the user's id, own actions cannot be left out
            events = diff_snapshots(before, result.snapshot, me, own) if me else ()
            events = self._settings.filter_events(events, result.followed_in_part)
            self._outbox.swap(VERSION, version, self._new_state(int(version or 0) + 1, SEEN + me, after, own, events))

    def recent(self) -> tuple[Event, ...]:
        """Return the stored events, newest first."""
        stored = self._outbox.recall_all(EVENT)
        events = (read_event(stored[key]) for key in sorted(stored, reverse=True))
        return tuple(event for event in events if event)

    def record_own(self, call: Any) -> None:
        """Record a write of the user, if it is a merge, a review or a publish.

        A review is recorded because the cache does not have it yet. Merges and publishes are recorded because the
        service may not name their author, and they must not be reported as events. The
        classes of these writes are not imported, because most writes have other classes.
        """
        name = call.qualified_name()
        if name == "change_requests.MergeChangeRequest":
            self._outbox.remember_if_possible(f"{OWN}space {call.space_id}", "1")
        elif name == "change_requests.SubmitReview":
            self.reviewed[call.change_request_id] = time.time()
        elif name == "sites.PublishSite":
            self._outbox.remember_if_possible(f"{OWN}site {call.site_id}", "1")

    def may_notify(self) -> bool:
        """Return whether this instance may send a notification. True for the first caller after each event."""
        before = self._outbox.recall(NOTIFIED)
        return (before or "") < self._last and self._outbox.swap(NOTIFIED, before, {NOTIFIED: self._last})

    async def _user(self) -> User | None:
        """Return the signed-in user, or None if neither the service nor the settings have it."""
        known = self._reads.stored.known(GetCurrentUser())
        if known:
            return known.value
        try:
            return await self._reads.read(GetCurrentUser())
        except NotSupported:
            return None

    def _new_state(
        self, version: int, seen: str, snapshot: str, own: dict[str, str], events: tuple[Event, ...]
    ) -> dict[str, str | None]:
        """Return the values to store after a poll; None deletes a key."""
        new = {f"{EVENT}{version:09}.{number:04}": write_event(event) for number, event in enumerate(events)}
        keys = sorted([*(EVENT + key for key in self._outbox.recall_all(EVENT)), *new])
        return {
            VERSION: str(version),
            seen: snapshot,
            **{OWN + key: None for key in own},
            **new,
            **dict.fromkeys(keys[:-MAX_EVENTS]),
        }

    def _new_events(self) -> tuple[Event, ...]:
        """Return the events that any instance stored since the last call.

        Mark the change requests of the events as unread. Show hidden change requests again; see `Triage.on_event`.
        """
        stored = self._outbox.recall_all(EVENT)
        new = sorted(key for key in stored if key > self._last)
        events = tuple(event for event in (read_event(stored[key]) for key in new) if event)
        if new:
            self.unread |= {event.request for event in events if event.request}
            for event in events:
                self._triage.on_event(event.request, event.at)
            self._last = new[-1]  # last: on a full disk, the next look tries again
            self._subscriptions.news_paths(INBOX_PATHS)
        return events
