"""Reads from the service: cache the response, and fall back to the cache if the service cannot be reached."""

from __future__ import annotations

from typing import Any, TypeVar, cast

from presscheck.api.operation import Operation, Paged
from presscheck.client.request_context import Priority
from presscheck.engine.reads.scheduler import REQUESTED, RequestScheduler
from presscheck.engine.reads.stored_reads import StoredReads
from presscheck.engine.reads.unsupported_calls import UnsupportedCalls
from presscheck.engine.results import Result
from presscheck.engine.writes.pending_writes import PendingWrites
from presscheck.errors import NetworkError, NotSupported, PresscheckError

T = TypeVar("T")
EMPTY = b'{"items": []}'


class ServiceReads:
    """Reads from the service, through the cache.

    Args:
        scheduler: sends the requests.
        unsupported: the calls that the service does not have.
        stored: reads and writes the cache; also an attribute.
        pending: the unsent writes, which are applied to each response.
    """

    def __init__(
        self, scheduler: RequestScheduler, unsupported: UnsupportedCalls, stored: StoredReads, pending: PendingWrites
    ) -> None:
        self._scheduler, self._unsupported, self._pending = scheduler, unsupported, pending
        self.stored = stored

    @property
    def is_online(self) -> bool:
        """Whether the service can be reached."""
        return self._scheduler.offline is None

    async def fetch(self, call: Operation[Any], priority: Priority = REQUESTED) -> bytes:
        """The response body, not parsed; an empty list for listings of a feature that the service does not have.

        Raises:
            NotSupported: the service does not have this operation, as it answered now or in the last 24 hours.
            RequestError: the request failed.
        """
        try:
            self._unsupported.check(call)
            return await self._unsupported.record(call, self._scheduler.fetch(call, priority))
        except NotSupported:
            if call.feature and isinstance(call, Paged):
                return EMPTY
            raise

    async def fresh(self, call: Operation[T], priority: Priority) -> tuple[T, bool]:
        """The response with pending writes applied, and whether it differs from the cached one.

        Raises:
            RequestError: the request failed.
        """
        value, is_changed = await self.stored.keep(call, await self.fetch(call, priority))
        return self._pending.apply(call, value), is_changed

    async def read(self, call: Operation[T], *, priority: Priority = REQUESTED) -> T:
        """The response of the service, or the cached one while the service cannot be reached.

        Raises:
            PresscheckError: the service returned an error, or cannot be reached and nothing is cached.
        """
        try:
            value, _ = await self.fresh(call, priority)
        except NetworkError:
            known = self.stored.known(call, priority)
            if known is None:
                raise
            return known.value
        return value

    async def result(self, call: Operation[T], priority: Priority) -> Result[T | None]:
        """The response of the service as a result; if the request fails, the cached one with the error."""
        try:
            value, is_changed = await self.fresh(call, priority)
        except PresscheckError as error:
            known = self.stored.known(call)
            state = "offline" if isinstance(error, NetworkError) else "failed"
            return Result(known.value if known else None, state, known.age if known else 0.0, error)
        return Result(cast("T | None", value), "fresh" if is_changed else "unchanged", 0.0)
