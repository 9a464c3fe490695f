"""First start of a service: creates the owner and their token, an organization, the sample workspace, documentation.

Everything is created once; later starts find it there.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from presscheck.service.db.ids import Clock, hash_token, moment_text, new_id
from presscheck.service.models.organizations import ImportedRow, MemberRow, OrganizationRow, TokenRow, UserRow


def found(session: Session, clock: Clock, *, sample: bool) -> UserRow:
    """Returns the owner; on an empty database creates one, with an organization or the sample workspace."""
    owner = _owner(session)
    if owner is not None:
        return owner
    if sample:
        from presscheck.service.sample import plant  # 88 ms, only for --sample

        plant(session, clock)
        session.flush()
        owner = _owner(session)
    return owner or _first_owner(session, moment_text(clock()))


def give_token(session: Session, clock: Clock, owner: UserRow, token_file: Path | None) -> str | None:
    """Makes sure that the owner has a token: the one in the file, or else a new one, which is written there.

    Returns:
        The token, if it was just created.
    """
    token = token_file.read_text("utf-8").strip() if token_file and token_file.exists() else ""
    if token:
        if session.get(TokenRow, hash_token(token)) is None:
            session.add(_token(token, owner, clock))
        return None
    if session.scalar(select(TokenRow).where(TokenRow.user_id == owner.id).limit(1)) is not None:
        return None
    made = secrets.token_urlsafe(32)
    session.add(_token(made, owner, clock))
    if token_file:
        token_file.unlink(missing_ok=True)
        with os.fdopen(os.open(token_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(made + "\n")
    return made


def bring_in(session: Session, clock: Clock, owner: UserRow, data: Path, docs: Iterable[Path]) -> list[str]:
    """Imports repositories into the owner's first organization and returns the problems by file and line."""
    from presscheck.service.git_import.importer import import_repository  # 83 ms, only for --docs

    organization = session.scalars(
        select(OrganizationRow)
        .join(MemberRow, MemberRow.organization_id == OrganizationRow.id)
        .where(MemberRow.user_id == owner.id)
        .order_by(OrganizationRow.created_at, OrganizationRow.id)
    ).first()
    problems: list[str] = []
    for path in docs:
        known = str(path.resolve())
        if organization is None or session.get(ImportedRow, known) is not None:
            continue
        problems += [
            str(problem) for problem in import_repository(session, organization, owner, path, data=data, clock=clock)
        ]
        session.add(ImportedRow(path=known, created_at=moment_text(clock())))
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


def _token(token: str, owner: UserRow, clock: Clock) -> TokenRow:
    return TokenRow(sha256=hash_token(token), user_id=owner.id, created_at=moment_text(clock()))
