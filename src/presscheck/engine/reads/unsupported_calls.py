"""Remembers for 24 hours which optional operations the service does not have, so that an upgrade is noticed.

It is stored in the cache, which belongs to a profile, a service and a token.
"""

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
TELLING = (
    "user lookup",
    "list of spaces",
    "page content outside change requests",
    "list of changes",
    "list of members",
)
"""Features that every session reads. A service without most of them has the operations of its document and no others;
writes of other features, which are only found out by sending one, are then taken for missing, too."""
ENOUGH = 3
_LACKING = "This service has no "


class UnsupportedCalls:
    """The operations that the service does not have, stored in the cache of the profile.

    Args:
        cache: the cache.
        thread: its writer thread.
    """

    def __init__(self, cache: Cache, thread: Executor) -> None:
        self._cache, self._thread = cache, thread
        self._known: dict[str, tuple[str, float] | None] = {}
        self._answered: set[str] = set()

    def check(self, call: Operation[Any]) -> None:
        """Check that the service may have an operation.

        Raises:
            NotSupported: it answered in the last 24 hours that it does not.
        """
        message = self._message(call.optional_name()) if call.feature or call.release else None
        if message:
            raise NotSupported(message, request=str(call), status=404)

    def reason(self, operation: type[Operation[Any]]) -> str | None:
        """Why an operation cannot be used, such as *This service has no reviews*; None if it may be possible."""
        if not operation.feature and not operation.release:
            return None
        message = self._message(operation.feature or operation.optional_name())
        if message or not operation.feature or self._answered:
            return message
        is_document = sum(self._message(name) is not None for name in TELLING) >= ENOUGH
        return lacking(operation.feature) if is_document else None

    def lacks(self, feature: str) -> bool:
        """Whether the service answered in the last 24 hours that it does not have a feature."""
        return self._message(feature) is not None

    async def record(self, call: Operation[Any], response: Awaitable[bytes]) -> bytes:
        """Wait for a response; store it if the service does not have the operation, and so not its whole feature."""
        try:
            body = await response
        except NotSupported as error:
            await self.store(call, error)
            raise
        if call.feature:
            self._answered.add(call.feature)
        return body

    async def store(self, call: Operation[Any], error: NotSupported) -> None:
        """Store that the service does not have an operation."""
        if call.feature or call.release:
            name, now = call.optional_name(), time.time()
            self._known[name] = error.message, now
            loop, message = asyncio.get_running_loop(), json.dumps(error.message).encode()
            await loop.run_in_executor(self._thread, self._cache.keep, _key(name), message, now)

    def _message(self, name: str) -> str | None:
        if name not in self._known:
            stored = self._cache.answer(_key(name))
            self._known[name] = (json.loads(stored.json), stored.at) if stored else None
        known = self._known[name]
        return known[0] if known and time.time() - known[1] < VALID_FOR else None


def lacking(feature: str) -> str:
    """The message for a feature that the service does not have."""
    return f"{_LACKING}{feature}"


def is_about_service(reason: str) -> bool:
    """Whether a reason is that the service does not have an operation."""
    return reason.startswith(_LACKING)


def _key(name: str) -> str:
    return f"not supported: {name}"
