"""The cache: responses of the service as JSON, by the cache key of the call. The file can be deleted at any time.

A resource with an `object` and an `id` is stored once, so that a new version appears in every response that contains
the resource. A listing is stored by rows, so that long listings can be read by window. Reads are for the thread of the
user interface, writes for a single writer thread. File problems are never errors for callers: a damaged file is moved
aside and replaced. If no file can be written, new responses are stored in memory and the old file is still read.

The tables: resources are in `resources`; `answers` and `items` refer to them. `used` is the time of the last read of a
response, in seconds since the epoch. User input in filters is only passed as parameters.

`total` is the number of rows of a listing, and NULL for any other response. `more` is 1 if only a part of the rows is
stored, and 2 if the service did not send the total; then `total` is the number of stored rows.

Eviction keeps the cache within its size limit: it deletes resources without references, then least recently used
responses, in small transactions. The first transaction renames the response, so that no reader sees a part of a
listing.
"""

from __future__ import annotations

import json
import sqlite3
import time
from array import array
from collections.abc import Callable, Collection, Iterable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast
from uuid import uuid4

from presscheck.api.former_operation_names import FORMER_NAMES
from presscheck.errors import StoreError
from presscheck.store.search_index import SearchIndex, Stored
from presscheck.store.search_schema import TRIGGERS
from presscheck.store.sqlite_files import (
    BUSY_TIMEOUT,
    Statements,
    connect,
    connect_read_only,
    delete_older,
    inode,
    open_file,
    set_aside,
)

UNKNOWN = 2
"""The value of `more` for a listing of unknown length."""
ROWS = """
SELECT items.position, coalesce(items.json, resources.json) FROM items
LEFT JOIN resources ON resources.object = items.object AND resources.id = items.id
WHERE items.answer = ? AND items.generation = ? AND items.position IN (SELECT value FROM json_each(?))
"""
"""SQL: the rows of a listing at some positions."""
_KEY_OF = "replace(replace({}, '{{space}}', json_extract(thing, '$.space')), '{{id}}', json_extract(thing, '$.id'))"
"""SQL template: inserts the space and the id of a row into a cache key with placeholders."""
_NOTIFICATIONS = """coalesce(
    (SELECT own.value FROM json_each(call.user, '$.requests') AS own WHERE own.key = json_extract(thing, '$.id')),
    (SELECT around.value FROM json_each(call.user, '$.spaces') AS around
    WHERE around.key = json_extract(thing, '$.space')), '')"""
"""SQL: the notification setting of a row, else of its space: `muted`, `followed` or empty."""
_REVIEWS_KEY, _REVIEWERS_KEY = _KEY_OF.format("call.key"), _KEY_OF.format("json_extract(call.user, '$.reviewers')")
_REVIEW = "coalesce(listed.json, resource.json)"
_OWN_REVIEWS = f"""SELECT 1 FROM answers AS reviews JOIN items AS listed
    ON listed.answer = reviews.number AND listed.generation = reviews.generation
    LEFT JOIN resources AS resource ON resource.object = listed.object AND resource.id = listed.id
    WHERE reviews.key = {_REVIEWS_KEY}
    AND json_extract({_REVIEW}, '$.reviewer.id') = json_extract(call.user, '$.me')"""  # noqa: S608
