"""Keeps the cache within its size limit: evicts least recently used responses, in small transactions.

Resources without references are deleted first. The first transaction of an eviction renames the response, so that no
reader ever sees a part of a listing.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable

from presscheck.store.cache_schema import transaction

BATCH = 200
"""Rows, or pages of the file, that one transaction deletes."""
TARGET = 0.9
"""The share of the limit at which an eviction ends; it starts above the limit."""
RETRY_GROWTH = 1.05
"""The growth of the cache after which an eviction is tried again that could not reach its target."""

_UNREFERENCED = """
NOT EXISTS (SELECT 1 FROM items WHERE items.object = resources.object AND items.id = resources.id)
AND NOT EXISTS (SELECT 1 FROM answers WHERE answers.object = resources.object AND answers.id = resources.id)
"""


def size(database: sqlite3.Connection) -> int:
    """The used bytes of a database, without free pages."""
    pages, free, each = (_pragma(database, name) for name in ("page_count", "freelist_count", "page_size"))
    return (pages - free) * each


class Evictor:
    """Evicts responses from one cache.

    Args:
        limit: the size limit in bytes.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._is_running = False
        self._swept: int | None = None
        # the size that could not be reduced, and the pinned keys that prevented it
        self._stuck: tuple[int, frozenset[str]] = (0, frozenset())

    def step(self, database: sqlite3.Connection, pinned: Collection[str]) -> bool:
        """Run one transaction of the eviction; returns whether there is more to do.

        Args:
            database: a connection that may write.
            pinned: the keys of responses that must stay.
        """
        used_bytes = size(database)
        if not self._is_running:
            if used_bytes <= self._limit or (
                used_bytes <= self._stuck[0] * RETRY_GROWTH and self._stuck[1] == frozenset(pinned)
            ):
                return False
            self._is_running, self._swept = True, 0
        if used_bytes > self._limit * TARGET:
            with transaction(database) as write:
                is_deleted = self._sweep(write) or _delete_oldest(write, pinned)
            if is_deleted:
                return True
        if _free_pages(database):
            return True
        self._is_running, self._stuck = False, (used_bytes, frozenset(pinned))
        return False

    def _sweep(self, write: sqlite3.Connection) -> bool:
        """Delete a batch of resources without references; False once all resources were checked."""
        if self._swept is None:
            return False
        seen = write.execute("SELECT rowid FROM resources WHERE rowid > ? ORDER BY rowid LIMIT ?", (self._swept, BATCH))
        rows = [number for (number,) in seen]
        if not rows:
            self._swept = None
            return False
        write.execute(
            f"DELETE FROM resources WHERE rowid > ? AND rowid <= ? AND {_UNREFERENCED}",  # noqa: S608
            (self._swept, rows[-1]),
        )
        self._swept = rows[-1]
        return True


def _delete_oldest(write: sqlite3.Connection, pinned: Collection[str]) -> bool:
    """Delete a batch of the least recently used response; False if only pinned ones are left."""
    found = write.execute(
        "SELECT number, used, object, id FROM answers WHERE key NOT IN (SELECT value FROM json_each(?))"
        " ORDER BY used LIMIT 1",
        (json.dumps(list(pinned)),),
    ).fetchone()
    if found is None:
        return False
    number, used, kind, name = found
    if used >= 0:  # renamed, no reader finds it any more; and the next batch continues with it
        write.execute("UPDATE answers SET key = ?, used = -1 WHERE number = ?", (f"evicted {number}", number))
    items = write.execute(
        "SELECT generation, position, object, id FROM items WHERE answer = ? LIMIT ?", (number, BATCH)
    ).fetchall()
    write.executemany(
        "DELETE FROM items WHERE answer = ? AND generation = ? AND position = ?",
        ((number, generation, position) for generation, position, _, _ in items),
    )
    resources = {(kind, name) for _, _, kind, name in items if kind}
    if len(items) < BATCH:
        write.execute("DELETE FROM answers WHERE number = ?", (number,))
        resources |= {(kind, name)} if kind else set()
    _delete_unreferenced(write, resources)
    return True


def _delete_unreferenced(write: sqlite3.Connection, resources: Iterable[tuple[str, str]]) -> None:
    write.executemany(f"DELETE FROM resources WHERE object = ? AND id = ? AND {_UNREFERENCED}", resources)  # noqa: S608


def _free_pages(database: sqlite3.Connection) -> bool:
    """Return a batch of free pages to the disk; returns whether there may be more."""
    before = _pragma(database, "freelist_count")
    if not before:
        return False
    database.execute(f"PRAGMA incremental_vacuum({BATCH})").fetchall()
    return 0 < _pragma(database, "freelist_count") < before


def _pragma(database: sqlite3.Connection, name: str) -> int:
    return database.execute(f"PRAGMA {name}").fetchone()[0]
