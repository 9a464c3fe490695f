"""What a mirror of the service is made of: the answers that screens ask for, and what follows from which; values alone.

Everything is spelled as the screens spell it, so that an answer that was mirrored is the one that they find. A part of
the mirror is what belongs to one row of a listing; its version is all of the row by which it is told that it moved.
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
from presscheck.engine.inbox.views import VIEWS
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
"""An answer as on the wire."""
Known = Callable[[Operation[Any]], Json | None]
"""Looks an answer up in the store."""
UNFINISHED = ("all-open", "drafts")
"""The views of the inbox whose change requests are mirrored whole; of the others, the rows."""
WITH_TEXT = ("document", "computed")
"""The types of page that have a text."""


@dataclass(frozen=True)
class MirrorRequest:
    """An answer that the store should have.

    Attributes:
        call: what to ask.
        since: seconds since the epoch; an answer from before it may be outdated. 0 for what never changes.
        page: as the tree has it; an answer that says the same of it will do, however old.
        holds: other answers that stand in this one.
        then: what else is wanted, by what it says.
    """

    call: Operation[Any]
    since: float = 0.0
    page: Json | None = None
    holds: Callable[[Json], Iterable[tuple[Operation[Any], Json]]] | None = None
    then: Callable[[Json, Known], Iterable[MirrorRequest]] | None = None

    def is_met_by(self, answer: Json) -> bool:
        """Whether an older answer says what the tree of pages says now."""
        page = self.page
        if page is None or not (page.get("documentId") or page.get("updatedAt")):
            return False
        return all(answer.get(name) == value for name, value in page.items() if name != "pages")


@dataclass(frozen=True, slots=True)
class MirrorUnit:
    """What belongs to one row: `kind` says what it is, `version` is that of the row now."""

    kind: str
    space: str
    version: str
    request: str = ""
    revision: str = ""
    base: str = ""

    @property
    def name(self) -> str:
        """Tells it from all others."""
        return f"mirrored {self.kind} {self.space} {self.request}".strip()

    def wants(self, since: float) -> Iterable[MirrorRequest]:
        """What to begin with, where the version was first seen at that moment."""
        return _WANTS[self.kind](self, since)


def listings(organization: str, me: str) -> Iterator[Operation[Page[Any]]]:
    """The listings of an organization that screens bring in by rows."""
    yield ListSpaces(organization_id=organization)
    yield ListCollections(organization_id=organization, nested=True)
    for view in VIEWS:
        yield view.listing(organization, me)


def unfinished(organization: str, me: str) -> list[Operation[Page[ChangeRequest]]]:
    """Those of the listings whose change requests are mirrored whole."""
    return [view.listing(organization, me) for view in VIEWS if view.id in UNFINISHED]


def short_listings(organization: str, now: float) -> Iterator[MirrorRequest]:
    """What is asked for each time beside the listings: no row tells when it moves."""
    yield MirrorRequest(ListMembers(organization_id=organization, limit=ALL), now)

    def structures(sites: Json, _: Known) -> Iterator[MirrorRequest]:
        for site in sites["items"]:
            yield MirrorRequest(GetSiteStructure(organization_id=organization, site_id=site["id"]), now)

    yield MirrorRequest(ListSites(organization_id=organization, limit=ALL), now, then=structures)


def same_as_organization(organization: str) -> tuple[str, str, str]:
    """The call whose answer a row of organizations is: key, object, id."""
    return GetOrganization(organization_id=organization).key(), "organization", organization


def same_as_space(space: Space) -> Iterator[tuple[str, str, str]]:
    """The calls whose answer a row of spaces is: key, object, id."""
    yield GetSpace(space_id=space.id).key(), space.object, space.id


def same_as_request(request: ChangeRequest) -> Iterator[tuple[str, str, str]]:
    """The calls whose answer a row of change requests is: key, object, id."""
    for name in (request.id, str(request.number)):
        call = GetChangeRequest(space_id=request.space, change_request_id=name)
        yield call.key(), request.object, request.id


def parts_of_space(space: Space) -> Iterator[MirrorUnit]:
    """What belongs to a space: its live content."""
    yield MirrorUnit("space", space.id, space.revision)


def parts_of_request(request: ChangeRequest, live: Mapping[str, str]) -> Iterator[MirrorUnit]:
    """What belongs to a change request: content, talk, and where main has new changes, what a forecast compares.

    Args:
        request: its row.
        live: the live revision by the id of the space, as far as known.
    """
    base = request.revision_merged_ancestor or request.revision_initial
    given = {"space": request.space, "request": request.id, "revision": request.revision, "base": base}
    yield MirrorUnit("content", version=f"{base} {request.revision}", **given)
    yield MirrorUnit("talk", version=f"{request.updated_at} {request.comments}", **given)
    if request.outdated and base and request.space in live:
        yield MirrorUnit("forecast", version=f"{base} {request.revision} {live[request.space]}", **given)


def _space(part: MirrorUnit, since: float) -> Iterator[MirrorRequest]:
    def pages(revision: Json, _: Known) -> Iterator[MirrorRequest]:
        for page in flatten(revision.get("pages", ())):
            if page.get("type") == "document":
                yield MirrorRequest(live_page(part.space, page["id"]), since, page)

    tree = ListPages(space_id=part.space)
    yield MirrorRequest(GetCurrentRevision(space_id=part.space), since, holds=partial(_tree, tree), then=pages)


def _content(part: MirrorUnit, since: float) -> Iterator[MirrorRequest]:
    given: dict[str, Any] = {"space_id": part.space, "change_request_id": part.request}

    def changes(revision: Json, _: Known) -> Iterator[MirrorRequest]:
        pages = {page["id"]: page for page in flatten(revision.get("pages", ()))}
        yield MirrorRequest(changes_in(_row(part)), since, then=partial(_texts, part, since, pages))

    tree = ListChangeRequestPages(**given)
    yield MirrorRequest(GetChangeRequestRevision(**given), since, holds=partial(_tree, tree), then=changes)


def _texts(
    part: MirrorUnit, since: float, pages: Mapping[str, Json], changes: Json, _: Known
) -> Iterator[MirrorRequest]:
    """The texts of what changed, before and after; of all changes, where the answer left some out."""
    found = changes["changes"]
    if changes.get("more") and len(found) <= ALL:
        longer = changes_in(_row(part), len(found) + changes["more"] + ALL)
        yield MirrorRequest(longer, since, then=partial(_texts, part, since, pages))
        return
    happened: dict[str, set[str]] = {}
    for change in found:
        page = change.get("page")
        if page and page.get("type") in WITH_TEXT:
            happened.setdefault(page["id"], set()).add(change["type"])
    for page_id, kinds in happened.items():
        if "page_created" not in kinds and part.base:
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
    yield MirrorRequest(comments_on(row), since, then=replies)


def _forecast(part: MirrorUnit, _: float) -> Iterator[MirrorRequest]:
    def texts(base: Json, known: Known) -> Iterator[MirrorRequest]:
        ours = known(GetChangeRequestRevision(space_id=part.space, change_request_id=part.request))
        theirs = known(GetCurrentRevision(space_id=part.space))
        if ours and theirs:
            for revision, page in both_changed(dict(base), dict(ours), dict(theirs)):
                yield MirrorRequest(page_in(part.space, revision, page["id"]))

    yield MirrorRequest(GetRevision(space_id=part.space, revision_id=part.base), then=texts)


_WANTS: dict[str, Callable[[MirrorUnit, float], Iterable[MirrorRequest]]] = {
    "space": _space,
    "content": _content,
    "talk": _talk,
    "forecast": _forecast,
}


def _tree(call: Operation[Any], revision: Json) -> Iterator[tuple[Operation[Any], Json]]:
    """The tree of pages, which stands in the revision."""
    yield call, {"pages": revision.get("pages", [])}


def _row(part: MirrorUnit) -> ChangeRequest:
    return ChangeRequest(id=part.request, space=part.space)
