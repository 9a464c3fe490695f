"""Authentication: the bearer token of a request, and the user that it belongs to."""

from __future__ import annotations

from sqlalchemy import Select, or_, select
from sqlalchemy.orm import Session

from presscheck.service.db.ids import hash_token
from presscheck.service.http.operation_registry import ApiError
from presscheck.service.models.organizations import TokenRow, UserRow


def bearer_token(authorization: str) -> str:
    """The token of an ``Authorization`` header; empty if it has none."""
    kind, _, token = authorization.partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


def caller(session: Session, authorization: str, now: str) -> UserRow:
    """The user of a request.

    Raises:
        ApiError: 401, the token is missing, unknown or expired.
    """
    token = bearer_token(authorization)
    if not token:
        raise ApiError(401, "Authentication required: send the header Authorization: Bearer TOKEN.")
    user = session.scalar(_users_with(hash_token(token), now))
    if user is None:
        raise ApiError(401, "The token is invalid or has expired.")
    return user


def is_valid(session: Session, token_hash: str, now: str) -> bool:
    """Whether a token with this hash is known and has not expired."""
    return session.scalar(_users_with(token_hash, now).with_only_columns(UserRow.id)) is not None


def _users_with(token_hash: str, now: str) -> Select[UserRow]:
    return (
        select(UserRow)
        .join(TokenRow, TokenRow.user_id == UserRow.id)
        .where(TokenRow.sha256 == token_hash, or_(TokenRow.expires_at.is_(None), TokenRow.expires_at > now))
    )
