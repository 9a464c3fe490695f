"""Full-text index of all documents: FTS5 on SQLite, tsvector on PostgreSQL."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from sqlalchemy import Connection, Text, column, select, table, text

from presscheck.documents.markdown.search_terms import index_text
from presscheck.service.db.statements import among

_MAKE = {
    "sqlite": (  # words are case-folded and split already, so only spaces separate tokens
        "CREATE VIRTUAL TABLE document_words"
        " USING fts5(id UNINDEXED, words, detail=none, tokenize=\"ascii tokenchars '_'\")",
    ),
    "postgresql": (
        'CREATE TABLE document_words (id text COLLATE "C" PRIMARY KEY, words tsvector NOT NULL)',
        "CREATE INDEX document_words_index ON document_words USING gin (words)",
    ),
}
_ADD = {
    "sqlite": text("INSERT INTO document_words (id, words) VALUES (:id, :words)"),
    "postgresql": text(
        "INSERT INTO document_words (id, words) VALUES "
        "(:id, array_to_tsvector(string_to_array(:words, ' '))) ON CONFLICT DO NOTHING"
    ),
}
_words = table("document_words", column("id", Text()), column("words", Text()))
_FIND = {
    "sqlite": select(_words.c.id).where(text("document_words MATCH :query"), among(_words.c.id, "ids")),
    "postgresql": select(_words.c.id).where(text("words @@ CAST(:query AS tsquery)"), among(_words.c.id, "ids")),
}


_WORDS = {
    "sqlite": select(_words.c.words).where(among(_words.c.id, "ids")),
    "postgresql": text(
        "SELECT array_to_string(tsvector_to_array(words), ' ') FROM document_words WHERE id = ANY(:ids)"
    ),
}


def make_words(connection: Connection) -> None:
    """Create the full-text index."""
    for statement in _MAKE[connection.dialect.name]:
        connection.execute(text(statement))


def add_words(connection: Connection, documents: Iterable[tuple[str, str]]) -> None:
    """Index documents, given as pairs of id and Markdown. Documents never change, so each is indexed only once."""
    rows = [{"id": key, "words": index_text(markdown)} for key, markdown in documents]
    if rows:
        connection.execute(_ADD[connection.dialect.name], rows)


def documents_with(connection: Connection, ids: Collection[str], word: str, *, begins: bool) -> set[str]:
    """Return the ids of the documents that contain a word.

    Args:
        connection: a connection in a transaction.
        ids: ids of the documents to search.
        word: a case-folded word.
        begins: whether `word` is a prefix.
    """
    dialect = connection.dialect.name
    query = (
        f"'{word}'" + (":*" if begins else "") if dialect == "postgresql" else f'"{word}"' + (" *" if begins else "")
    )
    rows = connection.execute(_FIND[dialect], {"query": query, "ids": [*ids]}).all()
    return {key for (key,) in rows}


def words_of(connection: Connection, ids: Collection[str]) -> set[str]:
    """Return all words in the index of some documents."""
    words: set[str] = set()
    for (some,) in connection.execute(_WORDS[connection.dialect.name], {"ids": [*ids]}):
        words.update(some.split())
    return words
