"""Statements that the driver executes: any number of ids as one value, rows of JSON, errors, on both engines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from sqlalchemy import Connection, bindparam, column, delete, insert, select, table, text
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.orm import Session
from tests.postgresql import Cluster

from presscheck.documents.pages.tree import Page
from presscheck.service.content.revisions import add_revision, document_texts
from presscheck.service.db import prepared_statements
from presscheck.service.db.engine import Database
from presscheck.service.db.prepared_statements import among, execute, named_rows, plain_rows, together
from presscheck.service.models.content import DocumentRow, RevisionRow

_documents = DocumentRow.__table__.c
ADD = insert(DocumentRow)
FIND = select(_documents.id, _documents.markdown).where(among(_documents.id, "ids")).order_by(_documents.id)
BROKEN = select(column("id")).select_from(table("no_such_table")).where(column("id") == bindparam("id"))
FIND_LONG = FIND.where(_documents.markdown.contains("é"))
MANY = 40_000
"""More ids than a statement of SQLite (32,766) may have parameters."""


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    made = Database(database_url)
    yield made
    made.close()


def _documents_with(connection: Connection, *texts: str) -> None:
    execute(connection, ADD, *({"id": f"d{number}", "markdown": text} for number, text in enumerate(texts)))


@pytest.mark.parametrize(
    "ids", [[], ["d1"], ["'"], ["[1]"], ["d0", "d2", "d2", "no such id"], ["d0", "'", '"', "\\", "{}", "ü", "d2"]]
)
def test_rows_among_some_ids_are_found_once(database: Database, ids: list[str]) -> None:
    with database.writing.begin() as session:
        connection = session.connection()
        _documents_with(connection, "é", "b", "c")
        expected = [(key, text) for key, text in zip(("d0", "d1", "d2"), "ébc", strict=True) if key in ids]
        assert [tuple(row) for row in plain_rows(connection, FIND, {"ids": ids})] == expected
        assert [tuple(row) for row in connection.execute(FIND, {"ids": ids})] == expected, "as SQLAlchemy executes it"
    with database.snapshot() as session:
        assert [tuple(row) for row in plain_rows(session.connection(), FIND, {"ids": ids})] == expected


def test_one_id_and_several_are_asked_for_in_turn(database: Database) -> None:
    """SQLite compares one id, and looks in a list for several."""
    with database.writing.begin() as session:
        _documents_with(session.connection(), "é", "b", "c")
        for ids in (["d1"], ["d0", "d2"], ["d2"], [], ["d0", "d1", "d2"], ["d0"]):
            assert [row.id for row in named_rows(session.connection(), FIND, {"ids": ids})] == ids


@pytest.mark.slow
def test_any_number_of_ids_is_one_statement(database: Database) -> None:
    with database.writing.begin() as session:
        _documents_with(session.connection(), "é", "b")
        texts = document_texts(session, [*(f"x{number}" for number in range(MANY)), "d1", "d0"])
    assert texts == {"d0": "é", "d1": "b"}


@pytest.mark.slow
def test_ids_and_other_parameters_go_together(database: Database) -> None:
    with database.writing.begin() as session:
        _documents_with(session.connection(), "é", "b", "cé")
        rows = named_rows(session.connection(), FIND_LONG, {"ids": ["d1", "d2"]})
        assert [(row.id, row.markdown) for row in rows] == [("d2", "cé")]


@pytest.mark.slow
def test_an_insertion_keeps_json_and_what_is_missing(database: Database) -> None:
    tree: list[Page] = [{"id": "a", "title": "Ä “quoted”", "pages": [], "hidden": False, "icon": None}]
    with database.writing.begin() as session:
        key = add_revision(session, "s", tree, created_at="2026-05-20T09:30:00.000Z", created_by=None)
        row = session.get_one(RevisionRow, key)
        assert (row.tree, row.files, row.variables, row.merged_from, row.type) == (tree, [], None, None, "edits")
        session.rollback()


@pytest.mark.parametrize("title", ["\ud83d", "a\0b", "Ä “quoted” 😀"])
def test_json_keeps_any_text_and_any_depth(database: Database, title: str) -> None:
    if database.is_postgresql and "\ud83d" in title:
        title = "half a pair is no text of PostgreSQL"
    page: Page = {"id": "0", "title": title, "ratio": 0.1, "number": 2**70}
    for number in range(1, 260):
        page = {"id": str(number), "title": title, "pages": [page]}
    with database.writing.begin() as session:
        key = add_revision(session, "s", [page], created_at="2026-05-20T09:30:00.000Z", created_by=None)
        assert session.get_one(RevisionRow, key).tree == [page]
        session.rollback()


@pytest.mark.slow
def test_nothing_is_executed_without_rows(database: Database) -> None:
    with database.writing.begin() as session:
        execute(session.connection(), ADD)
        assert plain_rows(session.connection(), FIND, {"ids": ["d0"]}) == []


@pytest.mark.parametrize("copies", [2, 3])
def test_an_insertion_that_fails_is_an_error_of_the_database(database: Database, copies: int) -> None:
    with pytest.raises(IntegrityError, match="documents"), database.writing.begin() as session:
        execute(session.connection(), ADD, *[{"id": "same", "markdown": ""}] * copies)


def test_a_selection_that_fails_is_an_error_of_the_database(database: Database) -> None:
    with pytest.raises(DBAPIError) as raised, database.snapshot() as session:
        assert plain_rows(session.connection(), FIND, {"ids": []}) == []
        plain_rows(session.connection(), BROKEN, {"id": "d0"})
    assert getattr(raised.value.orig, "sqlstate", None) == ("42P01" if database.is_postgresql else None)
    with database.snapshot() as session:
        assert plain_rows(session.connection(), FIND, {"ids": []}) == []


@pytest.mark.slow
def test_statements_beyond_those_that_a_connection_keeps_are_executed(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepared_statements, "MOST_OF_CONNECTION", 1)
    with database.writing.begin() as session:
        _documents_with(session.connection(), "é", "b", "c")
    with database.snapshot() as session:
        for _ in range(2):
            assert [row.id for row in named_rows(session.connection(), FIND, {"ids": ["d0", "d2"]})] == ["d0", "d2"]
            assert [row.id for row in named_rows(session.connection(), FIND_LONG, {"ids": ["d0", "d2"]})] == ["d0"]


def _texts(database: Database) -> list[str]:
    with database.snapshot() as session:
        return [row.markdown for row in named_rows(session.connection(), FIND, {"ids": ["d1", "d2", "d3"]})]


def _add(connection: Connection, key: str) -> None:
    execute(connection, ADD, {"id": key, "markdown": f"text of {key}"})


@pytest.mark.slow
def test_what_is_changed_together_is_there_for_what_reads_next(database: Database) -> None:
    """For a statement of ours, for one of a session, and after the block; with a transaction of either kind."""

    def write(session: Session) -> None:
        connection = session.connection()
        with together(connection), together(connection):
            _add(connection, "d1")
            assert [row.id for row in named_rows(connection, FIND, {"ids": ["d1", "d2"]})] == ["d1"]
            _add(connection, "d2")
            assert session.get_one(DocumentRow, "d2").markdown == "text of d2"
            _add(connection, "d3")
        assert len(named_rows(connection, FIND, {"ids": ["d1", "d2", "d3"]})) == 3

    database.write(write)
    assert _texts(database) == ["text of d1", "text of d2", "text of d3"]
    with database.writing.begin() as session:
        execute(session.connection(), delete(DocumentRow).where(DocumentRow.id == bindparam("id")), {"id": "d3"})
    with database.writing.begin() as session, together(session.connection()):
        _add(session.connection(), "d3")
    assert len(_texts(database)) == 3


def test_what_is_refused_of_several_changes_is_raised_and_none_is_made(database: Database) -> None:
    """Also by the connection afterwards: it serves the next transaction."""

    def write(session: Session) -> None:
        with together(session.connection()):
            for key in ("d1", "d2", "d1", "d3"):
                _add(session.connection(), key)

    for _ in range(3):
        with pytest.raises(IntegrityError):
            database.write(write)
        assert _texts(database) == []
    database.write(lambda session: _add(session.connection(), "d2"))
    assert _texts(database) == ["text of d2"]


def test_what_is_refused_is_raised_by_the_read_that_it_is_sent_with(database: Database) -> None:
    def write(session: Session) -> None:
        connection = session.connection()
        with together(connection):
            _add(connection, "d1")
            _add(connection, "d1")
            named_rows(connection, FIND, {"ids": ["d1"]})
            pytest.fail("it was read")

    with pytest.raises(IntegrityError):
        database.write(write)
    assert _texts(database) == []


@pytest.mark.slow
def test_a_block_that_fails_sends_nothing(database: Database) -> None:
    def write(session: Session) -> None:
        with together(session.connection()):
            _add(session.connection(), "d1")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        database.write(write)
    database.write(lambda session: _add(session.connection(), "d2"))
    assert _texts(database) == ["text of d2"]


def test_a_connection_that_is_lost_in_a_block_is_an_error_of_the_database(postgresql: Cluster) -> None:
    """And the next transaction has another one."""
    with closing(Database(postgresql.new_database())) as database:

        def write(session: Session) -> None:
            connection = session.connection()
            number = session.scalar(text("SELECT pg_backend_pid()"))
            with together(connection):
                _add(connection, "d1")
                with database.writing.begin() as other:
                    other.execute(text("SELECT pg_terminate_backend(:number, 5000)"), {"number": number})

        for _ in range(2):
            with pytest.raises(DBAPIError) as failed:
                database.write(write)
            assert failed.value.connection_invalidated
        database.write(lambda session: _add(session.connection(), "d2"))
        assert _texts(database) == ["text of d2"]
