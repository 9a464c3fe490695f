"""The database: one engine, and sessions that read a snapshot or write as if they were alone."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session, sessionmaker

from presscheck.service import (
    content_tables,
    integration_tables,
    job_tables,
    outside_tables,
    site_tables,
    team_tables,
)
from presscheck.service.migrating import migrate

Result = TypeVar("Result")

TABLES = (content_tables, integration_tables, job_tables, outside_tables, site_tables, team_tables)
"""Rooms whose import adds tables to the one metadata."""
WAIT_FOR_LOCK = 30_000
"""Milliseconds that a writer waits for another."""
PATIENCE = 30.0
"""Seconds in which a writer begins anew whenever others were faster."""
MOST_DOUBLED = 20
"""How often a writer begins anew because somebody else just wrote a row under the same key."""
_OTHERS_WERE_FASTER = frozenset({"40001", "40P01"})
"""PostgreSQL's words for a transaction that did not run as if it were alone, and for a deadlock."""
_ONE_AFTER_ANOTHER = text("LOCK TABLE alembic_version IN SHARE UPDATE EXCLUSIVE MODE")
"""Whoever begins anew waits in a line for its turn, and sees what was written until then; nobody else waits for it."""
_IS_THERE_ALREADY = "23505"
"""Its word for a row that somebody else wrote just now, or that was there all the time."""


class Database:
    """An engine with its tables made.

    `reading()` opens sessions that see one snapshot. `write` runs a piece of work as if it were alone: on SQLite a
    writer takes the lock when it begins, on PostgreSQL the database refuses what would come out otherwise, and the
    work begins anew. `writing()` opens such a session once, for work that nobody competes with.

    Args:
        url: SQLAlchemy's; ``postgresql://…`` is understood.

    Raises:
        RuntimeError: a newer presscheck wrote this database.
    """

    def __init__(self, url: str) -> None:
        self.engine = _engine(url)
        self._changing = self.engine.execution_options(**_WRITES[self.engine.dialect.name])
        try:
            migrate(self.engine.execution_options(**_STEPS[self.engine.dialect.name]))
        except BaseException:
            self.close()
            raise
        self.reading: sessionmaker[Session] = sessionmaker(
            self.engine.execution_options(**_READS[self.engine.dialect.name]), expire_on_commit=False
        )
        self.writing: sessionmaker[Session] = sessionmaker(self._changing, expire_on_commit=False)
        # SQLite has one writer and lets the others look again and again whether it is their turn, in no order
        self._turn: AbstractContextManager[Any] = nullcontext() if self.is_postgresql else threading.Lock()

    def write(self, work: Callable[[Session], Result]) -> Result:
        """Run work in a transaction; it may run several times, so it changes nothing but the database.

        Raises:
            DBAPIError: the others were faster for longer than anybody waits.
        """
        until = time.monotonic() + PATIENCE
        doubled, is_again = 0, False
        while True:
            try:
                with self._turn, self.writing.begin() as session:
                    if is_again and self.is_postgresql:
                        session.execute(_ONE_AFTER_ANOTHER)
                    return work(session)
            except DBAPIError as error:
                state = getattr(error.orig, "sqlstate", None)
                doubled += state == _IS_THERE_ALREADY
                is_passing = state in _OTHERS_WERE_FASTER or (state == _IS_THERE_ALREADY and doubled < MOST_DOUBLED)
                if not is_passing or time.monotonic() > until:
                    raise
            is_again = True

    @property
    def is_postgresql(self) -> bool:
        """Whether rows are locked one by one, and other hosts may write."""
        return self.engine.dialect.name == "postgresql"

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()


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
    # whoever waited for another process to take the steps must see them taken
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
    connection.isolation_level = None  # the driver would begin transactions of its own
    for pragma in (
        f"busy_timeout={WAIT_FOR_LOCK}",
        "journal_mode=WAL",
        "synchronous=FULL",  # an acknowledged write survives the machine, not only the process
        "foreign_keys=ON",
    ):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get("writes") else "BEGIN")
