"""The schema of the search index in the cache file, with triggers for changed and deleted sources.

`search_sources` lists the entries of each source (a response or a resource); `search_texts.source` is the source of the
indexed text. When a source is deleted, its texts are deleted in the same transaction, and other sources of the same
entries are queued.
"""

from __future__ import annotations

import sqlite3

VERSION = 4
"""The version of the schema and of the normalization of words: an index of another version is rebuilt."""

COMMENTS = ("listCommentsIn*", "listCommentRepliesIn*")
ANSWERS = (
    "getCurrentRevision",
    "listPages",
    "getPageBy*",
    "getPageInChangeRequestBy*",
    "getDocumentById",
    *COMMENTS,
)
"""The calls whose responses are indexed, as patterns of their stored names."""
RESOURCES = ("change-request", "comment")
"""The types of resources that are indexed, from any response."""

_KEYS = " OR ".join(f"{{row}}key GLOB '{name} *'" for name in ANSWERS)
_NEW, _OLD, _ANY = (_KEYS.format(row=row) for row in ("NEW.", "OLD.", ""))
_NEW_COMMENTS = " OR ".join(f"NEW.key GLOB '{name} *'" for name in COMMENTS)
_KINDS = f"IN ({', '.join(repr(kind) for kind in RESOURCES)})"


def _enqueue(source: str, rest: str = "") -> str:
    # no OR IGNORE here: the conflict clause of the outer statement would override it
    return (
        f"INSERT INTO search_queue SELECT DISTINCT {source} {rest or 'WHERE'}"  # noqa: S608
        f" {source} NOT IN (SELECT source FROM search_queue);"
    )


TRIGGERS = (
    "first_answer",
    "new_answer",
    "new_listing",
    "new_resource",
    "lost_answer",
    "renamed_answer",
    "lost_resource",
)


def _delete_source(source: str) -> str:
    numbers = f"SELECT number FROM search_texts WHERE source = {source}"  # noqa: S608
    return f"""
    {
        _enqueue(
            "others.source",
            f"FROM search_texts JOIN search_sources AS others USING (scope, id)"
            f" WHERE search_texts.source = {source} AND others.source <> {source} AND",
        )
    }
    DELETE FROM search_words WHERE rowid IN ({numbers});
    DELETE FROM search_sources WHERE source = {source};
    DELETE FROM search_texts WHERE source = {source};
    DELETE FROM search_queue WHERE source = {source};
    """  # noqa: S608


_KIND_OF = dict.fromkeys(TRIGGERS, "TRIGGER") | dict.fromkeys(("words", "texts", "sources", "queue", "mark"), "TABLE")
_DROPS = "".join(f"DROP {kind} IF EXISTS search_{name};\n" for name, kind in _KIND_OF.items())
_TABLES = f"""
{_DROPS}
CREATE VIRTUAL TABLE search_words
    USING fts5(title, headings, body, tokenize = 'unicode61 remove_diacritics 0', prefix = '2 3');
INSERT INTO search_words (search_words, rank) VALUES ('rank', 'bm25(10.0, 4.0, 1.0)');
CREATE TABLE search_texts (
    number INTEGER PRIMARY KEY, scope TEXT NOT NULL, id TEXT NOT NULL, kind TEXT, space TEXT, change_request TEXT,
    page TEXT, title TEXT, path TEXT, address TEXT, body BLOB, links TEXT, source TEXT, UNIQUE (scope, id)
);
CREATE INDEX search_texts_source ON search_texts (source);
CREATE TABLE search_sources (
    source TEXT, scope TEXT, id TEXT, PRIMARY KEY (scope, id, source)
) WITHOUT ROWID;
CREATE INDEX search_sources_source ON search_sources (source);
CREATE TABLE search_queue (source TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TRIGGER search_first_answer AFTER INSERT ON answers WHEN NEW.total IS NULL AND ({_NEW})
BEGIN {_enqueue("NEW.key")} END;
CREATE TRIGGER search_new_answer AFTER UPDATE OF json, id ON answers
WHEN NEW.total IS NULL AND (OLD.json IS NOT NEW.json OR OLD.id IS NOT NEW.id) AND ({_NEW})
BEGIN {_enqueue("NEW.key")} END;
CREATE TRIGGER search_new_listing AFTER UPDATE OF complete ON answers
WHEN NEW.complete AND ({_NEW_COMMENTS})
BEGIN {_enqueue("NEW.key")} END;
CREATE TRIGGER search_new_resource BEFORE INSERT ON resources
WHEN NEW.object {_KINDS}
    AND NOT EXISTS (SELECT 1 FROM resources WHERE object = NEW.object AND id = NEW.id AND json = NEW.json)
BEGIN {_enqueue("(NEW.object || ' ' || NEW.id)")} END;
CREATE TRIGGER search_lost_answer AFTER DELETE ON answers WHEN {_OLD}
BEGIN {_delete_source("OLD.key")} END;
CREATE TRIGGER search_renamed_answer AFTER UPDATE OF key ON answers WHEN OLD.key <> NEW.key AND ({_OLD})
BEGIN {_delete_source("OLD.key")} END;
CREATE TRIGGER search_lost_resource AFTER DELETE ON resources WHEN OLD.object {_KINDS}
BEGIN {_delete_source("(OLD.object || ' ' || OLD.id)")} END;
{_enqueue("(object || ' ' || id)", f"FROM resources WHERE object {_KINDS} AND")}
{_enqueue("key", f"FROM answers WHERE ({_ANY}) AND")}
CREATE TABLE search_mark (version INTEGER);
INSERT INTO search_mark VALUES ({VERSION});
"""  # noqa: S608


def prepare(connection: sqlite3.Connection) -> bool:
    """Create the tables if they are missing or of another version. Return False on failure."""
    try:
        if _version(connection) == VERSION:
            return True
        connection.execute("BEGIN IMMEDIATE")
        try:
            if _version(connection) != VERSION:  # another instance may have been faster
                _make(connection)
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
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
