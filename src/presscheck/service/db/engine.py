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
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import cache, lru_cache
from operator import itemgetter
from typing import Any, NoReturn, TypeVar, cast

from pydantic_core import to_json
from sqlalchemy import (
    Connection,
    Engine,
    Executable,
    Insert,
    Select,
    Table,
    Update,
    bindparam,
    create_engine,
    event,
    insert,
    make_url,
    select,
    update,
)
from sqlalchemy.engine.result import ScalarResult
from sqlalchemy.exc import DBAPIError, NoResultFound
from sqlalchemy.orm import Session, class_mapper, make_transient_to_detached, sessionmaker
from sqlalchemy.orm.attributes import set_committed_value
from sqlalchemy.orm.util import identity_key
from sqlalchemy.pool import QueuePool
from typing_extensions import override

from presscheck.paths import PRIVATE_FILE
from presscheck.service.db.bounded_cache import BoundedCache, CacheSizes, PendingCache
from presscheck.service.db.migrate import migrate
from presscheck.service.db.prepared_statements import (
    MOST_PREPARED,
    database_error,
    execute,
    execute_plainly,
    plain_rows,
    read_json,
    send_waiting,
)
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
POOLED, MOST_CONNECTIONS = 10, 60
"""Connections that stay open at rest, and most that are open at once, with those that are kept for reads."""
MOST_READERS, MOST_LOOKUPS = POOLED, 4
"""Most connections that are kept for the next reads, and for the next looks at who asks."""


