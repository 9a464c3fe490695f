"""Views of an organization's inbox, which are fetched into the cache and read from it."""

from collections.abc import Sequence
from typing import Any

import pytest

from presscheck.api.change_requests import ListOrganizationChangeRequests
from presscheck.api.operation import Operation
from presscheck.api.organizations import ListOrganizations
from presscheck.api.spaces import ListSpaces
from presscheck.client.request_priority import Priority
from presscheck.config.saved_views import SavedView
from presscheck.engine.engine import Engine
from presscheck.engine.inbox.organization_inbox import cached_views, fetch_views, is_current
from presscheck.engine.inbox.views import VIEWS, View, listing_of, own_view
from presscheck.engine.members import user_id

pytestmark = pytest.mark.service(sample=True)
NEEDS_ME = VIEWS[0]
BY_SPACE = own_view(SavedView("By space", "status:open", "", "space"))


async def requests_of(engine: Engine, views: Sequence[View]) -> list[Operation[Any] | None]:
    """Fetch the views of the only organization. Returns the calls that were sent."""
    [organization] = (await engine.read(ListOrganizations())).items
    me = await user_id(engine)
    before = len(await anext(engine.activity()))
    assert await fetch_views(engine, organization.id, views, me) is None
    entries = await anext(engine.activity())
    return [entry.call for entry in entries[: len(entries) - before]]


async def test_cached_views_have_the_rows_and_headings_of_the_inbox(engine: Engine) -> None:
    [organization] = (await engine.read(ListOrganizations())).items
    me, views = await user_id(engine), (NEEDS_ME, BY_SPACE)
    nothing = await cached_views(engine, organization, views, me, shows_hidden=False)
    assert [nothing.count(view) for view in views] == [0, 0]
    await fetch_views(engine, organization.id, views, me)
    inbox = await cached_views(engine, organization, views, me, shows_hidden=False)
    rows, headings = inbox.rows(engine, NEEDS_ME, 50)
    assert (len(rows), headings) == (inbox.count(NEEDS_ME), {})
    assert [row.updated_at for row in rows] == sorted((row.updated_at for row in rows), reverse=True)
    first, headings = inbox.rows(engine, BY_SPACE, 3)
    assert len(first) == 3
    assert headings[0] == inbox.spaces[first[0].space]

    engine.triage.done(rows[0])
    for shows_hidden, is_shown in ((False, False), (True, True)):
        again = await cached_views(engine, organization, (NEEDS_ME,), me, shows_hidden=shows_hidden)
        assert (rows[0] in again.rows(engine, NEEDS_ME, 50)[0]) == is_shown


async def test_unchanged_listing_is_not_fetched_again(engine: Engine) -> None:
    first = await requests_of(engine, (NEEDS_ME,))
    again = await requests_of(engine, (NEEDS_ME,))
    assert len(again) < len(first)
    listings = [call for call in again if isinstance(call, ListOrganizationChangeRequests)]
    assert listings
    assert all(listing.limit == 1 for listing in listings)
    assert [type(call) for call in again if call not in listings] == [ListSpaces], "reviews are newer than the requests"


async def test_listing_is_current_after_it_was_fetched(engine: Engine) -> None:
    [organization] = (await engine.read(ListOrganizations())).items
    listing = listing_of(NEEDS_ME, "", organization.id, await user_id(engine))
    assert not await is_current(engine, listing, Priority.REQUESTED), "nothing is stored"
    await fetch_views(engine, organization.id, (NEEDS_ME,), await user_id(engine))
    assert await is_current(engine, listing, Priority.REQUESTED)
