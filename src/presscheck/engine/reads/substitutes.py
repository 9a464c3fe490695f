"""Answers for operations that a service does not have, made from other operations.

A service may have only the operations of the published document. The spaces of an organization are then collected from
its collections, change requests and sites, its members from its teams, and the content of a revision from a change
request with this revision. An answer has the same form as the response of the missing operation. If the content cannot
be determined, the answer is an error.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel

from presscheck.api import change_requests as requests
from presscheck.api import (
    collections,
    content,
    content_changes,
    organizations,
    published_sites,
    site_structure,
    sites,
    spaces,
    teams,
)
from presscheck.api.operation import ALL, Operation, Page
from presscheck.api.users import GetCurrentUser, User
from presscheck.client.request_priority import Priority
from presscheck.documents.pages.tree import flatten, semantic_changes
from presscheck.engine.protocols import CachedReader
from presscheck.engine.reads.listing_guard import ListingGuard
from presscheck.engine.shared_calls import reviewers_of
from presscheck.errors import Forbidden, NotFound, NotSupported

T = TypeVar("T")
Call = Any
EMPTY = b'{"items": []}'
CLOSED: tuple[requests.ChangeRequestStatus, ...] = ("merged", "archived")
UNFINISHED: tuple[requests.ChangeRequestStatus, ...] = ("open", "draft")
STATUSES = (*CLOSED, *UNFINISHED)
"""The states of change requests. The first two are final: the content does not change any more."""
HOLDER_SECONDS = 30.0
"""Seconds until an unsuccessful search for a change request with the content of a revision is repeated."""
MAX_FOLLOWED = 50
"""Maximum number of change requests whose reviewers are listed to find the people of an organization."""
NO_HOLDER = ", and no change request has this content"
NO_USER = "This service does not tell who you are: set `user` in the settings"


class Substitutes:
    """The substitutes for responses, made from the responses of other operations.

    Args:
        reader: reads from the service.
        user: the id, e-mail address or name of the signed-in user, from the settings; None if it is not set.
    """

    def __init__(self, reader: CachedReader, user: str | None) -> None:
        self._reader, self.user = reader, user
        self._holders: dict[tuple[str, str], tuple[_Holder, float]] = {}
        """Search results by space and revision: the change requests with this content, and the time of the search."""
        self._answers: dict[type[Operation[Any]], Callable[[Call, Priority], Awaitable[bytes]]] = {
            GetCurrentUser: self._current_user,
            requests.ListReviews: _nothing,
            spaces.ListSpaces: self._spaces,
            organizations.ListMembers: self._members,
            organizations.GetMember: self._member,
            site_structure.GetSiteStructure: self._site_structure,
            content.GetCurrentRevision: self._revision,
            content.GetRevision: self._revision,
            content.ListPages: self._pages,
            content.ListRevisionPages: self._pages,
            content.GetPage: self._page,
            content.GetRevisionPage: self._page,
            content.ListFiles: self._files,
            content.ListRevisionFiles: self._files,
            content_changes.GetChangeRequestChanges: self._changes,
            content_changes.GetRevisionChanges: self._revision_changes,
        }

    async def body(self, call: Operation[Any], error: NotSupported, priority: Priority) -> bytes:
        """Return a substitute for the response to a call that the service does not support.

        Raises:
            NotSupported: there is no substitute for the operation or for this resource.
            RequestError: a request failed.
        """
        answer = self._answers.get(type(call))
        if answer is None:
            raise error
        try:
            return await answer(call, priority)
        except _Unknown as unknown:
            message = f"{error.message}{unknown.reason}" if unknown.reason.startswith(",") else unknown.reason
        raise NotSupported(message, request=str(call), status=error.status)

    async def _read(self, call: Operation[T], priority: Priority) -> T:
        return await self._reader.read(call, priority=priority)

    async def _all(self, listing: Operation[Page[T]], priority: Priority) -> list[T]:
        """Return the items of a listing up to the point where it is cut off or where access is denied."""
        found: list[T] = []
        guard = ListingGuard(listing)
        call = listing.model_copy(update={"limit": ALL})
        while True:
            try:
                page = await self._read(call, priority)
            except (Forbidden, NotFound):
                return found
            found += guard.new_items(page.items)
            if page.next is None or guard.problem(page.next.page):
                return found
            call = call.model_copy(update={"page": page.next.page})

    async def _all_of(self, listings: Iterable[Operation[Page[T]]], priority: Priority) -> list[T]:
        return [
            item
            for items in await asyncio.gather(*(self._all(listing, priority) for listing in listings))
            for item in items
        ]

    async def _current_user(self, _: Call, priority: Priority) -> bytes:
        if not self.user:
            raise _Unknown(NO_USER)
        known = self._reader.known(GetCurrentUser())
        if known and _is_called(known.value, self.user):
            return _json(known.value)  # from an earlier session
        people: dict[str, User] = {}
        for organization in await self._all(organizations.ListOrganizations(), priority):
            people |= {person.id: person for person in await self.people(organization.id, priority)}
        name = self.user.casefold()
        for matches in (
            [person for person in people.values() if person.id == self.user],
            [person for person in people.values() if (person.email or "").casefold() == name],
            [person for person in people.values() if person.display_name.casefold() == name],
        ):
            if len(matches) == 1:
                return _json(matches[0])
            if matches:
                raise _Unknown(f"Several people are called “{self.user}”: set `user` to an id or an e-mail address")
        raise _Unknown(f"No user “{self.user}” is known: check `user` in the settings")

    async def people(self, organization: str, priority: Priority) -> list[User]:
        """Return team members, authors and reviewers of change requests of an organization, sorted by name."""
        members = await self._team_members(organization, priority)
        found = {member.user.id: member.user for member in members}
        listings = (requests.ListOrganizationChangeRequests(organization_id=organization, status=s) for s in UNFINISHED)
        written = await self._all_of(listings, priority)
        reviewers = await self._all_of(map(reviewers_of, written[:MAX_FOLLOWED]), priority)
        for person in (*(request.created_by for request in written), *(reviewer.user for reviewer in reviewers)):
            if person:
                found.setdefault(person.id, person)
        return sorted(found.values(), key=lambda person: (person.display_name.casefold(), person.id))

    async def _team_members(self, organization: str, priority: Priority) -> list[organizations.OrganizationMember]:
        listed = await self._all(teams.ListTeams(organization_id=organization), priority)
        listings = [teams.ListTeamMembers(organization_id=organization, team_id=team.id) for team in listed]
        members = await self._all_of(listings, priority)
        return list({member.organization.user.id: member.organization for member in members}.values())

    async def _members(self, call: organizations.ListMembers, priority: Priority) -> bytes:
        members = await self._team_members(call.organization_id, priority)
        if call.role is not None:
            members = [member for member in members if (member.role or "guest") == call.role]
        if call.search:
            text = call.search.casefold()
            names = {
                member.id: f"{member.user.display_name} {member.user.email or ''}".casefold() for member in members
            }
            members = [member for member in members if text in names[member.id]]
        return _list(members)

    async def _member(self, call: organizations.GetMember, priority: Priority) -> bytes:
        for member in await self._team_members(call.organization_id, priority):
            if member.user.id == call.user_id:
                return _json(member)
        raise _Unknown(", and this person is in no team")

    async def _spaces(self, call: spaces.ListSpaces, priority: Priority) -> bytes:
        organization = call.organization_id
        listed, written, on_sites = await asyncio.gather(
            self._all(collections.ListCollections(organization_id=organization, nested=True), priority),
            self._all_of(_requests_of(organization), priority),
            self._spaces_of_sites(organization, priority),
        )
        parts = [collections.ListSpacesInCollection(collection_id=collection.id) for collection in listed]
        found = {space.id: space for space in await self._all_of(parts, priority)}
        others = dict.fromkeys([*on_sites, *(request.space for request in written)])
        missing = await asyncio.gather(*(self._space(space, priority) for space in others if space not in found))
        found |= {space.id: space for space in sorted(filter(None, missing), key=lambda space: space.title.casefold())}
        return _list(space for space in found.values() if space.organization in ("", organization))

    async def _space(self, space: str, priority: Priority) -> spaces.Space | None:
        try:
            return await self._read(spaces.GetSpace(space_id=space), priority)
        except (Forbidden, NotFound):
            return None

    async def _spaces_of_sites(self, organization: str, priority: Priority) -> list[str]:
        listed = await self._all(sites.ListSites(organization_id=organization), priority)
        calls = [
            published_sites.GetPublishedSite(organization_id=organization, site_id=site.id)
            for site in listed
            if site.published
        ]

        async def spaces_of(call: published_sites.GetPublishedSite) -> list[str]:
            try:
                return [item.space.id for item in _site_spaces((await self._read(call, priority)).structure.structure)]
            except (Forbidden, NotFound):
                return []

        return [space for found in await asyncio.gather(*map(spaces_of, calls)) for space in found]

    async def _site_structure(self, call: site_structure.GetSiteStructure, priority: Priority) -> bytes:
        published = published_sites.GetPublishedSite(
            organization_id=call.organization_id, site_id=call.site_id, **_given(call, "share_key")
        )
        try:
            return _json((await self._read(published, priority)).structure)
        except NotFound:
            raise _Unknown("Its structure is shown once it is published") from None

    async def _revision(self, call: Call, priority: Priority) -> bytes:
        request = await self._holder(call, priority)
        return _json(await self._read(_in_request(content.GetChangeRequestRevision, call, request), priority))

    async def _pages(self, call: Call, priority: Priority) -> bytes:
        request = await self._holder(call, priority)
        return _json(await self._read(_in_request(content.ListChangeRequestPages, call, request), priority))

    async def _page(self, call: Call, priority: Priority) -> bytes:
        request = await self._holder(call, priority)
        return _json(await self._read(_in_request(content.GetChangeRequestPage, call, request), priority))

    async def _files(self, call: Call, priority: Priority) -> bytes:
        request = await self._holder(call, priority)
        return _json(await self._read(_in_request(content.ListChangeRequestFiles, call, request), priority))

    async def _holder(self, call: Call, priority: Priority) -> str:
        """Return the id of a change request with the content of the requested revision, or else of main.

        Raises:
            _Unknown: no change request has this content.
        """
        space, revision = call.space_id, getattr(call, "revision_id", None)
        if revision is None:
            revision = (await self._read(spaces.GetSpace(space_id=space), priority)).revision
        holder = await self._holder_of(space, revision, priority)
        request = holder.exact
        if request is None and isinstance(call, content.GetRevisionPage):
            request = holder.merged  # enough for the text of one page; a whole revision must be exact
        if request is None:
            raise _Unknown(NO_HOLDER)
        return request.id

    async def _holder_of(self, space: str, revision: str, priority: Priority) -> _Holder:
        """Return the change requests that have the content of a revision, from an earlier search if it is still valid.

        The content of a merged or archived change request is final. For other states, the search is repeated when the
        change request has a newer revision, or when nothing was found and `HOLDER_SECONDS` have passed.
        """
        holder, at = self._holders.get((space, revision), (_Holder(), 0.0))
        request, is_old = holder.exact or holder.merged, time.monotonic() - at > HOLDER_SECONDS
        if request and request.status not in CLOSED:
            current = requests.GetChangeRequest(space_id=space, change_request_id=request.id)
            is_old = (await self._read(current, priority)).revision != revision
        if at and not (is_old and (request is None or request.status not in CLOSED)):
            return holder
        holder = await self._find_holder(space, revision, priority)
        self._holders[space, revision] = holder, time.monotonic()
        return holder

    async def _find_holder(self, space: str, revision: str, priority: Priority) -> _Holder:
        merged = None
        for status in STATUSES:
            for request in await self._all(requests.ListChangeRequests(space_id=space, status=status), priority):
                if request.revision == revision:
                    return _Holder(request)
                merged = request if request.revision_merged == revision else merged
        return _Holder(merged=merged)

    async def _changes(self, call: content_changes.GetChangeRequestChanges, priority: Priority) -> bytes:
        path: dict[str, Any] = {"space_id": call.space_id, "change_request_id": call.change_request_id}
        request = await self._read(requests.GetChangeRequest(**path), priority)
        after = await self._read(content.GetChangeRequestRevision(**path), priority)
        base = request.revision_merged_ancestor or request.revision_initial
        holder = await self._holder_of(request.space, base, priority) if base else _Holder()
        other = holder.exact or holder.merged
        if other is None:
            return _limited(_all_pages(after), call.limit, "all pages, not compared")
        before = await self._read(
            content.GetChangeRequestRevision(space_id=other.space, change_request_id=other.id), priority
        )
        note = "" if holder.exact else f"compared with #{other.number}, which was merged before"
        return _limited(semantic_changes(_plain(before), _plain(after)), call.limit, note)

    async def _revision_changes(self, call: content_changes.GetRevisionChanges, priority: Priority) -> bytes:
        after = await self._read(content.GetRevision(space_id=call.space_id, revision_id=call.revision_id), priority)
        if not after.parents:
            raise _Unknown(", and this revision has no parent")
        before = await self._read(content.GetRevision(space_id=call.space_id, revision_id=after.parents[0]), priority)
        return _limited(semantic_changes(_plain(before), _plain(after)), call.limit)


@dataclass(frozen=True)
class _Holder:
    """The change requests that have the content of a revision.

    Attributes:
        exact: a change request whose newest revision is this revision.
        merged: the change request whose merge created the revision. Its content is the same unless main had other
            changes at the time of the merge.
    """

    exact: requests.ChangeRequest | None = None
    merged: requests.ChangeRequest | None = None


class _Unknown(Exception):
    """An answer cannot be made from other operations.

    Args:
        reason: a sentence, or a text with a leading comma that is appended to *This service has no …*.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def _is_called(user: User, name: str) -> bool:
    """Return whether a user has this id, e-mail address or name."""
    return name == user.id or name.casefold() in ((user.email or "").casefold(), user.display_name.casefold())


