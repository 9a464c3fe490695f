"""Signed temporary URLs that cannot be guessed; all processes of a service share the signing key."""

from __future__ import annotations

import secrets
from typing import Any

from itsdangerous import BadData, URLSafeTimedSerializer
from sqlalchemy.orm import Session

from presscheck.service.models.jobs import SettingRow

LIFETIME = 3600
"""Seconds for which a URL is valid."""
TIMED = "timed"
"""Key in `session.info` that says that what was read depends on the time, too."""
_NAME = "signing_key"


def make_key(session: Session) -> None:
    """Creates the key, once for a database."""
    if session.get(SettingRow, _NAME) is None:
        session.add(SettingRow(name=_NAME, value=secrets.token_urlsafe(32)))


def has_key(session: Session) -> bool:
    """Whether the database has its key: whether a service ran on it before."""
    return session.get(SettingRow, _NAME) is not None


def signing_key(session: Session) -> bytes:
    """Returns the key, for signatures in another format."""
    return session.get_one(SettingRow, _NAME).value.encode()


def signed(session: Session, purpose: str, value: dict[str, Any]) -> str:
    """Signs a value for one purpose and returns it as part of a URL."""
    return _serializer(session, purpose).dumps(value)


def unsigned(session: Session, purpose: str, text: str) -> dict[str, Any] | None:
    """Returns the signed value; None if the signature is invalid or expired."""
    try:
        return _serializer(session, purpose).loads(text, max_age=LIFETIME)
    except BadData:
        return None


def was_signed(session: Session, purpose: str, text: str) -> bool:
    """Whether the signature is valid, even if expired."""
    try:
        _serializer(session, purpose).loads(text)
    except BadData:
        return False
    return True


def _serializer(session: Session, purpose: str) -> URLSafeTimedSerializer:
    session.info[TIMED] = True
    return URLSafeTimedSerializer(session.get_one(SettingRow, _NAME).value, salt=purpose)
