"""Addresses that work for a while and cannot be guessed: signed with a key that all processes of a service share."""

from __future__ import annotations

import secrets
from typing import Any

from itsdangerous import BadData, URLSafeTimedSerializer
from sqlalchemy.orm import Session

from presscheck.service.job_tables import SettingRow

LIFETIME = 3600
"""Seconds that an address works."""
_NAME = "signing_key"


def make_key(session: Session) -> None:
    """Make the key, once in the life of a database."""
    if session.get(SettingRow, _NAME) is None:
        session.add(SettingRow(name=_NAME, value=secrets.token_urlsafe(32)))


def signed(session: Session, purpose: str, value: dict[str, Any]) -> str:
    """A value as a part of an address, for one purpose."""
    return _serializer(session, purpose).dumps(value)


def unsigned(session: Session, purpose: str, text: str) -> dict[str, Any] | None:
    """The value that was signed; None where it was not by us, or too long ago."""
    try:
        return _serializer(session, purpose).loads(text, max_age=LIFETIME)
    except BadData:
        return None


def was_signed(session: Session, purpose: str, text: str) -> bool:
    """Whether it was signed by us, however long ago."""
    try:
        _serializer(session, purpose).loads(text)
    except BadData:
        return False
    return True


def _serializer(session: Session, purpose: str) -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(session.get_one(SettingRow, _NAME).value, salt=purpose)