"""SQL: the user's cached reviews of a row."""
_JUST_REVIEWED = f"""EXISTS (
    SELECT 1 FROM json_each(call.user, '$.reviewed') AS sent WHERE sent.key = json_extract(thing, '$.id')
    AND NOT EXISTS (SELECT 1 FROM answers AS newer WHERE newer.key = {_REVIEWS_KEY} AND newer.at > sent.value)
)"""  # noqa: S608
"""SQL: whether the user reviewed a row after its reviews were cached."""
_REVIEWED = f"""EXISTS (
    SELECT 1 FROM (SELECT ? AS key, ? AS user) AS call WHERE {_JUST_REVIEWED} OR EXISTS (
        {_OWN_REVIEWS}
        AND NOT coalesce(json_extract({_REVIEW}, '$.outdated'), 0)
        AND coalesce(json_extract({_REVIEW}, '$.revision'), '') IN ('', json_extract(thing, '$.revision'))
        AND json_extract({_REVIEW}, '$.createdAt') >= coalesce((
            SELECT max(json_extract(who.json, '$.createdAt')) FROM answers AS asked JOIN items AS who
            ON who.answer = asked.number AND who.generation = asked.generation
            WHERE asked.key = {_REVIEWERS_KEY}
            AND json_extract(who.json, '$.user.id') = json_extract(call.user, '$.me')
        ), '')
    )
)"""  # noqa: S608
"""SQL: whether the user reviewed the newest revision of a row, and was not asked for a review since."""
_INVOLVED = f"""EXISTS (
    SELECT 1 FROM (SELECT ? AS key, ? AS user) AS call WHERE {_NOTIFICATIONS} = 'followed'
    OR {_JUST_REVIEWED} OR EXISTS ({_OWN_REVIEWS}) OR EXISTS (
        SELECT 1 FROM items AS listed JOIN answers AS listing
        ON listed.answer = listing.number AND listed.generation = listing.generation
        WHERE listed.object = 'change-request' AND listed.id = json_extract(thing, '$.id')
        AND listing.key IN (SELECT value FROM json_each(call.user, '$.listings'))
    )
)"""  # noqa: S608
"""SQL: whether the user follows or has reviewed a row, or it is in a listing of the user's work."""
_HAS_STATE = f"EXISTS (SELECT 1 FROM (SELECT ? AS key, ? AS user) AS call WHERE {_NOTIFICATIONS} = '{{}}')"  # noqa: S608
RELATIONS = {
    "is": "json_extract(thing, ?) = ?",
    "in": "json_extract(thing, ?) IN (SELECT value FROM json_each(?))",
    "contains": "instr(lower(json_extract(thing, ?)), ?) > 0",
    "asked": """EXISTS (
        SELECT 1 FROM answers AS asked JOIN items AS who
        ON who.answer = asked.number AND who.generation = asked.generation
        WHERE asked.key =
            replace(replace(?, '{space}', json_extract(thing, '$.space')), '{id}', json_extract(thing, '$.id'))
        AND instr(lower(json_extract(who.json, '$.user.displayName')), ?) > 0
    )""",
    "not mine": "json_extract(thing, ?) IS NOT json_extract(?, '$.me')",
    "reviewed": _REVIEWED,
    "not reviewed": f"NOT {_REVIEWED}",
    "involved": _INVOLVED,
    "muted": _HAS_STATE.format("muted"),
    "not muted": f"NOT {_HAS_STATE.format('muted')}",
    "followed": _HAS_STATE.format("followed"),
    "less": "json_extract(thing, ?) < ?",
    "more": "json_extract(thing, ?) > ?",
}
"""The SQL of each relation, with parameters for the path and the value."""
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
WINDOW = """
SELECT coalesce(items.json, resources.json) FROM items
LEFT JOIN resources ON resources.object = items.object AND resources.id = items.id
WHERE items.answer = ? AND items.generation = ? AND items.position >= ? AND items.position < ?
ORDER BY items.position
"""
BATCH = 200
"""Rows, or pages of the file, that a single transaction deletes."""
TARGET = 0.9
"""The fraction of the limit at which an eviction ends; an eviction starts above the limit."""
RETRY_GROWTH = 1.05
"""An eviction that missed its target is tried again when the cache has grown by this factor."""
_UNREFERENCED = """
NOT EXISTS (SELECT 1 FROM items WHERE items.object = resources.object AND items.id = resources.id)
AND NOT EXISTS (SELECT 1 FROM answers WHERE answers.object = resources.object AND answers.id = resources.id)
"""
__all__ = ["Cache", "Condition", "Stored", "StoredWindow"]
T = TypeVar("T")
MB = 1_000_000
LIMIT = 500 * MB
"""The default size limit in bytes."""
MAX_TOTAL = 1_000_000
"""Maximum plausible total of a listing; a larger total is ignored."""


