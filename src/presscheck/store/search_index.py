"""The full-text index of the cache: words and links of pages, change requests and comments, in the same SQLite file.

Triggers add each changed response or resource to a queue, in the transaction of the change; `fill` indexes the queue.
After a crash, index and queue together therefore still match the cache. Database errors of updates and searches are not
raised: an unusable index has no results.
"""

from __future__ import annotations

import json
import sqlite3
import time
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from presscheck.store.search_schema import RESOURCES, prepare

TRANSACTION_SECONDS = 0.03
"""Seconds after which a transaction of `fill` starts no further source."""
SOURCES_PER_READ = 16
"""Number of sources read from the queue at once."""
_COLUMNS = ("scope", "id", "kind", "space", "change_request", "page", "title", "path", "address", "body", "links")
_SELECTED = ", ".join(f"texts.{name}" for name in _COLUMNS)


class Stored(NamedTuple):
    """A cached response as JSON, with the time of its receipt in seconds since the epoch."""

    json: str
    at: float


@dataclass(frozen=True)
class Entry:
    """An index entry: the fields to show, and the words to search.

    Attributes:
        scope: the group of entries within which the id is unique, such as the pages of a space.
        page: the id of the page, or of the commented page.
        title: the title; for a comment, the name of its author.
        path: the path of a page, or a change request as `space#number`; for a comment, the id of the first comment of
            its thread.
        body: the text; None if unknown, which keeps the indexed text.
        links: the targets of the links in the text, as written; None if unknown.
        words: title, headings and body, normalized and split into words.
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
class SourceEntries:
    """The entries of a source, and the scopes that they cover completely: other entries of these scopes are deleted."""

    entries: tuple[Entry, ...] = ()
    complete_scopes: tuple[str, ...] = ()


_Row = tuple[int, str, str, str, str]
"""Number, kind, space, id, change request."""


class SearchIndex:
    """The index of a cache, for its writer thread.

    Args:
        connection: the connection of the writer thread.
        answer: returns a cached response by its key.
    """

    def __init__(self, connection: sqlite3.Connection, answer: Callable[[str], Stored | None]) -> None:
        self.connection, self.answer = connection, answer
        self._is_available = prepare(connection)

    def waiting(self) -> int:
        """Return the number of queued sources."""
        if not self._is_available:
            return 0
        return self.connection.execute("SELECT count(*) FROM search_queue").fetchone()[0]

    def fill(self, read: Callable[[str, str], SourceEntries], seconds: float = TRANSACTION_SECONDS) -> int:
        """Index some queued sources in a single transaction. Return their number.

        Args:
            read: returns the entries of a source (a cache key, or the type and id of a resource) from its JSON.
            seconds: the time after which no further source is started.
        """
        if not self._is_available or not self.waiting():
            return 0
        try:
            return self._fill(read, time.monotonic() + seconds)
        except sqlite3.Error:
            return 0  # another instance is writing, or the next write to the cache reports the error

    def find(self, query: str, limit: int, spaces: Sequence[str] | None = None) -> list[Entry]:
        """Return the entries that match an FTS5 query, matches in titles first.

        Each page is returned once: the live page if it matches, else the page of the best matching change request.
        """
        if not self._is_available:
            return []
        with suppress(sqlite3.Error):
            rows = self._matching(f"title : ({query})", 2 * limit, spaces)
            if len(rows) < 2 * limit:
                rows += self._matching(query, 2 * limit, spaces)
            return self._entries(_without_duplicates(rows)[:limit])
        return []

    def thing(self, kind: str, name: str) -> str | None:
        """Return the JSON of a resource, by `object` and `id`, or None."""
        row = self.connection.execute("SELECT json FROM resources WHERE object = ? AND id = ?", (kind, name)).fetchone()
        return row[0] if row else None

    def spaces_of(self, organization: str) -> list[str]:
        """Return the ids of the spaces of an organization."""
        rows = self.connection.execute(
            "SELECT id FROM resources WHERE object = 'space' AND json_extract(json, '$.organization') = ?",
            (organization,),
        )
        return [name for (name,) in rows]

    def links(self, scope: str) -> dict[str, tuple[str, ...]]:
        """Return the link targets in the texts of a scope, by id of the entry. Entries of unknown text are left out."""
        if not self._is_available:
            return {}
        with suppress(sqlite3.Error):
            rows = self.connection.execute(
                "SELECT id, links FROM search_texts WHERE scope = ? AND links NOT NULL", (scope,)
            )
            return {name: tuple(json.loads(links)) for name, links in rows}
        return {}

    def _fill(self, read: Callable[[str, str], SourceEntries], ends: float) -> int:
        write, done = self.connection, 0
        write.execute("BEGIN IMMEDIATE")
        try:
            while sources := write.execute("SELECT source FROM search_queue LIMIT ?", (SOURCES_PER_READ,)).fetchall():
                for at, (source,) in enumerate(sources):
                    if at and time.monotonic() > ends:
                        break
                    self._store_entries(source, read(source, self._source(source) or ""))
                    write.execute("DELETE FROM search_queue WHERE source = ?", (source,))
                    done += 1
                if time.monotonic() > ends:
                    break
            write.execute("COMMIT")
        finally:
            if write.in_transaction:
                write.execute("ROLLBACK")
        return done

    def _matching(self, query: str, limit: int, spaces: Sequence[str] | None) -> list[_Row]:
        within = " AND rowid IN (SELECT number FROM search_texts WHERE space IN (SELECT value FROM json_each(?)))"
        matches = (
            f"SELECT rowid, rank FROM search_words WHERE search_words MATCH ? {'' if spaces is None else within}"  # noqa: S608
            " ORDER BY rank LIMIT ?"
        )
        return self.connection.execute(
            f"SELECT number, kind, space, id, change_request FROM ({matches}) AS matches"  # noqa: S608
            " JOIN search_texts ON number = matches.rowid ORDER BY matches.rank",
            (query, *([] if spaces is None else [json.dumps(list(spaces))]), limit),
        ).fetchall()

    def _entries(self, numbers: list[int]) -> list[Entry]:
        rows = self.connection.execute(
            f"SELECT number, words.title, headings, words.body, {_SELECTED} FROM search_texts AS texts"  # noqa: S608
            " JOIN search_words AS words ON words.rowid = number WHERE number IN (SELECT value FROM json_each(?))",
            (json.dumps(numbers),),
        )
        entries = {
            number: Entry(*shown, body=zlib.decompress(body).decode(), links=None, words=tuple(words))
            for number, *words, shown, body, _ in ((*row[:4], row[4:-2], *row[-2:]) for row in rows)
        }
        return [entries[number] for number in numbers if number in entries]

    def _source(self, source: str) -> str | None:
        kind, _, name = source.partition(" ")
        if kind in RESOURCES:
            return self.thing(kind, name)
        stored = self.answer(source)
        return stored.json if stored else None

    def _store_entries(self, source: str, reading: SourceEntries) -> None:
        self.connection.execute("DELETE FROM search_sources WHERE source = ?", (source,))
        for entry in reading.entries:
            self._put(source, entry)
            self.connection.execute(
                "INSERT OR IGNORE INTO search_sources VALUES (?, ?, ?)", (source, entry.scope, entry.id)
            )
        for scope in reading.complete_scopes:
            kept = json.dumps([entry.id for entry in reading.entries if entry.scope == scope])
            gone = self.connection.execute(
                "SELECT number FROM search_texts WHERE scope = ? AND id NOT IN (SELECT value FROM json_each(?))",
                (scope, kept),
            ).fetchall()
            self.connection.executemany("DELETE FROM search_words WHERE rowid = ?", gone)
            self.connection.executemany("DELETE FROM search_texts WHERE number = ?", gone)

    def _put(self, source: str, entry: Entry) -> None:
        """Insert or update an entry. If its text is unknown, an existing entry keeps the indexed text."""
        write, name = self.connection, (entry.scope, entry.id)
        row = write.execute(
            "SELECT number, links, title, path, address FROM search_texts WHERE scope = ? AND id = ?", name
        ).fetchone()
        if row is None:
            row = (None, None)
            if entry.body is None:  # another source may contain the text
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
        values = (*name, entry.kind, entry.space, entry.change_request, entry.page, entry.title, entry.path)
        body = zlib.compress((entry.body or "").encode(), 1)
        number = write.execute(
            f"INSERT OR REPLACE INTO search_texts (number, {', '.join(_COLUMNS)}, source)"  # noqa: S608
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (number, *values, entry.address, body, links, source),
        ).lastrowid
        write.execute(
            "INSERT INTO search_words (rowid, title, headings, body) VALUES (?, ?, ?, ?)", (number, *entry.words)
        )

    def _rename(self, number: int, known: tuple[str, ...], entry: Entry) -> None:
        values = (entry.title, entry.path, entry.address)
        if known != values:
            write = self.connection
            write.execute(
                "UPDATE search_texts SET title = ?, path = ?, address = ? WHERE number = ?", (*values, number)
            )
            write.execute("UPDATE search_words SET title = ? WHERE rowid = ?", (entry.words[0], number))


def _without_duplicates(rows: list[_Row]) -> list[int]:
    live = {row[2:4] for row in rows if row[1] == "page" and not row[4]}
    numbers: dict[tuple[str, ...], int] = {}
    for number, kind, space, name, request in rows:
        if not (kind == "page" and request and (space, name) in live):
            numbers.setdefault((kind, space, name), number)
    return list(numbers.values())
