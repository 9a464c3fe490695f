"""The schema of the cache, its migrations, and the functions that insert rows.

A resource with an `object` and an `id` is stored once, in `resources`; `answers` and `items` refer to it. `used` is
when a response was last read, in seconds since the epoch. `total` is the number of rows of a listing, NULL for any
other response; `more` is 1 if only a part of them is stored, and 2 if the service did not say how many there are: then
`total` is the number of stored rows.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from typing import Any, cast

from presscheck.api.former_operation_names import FORMER_NAMES
from presscheck.store.search_schema import TRIGGERS
from presscheck.store.sqlite_files import Statements

VERSION = 4
_INDEXES = """
CREATE INDEX answers_used ON answers (used);
CREATE INDEX answers_thing ON answers (object, id) WHERE id IS NOT NULL;
CREATE INDEX items_thing ON items (object, id) WHERE id IS NOT NULL
"""
SCHEMA = f"""
CREATE TABLE resources (object TEXT, id TEXT, json TEXT NOT NULL, PRIMARY KEY (object, id));
CREATE TABLE answers (
    number INTEGER PRIMARY KEY, key TEXT UNIQUE NOT NULL, at REAL NOT NULL, object TEXT, id TEXT, json TEXT,
    total INTEGER, complete INTEGER NOT NULL DEFAULT 1, generation INTEGER NOT NULL DEFAULT 0,
    used REAL NOT NULL DEFAULT 0, more INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE items (
    answer INTEGER, generation INTEGER, position INTEGER, object TEXT, id TEXT, json TEXT,
    PRIMARY KEY (answer, generation, position)
) WITHOUT ROWID;
{_INDEXES}
"""


def _rename_keys() -> str:
    """Statements that rename cache keys from ``family.Name`` to the `operationId` of the call.

    The triggers of the search index are dropped, because the index is rebuilt at its next use anyway.
    """
    drops = [f"DROP TRIGGER IF EXISTS search_{name}" for name in TRIGGERS]
    # the space ends the name; the range condition uses the index on the key
    renames = [
        f"UPDATE answers SET key = '{name}' || substr(key, {len(former) + 1})"  # noqa: S608
        f" WHERE key >= '{former} ' AND key < '{former}!'"
        for former, name in FORMER_NAMES.items()
    ]
    return ";".join((*drops, *renames))


_ADD_MORE = """
ALTER TABLE answers ADD COLUMN more INTEGER NOT NULL DEFAULT 0;
UPDATE answers SET more = 2, total = (
    SELECT count(*) FROM items WHERE items.answer = answers.number AND items.generation = answers.generation
) WHERE total IS NOT NULL AND NOT complete
"""
"""Older versions took the number of items of a response for the total of the listing."""
STEPS: dict[int, Statements] = {
    1: "ALTER TABLE answers ADD COLUMN used REAL NOT NULL DEFAULT 0; UPDATE answers SET used = at;" + _INDEXES,  # noqa: S608
    2: _rename_keys,
    3: _ADD_MORE,
}
"""The statements that migrate each older version to the next one."""


class transaction:  # noqa: N801  # reads as a statement
    """BEGIN IMMEDIATE … COMMIT; rolls back on any error, including one of the commit."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> sqlite3.Connection:
        self._connection.execute("BEGIN IMMEDIATE")
        return self._connection

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if not kind:
                self._connection.execute("COMMIT")
        finally:
            # on a full disk, SQLite has already rolled back
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")


def in_memory() -> sqlite3.Connection:
    """An empty cache in memory."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.executescript(SCHEMA)
    return connection


def compact(value: Any) -> str:
    """A value as compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def identity(thing: Any) -> tuple[str | None, str | None]:
    """The `object` and the `id` of a resource; (None, None) if it does not have both."""
    if isinstance(thing, dict):
        fields = cast("dict[str, Any]", thing)
        kind, name = fields.get("object"), fields.get("id")
        if isinstance(kind, str) and isinstance(name, str):
            return kind, name
    return None, None


def keep_items(write: sqlite3.Connection, number: int, generation: int, start: int, items: list[Any]) -> list[str]:
    """Insert rows into a listing from `start` on; returns their JSON."""
    texts = [compact(item) for item in items]
    identities = [identity(item) for item in items]
    write.executemany(
        "INSERT OR REPLACE INTO resources VALUES (?, ?, ?)",
        ((kind, name, text) for (kind, name), text in zip(identities, texts, strict=True) if kind),
    )
    write.executemany(
        "INSERT OR REPLACE INTO items VALUES (?, ?, ?, ?, ?, ?)", _rows(number, generation, start, identities, texts)
    )
    return texts


def _rows(
    number: int, generation: int, start: int, identities: list[tuple[str | None, str | None]], texts: list[str]
) -> Iterable[tuple[Any, ...]]:
    for at, ((kind, name), text) in enumerate(zip(identities, texts, strict=True), start):
        yield number, generation, at, kind, name, None if kind else text