@dataclass(frozen=True)
class Condition:
    """A condition on the JSON of a row.

    Attributes:
        path: a JSON path; or a cache key with the placeholders ``{space}`` and ``{id}``: the key of the requested
            reviewers (for `asked`) or of the reviews (for `reviewed`, `not reviewed` and `involved`).
        relation: `is`, `in`, `contains` (the value in lower case), `less`, `more`, `asked`; of the user: `not mine`,
            `reviewed`, `not reviewed`, `involved`, `muted`, `not muted`, `followed`.
        value: the value to compare with; for the user, a JSON object: `me` (an id), `reviewers` (the cache key of the
            requested reviewers), `listings` (the cache keys of the listings of the user's work), `reviewed` (the times
            of the user's reviews, by id of the change request), `requests` and `spaces` (`muted` or `followed`, by id).
    """

    path: str
    relation: str
    value: str | int | tuple[str, ...]


def matching(
    conditions: Iterable[Condition], order: tuple[str, bool] | None, first: int | None = None
) -> tuple[str, list[str | int]]:
    """Return an SQL statement that selects the positions and space ids of matching rows, with its parameters.

    The caller puts the number and the generation of the listing before these parameters.

    With `first`, only the first `first` rows of the listing are considered.
    """
    clauses, values = ["answer = ?", "generation = ?"], list[str | int]()
    if first is not None:
        clauses.append("position < ?")
        values.append(first)
    for condition in conditions:
        clauses.append(RELATIONS[condition.relation])
        values += [
            condition.path,
            json.dumps(condition.value) if isinstance(condition.value, tuple) else condition.value,
        ]
    by = "position"
    if order:
        by = f"json_extract(thing, ?) COLLATE NOCASE {'DESC' if order[1] else 'ASC'}, position"
        values.append(order[0])
    return (
        "SELECT position, json_extract(thing, '$.space') FROM"  # noqa: S608
        " (SELECT items.*, coalesce(items.json, resources.json) AS thing FROM items"
        " LEFT JOIN resources ON resources.object = items.object AND resources.id = items.id)"
        f" WHERE {' AND '.join(clauses)} ORDER BY {by}",
        values,
    )


def _rename_keys() -> str:
    """Return the statements that rename cache keys from ``family.Name`` to the `operationId` of the call.

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
"""SQL: older versions stored the number of items of a response as the total of the listing."""
STEPS: dict[int, Statements] = {
    1: "ALTER TABLE answers ADD COLUMN used REAL NOT NULL DEFAULT 0; UPDATE answers SET used = at;" + _INDEXES,  # noqa: S608
    2: _rename_keys,
    3: _ADD_MORE,
}
"""The statements that migrate each older version to the next."""


class transaction:  # noqa: N801  # reads as a statement
    """A write transaction that is rolled back after any error, including an error of the commit."""

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


class snapshot:  # noqa: N801  # reads as a statement
    """A read transaction, whose statements all see the same state; does nothing inside another transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._is_outermost = not connection.in_transaction

    def __enter__(self) -> sqlite3.Connection:
        if self._is_outermost:
            self._connection.execute("BEGIN")
        return self._connection

    def __exit__(self, *_: object) -> None:
        if self._is_outermost and self._connection.in_transaction:
            self._connection.execute("ROLLBACK")


