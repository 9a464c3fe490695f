"""Live updates of the tree: what other people and programs create, change or delete appears within seconds."""

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
"""Seconds between two requests."""
MAX_INTERVAL = 120.0
"""The maximum number of seconds between two requests that fail."""


async def keep_current(session: ContentTree) -> None:
    """Request the listings of the tree again while the user sees it, until it is cancelled; less often after failures.

    On main the listing of spaces tells when pages change. In a change request nothing does: its state and its pages
    are requested, too, while the cursor is in it.
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
            with suppress(PresscheckError):  # the next time may be better
                await engine.poll(ListChangeRequestPages(**path))
