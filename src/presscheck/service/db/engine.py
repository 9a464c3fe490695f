"""The database: read sessions on a snapshot, and serializable write transactions.

Rows that a read session returns are plain values. On SQLite one thread writes at a time; on PostgreSQL a transaction
that conflicts with another is retried. Write requests wait before they occupy a thread (`http/turns.py`).
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from pydantic_core import from_json, to_json
from sqlalchemy import (
    URL,
    Connection,
    Engine,
    create_engine,
    event,
    make_url,
)
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError
from sqlalchemy.orm import Session, sessionmaker
from typing_extensions import override

from presscheck.paths import PRIVATE_FILE
from presscheck.service.db.bounded_cache import BoundedCache, CacheSizes, PendingCache
from presscheck.service.db.migrate import migrate
from presscheck.service.models import content, imports, integrations, jobs, oauth, sites, teams

Result = TypeVar("Result")
Row = TypeVar("Row")
_log = logging.getLogger("presscheck.requests")

TABLES = (content, integrations, jobs, imports, oauth, sites, teams)
"""Modules whose import registers tables in the metadata."""
WAIT_FOR_LOCK = 30_000
"""Maximum wait of a writer for a lock, in milliseconds."""
PATIENCE = 30.0
"""Time for which a writer is retried after serialization failures, in seconds."""
MOST_DOUBLED = 20
"""Maximum number of retries after a unique violation caused by a concurrent transaction."""
IMMUTABLE = "immutable"
"""Key in `session.info` of the `BoundedCache` for immutable data, which all sessions share.

Sessions that write have a `PendingCache` instead.
"""
_CHANGES = "changes"
"""Key in the `info` of a connection with its number of changing statements (see `changes`)."""
_CACHES = CacheSizes()
_OTHERS_WERE_FASTER = frozenset({"40001", "40P01"})
"""PostgreSQL error codes of a serialization failure and of a deadlock."""
MOST_LOST = 3
"""Number of failed attempts after which a writer takes an exclusive lock."""
_TOGETHER, _ONE_AFTER_ANOTHER, _ALONE = "ROW SHARE", "SHARE UPDATE EXCLUSIVE", "EXCLUSIVE"
"""Lock modes for a first attempt, for a retry, and after `MOST_LOST` failed attempts, on a table that writes never use.

Retries wait for each other; first attempts do not wait. A long transaction could fail again and again because of
shorter ones, so after `MOST_LOST` failed attempts it waits for all others, and new ones wait for it. The lock is the
first statement of the transaction. It takes no snapshot, so the transaction reads the state after the wait.
"""
_IS_THERE_ALREADY = "23505"
"""PostgreSQL error code of a unique violation. The existing row may come from a concurrent transaction."""
_IS_LOCKED = 5
"""SQLite's error code if another process has locked the database for longer than `WAIT_FOR_LOCK`."""
_CANNOT_WRITE = frozenset({10, 13})
"""SQLite's error codes of a failed write: 10 (input/output error) if a quota is used up, 13 if the disk is full."""
_DISK_FULL = "53100"
"""PostgreSQL error code of a full disk."""
_READ_ONLY, _IS_READ_ONLY = "25006", 8
"""Error codes of PostgreSQL and SQLite if the database accepts no writes, such as a file without permission."""
_SETTING = "--database or PRESSCHECK_DATABASE_URL"
_EXAMPLES = "a URL such as postgresql://user@host/name or sqlite:////path/to/file"
_DRIVERS = frozenset({"sqlite", "sqlite+pysqlite", "postgresql+psycopg"})
POOLED, MOST_CONNECTIONS = 10, 60
"""Number of idle connections in the pool, and maximum number of open connections."""

LOST_CONNECTION = {
    "connect_timeout": "10",
    "keepalives_idle": "20",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "20000",
}
"""Settings of libpq that end a connection to a host that no longer responds; without them, a thread waits for it for a
quarter of an hour or more. All in seconds, but `tcp_user_timeout` in milliseconds. The URL may set others.
"""


class ReadSession(Session):
    """A read-only session in the open transaction of a connection.

    Args:
        connection: a connection with an open transaction.
        info: the initial `session.info`.
    """

    def __init__(self, connection: Connection, info: dict[Any, Any]) -> None:
        super().__init__(connection, autoflush=False, expire_on_commit=False, info=info)
        self._connection = connection

    @override
    def connection(self, *_options: Any, **_more: Any) -> Connection:
        """Return the connection. The session begins no transaction of its own, because one is open already."""
        return self._connection

    @override
    def flush(self, objects: Any = None) -> None:
        """Write nothing.

        Raises:
            TypeError: there are changes to write.
        """
        if self.identity_map.check_modified() or self.new or self.deleted:
            raise TypeError("This session only reads: write in Database.write, or from Context.afterwards.")