def in_memory() -> tuple[sqlite3.Connection, sqlite3.Connection]:
    """Return a writing and a reading connection to an empty cache in memory."""
    file = f"file:/presscheck-{uuid4()}?vfs=memdb"
    writer, reader = (
        sqlite3.connect(file, uri=True, timeout=BUSY_TIMEOUT, isolation_level=None, check_same_thread=False)
        for _ in range(2)
    )
    writer.executescript(SCHEMA)
    return writer, reader


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""A shared encoder, because `json.dumps` would create an encoder for these options in each call."""


def compact(value: Any) -> str:
    """Return a value as compact JSON."""
    return _encode(value)


def identity(thing: Any) -> tuple[str | None, str | None]:
    """Return the `object` and the `id` of a resource, or (None, None) if either is missing."""
    if isinstance(thing, dict):
        fields = cast("dict[str, Any]", thing)
        kind, name = fields.get("object"), fields.get("id")
        if isinstance(kind, str) and isinstance(name, str):
            return kind, name
    return None, None


def keep_items(write: sqlite3.Connection, number: int, generation: int, start: int, items: list[Any]) -> list[str]:
    """Insert rows into a listing from `start` on. Return their JSON."""
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


@dataclass(frozen=True)
class StoredWindow:
    """Some rows of a cached listing as JSON.

    Attributes:
        items: the rows, as JSON.
        total: the number of rows of the whole listing, or if unknown, of cached rows.
        at: the time of the response, in seconds since the epoch; None if the listing was never fetched.
        complete: whether all rows are cached.
        is_total_known: whether `total` is the number of rows of the whole listing.
    """

    items: tuple[str, ...]
    total: int
    at: float | None
    complete: bool
    is_total_known: bool = True


class CacheReader:
    """A reader of a single database. Methods that take a single key return None if nothing is stored under the key.

    A listing is read in two statements, in a single transaction: if another thread or process replaced the rows between
    the statements, the listing would look empty.
    """

    def __init__(self, database: sqlite3.Connection) -> None:
        self.database = database

    def answer(self, key: str) -> Stored | None:
        """Return a response; a listing becomes a single page with all cached rows."""
        with snapshot(self.database) as database:
            row = database.execute(
                "SELECT coalesce(answers.json, resources.json), at, number, generation, total, more FROM answers"
                " LEFT JOIN resources USING (object, id) WHERE key = ?",
                (key,),
            ).fetchone()
            if row is None:
                return None
            text, at, number, generation, total, more = row
            if total is None:
                return Stored(text, at) if text else None
            items = [item for (item,) in database.execute(WINDOW, (number, generation, 0, 1 << 40)) if item]
        known_total = "" if more == UNKNOWN else f',"total":{total}'
        return Stored(f'{{"items":[{",".join(items)}],"count":{len(items)}{known_total}}}', at)

    def answers(self, keys: Iterable[str]) -> dict[str, Stored]:
        """Return the cached responses by key, each in the form of `answer`; missing responses are left out."""
        requested = list(keys)
        with snapshot(self.database) as database:
            # the inner query runs only for responses that are resources; a join would run for every response
            rows = database.execute(
                "SELECT key, coalesce(json, (SELECT json FROM resources WHERE object = answers.object"
                " AND id = answers.id)), at, total FROM answers WHERE key IN (SELECT value FROM json_each(?))",
                (json.dumps(requested),),
            )
            responses = {
                key: self.answer(key) if total is not None else Stored(text, at) for key, text, at, total in rows
            }
        return {key: stored for key in requested if (stored := responses.get(key)) and stored.json}

    def window(self, key: str, start: int, count: int) -> StoredWindow | None:
        """Return rows of a listing, from `start` on."""
        with snapshot(self.database) as database:
            row = database.execute(
                "SELECT number, generation, total, at, complete, more FROM answers WHERE key = ?", (key,)
            ).fetchone()
            if row is None:
                return None
            number, generation, total, at, complete, more = row
            rows = database.execute(WINDOW, (number, generation, start, start + count))
            items = tuple(item or "{}" for (item,) in rows)
        return StoredWindow(items, total or 0, at, bool(complete and not more), more != UNKNOWN)

    def positions(self, key: str, ids: Iterable[str]) -> dict[str, int] | None:
        """Return the positions of items in a listing, by id; ids that are not in the listing are left out."""
        with snapshot(self.database) as database:
            row = self._listing(key)
            if row is None:
                return None
            positions = database.execute(
                "SELECT id, position FROM items WHERE answer = ? AND generation = ?"
                " AND id IN (SELECT value FROM json_each(?))",
                (*row, json.dumps(list(ids))),
            )
            return dict(positions.fetchall())

    def rows(self, key: str, positions: list[int]) -> dict[int, str] | None:
        """Return rows of a listing as JSON, by position."""
        with snapshot(self.database) as database:
            row = self._listing(key)
            return dict(database.execute(ROWS, (*row, json.dumps(positions))).fetchall()) if row else None

    def matching(
        self, key: str, conditions: Iterable[Condition], order: tuple[str, bool] | None, first: int | None = None
    ) -> array[int] | None:
        """Return the positions of the rows of a listing that meet all conditions; see `Cache.matching`."""
        with snapshot(self.database) as database:
            row = self._listing(key)
            if row is None:
                return None
            statement, values = matching(conditions, order, first)
            return array("q", (position for position, _ in database.execute(statement, (*row, *values))))

    def matching_by_space(
        self, key: str, conditions: Iterable[Condition], order: tuple[str, bool] | None
    ) -> dict[str, array[int]] | None:
        """Return the positions of matching rows, by the id of their space."""
        with snapshot(self.database) as database:
            row = self._listing(key)
            if row is None:
                return None
            statement, values = matching(conditions, order)
            positions: dict[str, array[int]] = {}
            for position, space in database.execute(statement, (*row, *values)):
                positions.setdefault(space, array("q")).append(position)
            return positions

    def resource(self, kind: str, identity: str) -> str | None:
        """Return the newest JSON of a resource, by `object` and `id`, or None."""
        row = self.database.execute(
            "SELECT json FROM resources WHERE object = ? AND id = ?", (kind, identity)
        ).fetchone()
        return row[0] if row else None

    def text(self, key: str) -> str | None:
        """Return the JSON of a response that is not a listing, or None."""
        row = self.database.execute(
            "SELECT coalesce(answers.json, resources.json) FROM answers LEFT JOIN resources USING (object, id)"
            " WHERE key = ?",
            (key,),
        ).fetchone()
        return row[0] if row else None

    def _listing(self, key: str) -> tuple[int, int] | None:
        return self.database.execute("SELECT number, generation FROM answers WHERE key = ?", (key,)).fetchone()


def size(database: sqlite3.Connection) -> int:
    """Return the used bytes of a database, without free pages."""
    pages, free, each = (_pragma(database, name) for name in ("page_count", "freelist_count", "page_size"))
    return (pages - free) * each


class Evictor:
    """An eviction of old responses from a cache, in small transactions.

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
        """Run a transaction of the eviction. Return whether there is more to do.

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
        """Delete a batch of resources without references. Return False once all resources were checked."""
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
    """Delete up to `BATCH` rows of the least recently used response. Return False if only pinned responses are left."""
    row = write.execute(
        "SELECT number, used, object, id FROM answers WHERE key NOT IN (SELECT value FROM json_each(?))"
        " ORDER BY used LIMIT 1",
        (json.dumps(list(pinned)),),
    ).fetchone()
    if row is None:
        return False
    number, used, kind, name = row
    if used >= 0:  # after the renaming, readers no longer find the response, and the next batch continues with it
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
    """Release a batch of free pages to the disk. Return whether there may be more free pages."""
    before = _pragma(database, "freelist_count")
    if not before:
        return False
    database.execute(f"PRAGMA incremental_vacuum({BATCH})").fetchall()
    return 0 < _pragma(database, "freelist_count") < before


def _pragma(database: sqlite3.Connection, name: str) -> int:
    return database.execute(f"PRAGMA {name}").fetchone()[0]


class Cache:
    """A user's cache of the responses of a service.

    Args:
        path: the file.
        limit: the size limit in bytes; `evict` enforces it.

    Attributes:
        notice: a message to the user if a file could not be used, else None.
    """

    def __init__(self, path: Path, *, limit: int = LIMIT) -> None:
        self.notice: str | None = None
        self._path, self._limit = path, limit
        # threads must not share a connection: they would share its statements, and could get each other's rows
        self._readers: tuple[CacheReader, ...] = ()
        """For the thread of the user interface: memory, if the file cannot be written, and then the file."""
        self._own_readers: tuple[CacheReader, ...] = ()
        """The same for the writer thread."""
        self._used: dict[str, float] = {}
        self._is_damaged = False
        self._abandoned: list[sqlite3.Connection] = []
        self._search: SearchIndex | None = None
        self._open()

    def close(self) -> None:
        """Close the file."""
        with suppress(sqlite3.Error):
            self._write_used()
        readers = (reader.database for reader in (*self._readers, *self._own_readers))
        for connection in (*readers, *self._abandoned):
            with suppress(sqlite3.Error):
                connection.close()

    def answer(self, key: str) -> Stored | None:
        """Return the cached response of a call, or None. A listing becomes a single page with all cached rows."""
        return self._touch(key, self._read(lambda reader: reader.answer(key)))

    @property
    def search(self) -> SearchIndex:
        """The full-text search index; for the writer thread."""
        if self._search is None or self._search.connection is not self._writer:
            self._search = SearchIndex(self._writer, CacheReader(self._writer).answer)
        return self._search

    def for_writing(self, keys: Iterable[str]) -> dict[str, Stored]:
        """Return cached responses by key; for the writer thread."""
        return CacheReader(self._writer).answers(keys)

    def keep_same(self, resources: Iterable[tuple[str, str, str]], at: float) -> None:
        """Record stored resources as the responses of the calls that read them.

        Args:
            resources: for each resource, the cache key of the call, the `object` and the `id`.
            at: the time of the response, in seconds since the epoch.
        """
        rows = [(key, at, at, kind, name) for key, kind, name in resources]
        self._write(lambda database: _keep_same(database, rows))

    def window(self, key: str, start: int, count: int) -> StoredWindow:
        """Return rows of a listing from `start` on; empty if the listing was never fetched."""
        window = self._touch(key, self._read(lambda reader: reader.window(key, start, count)))
        return window or StoredWindow((), 0, None, complete=False)

    def positions(self, key: str, ids: Iterable[str]) -> dict[str, int]:
        """Return the positions of items in a listing, by id; ids that are not in the listing are left out."""
        listed = list(ids)
        return self._read(lambda reader: reader.positions(key, listed)) or {}

    def rows(self, key: str, positions: Iterable[int]) -> dict[int, str]:
        """Return rows of a listing as JSON, by position."""
        listed = list(positions)
        return self._touch(key, self._read(lambda reader: reader.rows(key, listed))) or {}

    def matching(self, key: str, conditions: Iterable[Condition], order: tuple[str, bool] | None = None) -> array[int]:
        """Return the positions of the rows of a listing that meet all conditions, in order. For the writer thread.

        Args:
            key: the cache key of the listing.
            conditions: the conditions that a row must meet.
            order: a JSON path and whether the order is descending; None for the order of the listing.
        """
        listed = list(conditions)
        return self._read(lambda reader: reader.matching(key, listed, order), self._own_readers) or array("q")

    def matching_by_space(
        self, key: str, conditions: Iterable[Condition], order: tuple[str, bool] | None = None
    ) -> dict[str, array[int]]:
        """Return the same positions as `matching`, grouped by the id of the space."""
        listed = list(conditions)
        return self._read(lambda reader: reader.matching_by_space(key, listed, order), self._own_readers) or {}

    def first_matching(self, key: str, conditions: Iterable[Condition], first: int) -> array[int]:
        """Return matching positions in the first `first` rows of a listing; for the thread of the user interface."""
        listed = list(conditions)
        return self._read(lambda reader: reader.matching(key, listed, None, first)) or array("q")

    def resource(self, kind: str, identity: str) -> str | None:
        """Return the newest JSON of a resource, by `object` and `id`, or None."""
        return self._read(lambda reader: reader.resource(kind, identity))

    def keep(self, key: str, body: bytes, at: float) -> bool:
        """Store a response. Return whether the response differs from the stored response.

        Args:
            key: the cache key of the call.
            body: the body of the response.
            at: the time of the response, in seconds since the epoch.
        """
        return self.keep_answer(key, json.loads(body) if body else None, at)

    def keep_answer(self, key: str, answer: Any, at: float) -> bool:
        """Store a parsed response, as `keep` does."""
        items = cast("dict[str, Any]", answer).get("items") if isinstance(answer, dict) else None
        if isinstance(items, list):
            total, cursor = _paging(cast("dict[str, Any]", answer))
            return self.keep_page(key, cast("list[Any]", items), 0, at, total=total, last=True, has_more=bool(cursor))
        return self._write(lambda database: _keep_answer(database, key, answer, at))

    def keep_resource(self, answer: Any) -> None:
        """Store a resource that a write returned, if it has an `object` and an `id`."""
        kind, name = identity(answer)
        if kind:
            text = compact(answer)
            self._write(lambda database: _keep_thing(database, (kind, name, text)))

    def keep_page(
        self,
        key: str,
        items: list[Any],
        start: int,
        at: float,
        *,
        total: int | None,
        last: bool,
        has_more: bool = False,
    ) -> bool:
        """Store a page of a listing; the old rows stay until the last page is stored.

        A page is ignored if the first page of the listing is not cached.

        Args:
            key: the cache key of the listing.
            items: the rows.
            start: the position of the first row.
            at: the time of the response, in seconds since the epoch.
            total: the number of rows of the whole listing; None if the service did not send it.
            last: whether this is the last page that will be stored.
            has_more: whether the listing has rows after the last page.

        Returns:
            Whether the page differs from the stored rows.
        """
        end = start + len(items)
        known_total = total if total is not None and end <= total < MAX_TOTAL else None
        rest = (end, UNKNOWN) if known_total is None else (known_total, 1)
        length = (end, 0) if last and not has_more else rest
        return self._write(lambda database: _keep_page(database, key, items, start, at, length, last=last))

    def evict(self, pinned: Collection[str]) -> bool:
        """Evict some old responses if the size limit is exceeded. For the writer thread.

        Args:
            pinned: the keys of visible responses, which must stay.

        Returns:
            Whether there is more to evict.
        """
        try:
            self._write_used()
            return not self._is_damaged and self._evictor.step(self._writer, pinned)
        except sqlite3.Error:
            return False  # another instance is writing, or the next write reports the error

    def _open(self) -> None:
        """Open the file. If that fails, write to memory, and read from the file if possible."""
        self._evictor, self._is_damaged = Evictor(self._limit), False
        try:
            with ExitStack() as opened:
                writer, aside = open_file(self._path, SCHEMA, VERSION, durable=False, steps=STEPS)
                opened.callback(writer.close)
                reader = connect(self._path, durable=False)
                opened.callback(reader.close)
                self._inode = inode(self._path)
                opened.pop_all()  # from here on, `close` closes both
            self._writer, self._readers, self._own_readers = writer, (CacheReader(reader),), (CacheReader(writer),)
        except (StoreError, OSError) as error:
            self._readers, self._own_readers = (
                (CacheReader(known),) if (known := connect_read_only(self._path, VERSION)) else () for _ in range(2)
            )
            self._use_memory(error)
            return
        if aside:
            self._set_aside_notice(aside)

    def _read(self, query: Callable[[CacheReader], T | None], readers: tuple[CacheReader, ...] = ()) -> T | None:
        """Run a query on each reader until one of them has a result. Return the result, or None.

        Without `readers`, the readers of the user interface are used.
        """
        for reader in readers or self._readers:
            try:
                result = query(reader)
            except sqlite3.OperationalError:
                continue
            except sqlite3.DatabaseError as error:
                if type(error) is not sqlite3.DatabaseError:
                    raise
                self._is_damaged = True  # the writer thread replaces the file
                continue
            if result is not None:
                return result
        return None

    def _write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Write to the file, to a new file if the file is damaged, or to memory if no file can be written."""
        try:
            if not self._is_damaged:
                return work(self._writer)
        except sqlite3.OperationalError as error:
            self._use_memory(error)
            return work(self._writer)
        except sqlite3.DatabaseError as error:
            if type(error) is not sqlite3.DatabaseError:
                raise
        self._replace_file()
        return work(self._writer)

    def _replace_file(self) -> None:
        self._abandoned += [reader.database for reader in (*self._readers, *self._own_readers)]
        aside = None
        with suppress(OSError):
            if inode(self._path) == self._inode:  # otherwise another instance has replaced the file
                aside = set_aside(self._path)
        self._open()
        if aside:
            self._set_aside_notice(aside)

    def _set_aside_notice(self, aside: Path) -> None:
        delete_older(self._path, aside)
        self.notice = f"The cache was damaged or of another version: moved to {aside.name}; a new one was created"

    def _use_memory(self, error: Exception) -> None:
        reason = error if isinstance(error, StoreError) else f"Could not write {self._path}: {error}"
        self.notice = f"{reason}; this session caches in memory only"
        self._evictor = Evictor(self._limit)
        self._writer, reader = in_memory()
        self._readers = (CacheReader(reader), *self._readers)
        self._own_readers = (CacheReader(self._writer), *self._own_readers)

    def _touch(self, key: str, result: T | None) -> T | None:
        if result is not None:
            self._used[key] = time.time()
        return result

    def _write_used(self) -> None:
        if self._used:
            used, self._used = self._used, {}
            with transaction(self._writer) as write:
                write.executemany(
                    "UPDATE answers SET used = ? WHERE key = ?", [(at, key) for key, at in list(used.items())]
                )


