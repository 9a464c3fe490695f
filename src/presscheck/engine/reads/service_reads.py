"""Reads from the service: cache the response, and fall back to the cache if the service cannot be reached."""

from __future__ import annotations

from typing import Any, TypeVar, cast

from presscheck.api.operation import Operation
from presscheck.api.users import User
from presscheck.client.request_context import Priority
from presscheck.engine.reads.scheduler import REQUESTED, RequestScheduler
from presscheck.engine.reads.stored_reads import StoredReads
from presscheck.engine.reads.substitutes import Substitutes
from presscheck.engine.reads.unsupported_calls import UnsupportedCalls
from presscheck.engine.results import Result
from presscheck.engine.writes.pending_writes import PendingWrites
from presscheck.errors import NetworkError, NotSupported, PresscheckError

T = TypeVar("T")


class ServiceReads:
    """Reads from the service, through the cache.

    Args:
        scheduler: sends the requests.
        unsupported: the calls that the service does not have.
        stored: reads and writes the cache; also an attribute.
        pending: the unsent writes, which are applied to each response.
        user: who the user is, for a service that does not tell.
    """

    def __init__(
        self,
        scheduler: RequestScheduler,
        unsupported: UnsupportedCalls,
        stored: StoredReads,
        pending: PendingWrites,
        user: str | None = None,
    ) -> None:
        self._scheduler, self._unsupported, self._pending = scheduler, unsupported, pending
        self._substitutes = Substitutes(_FreshReader(self), user)
        self.stored = stored

    @property
    def is_online(self) -> bool:
        """Whether the service can be reached."""
        return self._scheduler.offline is None

    async def fetch(self, call: Operation[Any], priority: Priority = REQUESTED) -> bytes:
        """The response body, not parsed; of an operation that the service does not have, made from others if possible.

        Raises:
            NotSupported: the service does not have this operation, as it answered now or in the last 24 hours.
            RequestError: the request failed.
        """
        try:
            self._unsupported.check(call)
            return await self._unsupported.record(call, self._scheduler.fetch(call, priority))
        except NotSupported as error:
            if self._scheduler.offline:
                raise self._scheduler.offline from None
            return await self._substitutes.body(call, error, priority)

    async def note_missing(self, call: Operation[Any], error: NotSupported) -> None:
        """Store that the service answered to a write that it does not have the operation."""
        await self._unsupported.store(call, error)

    async def people(self, organization: str) -> list[User]:
        """The people of an organization, as far as the service lists them.

        Raises:
            RequestError: a request failed.
        """
        return await self._substitutes.people(organization, REQUESTED)

    def set_user(self, user: str) -> None:
        """Set who the user is, for a service that does not tell."""
        self._substitutes.user = user

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


class _FreshReader:
    """Reads from the service only, so that an answer made of several responses is not older than it seems."""

    def __init__(self, reads: ServiceReads) -> None:
        self._reads = reads

    async def read(self, call: Operation[T], *, priority: Priority = REQUESTED) -> T:
        """The response of the service."""
        value, _ = await self._reads.fresh(call, priority)
        return value
