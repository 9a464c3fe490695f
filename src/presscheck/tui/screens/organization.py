"""The choice of the organization that screens show."""

from __future__ import annotations

from collections.abc import Sequence

from presscheck.api.organizations import Organization


def choose_organization(organizations: Sequence[Organization], preferred: str | None) -> Organization | None:
    """Return the organization with the preferred id or title, else the first, or None without organizations."""
    for organization in organizations:
        if preferred in (organization.id, organization.title):
            return organization
    return organizations[0] if organizations else None
