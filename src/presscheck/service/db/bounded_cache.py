"""A cache in memory that is bounded in bytes and evicts the least recently used entries first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Any, NamedTuple

MEGABYTE = 1024 * 1024


class CacheSizes(NamedTuple):
    """The capacity of each cache of a process, in bytes. The total is 200 MB by default."""

    revisions: int = 128 * MEGABYTE
    """Capacity for data that never changes, such as the content of revisions."""
    answers: int = 32 * MEGABYTE
    """Capacity for responses of the API, including their keys."""
    pages: int = 32 * MEGABYTE
    """Capacity for pages of published sites, including compressed ones."""
    sites: int = 8 * MEGABYTE
    """Capacity for the structure and settings of published sites."""

    def within(self, megabytes: int) -> CacheSizes:
        """Return these capacities, scaled to a total of `megabytes`."""
        return CacheSizes(*(size * megabytes * MEGABYTE // sum(self) for size in self))


class BoundedCache:
    """A thread-safe cache of values with their sizes in bytes. Callers must not modify the values that they get.

    Args:
        most_bytes: capacity; a value larger than a third of it is not cached.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._lock = threading.Lock()
        self._entries: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._weight = 0

    def get(self, key: Hashable) -> Any:
        """Return the cached value of a key, or None."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
            return entry[0]

    def put(self, key: Hashable, value: Any, weight: int) -> None:
        """Add a value of `weight` bytes unless its key is cached already or the value is too large."""
        with self._lock:
            if key in self._entries or weight > self._most // 3:
                return
            self._entries[key] = value, weight
            self._weight += weight
            while self._weight > self._most:
                self._weight -= self._entries.popitem(last=False)[1][1]

    def clear(self) -> None:
        """Remove all entries."""
        with self._lock:
            self._entries.clear()
            self._weight = 0


class PendingCache:
    """A view of a cache for a write transaction. Entries that the transaction adds are shared only after the commit.

    Args:
        shared: the cache of committed values.
    """

    def __init__(self, shared: BoundedCache) -> None:
        self._shared = shared
        self._pending: dict[Hashable, tuple[Any, int]] = {}

    def get(self, key: Hashable) -> Any:
        """Return the cached value of a key, from this transaction or from the shared cache, or None."""
        entry = self._pending.get(key)
        return entry[0] if entry else self._shared.get(key)

    def put(self, key: Hashable, value: Any, weight: int) -> None:
        """Add a value of `weight` bytes for this transaction, unless the transaction has added its key already."""
        self._pending.setdefault(key, (value, weight))

    def commit(self) -> None:
        """Move the entries to the shared cache; call it after the commit."""
        for key, (value, weight) in self._pending.items():
            self._shared.put(key, value, weight)
