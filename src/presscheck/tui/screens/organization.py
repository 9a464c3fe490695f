"""Which organization a place shows."""

from __future__ import annotations

from collections.abc import Sequence

from presscheck.api.organizations import Organization


def chosen(found: Sequence[Organization], wanted: str | None) -> Organization | None:
    """The organization that the profile names by id or title, else the first."""
    return next((one for one in found if wanted in (one.id, one.title)), found[0] if found else None)
