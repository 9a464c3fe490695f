"""The list of what happened, which the inbox, its notices, the notification and `inbox --watch` read.

It and the last look stand in the file of the outbox, beside what was put away: they are what this person has seen,
which no service can tell again and a cache may forget. Whoever looks first writes; a look that another instance was
quicker than is thrown away, so that nothing is told twice and no restart invents anything.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from presscheck.api.change_requests import ListOrganizationChangeRequests, MergeChangeRequest
from presscheck.api.operation import Operation
from presscheck.api.sites import PublishSite
from presscheck.api.users import GetCurrentUser
from presscheck.engine.connection_state import ConnectionState
from presscheck.engine.inbox.activity_poller import poll
from presscheck.engine.inbox.events import Event, diff_snapshots, read_event, read_snapshot, write_event, write_snapshot
from presscheck.engine.inbox.triage import Triage
from presscheck.engine.reads.service_reads import ServiceReads
from presscheck.engine.reads.subscriptions import Subscriptions
from presscheck.errors import PresscheckError
from presscheck.store.outbox import Outbox

PAUSE = 60.0
"""Seconds between two looks, when nobody wants it otherwise."""
LONGEST = 600.0
"""Seconds between two looks that fail, at most."""
KEPT = 200
"""Events that are kept."""
INBOX_PATHS = ("/orgs/*/change-requests",)
"""The paths of the listings that an inbox shows."""
ROWS_KEY = f"{ListOrganizationChangeRequests.stored_name()} "
VERSION, EVENT, SEEN, OWN, NOTIFIED = "events", "event ", "seen ", "own ", "notified"
"""Under these names it is remembered: how often the list was written, its items, the last look, own acts, and up to
where somebody was notified."""


class EventLog:
    """What happened, and whoever wants to hear of it.

    Args:
        reads: asks the service.
        world: tells when the service is back.
        outbox: where it is kept.
        triage: what comes back when something happens to it.
        watching: the open watches; those of the inbox are woken where its rows may have changed.

    Attributes:
        pause: seconds between two looks.
        first: seconds before the first one: the start belongs to what the eye sees.
    """

    pause, first = PAUSE, 20.0

    def __init__(
        self, reads: ServiceReads, world: ConnectionState, outbox: Outbox, triage: Triage, watching: Subscriptions
    ) -> None:
        self._reads, self._world, self._watching = reads, world, watching
        self._outbox, self._triage = outbox, triage
        self._bell = asyncio.Event()
        self._last = ""
        self.unread: set[str] = set()
        """Change requests, by id, that something happened to since they were last opened in this run."""

    async def watch(self) -> AsyncIterator[tuple[tuple[Event, ...], PresscheckError | None]]:
        """Look again and again; yields what happened since, and why it could not be seen where it could not.

        Begins with what is written down from now on. Looks that fail come ever more rarely; when the service is back,
        the next one comes at once.
        """
        self._last = max(self._outbox.recall_all(EVENT), default="")
        wait = self.pause
        await asyncio.sleep(self.first)
        while True:
            self._bell.clear()
            error = None
            try:
                await self.poll()
                wait = self.pause
            except PresscheckError as found:
                error, wait = found, min(wait * 2, max(LONGEST, self.pause))
            yield self._news(), error
            is_online = self._world.status.online
            ends = self._world.listen(lambda now, was=is_online: self._bell.set() if now.online > was else None)
            try:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._bell.wait(), wait)
            finally:
                ends()

    def wake(self) -> None:
        """Look now."""
        self._bell.set()

    async def poll(self) -> None:
        """Look once, and write down what happened; nothing, where another instance did so meanwhile.

        Raises:
            PresscheckError: not all of it can be seen now.
        """
        me = await self._me()
        version, text = self._outbox.recall(VERSION), self._outbox.recall(SEEN + me)
        before, own = read_snapshot(text), self._outbox.recall_all(OWN)
        found = await poll(self._reads, me, before)
        self._triage.followed = {key for key, one in found.snapshot.requests.items() if one.deeds is not None}
        after = write_snapshot(found.snapshot)
        if after != text or own:
            events = diff_snapshots(before, found.snapshot, me, own)
            self._outbox.swap(VERSION, version, self._written(int(version or 0) + 1, SEEN + me, after, own, events))
        self._watching.news(found.news)
        if any(key.startswith(ROWS_KEY) for key in found.news):
            self._watching.news_paths(INBOX_PATHS)  # rows of one listing stand in others too

    def recent(self) -> tuple[Event, ...]:
        """What happened last, the newest first."""
        kept = self._outbox.recall_all(EVENT)
        found = (read_event(kept[key]) for key in sorted(kept, reverse=True))
        return tuple(event for event in found if event)

    def did(self, call: Operation[Any]) -> None:
        """This person did something whose author no answer tells: it will be no event."""
        if isinstance(call, MergeChangeRequest):
            self._outbox.remember(f"{OWN}space {call.space_id}", "1")
        elif isinstance(call, PublishSite):
            self._outbox.remember(f"{OWN}site {call.site_id}", "1")

    def may_notify(self) -> bool:
        """True for the first of all instances that asks since something happened."""
        before = self._outbox.recall(NOTIFIED)
        return (before or "") < self._last and self._outbox.swap(NOTIFIED, before, {NOTIFIED: self._last})

    async def _me(self) -> str:
        known = self._reads.stored.known(GetCurrentUser())
        return (known.value if known else await self._reads.read(GetCurrentUser())).id

    def _written(
        self, version: int, seen: str, snapshot: str, own: dict[str, str], events: tuple[Event, ...]
    ) -> dict[str, str | None]:
        """All that is remembered after a look, and what is forgotten."""
        new = {f"{EVENT}{version:09}.{number:04}": write_event(event) for number, event in enumerate(events)}
        kept = sorted([*(EVENT + key for key in self._outbox.recall_all(EVENT)), *new])
        return {
            VERSION: str(version),
            seen: snapshot,
            **{OWN + key: None for key in own},
            **new,
            **dict.fromkeys(kept[:-KEPT]),
        }

    def _news(self) -> tuple[Event, ...]:
        """What was written down since this was asked last, by whomever."""
        kept = self._outbox.recall_all(EVENT)
        new = sorted(key for key in kept if key > self._last)
        events = tuple(event for event in (read_event(kept[key]) for key in new) if event)
        if new:
            self._last = new[-1]
            self.unread |= {event.request for event in events if event.request}
            for event in events:
                self._triage.something_happened(event.request, event.at)
            self._watching.news_paths(INBOX_PATHS)
        return events
