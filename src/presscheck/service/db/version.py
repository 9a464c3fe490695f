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

from presscheck.service.db.engine import Database


class Version(NamedTuple):
    """A state of the database: between two equal versions nothing was committed.

    `commits` is comparable only where `connection`, the number of the connection that counted, is the same.
    """

    connection: int
    commits: int | bytes


_log = logging.getLogger("presscheck.service")
PAUSE = 1.0
"""Seconds until a connection that failed is opened again, and most that a query may take."""


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
    """Reads the version of a PostgreSQL database on a connection of its own, which belongs to one event loop.

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
        """The version now; None if the database does not say at once."""
        if time.monotonic() < self._not_before:
            return None
        try:
            async with asyncio.timeout(PAUSE):
                if self._cursor is None or self._loop is not asyncio.get_running_loop():
                    self.close()
                    self._cursor = await self._open()
                await self._cursor.execute("SELECT pg_current_snapshot()::text", prepare=True)
                row = await self._cursor.fetchone()
        except (self._dialect.loaded_dbapi.Error, OSError) as error:  # a timeout is an OSError
            _log.info("No answers are kept: %s", error or "the database does not respond")
            self.close()
            self._not_before = time.monotonic() + PAUSE
            return None
        return Version(self._number, row[0].encode())

    def close(self) -> None:
        """Closes the connection; the next call opens another, whose versions are not those of the former."""
        cursor, self._cursor = self._cursor, None
        if cursor is not None:
            cursor.connection.pgconn.finish()  # the loop of the connection may have ended

    async def _open(self) -> Any:
        self._number += 1
        self._loop = asyncio.get_running_loop()
        _, options = self._dialect.create_connect_args(self._url)
        connection = await self._dialect.loaded_dbapi.AsyncConnection.connect(**options, autocommit=True)
        return connection.cursor()


class CurrentVersion:
    """The version of a database of either kind.

    Each caller gets a version that was read after the call. PostgreSQL is asked once for all that wait.

    Args:
        database: the database.
    """

    def __init__(self, database: Database) -> None:
        self._of = SnapshotReader(database) if database.is_postgresql else VersionReader(database)
        self._under_way: asyncio.Task[Version | None] | None = None
        self._next: asyncio.Task[Version | None] | None = None

    async def current(self) -> Version | None:
        """The version now; None if the database has none, or does not say."""
        if isinstance(self._of, VersionReader):
            return self._of.current()
        if self._next is None or self._next.get_loop() is not asyncio.get_running_loop():
            self._next = asyncio.create_task(self._ask(self._of, self._under_way))
        return await asyncio.shield(self._next)

    async def _ask(self, reader: SnapshotReader, before: asyncio.Task[Version | None] | None) -> Version | None:
        """Reads the version once the current read has ended; callers that wait meanwhile share the result."""
        if before is not None and before.get_loop() is asyncio.get_running_loop():
            await asyncio.wait([before])
        self._under_way, self._next = self._next, None
        return await reader.current()

    def close(self) -> None:
        """Closes the connection; the next call opens another."""
        self._of.close()


def _path(database: Database) -> Path | None:
    url = database.engine.url
    is_file = not database.is_postgresql and url.database != ":memory:" and not url.query
    return Path(url.database) if is_file and url.database else None
