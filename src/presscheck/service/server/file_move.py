"""Moves the files of a service to another location: all are copied and verified, then the database is switched.

Files are deleted only after the switch, and only on request. The next move continues an interrupted one, and only
verifies files that were copied already. The service can run during a move; processes that were started before it can
read files, but refuse new files until they are restarted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy.orm import Session

from presscheck.errors import ConfigurationError
from presscheck.service.blobs.location import (
    LOCATION,
    change_location,
    former_location,
    open_store,
    save_location,
    store_of,
)
from presscheck.service.blobs.store import BlobStore, FilesUnavailable, id_of
from presscheck.service.db.engine import Database
from presscheck.service.models.jobs import SettingRow

AT_ONCE = 8
"""Number of files that are copied in parallel."""
ROUNDS = 5
"""Number of rounds that copy new files while the service may store more; then a last round locks out writers."""
MOST_NAMED = 3
"""Number of damaged files that are listed in an error."""


@dataclass
class Moved:
    """The result of a move.

    Attributes:
        source: the former location; None if the files were in the new location before.
        verified: the ids of the files whose bytes in the new location were verified.
        copied: the number of verified files that this move copied.
        deleted: the number of files deleted from the former location.
    """

    source: str | None = None
    verified: set[str] = field(default_factory=set[str])
    copied: int = 0
    deleted: int = 0


def move_files(database: Database, data: Path, location: str, *, delete_source: bool = False) -> Moved:
    """Move the files of a database.

    Args:
        database: the database.
        data: the data directory, for files on disk.
        location: the new location.
        delete_source: whether to delete the files from the former location afterwards, including files of an earlier
            move.

    Raises:
        ConfigurationError: the move is not complete, but no file is lost; the message is the reason.
    """
    target = open_store(location, data)
    with database.snapshot() as session:
        source = store_of(session, None, data)
        former = former_location(session)
    try:
        if source.location != target.location:
            return _Move(database, source, target).run(delete_source=delete_source)
        if former is None or former == target.location or not delete_source:
            return Moved()
        return _Move(database, open_store(former, data), target).delete()
    except FilesUnavailable as error:
        raise ConfigurationError(f"{error}; repeat the command to continue, no file is lost") from None


class _Move:
    """A move of all files from one store to another."""

    def __init__(self, database: Database, source: BlobStore, target: BlobStore) -> None:
        self._database, self._source, self._target = database, source, target
        self._moved = Moved(source.location)

    def run(self, *, delete_source: bool) -> Moved:
        self._target.check()
        # creates the row that transactions lock
        self._database.write(lambda session: save_location(session, self._source.location))
        for number in range(ROUNDS + 1):
            self._copy(self._missing())
            if self._database.write(lambda session, is_last=number == ROUNDS: self._switch(session, copy=is_last)):
                break
        return self.delete() if delete_source else self._moved

    def delete(self) -> Moved:
        """Delete the files from the former location, after verifying all of them in the new location."""
        self._copy(self._missing())
        for content_id in list(self._source.ids()):
            if content_id in self._moved.verified:
                self._source.remove(content_id)
                self._moved.deleted += 1
        self._database.write(lambda session: change_location(session, self._target.location, None))
        return self._moved

    def _missing(self) -> list[str]:
        return [content_id for content_id in self._source.ids() if content_id not in self._moved.verified]

    def _copy(self, content_ids: Collection[str]) -> None:
        """Copy files and verify them in the new location.

        Raises:
            ConfigurationError: files in the former location are damaged or missing.
        """
        existing_ids = set(self._target.ids()) if content_ids else set[str]()
        with ThreadPoolExecutor(AT_ONCE) as threads:
            results = list(
                threads.map(self._copy_one, content_ids, (content_id in existing_ids for content_id in content_ids))
            )
        _require_intact(
            self._source,
            [content_id for content_id, is_intact in zip(content_ids, results, strict=True) if not is_intact],
        )
        self._moved.verified.update(content_ids)
        self._moved.copied += len(set(content_ids) - existing_ids)

    def _copy_one(self, content_id: str, is_there: bool) -> bool:
        """Copy a file unless it is stored already.

        Return False if the file is missing or its bytes do not match its id.
        """
        if is_there and _is_stored(self._target, content_id):
            return True
        content = self._source.read(content_id)
        if content is None or id_of(content) != content_id:
            return False
        self._target.put(content)
        if not _is_stored(self._target, content_id):
            raise FilesUnavailable(f"{self._target.location}: {content_id} was stored, but its bytes differ")
        return True

    def _switch(self, session: Session, *, copy: bool) -> bool:
        """Switch the database to the new location, and return whether it was switched.

        If files were added since the last copy, they are copied first; without `copy`, nothing is switched.
        Transactions that store files hold a lock on the location until they end, so no file is overlooked.
        """
        row = session.get(SettingRow, LOCATION, with_for_update=True, populate_existing=True)
        if row is None or row.value != self._source.location:
            raise ConfigurationError("the files were moved by another command since this one started")
        missing = self._missing()
        if missing and not copy:
            return False
        self._copy(missing)
        change_location(session, self._target.location, self._source.location)
        return True


def _is_stored(store: BlobStore, content_id: str) -> bool:
    content = store.read(content_id)
    return content is not None and id_of(content) == content_id


def _require_intact(store: BlobStore, damaged: Iterable[str]) -> None:
    names = sorted(damaged)
    if names:
        listed = ", ".join(names[:MOST_NAMED]) + (", …" if len(names) > MOST_NAMED else "")
        raise ConfigurationError(
            f"nothing was changed: damaged files in {store.location}, whose bytes do not match their names: {listed}"
        )
