"""Protocols for the parts of the engine that functions of this package need, so that they do not need all of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar

from presscheck.api.operation import Operation
from presscheck.client.request_priority import Priority
from presscheck.engine.results import Result

if TYPE_CHECKING:
    from presscheck.store.cache import Cache

T = TypeVar("T")


class Reader(Protocol):
    """Reads from the service, or from the cache while the service cannot be reached."""

    async def read(self, call: Operation[T], *, priority: Priority = ...) -> T:
        """The response to a call."""
        ...


class StoredReader(Protocol):
    """Reads from the cache only."""

    def known(self, call: Operation[T], /) -> Result[T] | None:
        """The cached response to a call; None if it was never fetched."""
        ...


class CachedReader(Reader, StoredReader, Protocol):
    """Reads from the service, and tells what is cached."""


class StoreWorker(Protocol):
    """Runs work on the thread that writes the cache."""

    async def in_store(self, work: Callable[[Cache], T]) -> T:
        """The result of the work."""
        ...
