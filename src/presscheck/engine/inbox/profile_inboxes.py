"""The inboxes of several profiles, each read through its own engine, with its own token and files."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from presscheck.api.organizations import ListOrganizations
from presscheck.api.users import GetCurrentUser
from presscheck.engine.inbox.event_log import POLL_INTERVAL
from presscheck.engine.inbox.organization_inbox import cached_views, fetch_views
from presscheck.engine.inbox.views import VIEWS, RowDetails, row_details
from presscheck.engine.members import user_id
from presscheck.engine.reads.scheduler import BACKGROUND
from presscheck.errors import NotSignedIn, PresscheckError
from presscheck.text.phrases import parse_time

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest
    from presscheck.engine.engine import Engine
    from presscheck.engine.inbox.views import View

SHOWN_VIEWS = VIEWS[:3]
"""The views that are about the user: needs me, mine and involved."""
MAX_ROWS = 200
"""Maximum number of change requests of a view and an organization."""


@dataclass(frozen=True)
class ProfileRow:
    """A change request of a profile.

    Attributes:
        organization: the title of its organization; empty if the profile has a single organization.
        space: the title of its space.
    """

    profile: str
    organization: str
    space: str
    request: ChangeRequest
    details: RowDetails


class ProfileInbox:
    """The inbox of a profile.

    Args:
        name: the name of the profile.
        open_engine: opens and starts an engine for the name of a profile.

    Attributes:
        engine: the engine; None until it is open.
        rows: the rows of each view, by the id of the view; the previous rows while the profile cannot be read.
        error: the error of the last attempt to open or read the profile; None if it succeeded.
        is_answered: whether the first attempt has ended.
    """

    def __init__(self, name: str, open_engine: Callable[[str], Awaitable[Engine]]) -> None:
        self.name, self._open_engine = name, open_engine
        self.engine: Engine | None = None
        self.rows: Mapping[str, tuple[ProfileRow, ...]] = {}
        self.error: PresscheckError | None = None
        self.is_answered = False
        self._read_at = 0.0
        self._wake = asyncio.Event()

    def wake(self) -> None:
        """Read the inbox now."""
        self._read_at = 0.0
        self._wake.set()

    async def keep_fresh(self, changed: Callable[[], None]) -> None:
        """Read the inbox each `POLL_INTERVAL` seconds until cancelled, and call `changed` when there may be new rows.

        A profile that could not be opened, such as without a token, is tried again only after `wake`: its token may
        come from a program that asks the user.
        """
        while True:
            self._wake.clear()
            left = self._read_at + POLL_INTERVAL - time.monotonic() if self._read_at else 0.0
            if left > 0 or (self._read_at and self.engine is None):
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(left if self.engine else None):
                        await self._wake.wait()
                continue
            await self._refresh(changed)
            self._read_at = time.monotonic()
            changed()

    async def _refresh(self, changed: Callable[[], None]) -> None:
        """Open the engine if necessary, show what is cached, and read the views."""
        try:
            if self.engine is None:
                self.engine = await self._open_engine(self.name)
                await self._read_rows(self.engine)
                changed()
            me = await user_id(self.engine)
            for organization in (await self.engine.read(ListOrganizations(), priority=BACKGROUND)).items:
                await fetch_views(self.engine, organization.id, SHOWN_VIEWS, me, BACKGROUND)
            await self._read_rows(self.engine)
            self.error = None
        except PresscheckError as error:
            self.error = error
        self.is_answered = True

    async def _read_rows(self, engine: Engine) -> None:
        """Read the rows of all views from the cache."""
        user, organizations = engine.known(GetCurrentUser()), engine.known(ListOrganizations())
        me = user.value.id if user else ""
        items = organizations.value.items if organizations else ()
        rows: dict[str, list[ProfileRow]] = {view.id: [] for view in SHOWN_VIEWS}
        for organization in items:
            inbox = await cached_views(engine, organization, SHOWN_VIEWS, me, shows_hidden=False)
            title = organization.title if len(items) > 1 else ""
            for view in SHOWN_VIEWS:
                rows[view.id] += [
                    ProfileRow(
                        self.name, title, inbox.spaces.get(request.space, ""), request, row_details(engine, request, me)
                    )
                    for request in inbox.rows(engine, view, MAX_ROWS)[0]
                ]
        self.rows = {name: tuple(found) for name, found in rows.items()}


class ProfileInboxes:
    """The inboxes of the chosen profiles.

    Args:
        profile: the name of the profile that the app runs with.
        engine: its engine, which the app closes.
        open_other: opens and starts an engine for another profile.

    Attributes:
        inboxes: the inboxes, in the order of the names.
    """

    def __init__(self, profile: str, engine: Engine, open_other: Callable[[str], Awaitable[Engine]]) -> None:
        self._profile, self._engine, self._open_other = profile, engine, open_other
        self.inboxes: tuple[ProfileInbox, ...] = ()

    async def choose(self, names: Iterable[str]) -> None:
        """Show the inboxes of these profiles. Others are closed; those that were shown before stay open.

        A profile whose token was rejected is opened again: the user may have signed in since.
        """
        before = self.inboxes
        kept = {inbox.name: inbox for inbox in before if not isinstance(inbox.error, NotSignedIn)}
        self.inboxes = tuple(kept.get(name) or ProfileInbox(name, self._open) for name in names)
        for inbox in before:
            if inbox not in self.inboxes:
                await self._close(inbox)

    async def keep_fresh(self, changed: Callable[[], None]) -> None:
        """Read all inboxes at the same time, and again and again, until cancelled; see `ProfileInbox.keep_fresh`."""
        async with asyncio.TaskGroup() as group:
            for inbox in self.inboxes:
                group.create_task(inbox.keep_fresh(changed))

    def wake(self) -> None:
        """Read all inboxes now."""
        for inbox in self.inboxes:
            inbox.wake()

    def inbox(self, name: str) -> ProfileInbox | None:
        """Return the inbox of a profile, or None."""
        return next((inbox for inbox in self.inboxes if inbox.name == name), None)

    def rows(self, view: View) -> list[ProfileRow]:
        """Return the rows of a view of all profiles, those updated last first, as in the inbox of one profile."""
        rows = [row for inbox in self.inboxes for row in inbox.rows.get(view.id, ())]
        return sorted(rows, key=_updated_at, reverse=True)

    async def close(self) -> None:
        """Close the engines of the other profiles."""
        await self.choose(())

    async def _open(self, name: str) -> Engine:
        return self._engine if name == self._profile else await self._open_other(name)

    async def _close(self, inbox: ProfileInbox) -> None:
        if inbox.engine and inbox.engine is not self._engine:
            await inbox.engine.close()


def _updated_at(row: ProfileRow) -> datetime:
    return parse_time(row.request.updated_at) or datetime.min.replace(tzinfo=UTC)
