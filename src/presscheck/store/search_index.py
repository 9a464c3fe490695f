"""What the cache is searched by: the words and links of its pages, change requests and comments, in the same file.

Whatever is written to the cache is noted in the same transaction, by triggers, as to be read anew; `fill` reads it.
So the index is never ahead of the cache, behind it only by what is noted, and what ends the program ends neither.
A file that cannot be searched has nothing in it: that is never an error.
"""

from __future__ import annotations

import json
import sqlite3
import time
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from presscheck.store.cache_reader import Stored
from presscheck.store.search_schema import RESOURCES, prepare

AT_ONCE = 0.03
"""Seconds that one transaction reads up what is noted; what was begun is finished."""
MANY = 16
"""Sources that are read up between two looks at the clock."""
_TOLD = ("scope", "id", "kind", "space", "change_request", "page", "title", "path", "address", "body", "links")
_SHOWN = ", ".join(f"texts.{name}" for name in _TOLD)


@dataclass(frozen=True)
class Entry:
    """Something to be found: as it is shown, and the words that it is found by.

    Attributes:
        scope: what it is one of, such as the pages of a space; an id is there once.
        page: the page that a comment is on.
        path: of a page; of a comment, the id of the one that its thread begins with.
        body: the text; None where it is not told, which leaves the one that is there.
        links: the targets of those in the text, as they are written; None where they are not told.
        words: title, headings and body, folded and divided.
    """

    scope: str
    id: str
    kind: str
    space: str
    change_request: str
    page: str
    title: str
    path: str
    address: str
    body: str | None
    links: Sequence[str] | None
    words: tuple[str, str, str]


@dataclass(frozen=True)
class Reading:
    """What was read in one source: entries, and the scopes in which there is nothing beside them."""

    entries: tuple[Entry, ...] = ()
    whole: tuple[str, ...] = ()


_Row = tuple[int, str, str, str, str]
"""Number, kind, space, id, change request."""


