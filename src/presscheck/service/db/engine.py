"""The database: one engine, with sessions that read a snapshot or write in serializable isolation.

A session that reads has rows that are plain values. On SQLite one thread writes at a time; on PostgreSQL a writer who
met another one begins again. The writers of requests wait for each other before they take a thread (`http/turns.py`).
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from typing import Any, TypeVar

from pydantic_core import to_json
from sqlalchemy import (
    Connection,
    Engine,
    create_engine,
    event,
    make_url,
)
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.orm import Session, sessionmaker

from presscheck.paths import PRIVATE_FILE
from presscheck.service.db.bounded_cache import BoundedCache, CacheSizes, PendingCache
from presscheck.service.db.migrate import migrate
from presscheck.service.models import content, imports, integrations, jobs, sites, teams

Result = TypeVar("Result")
Row = TypeVar("Row")
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
"""Key in `session.info`: the `BoundedCache` of what never changes, which all sessions share.

That of a session that writes is a `PendingCache`.
"""
_CACHES = CacheSizes()
_OTHERS_WERE_FASTER = frozenset({"40001", "40P01"})
"""PostgreSQL error codes of a serialization failure and a deadlock."""
MOST_LOST = 3
"""Attempts of a writer that may lose against others; in the next one there are no others."""
_TOGETHER, _ONE_AFTER_ANOTHER, _ALONE = "ROW SHARE", "SHARE UPDATE EXCLUSIVE", "EXCLUSIVE"
"""Locks of the first attempt of a writer, of a retry, and of one that lost too often, on a table that no write changes.

Retries wait for each other, first attempts for none of them. A writer that takes long would lose against shorter ones
again and again, so after `MOST_LOST` attempts it waits for all others, and new ones wait for it. The lock comes first
in the transaction: it takes no snapshot, unlike a query, so what is read after waiting is what is there then.
"""
_IS_THERE_ALREADY = "23505"
"""PostgreSQL error code of a unique violation, by a concurrent transaction or an earlier one."""
_IS_LOCKED = 5
"""SQLite's error code of a database that another process has locked for longer than `WAIT_FOR_LOCK`."""
_CANNOT_WRITE = frozenset({10, 13})
"""SQLite's error codes of a failed write: a quota that is used up is an input/output error, a full disk is its own."""
_DISK_FULL = "53100"
"""PostgreSQL error code of a full disk."""
POOLED, MOST_CONNECTIONS = 10, 60
"""Connections that stay open at rest, and most that are open at once."""


class Database:
    """An engine whose tables exist.

    `reading()` opens sessions that see one snapshot. `write` runs a function in serializable isolation: on SQLite a
    writer takes the lock when it begins; on PostgreSQL the database aborts conflicting transactions, and `write`
    retries. `writing()` opens such a session once, for work without concurrent writers.

    Args:
        url: a SQLAlchemy URL; ``postgresql://…`` is accepted too.
        caches: the most that what is kept of it may take in memory.

    Attributes:
        engine: its connections.
        closing: runs callbacks before the connections are closed, such as to close one that was taken out of the pool.
        retries: about how often a transaction began again because another writer was faster.

    Raises:
        RuntimeError: the database was written by a newer presscheck.
    """

    def __init__(self, url: str, caches: CacheSizes = _CACHES) -> None:
        self.caches = caches
        self.engine = new_engine(url)
        self.closing = ExitStack()
        self._at_rest: deque[Connection] = deque()
        self._changing = self.engine.execution_options(**_WRITES[self.engine.dialect.name])
        try:
            migrate(self.engine.execution_options(**_STEPS[self.engine.dialect.name]))
        except BaseException:
            self.close()
            raise
        self._readable = self.engine.execution_options(**_READS[self.engine.dialect.name])
        self._immutable = BoundedCache(caches.revisions)
        self.reading: sessionmaker[Session] = sessionmaker(
            self._readable, autoflush=False, expire_on_commit=False, info={IMMUTABLE: self._immutable}
        )
        event.listen(self.reading, "before_flush", _refuse_changes)
        self.writing: sessionmaker[Session] = sessionmaker(self._changing, expire_on_commit=False)
        # SQLite has one writer; others would poll for its lock
        self._turn = nullcontext() if self.is_postgresql else threading.Lock()
        self.retries = 0

    @contextmanager
    def snapshot(self) -> Generator[Session]:
        """A session that only reads, in one transaction, which is rolled back.

        Raises:
            TypeError: something was changed.
        """
        connection = self._begun()
        try:
            with self.reading(bind=connection) as session:
                yield session
                _refuse_changes(session)
            connection.commit()  # after a rollback, the driver of PostgreSQL prepares all statements anew
        finally:
            if connection.in_transaction():
                connection.rollback()
            if connection.invalidated or len(self._at_rest) >= POOLED:
                connection.close()
            else:
                self._at_rest.append(connection)

    def _begun(self) -> Connection:
        """Return a connection with an open transaction, if possible one that an earlier snapshot used."""
        with suppress(IndexError):
            while True:
                connection = self._at_rest.pop()
                try:
                    connection.begin()
                except self.engine.dialect.loaded_dbapi.Error:
                    connection.invalidate()
                    connection.close()
                else:
                    return connection
        connection = self._readable.connect()
        connection.begin()
        return connection

    def write(self, work: Callable[[Session], Result]) -> Result:
        """Runs a function in a transaction. It may run several times, so it must only change the database.

        Raises:
            DBAPIError: still conflicting with other writers after all retries, or it failed; see `unavailable`.
        """
        until = time.monotonic() + PATIENCE
        doubled = lost = 0
        while True:
            try:
                with self._turn:
                    return self._run(work, lost)
            except DBAPIError as error:
                state = getattr(error.orig, "sqlstate", None)
                doubled += state == _IS_THERE_ALREADY
                is_passing = state in _OTHERS_WERE_FASTER or (state == _IS_THERE_ALREADY and doubled < MOST_DOUBLED)
                if not is_passing or time.monotonic() > until:
                    raise
                self.retries += 1
                _log.info("transaction repeated", extra={"details": {"state": state}})
            lost += 1

    def _run(self, work: Callable[[Session], Result], lost: int) -> Result:
        """Runs and commits a write once, after `lost` attempts that lost against other writers."""
        kept = PendingCache(self._immutable)
        with self.writing(info={IMMUTABLE: kept}) as session, session.begin():
            if self.is_postgresql:
                begin = f"{_SERIALIZABLE}; LOCK TABLE alembic_version IN {_lock(lost)} MODE"  # one round trip
                session.connection(execution_options={"writes": begin})
            result = work(session)
        kept.commit()
        return result

    @property
    def is_postgresql(self) -> bool:
        """Whether rows are locked individually and other hosts may write (PostgreSQL)."""
        return self.engine.dialect.name == "postgresql"

    def close(self) -> None:
        """Closes all connections."""
        self.closing.close()
        for connection in self._at_rest:
            connection.close()
        self.engine.dispose()


