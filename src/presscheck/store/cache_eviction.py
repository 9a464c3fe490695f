"""Keeping the cache within its bound: what was wanted longest ago goes first, a small transaction at a time.

What nothing refers to goes before that. An answer that is taken out can no longer be found from the first transaction
on, so that nobody ever sees half a listing.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable

from presscheck.store.cache_schema import transaction

SLICE = 200
"""Rows, or pages of the file, that one transaction takes out."""
ENOUGH = 0.9
"""The share of the bound that is left when it is enough: more than the bound begins it."""
WORTH_IT = 1.05
"""How much more there must be before it is tried again with what must stay alone above the bound."""

_UNWANTED = """
NOT EXISTS (SELECT 1 FROM items WHERE items.object = resources.object AND items.id = resources.id)
AND NOT EXISTS (SELECT 1 FROM answers WHERE answers.object = resources.object AND answers.id = resources.id)
"""


def size(database: sqlite3.Connection) -> int:
    """Bytes that are in use."""
    pages, free, each = (_pragma(database, name) for name in ("page_count", "freelist_count", "page_size"))
    return (pages - free) * each


class Evictor:
    """Takes out of one cache what is too much.

    Args:
        limit: bytes that it may hold.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._is_at_it = False
        self._swept: int | None = None
        self._stuck: tuple[int, frozenset[str]] = (0, frozenset())  # so much stayed, because these must

    def step(self, database: sqlite3.Connection, pinned: Collection[str]) -> bool:
        """Take a slice out; whether there is more to do.

        Args:
            database: where.
            pinned: the keys of answers that must stay.
        """
        held = size(database)
        if not self._is_at_it:
            if held <= self._limit or (held <= self._stuck[0] * WORTH_IT and self._stuck[1] == frozenset(pinned)):
                return False
            self._is_at_it, self._swept = True, 0
        if held > self._limit * ENOUGH:
            with transaction(database) as write:
                went_on = self._sweep(write) or _take_oldest(write, pinned)
            if went_on:
                return True
        if _give_back(database):
            return True
        self._is_at_it, self._stuck = False, (held, frozenset(pinned))
        return False

    def _sweep(self, write: sqlite3.Connection) -> bool:
        """Take out what nothing refers to; False once all were looked at."""
        if self._swept is None:
            return False
        seen = write.execute("SELECT rowid FROM resources WHERE rowid > ? ORDER BY rowid LIMIT ?", (self._swept, SLICE))
        rows = [number for (number,) in seen]
        if not rows:
            self._swept = None
            return False
        write.execute(
            f"DELETE FROM resources WHERE rowid > ? AND rowid <= ? AND {_UNWANTED}",  # noqa: S608
            (self._swept, rows[-1]),
        )
        self._swept = rows[-1]
        return True


def _take_oldest(write: sqlite3.Connection, pinned: Collection[str]) -> bool:
    """Take out a slice of the answer that was wanted longest ago; False where only those are left that must stay."""
    found = write.execute(
        "SELECT number, used, object, id FROM answers WHERE key NOT IN (SELECT value FROM json_each(?))"
        " ORDER BY used LIMIT 1",
        (json.dumps(list(pinned)),),
    ).fetchone()
    if found is None:
        return False
    number, used, kind, name = found
    if used >= 0:  # nobody finds it any more, and it is the first whose rest goes
        write.execute("UPDATE answers SET key = ?, used = -1 WHERE number = ?", (f"taken out {number}", number))
    items = write.execute(
        "SELECT generation, position, object, id FROM items WHERE answer = ? LIMIT ?", (number, SLICE)
    ).fetchall()
    write.executemany(
        "DELETE FROM items WHERE answer = ? AND generation = ? AND position = ?",
        ((number, generation, position) for generation, position, _, _ in items),
    )
    things = {(kind, name) for _, _, kind, name in items if kind}
    if len(items) < SLICE:
        write.execute("DELETE FROM answers WHERE number = ?", (number,))
        things |= {(kind, name)} if kind else set()
    _take_unwanted(write, things)
    return True


def _take_unwanted(write: sqlite3.Connection, things: Iterable[tuple[str, str]]) -> None:
    write.executemany(f"DELETE FROM resources WHERE object = ? AND id = ? AND {_UNWANTED}", things)  # noqa: S608


def _give_back(database: sqlite3.Connection) -> bool:
    """Give pages that are free back to the disk; whether there may be more of them."""
    before = _pragma(database, "freelist_count")
    if not before:
        return False
    database.execute(f"PRAGMA incremental_vacuum({SLICE})").fetchall()
    return 0 < _pragma(database, "freelist_count") < before


def _pragma(database: sqlite3.Connection, name: str) -> int:
    return database.execute(f"PRAGMA {name}").fetchone()[0]
