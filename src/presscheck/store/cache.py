"""The cache: what the service said, as the JSON that it said, by the key of the call that asked.

May be thrown away at any time. A thing that has an `object` and an `id` is kept once, so that it is new everywhere when
it is new anywhere; a listing is kept by rows, so that one of 100,000 is read by window. Reads are for the thread of the
screen, writes for one other thread. Nothing that befalls the file is an error to whoever reads or writes: a damaged one
is set aside and begun anew, and where none can be written, memory serves, before what the file still knows.
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
from presscheck.store.cache_eviction import Evictor
from presscheck.store.cache_reader import WINDOW, CacheReader, Stored, StoredWindow
from presscheck.store.cache_schema import SCHEMA, STEPS, VERSION, compact, identity, in_memory, keep_items, transaction
from presscheck.store.search_index import SearchIndex
from presscheck.store.sql_filters import Condition
from presscheck.store.sqlite_files import connect, connect_to_look, forget_older, inode, open_file, set_aside

__all__ = ["Cache", "Condition", "Stored", "StoredWindow"]

T = TypeVar("T")
MB = 1_000_000
LIMIT = 500 * MB
"""Bytes that a cache may hold, when nobody says otherwise."""


class Cache:
    """The cache of one reader of one service.

    `notice` is one line for the user where a file could not be used.

    Args:
        path: its file.
        limit: bytes that it may hold; `thin` sees to it.
    """

    def __init__(self, path: Path, *, limit: int = LIMIT) -> None:
        self.notice: str | None = None
        self._path, self._limit = path, limit
        self._shelves: tuple[CacheReader, ...] = ()
        self._used: dict[str, float] = {}
        self._is_damaged = False
        self._given_up: list[sqlite3.Connection] = []
        self._search: SearchIndex | None = None
        self._open()

    def close(self) -> None:
        """Close the file."""
        with suppress(sqlite3.Error):
            self._note_used()
        for connection in (*(shelf.database for shelf in self._shelves), self._writer, *self._given_up):
            with suppress(sqlite3.Error):
                connection.close()

    def answer(self, key: str) -> Stored | None:
        """The stored answer of a call; a listing comes as one page of all that is known of it."""
        return self._wanted(key, self._read(lambda shelf: shelf.answer(key)))

    @property
    def search(self) -> SearchIndex:
        """What is searched by words; for the writing thread."""
        if self._search is None or self._search.connection is not self._writer:
            self._search = SearchIndex(self._writer, CacheReader(self._writer).answer)
        return self._search

    def for_writing(self, keys: Iterable[str]) -> dict[str, Stored]:
        """What is stored under these keys; for the writing thread."""
        shelf = CacheReader(self._writer)
        found = ((key, shelf.answer(key)) for key in keys)
        return {key: stored for key, stored in found if stored}

    def keep_same(self, things: Iterable[tuple[str, str, str]], at: float) -> None:
        """Let things that came in a listing (key, object, id) be the answers of the calls that ask for one of them."""
        rows = [(key, at, at, kind, name) for key, kind, name in things]
        self._write(lambda database: _keep_same(database, rows))

    def window(self, key: str, start: int, count: int) -> StoredWindow:
        """Rows of a listing, from `start` on."""
        found = self._wanted(key, self._read(lambda shelf: shelf.window(key, start, count)))
        return found or StoredWindow((), 0, None, complete=False)

    def positions(self, key: str, ids: Iterable[str]) -> dict[str, int]:
        """Where in a listing the things with these ids stand, as far as they are in it."""
        listed = list(ids)
        return self._read(lambda shelf: shelf.positions(key, listed)) or {}

    def rows(self, key: str, places: Iterable[int]) -> dict[int, str]:
        """The rows of a listing at these places, as JSON."""
        wanted = list(places)
        return self._wanted(key, self._read(lambda shelf: shelf.rows(key, wanted))) or {}

    def matching(
        self, key: str, conditions: Iterable[Condition], order: tuple[str, bool] | None = None
    ) -> list[tuple[int, str]]:
        """Where in a listing stands what meets all conditions, and its space, in its order or by a path.

        For the writing thread.
        """
        listed = list(conditions)
        # what stands first is the writer's own, so that the screen is not held up
        shelves = (CacheReader(self._writer), *self._shelves)
        return self._read(lambda shelf: shelf.matching(key, listed, order), shelves) or []

    def resource(self, kind: str, identity: str) -> str | None:
        """The newest JSON of a thing, by `object` and `id`."""
        return self._read(lambda shelf: shelf.resource(kind, identity))

    def keep(self, key: str, body: bytes, at: float) -> bool:
        """Keep an answer; False where it is what was known already."""
        answer = json.loads(body) if body else None
        items = cast("dict[str, Any]", answer).get("items") if isinstance(answer, dict) else None
        if isinstance(items, list):
            count = cast("dict[str, Any]", answer).get("count")
            listed = cast("list[Any]", items)
            return self.keep_page(key, listed, 0, at, total=count or len(listed), last=True)
        return self._write(lambda database: _keep_answer(database, key, answer, at))

    def keep_resource(self, answer: Any) -> None:
        """Keep a thing that came as the answer of a write."""
        kind, name = identity(answer)
        if kind:
            text = compact(answer)
            self._write(lambda database: _keep_thing(database, (kind, name, text)))

    def keep_page(self, key: str, items: list[Any], start: int, at: float, *, total: int, last: bool) -> bool:
        """Keep one page of a listing; the rows that were known before stay until the last page is in.

        A page whose first is not here is not kept. False where this page says what was known already.
        """
        return self._write(lambda database: _keep_page(database, key, items, start, at, total, last=last))

    def thin(self, pinned: Collection[str]) -> bool:
        """Take a little out where there is too much; whether there is more to do. For the writing thread.

        Args:
            pinned: the keys of answers that are on the screen, and stay.
        """
        try:
            self._note_used()
            return not self._is_damaged and self._thinning.step(self._writer, pinned)
        except sqlite3.Error:
            return False  # somebody else is at it, or the next write will tell

    def _open(self) -> None:
        """Open the file, and take what it was for granted; memory where that cannot be."""
        self._thinning, self._is_damaged = Evictor(self._limit), False
        try:
            with ExitStack() as opened:
                writer, aside = open_file(self._path, SCHEMA, VERSION, durable=False, steps=STEPS)
                opened.callback(writer.close)
                reader = connect(self._path, durable=False)
                opened.callback(reader.close)
                self._inode = inode(self._path)
                opened.pop_all()  # all of it is open: the cache closes it from here on
            self._writer, self._shelves = writer, (CacheReader(reader),)
        except (StoreError, OSError) as error:
            known = connect_to_look(self._path, VERSION)
            self._shelves = (CacheReader(known),) if known else ()
            self._remember_in_memory(error)
            return
        if aside:
            self._say_aside(aside)

    def _read(self, question: Callable[[CacheReader], T | None], shelves: tuple[CacheReader, ...] = ()) -> T | None:
        """The first that is found; what cannot be read is not known."""
        for shelf in shelves or self._shelves:
            try:
                found = question(shelf)
            except sqlite3.OperationalError:
                continue
            except sqlite3.DatabaseError as error:
                if type(error) is not sqlite3.DatabaseError:
                    raise
                self._is_damaged = True  # the writing thread begins anew
                continue
            if found is not None:
                return found
        return None

    def _write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do it in the file; in a new one where it is damaged, in memory where none can be written."""
        try:
            if not self._is_damaged:
                return work(self._writer)
        except sqlite3.OperationalError as error:
            self._given_up.append(self._writer)
            self._remember_in_memory(error)
            return work(self._writer)
        except sqlite3.DatabaseError as error:
            if type(error) is not sqlite3.DatabaseError:
                raise
        self._begin_anew()
        return work(self._writer)

    def _begin_anew(self) -> None:
        self._given_up += [self._writer, *(shelf.database for shelf in self._shelves)]
        aside = None
        with suppress(OSError):
            if inode(self._path) == self._inode:  # else another instance has done it
                aside = set_aside(self._path)
        self._open()
        if aside:
            self._say_aside(aside)

    def _say_aside(self, aside: Path) -> None:
        forget_older(self._path, aside)
        self.notice = f"The cache was damaged or of another version: moved to {aside.name}; a new one was created"

    def _remember_in_memory(self, why: Exception) -> None:
        said = why if isinstance(why, StoreError) else f"Could not write {self._path}: {why}"
        self.notice = f"{said}; this session caches in memory only"
        self._thinning = Evictor(self._limit)
        self._writer = in_memory()
        self._shelves = (CacheReader(self._writer), *self._shelves)

    def _wanted(self, key: str, found: T | None) -> T | None:
        if found is not None:
            self._used[key] = time.time()
        return found

    def _note_used(self) -> None:
        """Write down what was wanted since the last time."""
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
