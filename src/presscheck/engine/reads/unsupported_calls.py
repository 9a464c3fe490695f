"""Remembers for 24 hours which optional operations the service does not have, so that an upgrade is noticed."""

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

VALID_FOR = 24 * 3600.0
"""Seconds until an operation is tried again."""


class UnsupportedCalls:
    """The operations that the service does not have, stored in the cache of the profile.

    Args:
        cache: the cache.
        thread: its writer thread.
    """

    def __init__(self, cache: Cache, thread: Executor) -> None:
        self._cache, self._thread = cache, thread

    def check(self, call: Operation[Any]) -> None:
        """Check that the service may have an operation.

        Raises:
            NotSupported: it answered in the last 24 hours that it does not.
        """
        message = self._message(call.feature or call.stored_name()) if call.feature or call.release else None
        if message:
            raise NotSupported(message, request=str(call), status=404)

    def lacks(self, feature: str) -> bool:
        """Whether the service answered in the last 24 hours that it does not have a feature."""
        return self._message(feature) is not None

    async def record(self, call: Operation[Any], response: Awaitable[bytes]) -> bytes:
        """Wait for a response; store it if the service does not have the operation, and so not its whole feature."""
        try:
            return await response
        except NotSupported as error:
            if call.feature or call.release:
                name, message = call.feature or call.stored_name(), json.dumps(error.message).encode()
                loop = asyncio.get_running_loop()
                await loop.run_in_executor(self._thread, self._cache.keep, _key(name), message, time.time())
            raise

    def _message(self, name: str) -> str | None:
        stored = self._cache.answer(_key(name))
        return json.loads(stored.json) if stored and time.time() - stored.at < VALID_FOR else None


def _key(name: str) -> str:
    return f"not supported: {name}"
