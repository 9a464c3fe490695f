"""PDF exports: signed URLs that are valid for one hour, and the files.

A file is created on the first request, one at a time per data directory, and stored in a cache of recently used files.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import secrets
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

from filelock import FileLock
from sqlalchemy.orm import Session

from presscheck.documents.pages.tree import title_slug
from presscheck.paths import private_opener
from presscheck.service.blobs.store import BlobStore, FilesUnavailable
from presscheck.service.bounded_process import LimitExceeded
from presscheck.service.db.engine import Database
from presscheck.service.db.signing import signed, unsigned, was_signed
from presscheck.service.http.operations import ApiError, not_found
from presscheck.service.models.content import RevisionRow
from presscheck.service.models.organizations import OrganizationRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.pdf.markup import PdfSource, write_markup
from presscheck.service.pdf.source import TooLarge, pdf_source
from presscheck.service.pdf.typesetter import MOST_SECONDS, MOST_SECONDS_OF_IMAGE, TypesettingFailed, typeset
from presscheck.service.pdf.typst_document import template

MOST_KEPT = 40
"""Maximum number of files in the cache; the least recently used ones are deleted."""
_FORMAT = 3
"""Version of the layout. Increase it whenever the same pages would look different."""
_PURPOSE = "pdf"
_STARTS = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a")
_MISSING = (
    b'<svg xmlns="http://www.w3.org/2000/svg" width="220" height="60"><rect width="220" height="60" fill="#f6f7f8"/>'
    b'<path d="M100 20l20 20m0-20l-20 20" stroke="#b0b5bd" stroke-width="2"/></svg>'
)
"""Placeholder for an unreadable image."""
_log = logging.getLogger("presscheck.service")


@dataclass(frozen=True)
class Export:
    """The pages to export: all pages of a revision, or one page with its subpages (without them if `only` is set).

    `note` is printed below the title.
    """

    space: str
    revision: str
    page: str | None = None
    only: bool = False
    note: str = ""


def export_address(session: Session, origin: str, export: Export, title: str) -> str:
    """Return the signed URL of the PDF of an export. The file name in the URL is made from `title`."""
    return f"{origin}/pdf/{signed(session, _PURPOSE, asdict(export))}/{quote(title_slug(title), safe='')}.pdf"


def exported_pdf(database: Database, files: BlobStore, data: Path, origin: str, address: str) -> Path:
    """Return the file for the signed part of a URL, creating it on first use.

    Raises:
        ApiError: 404 for an invalid URL, 410 for an expired one, 413 if the pages are too large.
        FilesUnavailable: the images cannot be read, or the disk is full.
    """
    with database.snapshot() as session:
        export = _requested_export(session, address)
        space = session.get(SpaceRow, export.space)
        revision = session.get(RevisionRow, export.revision)
        if space is None or space.deleted_at is not None or revision is None:
            raise not_found("space")
        facts = {
            "title": space.title,
            "organization": session.get_one(OrganizationRow, space.organization_id).title,
            "note": export.note,
        }
        cached = data / "exports" / f"{_key(export, origin, facts)}.pdf"
        if _is_cached(cached):
            return cached
        try:
            source = pdf_source(session, revision, export.page, only=export.only, **facts)
        except TooLarge as reason:
            raise ApiError(413, f"Too large for a PDF: {reason}.") from None
    if source is None:
        raise not_found("page")
    try:
        cached.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with FileLock(cached.parent / ".lock", mode=0o600):
            if not _is_cached(cached):  # another thread may have created it in the meantime
                _add_to_cache(cached, _create_pdf(source, files, cached.parent))
    except OSError as error:
        raise FilesUnavailable(f"could not store a PDF in {cached.parent}: {error.strerror}") from None
    return cached


def _requested_export(session: Session, address: str) -> Export:
    value = unsigned(session, _PURPOSE, address)
    if value is not None:
        return Export(**value)
    if was_signed(session, _PURPOSE, address):
        raise ApiError(410, "This link has expired (it is valid for one hour). Export the PDF again.")
    raise ApiError(404, "PDF not found: the link is incomplete or was not created by this service.")


def _key(export: Export, origin: str, facts: dict[str, str]) -> str:
    parts = json.dumps([_FORMAT, template(), origin, asdict(export), facts], sort_keys=True)
    return hashlib.sha256(parts.encode()).hexdigest()


def _is_cached(path: Path) -> bool:
    with suppress(FileNotFoundError):
        os.utime(path)  # marks it as recently used
        return True
    return False


def _add_to_cache(path: Path, content: bytes) -> None:
    """Write a file to the cache atomically, and delete the least recently used files beyond `MOST_KEPT`."""
    unfinished = path.with_name(f".{path.stem}.{secrets.token_hex(4)}")
    try:
        with open(unfinished, "xb", opener=private_opener) as file:
            file.write(content)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)  # do not leave half a file on a full disk
    files = sorted(path.parent.glob("*.pdf"), key=lambda file: file.stat().st_mtime, reverse=True)
    for file in files[MOST_KEPT:]:
        file.unlink(missing_ok=True)


def _create_pdf(source: PdfSource, files: BlobStore, parent_directory: Path) -> bytes:
    """Typeset the PDF in a directory that contains only the images of the document.

    If typesetting fails, it is repeated with placeholders for unreadable images, and if it fails again, with the
    Markdown source of the pages.

    Raises:
        ApiError: 413, writing its markup takes too long.
    """
    try:
        markup, pictures = write_markup(source)
    except LimitExceeded:
        raise ApiError(413, f"Too large for a PDF: its text takes more than {MOST_SECONDS} seconds.") from None
    with TemporaryDirectory(dir=parent_directory, prefix=".set-") as directory:
        root = Path(directory)
        for content in pictures:
            image = files.read(content) or b""
            (root / content).write_bytes(image if _is_image(image) else _MISSING)
        try:
            return typeset(markup, root, source.made_at)
        except TypesettingFailed as reason:
            _log.warning(
                "could not typeset the PDF of %s; retrying with unreadable images replaced: %s", source.title, reason
            )
        _replace_broken(root)
        try:
            return typeset(markup, root, source.made_at)
        except TypesettingFailed as reason:
            _log.warning(
                "could not typeset the PDF of %s; it shows the Markdown source of its pages: %s", source.title, reason
            )
        return typeset(write_markup(source, as_written=True).markup, root, source.made_at)


def _is_image(content: bytes) -> bool:
    """Return whether the content has a format that the typesetter supports, regardless of the file's name."""
    start = content[:1024]
    return start.startswith(_STARTS) or (start[:4] == b"RIFF" and start[8:12] == b"WEBP") or b"<svg" in start


def _replace_broken(root: Path) -> None:
    """Replace images that are unreadable or too large when decoded.

    After `MOST_SECONDS`, replace all remaining images.
    """
    deadline = time.monotonic() + MOST_SECONDS
    for path in root.iterdir():
        if time.monotonic() > deadline or not _is_readable(path.name, root):
            path.write_bytes(_MISSING)


def _is_readable(image: str, root: Path) -> bool:
    try:
        return bool(typeset(f'#image("{image}")', root, seconds=MOST_SECONDS_OF_IMAGE))
    except TypesettingFailed:
        return False
