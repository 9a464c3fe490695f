"""What the cache is searched by: the words of its pages, change requests and comments, in an index of the same file.

Whatever is written to the cache is noted in the same transaction, by triggers, as to be read anew; `fill` reads it.
So the index is never ahead of the cache, behind it only by what is noted, and what ends the program ends neither.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass

VERSION = 1
"""Of the tables, and of how texts are folded: a file with another is read anew from what the cache holds."""

ANSWERS = ("content.ListPages", "content.GetPage*", "content.GetChangeRequestPage*", "comments.List*")
"""The calls whose answers have words, as patterns of their stored names."""
RESOURCES = ("change-request", "comment")
"""The things that have words, wherever they come from."""

_KEYS = " OR ".join(f"{{row}}key GLOB '{name} *'" for name in ANSWERS)
_KINDS = f"IN ({', '.join(repr(kind) for kind in RESOURCES)})"
_NOTE = "INSERT OR IGNORE INTO search_queue VALUES"
_TABLES = f"""
DROP TRIGGER IF EXISTS search_first_answer;
DROP TRIGGER IF EXISTS search_new_answer;
DROP TRIGGER IF EXISTS search_new_listing;
DROP TRIGGER IF EXISTS search_new_resource;
DROP TABLE IF EXISTS search_words;
DROP TABLE IF EXISTS search_texts;
DROP TABLE IF EXISTS search_queue;
DROP TABLE IF EXISTS search_mark;
CREATE VIRTUAL TABLE search_words
    USING fts5(title, headings, body, tokenize = 'unicode61 remove_diacritics 0', prefix = '1 2 3');
