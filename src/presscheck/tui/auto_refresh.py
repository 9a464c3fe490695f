"""Background sync of the offline cache while the user is idle.

Items are read one after another at the lowest priority. The sync pauses after a key press and while offline.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from contextlib import aclosing
from time import monotonic
from typing import TYPE_CHECKING

from presscheck.errors import PresscheckError

if TYPE_CHECKING:
    from presscheck.engine.engine import Engine

IDLE = 5.0
"""Seconds without input before the first read."""
POLL = 1.0
"""Seconds between two checks of the connection."""
INTERVAL = 300.0
"""Seconds from the end of a sync to the start of the next."""


class AutoRefresh:
    """The background sync of an app.

    Args:
        engine: syncs the cache.
        last_input: returns the time of the last input (monotonic seconds).
    """

    def __init__(self, engine: Engine, last_input: Callable[[], float]) -> None:
        self._engine, self._last_input = engine, last_input
        self._lock = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start the sync; the first read waits until the user is idle."""
        self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Stop at once; the next sync continues from this point."""
        if self._task:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        while True:
            await self._wait_until_idle()
            try:
                # a failed read is repeated in the next run; visible screens show their own errors
                with contextlib.suppress(PresscheckError):
                    async with aclosing(self._engine.sync(pace=self._wait_until_idle)) as progress:
                        async for _ in progress:
                            pass
            except Exception as error:  # no caller waits for this task before the app ends
                context = {"message": "the background sync failed", "exception": error}
                asyncio.get_running_loop().call_exception_handler(context)
            await asyncio.sleep(INTERVAL if self._engine.status.online else IDLE)

    async def _wait_until_idle(self) -> None:
        """Wait until the user is idle and the connection is online."""
        async with self._lock:
            while True:
                wait = self._last_input() + IDLE - monotonic()
                if wait <= 0 and self._engine.status.online:
                    return
                await asyncio.sleep(max(wait, POLL))
