"""Reads of the cache through one connection."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from presscheck.store.sql_filters import ROWS, Condition, matching

WINDOW = """
SELECT coalesce(items.json, resources.json) FROM items
LEFT JOIN resources ON resources.object = items.object AND resources.id = items.id
WHERE items.answer = ? AND items.generation = ? AND items.position >= ? AND items.position < ?
ORDER BY items.position
"""
UNKNOWN = 2
"""The value of `more` for a listing of unknown length; see `cache_schema`."""


@dataclass(frozen=True)
class Stored:
    """A cached response as JSON, and when it was received, in seconds since the epoch."""

    json: str
    at: float


@dataclass(frozen=True)
class StoredWindow:
    """Some rows of a cached listing as JSON.

    Attributes:
        total: the number of rows of the whole listing, or of the cached ones if that is unknown.
        at: when it was received, in seconds since the epoch; None if it was never fetched.
        complete: whether all rows are cached.
        is_total_known: whether `total` is the number of rows of the whole listing.
    """

    items: tuple[str, ...]
    total: int
    at: float | None
    complete: bool
    is_total_known: bool = True


class CacheReader:
    """Reads from one database; each method returns None if it has nothing under the key."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self.database = database

    def answer(self, key: str) -> Stored | None:
        """A response; for a listing, one page with all cached rows."""
        row = self.database.execute(
            "SELECT coalesce(answers.json, resources.json), at, number, generation, total, more FROM answers"
            " LEFT JOIN resources USING (object, id) WHERE key = ?",
            (key,),
        ).fetchone()
        if row is None:
            return None
        text, at, number, generation, total, more = row
        if total is None:
            return Stored(text, at) if text else None
        items = [item for (item,) in self.database.execute(WINDOW, (number, generation, 0, 1 << 40)) if item]
        known_total = "" if more == UNKNOWN else f',"total":{total}'
        return Stored(f'{{"items":[{",".join(items)}],"count":{len(items)}{known_total}}}', at)

    def window(self, key: str, start: int, count: int) -> StoredWindow | None:
        """Rows of a listing, from `start` on."""
        found = self.database.execute(
            "SELECT number, generation, total, at, complete, more FROM answers WHERE key = ?", (key,)
        ).fetchone()
        if found is None:
            return None
        number, generation, total, at, complete, more = found
        rows = self.database.execute(WINDOW, (number, generation, start, start + count))
        items = tuple(item or "{}" for (item,) in rows)
        return StoredWindow(items, total or 0, at, bool(complete and not more), more != UNKNOWN)

    def positions(self, key: str, ids: Iterable[str]) -> dict[str, int] | None:
        """The positions of the items with these ids in a listing, by id; without those that are not in it."""
        row = self._listing(key)
        if row is None:
            return None
        found = self.database.execute(
            "SELECT id, position FROM items WHERE answer = ? AND generation = ?"
            " AND id IN (SELECT value FROM json_each(?))",
            (*row, json.dumps(list(ids))),
        )
        return dict(found.fetchall())

    def rows(self, key: str, positions: list[int]) -> dict[int, str] | None:
        """The rows of a listing at these positions, as JSON by position."""
        row = self._listing(key)
        return dict(self.database.execute(ROWS, (*row, json.dumps(positions))).fetchall()) if row else None

    def matching(
        self, key: str, conditions: Iterable[Condition], order: tuple[str, bool] | None
    ) -> list[tuple[int, str]] | None:
        """The rows of a listing that meet all conditions, as (position, space id); see `Cache.matching`."""
        row = self._listing(key)
        if row is None:
            return None
        statement, values = matching(conditions, order)
        return self.database.execute(statement, (*row, *values)).fetchall()

    def resource(self, kind: str, identity: str) -> str | None:
        """The newest JSON of a resource, by `object` and `id`."""
        row = self.database.execute(
            "SELECT json FROM resources WHERE object = ? AND id = ?", (kind, identity)
        ).fetchone()
        return row[0] if row else None

    def text(self, key: str) -> str | None:
        """The JSON of a response that is not a listing."""
        row = self.database.execute(
            "SELECT coalesce(answers.json, resources.json) FROM answers LEFT JOIN resources USING (object, id)"
            " WHERE key = ?",
            (key,),
        ).fetchone()
        return row[0] if row else None

    def _listing(self, key: str) -> tuple[int, int] | None:
        return self.database.execute("SELECT number, generation FROM answers WHERE key = ?", (key,)).fetchone()
