"""The location of the files of a database, on disk or in a bucket, which is stored in the database.

So all processes and commands use the same location, and none writes to the former location after a move.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from presscheck.errors import ConfigurationError
from presscheck.extras import require_extra
from presscheck.service.blobs.store import DISK, BlobStore, DiskBlobStore, FilesUnavailable
from presscheck.service.models.content import RevisionRow
from presscheck.service.models.imports import SpecRow, SpecVersionRow
from presscheck.service.models.integrations import IntegrationRow
from presscheck.service.models.jobs import SettingRow

LOCATION = "files"
"""Name of the setting with the current location."""
FORMER_LOCATION = "files_before"
"""Name of the setting with the former location, which exists until the files there are deleted."""
AT_ONCE = 500
"""Number of rows held in memory at a time."""

_BUCKET = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:/[A-Za-z0-9_=-][A-Za-z0-9._=-]*)*)/?")


def open_store(location: str, data: Path) -> BlobStore:
    """Open the store at a location, without contacting a bucket.

    Args:
        location: ``disk``, or a URL such as ``s3://bucket/prefix``.
        data: the data directory.

    Raises:
        ConfigurationError: the location is invalid.
        MissingExtra: the library for buckets is not installed.
    """
    if location == DISK:
        return DiskBlobStore(data)
    url = _BUCKET.fullmatch(location)
    if url is None:  # the message does not quote the location: it may contain a password
        raise ConfigurationError("the location of files must be disk or a URL such as s3://bucket/prefix")
    require_extra("s3")
    from presscheck.service.blobs.s3_store import S3BlobStore  # takes 240 ms to import, so only for files in a bucket

    return S3BlobStore(url[1], url[2].strip("/"))


def store_of(session: Session, location: str | None, data: Path) -> BlobStore:
    """Return the store with the files of a database.

    Args:
        session: a transaction.
        location: the location that the operator requires, or None for the location in the database.
        data: the data directory.

    Raises:
        ConfigurationError: the files are in another location, or the location is invalid.
    """
    row = session.get(SettingRow, LOCATION)
    present = row.value if row else DISK
    store = open_store(location or present, data)
    if store.location != present and (row or next(referenced_ids(session), None)):
        raise ConfigurationError(
            f"the files of this database are {shown_location(present)}: leave out --files,"
            f" or move them first with `presscheck serve files move --to {store.location}`"
        )
    return store


def save_location(session: Session, location: str) -> None:
    """Save the location of the files when a database is used for the first time.

    Raises:
        ConfigurationError: another process has saved another location in the meantime.
    """
    row = session.get(SettingRow, LOCATION)
    if row is None:
        session.add(SettingRow(name=LOCATION, value=location))
    elif row.value != location:
        raise ConfigurationError(
            f"the files of this database are {shown_location(row.value)}, not {shown_location(location)}"
        )


def shown_location(location: str) -> str:
    """Return the location as part of a sentence: ``on disk``, or ``in s3://bucket``."""
    return "on disk" if location == DISK else f"in {location}"


def former_location(session: Session) -> str | None:
    """Return the location before the last move if it may still contain files, or None."""
    row = session.get(SettingRow, FORMER_LOCATION)
    return row.value if row else None


def change_location(session: Session, location: str, former: str | None) -> None:
    """Save a new location, and the former location if it may still contain files."""
    session.merge(SettingRow(name=LOCATION, value=location))
    if former is not None:
        session.merge(SettingRow(name=FORMER_LOCATION, value=former))
    else:
        session.execute(delete(SettingRow).where(SettingRow.name == FORMER_LOCATION))


def require_location(session: Session, location: str) -> None:
    """Check that the files are still at a location, and prevent a move until the transaction ends.

    Raises:
        FilesUnavailable: the files were moved.
    """
    # a move waits for this lock, and then copies the files of this transaction too
    row = session.get(SettingRow, LOCATION, with_for_update={"read": True}, populate_existing=True)
    if row is not None and row.value != location:
        raise FilesUnavailable(
            f"{location}: the files were moved to {row.value}; restart this process", is_lasting=True
        )


def referenced_ids(session: Session) -> Iterator[str]:
    """Yield the ids of all files that the database refers to; ids may repeat."""
    for files in session.scalars(select(RevisionRow.files).execution_options(yield_per=AT_ONCE)):
        yield from (file["content"] for file in files if file.get("content"))
    yield from session.scalars(select(SpecVersionRow.content))
    yield from (text for text in session.scalars(select(SpecRow.source_text)) if text)
    for row in session.execute(select(IntegrationRow.script, IntegrationRow.icon, IntegrationRow.preview_images)):
        yield from (content for content in (row.script, row.icon, *row.preview_images) if content)
