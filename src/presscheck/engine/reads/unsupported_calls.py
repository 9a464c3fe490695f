"""Calls that this service does not have: asked for once, and believed for a day, so that a newer release is noticed."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable
from concurrent.futures import Executor
from typing import Any

from presscheck.api.operation import Operation
from presscheck.errors import NotSupported
from presscheck.store.cache import Cache

BELIEVED = 24 * 3600.0
"""Seconds."""


class Support:
    """What was said of calls that not every service has; kept in the cache of the profile."""

    def __init__(self, cache: Cache, thread: Executor) -> None:
        self._cache, self._thread = cache, thread

    def demand(self, call: Operation[Any]) -> None:
        """Let a call pass that the service may have.

        Raises:
            NotSupported: it said not long ago that it does not.
        """
        said = self._said(call.feature or call.stored_name()) if call.feature or call.release else None
        if said:
            raise NotSupported(said, request=str(call), status=404)

    def lacks(self, feature: str) -> bool:
        """Whether the service said not long ago that it does not have a feature."""
        return self._said(feature) is not None

    async def noting(self, call: Operation[Any], answer: Awaitable[bytes]) -> bytes:
        """The answer; where the service does not have the call, and so nothing of its feature, that is kept."""
        try:
            return await answer
        except NotSupported as error:
            if call.feature or call.release:
                name, said = call.feature or call.stored_name(), json.dumps(error.message).encode()
                loop = asyncio.get_running_loop()
                await loop.run_in_executor(self._thread, self._cache.keep, _key(name), said, time.time())
            raise

    def _said(self, name: str) -> str | None:
        stored = self._cache.answer(_key(name))
        return json.loads(stored.json) if stored and time.time() - stored.at < BELIEVED else None


def _key(name: str) -> str:
    return f"not supported: {name}"
