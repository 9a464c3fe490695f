"""Guarantees of both engines: migrations produce the tables of the code, and writers are isolated.

Concurrent writers share a commit, and a failure of one does not affect the others. Read-only sessions return the same
values as other sessions and write nothing.
"""

from __future__ import annotations

import asyncio
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import bindparam, func, select, text, update
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError
from sqlalchemy.orm import Session
from tests.postgresql import Cluster
from tests.service.counted_service import CountedService
from tests.service.factories import plant_world

from presscheck.service.content.revisions import add_document, document_texts
from presscheck.service.db import engine, migrations
from presscheck.service.db.engine import IMMUTABLE, MOST_LOST, Database
from presscheck.service.db.ids import hash_token
from presscheck.service.db.migrate import NEWEST
from presscheck.service.models.organizations import MemberRow, TokenRow, UserRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.models.table import Table

NOW = "2026-05-20T09:30:00.000Z"
_BY_IDS = select(UserRow).where(UserRow.id.in_(bindparam("ids", expanding=True))).order_by(UserRow.id)
_PREPARED = text("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE 'SELECT users%'")
_NAME = select(UserRow.display_name).where(UserRow.id == bindparam("id"))
_MEMBERS = select(MemberRow.user_id, MemberRow.disabled, func.count()).where(
    MemberRow.organization_id == bindparam("organization")
)
_BY_ROLE = (
    _MEMBERS.where(func.coalesce(MemberRow.role, "").in_(bindparam("roles", expanding=True)))
    .group_by(MemberRow.user_id, MemberRow.disabled)
    .order_by(MemberRow.user_id)
)


def test_the_database_version_is_the_last_migration(tmp_path: Path) -> None:
    assert migrations.__file__
    script = ScriptDirectory(str(Path(migrations.__file__).parent))
    assert script.get_heads() == [NEWEST]
    assert all(step.module.__doc__ for step in script.walk_revisions())


@pytest.mark.slow
@pytest.mark.engines
def test_the_migrations_produce_the_tables_of_the_code(database_url: str) -> None:
    database = Database(database_url)
    with database.engine.connect() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), Table.metadata)
    database.close()
    of_the_index = [difference for difference in differences if "document_words" in str(difference[1])]
    assert [difference for difference in differences if difference not in of_the_index] == []


@pytest.mark.slow
def test_a_database_older_than_the_migrations_is_migrated(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    Database(f"sqlite:///{path}").close()
    with sqlite3.connect(path) as connection:  # remove the newer tables and columns
        connection.execute("DROP TABLE alembic_version")
        connection.execute("DROP TABLE document_words")
        rows = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('jobs', 'settings')"
        )
        assert len(rows.fetchall()) == 2
        triggers = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for (trigger,) in triggers:
            connection.execute(f"DROP TRIGGER {trigger}")
        for index in ("open_comments_of_space", "open_comments_of_change_request"):
            connection.execute(f"DROP INDEX {index}")
        newest = (
            "change_request_people change_request_counts grants audit_events external_links page_feedback site_findings"
            " browser_sign_ins refresh_tokens"
        )
        newer = "imports spec_versions specs translations reader_issues clusters conversations integration_events"
        others = ("site_names", "installations", "integrations", "jobs", "settings")
        for table in (*newest.split(), *newer.split(), *others):
            connection.execute(f"DROP TABLE {table}")
        connection.execute("DROP INDEX ix_tokens_sign_in")
        for column in ("name", "expires_at", "scope", "sign_in"):
            connection.execute(f"ALTER TABLE tokens DROP COLUMN {column}")
        connection.execute("ALTER TABLE sites DROP COLUMN applied_type")
        connection.execute("ALTER TABLE site_spaces DROP COLUMN looks")
        connection.execute("ALTER TABLE sites DROP COLUMN styleguide_id")
        for column in ("repository_url", "type"):
            connection.execute(f"ALTER TABLE spaces DROP COLUMN {column}")
        connection.execute("INSERT INTO documents VALUES ('d', 'An oil lamp')")
    connection.close()
    database = Database(f"sqlite:///{path}")
    with database.snapshot() as session:
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


def test_connection_to_a_silent_host_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(engine.LOST_CONNECTION, "connect_timeout", "2")
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:  # the kernel accepts, no one responds
        url = f"postgresql://docs@127.0.0.1:{silent.getsockname()[1]}/docs"
        began = time.monotonic()
        with pytest.raises(OperationalError, match="timeout"):
            Database(url)
        assert time.monotonic() - began < 10
    used = engine.new_engine(f"{url}?tcp_user_timeout=7000").url.query
    assert (used["tcp_user_timeout"], used["keepalives_idle"]) == ("7000", "20"), "the operator's own settings count"


