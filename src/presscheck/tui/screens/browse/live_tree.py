"""Live updates of the tree: changes by other users and programs appear within seconds."""

from __future__ import annotations

from asyncio import sleep
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from presscheck.api.change_requests import GetChangeRequest
from presscheck.api.content import ListChangeRequestPages
from presscheck.errors import PresscheckError

if TYPE_CHECKING:
    from presscheck.tui.screens.browse.session import ContentTree

INTERVAL = 10.0
"""Seconds between two updates."""
MAX_INTERVAL = 120.0
"""Maximum number of seconds between two updates while they fail."""


async def keep_current(session: ContentTree) -> None:
    """Refresh the listings of the tree while the screen is visible, less often after failures. Runs until cancelled.

    The listing of spaces includes the revisions on main, so it shows when pages change. Change requests have no such
    listing, so the change request under the cursor is refreshed together with its pages.
    """
    wait, engine = INTERVAL, session.screen.engine
    while True:
        await sleep(wait)
        wait = min(wait * 2, max(MAX_INTERVAL, INTERVAL)) if session.has_failed else INTERVAL
        if not (session.screen.is_shown and engine.status.online):
            continue
        for listing in session.listings:
            engine.refresh(listing)
        if request := session.request_of(session.item):
            path: dict[str, Any] = {"space_id": request.space, "change_request_id": request.id}
            engine.refresh(GetChangeRequest(**path))
            with suppress(PresscheckError):  # the next update may succeed
                await engine.poll(ListChangeRequestPages(**path))
