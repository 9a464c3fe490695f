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

from starlette.concurrency import run_in_threadpool

from presscheck.service.db.engine import Database


class Version(NamedTuple):
    """A state of the database: between two equal versions nothing was committed.

    `commits` is comparable only where `connection`, the number of the connection that counted, is the same.
    """

    connection: int
    commits: int | bytes


_log = logging.getLogger("presscheck.service")
_NAME = b"presscheck_version"
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
        database.on_close(self.close)

    @property
    def is_usable(self) -> bool:
        """Whether the database has a version."""
        return self._path is not None

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
                self._file = (
                    status.st_dev,
                    status.st_ino,
                )
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
    """Reads the version of a PostgreSQL database on a connection of its own, while the event loop does other things.

    Whoever asks gets a snapshot that was taken after they asked; those who ask while one is under way share the next.

    Args:
        database: a PostgreSQL database.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._number = 0
        self._socket = -1
        self._is_opening = False
        self._not_before = 0.0
        self._asked: list[asyncio.Future[Version | None]] = []
        self._next: list[asyncio.Future[Version | None]] = []
        self._found: Version | None = None
        database.on_close(self.close)

    async def current(self) -> Version | None:
        """The version now; None if the database does not say."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self.close()
        if self._connection is None and not await self._opened(loop):
            return None
        answer: asyncio.Future[Version | None] = loop.create_future()
        if self._asked:
            self._next.append(answer)
        else:
            self._asked.append(answer)
            self._ask()
        return await answer

    def close(self) -> None:
        """Closes the connection; the next call opens another, whose versions are not those of the former."""
        connection, self._connection = self._connection, None
        waiting, self._asked, self._next, self._found = [*self._asked, *self._next], [], [], None
        loop, self._loop = self._loop, None
        if connection is not None:
            if loop is not None and not loop.is_closed():
                loop.remove_reader(self._socket)  # a lost connection does not know it
            connection.close()
        _tell(waiting, None)

    async def _opened(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Opens the connection; whether there is one."""
        if self._is_opening or time.monotonic() < self._not_before:
            return False
        self._is_opening, connection = True, None
        try:
            connection = await run_in_threadpool(self._open)
            self._socket = int(connection.pgconn.socket)
            loop.add_reader(self._socket, self._received)
        except (self._database.engine.dialect.loaded_dbapi.Error, NotImplementedError) as error:
            # NotImplementedError: an event loop without `add_reader`, such as the usual one of Windows
            if connection is not None:
                connection.close()
            _log.info("No answers are kept: %s", str(error) or "this event loop does not watch sockets")
            self._not_before = time.monotonic() + PAUSE
            return False
        finally:
            self._is_opening = False
        self._connection, self._loop = connection, loop
        self._number += 1
        return True

    def _open(self) -> Any:
        pooled = self._database.engine.raw_connection()
        connection: Any = pooled.driver_connection
        pooled.detach()  # what is asked here is in no transaction
        connection.rollback()
        connection.autocommit = True
        result = connection.pgconn.prepare(_NAME, b"SELECT pg_current_snapshot()::text")
        if result.error_message:
            connection.close()
            failed = self._database.engine.dialect.loaded_dbapi.OperationalError
            raise failed(result.error_message.decode("utf-8", "replace"))
        connection.pgconn.nonblocking = 1
        return connection

    def _ask(self) -> None:
        try:
            self._connection.pgconn.send_query_prepared(_NAME, None)
            self._connection.pgconn.flush()
        except self._database.engine.dialect.loaded_dbapi.Error:
            self.close()

    def _received(self) -> None:
        """Called by the event loop when the database has sent something."""
        try:
            pgconn = self._connection.pgconn
            pgconn.consume_input()
            while not pgconn.is_busy():
                result = pgconn.get_result()
                if result is None:
                    break
                value = result.get_value(0, 0) if result.ntuples else None
                self._found = Version(self._number, value) if value else None
            else:
                return  # the rest follows
        except self._database.engine.dialect.loaded_dbapi.Error:
            self.close()
            return
        asked, self._asked, self._next = self._asked, self._next, []
        version, self._found = self._found, None
        if self._asked:
            self._ask()
        _tell(asked, version)


class CurrentVersion:
    """The version of a database of either kind.

    Args:
        database: the database.
    """

    def __init__(self, database: Database) -> None:
        self._of = SnapshotReader(database) if database.is_postgresql else VersionReader(database)

    async def current(self) -> Version | None:
        """The version now; None if the database has none, or does not say."""
        return await self._of.current() if isinstance(self._of, SnapshotReader) else self._of.current()

    def close(self) -> None:
        """Closes the connection; the next call opens another."""
        self._of.close()


def _tell(waiting: list[asyncio.Future[Version | None]], version: Version | None) -> None:
    for answer in waiting:
        if not answer.done():
            answer.set_result(version)


def _path(database: Database) -> Path | None:
    url = database.engine.url
    is_file = not database.is_postgresql and url.database != ":memory:" and not url.query
    return Path(url.database) if is_file and url.database else None