@pytest.mark.slow
@pytest.mark.engines
def test_processes_can_create_the_database_concurrently(database_url: str) -> None:
    # forks start at the same moment, separate programs would not
    code = """
import os, sys
from presscheck.service.db.engine import Database
children = []
for _ in range(3):
    child = os.fork()
    if not child:
        Database(sys.argv[1]).close()
        os._exit(0)
    children.append(child)
sys.exit(any([os.waitpid(child, 0)[1] for child in children]))
"""
    assert subprocess.run([sys.executable, "-c", code, database_url], timeout=60).returncode == 0


@pytest.mark.slow
@pytest.mark.engines
def test_concurrent_increments_are_serializable(database_url: str) -> None:
    database = Database(database_url)
    database.write(lambda session: session.add(UserRow(id="u", display_name="0", created_at=NOW)))
    start = threading.Barrier(8)

    def count_up(_: int) -> None:
        start.wait()
        for _again in range(4):
            database.write(one_more)

    def one_more(session: Session) -> None:
        row = session.get_one(UserRow, "u")
        row.display_name = str(int(row.display_name) + 1)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(count_up, range(8)))
    with database.snapshot() as session:
        assert session.get_one(UserRow, "u").display_name == "32"
    database.close()


def test_slow_writer_gets_exclusive_access_after_lost_attempts(postgresql: Cluster) -> None:
    """As long as other writers are allowed, one of them changes the row between its read and its write."""
    database, other = (Database(url) for url in [postgresql.new_database()] * 2)
    database.write(lambda session: session.add(UserRow(id="u", display_name="0", created_at=NOW)))
    attempts = 0

    def one_more(session: Session) -> None:
        row = session.get_one(UserRow, "u")
        row.display_name = str(int(row.display_name) + 1)

    def is_waiting() -> bool:
        with other.snapshot() as session:
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
    with database.snapshot() as session:
        assert session.get_one(UserRow, "u").display_name == str(attempts + 1)
    assert attempts == MOST_LOST + 1
    database.close()
    other.close()


@pytest.mark.engines
def test_concurrent_writers_can_store_the_same_text(database_url: str) -> None:
    database = Database(database_url)
    start = threading.Barrier(6)

    def keep(number: int) -> str:
        start.wait()
        return database.write(lambda session: [add_document(session, f"text {one}") for one in range(20)][number])

    with ThreadPoolExecutor(6) as pool:
        assert len(set(pool.map(keep, range(6)))) == 6
    with database.snapshot() as session:
        assert session.scalar(text("SELECT count(*) FROM documents")) == 20
        assert session.scalar(text("SELECT count(*) FROM document_words")) == 20
    database.close()


def test_read_only_session_refuses_changes(database_url: str) -> None:
    world = plant_world(database_url, "http://127.0.0.1:1")
    with closing(Database(database_url)) as database:
        for change in (add("u"), lambda session: setattr(session.get_one(SpaceRow, world.space), "title", "Other")):
            with pytest.raises(TypeError, match="only reads"), database.snapshot() as session:
                change(session)
        with database.snapshot() as session:
            assert session.get_one(SpaceRow, world.space).title == "Manual"
            assert session.get(UserRow, "u") is None


def test_the_event_loop_executes_no_statement(database_url: str, tmp_path: Path) -> None:
    world = plant_world(database_url, "http://127.0.0.1:1")
    with closing(Database(database_url)) as database:
        token = TokenRow(sha256=hash_token("brief"), user_id=world.users["admin"], created_at="", expires_at="9999")
        database.write(lambda session: session.add(token))  # responses for tokens that expire are not cached
    threads: list[bool] = []

    async def ask(service: CountedService) -> None:
        service.note = lambda *_statement: threads.append(threading.current_thread() is threading.main_thread())
        for _ in range(20):
            await service.send("GET", "/v1/user")

    service = CountedService(tmp_path, database_url, "brief")
    with closing(service.database):
        asyncio.run(ask(service))
    assert len(threads) >= 20 and not any(threads)


@pytest.mark.engines
def test_snapshot_does_not_see_later_writes(database_url: str) -> None:
    with closing(Database(database_url)) as database:
        database.write(add("a"))
        with database.snapshot() as session:
            assert session.scalar(_NAME, {"id": "a"}) == "a"
            database.write(lambda session: session.execute(update(UserRow).values(display_name="b")))
            assert session.scalar(_NAME, {"id": "a"}) == "a"
        with database.snapshot() as session:
            assert session.scalar(_NAME, {"id": "a"}) == "b"


def test_reads_succeed_after_connections_were_lost(postgresql: Cluster) -> None:
    """Concurrent reads leave pooled connections; connections that were lost, as by a restart, are not reused."""
    with closing(Database(postgresql.new_database())) as database:
        database.write(add("a"))
        with ExitStack() as several:
            for _ in range(3):
                several.enter_context(database.snapshot()).scalar(_NAME, {"id": "a"})
        others = "datname = current_database() AND pid <> pg_backend_pid()"
        ended = text(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}")  # no input
        database.write(lambda session: session.execute(ended))
        for _ in range(3):
            with database.snapshot() as session:
                assert session.scalar(_NAME, {"id": "a"}) == "a"


