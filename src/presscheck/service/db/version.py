"""The version of a database, which changes with every commit of any process.

On SQLite, the version is a number that the database counts. On PostgreSQL, it is the snapshot that a query would see
now: the set of transactions that have ended. A transaction that writes changes the snapshot when it ends, so writers
update no common row and do not contend. Transactions in other databases of the server change it too.
"""

from __future__ import annotations

import asyncio
import logging
import time
from pathlib import Path
from typing import Any, NamedTuple

from presscheck.service.db.engine import Database


class Version(NamedTuple):
    """A state of the database. Between two reads of equal versions nothing was committed.

    `commits` is comparable only between versions with the same `connection`, the number of the connection that read it.
    """

    connection: int
    commits: int | bytes


_log = logging.getLogger("presscheck.service")
PAUSE = 1.0
"""Seconds before a failed connection is reopened, and timeout of the query for the version."""


class VersionReader:
    """A reader of the version of a SQLite file.

    Reading takes microseconds and waits for no locks. The reader is not thread-safe.

    `PRAGMA data_version` counts the commits of *other* connections, so it runs on a separate connection that never
    writes. If the file is replaced, as by a restore, the version changes.

    Args:
        database: a SQLite database; a database in memory has no version. For PostgreSQL see `SnapshotReader`.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._path = _path(database)
        self._connection: Any = None
        self._number = 0
        self._file: tuple[int, int] | None = None
        database.closing.callback(self.close)

    def current(self) -> Version | None:
        """Return the current version, or None if the database has none or is locked."""
        if self._path is None:
            return None
        try:
            status = self._path.stat()
            if self._file != (status.st_dev, status.st_ino):
                self.close()
                self._connection = self._open()
                # the status from before opening: if the file was replaced since, the next call notices
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
        pooled.detach()  # the pool would hand it to a writer
        connection.execute("PRAGMA busy_timeout=0").close()
        connection.execute("PRAGMA query_only=ON").close()
        return connection


class SnapshotReader:
    """A reader of the version of a PostgreSQL database, on a separate connection that belongs to one event loop.

    Args:
        database: a PostgreSQL database.
    """

    def __init__(self, database: Database) -> None:
        self._dialect, self._url = database.engine.dialect, database.engine.url
        self._cursor: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._number = 0
        self._not_before = 0.0
        database.closing.callback(self.close)

    async def current(self) -> Version | None:
        """Return the current version, or None if the database fails or does not respond within `PAUSE`.

        After a failure, the database is not asked again for `PAUSE` seconds.
        """
        if time.monotonic() < self._not_before:
            return None
        try:
            async with asyncio.timeout(PAUSE):
                if self._cursor is None or self._loop is not asyncio.get_running_loop():
                    self.close()
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
            # closes the socket only, as the event loop of the connection may have ended
            cursor.connection.pgconn.finish()

    async def _open(self) -> Any:
        self._number += 1
        self._loop = asyncio.get_running_loop()
        _, options = self._dialect.create_connect_args(self._url)
        connection = await self._dialect.loaded_dbapi.AsyncConnection.connect(**options, autocommit=True)
        return connection.cursor()


class CurrentVersion:
    """The version of a SQLite or PostgreSQL database.

    Each caller gets a version that was read after the call. On PostgreSQL, callers that wait share one query.

    Args:
        database: the database.
    """

    def __init__(self, database: Database) -> None:
        self._reader = SnapshotReader(database) if database.is_postgresql else VersionReader(database)
        self._running: asyncio.Task[Version | None] | None = None
        self._next: asyncio.Task[Version | None] | None = None

    async def current(self) -> Version | None:
        """Return the current version, or None if there is none or the database does not respond."""
        if isinstance(self._reader, VersionReader):
            return self._reader.current()
        if self._next is None or self._next.get_loop() is not asyncio.get_running_loop():
            self._next = asyncio.create_task(self._ask(self._reader, self._running))
        return await asyncio.shield(self._next)

    async def _ask(self, reader: SnapshotReader, before: asyncio.Task[Version | None] | None) -> Version | None:
        """Read the version after the current read has ended; callers that wait until then share the result."""
        if before is not None and before.get_loop() is asyncio.get_running_loop():
            await asyncio.wait([before])
        self._running, self._next = self._next, None
        return await reader.current()

    def close(self) -> None:
        """Close the connection; the next call of `current` opens another connection."""
        self._reader.close()


def _path(database: Database) -> Path | None:
    url = database.engine.url
    is_file = not database.is_postgresql and url.database != ":memory:" and not url.query
    return Path(url.database) if is_file and url.database else None
