"""The requests of a sync: the calls of the screens, their follow-ups, and their versions.

The calls equal the calls of the screens, so they share cache keys. A part of the sync covers everything that belongs to
one row of a listing. The version of a part consists of the fields of the row that change when the part changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from presscheck.api.change_requests import ChangeRequest, GetChangeRequest
from presscheck.api.collections import ListCollections
from presscheck.api.content import (
    GetChangeRequestRevision,
    GetCurrentRevision,
    GetRevision,
    ListChangeRequestPages,
    ListPages,
)
from presscheck.api.operation import Operation, Page
from presscheck.api.organizations import GetOrganization, ListMembers
from presscheck.api.site_structure import GetSiteStructure
from presscheck.api.sites import ListSites
from presscheck.api.spaces import GetSpace, ListSpaces, Space
from presscheck.documents.pages.tree import flatten
from presscheck.engine.inbox.views import VIEWS, listing_of, listings_of
from presscheck.engine.review.merge_forecast import both_changed
from presscheck.engine.shared_calls import (
    ALL,
    changed_page,
    changes_in,
    comments_on,
    live_page,
    page_in,
    replies_to,
    reviewers_of,
    reviews_of,
)

Json = Mapping[str, Any]
"""A response as JSON."""
Known = Callable[[Operation[Any]], Json | None]
"""A function that returns a cached response, or None."""
UNFINISHED = ("all-open", "drafts")
"""The inbox views whose change requests are synced with their content. Only the rows of other views are synced."""
WITH_TEXT = ("document", "computed")
"""The page types with a text."""


@dataclass(frozen=True)
class MirrorRequest:
    """A response that should be in the cache.

    Attributes:
        call: the call.
        since: seconds since the epoch; an older response may be outdated. 0 for a response that never changes.
        page: the entry of the page in the page tree; a response with the same values is current, whatever its age.
        contains: returns the other responses that this response contains.
        follow_ups: returns further requests, given the response and a lookup in the cache.
    """

    call: Operation[Any]
    since: float = 0.0
    page: Json | None = None
    contains: Callable[[Json], Iterable[tuple[Operation[Any], Json]]] | None = None
    follow_ups: Callable[[Json, Known], Iterable[MirrorRequest]] | None = None

    def is_met_by(self, answer: Json) -> bool:
        """Return whether an older response agrees with the current page tree."""
        page = self.page
        if page is None or not (page.get("documentId") or page.get("updatedAt")):
            return False
        return all(answer.get(name) == value for name, value in page.items() if name != "pages")


@dataclass(frozen=True, slots=True)
class MirrorUnit:
    """A part of the sync: the content that belongs to one row of a listing.

    Attributes:
        kind: `space`, `content`, `talk` or `forecast`.
        version: the current version of the row.
    """

    kind: str
    space: str
    version: str
    request: str = ""
    revision: str = ""
    base: str = ""

    @property
    def name(self) -> str:
        """The key under which the cache stores the state of the part."""
        return f"mirrored {self.kind} {self.space} {self.request}".strip()

    def requests(self, since: float) -> Iterable[MirrorRequest]:
        """Return the requests that the part begins with. `since` is when the part's version was first seen."""
        return _REQUESTS[self.kind](self, since)


def listings(organization: str, me: str) -> Iterator[Operation[Page[Any]]]:
    """Yield the listings of an organization that every sync fetches: spaces, collections and change requests."""
    yield ListSpaces(organization_id=organization)
    yield ListCollections(organization_id=organization, nested=True)
    yield from listings_of(organization, me)


def unfinished(organization: str, me: str) -> list[Operation[Page[ChangeRequest]]]:
    """Return the listings of unfinished change requests, for which a sync also loads the content."""
    return [listing_of(view, "", organization, me) for view in VIEWS if view.id in UNFINISHED]


def short_listings(organization: str, now: float) -> Iterator[MirrorRequest]:
    """Yield requests that every sync sends, because their responses have no version."""
    yield MirrorRequest(ListMembers(organization_id=organization, limit=ALL), now)

    def structures(sites: Json, _: Known) -> Iterator[MirrorRequest]:
        for site in sites["items"]:
            yield MirrorRequest(GetSiteStructure(organization_id=organization, site_id=site["id"]), now)

    yield MirrorRequest(ListSites(organization_id=organization, limit=ALL), now, follow_ups=structures)


def same_as_organization(organization: str) -> tuple[str, str, str]:
    """Return the cache key of the call for an organization, and the type and id of the cached row with the response."""
    return GetOrganization(organization_id=organization).key(), "organization", organization


def same_as_space(space: Space) -> Iterator[tuple[str, str, str]]:
    """Yield the cache key of the call for a space, and the type and id of the cached row with the response."""
    yield GetSpace(space_id=space.id).key(), space.object, space.id


def same_as_request(request: ChangeRequest) -> Iterator[tuple[str, str, str]]:
    """Yield the cache keys of the calls for a change request, each with the type and id of the cached row.

    The change request can be read by its id and by its number.
    """
    for name in (request.id, str(request.number)):
        call = GetChangeRequest(space_id=request.space, change_request_id=name)
        yield call.key(), request.object, request.id


