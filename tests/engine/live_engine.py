"""Engines on a running service, and a helper that waits for a condition."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.running_service import RunningService

from presscheck.config.profile import Profile
from presscheck.engine.engine import Engine
from presscheck.paths import Places
from presscheck.wiring import open_engine


def places_in(home: Path) -> Places:
    """Return directories for the files of a user, all of them in `home`."""
    return Places(home / "config", home / "cache", home / "state", home / "data")


def engine_on(service: RunningService, home: Path, **profile: Any) -> Engine:
    """Open an engine without starting it. It waits only briefly before it checks writes of unknown delivery."""
    options = {"base_url": service.base_url, "token": service.token, **profile}
    engine = open_engine(Profile(**options), places_in(home))
    engine._write_queue.reconciler.settle = 0.05
    return engine


@asynccontextmanager
async def running_engine(service: RunningService, home: Path) -> AsyncIterator[Engine]:
    """Open and start an engine; it is closed at the end of the block."""
    engine = engine_on(service, home)
    await engine.start()
    try:
        yield engine
    finally:
        await engine.close()


async def until(condition: Callable[[], Awaitable[bool] | bool]) -> None:
    """Wait until a condition holds, for at most 20 seconds."""
    async with asyncio.timeout(20):
        while True:
            result = condition()
            if result is True or (not isinstance(result, bool) and await result):
                return
            await asyncio.sleep(0.01)
