"""The version of a SQLite database: a number that moves with every commit, of this process and of others."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from presscheck.service.db.engine import Database


class Version(NamedTuple):
    """A state of the database: between two equal versions nothing was committed.

    `commits` is comparable only where `connection`, the number of the connection that counted, is the same.
    """

    connection: int
    commits: int


class VersionReader:
    """Reads the version of a database file, in microseconds and without waiting; not for several threads at once.

    `PRAGMA data_version` counts the commits that *other* connections make, so it is asked on a connection of its own
    that never writes. Another file in the place of the database, as after a restore, has another version.

    Args:
        database: a SQLite database; one in memory has no version, nor has PostgreSQL.
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


def _path(database: Database) -> Path | None:
    url = database.engine.url
    is_file = not database.is_postgresql and url.database != ":memory:" and not url.query
    return Path(url.database) if is_file and url.database else None
