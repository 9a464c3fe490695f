"""The version of a database, which moves with every commit, of this process and of others.

On SQLite it is a number that the database counts. On PostgreSQL it is the snapshot that a query would see now: which
transactions had ended. Every transaction that writes is named in it from its end on, so the writer moves it by its
commit alone, and no row is contended for; transactions of other databases of the server move it too.
"""

from __future__ import annotations

import asyncio
import logging
import time
from pathlib import Path
from typing import Any, NamedTuple

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from sqlalchemy.exc import SQLAlchemyError

from presscheck.service.db.engine import Database


class Version(NamedTuple):
    """A state of the database: between two equal versions nothing was committed.

    `commits` is comparable only where `connection`, the number of the connection that counted, is the same.
    """

    connection: int
    commits: int | bytes


_log = logging.getLogger("presscheck.service")
PAUSE = 1.0
"""Seconds until a connection that failed is opened again."""


class VersionReader:
    """Reads the version of a database file, in microseconds and without waiting; not for several threads at once.

    `PRAGMA data_version` counts the commits that *other* connections make, so it is asked on a connection of its own
    that never writes. Another file in the place of the database, as after a restore, has another version.

    Args:
        database: a SQLite database; one in memory has no version. For PostgreSQL see `SnapshotReader`.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._path = _path(database)
        self._connection: Any = None
        self._number = 0
        self._file: tuple[int, int] | None = None
        database.closing.callback(self.close)

    def current(self) -> Version | None:
        """The version now; None if the database has none, or does not say at once."""
        if self._path is None:
            return None
        try:
            status = self._path.stat()
            if self._file != (status.st_dev, status.st_ino):
                self.close()
                self._connection = self._open()
                # that of before: if it was replaced since, the next call sees it
                self._file = (status.st_dev, status.st_ino)
            commits: int = self._connection.execute("PRAGMA data_version").fetchall()[0][0]
        except (OSError, self._database.engine.dialect.loaded_dbapi.Error):
            self.close()
            return None
        return Version(self._number, commits)

    def close(self) -> None:
        """Closes the connection; the next call opens another, whose numbers are not those of the former."""
        if self._connection is not None:
            self._connection.close()
        self._connection = self._file = None

    def _open(self) -> Any:
        self._number += 1
        pooled = self._database.engine.raw_connection()
        connection: Any = pooled.driver_connection
        pooled.detach()  # the pool would lend it to somebody who writes
        connection.execute("PRAGMA busy_timeout=0").close()
        connection.execute("PRAGMA query_only=ON").close()
        return connection


class SnapshotReader:
    """Reads the version of a PostgreSQL database on a connection of its own; not for several threads at once.

    Args:
        database: a PostgreSQL database.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection: Any = None
        self._number = 0
        self._not_before = 0.0
        database.closing.callback(self.close)

    def current(self) -> Version | None:
        """The version now; None if the database does not say."""
        if time.monotonic() < self._not_before:
            return None
        try:
            if self._connection is None:
                self._connection = self._open()
            row = self._connection.execute("SELECT pg_current_snapshot()::text").fetchone()
        except (self._database.engine.dialect.loaded_dbapi.Error, SQLAlchemyError) as error:
            _log.info("No answers are kept: %s", error)
            self.close()
            self._not_before = time.monotonic() + PAUSE
            return None
        return Version(self._number, row[0].encode())

    def close(self) -> None:
        """Closes the connection; the next call opens another, whose versions are not those of the former."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _open(self) -> Any:
        self._number += 1
        pooled = self._database.engine.raw_connection()
        connection: Any = pooled.driver_connection
        pooled.detach()  # what is asked here is in no transaction
        connection.rollback()
        connection.autocommit = True
        return connection


class CurrentVersion:
    """The version of a database of either kind.

    Each caller gets a version that was read after the call. On PostgreSQL a thread reads it, once for all that wait.

    Args:
        database: the database.
    """

    def __init__(self, database: Database) -> None:
        self._of = SnapshotReader(database) if database.is_postgresql else VersionReader(database)
        self._thread = CapacityLimiter(1)
        self._under_way: asyncio.Task[Version | None] | None = None
        self._next: asyncio.Task[Version | None] | None = None

    async def current(self) -> Version | None:
        """The version now; None if the database has none, or does not say."""
        if isinstance(self._of, VersionReader):
            return self._of.current()
        if self._next is None or self._next.get_loop() is not asyncio.get_running_loop():
            self._next = asyncio.create_task(self._ask(self._under_way))
        return await asyncio.shield(self._next)

    async def _ask(self, before: asyncio.Task[Version | None] | None) -> Version | None:
        """Reads the version once the current read has ended; callers that wait meanwhile share the result."""
        if before is not None and before.get_loop() is asyncio.get_running_loop():
            await asyncio.wait([before])
        self._under_way, self._next = self._next, None
        return await run_sync(self._of.current, limiter=self._thread)

    def close(self) -> None:
        """Closes the connection; the next call opens another."""
        self._of.close()


def _path(database: Database) -> Path | None:
    url = database.engine.url
    is_file = not database.is_postgresql and url.database != ":memory:" and not url.query
    return Path(url.database) if is_file and url.database else None
