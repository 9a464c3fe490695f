"""Listing and clearing of the cache files of a directory, even while an app has them open."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from presscheck.errors import StoreError
from presscheck.store.cache import VERSION, transaction
from presscheck.store.sqlite_files import BUSY_TIMEOUT

_COMPANIONS = ("", "-wal", "-shm")


@dataclass(frozen=True)
class CacheFile:
    """A cache file.

    Attributes:
        bytes: the size, including the write-ahead log.
        answers: the number of responses; None if this version cannot read the file.
        things: the number of resources; None if this version cannot read the file.
    """

    path: Path
    bytes: int
    answers: int | None
    things: int | None


def caches_in(directory: Path) -> list[CacheFile]:
    """Return all cache files, including damaged files that were moved aside."""
    return [_describe(path) for path in sorted([*directory.glob("*.sqlite"), *_set_aside_in(directory)])]


def clear(directory: Path) -> int:
    """Empty all caches and delete files that were moved aside. Return the number of freed bytes.

    Raises:
        StoreError: another program has locked a file.
    """
    before = _bytes_of(directory)
    for path in _set_aside_in(directory):
        _delete(path)
    for path in directory.glob("*.sqlite"):
        try:
            _empty(path)
        except sqlite3.OperationalError as error:
            raise StoreError(f"{path} is in use: {error}") from None
        except sqlite3.DatabaseError:
            _delete(path)
    return before - _bytes_of(directory)


def _empty(path: Path) -> None:
    """Empty a file in place, so that an app that has it open can continue. Delete a file of another version."""
    with closing(sqlite3.connect(path, timeout=BUSY_TIMEOUT, isolation_level=None)) as database:
        if database.execute("PRAGMA user_version").fetchone()[0] != VERSION:
            _delete(path)
            return
        with transaction(database) as write:
            for table in ("items", "answers", "resources"):
                write.execute(f"DELETE FROM {table}")  # noqa: S608
        database.execute("VACUUM")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _describe(path: Path) -> CacheFile:
    size = sum(file.stat().st_size for ending in _COMPANIONS if (file := path.with_name(path.name + ending)).exists())
    counts: list[int | None] = [None, None]
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
        if database.execute("PRAGMA user_version").fetchone()[0] == VERSION:
            counts = [
                database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608
                for table in ("answers", "resources")
            ]
    return CacheFile(path, size, *counts)


def _set_aside_in(directory: Path) -> list[Path]:
    return [path for path in directory.glob("*.sqlite.aside-*") if not path.name.endswith(("-wal", "-shm"))]


def _delete(path: Path) -> None:
    for ending in _COMPANIONS:
        path.with_name(path.name + ending).unlink(missing_ok=True)


def _bytes_of(directory: Path) -> int:
    return sum(file.bytes for file in caches_in(directory))
