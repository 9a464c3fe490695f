"""SQL statements on both engines: lists of ids as one parameter, columns with JSON, and errors."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import bindparam, column, insert, select, table
from sqlalchemy.exc import DBAPIError, IntegrityError
from tests.service.engines import NAMES, new_database

from presscheck.documents.pages.tree import Page
from presscheck.service.content.revisions import add_revision, document_texts
from presscheck.service.db.engine import Database
from presscheck.service.db.statements import among
from presscheck.service.models.content import DocumentRow, RevisionRow

pytestmark = pytest.mark.engines

_documents = DocumentRow.__table__.c
ADD = insert(DocumentRow)
FIND = select(_documents.id, _documents.markdown).where(among(_documents.id, "ids")).order_by(_documents.id)
BROKEN = select(column("id")).select_from(table("no_such_table")).where(column("id") == bindparam("id"))
FIND_LONG = FIND.where(_documents.markdown.contains("é"))
MANY = 40_000
"""More ids than the maximum number of parameters of SQLite, 32,766."""
TEXTS = {"d0": "é", "d1": "b", "d2": "cé"}


@pytest.fixture(scope="module", params=NAMES)
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """A database with three documents; tests leave it unchanged."""
    made = Database(new_database(request) or f"sqlite:///{tmp_path_factory.mktemp('statements') / 'd.sqlite'}")
    with made.writing.begin() as session:
        session.connection().execute(ADD, [{"id": key, "markdown": text} for key, text in TEXTS.items()])
    yield made
    made.close()


@pytest.mark.parametrize(
    "ids", [[], ["d1"], ["'"], ["[1]"], ["d0", "d2", "d2", "no such id"], ["d0", "'", '"', "\\", "{}", "ü", "d2"]]
)
def test_rows_with_some_ids_are_found_once(database: Database, ids: list[str]) -> None:
    expected = [(key, text) for key, text in TEXTS.items() if key in ids]
    with database.writing.begin() as session:
        connection = session.connection()
        assert [tuple(row) for row in connection.execute(FIND, {"ids": ids}).all()] == expected
        assert [tuple(row) for row in connection.execute(FIND, {"ids": ids})] == expected, "as SQLAlchemy executes it"
    with database.snapshot() as session:
        assert [tuple(row) for row in session.connection().execute(FIND, {"ids": ids}).all()] == expected


def test_one_id_and_several_ids_are_found_in_turn(database: Database) -> None:
    """The statement for SQLite compares a single id, and uses a list for several."""
    with database.writing.begin() as session:
        for ids in (["d1"], ["d0", "d2"], ["d2"], [], ["d0", "d1", "d2"], ["d0"]):
            assert [row.id for row in session.connection().execute(FIND, {"ids": ids}).all()] == ids


def test_statement_accepts_any_number_of_ids(database: Database) -> None:
    with database.snapshot() as session:
        texts = document_texts(session, [*(f"x{number}" for number in range(MANY)), "d1", "d0"])
    assert texts == {"d0": "é", "d1": "b"}


def test_ids_can_be_combined_with_other_parameters(database: Database) -> None:
    with database.snapshot() as session:
        rows = session.connection().execute(FIND_LONG, {"ids": ["d1", "d2"]}).all()
        assert [(row.id, row.markdown) for row in rows] == [("d2", "cé")]


def test_insertion_keeps_json_and_missing_values(database: Database) -> None:
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


@pytest.mark.parametrize("copies", [2, 3])
def test_failed_insertion_raises_a_database_error(database: Database, copies: int) -> None:
    with pytest.raises(IntegrityError, match="documents"), database.writing.begin() as session:
        session.connection().execute(ADD, [{"id": "same", "markdown": ""}] * copies)


def test_failed_selection_raises_a_database_error(database: Database) -> None:
    with pytest.raises(DBAPIError) as raised, database.snapshot() as session:
        assert session.connection().execute(FIND, {"ids": []}).all() == []
        session.connection().execute(BROKEN, {"id": "d0"}).all()
    assert getattr(raised.value.orig, "sqlstate", None) == ("42P01" if database.is_postgresql else None)
    with database.snapshot() as session:
        assert session.connection().execute(FIND, {"ids": []}).all() == []
