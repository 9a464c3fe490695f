"""SQLite files as we keep them: WAL, mode 0600 in a directory of mode 0700, patient with a second instance.

A file with another schema, or a damaged one, is set aside under a name that says when, never written over.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import suppress
from pathlib import Path

from presscheck.errors import StoreError
from presscheck.paths import private_directory

PATIENCE = 5.0
"""Seconds that one instance waits for another's transaction."""


def open_file(path: Path, schema: str, version: int, *, durable: bool) -> tuple[sqlite3.Connection, Path | None]:
    """The file, made where it was missing, and where an unusable older one was set aside.

    Args:
        path: where it is.
        schema: the statements that make its tables.
        version: of that schema.
        durable: wait for the disk at each commit, and look for damage now.

    Raises:
        StoreError: it cannot be opened at all.
    """
    try:
        return _open(path, schema, version, durable), None
    except _UnusableError:
        aside = set_aside(path)
        try:
            return _open(path, schema, version, durable), aside
        except _UnusableError as error:
            raise StoreError(f"{path} cannot be made anew: {error}") from None


def connect(path: Path, *, durable: bool) -> sqlite3.Connection:
    """A connection in autocommit; `durable` waits for the disk at each commit.

    Raises:
        StoreError: the file cannot be opened.
    """
    try:
        private_directory(path.parent)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        found = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
        found.execute("PRAGMA journal_mode = WAL")
        found.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
    except (OSError, sqlite3.OperationalError) as error:
        raise StoreError(f"{path} cannot be opened: {error}") from None
    except sqlite3.DatabaseError as error:
        raise _UnusableError(str(error)) from None
    return found


class _UnusableError(Exception):
    """Damaged, or of another version."""


def _open(path: Path, schema: str, version: int, durable: bool) -> sqlite3.Connection:
    connection = connect(path, durable=durable)
    try:
        found = connection.execute("PRAGMA user_version").fetchone()[0]
        if found not in (0, version):
            raise _UnusableError(f"it has schema {found}, this version knows {version}")
        if found == 0:
            connection.executescript(f"BEGIN IMMEDIATE; {schema}; PRAGMA user_version = {version}; COMMIT")
        if durable and connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            raise _UnusableError("it is damaged")
    except sqlite3.OperationalError as error:
        connection.close()
        raise StoreError(f"{path} cannot be used: {error}") from None
    except sqlite3.DatabaseError as error:
        connection.close()
        raise _UnusableError(str(error)) from None
    except _UnusableError:
        connection.close()
        raise
    return connection


def set_aside(path: Path) -> Path:
    """Rename a file that cannot be used, with its companions; its new name."""
    aside = path.with_name(f"{path.name}.aside-{time.strftime('%Y%m%d-%H%M%S')}")
    path.rename(aside)
    for ending in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + ending).rename(aside.with_name(aside.name + ending))
    return aside
