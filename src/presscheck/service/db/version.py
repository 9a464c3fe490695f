"""The version of a database, which changes with every commit of any process.

On SQLite, the version is a counter of the database. On PostgreSQL, it is the current snapshot: the set of transactions
that have ended. Each write transaction changes the snapshot when it ends, without updating a row that others also
update, so writers do not contend. Transactions in other databases of the server change the snapshot, too.
"""

from __future__ import annotations

import asyncio
import logging
import time
from pathlib import Path
from typing import Any, NamedTuple

from presscheck.service.db.engine import Database


class Version(NamedTuple):
    """A state of the database. If two versions are equal, nothing was committed between their reads.

    `connection` is the number of the connection that read the version. `commits` is only comparable between versions of
    the same connection.
    """

    connection: int
    commits: int | bytes


_log = logging.getLogger("presscheck.service")
PAUSE = 1.0
"""Seconds before a failed connection is reopened, and timeout for reading the version."""


class SqliteVersion:
    """The version of a SQLite file. Reading it takes microseconds and waits for no locks.

    `PRAGMA data_version` counts the commits of *other* connections, so it runs on a separate connection that never
    writes. If the file is replaced, as by a restore, the version changes.

    Args:
        database: a SQLite database; a database in memory has no version.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        url = database.engine.url
        self._path = Path(url.database) if url.database and url.database != ":memory:" and not url.query else None
        self._connection: Any = None
        self._number = 0
        self._file: tuple[int, int] | None = None
        database.closing.callback(self.close)

    async def current(self) -> Version | None:
        """Return the current version, or None if the database has none or is locked."""
        if self._path is None:
            return None
        try:
            status = self._path.stat()
            if self._file != (status.st_dev, status.st_ino):
                self.close()
                self._connection = self._open()
                # the status from before the opening, so that the next call notices if the file is replaced in between
                self._file = (status.st_dev, status.st_ino)
            commits: int = self._connection.execute("PRAGMA data_version").fetchall()[0][0]
        except (OSError, self._database.engine.dialect.loaded_dbapi.Error):
            self.close()
            return None
        return Version(self._number, commits)

    def close(self) -> None:
        """Close the connection.

        The next call opens another connection, whose versions differ from all earlier versions.
        """
        if self._connection is not None:
            self._connection.close()
        self._connection = self._file = None

    def _open(self) -> Any:
        self._number += 1
        pooled = self._database.engine.raw_connection()
        connection: Any = pooled.driver_connection
        pooled.detach()  # so that the pool never gives it to a writer
        connection.execute("PRAGMA busy_timeout=0").close()
        connection.execute("PRAGMA query_only=ON").close()
        return connection


class PostgresqlVersion:
    """The version of a PostgreSQL database, read by a separate connection that belongs to one event loop.

    Args:
        database: a PostgreSQL database.
    """

    def __init__(self, database: Database) -> None:
        self._dialect, self._url = database.engine.dialect, database.engine.url
        self._cursor: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = asyncio.Lock()
        self._number = 0
        self._not_before = 0.0
        self._version: Version | None = None
        self._began = 0.0
        """The time at which the query for `_version` was sent."""
        database.closing.callback(self.close)

    async def current(self) -> Version | None:
        """Return a version that was read after this call, or None if the database fails or does not respond.

        Calls that wait for a running query share the next one.
        """
        called = time.monotonic()
        if self._loop is not asyncio.get_running_loop():
            self.close()
            self._loop, self._lock = asyncio.get_running_loop(), asyncio.Lock()
        async with self._lock:
            if self._began <= called:
                began = time.monotonic()
                self._version, self._began = await self._read(), began
            return self._version

    async def _read(self) -> Version | None:
        """Read the version within `PAUSE` seconds. After a failure, return None for `PAUSE` seconds without a query."""
        if time.monotonic() < self._not_before:
            return None
        try:
            async with asyncio.timeout(PAUSE):
                if self._cursor is None:
                    self._cursor = await self._open()
                cursor = self._cursor  # `close` may reset the attribute during the query, which then fails
                await cursor.execute("SELECT pg_current_snapshot()::text", prepare=True)
                row = await cursor.fetchone()
        except (self._dialect.loaded_dbapi.Error, OSError) as error:  # a timeout is an OSError
            _log.info("No answers are kept: %s", error or "the database does not respond")
            self.close()
            self._not_before = time.monotonic() + PAUSE
            return None
        return Version(self._number, row[0].encode())

    def close(self) -> None:
        """Close the connection.

        The next call opens another connection, whose versions differ from all earlier versions.
        """
        cursor, self._cursor = self._cursor, None
        if cursor is not None:
            # only closes the socket, because the event loop of the connection may have ended
            cursor.connection.pgconn.finish()

    async def _open(self) -> Any:
        self._number += 1
        _, options = self._dialect.create_connect_args(self._url)
        connection = await self._dialect.loaded_dbapi.AsyncConnection.connect(**options, autocommit=True)
        return connection.cursor()


CurrentVersion = SqliteVersion | PostgresqlVersion
"""A reader of the version of a database."""


def current_version(database: Database) -> CurrentVersion:
    """Return the reader of the version of a database."""
    return PostgresqlVersion(database) if database.is_postgresql else SqliteVersion(database)