def test_snapshots_share_a_connection_and_its_prepared_statements(postgresql: Cluster) -> None:
    def prepared() -> int:
        with database.snapshot() as session:
            return (
                session.scalar(text("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE 'SELECT users%'"))
                or 0
            )

    with closing(Database(postgresql.new_database())) as database:
        database.write(add("a"))
        for _ in range(10):
            with database.snapshot() as session:
                assert session.scalar(_NAME, {"id": "a"}) == "a"
        assert prepared() == 1, "a statement that is read often, by whatever snapshot"
        with suppress(LookupError), database.snapshot():
            raise LookupError
        assert prepared() == 0, "the driver forgets them with a rollback"


def test_cached_values_of_a_write_are_shared_after_its_commit(database_url: str) -> None:
    def keep(key: str) -> Callable[[Session], Any]:
        def work(session: Session) -> Any:
            session.info[IMMUTABLE].put(key, f"value of {key}", 1)
            with database.snapshot() as other:
                return other.info[IMMUTABLE].get(key)

        return work

    def keep_and_fail(session: Session) -> None:
        keep("failed")(session)
        raise LookupError

    def kept(key: str) -> Any:
        with database.snapshot() as session:
            return session.info[IMMUTABLE].get(key)

    with closing(Database(database_url)) as database:
        assert database.write(keep("one")) is None, "it is not committed yet"
        assert kept("one") == "value of one"
        assert database.write(lambda session: session.info[IMMUTABLE].get("one")) == "value of one"
        works = [keep("two"), lambda session: session.info[IMMUTABLE].get("two"), keep_and_fail, keep("three")]
        results = at_once(database, *works)
        assert [type(each.exception()) for each in results] == [type(None), type(None), LookupError, type(None)]
        assert [kept(key) for key in ("two", "three", "failed")] == ["value of two", "value of three", None]


def add(name: str) -> Callable[[Session], str]:
    """Return a write that adds a user and returns the ids of the users before, separated by commas."""

    def work(session: Session) -> str:
        before = ",".join(session.scalars(select(UserRow.id).order_by(UserRow.id)))
        session.add(UserRow(id=name, display_name=name, created_at=NOW))
        session.flush()
        return before

    return work


def fail(session: Session) -> None:
    add("failed")(session)
    raise LookupError("not found")


def fail_at_once(session: Session) -> None:
    """Fail before the session is used and joins the transaction."""
    raise LookupError


def add_for_nobody(session: Session) -> None:
    """Add a row without its user, which the database refuses at the commit."""
    session.add(TokenRow(sha256="token", user_id="nobody", created_at=NOW))


def at_once(database: Database, *works: Callable[[Session], Any]) -> list[Future[Any]]:
    """Run writes concurrently, each in its own thread. Returns their results."""
    all_there = threading.Barrier(len(works))

    def write(work: Callable[[Session], Any]) -> Any:
        all_there.wait(60)
        return database.write(work)

    with ThreadPoolExecutor(len(works)) as pool:
        return [pool.submit(write, work) for work in works]


def test_error_of_a_repeated_write_is_freed_at_once(database_url: str) -> None:
    errors: list[weakref.ref[DBAPIError]] = []

    def work(session: Session) -> None:
        if not errors:
            reason = sqlite3.OperationalError()
            vars(reason)["sqlstate"] = "40001"
            error = OperationalError("SELECT 1", {}, reason)
            errors.append(weakref.ref(error))
            raise error

    with closing(Database(database_url)) as database:
        database.write(work)
        assert errors[0]() is None, "what the frames of its traceback refer to would be garbage"


@pytest.mark.parametrize(
    ("work", "error"),
    [
        (fail, LookupError),
        (fail_at_once, LookupError),
        pytest.param(add_for_nobody, IntegrityError, marks=pytest.mark.engines),
    ],
    ids=["one_fails", "one_fails_at_once", "one_is_refused"],
)
def test_failed_write_does_not_affect_concurrent_writes(
    database_url: str, work: Callable[[Session], Any], error: type[Exception]
) -> None:
    ran = Counter[str]()

    def counted(name: str) -> Callable[[Session], str]:
        def write(session: Session) -> str:
            ran[name] += 1
            return add(name)(session)

        return write

    with closing(Database(database_url)) as database:
        one, failed, two, three = at_once(database, counted("a"), work, counted("b"), counted("c"))
        assert isinstance(failed.exception(), error)
        assert sorted(each.result().count(",") + bool(each.result()) for each in (one, two, three)) == [0, 1, 2]
        assert 3 <= sum(ran.values()) <= 3 + database.retries, "no write is made twice unless the database asks for it"
        assert database.is_postgresql or not database.retries
        with database.snapshot() as session:
            assert [*session.scalars(select(UserRow.id).order_by(UserRow.id))] == ["a", "b", "c"]