async def _nothing(_call: Call, _priority: Priority) -> bytes:
    return EMPTY


def _requests_of(organization: str) -> Iterator[requests.ListOrganizationChangeRequests]:
    for status in STATUSES:
        yield requests.ListOrganizationChangeRequests(organization_id=organization, status=status)


def _site_spaces(items: Iterable[Any]) -> Iterator[site_structure.SiteSpace]:
    for item in items:
        if isinstance(item, site_structure.SiteSpace):
            yield item
        yield from _site_spaces((*getattr(item, "site_spaces", ()), *getattr(item, "children", ())))


def _in_request(operation: type[Operation[T]], call: Call, request: str) -> Operation[T]:
    """Return a call of `operation` for a change request, with the arguments that the operation shares with `call`."""
    given: dict[str, Any] = {name: value for name, value in call.given().items() if name in operation.model_fields}
    given["change_request_id"] = request
    return operation(**given)


def _given(call: Operation[Any], *names: str) -> dict[str, Any]:
    return {name: getattr(call, name) for name in names if name in call.model_fields_set}


def _all_pages(after: content.Revision) -> list[dict[str, Any]]:
    """Return a change of type `page_listed` for each page of a change request.

    The list replaces the list of changes if the base cannot be read, because the changed pages are then unknown.
    """
    pages = [page for page in flatten(_plain(after).get("pages", ())) if page.get("type") in ("document", "computed")]
    return [
        {"type": "page_listed", "page": {name: page[name] for name in ("id", "type", "title", "path") if name in page}}
        for page in pages
    ]


def _limited(changes: list[dict[str, Any]], limit: int | None, note: str = "") -> bytes:
    shown = changes[: 10 if limit is None else limit]
    answer: dict[str, Any] = {"changes": shown}
    if len(shown) < len(changes):
        answer["more"] = len(changes) - len(shown)
    if note:
        answer["note"] = note
    return json.dumps(answer).encode()


def _plain(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _json(model: BaseModel) -> bytes:
    return model.model_dump_json(by_alias=True, exclude_unset=True).encode()


def _list(models: Iterable[BaseModel]) -> bytes:
    items = [_plain(model) for model in models]
    return json.dumps({"items": items, "count": len(items)}).encode()
