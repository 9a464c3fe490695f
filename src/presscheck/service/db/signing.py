"""Signed temporary URLs and tokens. All processes of a service share the signing key."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING, Any

from itsdangerous import BadData, URLSafeTimedSerializer
from sqlalchemy.orm import Session

from presscheck.service.models.jobs import SettingRow

if TYPE_CHECKING:
    from jwt.types import Options

LONGEST_TOKEN = 4000
"""Maximum number of characters of a token in a cookie; browsers limit cookies to 4096 bytes."""
LIFETIME = 3600
"""Lifetime of a URL, in seconds."""
TIMED = "timed"
"""Key in `session.info`, set if the response depends on the current time."""
_NAME = "signing_key"
_OPTIONS: Options = {
    "verify_exp": False,  # checked against the clock of the service instead
    "verify_nbf": False,
    "verify_iat": False,
    "verify_aud": False,
    "verify_iss": False,
    "verify_sub": False,
    "verify_jti": False,
}


def make_key(session: Session) -> None:
    """Create the signing key of a database if it has none."""
    if session.get(SettingRow, _NAME) is None:
        session.add(SettingRow(name=_NAME, value=secrets.token_urlsafe(32)))


def has_key(session: Session) -> bool:
    """Return whether the database has a signing key, which means that a service has used the database before."""
    return session.get(SettingRow, _NAME) is not None


def signing_key(session: Session) -> bytes:
    """Return the signing key of the service, for signatures other than those of `signed`."""
    return session.get_one(SettingRow, _NAME).value.encode()


def signed(session: Session, purpose: str, value: dict[str, Any]) -> str:
    """Sign a value for one purpose and return it as part of a URL."""
    return _serializer(session, purpose).dumps(value)


def unsigned(session: Session, purpose: str, text: str) -> dict[str, Any] | None:
    """Return the value in a text made by `signed`, or None if the signature is invalid or expired."""
    try:
        return _serializer(session, purpose).loads(text, max_age=LIFETIME)
    except BadData:
        return None


def was_signed(session: Session, purpose: str, text: str) -> bool:
    """Return whether the signature of a text is valid, even if it has expired."""
    try:
        _serializer(session, purpose).loads(text)
    except BadData:
        return False
    return True


def claims_of(token: str, key: str | bytes, now: float, *, longest: int = LONGEST_TOKEN) -> dict[str, Any] | None:
    """Return the claims of a signed token.

    Return None if the signature is invalid, or the token is not valid at the time `now`.
    """
    if not token or not key or len(token) > longest:
        return None
    import jwt  # takes 99 ms to import, so only if a token must be read

    try:
        claims: dict[str, Any] = jwt.decode(token, key, algorithms=["HS256"], options=_OPTIONS)
    except (jwt.PyJWTError, ValueError, RecursionError):
        return None
    for name, is_early in (("exp", False), ("nbf", True)):
        moment = claims.get(name)
        if moment is None:
            continue
        if isinstance(moment, bool) or not isinstance(moment, int | float) or (moment > now) is is_early:
            return None
    return claims


def token_with(claims: dict[str, Any], key: bytes) -> str:
    """Return a signed token with these claims; `claims_of` reads it."""
    import jwt  # takes 99 ms to import

    return jwt.encode(claims, key, "HS256")


def derived_key(session: Session, purpose: str) -> bytes:
    """Return the signing key for tokens of one purpose. Such tokens expire, so the response is not cached."""
    session.info[TIMED] = True
    return hmac.digest(signing_key(session), purpose.encode(), hashlib.sha256)


def _serializer(session: Session, purpose: str) -> URLSafeTimedSerializer:
    session.info[TIMED] = True
    return URLSafeTimedSerializer(session.get_one(SettingRow, _NAME).value, salt=purpose)
