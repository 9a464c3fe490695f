"""The database: one engine, and sessions that read a snapshot or write one after another."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, create_engine, event
from sqlalchemy.orm import Session, sessionmaker

from presscheck.service import content_tables, site_tables, team_tables
from presscheck.service.tables import Table

TABLES = (content_tables, site_tables, team_tables)
"""Rooms whose import adds tables to the one metadata."""
WAIT_FOR_LOCK = 30_000
"""Milliseconds that a writer of SQLite waits for another."""


class Database:
    """An engine with its tables made; `reading()` and `writing()` open sessions.

    On SQLite a writer takes the lock when it begins, so that what it read is still true when it writes; elsewhere
    handlers lock the rows that they build upon.
    """

    def __init__(self, url: str) -> None:
        self.engine = create_engine(url, pool_size=20, max_overflow=30)
        if self.engine.dialect.name == "sqlite":
            event.listen(self.engine, "connect", _prepare)
            event.listen(self.engine, "begin", _begin)
        Table.metadata.create_all(self.engine)
        self.reading: sessionmaker[Session] = sessionmaker(self.engine, expire_on_commit=False)
        self.writing: sessionmaker[Session] = sessionmaker(
            self.engine.execution_options(writes=True), expire_on_commit=False
        )

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()


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
