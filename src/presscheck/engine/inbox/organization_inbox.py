"""The views of one organization's inbox, fetched into the cache and read from there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from presscheck.api.change_requests import ChangeRequest, ListOrganizationChangeRequests
from presscheck.api.organizations import Organization
from presscheck.api.spaces import ListSpaces
from presscheck.engine.inbox.query_language import is_local
from presscheck.engine.inbox.views import (
    Group,
    View,
    arrange_rows,
    hidden_positions,
    listing_of,
    missing_reviews,
    personal_listings,
)
from presscheck.engine.reads.scheduler import REQUESTED
from presscheck.errors import IncompleteList, NetworkError
from presscheck.text.phrases import now

if TYPE_CHECKING:
    from presscheck.client.request_priority import Priority
    from presscheck.engine.engine import Engine


@dataclass(frozen=True)
class OrganizationInbox:
    """The views of an organization, as positions in their cached listings.

    Attributes:
        groups: the groups of each view, by its id.
        spaces: titles of spaces by id, as the service sent them.
        me: the id of the signed-in user; empty if unknown.
    """

    organization: Organization
    groups: Mapping[str, Sequence[Group]]
    spaces: Mapping[str, str]
    me: str

    def count(self, view: View) -> int:
        """Return the number of change requests in a view."""
        return sum(len(group.places) for group in self.groups[view.id])

    def rows(self, engine: Engine, view: View, limit: int) -> tuple[list[ChangeRequest], dict[int, str]]:
        """Return the first `limit` change requests of a view, and the headings by the index of the row below them."""
        listing = listing_of(view, "", self.organization.id, self.me)
        requests, headings = list[ChangeRequest](), dict[int, str]()
        for group in self.groups[view.id]:
            places = group.places[: limit - len(requests)]
            if places and group.title is not None:
                headings[len(requests)] = group.title
            known = engine.rows(listing, places)
            requests += [known[place] for place in places if place in known]
        return requests, headings


def spaces_of(organization: str) -> ListSpaces:
    """Return the listing whose answer has the titles of an organization's spaces."""
    return ListSpaces(organization_id=organization, limit=1000)


async def fetch_views(
    engine: Engine, organization: str, views: Sequence[View], me: str, priority: Priority = REQUESTED
) -> IncompleteList | None:
    """Fetch the listings of views, the spaces, and the reviews on which views depend. A listing without news is kept.

    Returns:
        The error of the first listing that is incomplete, or None.

    Raises:
        PresscheckError: the service returned an error, or it cannot be reached and nothing is cached.
    """
    await engine.read(spaces_of(organization), priority=priority)
    open_requests = ListOrganizationChangeRequests(organization_id=organization, status="open")
    listings = [*personal_listings(organization, me), open_requests] if me else []
    listings += [listing_of(view, "", organization, me) for view in views]
    incomplete = None
    for listing in {listing.key(): listing for listing in listings}.values():
        incomplete = await _fetch_list(engine, listing, priority) or incomplete
    for call in missing_reviews(engine, organization, me):
        await engine.read(call, priority=priority)
    return incomplete


async def cached_views(
    engine: Engine, organization: Organization, views: Sequence[View], me: str, *, shows_hidden: bool
) -> OrganizationInbox:
    """Return the views as they are in the cache.

    Args:
        engine: reads the cache.
        organization: the organization.
        views: the views.
        me: the id of the signed-in user; empty if unknown.
        shows_hidden: whether views have rows that are done or snoozed; the app leaves them out of some views.
    """
    known = engine.known(spaces_of(organization.id))
    spaces = {space.id: space.title for space in known.value.items} if known else {}
    groups = {
        view.id: await _groups(engine, view, organization.id, me, spaces, shows_hidden=shows_hidden) for view in views
    }
    return OrganizationInbox(organization, groups, spaces, me)


async def is_current(engine: Engine, listing: ListOrganizationChangeRequests, priority: Priority) -> bool:
    """Return whether a stored listing is complete, and has the same length and first item as on the service.

    The first item is the one updated last, so it differs after any update.
    """
    stored = engine.window(listing, 0, 1)
    if not stored.complete:
        return False
    page = await engine.read(listing.model_copy(update={"limit": 1}), priority=priority)
    total = len(page.items) if page.next is None else page.total
    return total == stored.total and page.items == stored.items


async def _groups(
    engine: Engine, view: View, organization: str, me: str, spaces: Mapping[str, str], *, shows_hidden: bool
) -> tuple[Group, ...]:
    listing = listing_of(view, "", organization, me)
    groups: tuple[Group, ...] = (Group(None, range(engine.window(listing, 0, 0).total)),)
    if view.is_grouped or is_local(view.query):
        groups = await arrange_rows(engine, view, listing, view.query, spaces, now(), me)
    hidden = () if shows_hidden else hidden_positions(engine, view, listing)
    if not hidden:
        return groups
    return tuple(Group(group.title, [place for place in group.places if place not in hidden]) for group in groups)


async def _fetch_list(
    engine: Engine, listing: ListOrganizationChangeRequests, priority: Priority
) -> IncompleteList | None:
    with suppress(NetworkError):  # the stored listing is shown
        if await is_current(engine, listing, priority):
            return None
    error = None
    async for seen in engine.watch_listing(listing, priority=priority):
        error = seen.error
        if error or (seen.state != "cached" and engine.window(listing, 0, 0).complete):
            break
    if isinstance(error, IncompleteList):
        return error
    if error and engine.window(listing, 0, 0).age is None:
        raise error
    return None