class _ReadValues(ScalarResult[Any]):
    """Values that are all read already; the result of SQLAlchemy takes each through several functions."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = values

    @override
    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    @override
    def all(self) -> Sequence[Any]:
        return self._values

    @override
    def first(self) -> Any:
        """The first one; None if there is none."""
        return self._values[0] if self._values else None


class ReadOnlySession(Session):
    """A session of one transaction that only reads.

    Rows of one mapped class, by `get`, `scalar` and `scalars`, are instances that no session knows: they are what was
    read, are never expired or read again, and setting an attribute of theirs is an error. Their class is a subclass of
    the mapped one. As in any session, a row that is read twice is one object. Statements of several classes are read as
    in any other session.

    A statement that is given parameters must have been built once, see `named_rows`.

    Args:
        connection: the connection; its transaction has started.
        info: what is to be in `info`.
    """

    def __init__(self, connection: Connection, info: dict[Any, Any]) -> None:
        super().__init__(connection, autoflush=False, expire_on_commit=False, info=info)
        self._connection = connection
        self._rows: dict[tuple[type[Any], Any], Any] = {}

    @override
    def connection(self, *_given: Any, **_options: Any) -> Connection:
        return self._connection

    @override
    def close(self) -> None:
        """Closes it, if it read anything as any other session does; else there is nothing to close."""
        if self.in_transaction():
            super().close()

    @override
    def flush(self, objects: Any = None) -> None:
        """Does nothing: nothing is written."""

    @override
    def add(self, instance: object, *_given: Any, **_options: Any) -> NoReturn:
        """Refuses a new row.

        Raises:
            TypeError: always.
        """
        raise TypeError("This session only reads: write in Database.write, or from Context.afterwards.")

    @override
    def get(self, entity: Any, ident: Any, **options: Any) -> Any:
        """A row by its primary key; None if it does not exist."""
        if options:
            return super().get(entity, ident, **options)
        key = (entity, ident)
        if key not in self._rows:
            statement, names = _by_key(entity)
            parts = cast("tuple[Any, ...]", ident) if isinstance(ident, tuple) else (ident,)
            values = dict(zip(names, parts, strict=True))
            found = plain_rows(self._connection, statement, values)
            if not found:
                return None
            self._rows[key] = _maker(entity)(found[0])
        return self._rows[key]

    def know(self, entity: type[Any], columns: Sequence[Any]) -> None:
        """Takes the columns of a row that was read with something else, so that `get` needs no statement.

        Columns without a key are those of a row that does not exist.
        """
        key = _key_of(entity)(columns)
        if key is not None:
            self._rows.setdefault((entity, key), _maker(entity)(columns))

    @override
    def get_one(self, entity: Any, ident: Any, **options: Any) -> Any:
        """A row by its primary key.

        Raises:
            NoResultFound: it does not exist.
        """
        found = self.get(entity, ident, **options)
        if found is None:
            raise NoResultFound(f"No {entity.__name__} has the key {ident!r}.")
        return found

    @override
    def scalars(self, statement: Any, params: Any = None, **options: Any) -> ScalarResult[Any]:
        if options or not isinstance(statement, Select):
            return super().scalars(statement, params, **options)
        values = self._values(cast("Select[Any]", statement), params)
        if values is None:
            return super().scalars(cast("Executable", statement), params)
        return _ReadValues(values)

    @override
    def scalar(self, statement: Any, params: Any = None, **options: Any) -> Any:
        """The first column of the first row, or its instance; None if there is no row."""
        if options or not isinstance(statement, Select):
            return super().scalar(statement, params, **options)
        values = self._values(cast("Select[Any]", statement), params)
        if values is None:
            return super().scalar(cast("Executable", statement), params)
        return next(iter(values), None)

    def _values(self, statement: Select[Any], params: Mapping[str, Any] | None) -> list[Any] | None:
        """The first column of all rows, or the instances; None if the statement is of several classes."""
        if params is None:
            is_several, entity = _selected(statement)
            found = () if is_several else self._connection.execute(statement).all()
        else:
            is_several, entity = _kept_selected(statement)
            found = () if is_several else plain_rows(self._connection, statement, params)
        if is_several:
            return None
        if entity is None:
            return [row[0] for row in found]
        key_of, make, known = _key_of(entity), _maker(entity), self._rows
        return [known.setdefault((entity, key_of(row)), make(row)) for row in found]


def _selected(statement: Select[Any]) -> tuple[bool, Any]:
    """Whether a statement is of mapped classes besides another or a column; and the class, if it is of one."""
    described = statement.column_descriptions
    classes = [each["expr"] for each in described if each["expr"] is each.get("entity")]  # None of statements of tables
    is_several = len(classes) > 1 or (bool(classes) and (len(described) > 1 or described[0].get("aliased", False)))
    return is_several, classes[0] if classes else None


_kept_selected = lru_cache(maxsize=MOST_PREPARED)(_selected)


@cache
def _by_key(entity: type[Any]) -> tuple[Select[Any], tuple[str, ...]]:
    """The statement that selects a row by its primary key, and the parameters of that."""
    table: Table = entity.__table__
    keys = [*table.primary_key.columns]
    conditions = [column == bindparam(column.key) for column in keys]
    return select(*table.columns).where(*conditions), tuple(column.key for column in keys)  # pyrefly: ignore[bad-return]


@cache
def _key_of(entity: type[Any]) -> Callable[[Sequence[Any]], Any]:
    """Takes the primary key out of the columns of a row."""
    columns = _attributes(entity)
    return itemgetter(*(columns.index(column.key) for column in entity.__table__.primary_key.columns))


@cache
def _attributes(entity: type[Any]) -> tuple[str, ...]:
    """The attributes of a mapped class, which have the names of its columns, in their order."""
    return tuple(column.key for column in entity.__table__.columns)


@cache
def _plain(entity: type[Any]) -> type[Any]:
    """A subclass without mapping, so that reading an attribute is not a call of SQLAlchemy."""

    def refuse(_self: object, name: str, _value: object) -> NoReturn:
        raise TypeError(f"{entity.__name__}.{name} was read in a session that only reads.")

    attributes = dict.fromkeys(_attributes(entity))
    return type(entity.__name__, (entity,), {"__abstract__": True, "__setattr__": refuse, **attributes})


@cache
def _maker(entity: type[Any]) -> Callable[[Sequence[Any]], Any]:
    """Makes an instance of the columns of a row, in their order."""
    plain, attributes, create = _plain(entity), _attributes(entity), object.__new__

    def make(row: Sequence[Any]) -> Any:
        instance = create(plain)
        instance.__dict__.update(zip(attributes, row, strict=True))
        return instance

    return make


def attach_row(session: Session, entity: type[Row], columns: Sequence[Any]) -> Row:
    """The instance of a row in a session, of its columns, which were read or written by a statement.

    As if the session had read it, which takes four times as long; one that it has already stays as it is.
    """
    if isinstance(session, ReadOnlySession):
        session.know(entity, columns)
        return session.get_one(entity, _key_of(entity)(columns))
    key = identity_key(entity, _key_of(entity)(columns))
    known: Row | None = session.identity_map.get(key)
    if known is not None:
        return known
    instance: Row = class_mapper(entity).class_manager.new_instance()
    instance.__dict__.update(zip(_attributes(entity), columns, strict=True))
    make_transient_to_detached(instance)
    session.add(instance)
    return instance


def add_row(session: Session, entity: type[Row], **values: Any) -> Row:
    """Adds a row by a prepared statement; columns that are not given are null."""
    columns = {name: values.get(name) for name in _attributes(entity)}
    execute(session.connection(), _insertion(entity), columns)
    return attach_row(session, entity, [*columns.values()])


def change_row(session: Session, row: Any, **values: Any) -> None:
    """Changes columns of a row that is stored, by a prepared statement, and its instance.

    What a session would do with each change of an instance takes three times as long.
    """
    entity = cast("type[Any]", type(row))
    statement, keys = _change(entity, tuple(values))
    given = {f"new_{name}": value for name, value in values.items()}
    execute(session.connection(), statement, given | {f"key_{name}": getattr(row, name) for name in keys})
    for name, value in values.items():
        set_committed_value(row, name, value)


@cache
def _insertion(entity: type[Any]) -> Insert:
    return insert(entity.__table__)


@cache
def _change(entity: type[Any], names: tuple[str, ...]) -> tuple[Update, tuple[str, ...]]:
    """The statement that changes some columns of a row, and the names of its key."""
    table: Table = entity.__table__
    keys = tuple(column.key for column in table.primary_key.columns)
    changes = {name: bindparam(f"new_{name}", type_=table.c[name].type) for name in names}
    conditions = [table.c[name] == bindparam(f"key_{name}") for name in keys]
    return update(table).where(*conditions).values(changes), keys


class KeptConnections:
    """Connections at hand for the next use: to lend and return one of the pool takes as long as to read a row.

    Args:
        engine: makes them.
        most: the most that are kept.
    """

    def __init__(self, engine: Engine, most: int) -> None:
        self._engine, self._most = engine, most
        self._connections: deque[Connection] = deque()

    def take(self) -> tuple[Connection, bool]:
        """A connection, and whether it was kept: then it may have been lost meanwhile."""
        connection = self._kept()
        return (connection, True) if connection else (self._engine.connect(), False)

    def keep(self, connection: Connection) -> None:
        """Keeps a connection for the next use, or returns it to the pool."""
        if len(self._connections) < self._most:
            self._connections.append(connection)
        else:
            self.end(connection)

    def end(self, connection: Connection) -> bool:
        """Returns a connection to the pool, and whether it was lost; then those that are kept were lost with it."""
        is_lost = connection.invalidated
        connection.close()
        if is_lost:
            self._close_all()
        return is_lost

    def close(self) -> None:
        """Closes all, and keeps no more."""
        self._most = 0
        self._close_all()

    def _close_all(self) -> None:
        while connection := self._kept():
            connection.close()

    def _kept(self) -> Connection | None:
        try:
            return self._connections.pop()
        except IndexError:  # there is none, or other threads have them all
            return None


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
        retries: how often a transaction began again because another writer was faster.

    Raises:
        RuntimeError: the database was written by a newer presscheck.
    """

    def __init__(self, url: str, caches: CacheSizes = _CACHES) -> None:
        self.caches = caches
        self.engine = new_engine(url)
        self._closing: list[Callable[[], None]] = []
        self._kept: list[KeptConnections] = []
        self._changing = self.engine.execution_options(**_WRITES[self.engine.dialect.name])
        try:
            migrate(self.engine.execution_options(**_STEPS[self.engine.dialect.name]))
        except BaseException:
            self.close()
            raise
        self._readable = self.engine.execution_options(**_READS[self.engine.dialect.name])
        if self.is_postgresql:
            event.listen(self._readable, "begin", _begin_snapshot)
            event.listen(self._readable, "commit", _commit)
            event.listen(self._changing, "commit", _commit)
            event.listen(self._changing, "before_cursor_execute", _send_waiting)
        self._begin_read = _begin_snapshot if self.is_postgresql else _begin
        self._commit_read = _commit if self.is_postgresql else _commit_on_file
        self._immutable = BoundedCache(caches.revisions)
        self._of_readers: dict[Any, Any] = {IMMUTABLE: self._immutable}
        self.reading: sessionmaker[Session] = sessionmaker(
            self._readable, expire_on_commit=False, info=self._of_readers
        )
        self.writing: sessionmaker[Session] = sessionmaker(self._changing, expire_on_commit=False)
        # those of a database in memory belong to a thread
        is_pooled = isinstance(self.engine.pool, QueuePool)
        self._readers = KeptConnections(self._readable, MOST_READERS if is_pooled else 0)
        asking = self.engine.execution_options(isolation_level="AUTOCOMMIT")
        self._lookups = KeptConnections(asking, MOST_LOOKUPS if is_pooled else 0)
        self._kept += self._readers, self._lookups
        # SQLite has one writer; others would poll for its lock
        self._turn = nullcontext() if self.is_postgresql else threading.Lock()
        self._counting = threading.Lock()
        self.retries = 0

    @contextmanager
    def snapshot(self) -> Generator[ReadOnlySession]:
        """A session that only reads, and whose rows are plain values; a small read takes a quarter of the time.

        Its connection is that of an earlier one, if any: to lend and return it took as long as to read a row.
        """
        connection = self._begun()
        try:
            session = ReadOnlySession(connection, self._of_readers)
            try:
                yield session
            finally:
                session.close()
            self._commit_read(connection)
        except BaseException:
            self._readers.end(connection)
            raise
        if connection.in_transaction():
            self._readers.keep(connection)
        else:  # something rolled it back
            self._readers.end(connection)

    def _begun(self) -> Connection:
        """A connection in a transaction; not one that was lost while it was kept, as when the database restarts.

        To SQLAlchemy, all transactions of a kept connection are one: to begin and end one takes it longer than to read
        two rows.
        """
        while True:
            connection, was_kept = self._readers.take()
            try:
                if was_kept:
                    self._begin_read(connection)
                else:
                    connection.begin()
            except BaseException:
                if not (self._readers.end(connection) and was_kept):
                    raise
            else:
                return connection

    def lookup(self, read: Callable[[ReadOnlySession], Result]) -> Result:
        """What a function reads by a single statement, which needs no transaction: one round trip on PostgreSQL."""
        if not self.is_postgresql:
            with self.snapshot() as session:
                return read(session)
        while True:
            connection, was_kept = self._lookups.take()
            try:
                found = read(ReadOnlySession(connection, {}))
            except BaseException:
                if not (self._lookups.end(connection) and was_kept):
                    raise
            else:
                self._lookups.keep(connection)
                return found

    def write(self, work: Callable[[Session], Result]) -> Result:
        """Runs a function in a transaction. It may run several times, so it must only change the database.

        Raises:
            DBAPIError: still conflicting with other writers after all retries; see `is_busy`.
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
                with self._counting:
                    self.retries += 1
                _log.info("transaction repeated", extra={"details": {"state": state}})
            lost += 1

    def _run(self, work: Callable[[Session], Result], lost: int) -> Result:
        """Runs and commits a write once, after `lost` attempts that lost against other writers."""
        kept = PendingCache(self._immutable)
        with self.writing(info={IMMUTABLE: kept}) as session, session.begin():
            if self.is_postgresql:
                session.connection().exec_driver_sql(f"LOCK TABLE alembic_version IN {_lock(lost)} MODE")
            result = work(session)
        kept.commit()
        return result

    @property
    def is_postgresql(self) -> bool:
        """Whether rows are locked individually and other hosts may write (PostgreSQL)."""
        return self.engine.dialect.name == "postgresql"

    def on_close(self, close: Callable[[], None]) -> None:
        """Calls a function before the connections are closed: it closes one that was taken out of the pool."""
        self._closing.append(close)

    def close(self) -> None:
        """Closes all connections."""
        for kept in self._kept:
            kept.close()
        for close in self._closing:
            close()
        self.engine.dispose()


def is_busy(error: DBAPIError) -> bool:
    """Whether other writers kept a write from its turn, so that it may succeed later."""
    state = getattr(error.orig, "sqlstate", None)
    return state in _OTHERS_WERE_FASTER or getattr(error.orig, "sqlite_errorcode", 0) & 0xFF == _IS_LOCKED


def _lock(lost: int) -> str:
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


def new_engine(url: str) -> Engine:
    """An engine for a database, whose file is created if it does not exist; its tables need not exist."""
    address, driver = make_url(url), dict[str, Any]()
    if address.drivername in ("postgresql", "postgres"):
        address = address.set(drivername="postgresql+psycopg")
        # it would prepare what is executed often, and drop all of it after a failed transaction; see
        # `prepared_statements`, whose statements stay
        driver["prepare_threshold"] = None
    engine = create_engine(
        address,
        pool_size=POOLED,
        max_overflow=MOST_CONNECTIONS - POOLED,
        json_serializer=_json_of,
        json_deserializer=read_json,
        connect_args=driver,
    )
    if engine.dialect.name not in _WRITES:
        raise ValueError(f"{engine.dialect.name} is not supported: use SQLite or PostgreSQL")
    if engine.dialect.name == "sqlite":
        _create_privately(address.database)
        event.listen(engine, "connect", _prepare)
        event.listen(engine, "begin", _begin)
    return engine


def _create_privately(database: str | None) -> None:
    """Create the file of a new SQLite database with mode 0600, which its log gets too: its keys sign links."""
    if database and not database.startswith((":memory:", "file:")):
        with suppress(OSError):  # it exists, or the connection reports what is wrong
            os.close(os.open(database, os.O_RDWR | os.O_CREAT | os.O_EXCL, PRIVATE_FILE))


def _json_of(value: object) -> str:
    """A value of a JSON column as text, in a third of the time that Python's module takes."""
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


def _begin_snapshot(connection: Connection) -> None:
    # as `_READS` says; the driver would do it with the first statement, in twice the time
    execute_plainly(connection, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")


def _commit(connection: Connection) -> None:
    execute_plainly(connection, "COMMIT")  # the driver would do it in twice the time


def _commit_on_file(connection: Connection) -> None:
    driver: Any = connection.connection.dbapi_connection
    driver.commit()


def _send_waiting(connection: Connection, *_details: Any) -> None:
    send_waiting(connection)


def _begin(connection: Connection) -> None:
    # by the driver, which takes a tenth of the time of `exec_driver_sql`
    sql = "BEGIN IMMEDIATE" if connection.get_execution_options().get("writes") else "BEGIN"
    driver: Any = connection.connection.dbapi_connection
    try:
        driver.execute(sql).close()
    except connection.dialect.loaded_dbapi.Error as error:
        raise database_error(connection, sql, error) from error
