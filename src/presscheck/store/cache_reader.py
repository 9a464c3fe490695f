"""Reading the cache through one connection; nothing here writes."""

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


@dataclass(frozen=True)
class Stored:
    """An answer as JSON, and when the service gave it (seconds since the epoch)."""

    json: str
    at: float


@dataclass(frozen=True)
class StoredWindow:
    """Some rows of a listing as JSON; `total` counts all, `at` is None where it was never fetched."""

    items: tuple[str, ...]
    total: int
    at: float | None
    complete: bool


class CacheReader:
    """What is found in one database; each answer is None where it has nothing under that key."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self.database = database

    def answer(self, key: str) -> Stored | None:
        """An answer; a listing comes as one page of all that is known of it."""
        row = self.database.execute(
            "SELECT coalesce(answers.json, resources.json), at, number, generation, total FROM answers"
            " LEFT JOIN resources USING (object, id) WHERE key = ?",
            (key,),
        ).fetchone()
        if row is None:
            return None
        text, at, number, generation, total = row
        if total is None:
            return Stored(text, at) if text else None
        items = [item for (item,) in self.database.execute(WINDOW, (number, generation, 0, 1 << 40)) if item]
        return Stored(f'{{"items":[{",".join(items)}],"count":{total}}}', at)

    def window(self, key: str, start: int, count: int) -> StoredWindow | None:
        """Rows of a listing, from `start` on."""
        found = self.database.execute(
            "SELECT number, generation, total, at, complete FROM answers WHERE key = ?", (key,)
        ).fetchone()
        if found is None:
            return None
        number, generation, total, at, complete = found
        rows = self.database.execute(WINDOW, (number, generation, start, start + count))
        return StoredWindow(tuple(item or "{}" for (item,) in rows), total or 0, at, bool(complete))

    def positions(self, key: str, ids: Iterable[str]) -> dict[str, int] | None:
        """Where in a listing the things with these ids stand, as far as they are in it."""
        row = self._listing(key)
        if row is None:
            return None
        found = self.database.execute(
            "SELECT id, position FROM items WHERE answer = ? AND generation = ?"
            " AND id IN (SELECT value FROM json_each(?))",
            (*row, json.dumps(list(ids))),
        )
        return dict(found.fetchall())

    def rows(self, key: str, places: list[int]) -> dict[int, str] | None:
        """The rows of a listing at these places."""
        row = self._listing(key)
        return dict(self.database.execute(ROWS, (*row, json.dumps(places))).fetchall()) if row else None

    def matching(
        self, key: str, conditions: Iterable[Condition], order: tuple[str, bool] | None
    ) -> list[tuple[int, str]] | None:
        """Where in a listing stands what meets all conditions, and its space, in its order or by a path."""
        row = self._listing(key)
        if row is None:
            return None
        statement, values = matching(conditions, order)
        return self.database.execute(statement, (*row, *values)).fetchall()

    def resource(self, kind: str, identity: str) -> str | None:
        """The newest JSON of a thing, by `object` and `id`."""
        row = self.database.execute(
            "SELECT json FROM resources WHERE object = ? AND id = ?", (kind, identity)
        ).fetchone()
        return row[0] if row else None

    def text(self, key: str) -> str | None:
        """The JSON of an answer that is no listing."""
        row = self.database.execute(
            "SELECT coalesce(answers.json, resources.json) FROM answers LEFT JOIN resources USING (object, id)"
            " WHERE key = ?",
            (key,),
        ).fetchone()
        return row[0] if row else None

    def _listing(self, key: str) -> tuple[int, int] | None:
        return self.database.execute("SELECT number, generation FROM answers WHERE key = ?", (key,)).fetchone()