def _keep_same(database: sqlite3.Connection, rows: list[tuple[str, float, float, str, str]]) -> None:
    with transaction(database) as write:
        write.executemany(
            "INSERT INTO answers (key, at, used, object, id) VALUES (?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE"
            " SET at = excluded.at, used = excluded.used, object = excluded.object, id = excluded.id, json = NULL",
            rows,
        )


def _keep_thing(database: sqlite3.Connection, row: tuple[str, str | None, str]) -> None:
    with transaction(database) as write:
        write.execute("INSERT OR REPLACE INTO resources VALUES (?, ?, ?)", row)


def _keep_answer(database: sqlite3.Connection, key: str, answer: Any, at: float) -> bool:
    text, (kind, name) = compact(answer), identity(answer)
    with transaction(database) as write:
        before = CacheReader(write).text(key)
        if kind:
            write.execute("INSERT OR REPLACE INTO resources VALUES (?, ?, ?)", (kind, name, text))
        write.execute(
            "INSERT INTO answers (key, at, used, object, id, json) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (key)"
            " DO UPDATE SET at = excluded.at, used = excluded.used, object = excluded.object, id = excluded.id,"
            " json = excluded.json",
            (key, at, at, kind, name, None if kind else text),
        )
    return before != text


def _paging(answer: dict[str, Any]) -> tuple[int | None, str | None]:
    """Return the total and the cursor of the next page of a response. Either is None if the response lacks it."""
    total, following = answer.get("total"), answer.get("next")
    cursor = cast("dict[str, Any]", following).get("page") if isinstance(following, dict) else None
    return total if type(total) is int else None, cursor if isinstance(cursor, str) else None