class SearchIndex:
    """The index of one cache, for the thread that writes it.

    Args:
        connection: that of the thread.
        answer: a stored answer by its key.
    """

    def __init__(self, connection: sqlite3.Connection, answer: Callable[[str], Stored | None]) -> None:
        self.connection, self.answer = connection, answer
        self._is_there = prepare(connection)

    def waiting(self) -> int:
        """How much is noted and not read."""
        if not self._is_there:
            return 0
        return self.connection.execute("SELECT count(*) FROM search_queue").fetchone()[0]

    def fill(self, read: Callable[[str, str], Reading], most: float = AT_ONCE) -> int:
        """Read some of what is noted, in one transaction; how much that was.

        Args:
            read: what there is to be found in a source (the key of an answer, or kind and id of a thing) and its JSON.
            most: seconds after which nothing more is begun.
        """
        if not self._is_there or not self.waiting():
            return 0
        try:
            return self._fill(read, time.monotonic() + most)
        except sqlite3.Error:
            return 0  # another instance is at it, or the next write to the cache will tell

    def find(self, query: str, most: int, spaces: Sequence[str] | None = None) -> list[Entry]:
        """What fits a query of FTS5, titles first.

        A page is there once: as it is live, where that fits too, or as it is in the change request that fits best.
        """
        if not self._is_there:
            return []
        with suppress(sqlite3.Error):
            rows = self._fitting(f"title : ({query})", 2 * most, spaces)
            if len(rows) < 2 * most:
                rows += self._fitting(query, 2 * most, spaces)
            return self._entries(_without_twins(rows)[:most])
        return []

    def thing(self, kind: str, name: str) -> str | None:
        """The JSON of a thing, by `object` and `id`."""
        row = self.connection.execute("SELECT json FROM resources WHERE object = ? AND id = ?", (kind, name)).fetchone()
        return row[0] if row else None

    def spaces_of(self, organization: str) -> list[str]:
        """The ids of the spaces of an organization."""
        found = self.connection.execute(
            "SELECT id FROM resources WHERE object = 'space' AND json_extract(json, '$.organization') = ?",
            (organization,),
        )
        return [name for (name,) in found]

    def links(self, scope: str) -> dict[str, tuple[str, ...]]:
        """The targets of the links in each text of a scope, by its id, as far as the texts are known."""
        if not self._is_there:
            return {}
        with suppress(sqlite3.Error):
            found = self.connection.execute(
                "SELECT id, links FROM search_texts WHERE scope = ? AND links NOT NULL", (scope,)
            )
            return {name: tuple(json.loads(links)) for name, links in found}
        return {}

    def _fill(self, read: Callable[[str, str], Reading], ends: float) -> int:
        write, done = self.connection, 0
        write.execute("BEGIN IMMEDIATE")
        try:
            while sources := write.execute("SELECT source FROM search_queue LIMIT ?", (MANY,)).fetchall():
                for at, (source,) in enumerate(sources):
                    if at and time.monotonic() > ends:
                        break
                    self._take(source, read(source, self._source(source) or ""))
                    write.execute("DELETE FROM search_queue WHERE source = ?", (source,))
                    done += 1
                if time.monotonic() > ends:
                    break
            write.execute("COMMIT")
        finally:
            if write.in_transaction:
                write.execute("ROLLBACK")
        return done

    def _fitting(self, query: str, most: int, spaces: Sequence[str] | None) -> list[_Row]:
        within = " AND rowid IN (SELECT number FROM search_texts WHERE space IN (SELECT value FROM json_each(?)))"
        fitting = (
            f"SELECT rowid, rank FROM search_words WHERE search_words MATCH ? {'' if spaces is None else within}"  # noqa: S608
            " ORDER BY rank LIMIT ?"
        )
        return self.connection.execute(
            f"SELECT number, kind, space, id, change_request FROM ({fitting}) AS fitting"  # noqa: S608
            " JOIN search_texts ON number = fitting.rowid ORDER BY fitting.rank",
            (query, *([] if spaces is None else [json.dumps(list(spaces))]), most),
        ).fetchall()

    def _entries(self, numbers: list[int]) -> list[Entry]:
        found = self.connection.execute(
            f"SELECT number, words.title, headings, words.body, {_SHOWN} FROM search_texts AS texts"  # noqa: S608
            " JOIN search_words AS words ON words.rowid = number WHERE number IN (SELECT value FROM json_each(?))",
            (json.dumps(numbers),),
        )
        entries = {
            number: Entry(*shown, body=zlib.decompress(body).decode(), links=None, words=tuple(words))
            for number, *words, shown, body, _ in ((*row[:4], row[4:-2], *row[-2:]) for row in found)
        }
        return [entries[number] for number in numbers if number in entries]

    def _source(self, source: str) -> str | None:
        kind, _, name = source.partition(" ")
        if kind in RESOURCES:
            return self.thing(kind, name)
        stored = self.answer(source)
        return stored.json if stored else None

    def _take(self, source: str, reading: Reading) -> None:
        self.connection.execute("DELETE FROM search_sources WHERE source = ?", (source,))
        for entry in reading.entries:
            self._put(source, entry)
            self.connection.execute(
                "INSERT OR IGNORE INTO search_sources VALUES (?, ?, ?)", (source, entry.scope, entry.id)
            )
        for scope in reading.whole:
            kept = json.dumps([entry.id for entry in reading.entries if entry.scope == scope])
            gone = self.connection.execute(
                "SELECT number FROM search_texts WHERE scope = ? AND id NOT IN (SELECT value FROM json_each(?))",
                (scope, kept),
            ).fetchall()
            self.connection.executemany("DELETE FROM search_words WHERE rowid = ?", gone)
            self.connection.executemany("DELETE FROM search_texts WHERE number = ?", gone)

    def _put(self, source: str, entry: Entry) -> None:
        """Write an entry, or only what is told of it."""
        write, name = self.connection, (entry.scope, entry.id)
        row = write.execute(
            "SELECT number, links, title, path, address FROM search_texts WHERE scope = ? AND id = ?", name
        ).fetchone()
        if row is None:
            row = (None, None)
            if entry.body is None:  # the text may be known from before it was listed
                write.execute(
                    "INSERT OR IGNORE INTO search_queue"
                    " SELECT source FROM search_sources WHERE scope = ? AND id = ? AND source <> ?",
                    (*name, source),
                )
        elif entry.body is None:
            self._rename(row[0], row[2:], entry)
            return
        number, links = row[0], row[1] if entry.links is None else json.dumps(entry.links)
        write.execute("DELETE FROM search_words WHERE rowid = ?", (number,))
        told = (*name, entry.kind, entry.space, entry.change_request, entry.page, entry.title, entry.path)
        body = zlib.compress((entry.body or "").encode(), 1)
        number = write.execute(
            f"INSERT OR REPLACE INTO search_texts (number, {', '.join(_TOLD)}, source)"  # noqa: S608
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (number, *told, entry.address, body, links, source),
        ).lastrowid
        write.execute(
            "INSERT INTO search_words (rowid, title, headings, body) VALUES (?, ?, ?, ?)", (number, *entry.words)
        )

    def _rename(self, number: int, known: tuple[str, ...], entry: Entry) -> None:
        told = (entry.title, entry.path, entry.address)
        if known != told:
            write = self.connection
            write.execute("UPDATE search_texts SET title = ?, path = ?, address = ? WHERE number = ?", (*told, number))
            write.execute("UPDATE search_words SET title = ? WHERE rowid = ?", (entry.words[0], number))


def _without_twins(rows: list[_Row]) -> list[int]:
    live = {row[2:4] for row in rows if row[1] == "page" and not row[4]}
    kept: dict[tuple[str, ...], int] = {}
    for number, kind, space, name, request in rows:
        if not (kind == "page" and request and (space, name) in live):
            kept.setdefault((kind, space, name), number)
    return list(kept.values())
