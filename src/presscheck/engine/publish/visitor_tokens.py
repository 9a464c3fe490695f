"""Parses, checks and creates visitor tokens: JSON Web Tokens signed with HS256 and the key of a site.

Like the service, this module accepts only HS256: a token with another algorithm, or none, is never valid.
"""

from __future__ import annotations

import binascii
import hashlib
import hmac
import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple, cast

from presscheck.documents.attribute_json import parse_json
from presscheck.engine.publish.audiences import AdaptivePlace, Audience
from presscheck.errors import InvalidArgument

ALGORITHM = "HS256"
LONGEST_TOKEN = 4000
"""Maximum number of characters of a token: a site stores the token in a cookie, which browsers limit to 4,096 bytes."""
LIFETIME = 3600
"""Default lifetime of a created token in seconds."""
REGISTERED = frozenset(("iss", "sub", "aud", "exp", "nbf", "iat", "jti"))
"""The registered claims of JSON Web Tokens, which do not describe the visitor."""
_TOKEN = re.compile(r"([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]*)")

Signature = Literal["valid", "invalid", "unknown"]


class VisitorToken(NamedTuple):
    """A parsed token and the result of its checks.

    Attributes:
        claims: all claims of the token.
        algorithm: the algorithm that the header names.
        signature: whether the signature was made with the key of the site; `unknown` without the key.
        problem: why the signature is invalid or unknown; empty if it is valid.
        time_problem: why the token is not valid at the current time; empty if it is.
        expires_at: the time of expiry in seconds since the epoch; None if the token does not expire.
    """

    claims: dict[str, Any]
    algorithm: str
    signature: Signature
    problem: str
    time_problem: str
    expires_at: float | None

    @property
    def visitor_claims(self) -> dict[str, Any]:
        """The claims about the visitor."""
        return {name: value for name, value in self.claims.items() if name not in REGISTERED}


def read_token(text: str, key: str | None, now: float) -> VisitorToken:
    """Parse a token and check it as a site does.

    Args:
        text: the token, or an address that contains it.
        key: the key of the site; None if the user may not read it.
        now: the current time in seconds since the epoch.

    Raises:
        InvalidArgument: the text is not a token.
    """
    token = text.strip().rpartition("jwt_token=")[2].partition("&")[0]
    if len(token) > LONGEST_TOKEN:
        raise InvalidArgument("token", f"at most {LONGEST_TOKEN:,} characters; this has {len(token):,}")
    parts = _TOKEN.fullmatch(token)
    if parts is None:
        raise InvalidArgument("token", "is no JWT: three parts with dots between them, such as eyJhb….eyJzd….c2lnb…")
    header, claims = _object(parts[1], "header"), _object(parts[2], "claims")
    algorithm = str(header.get("alg", "none"))
    signature, problem = _check(parts, header, algorithm, key)
    expires, begins = claims.get("exp"), claims.get("nbf")
    return VisitorToken(claims, algorithm, signature, problem, _time_problem(expires, begins, now), _seconds(expires))


def make_token(claims: Mapping[str, Any], key: str, now: float, *, lifetime: int = LIFETIME) -> str:
    """Create a token for a visitor.

    Args:
        claims: the claims about the visitor.
        key: the key of the site.
        now: the current time in seconds since the epoch.
        lifetime: the lifetime in seconds.

    Raises:
        InvalidArgument: the key is empty, or the token would be too long.
    """
    if not key:
        raise InvalidArgument("key", "the site has no key")
    payload = {**claims, "iat": int(now), "exp": int(now) + lifetime}
    signed = f"{_encoded({'alg': ALGORITHM, 'typ': 'JWT'})}.{_encoded(payload)}"
    token = f"{signed}.{_base64(_signature(signed, key))}"
    if len(token) > LONGEST_TOKEN:
        raise InvalidArgument("claims", f"the token would have {len(token):,} characters, at most {LONGEST_TOKEN:,}")
    return token


def audience_of(claims: Mapping[str, Any], audiences: Iterable[Audience]) -> Audience | None:
    """Return the audience with exactly these claims, or None if there is none."""
    return next((saved for saved in audiences if not saved.problem and _same(saved.claims, claims)), None)


def seeing_the_same(
    claims: Mapping[str, Any],
    audiences: Iterable[Audience],
    places: Iterable[AdaptivePlace],
    known: frozenset[tuple[str, ...]] | None,
) -> tuple[Audience, ...]:
    """Return the audiences that see the same places as a visitor; empty if the visibility of a place is uncertain.

    Args:
        claims: the claims of the visitor.
        audiences: the audiences.
        places: the places of the site.
        known: the claims of the schema; None if the schema is unknown.
    """
    limited = [place for place in places if place.condition]
    visitor = Audience("", dict(claims))
    seen = [place.seen_by(visitor, known).holds for place in limited]
    if None in seen:
        return ()
    return tuple(
        audience for audience in audiences if [place.seen_by(audience, known).holds for place in limited] == seen
    )


def _check(parts: re.Match[str], header: Mapping[str, Any], algorithm: str, key: str | None) -> tuple[Signature, str]:
    """Check the signature of a token. Return the result and the reason if it is not valid."""
    if algorithm != ALGORITHM:
        return "invalid", f"signed with {algorithm}: only {ALGORITHM} is accepted"
    if "crit" in header:
        return "invalid", "its header demands extensions that are not known"
    if not key:
        return "unknown", "the key of the site may not be read" if key is None else "the site has no key"
    expected = _base64(_signature(f"{parts[1]}.{parts[2]}", key))
    if hmac.compare_digest(expected, parts[3]):
        return "valid", ""
    return "invalid", "another key signed it, or it was changed"


def _time_problem(expires: Any, begins: Any, now: float) -> str:
    for name, moment in (("exp", expires), ("nbf", begins)):
        if moment is not None and _seconds(moment) is None:
            return f"“{name}” is no time in seconds"
    if (end := _seconds(expires)) is not None and end <= now:
        return f"expired at {_time(end)}"
    if (start := _seconds(begins)) is not None and start > now:
        return f"not valid before {_time(start)}"
    return ""


def _seconds(value: Any) -> float | None:
    """Convert a time in a token to seconds since the epoch. Return None if it is invalid or thousands of years away."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value < 1e11 else None


def _time(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"


def _object(part: str, name: str) -> dict[str, Any]:
    try:
        value = parse_json(urlsafe_b64decode(part + "=" * (-len(part) % 4)).decode("utf-8"))
    except (binascii.Error, ValueError):
        value = None
    if not isinstance(value, dict):
        raise InvalidArgument("token", f"its {name} part is no JSON object")
    return cast("dict[str, Any]", value)


def _encoded(value: Mapping[str, Any]) -> str:
    return _base64(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))


def _base64(content: bytes) -> str:
    return urlsafe_b64encode(content).rstrip(b"=").decode("ascii")


def _signature(signed: str, key: str) -> bytes:
    return hmac.new(key.encode("utf-8"), signed.encode("ascii"), hashlib.sha256).digest()


def _same(left: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    """Return whether claims are equal; unlike in Python, true and 1 differ."""
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)
