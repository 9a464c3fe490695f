"""Export of all data of a service to one file, and import into a SQLite or PostgreSQL database.

The file is a zip: `manifest.json`, a JSON Lines file for each table, and uploaded files named by their hash, including
files in a bucket.
"""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import delete, func, insert, select
from sqlalchemy.orm import Session

from presscheck.errors import ConfigurationError
from presscheck.paths import private_opener
from presscheck.service.blobs.location import change_location, referenced_ids
from presscheck.service.blobs.store import BlobStore, FilesUnavailable
from presscheck.service.db.engine import Database
from presscheck.service.db.fulltext_index import add_words
from presscheck.service.db.migrate import NEWEST
from presscheck.service.models.content import DocumentRow
from presscheck.service.models.jobs import SettingRow
from presscheck.service.models.organizations import UserRow
from presscheck.service.models.table import Table

FORMAT = "presscheck-service"
AT_ONCE = 500
"""Number of rows held in memory at a time."""


class Exported(NamedTuple):
    """The result of an export: the numbers of rows and files, and the ids of missing files."""

    rows: int
    files: int
    missing: Sequence[str]


def export_all(database: Database, files: BlobStore, file: Path) -> Exported:
    """Export a consistent snapshot to a file.

    Raises:
        ConfigurationError: the file already exists or cannot be written, or the stored files cannot be read.
    """
    unfinished = file.with_name(f".{file.name}.unfinished")
    if file.exists():
        raise ConfigurationError(f"{file} already exists")
    try:
        exported = _write(database, files, unfinished)
        unfinished.replace(file)
    except BaseException as error:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
        if not isinstance(error, (OSError, FilesUnavailable)):
            raise
        reason = error.strerror if isinstance(error, OSError) else None
        raise ConfigurationError(f"could not write {file}: {reason or error}") from None
    return exported


def _write(database: Database, files: BlobStore, unfinished: Path) -> Exported:
    count = 0
    stored: set[str] = set()
    unfinished.unlink(missing_ok=True)  # left by a killed export, maybe with other permissions
    with (
        open(unfinished, "xb", opener=private_opener) as file,  # it contains signing keys and hashes of tokens
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
        database.snapshot() as session,
    ):
        archive.writestr("manifest.json", json.dumps({"format": FORMAT, "step": NEWEST}))
        for table in _exported_tables():
            with archive.open(f"tables/{table.name}.jsonl", "w", force_zip64=True) as lines:
                rows = session.execute(select(table), execution_options={"yield_per": AT_ONCE})
                for row in rows.mappings():
                    lines.write(json.dumps(dict(row), ensure_ascii=False).encode() + b"\n")
                    count += 1
        referenced = set(referenced_ids(session))
        for content_id in files.ids():
            if _write_file(archive, files, content_id):
                stored.add(content_id)
        archive.close()
        file.flush()
        os.fsync(file.fileno())  # a file with the final name is complete, also after a power failure
    return Exported(count, len(stored), sorted(referenced - stored))


def _exported_tables() -> list[Any]:
    """Return the tables of an export, referenced tables first. Tables that triggers maintain are left out."""
    return [table for table in Table.metadata.sorted_tables if not table.info.get("is_kept")]


def _write_file(archive: zipfile.ZipFile, files: BlobStore, content_id: str) -> bool:
    blob = files.open(content_id)
    if blob is None:  # deleted after it was listed
        return False
    try:
        with archive.open(zipfile.ZipInfo(f"files/{content_id}"), "w", force_zip64=True) as entry:
            for chunk in blob.chunks:
                entry.write(chunk)
    finally:
        blob.close()
    return True


def import_all(database: Database, files: BlobStore, file: Path) -> int:
    """Import a file into an empty database, all or nothing, and return the number of rows.

    Args:
        database: the database.
        files: the store for the files; they may have been in another kind of store before.
        file: the export.

    Raises:
        ConfigurationError: the file is not an export, has another version, or the database has users; or the files
            cannot be stored.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            _check_manifest(archive)
            with database.writing.begin() as session:
                if session.scalar(select(func.count()).select_from(UserRow)):
                    raise ConfigurationError("the database already has users: import into an empty database")
                session.execute(delete(SettingRow))  # such as the location that this process has just saved
                count = sum(_import_table(session, archive, table) for table in _exported_tables())
                _index_documents(session)
                for name in archive.namelist():
                    if name.startswith("files/"):
                        _import_file(files, name.removeprefix("files/"), archive.read(name))
                change_location(session, files.location, None)
                return count
    # of a damaged archive: errors of JSON and UTF-8 are ValueErrors, those of encryption and compression RuntimeErrors
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError, RuntimeError, OSError) as error:
        raise ConfigurationError(f"{file} cannot be read: {error}") from error
    except FilesUnavailable as error:
        raise ConfigurationError(f"nothing was imported: {error}") from None


def _check_manifest(archive: zipfile.ZipFile) -> None:
    manifest: dict[str, Any] = json.loads(archive.read("manifest.json"))
    if manifest.get("format") != FORMAT:
        raise ConfigurationError("this file is not an export of a presscheck service")
    if manifest.get("step") != NEWEST:
        step = manifest.get("step")
        raise ConfigurationError(
            f"the export has database version {step}, this service needs {NEWEST}: export again with this version"
        )


def _import_table(session: Session, archive: zipfile.ZipFile, table: Any) -> int:
    count = 0
    with archive.open(f"tables/{table.name}.jsonl") as lines:
        batch: list[dict[str, Any]] = []
        for line in lines:
            batch.append(json.loads(line))
            if len(batch) == AT_ONCE:
                session.execute(insert(table), batch)
                count, batch = count + len(batch), []
        if batch:
            session.execute(insert(table), batch)
    return count + len(batch)


def _index_documents(session: Session) -> None:
    rows = session.execute(select(DocumentRow.id, DocumentRow.markdown)).yield_per(AT_ONCE)
    for batch in rows.partitions():
        add_words(session.connection(), [(row.id, row.markdown) for row in batch])


def _import_file(files: BlobStore, name: str, content: bytes) -> None:
    if files.put(content) != name:
        raise ConfigurationError(f"files/{name}: the content does not match its checksum; the export is damaged")