def unavailable(error: DBAPIError) -> str | None:
    """Why the database cannot be used now but may be later, as a sentence without its period; None for other errors."""
    state: str | None = getattr(error.orig, "sqlstate", None)
    code = getattr(error.orig, "sqlite_errorcode", 0) & 0xFF
    if state in _OTHERS_WERE_FASTER or code == _IS_LOCKED:
        return "The database is locked"
    if state == _DISK_FULL or code in _CANNOT_WRITE:
        return "The database has no room to write"
    # 57P0x: it was stopped; without a state: it closed the connection, or accepts none
    is_lost = error.connection_invalidated or (state or "").startswith(("08", "57P0"))
    if is_lost or (isinstance(error, OperationalError) and hasattr(error.orig, "sqlstate") and state is None):
        return "The database does not respond"
    return None


def _lock(lost: int) -> str:
    """The lock of a writer after so many attempts that lost."""
    if lost == 0:
        return _TOGETHER
    return _ONE_AFTER_ANOTHER if lost < MOST_LOST else _ALONE


_READS: dict[str, dict[str, Any]] = {
    "sqlite": {"reads": "BEGIN"},
    "postgresql": {"isolation_level": "AUTOCOMMIT", "reads": "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"},
}
"""Options of connections: which SQL begins a transaction. The driver begins none with `AUTOCOMMIT`."""
_SERIALIZABLE = "BEGIN ISOLATION LEVEL SERIALIZABLE"
_WRITES: dict[str, dict[str, Any]] = {
    "sqlite": {"writes": "BEGIN IMMEDIATE"},
    "postgresql": {"isolation_level": "AUTOCOMMIT", "writes": _SERIALIZABLE},
}
_STEPS: dict[str, dict[str, Any]] = {
    "sqlite": {"writes": "BEGIN IMMEDIATE"},
    # another process may have run the migrations while this one waited for the lock
    "postgresql": {"isolation_level": "READ COMMITTED"},
}


def new_engine(url: str) -> Engine:
    """An engine for a database, whose file is created if it does not exist; its tables need not exist."""
    address = make_url(url)
    if address.drivername in ("postgresql", "postgres"):
        address = address.set(drivername="postgresql+psycopg")
    engine = create_engine(
        address,
        pool_size=POOLED,
        pool_pre_ping=address.get_backend_name() == "postgresql",  # it may have been restarted
        max_overflow=MOST_CONNECTIONS - POOLED,
        json_serializer=_json_of,
    )
    if engine.dialect.name not in _WRITES:
        raise ValueError(f"{engine.dialect.name} is not supported: use SQLite or PostgreSQL")
    if engine.dialect.name == "sqlite":
        _create_privately(address.database)
        event.listen(engine, "connect", _prepare)
        engine.update_execution_options(reads="BEGIN")
    event.listen(engine, "begin", _begin)
    return engine


def _create_privately(database: str | None) -> None:
    """Create the file of a new SQLite database with mode 0600, which its log gets too: its keys sign links."""
    if database and not database.startswith((":memory:", "file:")):
        with suppress(OSError):  # it exists, or the connection reports what is wrong
            os.close(os.open(database, os.O_RDWR | os.O_CREAT | os.O_EXCL, PRIVATE_FILE))


def _json_of(value: object) -> str:
    """A value of a JSON column as text; characters stay themselves."""
    try:
        return to_json(value, inf_nan_mode="constants").decode()
    except ValueError:  # half of a surrogate pair, or very deep
        return json.dumps(value)


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
    options = connection.get_execution_options()
    if "writes" in options:
        connection.exec_driver_sql(options["writes"], execution_options={"no_parameters": True})
    elif "reads" in options:  # nothing to wait for, so the driver does it, in a fifth of the time
        connection.connection.cursor().execute(options["reads"])


def _refuse_changes(session: Session, *_details: Any) -> None:
    """Refuses what a session of `Database.reading` would write.

    Raises:
        TypeError: there are changes.
    """
    if session.new or session.dirty or session.deleted:
        raise TypeError("This session only reads: write in Database.write, or from Context.afterwards.")
