"""The cache: responses of the service as JSON, by the cache key of the call. It can be deleted at any time.

A resource with an `object` and an `id` is stored once, so that a new version of it shows in every response that
contains it. A listing is stored by rows, so that long ones can be read by window. Reads are for the thread of the user
interface, writes for one other thread. File problems are never errors for callers: a damaged file is moved aside and
replaced, and if no file can be written, new responses are kept in memory and the old file is still read.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, TypeVar, cast

from presscheck.errors import StoreError
from presscheck.store.cache_tables import (
    SCHEMA,
    STEPS,
    VERSION,
    WINDOW,
    CacheReader,
    Condition,
    Evictor,
    Stored,
    StoredWindow,
    compact,
    identity,
    in_memory,
    keep_items,
    transaction,
)
from presscheck.store.search_index import SearchIndex
from presscheck.store.sqlite_files import connect, connect_read_only, delete_older, inode, open_file, set_aside

__all__ = ["Cache", "Condition", "Stored", "StoredWindow"]

T = TypeVar("T")
MB = 1_000_000
LIMIT = 500 * MB
"""The default size limit in bytes."""


class Cache:
    """The cache of one user of one service.

    Args:
        path: the file.
        limit: the size limit in bytes; `evict` enforces it.

    Attributes:
        notice: a line for the user if a file could not be used; None otherwise.
    """

    def __init__(self, path: Path, *, limit: int = LIMIT) -> None:
        self.notice: str | None = None
        self._path, self._limit = path, limit
        self._readers: tuple[CacheReader, ...] = ()
        self._used: dict[str, float] = {}
        self._is_damaged = False
        self._abandoned: list[sqlite3.Connection] = []
        self._search: SearchIndex | None = None
        self._open()

    def close(self) -> None:
        """Close the file."""
        with suppress(sqlite3.Error):
            self._write_used()
        for connection in (*(reader.database for reader in self._readers), self._writer, *self._abandoned):
            with suppress(sqlite3.Error):
                connection.close()

    def answer(self, key: str) -> Stored | None:
        """The cached response of a call; for a listing, one page with all cached rows."""
        return self._touch(key, self._read(lambda reader: reader.answer(key)))

    @property
    def search(self) -> SearchIndex:
        """The full-text search index; for the writer thread."""
        if self._search is None or self._search.connection is not self._writer:
            self._search = SearchIndex(self._writer, CacheReader(self._writer).answer)
        return self._search

    def for_writing(self, keys: Iterable[str]) -> dict[str, Stored]:
        """The cached responses under these keys, by key; for the writer thread."""
        reader = CacheReader(self._writer)
        found = ((key, reader.answer(key)) for key in keys)
        return {key: stored for key, stored in found if stored}

    def keep_same(self, resources: Iterable[tuple[str, str, str]], at: float) -> None:
        """Store resources (cache key, object, id) of a listing as the responses of the calls that read them."""
        rows = [(key, at, at, kind, name) for key, kind, name in resources]
        self._write(lambda database: _keep_same(database, rows))

    def window(self, key: str, start: int, count: int) -> StoredWindow:
        """Rows of a listing from `start` on; empty if it was never fetched."""
        found = self._touch(key, self._read(lambda reader: reader.window(key, start, count)))
        return found or StoredWindow((), 0, None, complete=False)

    def positions(self, key: str, ids: Iterable[str]) -> dict[str, int]:
        """The positions of the items with these ids in a listing, by id; without those that are not in it."""
        listed = list(ids)
        return self._read(lambda reader: reader.positions(key, listed)) or {}

    def rows(self, key: str, positions: Iterable[int]) -> dict[int, str]:
        """The rows of a listing at these positions, as JSON by position."""
        listed = list(positions)
        return self._touch(key, self._read(lambda reader: reader.rows(key, listed))) or {}

    def matching(
        self, key: str, conditions: Iterable[Condition], order: tuple[str, bool] | None = None
    ) -> list[tuple[int, str]]:
        """The rows of a listing that meet all conditions, as (position, space id). For the writer thread.

        Args:
            key: the cache key of the listing.
            conditions: what must hold.
            order: a JSON path and whether the order is descending; None for the order of the listing.
        """
        listed = list(conditions)
        # the writer's connection first, so that the user interface does not wait for its own connection
        readers = (CacheReader(self._writer), *self._readers)
        return self._read(lambda reader: reader.matching(key, listed, order), readers) or []

    def resource(self, kind: str, identity: str) -> str | None:
        """The newest JSON of a resource, by `object` and `id`."""
        return self._read(lambda reader: reader.resource(kind, identity))

    def keep(self, key: str, body: bytes, at: float) -> bool:
        """Store a response that was received at `at` (seconds since the epoch); returns whether it differs."""
        answer = json.loads(body) if body else None
        items = cast("dict[str, Any]", answer).get("items") if isinstance(answer, dict) else None
        if isinstance(items, list):
            count = cast("dict[str, Any]", answer).get("count")
            listed = cast("list[Any]", items)
            return self.keep_page(key, listed, 0, at, total=count or len(listed), last=True)
        return self._write(lambda database: _keep_answer(database, key, answer, at))

    def keep_resource(self, answer: Any) -> None:
        """Store a resource that a write returned."""
        kind, name = identity(answer)
        if kind:
            text = compact(answer)
            self._write(lambda database: _keep_thing(database, (kind, name, text)))

    def keep_page(self, key: str, items: list[Any], start: int, at: float, *, total: int, last: bool) -> bool:
        """Store one page of a listing; the old rows stay until the last page is stored.

        A page is ignored if the first page of the listing is not cached. Returns whether this page differs.

        Args:
            key: the cache key of the listing.
            items: the rows.
            start: the position of the first of them.
            at: when they were received, in seconds since the epoch.
            total: the number of rows of the whole listing.
            last: whether this is the last page.
        """
        return self._write(lambda database: _keep_page(database, key, items, start, at, total, last=last))

    def evict(self, pinned: Collection[str]) -> bool:
        """Evict some old responses if the size limit is exceeded. For the writer thread.

        Args:
            pinned: the keys of responses that must stay, because they are on the screen.

        Returns:
            Whether there is more to evict.
        """
        try:
            self._write_used()
            return not self._is_damaged and self._evictor.step(self._writer, pinned)
        except sqlite3.Error:
            return False  # another instance is writing, or the next write reports the error

    def _open(self) -> None:
        """Open the file; if that fails, use memory, and the old file for reading."""
        self._evictor, self._is_damaged = Evictor(self._limit), False
        try:
            with ExitStack() as opened:
                writer, aside = open_file(self._path, SCHEMA, VERSION, durable=False, steps=STEPS)
                opened.callback(writer.close)
                reader = connect(self._path, durable=False)
                opened.callback(reader.close)
                self._inode = inode(self._path)
                opened.pop_all()  # from here on, `close` closes both
            self._writer, self._readers = writer, (CacheReader(reader),)
        except (StoreError, OSError) as error:
            known = connect_read_only(self._path, VERSION)
            self._readers = (CacheReader(known),) if known else ()
            self._use_memory(error)
            return
        if aside:
            self._set_aside_notice(aside)

    def _read(self, query: Callable[[CacheReader], T | None], readers: tuple[CacheReader, ...] = ()) -> T | None:
        """The result of the first reader that has one; None if nothing is found or can be read."""
        for reader in readers or self._readers:
            try:
                found = query(reader)
            except sqlite3.OperationalError:
                continue
            except sqlite3.DatabaseError as error:
                if type(error) is not sqlite3.DatabaseError:
                    raise
                self._is_damaged = True  # the writer thread replaces the file
                continue
            if found is not None:
                return found
        return None

    def _write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Write to the file; to a new one if it is damaged, to memory if no file can be written."""
        try:
            if not self._is_damaged:
                return work(self._writer)
        except sqlite3.OperationalError as error:
            self._abandoned.append(self._writer)
            self._use_memory(error)
            return work(self._writer)
        except sqlite3.DatabaseError as error:
            if type(error) is not sqlite3.DatabaseError:
                raise
        self._replace_file()
        return work(self._writer)

    def _replace_file(self) -> None:
        self._abandoned += [self._writer, *(reader.database for reader in self._readers)]
        aside = None
        with suppress(OSError):
            if inode(self._path) == self._inode:  # else another instance has replaced it
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
        self._writer = in_memory()
        self._readers = (CacheReader(self._writer), *self._readers)

    def _touch(self, key: str, result: T | None) -> T | None:
        if result is not None:
            self._used[key] = time.time()
        return result

    def _write_used(self) -> None:
        """Write the times of the last reads to the file."""
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


