"""The tables of the cache, the steps from an older schema to this one, and how rows are put into them.

A thing that has an `object` and an `id` stands once in `resources`, whoever answered with it; `answers` and `items`
name it. `used` is when an answer was last wanted, in seconds since the epoch.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from typing import Any, cast

from presscheck.api.stored_names import FORMER_NAMES
from presscheck.store.search_schema import TRIGGERS
from presscheck.store.sqlite_files import Statements

VERSION = 3
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
    used REAL NOT NULL DEFAULT 0
);
CREATE TABLE items (
    answer INTEGER, generation INTEGER, position INTEGER, object TEXT, id TEXT, json TEXT,
    PRIMARY KEY (answer, generation, position)
) WITHOUT ROWID;
{_INDEXES}
"""


def _with_published_names() -> str:
    """The keys of answers begin with the `operationId` of the call instead of ``family.Name``.

    The index of the search is made anew at its next use: without its triggers, nothing is read twice.
    """
    drops = [f"DROP TRIGGER IF EXISTS search_{name}" for name in TRIGGERS]
    # the space ends the name, and the index finds what begins with it
    renames = [
        f"UPDATE answers SET key = '{name}' || substr(key, {len(former) + 1})"  # noqa: S608
        f" WHERE key >= '{former} ' AND key < '{former}!'"
        for former, name in FORMER_NAMES.items()
    ]
    return ";".join((*drops, *renames))


STEPS: dict[int, Statements] = {
    1: "ALTER TABLE answers ADD COLUMN used REAL NOT NULL DEFAULT 0; UPDATE answers SET used = at;" + _INDEXES,  # noqa: S608
    2: _with_published_names,
}
"""What makes the next schema of one that is older."""


class transaction:  # noqa: N801  # reads as a statement
    """BEGIN IMMEDIATE … COMMIT; rolls back on any error, that of the commit included."""

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
            # a full disk rolls back by itself
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")


def in_memory() -> sqlite3.Connection:
    """An empty cache that ends with the program."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.executescript(SCHEMA)
    return connection


def compact(value: Any) -> str:
    """A value as the JSON that is kept."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def identity(thing: Any) -> tuple[str | None, str | None]:
    """The `object` and the `id` of a thing, where it has both."""
    if isinstance(thing, dict):
        fields = cast("dict[str, Any]", thing)
        kind, name = fields.get("object"), fields.get("id")
        if isinstance(kind, str) and isinstance(name, str):
            return kind, name
    return None, None


def keep_items(write: sqlite3.Connection, number: int, generation: int, start: int, items: list[Any]) -> list[str]:
    """Put rows into a listing, from `start` on; their JSON."""
    texts = [compact(item) for item in items]
    named = [identity(item) for item in items]
    write.executemany(
        "INSERT OR REPLACE INTO resources VALUES (?, ?, ?)",
        ((kind, name, text) for (kind, name), text in zip(named, texts, strict=True) if kind),
    )
    write.executemany(
        "INSERT OR REPLACE INTO items VALUES (?, ?, ?, ?, ?, ?)", _rows(number, generation, start, named, texts)
    )
    return texts


def _rows(
    number: int, generation: int, start: int, named: list[tuple[str | None, str | None]], texts: list[str]
) -> Iterable[tuple[Any, ...]]:
    for at, ((kind, name), text) in enumerate(zip(named, texts, strict=True), start):
        yield number, generation, at, kind, name, None if kind else text
