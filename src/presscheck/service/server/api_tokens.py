"""Access tokens, managed by the operator. Only their hashes are stored."""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from presscheck.errors import ConfigurationError
from presscheck.service.db.ids import Clock, hash_token, moment_text
from presscheck.service.models.oauth import revoke_sign_in
from presscheck.service.models.organizations import TokenRow, UserRow

ID_LENGTH = 12
"""Number of leading characters of the hash that are the id of a token."""


class Token(NamedTuple):
    """The public data of a token."""

    id: str
    person: str
    name: str
    created_at: str
    expires_at: str


def create_token(session: Session, clock: Clock, person: str, name: str | None, days: int | None) -> str:
    """Create a token for a user and return the token, which cannot be shown again.

    Args:
        session: the transaction.
        clock: returns the current time.
        person: the email or id of the user.
        name: a note on its purpose.
        days: days until it expires; None for never.

    Raises:
        ConfigurationError: no user has this email or id, or several users have this email.
    """
    query = select(UserRow).where((func.lower(UserRow.email) == person.lower()) | (UserRow.id == person))
    users = session.scalars(query.order_by(UserRow.id)).all()
    if len(users) > 1:
        ids = ", ".join(user.id for user in users)
        raise ConfigurationError(f"{len(users)} users have the email {person}: name one by id: {ids}")
    if not users:
        emails = session.scalars(select(UserRow.email).where(UserRow.email.is_not(None)).limit(5)).all()
        raise ConfigurationError(f"no user {person}; known emails: {', '.join(map(str, emails)) or 'none'}")
    token, now = secrets.token_urlsafe(32), clock()
    expires = moment_text(now + timedelta(days=days)) if days else None
    row = TokenRow(sha256=hash_token(token), user_id=users[0].id, created_at=moment_text(now), name=name)
    row.expires_at = expires
    session.add(row)
    return token


def list_tokens(session: Session) -> list[Token]:
    """Return all tokens, oldest first."""
    rows = session.execute(
        select(TokenRow, UserRow).join(UserRow, UserRow.id == TokenRow.user_id).order_by(TokenRow.created_at)
    )
    return [
        Token(
            row.sha256[:ID_LENGTH],
            user.email or user.display_name,
            row.name or "",
            row.created_at,
            row.expires_at or "",
        )
        for row, user in rows
    ]


def revoke_token(session: Session, token_id: str) -> None:
    """Revoke a token, given its id or a prefix of the id. Also revoke all other tokens of the same sign-in by browser.

    Raises:
        ConfigurationError: no token or more than one starts with this id, or the id has fewer than six characters.
    """
    tokens = session.scalars(select(TokenRow).where(TokenRow.sha256.startswith(token_id, autoescape=True))).all()
    if len(tokens) != 1 or len(token_id) < 6:
        raise ConfigurationError(f"{token_id}: {len(tokens)} tokens match; see `presscheck serve token list`")
    if tokens[0].sign_in:
        revoke_sign_in(session, tokens[0].sign_in)
    else:
        session.delete(tokens[0])