def _keep_page(
    database: sqlite3.Connection, key: str, items: list[Any], start: int, at: float, total: int, *, last: bool
) -> bool:
    with transaction(database) as write:
        if start == 0:
            write.execute(
                "INSERT INTO answers (key, at, used, total, complete) VALUES (?, ?, ?, ?, 0)"
                " ON CONFLICT (key) DO UPDATE SET used = excluded.used",
                (key, at, at, total),
            )
        row = write.execute("SELECT number, generation, total, complete FROM answers WHERE key = ?", (key,)).fetchone()
        if row is None:
            return False
        number, shown, known_total, was_complete = row
        into = shown + 1 if was_complete else shown
        before = write.execute(WINDOW, (number, shown, start, start + len(items))).fetchall()
        if start == 0:
            write.execute("DELETE FROM items WHERE answer = ? AND generation = ?", (number, into))
        texts = keep_items(write, number, into, start, items)
        if not was_complete or last:
            write.execute(
                "UPDATE answers SET at = ?, total = ?, generation = ?, complete = max(complete, ?) WHERE number = ?",
                (at, start + len(items) if last else total, into, last, number),
            )
        if last:
            write.execute("DELETE FROM items WHERE answer = ? AND generation <> ?", (number, into))
    return [text for (text,) in before] != texts or known_total != total
