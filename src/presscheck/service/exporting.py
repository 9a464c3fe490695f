"""PDFs: an address that says what is wanted and works for an hour, and the file behind it, which is made once.

It is made when somebody asks for it, one at a time in a data directory, and kept there among the last that were wanted.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import secrets
import shutil
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from urllib.parse import quote

from filelock import FileLock
from sqlalchemy.orm import Session

from presscheck.documents.pages.tree import slugify
from presscheck.service.content_tables import RevisionRow
from presscheck.service.database import Database
from presscheck.service.handling import Problem, not_found
from presscheck.service.manuscripts import Manuscript, manuscript
from presscheck.service.pdf.typst_document import template
from presscheck.service.signing import signed, unsigned, was_signed
from presscheck.service.tables import OrganizationRow, SpaceRow

if TYPE_CHECKING:
    from typst import Fonts

MOST_KEPT = 40
"""Files that are kept; beyond them the one goes that nobody wanted for longest."""
_FORMAT = 1
"""Counts up when the same pages would come out otherwise."""
_PURPOSE = "pdf"
_MISSING = (
    b'<svg xmlns="http://www.w3.org/2000/svg" width="220" height="60"><rect width="220" height="60" fill="#f6f7f8"/>'
    b'<path d="M100 20l20 20m0-20l-20 20" stroke="#b0b5bd" stroke-width="2"/></svg>'
)
"""What stands for an image that cannot be read."""
_log = logging.getLogger("presscheck.service")


@dataclass(frozen=True)
class Export:
    """What is wanted: a revision of a space, all of it or from a page on; `note` stands below the title."""

    space: str
    revision: str
    page: str | None = None
    only: bool = False
    note: str = ""


def export_address(session: Session, origin: str, export: Export, title: str) -> str:
    """Where the PDF waits, named after its title."""
    return f"{origin}/pdf/{signed(session, _PURPOSE, asdict(export))}/{quote(slugify(title), safe='')}.pdf"


def exported_pdf(database: Database, data: Path, origin: str, address: str) -> Path:
    """The file behind the signed part of an address; it is made where nobody wanted it before.

    Raises:
        Problem: 404 for an address that is none, 410 for one whose hour is over.
    """
    with database.reading.begin() as session:
        export = _wanted(session, address)
        space = session.get(SpaceRow, export.space)
        revision = session.get(RevisionRow, export.revision)
        if space is None or space.deleted_at is not None or revision is None:
            raise not_found("space")
        facts = {
            "title": space.title,
            "organization": session.get_one(OrganizationRow, space.organization_id).title,
            "note": export.note,
        }
        kept = data / "exports" / f"{_key(export, origin, facts)}.pdf"
        if _is_kept(kept):
            return kept
        found = manuscript(session, data, origin, revision, export.page, only=export.only, **facts)
    if found is None:
        raise not_found("page")
    kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with FileLock(kept.parent / ".lock"):
        if not _is_kept(kept):  # somebody else may have made it while this one waited
            _keep(kept, _printed(found, kept.parent))
    return kept


def _wanted(session: Session, address: str) -> Export:
    value = unsigned(session, _PURPOSE, address)
    if value is not None:
        return Export(**value)
    if was_signed(session, _PURPOSE, address):
        raise Problem(410, "This address worked for an hour, which is over: export the PDF again.")
    raise Problem(404, "There is no such PDF: the address is incomplete, or was not made here.")


def _key(export: Export, origin: str, facts: dict[str, str]) -> str:
    said = json.dumps([_FORMAT, template(), origin, asdict(export), facts], sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()


def _is_kept(path: Path) -> bool:
    with suppress(FileNotFoundError):
        os.utime(path)  # it was wanted just now
        return True
    return False


def _keep(path: Path, content: bytes) -> None:
    """Write a file at once or not at all; the oldest make room."""
    unfinished = path.with_name(f".{path.stem}.{secrets.token_hex(4)}")
    unfinished.write_bytes(content)
    unfinished.replace(path)
    kept = sorted(path.parent.glob("*.pdf"), key=lambda one: one.stat().st_mtime, reverse=True)
    for one in kept[MOST_KEPT:]:
        one.unlink(missing_ok=True)


def _printed(found: Manuscript, beside: Path) -> bytes:
    """The PDF. The typesetter reads a directory that holds the images of the document, and nothing else."""
    from typst import TypstError  # late: most starts print nothing

    markup = found.markup()
    with TemporaryDirectory(dir=beside, prefix=".set-") as directory:
        root = Path(directory)
        for name, path in found.pictures.items():
            shutil.copyfile(path, root / name)
        try:
            return _compiled(markup, root, found.made_at)
        except TypstError as error:
            _log.warning("a PDF of %s could not be set at once: %s", found.title, error.message)
        _replace_broken(root)
        try:
            return _compiled(markup, root, found.made_at)
        except TypstError as error:
            _log.warning("a PDF of %s shows its pages as they are written: %s", found.title, error.message)
        return _compiled(found.markup(as_written=True), root, found.made_at)


def _compiled(markup: str, root: Path, made_at: datetime | None = None) -> bytes:
    from typst import Compiler

    made = Compiler(markup.encode(), root=root, font_paths=_fonts()).compile(timestamp=made_at)
    if not isinstance(made, bytes):
        raise TypeError("a PDF is one file")
    return made


def _replace_broken(root: Path) -> None:
    """Put something else in the place of every image that cannot be read."""
    from typst import TypstError

    for path in root.iterdir():
        try:
            _compiled(f'#image("{path.name}")', root)
        except TypstError:
            path.write_bytes(_MISSING)


_loaded: list[Fonts] = []


def _fonts() -> Fonts:
    """Those that the typesetter brings along and those of the system, which are looked for once."""
    from typst import Fonts

    if not _loaded:
        _loaded.append(Fonts())
    return _loaded[0]
