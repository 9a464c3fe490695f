"""The cache: what the service said, as the JSON that it said, by the key of the call that asked.

May be thrown away at any time. A thing that has an `object` and an `id` is kept once, so that it is new everywhere when
it is new anywhere; a listing is kept by rows, so that one of 100,000 is read by window. Reads are for the thread of the
screen, writes for one other thread.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from presscheck.errors import StoreError
from presscheck.store.files import connect, open_file
from presscheck.store.matching import ROWS, Condition, matching

VERSION = 1
SCHEMA = """
CREATE TABLE resources (object TEXT, id TEXT, json TEXT NOT NULL, PRIMARY KEY (object, id));
CREATE TABLE answers (
    number INTEGER PRIMARY KEY, key TEXT UNIQUE NOT NULL, at REAL NOT NULL, object TEXT, id TEXT, json TEXT,
    total INTEGER, complete INTEGER NOT NULL DEFAULT 1, generation INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE items (
    answer INTEGER, generation INTEGER, position INTEGER, object TEXT, id TEXT, json TEXT,
    PRIMARY KEY (answer, generation, position)
) WITHOUT ROWID
"""
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


class Cache:
    """The cache of one reader of one service.

    `notice` is one line for the user where an older file could not be used.
    """

    def __init__(self, path: Path) -> None:
        self.notice: str | None = None
        try:
            self._writer, aside = open_file(path, SCHEMA, VERSION, durable=False)
            self._reader = connect(path, durable=False)
            if aside:
                self.notice = f"The cache was damaged or of another version: set aside as {aside.name}"
        except (StoreError, OSError) as error:
            self.notice = f"{error}; this session remembers in memory only"
            self._writer = self._reader = _in_memory()

    def close(self) -> None:
        """Close the file."""
        self._reader.close()
        self._writer.close()

    def answer(self, key: str) -> Stored | None:
        """The stored answer of a call; a listing comes as one page of all that is known of it."""
        row = self._reader.execute(
            "SELECT coalesce(answers.json, resources.json), at, number, generation, total FROM answers"
            " LEFT JOIN resources USING (object, id) WHERE key = ?",
            (key,),
        ).fetchone()
        if row is None:
            return None
        text, at, number, generation, total = row
        if total is None:
            return Stored(text, at) if text else None
        items = [item for (item,) in self._reader.execute(WINDOW, (number, generation, 0, 1 << 40)) if item]
        return Stored(f'{{"items":[{",".join(items)}],"count":{total}}}', at)

    def window(self, key: str, start: int, count: int) -> StoredWindow:
        """Rows of a listing, from `start` on."""
        row = self._reader.execute("SELECT number, generation, total, at, complete FROM answers WHERE key = ?", (key,))
        found = row.fetchone()
        if found is None:
            return StoredWindow((), 0, None, complete=False)
        number, generation, total, at, complete = found
        rows = self._reader.execute(WINDOW, (number, generation, start, start + count))
        return StoredWindow(tuple(item or "{}" for (item,) in rows), total or 0, at, bool(complete))

    def positions(self, key: str, ids: Iterable[str]) -> dict[str, int]:
        """Where in a listing the things with these ids stand, as far as they are in it."""
        row = self._reader.execute("SELECT number, generation FROM answers WHERE key = ?", (key,)).fetchone()
        if row is None:
            return {}
        found = self._reader.execute(
            "SELECT id, position FROM items WHERE answer = ? AND generation = ?"
            " AND id IN (SELECT value FROM json_each(?))",
            (*row, json.dumps(list(ids))),
        )
        return dict(found.fetchall())

    def rows(self, key: str, places: Iterable[int]) -> dict[int, str]:
        """The rows of a listing at these places, as JSON."""
        row = self._reader.execute("SELECT number, generation FROM answers WHERE key = ?", (key,)).fetchone()
        return dict(self._reader.execute(ROWS, (*row, json.dumps(list(places)))).fetchall()) if row else {}

    def matching(
        self, key: str, conditions: Iterable[Condition], order: tuple[str, bool] | None = None
    ) -> list[tuple[int, str]]:
        """Where in a listing stands what meets all conditions, and its space, in its order or by a path.

        For the writing thread.
        """
        row = self._writer.execute("SELECT number, generation FROM answers WHERE key = ?", (key,)).fetchone()
        if row is None:
            return []
        statement, values = matching(conditions, order)
        return self._writer.execute(statement, (*row, *values)).fetchall()

    def resource(self, kind: str, identity: str) -> str | None:
        """The newest JSON of a thing, by `object` and `id`."""
        row = self._reader.execute(
            "SELECT json FROM resources WHERE object = ? AND id = ?", (kind, identity)
        ).fetchone()
        return row[0] if row else None

    def keep(self, key: str, body: bytes, at: float) -> bool:
        """Keep an answer; False where it is what was known already."""
        answer = json.loads(body) if body else None
        items = cast("dict[str, Any]", answer).get("items") if isinstance(answer, dict) else None
        if isinstance(items, list):
            count = cast("dict[str, Any]", answer).get("count")
            listed = cast("list[Any]", items)
            return self.keep_page(key, listed, 0, at, total=count or len(listed), last=True)
        before = self.answer_for_writing(key)
        text = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
        kind, identity = _identity(answer)
        with _transaction(self._writer) as write:
            if kind:
                write.execute("INSERT OR REPLACE INTO resources VALUES (?, ?, ?)", (kind, identity, text))
            write.execute(
                "INSERT INTO answers (key, at, object, id, json) VALUES (?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE"
                " SET at = excluded.at, object = excluded.object, id = excluded.id, json = excluded.json",
                (key, at, kind, identity, None if kind else text),
            )
        return before != text

    def answer_for_writing(self, key: str) -> str | None:
        """The stored JSON of a call that is no listing, as the writing thread sees it."""
        row = self._writer.execute(
            "SELECT coalesce(answers.json, resources.json) FROM answers LEFT JOIN resources USING (object, id)"
            " WHERE key = ?",
            (key,),
        ).fetchone()
        return row[0] if row else None

    def keep_resource(self, answer: Any) -> None:
        """Keep a thing that came as the answer of a write."""
        kind, identity = _identity(answer)
        if kind:
            text = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
            with _transaction(self._writer) as write:
                write.execute("INSERT OR REPLACE INTO resources VALUES (?, ?, ?)", (kind, identity, text))

    def keep_page(self, key: str, items: list[Any], start: int, at: float, *, total: int, last: bool) -> bool:
        """Keep one page of a listing; the rows that were known before stay until the last page is in.

        False where this page says what was known already.
        """
        with _transaction(self._writer) as write:
            write.execute(
                "INSERT INTO answers (key, at, total, complete) VALUES (?, ?, ?, 0) ON CONFLICT (key) DO NOTHING",
                (key, at, total),
            )
            number, shown, known_total = write.execute(
                "SELECT number, generation, total FROM answers WHERE key = ?", (key,)
            ).fetchone()
            is_first_time = not write.execute("SELECT complete FROM answers WHERE number = ?", (number,)).fetchone()[0]
            into = shown if is_first_time else shown + 1
            before = write.execute(WINDOW, (number, shown, start, start + len(items))).fetchall()
            if start == 0:
                write.execute("DELETE FROM items WHERE answer = ? AND generation = ?", (number, into))
            texts = _keep_items(write, number, into, start, items)
            if is_first_time or last:
                write.execute(
                    "UPDATE answers SET at = ?, total = ?, generation = ?, complete = max(complete, ?)"
                    " WHERE number = ?",
                    (at, start + len(items) if last else total, into, last, number),
                )
            if last:
                write.execute("DELETE FROM items WHERE answer = ? AND generation <> ?", (number, into))
        return [text for (text,) in before] != texts or known_total != total


def _in_memory() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.executescript(SCHEMA)
    return connection


class _transaction:  # noqa: N801  # reads as a statement
    """BEGIN IMMEDIATE … COMMIT; rolls back on any error."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> sqlite3.Connection:
        self._connection.execute("BEGIN IMMEDIATE")
        return self._connection

    def __exit__(self, kind: object, *_: object) -> None:
        self._connection.execute("ROLLBACK" if kind else "COMMIT")


def _keep_items(write: sqlite3.Connection, number: int, generation: int, start: int, items: list[Any]) -> list[str]:
    texts = [json.dumps(item, ensure_ascii=False, separators=(",", ":")) for item in items]
    named = [_identity(item) for item in items]
    write.executemany(
        "INSERT OR REPLACE INTO resources VALUES (?, ?, ?)",
        ((kind, identity, text) for (kind, identity), text in zip(named, texts, strict=True) if kind),
    )
    write.executemany(
        "INSERT OR REPLACE INTO items VALUES (?, ?, ?, ?, ?, ?)", _rows(number, generation, start, named, texts)
    )
    return texts


def _rows(
    number: int, generation: int, start: int, named: list[tuple[str | None, str | None]], texts: list[str]
) -> Iterable[tuple[Any, ...]]:
    for at, ((kind, identity), text) in enumerate(zip(named, texts, strict=True), start):
        yield number, generation, at, kind, identity, None if kind else text


def _identity(thing: Any) -> tuple[str | None, str | None]:
    if isinstance(thing, dict):
        fields = cast("dict[str, Any]", thing)
        kind, identity = fields.get("object"), fields.get("id")
        if isinstance(kind, str) and isinstance(identity, str):
            return kind, identity
    return None, None
