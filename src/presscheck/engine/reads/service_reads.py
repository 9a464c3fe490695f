"""Reads that ask the service, keep its answers, and fall back on the store where it cannot be reached."""

from __future__ import annotations

from typing import Any, TypeVar, cast

from presscheck.api.operation import Operation, Paged
from presscheck.client.request_context import Priority
from presscheck.engine.reads.scheduler import REQUESTED, RequestScheduler
from presscheck.engine.reads.stored_reads import StoredReads
from presscheck.engine.reads.unsupported_calls import Support
from presscheck.engine.results import Result
from presscheck.engine.writes.pending_writes import PendingWrites
from presscheck.errors import NetworkError, NotSupported, PresscheckError

T = TypeVar("T")
EMPTY = b'{"items": []}'


class ServiceReads:
    """Asks the service for answers and keeps them.

    Args:
        asking: the requests under way.
        support: which calls the service does not have.
        stored: the stored answers.
        pending: what is not sent, and shows in what is read.

    Attributes:
        stored: the stored answers.
    """

    def __init__(self, asking: RequestScheduler, support: Support, stored: StoredReads, pending: PendingWrites) -> None:
        self._asking, self._support, self._pending = asking, support, pending
        self.stored = stored

    @property
    def is_online(self) -> bool:
        """Whether the service can be reached."""
        return self._asking.offline is None

    async def fetch(self, call: Operation[Any], priority: Priority = REQUESTED) -> bytes:
        """The body of the service's answer, unread; where it lacks a whole feature, its listings are empty.

        Raises:
            NotSupported: the service does not have this call, as it said now or not long ago.
            RequestError: what else came instead.
        """
        try:
            self._support.demand(call)
            return await self._support.noting(call, self._asking.fetch(call, priority))
        except NotSupported:
            if call.feature and isinstance(call, Paged):
                return EMPTY
            raise

    async def fresh(self, call: Operation[T], priority: Priority) -> tuple[T, bool]:
        """The service's answer with what is not sent applied to it, and whether it is news.

        Raises:
            RequestError: what came instead.
        """
        value, is_news = await self.stored.keep(call, await self.fetch(call, priority))
        return self._pending.apply(call, value), is_news

    async def read(self, call: Operation[T], *, priority: Priority = REQUESTED) -> T:
        """The service's answer; the stored one where the service cannot be reached.

        Raises:
            PresscheckError: the service said no, or cannot be reached and nothing is stored.
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
        """The service's answer; the stored one and the error where there is none."""
        try:
            value, is_news = await self.fresh(call, priority)
        except PresscheckError as error:
            known = self.stored.known(call)
            state = "offline" if isinstance(error, NetworkError) else "failed"
            return Result(known.value if known else None, state, known.age if known else 0.0, error)
        return Result(cast("T | None", value), "fresh" if is_news else "unchanged", 0.0)
