"""The database: one engine, with sessions that read a snapshot or write in serializable isolation."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, Literal, TypeVar
from weakref import WeakValueDictionary

from sqlalchemy import Connection, Engine, TextClause, create_engine, event, make_url, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session, sessionmaker

from presscheck.service.db.bounded_cache import BoundedCache, CacheSizes
from presscheck.service.db.commit_queue import CommitQueue, Group, Write
from presscheck.service.db.migrate import migrate
from presscheck.service.db.prepared_statements import database_error
from presscheck.service.db.read_only_session import ReadOnlySession
from presscheck.service.models import content, imports, integrations, jobs, sites, teams

Result = TypeVar("Result")
_Mode = Literal["create_savepoint", "rollback_only"]
_log = logging.getLogger("presscheck.requests")

TABLES = (content, integrations, jobs, imports, sites, teams)
"""Modules whose import registers tables in the metadata."""
WAIT_FOR_LOCK = 30_000
"""How long a writer waits for a lock, in milliseconds."""
PATIENCE = 30.0
"""How long a writer retries after serialization failures, in seconds."""
MOST_DOUBLED = 20
"""How often a writer retries after a unique violation by a concurrent transaction."""
IMMUTABLE = "immutable"
"""Key in `session.info` of a session that reads: a `BoundedCache` of what never changes, shared by all of them."""
_CACHES = CacheSizes()
_OTHERS_WERE_FASTER = frozenset({"40001", "40P01"})
"""PostgreSQL error codes of a serialization failure and a deadlock."""
MOST_LOST = 3
"""Attempts of a writer that may lose against others; in the next one there are no others."""
_TOGETHER = text("LOCK TABLE alembic_version IN ROW SHARE MODE")
_ONE_AFTER_ANOTHER = text("LOCK TABLE alembic_version IN SHARE UPDATE EXCLUSIVE MODE")
_ALONE = text("LOCK TABLE alembic_version IN EXCLUSIVE MODE")
"""Locks of the first attempt of a writer, of a retry, and of one that lost too often, on a table that no write changes.

