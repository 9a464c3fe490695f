"""The quiet refresh: while nobody presses a key, what moved is brought in, so that it can be read without a connection.

It asks one thing after another, at the lowest priority; a key makes it wait, and so does a lost connection.
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

QUIET = 5.0
"""Seconds without a key before anything is asked."""
LOOK = 1.0
"""Seconds between two looks whether there is a connection."""
BETWEEN = 300.0
"""Seconds from the end of one refresh to the next."""


class AutoRefresh:
    """The refresh of one app.

    Args:
        engine: what brings things in.
        touched: when a key was pressed last, by the monotonic clock.
    """

    def __init__(self, engine: Engine, touched: Callable[[], float]) -> None:
        self._engine, self._touched = engine, touched
        self._turn = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin, when it is quiet."""
        self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        """End at once; the next time goes on from here."""
        if self._task:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        while True:
            await self._pace()
            # what cannot be had now is asked for the next time; what is looked at says so itself
            with contextlib.suppress(PresscheckError):
                async with aclosing(self._engine.sync(pace=self._pace)) as progress:
                    async for _ in progress:
                        pass
            await asyncio.sleep(BETWEEN if self._engine.status.online else QUIET)

    async def _pace(self) -> None:
        """Wait until nobody has pressed a key for a while, and there is a connection."""
        async with self._turn:
            while True:
                wait = self._touched() + QUIET - monotonic()
                if wait <= 0 and self._engine.status.online:
                    return
                await asyncio.sleep(max(wait, LOOK))
