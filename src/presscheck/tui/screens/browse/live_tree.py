"""Live updates of the tree: what other people and programs create, change or delete appears within seconds."""

from __future__ import annotations

from asyncio import sleep
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from presscheck.errors import PresscheckError

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.engine.engine import Engine

INTERVAL = 10.0
"""Seconds between two requests."""
MAX_INTERVAL = 120.0
"""The maximum number of seconds between two requests that fail."""


class LiveTree:
    """Requests the listings of the tree again while the user sees it.

    Args:
        engine: requests them.
        listings: returns the subscribed listings.
        pages: returns the pages to look at, which no listing tells about.
        is_shown: whether the user sees the tree.
        has_failed: whether the last request failed.
    """

    def __init__(
        self,
        engine: Engine,
        listings: Callable[[], Sequence[Operation[Any]]],
        pages: Callable[[], Sequence[Operation[Any]]],
        is_shown: Callable[[], bool],
        has_failed: Callable[[], bool],
    ) -> None:
        self._engine, self._listings, self._pages = engine, listings, pages
        self._is_shown, self._has_failed = is_shown, has_failed

    async def run(self) -> None:
        """Request until it is cancelled; less often while requests fail."""
        wait = INTERVAL
        while True:
            await sleep(wait)
            wait = min(wait * 2, max(MAX_INTERVAL, INTERVAL)) if self._has_failed() else INTERVAL
            if self._is_shown() and self._engine.status.online:
                for listing in self._listings():
                    self._engine.refresh(listing)
                for call in self._pages():
                    with suppress(PresscheckError):  # the next time may be better
                        await self._engine.poll(call)
