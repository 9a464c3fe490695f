"""The spaces of an organization as choices of a picker."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from presscheck.api.spaces import ListSpaces
from presscheck.text.sanitize import sanitize
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.engine.engine import Engine

MANY = 10_000


async def space_choices(engine: Engine, organization_id: str, without: Collection[str]) -> list[Choice]:
    """Return the spaces of an organization as choices, excluding the ids in `without`.

    Spaces that are not cached are loaded first.

    Raises:
        PresscheckError: the spaces cannot be loaded.
    """
    listing = ListSpaces(organization_id=organization_id)
    window = engine.window(listing, 0, MANY)
    if not window.complete:
        async for result in engine.watch_listing(listing):
            window = engine.window(listing, 0, MANY)
            if result.error and not window.items:
                raise result.error
            if result.error or window.complete:
                break
    return [
        Choice(space.id, sanitize(space.title) or "(no title)") for space in window.items if space.id not in without
    ]