def _keep_page(
    database: sqlite3.Connection,
    key: str,
    items: list[Any],
    start: int,
    at: float,
    length: tuple[int, int],
    *,
    last: bool,
) -> bool:
    """Store a page. Return whether it differs from the stored rows.

    `length` has the values of the columns `total` and `more`.
    """
    with transaction(database) as write:
        if start == 0:
            write.execute(
                "INSERT INTO answers (key, at, used, total, more, complete) VALUES (?, ?, ?, ?, ?, 0)"
                " ON CONFLICT (key) DO UPDATE SET used = excluded.used",
                (key, at, at, *length),
            )
        row = write.execute(
            "SELECT number, generation, complete, total, more FROM answers WHERE key = ?", (key,)
        ).fetchone()
        if row is None:
            return False
        number, shown, was_complete, total, more = row
        into = shown + 1 if was_complete else shown
        before = write.execute(WINDOW, (number, shown, start, start + len(items))).fetchall()
        if start == 0:
            write.execute("DELETE FROM items WHERE answer = ? AND generation = ?", (number, into))
        texts = keep_items(write, number, into, start, items)
        if not was_complete or last:
            write.execute(
                "UPDATE answers SET at = ?, total = ?, more = ?, generation = ?, complete = max(complete, ?)"
                " WHERE number = ?",
                (at, *length, into, last, number),
            )
        if last:
            write.execute("DELETE FROM items WHERE answer = ? AND generation <> ?", (number, into))
    # before the last page, the total is unknown unless the service sent it
    has_same_length = (total, more) == length if last else length[1] == UNKNOWN or total == length[0]
    return [text for (text,) in before] != texts or not has_same_length
