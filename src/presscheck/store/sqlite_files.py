"""SQLite files as we keep them: WAL, mode 0600 in a directory of mode 0700, patient with a second instance.

A file with another schema, or a damaged one, is set aside under a name that says when, never written over.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from presscheck.errors import StoreError
from presscheck.paths import private_directory

Statements = str | Callable[[], str]
"""Statements of SQL, or what makes them when they are needed."""
PATIENCE = 5.0
"""Seconds that one instance waits for another's transaction."""
LARGEST_LOG = 16 << 20
"""Bytes of the write-ahead log that stay on the disk once it is worked in."""


def open_file(
    path: Path, schema: str, version: int, *, durable: bool, steps: Mapping[int, Statements] | None = None
) -> tuple[sqlite3.Connection, Path | None]:
    """The file, made where it was missing, and where an unusable older one was set aside.

    Args:
        path: where it is.
        schema: the statements that make its tables.
        version: of that schema.
        durable: wait for the disk at each commit, and look for damage now.
        steps: by an older version, the statements that make the next one of it.

    Raises:
        StoreError: it cannot be opened at all, or it must be kept and a newer version wrote it.
    """
    ways: dict[int, Statements] = {0: schema, **(steps or {})}
    try:
        return _open(path, ways, version, durable), None
    except _UnusableError:
        aside = set_aside(path)
        try:
            return _open(path, ways, version, durable), aside
        except _UnusableError as error:
            raise StoreError(f"Could not recreate {path}: {error}") from None


def connect(path: Path, *, durable: bool) -> sqlite3.Connection:
    """A connection in autocommit; `durable` waits for the disk at each commit.

    Raises:
        StoreError: the file cannot be opened.
    """
    try:
        private_directory(path.parent)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        connection = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
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


def _configure(connection: sqlite3.Connection, path: Path, *, durable: bool) -> None:
    """Set the pragmas of a new connection."""
    if not durable and not path.stat().st_size:
        # pages that are free can be given back; said to a file with tables, it changes nothing but costs a write
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA journal_size_limit = {LARGEST_LOG}")
    connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")


def connect_to_look(path: Path, version: int) -> sqlite3.Connection | None:
    """A connection to a file that this person may read and not write, such as on a disk that is read-only."""
    if not _opens(path, os.O_RDONLY) or _opens(path, os.O_RDWR):
        return None
    # nobody else writes it either, and without its companions only this way opens it
    found = sqlite3.connect(f"{path.absolute().as_uri()}?immutable=1", uri=True, check_same_thread=False)
    with suppress(sqlite3.Error):
        if _version(found) == version:
            return found
    found.close()
    return None


def _opens(path: Path, how: int) -> bool:
    try:
        os.close(os.open(path, how))
    except OSError:
        return False
    return True


class _UnusableError(Exception):
    """Damaged, or of another version."""


def _open(path: Path, ways: Mapping[int, Statements], version: int, durable: bool) -> sqlite3.Connection:
    connection = connect(path, durable=durable)
    try:
        if durable and _version(connection) > version:
            # set aside, what it holds would be missing when the newer version runs again
            connection.close()
            raise StoreError(f"{path} was written by a newer version of presscheck: upgrade presscheck to open it")
        if _version(connection) != version:
            _make_current(connection, ways, version)
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


def _make_current(connection: sqlite3.Connection, ways: Mapping[int, Statements], version: int) -> None:
    """Make the schema, or bring an older one up to it, all or nothing; a second instance may have been quicker."""
    connection.execute("BEGIN IMMEDIATE")
    while (found := _version(connection)) != version:
        if found not in ways or found > version:
            connection.execute("ROLLBACK")
            raise _UnusableError(f"it has schema {found}, this version knows {version}")
        way = ways[found]
        for statement in (way if isinstance(way, str) else way()).split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {found + 1 if found else version}")
    connection.execute("COMMIT")


def _version(connection: sqlite3.Connection) -> int:
    return connection.execute("PRAGMA user_version").fetchone()[0]


def inode(path: Path) -> int:
    """Which file stands at a path now.

    Raises:
        OSError: none does.
    """
    return path.stat().st_ino


def forget_older(path: Path, aside: Path) -> None:
    """Delete what was set aside of a file before `aside`; only of what may be thrown away."""
    for older in path.parent.glob(f"{path.name}.aside-*"):
        if not older.name.startswith(aside.name):
            older.unlink(missing_ok=True)


def set_aside(path: Path) -> Path:
    """Rename a file that cannot be used, with its companions; its new name."""
    aside = path.with_name(f"{path.name}.aside-{time.strftime('%Y%m%d-%H%M%S')}")
    path.rename(aside)
    for ending in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + ending).rename(aside.with_name(aside.name + ending))
    return aside
