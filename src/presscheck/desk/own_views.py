"""The views of the inbox that a person keeps: listings of the service, narrowed, sorted and grouped from the store.

The service is asked as little as for the built-in ones: views that differ in what the store can tell share a listing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from presscheck.api.change_requests import ListOrganizationChangeRequests
from presscheck.config.views import SavedView, same_name
from presscheck.desk.inbox import VIEWS, View
from presscheck.desk.protocols import StoreWorker
from presscheck.desk.queries import ME, asks_of, parse
from presscheck.errors import InvalidArgument


@dataclass(frozen=True)
class Group:
    """Rows that stand together, as places in their listing; `title` is None where nothing is grouped."""

    title: str | None
    places: tuple[int, ...]


def own_view(saved: SavedView) -> View:
    """The tab of a view that a person keeps."""
    return View(
        saved.name,
        saved.name,
        lambda org, _: ListOrganizationChangeRequests(organization_id=org, status="open"),
        "Nothing fits this view of yours now. M e changes it.",
        hides=any(value == ME for _, value in asks_of(saved.query)),
        saved=saved,
    )


def all_views(saved: Iterable[SavedView]) -> tuple[View, ...]:
    """The tabs: those that are built in, and the person's own behind them."""
    return (*VIEWS, *(own_view(one) for one in saved))


def judge(view: SavedView) -> tuple[str, str] | None:
    """The field of a view that will not do, and why, as far as the file itself cannot tell."""
    if any(same_name(view.name, name) for one in VIEWS for name in (one.id, one.title)):
        return "name", "is the name of a view that is built in"
    try:
        parse(view.query, {}, datetime.now(UTC))
    except InvalidArgument as error:
        return "query", f"is not understood: {error.message}"
    return None


def listing_of(view: View, more: str, organization: str, me: str) -> ListOrganizationChangeRequests:
    """The question behind a view, for an organization and the signed-in user; `more` is typed to narrow it."""
    asks = dict(asks_of(f"{view.query} {more}"))
    known = {field: me if value == ME else value for field, value in asks.items()}
    return view.listing(organization, me).model_copy(update=known)


async def arranged(
    desk: StoreWorker,
    view: View,
    listing: ListOrganizationChangeRequests,
    text: str,
    spaces: Mapping[str, str],
    now: datetime,
) -> tuple[Group, ...]:
    """What a view shows of a listing that is in the store, in the order and below the headings that it wants.

    Raises:
        InvalidArgument: `text` is not understood.
    """
    query, key = parse(text, spaces, now), listing.key()
    found = await desk.in_store(lambda cache: cache.matching(key, query.conditions, query.order))
    if not view.is_grouped:
        return (Group(None, tuple(place for place, _ in found)),)
    groups: dict[str, list[int]] = {}
    for place, space in found:
        groups.setdefault(space, []).append(place)
    titled = [(spaces.get(space, space), places) for space, places in groups.items()]
    return tuple(Group(title, tuple(places)) for title, places in sorted(titled, key=lambda one: one[0].casefold()))
