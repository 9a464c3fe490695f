"""Protocols: what a function of this package needs of whoever calls it, so that it need not know the whole engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar

from presscheck.api.operation import Operation
from presscheck.client.request_context import Priority
from presscheck.engine.results import Result

if TYPE_CHECKING:
    from presscheck.store.cache import Cache

T = TypeVar("T")


class Reader(Protocol):
    """Reads through the service, and from the store where the service cannot be reached."""

    async def read(self, call: Operation[T], *, priority: Priority = ...) -> T:
        """The answer to a call."""
        ...


class StoredReader(Protocol):
    """Reads from the store alone."""

    def known(self, call: Operation[T], /) -> Result[T] | None:
        """The stored answer to a call; None where it was never fetched."""
        ...


class StoreWorker(Protocol):
    """Runs work on the thread that writes the cache."""

    async def in_store(self, work: Callable[[Cache], T]) -> T:
        """The result of the work."""
        ...