def detached(entity: type[Row], values: Iterator[Any]) -> Row | None:
    """Return a row that is attached to no session, which takes a tenth of the time of loading it.

    Args:
        entity: the class of the row.
        values: an iterator whose next values are those of all columns of the table, in order.

    Returns:
        The row, or None if its id is null, as it is for an outer join that found nothing.
    """
    columns = dict(zip(_columns(entity), values, strict=False))
    if columns["id"] is None:
        return None
    row = entity()
    vars(row).update(columns)
    return row


@cache
def _columns(entity: Any) -> tuple[str, ...]:
    return tuple(entity.__table__.columns.keys())


class Database:
    """An engine for a database with all tables.

    `snapshot()` opens a session that reads. `write` runs a function in serializable isolation: on SQLite a
    writer takes the lock when it begins; on PostgreSQL the database aborts conflicting transactions, and `write`
    retries. `writing()` opens a session with the same isolation but without retries, for work without concurrent
    writers.

    Args:
        url: a SQLAlchemy URL; ``postgresql://…`` is accepted too.
        caches: capacities of the caches in memory.

    Attributes:
        engine: the SQLAlchemy engine.
        closing: callbacks that run before the connections are closed.
        retries: approximate number of retries because of concurrent writers.

    Raises:
        RuntimeError: the database was written by a newer presscheck.
    """

    def __init__(self, url: str, caches: CacheSizes = _CACHES) -> None:
        self.caches = caches
        self.engine = new_engine(url)
        self.closing = ExitStack()
        self._at_rest: deque[Connection] = deque()
        self._changing = self.engine.execution_options(**_WRITES[self.engine.dialect.name])
        event.listen(self._changing, "after_cursor_execute", _count_change)
        try:
            migrate(self.engine.execution_options(**_STEPS[self.engine.dialect.name]))
        except BaseException:
            self.close()
            raise
        self._immutable = BoundedCache(caches.revisions)
        self.writing: sessionmaker[Session] = sessionmaker(self._changing, expire_on_commit=False)
        # SQLite has one writer at a time, and threads that wait for it would poll the database
        self._turn = nullcontext() if self.is_postgresql else threading.Lock()
        self.retries = 0

    @contextmanager
    def snapshot(self) -> Generator[Session]:
        """Open a session that reads, in one transaction.

        Raises:
            TypeError: the session has changes.
        """
        connection = self._begun()
        try:
            with ReadSession(connection, info={IMMUTABLE: self._immutable}) as session:
                yield session
                session.flush()
            connection.commit()  # not a rollback: after it, the PostgreSQL driver prepares all statements again
        finally:
            if connection.in_transaction():
                connection.rollback()
            elif connection.get_transaction():  # the commit failed, so the transaction may not have ended
                connection.invalidate()
            if connection.invalidated or len(self._at_rest) >= POOLED:
                connection.close()
            else:
                self._at_rest.append(connection)

    def _begun(self) -> Connection:
        """Return a connection with an open transaction, if possible a connection of an earlier snapshot."""
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
        # options of the connection, not of an engine, whose events SQLAlchemy would dispatch in two steps
        connection = self.engine.connect().execution_options(**_READS[self.engine.dialect.name])
        connection.begin()
        return connection

    def write(self, work: Callable[[Session], Result]) -> Result:
        """Run a function in a transaction and return its result.

        The function may run several times, so it must have no effects outside the database.

        Raises:
            DBAPIError: all retries failed, or the error is not a conflict; see `unavailable`.
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
                _free_frames(error)
            lost += 1

    def _run(self, work: Callable[[Session], Result], lost: int) -> Result:
        """Run and commit a write once, after `lost` failed attempts."""
        pending = PendingCache(self._immutable)
        with self.writing(info={IMMUTABLE: pending}) as session, session.begin():
            if self.is_postgresql:
                begin = f"{_SERIALIZABLE}; LOCK TABLE alembic_version IN {_lock(lost)} MODE"  # one round trip
                session.connection(execution_options={"writes": begin})
            result = work(session)
        pending.commit()
        return result

    @property
    def is_postgresql(self) -> bool:
        """Whether the database is PostgreSQL: it locks single rows, and other hosts may write."""
        return self.engine.dialect.name == "postgresql"

    def close(self) -> None:
        """Close all connections."""
        self.closing.close()
        for connection in self._at_rest:
            connection.close()
        self.engine.dispose()


def _free_frames(error: DBAPIError) -> None:
    """Remove the tracebacks of an error. Their frames refer to it, so a collection of garbage would have to find them.

    Without this, more than half of the garbage of a service with many concurrent writers consists of such frames.
    """
    error.__traceback__ = None
    if error.orig:
        error.orig.__traceback__ = None


def changes(session: Session) -> int:
    """Return the number of statements that changed rows on the connection of a write session."""
    return session.connection().info.get(_CHANGES, 0)


def _count_change(connection: Connection, cursor: Any, _statement: Any, _values: Any, context: Any, _many: Any) -> None:
    # the number of inserted rows is unknown until their values are fetched
    if context.isinsert or ((context.isupdate or context.isdelete) and cursor.rowcount != 0):
        connection.info[_CHANGES] = connection.info.get(_CHANGES, 0) + 1


def unavailable(error: DBAPIError) -> str | None:
    """Explain why the database is temporarily unusable.

    Returns:
        A sentence without its period, or None if the error has another reason.
    """
    state: str | None = getattr(error.orig, "sqlstate", None)
    code = getattr(error.orig, "sqlite_errorcode", 0) & 0xFF
    if state in _OTHERS_WERE_FASTER or code == _IS_LOCKED:
        return "The database is locked"
    if state == _DISK_FULL or code in _CANNOT_WRITE:
        return "The database has no room to write"
    if state == _READ_ONLY or code == _IS_READ_ONLY:
        return "The database is read-only"
    # 57P0x: the server was stopped; no state: it closed the connection or accepts none
    is_lost = error.connection_invalidated or (state or "").startswith(("08", "57P0"))
    if is_lost or (isinstance(error, OperationalError) and hasattr(error.orig, "sqlstate") and state is None):
        return "The database does not respond"
    return None


def cause_of(error: Exception) -> str:
    """Return what the driver says, in one line for the log: it names hosts and users, but no values of a statement."""
    return str(getattr(error, "orig", None) or error).partition("\n")[0]


def _lock(lost: int) -> str:
    """Return the lock mode for a writer after `lost` failed attempts."""
    if lost == 0:
        return _TOGETHER
    return _ONE_AFTER_ANOTHER if lost < MOST_LOST else _ALONE


_READS: dict[str, dict[str, Any]] = {
    "sqlite": {"reads": "BEGIN"},
    "postgresql": {"isolation_level": "AUTOCOMMIT", "reads": "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"},
}
"""SQL that begins a read transaction, by dialect. With `AUTOCOMMIT`, the driver does not begin transactions."""
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


def database_address(url: str) -> URL:
    """Parse the URL of a database.

    Raises:
        ValueError: it is no URL, or the database is neither SQLite nor PostgreSQL.
    """
    try:
        address = make_url(url)
    except (ArgumentError, ValueError):  # the message does not quote the URL: it may contain a password
        raise ValueError(f"{_SETTING} must be {_EXAMPLES}") from None
    if address.drivername in ("postgresql", "postgres"):
        address = address.set(drivername="postgresql+psycopg")
    if address.drivername not in _DRIVERS:
        raise ValueError(f"{address.drivername} is not supported: {_SETTING} must be {_EXAMPLES}")
    return address


def new_engine(url: str) -> Engine:
    """Create an engine, and the file of a SQLite database if it does not exist. Tables are not created.

    Raises:
        ValueError: see `database_address`.
    """
    address = database_address(url)
    if address.get_backend_name() == "postgresql":
        address = address.set(query={**LOST_CONNECTION, **address.query})
    engine = create_engine(
        address,
        pool_size=POOLED,
        pool_pre_ping=address.get_backend_name() == "postgresql",  # the server may have restarted
        max_overflow=MOST_CONNECTIONS - POOLED,
        hide_parameters=True,  # messages are logged, and those of jobs are shown; values may be keys, or text of pages
        json_serializer=_json_of,
        json_deserializer=_value_of,
    )
    if engine.dialect.name == "sqlite":
        _create_privately(address.database)
        event.listen(engine, "connect", _prepare)
        engine.update_execution_options(reads="BEGIN")
    event.listen(engine, "begin", _begin)
    return engine


@contextmanager
def unchanged(url: str) -> Generator[Session | None]:
    """Open a session for reading without creating or migrating the database, or yield None if a SQLite file is missing.

    Raises:
        SQLAlchemyError, ValueError: the database cannot be opened.
    """
    address = database_address(url)
    if address.get_backend_name() == "sqlite":
        file = Path(address.database or "")
        if not file.exists():
            yield None
            return
        engine = create_engine(f"sqlite:///file:{quote(str(file.absolute()))}?mode=ro&uri=true")
    else:
        engine = new_engine(url)
    try:
        with Session(engine) as session:
            yield session
    finally:
        engine.dispose()


def _create_privately(database: str | None) -> None:
    """Create the file of a new SQLite database with mode 0600, because it will contain signing keys.

    SQLite creates its log with the same mode.
    """
    if database and not database.startswith((":memory:", "file:")):
        with suppress(OSError):  # the file exists, or connecting will report the error
            os.close(os.open(database, os.O_RDWR | os.O_CREAT | os.O_EXCL, PRIVATE_FILE))


def _json_of(value: object) -> str:
    """Serialize the value of a JSON column. Characters outside ASCII are only escaped if necessary."""
    try:
        return to_json(value, inf_nan_mode="constants").decode()
    except ValueError:  # a lone surrogate, or very deep nesting
        return json.dumps(value)


def _value_of(text: str) -> Any:
    """Parse the value of a JSON column."""
    try:
        return from_json(text)
    except ValueError:  # a lone surrogate, or very deep nesting
        return json.loads(text)


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
    # the start of a read never waits for a lock, so it can use the driver directly, in a fifth of the time
    elif "reads" in options:
        connection.connection.cursor().execute(options["reads"])
