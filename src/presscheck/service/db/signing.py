"""Signed temporary URLs, which cannot be guessed. All processes of a service share the signing key."""

from __future__ import annotations

import secrets
from typing import Any

from itsdangerous import BadData, URLSafeTimedSerializer
from sqlalchemy.orm import Session

from presscheck.service.models.jobs import SettingRow

LIFETIME = 3600
"""Lifetime of a URL, in seconds."""
TIMED = "timed"
"""Key in `session.info`, set if the response depends on the current time."""
_NAME = "signing_key"


def make_key(session: Session) -> None:
    """Creates the signing key of a database if it has none."""
    if session.get(SettingRow, _NAME) is None:
        session.add(SettingRow(name=_NAME, value=secrets.token_urlsafe(32)))


def has_key(session: Session) -> bool:
    """Returns whether the database has a signing key, that is whether a service has used it before."""
    return session.get(SettingRow, _NAME) is not None


def signing_key(session: Session) -> bytes:
    """Returns the signing key, for signatures in other formats."""
    return session.get_one(SettingRow, _NAME).value.encode()


def signed(session: Session, purpose: str, value: dict[str, Any]) -> str:
    """Signs a value for one purpose and returns it as part of a URL."""
    return _serializer(session, purpose).dumps(value)


def unsigned(session: Session, purpose: str, text: str) -> dict[str, Any] | None:
    """Returns the value that was signed, or None if the signature is invalid or expired."""
    try:
        return _serializer(session, purpose).loads(text, max_age=LIFETIME)
    except BadData:
        return None


def was_signed(session: Session, purpose: str, text: str) -> bool:
    """Returns whether the signature is valid, even if expired."""
    try:
        _serializer(session, purpose).loads(text)
    except BadData:
        return False
    return True


def _serializer(session: Session, purpose: str) -> URLSafeTimedSerializer:
    session.info[TIMED] = True
    return URLSafeTimedSerializer(session.get_one(SettingRow, _NAME).value, salt=purpose)
