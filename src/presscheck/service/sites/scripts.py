"""The scripts that integrations add to the pages of published sites: their URLs and their content security policies.

An integration adds a script if it is installed in the site with the scope `site:script:inject`. The URL is signed so
that it cannot be guessed, and changes with the integration and its installation.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit

from sqlalchemy import select
from sqlalchemy.orm import Session

from presscheck.service.db.signing import signing_key
from presscheck.service.http.operations import Context
from presscheck.service.integrations.integrations import is_installed_in
from presscheck.service.models.integrations import InstallationRow, IntegrationRow, granted_scopes
from presscheck.service.models.sites import SiteRow

SCOPE, COOKIES = "site:script:inject", "site:script:cookies"
LONGEST = 3_000
"""Maximum total length of the hosts of an integration, because proxies refuse responses with long headers."""
EXTENDED = ("connect-src", "font-src", "frame-src", "img-src", "media-src", "script-src", "style-src")
"""The directives to which integrations may add hosts."""
_SOURCE = re.compile(
    r"https://(\*\.)?([a-z0-9-]+(?:\.[a-z0-9-]+)+)(?::\d{1,5})?(?:/[\w./-]{0,200})?", re.IGNORECASE | re.ASCII
)


class SiteScript(NamedTuple):
    """A script of a site: its URL path, the policy of its integration, and whether it may use cookies."""

    path: str
    policy: Any
    has_cookies: bool


def scripts_of(session: Session, site: SiteRow) -> list[SiteScript]:
    """Return the scripts of a site, sorted by the names of their integrations."""
    installed = (
        select(InstallationRow, IntegrationRow)
        .join(IntegrationRow, IntegrationRow.name == InstallationRow.integration)
        .where(
            InstallationRow.organization_id == site.organization_id,
            InstallationRow.status == "active",
            IntegrationRow.target.in_(("all", "site")),
        )
        .order_by(IntegrationRow.name)
    )
    return [
        SiteScript(
            f"/scripts/{site.id}/{row.id}/{_signature(session, site.id, integration, row)}.js",
            integration.content_security_policy,
            COOKIES in granted_scopes(integration, row),
        )
        for row, integration in session.execute(installed)
        if SCOPE in granted_scopes(integration, row) and is_installed_in(row, "site", site.id)
    ]


def script_at(
    context: Context, site_id: str, installation_id: str, signature: str
) -> tuple[IntegrationRow, InstallationRow] | None:
    """Return the integration and the installation for the URL of a script, or None if the site does not have it."""
    row = context.session.get(InstallationRow, installation_id)
    site = context.session.get(SiteRow, site_id)
    path = f"/scripts/{site_id}/{installation_id}/{signature}.js"
    if row is None or site is None or not any(script.path == path for script in scripts_of(context.session, site)):
        return None
    return context.session.get_one(IntegrationRow, row.integration), row


def _signature(session: Session, site_id: str, integration: IntegrationRow, row: InstallationRow) -> str:
    state = f"script {site_id} {row.id} {integration.version} {row.updated_at}"
    return hmac.digest(signing_key(session), state.encode(), hashlib.sha256).hex()[:32]


def policy_with(policy: dict[str, str], scripts: Iterable[SiteScript], origin: str) -> dict[str, str]:
    """Extend a content security policy by the scripts and the hosts that their integrations name.

    The host of the service is never allowed, because it also serves pages of other organizations.
    """
    sources: dict[str, list[str]] = {}
    for script in scripts:
        sources.setdefault("script-src", []).append(f"{origin}{script.path}")
        for directive, word in _named_hosts(script.policy, urlsplit(origin).hostname or ""):
            sources.setdefault(directive, []).append(word)
    added = {name: " ".join([*filter(None, [policy.get(name)]), *words]) for name, words in sources.items()}
    return policy | added


def _named_hosts(policy: Any, own: str) -> Iterator[tuple[str, str]]:
    """Yield pairs of a directive and a host that an integration may add to the policy of a page."""
    left = LONGEST
    for directive, words in _directives(policy).items():
        for word in words if directive in EXTENDED else ():
            left -= len(word)
            if left < 0:
                return
            if _is_elsewhere(word, own):
                yield directive, word


def policy_text(policy: Any) -> str | None:
    """Return the content security policy of an integration as text, or None if it has no directives."""
    return "; ".join(f"{name} {' '.join(words)}" for name, words in _directives(policy).items()) or None


def _directives(policy: Any) -> dict[str, list[str]]:
    if isinstance(policy, str):
        parts = (part.split() for part in policy.split(";"))
        return {words[0].lower(): words[1:] for words in parts if words}
    given = cast("dict[str, Any]", policy) if isinstance(policy, dict) else {}
    return {name.lower(): text.split() for name, text in given.items() if isinstance(text, str)}


def _is_elsewhere(source: str, own: str) -> bool:
    match = _SOURCE.fullmatch(source)
    if match is None:
        return False
    name = match[2].lower()
    return not own.endswith(f".{name}") if match[1] else own != name
