"""Guarantees of both engines: migrations produce the tables of the code, and writers are isolated."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text
from sqlalchemy.orm import Session
from tests.postgresql import Cluster

from presscheck.service.content.revisions import add_document, document_texts
from presscheck.service.db import migrations
from presscheck.service.db.engine import MOST_LOST, Database
from presscheck.service.db.migrate import NEWEST
from presscheck.service.models.organizations import UserRow
from presscheck.service.models.table import Table

NOW = "2026-05-20T09:30:00.000Z"


def test_the_database_version_is_the_last_migration(tmp_path: Path) -> None:
    assert migrations.__file__
    script = ScriptDirectory(str(Path(migrations.__file__).parent))
    assert script.get_heads() == [NEWEST]
    assert all(step.module.__doc__ for step in script.walk_revisions())


def test_the_migrations_produce_the_tables_of_the_code(database_url: str) -> None:
    database = Database(database_url)
    with database.engine.connect() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), Table.metadata)
    database.close()
    of_the_index = [difference for difference in differences if "document_words" in str(difference[1])]
    assert [difference for difference in differences if difference not in of_the_index] == []


def test_a_database_older_than_the_migrations_is_migrated(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    Database(f"sqlite:///{path}").close()
    with sqlite3.connect(path) as connection:  # an old database without the newer tables and columns
        connection.execute("DROP TABLE alembic_version")
        connection.execute("DROP TABLE document_words")
        rows = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('jobs', 'settings')"
        )
        assert len(rows.fetchall()) == 2
        triggers = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for (trigger,) in triggers:
            connection.execute(f"DROP TRIGGER {trigger}")
        connection.execute("DROP INDEX open_comments_of_space")
        newest = "change_request_people", "change_request_counts"
        newer = "imports spec_versions specs translations reader_issues clusters conversations integration_events"
        for table in (*newest, *newer.split(), "site_names", "installations", "integrations", "jobs", "settings"):
            connection.execute(f"DROP TABLE {table}")
        for column in ("name", "expires_at"):
            connection.execute(f"ALTER TABLE tokens DROP COLUMN {column}")
        connection.execute("INSERT INTO documents VALUES ('d', 'An oil lamp')")
    connection.close()
    database = Database(f"sqlite:///{path}")
    with database.reading.begin() as session:
        assert document_texts(session, ["d"]) == {"d": "An oil lamp"}
        words = session.execute(text("SELECT id FROM document_words WHERE document_words MATCH 'lam*'"))
        assert words.scalars().all() == ["d"]
    database.close()


def test_a_newer_database_is_refused(database_url: str) -> None:
    database = Database(database_url)
    with database.writing.begin() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    database.close()
    with pytest.raises(RuntimeError, match="a newer presscheck"):
        Database(database_url)


def test_several_processes_can_create_the_database(database_url: str) -> None:
    code = "import sys; from presscheck.service.db.engine import Database; Database(sys.argv[1]).close()"
    processes = [subprocess.Popen([sys.executable, "-c", code, database_url]) for _ in range(4)]
    assert [process.wait(60) for process in processes] == [0, 0, 0, 0]


def test_concurrent_increments_are_serializable(database_url: str) -> None:
    database = Database(database_url)
    database.write(lambda session: session.add(UserRow(id="u", display_name="0", created_at=NOW)))
    start = threading.Barrier(8)

    def count_up(_: int) -> None:
        start.wait()
        for _again in range(10):
            database.write(one_more)

    def one_more(session: Session) -> None:
        row = session.get_one(UserRow, "u")
        row.display_name = str(int(row.display_name) + 1)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(count_up, range(8)))
    with database.reading.begin() as session:
        assert session.get_one(UserRow, "u").display_name == "80"
    database.close()


def test_a_slow_writer_loses_a_few_times_against_fast_ones(postgresql: Cluster) -> None:
    """Each time that it writes a row, another writer did so since it read the row, as long as others may write."""
    database, other = (Database(url) for url in [postgresql.new_database()] * 2)
    database.write(lambda session: session.add(UserRow(id="u", display_name="0", created_at=NOW)))
    attempts = 0

    def one_more(session: Session) -> None:
        row = session.get_one(UserRow, "u")
        row.display_name = str(int(row.display_name) + 1)

    def is_waiting() -> bool:
        with other.reading.begin() as session:
            return bool(session.scalar(text("SELECT count(*) FROM pg_locks WHERE NOT granted")))

    with ThreadPoolExecutor() as pool:

        def slow(session: Session) -> None:
            nonlocal attempts
            attempts += 1
            assert attempts <= MOST_LOST + 1
            row = session.get_one(UserRow, "u")
            fast = pool.submit(other.write, one_more)
            while not fast.done() and not is_waiting():
                time.sleep(0.01)
            row.display_name = str(int(row.display_name) + 1)

        database.write(slow)
    with database.reading.begin() as session:
        assert session.get_one(UserRow, "u").display_name == str(attempts + 1)
    assert attempts == MOST_LOST + 1
    database.close()
    other.close()


def test_concurrent_writers_can_store_the_same_text(database_url: str) -> None:
    database = Database(database_url)
    start = threading.Barrier(6)

    def keep(number: int) -> str:
        start.wait()
        return database.write(lambda session: [add_document(session, f"text {one}") for one in range(20)][number])

    with ThreadPoolExecutor(6) as pool:
        assert len(set(pool.map(keep, range(6)))) == 6
    with database.reading.begin() as session:
        assert session.scalar(text("SELECT count(*) FROM documents")) == 20
        assert session.scalar(text("SELECT count(*) FROM document_words")) == 20
    database.close()
