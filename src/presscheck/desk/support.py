"""Calls that this service does not have: asked for once, and believed for a day, so that a newer release is noticed."""

from __future__ import annotations

import asyncio
import json
import time
from concurrent.futures import Executor
from typing import Any

from presscheck.api.operation import Operation
from presscheck.errors import NotSupported
from presscheck.store.cache import Cache

BELIEVED = 24 * 3600.0
"""Seconds."""


class Support:
    """What was said of calls that one release alone has; kept in the cache of the profile."""

    def __init__(self, cache: Cache, thread: Executor) -> None:
        self._cache, self._thread = cache, thread

    def demand(self, call: Operation[Any]) -> None:
        """Let a call pass that the service may have.

        Raises:
            NotSupported: it said not long ago that it does not.
        """
        stored = self._cache.answer(_name(call)) if call.release else None
        if stored and time.time() - stored.at < BELIEVED:
            raise NotSupported(json.loads(stored.json), request=str(call), status=404)

    async def take_note(self, call: Operation[Any], error: NotSupported) -> None:
        """Keep that the service does not have a call."""
        if call.release:
            said = json.dumps(error.message).encode()
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self._thread, self._cache.keep, _name(call), said, time.time())


def _name(call: Operation[Any]) -> str:
    return f"not supported: {call.stored_name()}"
