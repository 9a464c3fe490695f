"""The data of a new service: owner, token, organization, sample workspace and imported documentation.

Everything is created once; later starts reuse it.
"""

from __future__ import annotations

import codecs
import errno
import os
import re
import secrets
import stat
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from presscheck.errors import ConfigurationError
from presscheck.service.blobs.store import BlobStore
from presscheck.service.db.ids import Clock, hash_token, moment_text, new_id
from presscheck.service.db.signing import has_key
from presscheck.service.jobs.queue import enter_job
from presscheck.service.models.organizations import MemberRow, OrganizationRow, TokenRow, UserRow
from presscheck.service.models.spaces import ImportedRow

TOKEN_BYTES = 32
"""Number of random bytes of a new token."""
SHORTEST_TOKEN = 43
"""Number of characters of a generated token, and minimum for a chosen token."""
LONGEST_TOKEN = 1000

SAMPLE = "sample"
"""Kind and item of the job that completes the sample, and its key in `ImportedRow`, where all others are paths."""
FURNISHED_AFTER = timedelta(seconds=4)
"""Time from the first start until the job that completes the sample."""

_token = re.compile(rb"[A-Za-z0-9_-]+").fullmatch


def ensure_owner(session: Session, clock: Clock, *, sample: bool) -> UserRow:
    """Return the owner. In an empty database, first create the owner with an organization, or the sample workspace."""
    owner = _owner(session)
    if owner is not None:
        return owner
    if sample:
        from presscheck.service.sample import plant  # takes 88 ms to import, so only for --sample

        plant(session, clock)
        session.flush()
        owner = _owner(session)
    return owner or _first_owner(session, moment_text(clock()))


def queue_sample_job(session: Session, clock: Clock) -> None:
    """Queue the job that completes the sample, unless it was queued before. It runs after the first screen is shown."""
    if session.get(ImportedRow, SAMPLE) is not None:
        return
    now = clock()
    session.add(ImportedRow(path=SAMPLE, created_at=moment_text(now)))
    enter_job(session, SAMPLE, SAMPLE, now=moment_text(now + FURNISHED_AFTER), organization_id=None)


def create_owner_token(session: Session, clock: Clock, owner: UserRow, token_file: Path | None) -> str | None:
    """Create the token of the owner at the first start: from the file, or a new token that is written to the file.

    Later starts ignore the file, so that a revoked token stays revoked.

    Returns:
        A new token to print, or None. A token that is in a file is not printed: output of a service ends up in logs.

    Raises:
        ConfigurationError: the file cannot be read or written, or other users may have had access to it.
    """
    if has_key(session) or session.scalar(select(TokenRow).where(TokenRow.user_id == owner.id).limit(1)) is not None:
        return None
    chosen = read_token(token_file) if token_file else None
    token = chosen or secrets.token_urlsafe(TOKEN_BYTES)
    session.add(TokenRow(sha256=hash_token(token), user_id=owner.id, created_at=moment_text(clock())))
    if token_file is None:
        return token
    if not chosen:
        _write_token(token_file, token)
    return None


def import_docs(session: Session, clock: Clock, owner: UserRow, store: BlobStore, docs: Iterable[Path]) -> list[str]:
    """Import repositories into the owner's first organization.

    Returns a line for each problem, which begins with repository, file and line number.

    Repositories that were imported at an earlier start are skipped.
    """
    from presscheck.service.git_import.importer import import_repository  # takes 83 ms to import, so only for --docs

    organization = session.scalars(
        select(OrganizationRow)
        .join(MemberRow, MemberRow.organization_id == OrganizationRow.id)
        .where(MemberRow.user_id == owner.id)
        .order_by(OrganizationRow.created_at, OrganizationRow.id)
    ).first()
    problems: list[str] = []
    for path in docs:
        directory = str(path.resolve())
        if organization is None or session.get(ImportedRow, directory) is not None:
            continue
        problems += [
            f"{path}/{problem}"
            for problem in import_repository(session, organization, owner, path, store=store, clock=clock)
        ]
        session.add(ImportedRow(path=directory, created_at=moment_text(clock())))
    return problems


def _owner(session: Session) -> UserRow | None:
    return session.scalars(
        select(UserRow)
        .join(MemberRow, MemberRow.user_id == UserRow.id)
        .where(MemberRow.role == "admin")
        .order_by(UserRow.created_at, UserRow.id)
    ).first()


def _first_owner(session: Session, now: str) -> UserRow:
    owner = UserRow(id=new_id(), display_name="Owner", email=None, photo_url=None, created_at=now)
    organization = OrganizationRow(id=new_id(), title="Documentation", created_at=now)
    member = MemberRow(organization_id=organization.id, user_id=owner.id, role="admin", joined_at=now)
    session.add_all((owner, organization, member))
    return owner


def read_token(path: Path) -> str | None:
    """Read a token from a file that only this user can access. Return None if the file is missing or empty.

    Raises:
        ConfigurationError: the file cannot be read, other users may have had access to it, or it has no valid token.
    """
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            status = os.fstat(file.fileno())
            text = file.read(LONGEST_TOKEN + 1) if stat.S_ISREG(status.st_mode) else b""
    except FileNotFoundError:
        return None
    except OSError as error:
        reason = "must not be a link" if error.errno == errno.ELOOP else f"{error.strerror}"
        raise ConfigurationError(f"--token-file {path}: {reason}") from None
    if not stat.S_ISREG(status.st_mode):
        raise ConfigurationError(f"--token-file {path}: must be a file")
    if status.st_uid != os.geteuid():
        raise ConfigurationError(f"--token-file {path}: belongs to another user")
    if stat.S_IMODE(status.st_mode) & 0o177:
        raise ConfigurationError(f"--token-file {path}: must have mode 0600; run `chmod 600 {path}`")
    token = text.removeprefix(codecs.BOM_UTF8).strip()
    if token and not (SHORTEST_TOKEN <= len(token) <= LONGEST_TOKEN and _token(token)):
        raise ConfigurationError(
            f"--token-file {path}: a token has {SHORTEST_TOKEN} to {LONGEST_TOKEN} letters, digits, - and _;"
            " remove the file to get a new token"
        )
    return token.decode("ascii") or None


def _write_token(path: Path, token: str) -> None:
    try:
        path.unlink(missing_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(token + "\n")
    except OSError as error:
        raise ConfigurationError(f"--token-file {path}: {error.strerror}") from None
