"""Tokens of sites: whoever renders a site reads it with one, for one visitor.

A token of a site stands for the token that it was made with, and is void once that one is revoked. It is a JSON Web
Token, because renderers read the claims of the visitor in it. It stays the same for an hour, so that renderers can keep
what they read with it, and is valid for one to two hours.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Session

from presscheck.service.db.signing import claims_of, derived_key, token_with
from presscheck.service.http.operations import SiteGrant

LIFETIME = 3600
"""Least lifetime of a token in seconds; the longest is twice that."""
LONGEST = 8000
"""Most characters of a token."""
_PURPOSE = "site token"


def write_site_token(session: Session, token_hash: str, grant: SiteGrant, now: datetime) -> str | None:
    """Make a token that is limited to a site; None if the claims of the visitor are too large.

    Args:
        session: the transaction.
        token_hash: the hash of the token of the caller.
        grant: what it allows.
        now: the current time.
    """
    expires = (int(now.timestamp()) // LIFETIME + 2) * LIFETIME
    claims = {
        "kind": "site",
        "token": token_hash,
        "site": grant.site_id,
        "organization": grant.organization_id,
        "claims": grant.claims,
        "preview": grant.is_preview,
        "exp": expires,
    }
    token = token_with(claims, derived_key(session, _PURPOSE))
    return token if len(token) <= LONGEST else None


def read_site_token(session: Session, token: str, now: str) -> tuple[str, SiteGrant] | None:
    """The hash of the token that a token of a site stands for, and what it allows; None if it is none, or expired."""
    if token.count(".") != 2:
        return None
    moment = datetime.fromisoformat(now).timestamp()
    claims = claims_of(token, derived_key(session, _PURPOSE), moment, longest=LONGEST)
    if claims is None:
        return None
    return claims["token"], SiteGrant(claims["site"], claims["organization"], claims["claims"], claims["preview"])
