"""A cache in memory that is bounded in bytes: what was not asked for longest is dropped first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Any, NamedTuple

MEGABYTE = 1024 * 1024


class CacheSizes(NamedTuple):
    """The most bytes of each cache of a process; all of them take 200 MB by default."""

    revisions: int = 128 * MEGABYTE
    """Of what never changes, such as the content of revisions."""
    answers: int = 32 * MEGABYTE
    """Of answers of the API, with what their keys take."""
    pages: int = 32 * MEGABYTE
    """Of pages of published sites, compressed ones included."""
    sites: int = 8 * MEGABYTE
    """Of the structure and settings of published sites."""

    def within(self, megabytes: int) -> CacheSizes:
        """The same shares of another sum."""
        return CacheSizes(*(size * megabytes * MEGABYTE // sum(self) for size in self))


class BoundedCache:
    """Values with their weight in bytes, for any number of threads; values must not be changed by those who get them.

    Args:
        most_bytes: the most that all of them may weigh; one that weighs more than a third of it is not kept.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._lock = threading.Lock()
        self._entries: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._weight = 0

    def get(self, key: Hashable) -> Any:
        """The value of a key; None if it is not kept."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
            return entry[0]

    def put(self, key: Hashable, value: Any, weight: int) -> None:
        """Keeps a value that weighs so many bytes, unless the key is there or it is too heavy."""
        with self._lock:
            if key in self._entries or weight > self._most // 3:
                return
            self._entries[key] = value, weight
            self._weight += weight
            while self._weight > self._most:
                self._weight -= self._entries.popitem(last=False)[1][1]

    def clear(self) -> None:
        """Drops all."""
        with self._lock:
            self._entries.clear()
            self._weight = 0


class PendingCache:
    """A cache for a transaction that writes: what it puts there is for others only once it is committed.

    Args:
        shared: the cache of what is committed.
    """

    def __init__(self, shared: BoundedCache) -> None:
        self._shared = shared
        self._pending: dict[Hashable, tuple[Any, int]] = {}

    def get(self, key: Hashable) -> Any:
        """The value of a key, of this transaction or of those before; None if it is not kept."""
        entry = self._pending.get(key)
        return entry[0] if entry else self._shared.get(key)

    def put(self, key: Hashable, value: Any, weight: int) -> None:
        """Keeps a value that weighs so many bytes, unless the key is there."""
        self._pending.setdefault(key, (value, weight))

    def commit(self) -> None:
        """Keeps the values for all: the transaction is committed."""
        for key, (value, weight) in self._pending.items():
            self._shared.put(key, value, weight)
