"""Protocols for parts of the engine, so that functions depend only on the parts that they need."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from presscheck.api.operation import Operation
from presscheck.client.request_priority import Priority
from presscheck.engine.results import Result

if TYPE_CHECKING:
    from presscheck.store.cache import Cache

T = TypeVar("T")


class Reader(Protocol):
    """A reader from the service, or from the cache while the service cannot be reached."""

    async def read(self, call: Operation[T], *, priority: Priority = ...) -> T:
        """Return the response to a call."""
        ...


class StoredReader(Protocol):
    """A reader from the cache only."""

    def known(self, call: Operation[T], /) -> Result[T] | None:
        """Return the cached response to a call, or None if no response is cached."""
        ...


class CachedReader(Reader, StoredReader, Protocol):
    """A reader from the service and from the cache."""


class StoredResources(StoredReader, Protocol):
    """A reader from the cache, by call or by id."""

    def resource(self, kind: str, identity: str) -> dict[str, Any]:
        """Return the fields of a cached resource, or an empty dict if it is not cached."""
        ...


class StoreWorker(Protocol):
    """A worker that runs functions on the cache in its writer thread."""

    async def in_store(self, work: Callable[[Cache], T]) -> T:
        """Run a function on the cache and return its result."""
        ...
