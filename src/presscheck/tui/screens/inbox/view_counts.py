"""Counts of the views that are not shown, and reading of listings that are arranged in the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presscheck.engine.inbox.organization_inbox import is_current
from presscheck.engine.inbox.views import personal_listings
from presscheck.engine.reads.scheduler import BACKGROUND

if TYPE_CHECKING:
    from presscheck.api.change_requests import ListOrganizationChangeRequests
    from presscheck.engine.engine import Engine
    from presscheck.tui.screens.inbox.model import InboxModel
    from presscheck.tui.screens.inbox.panes import InboxPanes

COUNTED = 50
"""Number of items up to which a view is counted if the service does not send totals."""


async def read_counts(engine: Engine, model: InboxModel, panes: InboxPanes) -> None:
    """Read the counts of the other views from the service, and draw each count.

    Listings that are arranged in the store, and listings that concern the user, are read completely, unless they are
    complete and unchanged.
    """
    shown = model.listing()
    if shown is None:
        return
    model.counts.pop(model.view.id, None)
    listings = {listing.key(): listing for listing in personal_listings(model.organization, model.me)}
    counted: list[tuple[str, ListOrganizationChangeRequests]] = []
    for view in model.views:
        listing = model.listing(view)
        if listing is None or view is model.view:
            continue
        if model.is_arranged(view):
            listings[listing.key()] = listing
        else:
            counted.append((view.id, listing))
    for key, listing in listings.items():
        if key != shown.key():
            await _read_listing(engine, listing)
    for name, listing in counted:
        model.counts[name] = await _count(engine, listing, is_read=listing.key() in listings)
        panes.show_tabs()


async def _count(engine: Engine, listing: ListOrganizationChangeRequests, *, is_read: bool) -> tuple[int, bool]:
    """Return the number of items in a listing, and whether the number is exact.

    If the listing was just read completely (`is_read`), it is not requested again. If the service does not send a
    total, a few items are requested and counted.
    """
    if is_read and (stored := engine.window(listing, 0, 0)).complete:
        return stored.total, True
    count = 0
    for limit in (1, COUNTED):
        page = await engine.read(listing.model_copy(update={"limit": limit}), priority=BACKGROUND)
        count = len(page.items)
        if page.next is None:
            return count, True
        if page.total is not None and page.total > 0:
            return page.total, True
    return count, False


async def _read_listing(engine: Engine, listing: ListOrganizationChangeRequests) -> None:
    """Read a listing completely, unless it is complete in the store and unchanged."""
    if await is_current(engine, listing, BACKGROUND):
        return
    async for result in engine.watch_listing(listing, priority=BACKGROUND):
        if result.error or (result.state != "cached" and engine.window(listing, 0, 0).complete):
            return