INSERT INTO search_words (search_words, rank) VALUES ('rank', 'bm25(10.0, 4.0, 1.0)');
CREATE TABLE search_texts (
    number INTEGER PRIMARY KEY, scope TEXT NOT NULL, id TEXT NOT NULL, kind TEXT, space TEXT, change_request TEXT,
    title TEXT, body TEXT, path TEXT, address TEXT, UNIQUE (scope, id)
);
CREATE TABLE search_queue (source TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TRIGGER search_first_answer AFTER INSERT ON answers WHEN NEW.json NOT NULL AND ({_KEYS.format(row="NEW.")})
BEGIN {_NOTE} (NEW.key); END;
CREATE TRIGGER search_new_answer AFTER UPDATE OF json ON answers
WHEN NEW.json NOT NULL AND OLD.json IS NOT NEW.json AND ({_KEYS.format(row="NEW.")})
BEGIN {_NOTE} (NEW.key); END;
CREATE TRIGGER search_new_listing AFTER UPDATE OF complete ON answers
WHEN NEW.complete AND NEW.key GLOB 'comments.List*'
BEGIN {_NOTE} (NEW.key); END;
CREATE TRIGGER search_new_resource BEFORE INSERT ON resources
WHEN NEW.object {_KINDS}
    AND NOT EXISTS (SELECT 1 FROM resources WHERE object = NEW.object AND id = NEW.id AND json = NEW.json)
BEGIN {_NOTE} (NEW.object || ' ' || NEW.id); END;
INSERT INTO search_queue SELECT object || ' ' || id FROM resources WHERE object {_KINDS};
INSERT INTO search_queue SELECT key FROM answers WHERE {_KEYS.format(row="")};
CREATE TABLE search_mark (version INTEGER);
INSERT INTO search_mark VALUES ({VERSION});
"""


@dataclass(frozen=True)
class Entry:
    """Something to be found: as it is shown, and the words that it is found by; None leaves those that are there.

    Attributes:
        scope: what it is one of, such as the pages of a space; an id is there once.
        words: title, headings and body, folded and divided.
    """

    scope: str
    id: str
    kind: str
    space: str
    change_request: str
    title: str
    body: str | None
    path: str
    address: str
    words: tuple[str, str, str]


@dataclass(frozen=True)
class Reading:
    """What was read in one answer: entries, and the scopes in which there is nothing beside them."""

    entries: tuple[Entry, ...] = ()
    whole: tuple[str, ...] = ()


class SearchIndex:
    """The index of one cache, for the thread that writes it.

    Args:
        connection: that of the thread.
        answer: the JSON of a stored answer by its key.
    """

    def __init__(self, connection: sqlite3.Connection, answer: Callable[[str], str | None]) -> None:
        self._connection, self._answer = connection, answer
        self.is_there = _prepare(connection)
        """False where this SQLite cannot search."""

    def waiting(self) -> int:
        """How much is noted and not read."""
        if not self.is_there:
            return 0
        return self._connection.execute("SELECT count(*) FROM search_queue").fetchone()[0]

    def fill(self, read: Callable[[str, str], Reading], most: int) -> int:
        """Read some of what is noted; how much that was.

        Args:
            read: what there is to be found in a source (the key of an answer, or kind and id of a thing) and its JSON.
            most: of the sources.
        """
        if not self.is_there:
            return 0
        write = self._connection
        write.execute("BEGIN IMMEDIATE")
        try:
            sources = [one for (one,) in write.execute("SELECT source FROM search_queue LIMIT ?", (most,))]
            for source in sources:
                self._take(read(source, self._source(source) or ""))
            write.executemany("DELETE FROM search_queue WHERE source = ?", ((one,) for one in sources))
        except BaseException:
            write.execute("ROLLBACK")
            raise
        write.execute("COMMIT")
        return len(sources)

    def find(self, query: str, most: int, spaces: Sequence[str] | None = None) -> list[tuple[Entry, str]]:
        """What fits a query of FTS5, titles first, with its words of the body as they were folded."""
        if not self.is_there:
            return []
        rows = self._numbers(f"title : ({query})", most, spaces)
        rows += [one for one in self._numbers(query, most, spaces) if one not in set(rows)]
        return [self._entry(number) for number in rows[:most]]

    def _numbers(self, query: str, most: int, spaces: Sequence[str] | None) -> list[int]:
        within = "" if spaces is None else " AND rowid IN (SELECT number FROM search_texts WHERE space IN"
        within += " (SELECT value FROM json_each(?)))" if within else ""
        found = self._connection.execute(
            f"SELECT rowid FROM search_words WHERE search_words MATCH ?{within} ORDER BY rank LIMIT ?",  # noqa: S608
            (query, *([] if spaces is None else [json.dumps(list(spaces))]), most),
        )
        return [number for (number,) in found]

    def _entry(self, number: int) -> tuple[Entry, str]:
        row = self._connection.execute(
            "SELECT scope, id, kind, space, change_request, title, body, path, address FROM search_texts"
            " WHERE number = ?",
            (number,),
        ).fetchone()
        words = self._connection.execute("SELECT * FROM search_words WHERE rowid = ?", (number,)).fetchone()
        return Entry(*row, words=words), words[2]

    def _source(self, source: str) -> str | None:
        kind, _, identity = source.partition(" ")
        if kind not in RESOURCES:
            return self._answer(source)
        row = self._connection.execute("SELECT json FROM resources WHERE object = ? AND id = ?", (kind, identity))
        found = row.fetchone()
        return found[0] if found else None

    def _take(self, reading: Reading) -> None:
        for entry in reading.entries:
            self._put(entry)
        for scope in reading.whole:
            kept = json.dumps([entry.id for entry in reading.entries if entry.scope == scope])
            gone = self._connection.execute(
                "SELECT number FROM search_texts WHERE scope = ? AND id NOT IN (SELECT value FROM json_each(?))",
                (scope, kept),
            ).fetchall()
            for table, column in (("search_words", "rowid"), ("search_texts", "number")):
                self._connection.executemany(f"DELETE FROM {table} WHERE {column} = ?", gone)  # noqa: S608

    def _put(self, entry: Entry) -> None:
        write = self._connection
        row = write.execute(
            "SELECT number, title, path FROM search_texts WHERE scope = ? AND id = ?", (entry.scope, entry.id)
        ).fetchone()
        if row and entry.body is None:
            if row[1:] != (entry.title, entry.path):
                shown = (entry.title, entry.path, entry.address, row[0])
                write.execute("UPDATE search_texts SET title = ?, path = ?, address = ? WHERE number = ?", shown)
                write.execute("UPDATE search_words SET title = ? WHERE rowid = ?", (entry.words[0], row[0]))
            return
        if row:
            write.execute("DELETE FROM search_words WHERE rowid = ?", row[:1])
        number = write.execute(
            "INSERT OR REPLACE INTO search_texts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(row[:1] if row else (None,)),
                *(entry.scope, entry.id, entry.kind, entry.space, entry.change_request),
                *(entry.title, entry.body or "", entry.path, entry.address),
            ),
        ).lastrowid
        write.execute(
            "INSERT INTO search_words (rowid, title, headings, body) VALUES (?, ?, ?, ?)", (number, *entry.words)
        )


def _prepare(connection: sqlite3.Connection) -> bool:
    """Make the tables where they are missing or of another version; False where that cannot be."""
    try:
        if _version(connection) != VERSION:
            connection.execute("BEGIN IMMEDIATE")
            try:
                if _version(connection) != VERSION:  # a second instance may have been quicker
                    _make(connection)
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
    except sqlite3.Error:
        return False
    return True


def _make(connection: sqlite3.Connection) -> None:
    statement = ""
    for line in _TABLES.splitlines():  # `executescript` would end the transaction
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""


def _version(connection: sqlite3.Connection) -> int | None:
    try:
        return connection.execute("SELECT version FROM search_mark").fetchone()[0]
    except (sqlite3.OperationalError, TypeError):
        return None
