"""`presscheck serve --check`: checks whether the service can start. Nothing is created or changed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from presscheck.errors import PresscheckError
from presscheck.service.blobs.location import open_store, store_of
from presscheck.service.blobs.store import DISK, FilesUnavailable
from presscheck.service.db.engine import cause_of, database_address, unchanged
from presscheck.service.db.migrate import NEWEST, version_of
from presscheck.service.server.bootstrap import read_token
from presscheck.service.server.server import ServeOptions, address_of, diagram_script, listening


class Finding(NamedTuple):
    """The result of checking a part of the service, such as its database."""

    part: str
    text: str
    is_problem: bool = False


def check_start(options: ServeOptions) -> list[Finding]:
    """Check each part of the service that its start needs.

    The check listens at the address for a moment, so an address that a running service uses is reported as a problem.
    """
    database = _result("database", _database, options)
    findings = [_result("address", _address, options), _result("data", _data, options), database]
    if not database.is_problem:
        findings.append(_result("files", _files, options))
    elif options.files:  # without this option, only the database has the location
        findings.append(_result("files", _files_outside, options))
    if options.token_file:
        findings.append(_result("token file", _token_file, options))
    if options.mermaid:
        findings.append(_result("diagrams", _diagrams, options))
    return findings


def _result(part: str, check: Callable[[ServeOptions], str], options: ServeOptions) -> Finding:
    try:
        return Finding(part, check(options))
    except (
        PresscheckError,
        FilesUnavailable,
        SQLAlchemyError,
        OSError,
        RuntimeError,
        ValueError,
        ImportError,
    ) as error:
        return Finding(part, cause_of(error) or type(error).__name__, is_problem=True)


def _address(options: ServeOptions) -> str:
    with listening(options) as listener:
        return address_of(listener)


def _data(options: ServeOptions) -> str:
    return f"{options.data}{_note_of_folder(options.data)}"


def _database(options: ServeOptions) -> str:
    with unchanged(options.database) as session:
        version = version_of(session.connection()) if session else None
        if session:
            _require_writable(session, is_new=version is None)
    if session is None:  # the folder of a new SQLite database
        _note_of_folder(Path(database_address(options.database).database or "").parent)
    if version is None:
        return "new"
    return "ready" if version == NEWEST else f"ready; the start migrates it from version {version} to {NEWEST}"


def _require_writable(session: Session, *, is_new: bool) -> None:
    """Check that the service may write.

    Raises:
        PresscheckError: the database is read-only, or a new one in which the user may not create tables.
    """
    address = session.connection().engine.url
    if address.get_backend_name() == "sqlite":
        path = (address.database or "").removeprefix("file:")
        if not os.access(unquote(path), os.W_OK):
            raise PresscheckError(f"{unquote(path)} cannot be written to")
    elif session.scalar(text("SHOW transaction_read_only")) == "on":
        raise PresscheckError("the database is read-only, such as a replica: use its primary")
    elif is_new and not session.scalar(text("SELECT has_schema_privilege(current_schema(), 'CREATE')")):
        raise PresscheckError("the user may not create tables: make it the owner of the database")


def _files(options: ServeOptions) -> str:
    with unchanged(options.database) as session:
        has_location = session is not None and version_of(session.connection()) is not None
        if session and has_location:
            store = store_of(session, options.files, options.data)
        else:
            return _files_outside(options)
    store.check()
    return store.location


def _files_outside(options: ServeOptions) -> str:
    """Check that the files can be stored where the options say, because the database that knows the place failed."""
    store = open_store(options.files or DISK, options.data)
    store.check()
    return store.location


def _token_file(options: ServeOptions) -> str:
    file = options.token_file or Path()
    if read_token(file):
        return f"{file}"
    _note_of_folder(file.parent)
    return f"{file} (new)"


def _diagrams(options: ServeOptions) -> str:
    diagram_script(options.mermaid or Path())
    return f"{options.mermaid}"


def _note_of_folder(folder: Path) -> str:
    """Return ` (new)` if a folder does not exist yet, or else an empty string.

    Raises:
        PresscheckError: the folder cannot be written to, or cannot be created.
    """
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not existing.is_dir():
        raise PresscheckError(f"{existing} is not a folder")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise PresscheckError(f"{existing} cannot be written to")
    return "" if existing == folder else " (new)"
