"""Export of all data of a service into one file, and import into a database of either engine.

The file is a zip: `manifest.json`, a JSON Lines file for each table, and uploaded files named by their hash.
"""

from __future__ import annotations

import json
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session

from presscheck.errors import ConfigurationError
from presscheck.service.db.blob_store import blob_path, store_blob
from presscheck.service.db.engine import Database
from presscheck.service.db.fulltext_index import add_words
from presscheck.service.db.migrate import NEWEST
from presscheck.service.models.content import DocumentRow
from presscheck.service.models.organizations import UserRow
from presscheck.service.models.table import Table

FORMAT = "presscheck-service"
AT_ONCE = 500
"""Rows held in memory at a time."""


def export_all(database: Database, data: Path, file: Path) -> int:
    """Exports a consistent snapshot to a file and returns the number of rows.

    Raises:
        ConfigurationError: the file already exists or cannot be written.
    """
    unfinished = file.with_name(f".{file.name}.unfinished")
    if file.exists():
        raise ConfigurationError(f"{file} already exists")
    try:
        count = _write(database, data, unfinished)
        unfinished.replace(file)
    except OSError as error:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise ConfigurationError(f"could not write {file}: {error.strerror or error}") from None
    return count


def _write(database: Database, data: Path, unfinished: Path) -> int:
    count = 0
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive, database.reading.begin() as session:
        archive.writestr("manifest.json", json.dumps({"format": FORMAT, "step": NEWEST}))
        for table in Table.metadata.sorted_tables:
            with archive.open(f"tables/{table.name}.jsonl", "w", force_zip64=True) as lines:
                for row in session.execute(select(table)).yield_per(AT_ONCE).mappings():
                    lines.write(json.dumps(dict(row), ensure_ascii=False).encode() + b"\n")
                    count += 1
        for path in sorted((data / "files").glob("*")):
            if blob_path(data, path.name) == path:
                archive.write(path, f"files/{path.name}", zipfile.ZIP_STORED)
    return count


def import_all(database: Database, data: Path, file: Path) -> int:
    """Imports a file into an empty database, all or nothing, and returns the number of rows.

    Raises:
        ConfigurationError: the file is not an export, has another version, or the database has users.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            _demand_manifest(archive)
            with database.writing.begin() as session:
                if session.scalar(select(func.count()).select_from(UserRow)):
                    raise ConfigurationError("the database already has users: import into an empty database")
                count = sum(_bring(session, archive, table) for table in Table.metadata.sorted_tables)
                _bring_words(session)
                for name in archive.namelist():
                    if name.startswith("files/"):
                        _bring_file(data, name.removeprefix("files/"), archive.read(name))
                return count
    except (zipfile.BadZipFile, KeyError, json.JSONDecodeError, OSError) as error:
        raise ConfigurationError(f"{file} cannot be read: {error}") from error


def _demand_manifest(archive: zipfile.ZipFile) -> None:
    manifest: dict[str, Any] = json.loads(archive.read("manifest.json"))
    if manifest.get("format") != FORMAT:
        raise ConfigurationError("this file is not an export of a presscheck service")
    if manifest.get("step") != NEWEST:
        step = manifest.get("step")
        raise ConfigurationError(
            f"the export has database version {step}, this service needs {NEWEST}: export again with this version"
        )


def _bring(session: Session, archive: zipfile.ZipFile, table: Any) -> int:
    count = 0
    with archive.open(f"tables/{table.name}.jsonl") as lines:
        some: list[dict[str, Any]] = []
        for line in lines:
            some.append(json.loads(line))
            if len(some) == AT_ONCE:
                session.execute(insert(table), some)
                count, some = count + len(some), []
        if some:
            session.execute(insert(table), some)
    return count + len(some)


def _bring_words(session: Session) -> None:
    rows = session.execute(select(DocumentRow.id, DocumentRow.markdown)).yield_per(AT_ONCE)
    for some in rows.partitions():
        add_words(session.connection(), [(row.id, row.markdown) for row in some])


def _bring_file(data: Path, name: str, content: bytes) -> None:
    if store_blob(data, content) != name:
        raise ConfigurationError(f"files/{name}: the content does not match its checksum; the export is damaged")
