"""Plain words for the permissions of an integration and the places where it can be installed."""

from __future__ import annotations

from collections.abc import Iterable

SCOPES = {
    "space:content:read": "Read the pages and files of spaces",
    "space:content:write": "Change the pages and files of spaces",
    "space:metadata:read": "Read titles and settings of spaces",
    "space:metadata:write": "Change titles and settings of spaces",
    "space:git:sync": "Sync spaces with Git repositories",
    "page:feedback:read": "Read the feedback of visitors on pages",
    "site:metadata:read": "Read titles and settings of sites",
    "site:views:read": "See which pages visitors open",
    "site:script:inject": "Run its own script on the pages of sites",
    "site:script:cookies": "Read and set cookies of visitors with its script",
    "site:visitor:auth": "Sign visitors in to sites",
    "site:visitor:claims": "Read what the sign-in tells about visitors",
    "site:adaptive:read": "Read the visitor schema of sites",
    "site:adaptive:write": "Change the visitor schema of sites",
    "openapi:read": "Read OpenAPI specifications",
    "openapi:write": "Add and change OpenAPI specifications",
    "conversations:ingest": "Add conversations with visitors",
}
"""The permission of each scope in words."""
RISKY = frozenset(scope for scope in SCOPES if scope.endswith((":write", ":inject", ":cookies", ":auth", ":sync")))
"""Scopes that let an integration change content or affect visitors of a site."""
TARGETS = {
    "all": "spaces, sites and the organization",
    "site": "sites",
    "space": "spaces",
    "organization": "the organization",
}
"""The places where an integration can be installed, in words."""


def scope_text(scope: str) -> str:
    """Describe a scope; a scope unknown to this version is described by its name."""
    return SCOPES.get(scope, f"{scope} (a scope that this version does not know)")


def in_order(scopes: Iterable[str]) -> list[str]:
    """Return the scopes without duplicates, risky scopes first."""
    return sorted(set(scopes), key=lambda scope: (scope not in RISKY, [*SCOPES, scope].index(scope), scope))