def parts_of_space(space: Space) -> Iterator[MirrorUnit]:
    """Yield the part of a space: its live content."""
    yield MirrorUnit("space", space.id, space.revision)


def parts_of_request(request: ChangeRequest, live: Mapping[str, str]) -> Iterator[MirrorUnit]:
    """Yield the parts of a change request: content, discussion and, if main has new changes, the inputs of a forecast.

    Args:
        request: the row.
        live: the current revisions of synced spaces, by space id.
    """
    base = request.revision_merged_ancestor or request.revision_initial
    path = {"space": request.space, "request": request.id, "revision": request.revision, "base": base}
    yield MirrorUnit("content", version=f"{base} {request.revision}", **path)
    yield MirrorUnit("talk", version=f"{request.updated_at} {request.comments}", **path)
    if request.outdated and base and request.space in live:
        yield MirrorUnit("forecast", version=f"{base} {request.revision} {live[request.space]}", **path)


def _space(part: MirrorUnit, since: float) -> Iterator[MirrorRequest]:
    def pages(revision: Json, _: Known) -> Iterator[MirrorRequest]:
        for page in flatten(revision.get("pages", ())):
            if page.get("type") == "document":
                yield MirrorRequest(live_page(part.space, page["id"]), since, page)

    tree = ListPages(space_id=part.space)
    yield MirrorRequest(GetCurrentRevision(space_id=part.space), since, contains=partial(_tree, tree), follow_ups=pages)


def _content(part: MirrorUnit, since: float) -> Iterator[MirrorRequest]:
    path: dict[str, Any] = {"space_id": part.space, "change_request_id": part.request}

    def changes(revision: Json, _: Known) -> Iterator[MirrorRequest]:
        pages = {page["id"]: page for page in flatten(revision.get("pages", ()))}
        yield MirrorRequest(changes_in(_row(part)), since, follow_ups=partial(_texts, part, since, pages))

    tree = ListChangeRequestPages(**path)
    yield MirrorRequest(GetChangeRequestRevision(**path), since, contains=partial(_tree, tree), follow_ups=changes)


def _texts(
    part: MirrorUnit, since: float, pages: Mapping[str, Json], changes: Json, _: Known, *, is_second: bool = False
) -> Iterator[MirrorRequest]:
    """Yield requests for the texts of changed pages, before and after the change.

    A truncated list of changes is requested again in full. `is_second` marks the response to that request, which is
    used even if it is truncated again.
    """
    listed_changes = changes["changes"]
    if changes.get("more") and not is_second:
        longer = changes_in(_row(part), len(listed_changes) + changes["more"] + ALL)
        yield MirrorRequest(longer, since, follow_ups=partial(_texts, part, since, pages, is_second=True))
        return
    changes_by_page: dict[str, set[str]] = {}
    for change in listed_changes:
        page = change.get("page")
        if page and page.get("type") in WITH_TEXT:
            changes_by_page.setdefault(page["id"], set()).add(change["type"])
    for page_id, kinds in changes_by_page.items():
        if not kinds & {"page_created", "page_listed"} and part.base:
            yield MirrorRequest(page_in(part.space, part.base, page_id))
        if "page_deleted" not in kinds:
            yield MirrorRequest(changed_page(part.space, part.request, page_id), since, pages.get(page_id))


def _talk(part: MirrorUnit, since: float) -> Iterator[MirrorRequest]:
    def replies(comments: Json, _: Known) -> Iterator[MirrorRequest]:
        for comment in comments["items"]:
            if comment.get("replies"):
                yield MirrorRequest(replies_to(part.space, part.request, comment["id"]), since)

    row = _row(part)
    yield MirrorRequest(reviews_of(row), since)
    yield MirrorRequest(reviewers_of(row), since)
    yield MirrorRequest(comments_on(row), since, follow_ups=replies)


def _forecast(part: MirrorUnit, _: float) -> Iterator[MirrorRequest]:
    def texts(base: Json, known: Known) -> Iterator[MirrorRequest]:
        ours = known(GetChangeRequestRevision(space_id=part.space, change_request_id=part.request))
        theirs = known(GetCurrentRevision(space_id=part.space))
        if ours and theirs:
            for revision, page in both_changed(dict(base), dict(ours), dict(theirs)):
                yield MirrorRequest(page_in(part.space, revision, page["id"]))

    yield MirrorRequest(GetRevision(space_id=part.space, revision_id=part.base), follow_ups=texts)


_REQUESTS: dict[str, Callable[[MirrorUnit, float], Iterable[MirrorRequest]]] = {
    "space": _space,
    "content": _content,
    "talk": _talk,
    "forecast": _forecast,
}


def _tree(call: Operation[Any], revision: Json) -> Iterator[tuple[Operation[Any], Json]]:
    yield call, {"pages": revision.get("pages", [])}


def _row(part: MirrorUnit) -> ChangeRequest:
    return ChangeRequest(id=part.request, space=part.space)
