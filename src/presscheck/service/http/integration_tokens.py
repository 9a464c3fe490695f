"""Tokens for scripts of integrations, which call the API while they handle an event.

A token is limited to the installation that the event is about: to its organization, to the spaces and sites where the
integration is installed, and to the scopes that the organization has agreed to. It becomes invalid when the
integration is uninstalled.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Session

from presscheck.service.db.signing import claims_of, derived_key, token_with
from presscheck.service.http.operations import Caller, InstallationGrant
from presscheck.service.models.integrations import InstallationRow, IntegrationRow, granted_scopes

LIFETIME = 600
"""Lifetime of a token, in seconds."""
_PURPOSE = "integration token"


def write_integration_token(session: Session, integration: str, installation_id: str | None, now: datetime) -> str:
    """Return a token for the script of an integration, limited to one installation.

    If `installation_id` is None, the token belongs to no installation.
    """
    claims = {
        "kind": "integration",
        "integration": integration,
        "installation": installation_id,
        "exp": int(now.timestamp()) + LIFETIME,
    }
    return token_with(claims, derived_key(session, _PURPOSE))


def integration_caller(session: Session, token: str, now: str) -> Caller | None:
    """Return the caller for a token of an integration. Return None for other tokens and after the uninstallation."""
    if token.count(".") != 2:
        return None
    claims = claims_of(token, derived_key(session, _PURPOSE), datetime.fromisoformat(now).timestamp())
    row = session.get(IntegrationRow, claims["integration"]) if claims else None
    if claims is None or row is None:
        return None
    installed = session.get(InstallationRow, claims["installation"]) if claims["installation"] else None
    if claims["installation"] and (installed is None or installed.integration != row.name):
        return None
    grant = InstallationGrant(
        row.name,
        installed.id if installed else None,
        installed.organization_id if installed else None,
        granted_scopes(row, installed) if installed else frozenset(),
    )
    return Caller(f"integration:{row.name}", row.title, None, None, expires=True, installation=grant)
