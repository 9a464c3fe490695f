"""Opening of SQLite files: WAL, mode 0600 in a directory of mode 0700, a busy time-out for other instances.

A file that is damaged or has an unknown schema is renamed to a name with the time, never overwritten.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from errno import EACCES
from pathlib import Path

from presscheck.errors import StoreError
from presscheck.paths import private_directory

Statements = str | Callable[[], str]
"""SQL statements, or a function that returns them."""
BUSY_TIMEOUT = 5.0
"""Seconds that an instance waits for the transaction of another instance."""
MAX_LOG_SIZE = 16 << 20
"""Maximum bytes of the write-ahead log after a checkpoint."""
CACHE_KIB = 128
"""KiB of pages that a connection caches; the operating system caches the file anyway."""


def open_file(
    path: Path, schema: str, version: int, *, durable: bool, steps: Mapping[int, Statements] | None = None
) -> tuple[sqlite3.Connection, Path | None]:
    """Open a file, and create or migrate it if necessary.

    Args:
        path: the file.
        schema: the statements that create its tables.
        version: the version of the schema.
        durable: wait for the disk at each commit, check the file for damage, and never replace a newer version.
        steps: the statements that migrate each older version to the next.

    Returns:
        The connection, and the new path of an unusable file that was moved aside.

    Raises:
        StoreError: the file cannot be opened, or it is durable and was written by a newer version.
    """
    migrations: dict[int, Statements] = {0: schema, **(steps or {})}
    try:
        return _open(path, migrations, version, durable), None
    except _UnusableError:
        aside = set_aside(path)
        try:
            return _open(path, migrations, version, durable), aside
        except _UnusableError as error:
            raise StoreError(f"Could not recreate {path}: {error}") from None


def connect(path: Path, *, durable: bool) -> sqlite3.Connection:
    """Return a connection in autocommit mode; `durable` waits for the disk at each commit.

    Raises:
        StoreError: the file cannot be opened now, is damaged, or is not a database.
    """
    try:
        private_directory(path.parent)
        _create(path)
        connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT, isolation_level=None, check_same_thread=False)
        try:
            _configure(connection, path, durable=durable)
        except BaseException:
            connection.close()
            raise
    except (OSError, sqlite3.OperationalError) as error:
        raise StoreError(f"Could not open {path}: {error}") from None
    except sqlite3.DatabaseError as error:
        raise _UnusableError(str(error)) from None
    return connection


def _create(path: Path) -> None:
    """Create an empty file with mode 0600 if the file is missing.

    The permissions of an existing file are checked without opening it: a process that closes any descriptor of a file
    loses all its POSIX locks on the file. SQLite would continue without locks, and another instance would delete the
    write-ahead log in use.

    Raises:
        OSError: the file cannot be created, read or written.
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        if not _allows(path, os.R_OK | os.W_OK):
            raise PermissionError(EACCES, os.strerror(EACCES), str(path)) from None


def _allows(path: Path, mode: int) -> bool:
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)


def _configure(connection: sqlite3.Connection, path: Path, *, durable: bool) -> None:
    if not durable and not path.stat().st_size:
        # needed to return free pages to the disk; too late for a file that has tables
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA journal_size_limit = {MAX_LOG_SIZE}")
    connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")


def connect_read_only(path: Path, version: int) -> sqlite3.Connection | None:
    """Return a connection to a file of this version that the user can only read, or None for any other file."""
    if not _allows(path, os.R_OK) or _allows(path, os.W_OK):
        return None
    # without write access to the -wal and -shm files, SQLite only opens it as immutable
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?immutable=1", uri=True, check_same_thread=False)
    with suppress(sqlite3.Error):
        if _version(connection) == version:
            return connection
    connection.close()
    return None


class _UnusableError(StoreError):
    """The file is damaged or of another version."""


def _open(path: Path, migrations: Mapping[int, Statements], version: int, durable: bool) -> sqlite3.Connection:
    connection = connect(path, durable=durable)
    try:
        if durable and _version(connection) > version:
            # if the file were moved aside, the newer version would miss its rows
            connection.close()
            raise StoreError(f"{path} was written by a newer version of presscheck: upgrade presscheck to open it")
        if _version(connection) != version:
            _make_current(connection, migrations, version)
        if durable and connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            raise _UnusableError("the file is damaged")
    except sqlite3.OperationalError as error:
        connection.close()
        raise StoreError(f"Could not use {path}: {error}") from None
    except sqlite3.DatabaseError as error:
        connection.close()
        raise _UnusableError(str(error)) from None
    except BaseException:
        connection.close()
        raise
    return connection


def _make_current(connection: sqlite3.Connection, migrations: Mapping[int, Statements], version: int) -> None:
    """Create or migrate the schema in a single transaction, unless another instance was faster."""
    connection.execute("BEGIN IMMEDIATE")
    while (current := _version(connection)) != version:
        if current not in migrations or current > version:
            connection.execute("ROLLBACK")
            raise _UnusableError(f"it has schema {current}, this version knows {version}")
        migration = migrations[current]
        for statement in (migration if isinstance(migration, str) else migration()).split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {current + 1 if current else version}")
    connection.execute("COMMIT")


def _version(connection: sqlite3.Connection) -> int:
    return connection.execute("PRAGMA user_version").fetchone()[0]


def inode(path: Path) -> int:
    """Return the inode of the file at a path; another inode means that the file was replaced.

    Raises:
        OSError: there is no file.
    """
    return path.stat().st_ino


def delete_older(path: Path, aside: Path) -> None:
    """Delete older copies of a file that were moved aside, except `aside`. Only for the deletable cache."""
    for older in path.parent.glob(f"{path.name}.aside-*"):
        if not older.name.startswith(aside.name):
            older.unlink(missing_ok=True)


def set_aside(path: Path) -> Path:
    """Rename an unusable file with its -wal and -shm files. Return the new path."""
    aside = path.with_name(f"{path.name}.aside-{time.strftime('%Y%m%d-%H%M%S')}")
    path.rename(aside)
    for ending in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + ending).rename(aside.with_name(aside.name + ending))
    return aside
