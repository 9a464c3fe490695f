"""Site tokens. With a site token, a renderer reads a site for one visitor.

A site token is derived from the token of a user and becomes invalid when that token is revoked. It is a JSON Web
Token, because renderers read the claims of the visitor from it. A token is valid for one to two hours. For up to an
hour, equal requests get the same token, so that renderers can cache responses.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Session

from presscheck.service.db.signing import claims_of, derived_key, token_with
from presscheck.service.http.operations import SiteGrant

LIFETIME = 3600
"""Minimum lifetime of a token in seconds; the maximum is twice that."""
LONGEST = 8000
"""Maximum number of characters of a token."""
_PURPOSE = "site token"


def write_site_token(session: Session, token_hash: str, grant: SiteGrant, now: datetime) -> str | None:
    """Return a token that is limited to a site, or None if the claims of the visitor are too large.

    Args:
        session: the transaction.
        token_hash: the hash of the token of the caller.
        grant: the limits of the new token.
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
    """Return the hash of the token that a site token is derived from, and the limits of the site token.

    Return None for any other token.
    """
    if token.count(".") != 2:
        return None
    moment = datetime.fromisoformat(now).timestamp()
    claims = claims_of(token, derived_key(session, _PURPOSE), moment, longest=LONGEST)
    if claims is None:
        return None
    return claims["token"], SiteGrant(claims["site"], claims["organization"], claims["claims"], claims["preview"])