Retries wait for each other, first attempts for none of them. A writer that takes long would lose against shorter ones
again and again, so after `MOST_LOST` attempts it waits for all others, and new ones wait for it. The lock comes first
in the transaction: it takes no snapshot, unlike a query, so what is read after waiting is what is there then.
"""
_IS_THERE_ALREADY = "23505"
"""PostgreSQL error code of a unique violation, by a concurrent transaction or an earlier one."""


class Database:
    """An engine whose tables exist.

    `reading()` opens sessions that see one snapshot. `write` runs a function in serializable isolation: on SQLite a
    writer takes the lock when it begins; on PostgreSQL the database aborts conflicting transactions, and `write`
    retries. Writers of this process who would conflict wait for each other, and share a commit, see `CommitQueue`.
    `writing()` opens such a session once, for work without concurrent writers.

    Args:
        url: a SQLAlchemy URL; ``postgresql://…`` is accepted too.
        caches: the most that what is kept of it may take in memory.

    Attributes:
        retries: how often a transaction began again because another writer was faster.

    Raises:
        RuntimeError: the database was written by a newer presscheck.
    """

    def __init__(self, url: str, caches: CacheSizes = _CACHES) -> None:
        self.caches = caches
        self.engine = _engine(url)
        self._closing: list[Callable[[], None]] = []
        self._changing = self.engine.execution_options(**_WRITES[self.engine.dialect.name])
        try:
            migrate(self.engine.execution_options(**_STEPS[self.engine.dialect.name]))
        except BaseException:
            self.close()
            raise
        self._readable = self.engine.execution_options(**_READS[self.engine.dialect.name])
        self._of_readers: dict[Any, Any] = {IMMUTABLE: BoundedCache(caches.revisions)}
        self.reading: sessionmaker[Session] = sessionmaker(
            self._readable, expire_on_commit=False, info=self._of_readers
        )
        self.writing: sessionmaker[Session] = sessionmaker(self._changing, expire_on_commit=False)
        self._asking = self.engine.execution_options(isolation_level="AUTOCOMMIT")
        self._finding = threading.Lock()
        # SQLite has one writer; others would poll for the lock in no order, so all threads queue at one place
        self._queues: WeakValueDictionary[str | None, CommitQueue] = WeakValueDictionary()
        self.retries = 0

    @contextmanager
    def snapshot(self) -> Generator[ReadOnlySession]:
        """A session that only reads, and whose rows are plain values; a small read takes a quarter of the time."""
        with self._readable.connect() as connection, connection.begin():
            session = ReadOnlySession(connection, self._of_readers)
            try:
                yield session
            finally:
                session.close()

    @contextmanager
    def lookup(self) -> Generator[ReadOnlySession]:
        """A session for a single statement, which needs no transaction of its own: one round trip on PostgreSQL."""
        if not self.is_postgresql:
            with self.snapshot() as session:
                yield session
            return
        with self._asking.connect() as connection:
            yield ReadOnlySession(connection, {})

    def write(self, work: Callable[[Session], Result], place: str | None = None, *, joins: bool = True) -> Result:
        """Runs a function in a transaction. It may run several times, so it must only change the database.

        Args:
            work: the function.
            place: what it changes, such as the id of a space: writers of one place, who would conflict on PostgreSQL,
                wait for each other, and those that waited are committed together.
            joins: whether it may be committed together with others; not if it takes long, as they wait for it.

        Raises:
            DBAPIError: still conflicting with other writers after all retries.
        """
        write = Write(work, joins=joins and place is not None)
        queue = self.queue_of(place)
        if queue is None:
            self._commit(Group(write))
        else:
            queue.pass_through(write, self._commit)
        if write.error is not None:
            raise write.error
        return write.result

    def queue_of(self, place: str | None) -> CommitQueue | None:
        """Where the writers of a place wait for each other; None if they need not."""
        if self.is_postgresql and place is None:
            return None
        key = place if self.is_postgresql else None
        with self._finding:
            queue = self._queues.get(key)
            if queue is None:
                queue = self._queues[key] = CommitQueue()
            return queue

    def _commit(self, group: Group) -> None:
        """Runs and commits a group: together, or each of its writes alone if the database refuses them together."""
        until = time.monotonic() + PATIENCE
        doubled = lost = 0
        while True:
            try:
                self._run(group, lost)
            except DBAPIError as error:
                group.close()
                state = getattr(error.orig, "sqlstate", None)
                if len(group.writes) > 1 and state not in _OTHERS_WERE_FASTER and not error.connection_invalidated:
                    for write in group.writes:  # one of them is refused, and none was written
                        self._commit_alone(write)
                    return
                doubled += state == _IS_THERE_ALREADY
                is_passing = state in _OTHERS_WERE_FASTER or (state == _IS_THERE_ALREADY and doubled < MOST_DOUBLED)
                if not is_passing or time.monotonic() > until:
                    raise
                self._note_retry(state, len(group.writes))
            else:
                return
            lost += 1

    def _note_retry(self, state: str | None, writes: int) -> None:
        with self._finding:
            self.retries += 1
        _log.info("transaction repeated", extra={"details": {"state": state, "writes": writes}})

    def _commit_alone(self, write: Write) -> None:
        write.result = write.error = None
        try:
            self._commit(Group(write))
        except DBAPIError as error:
            write.error = error

    def _run(self, group: Group, lost: int) -> None:
        """Runs and commits a group once, after so many attempts that lost against other writers.

        Raises:
            DBAPIError: nothing was written, unless the connection was lost at the commit.
        """
        with self._changing.connect() as connection, connection.begin():
            if self.is_postgresql:
                connection.execute(_lock(lost))
            first, *others = group.writes
            self._attempt(connection, first, "create_savepoint" if others else "rollback_only")
            if first.error is not None and not others:
                return  # with the transaction
            write = others.pop(0) if others else group.grow()
            while write:
                self._attempt(connection, write, "create_savepoint")
                write = others.pop(0) if others else group.grow()

    def _attempt(self, connection: Connection, write: Write, mode: _Mode) -> None:
        """Runs a write in the transaction of a connection; what it raises is its own, unless the database refused."""
        write.result = write.error = None
        try:
            with self.writing(bind=connection, join_transaction_mode=mode) as session, session.begin():
                write.result = write.run(session)
        except DBAPIError:
            raise
        except Exception as error:
            write.error = error

    @property
    def is_postgresql(self) -> bool:
        """Whether rows are locked individually and other hosts may write (PostgreSQL)."""
        return self.engine.dialect.name == "postgresql"

    def on_close(self, close: Callable[[], None]) -> None:
        """Calls a function before the connections are closed: it closes one that was taken out of the pool."""
        self._closing.append(close)

    def close(self) -> None:
        """Closes all connections."""
        for close in self._closing:
            close()
        self.engine.dispose()


def _lock(lost: int) -> TextClause:
    """The lock of a writer after so many attempts that lost."""
    if lost == 0:
        return _TOGETHER
    return _ONE_AFTER_ANOTHER if lost < MOST_LOST else _ALONE


_READS: dict[str, dict[str, Any]] = {
    "sqlite": {},
    "postgresql": {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True},
}
_WRITES: dict[str, dict[str, Any]] = {
    "sqlite": {"writes": True},
    "postgresql": {"isolation_level": "SERIALIZABLE"},
}
_STEPS: dict[str, dict[str, Any]] = {
    "sqlite": {"writes": True},
    # another process may have run the migrations while this one waited for the lock
    "postgresql": {"isolation_level": "READ COMMITTED"},
}


def _engine(url: str) -> Engine:
    address = make_url(url)
    if address.drivername in ("postgresql", "postgres"):
        address = address.set(drivername="postgresql+psycopg")
    engine = create_engine(address, pool_size=20, max_overflow=30)
    if engine.dialect.name not in _WRITES:
        raise ValueError(f"{engine.dialect.name} is not supported: use SQLite or PostgreSQL")
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _prepare)
        event.listen(engine, "begin", _begin)
    return engine


def _prepare(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # the driver would begin transactions by itself
    for pragma in (
        f"busy_timeout={WAIT_FOR_LOCK}",
        "journal_mode=WAL",
        "synchronous=FULL",  # an acknowledged write survives a crash of the machine, not only of the process
        "foreign_keys=ON",
    ):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin(connection: Connection) -> None:
    # by the driver, which takes a tenth of the time of `exec_driver_sql`
    sql = "BEGIN IMMEDIATE" if connection.get_execution_options().get("writes") else "BEGIN"
    driver: Any = connection.connection.dbapi_connection
    try:
        driver.execute(sql).close()
    except connection.dialect.loaded_dbapi.Error as error:
        raise database_error(connection, sql, error) from error
