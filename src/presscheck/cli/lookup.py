"""How things are named on the command line: by id, by title where that tells them apart, or by their address.

A change request is `SPACE#12`, an id, or the address of it in the service's app. Addresses are read, never visited.
"""

from __future__ import annotations

import re
from typing import Any, Protocol, TypeVar
from urllib.parse import unquote, urlsplit

from presscheck.api.change_requests import ChangeRequest, GetChangeRequest, ListOrganizationChangeRequests
from presscheck.api.organizations import ListOrganizations, Organization
from presscheck.api.site_structure import SiteStructure
from presscheck.api.sites import ListSites, Site
from presscheck.api.spaces import GetSpace, ListSpaces, Space
from presscheck.api.url_lookup import ContentAtUrl, GetContentByUrl
from presscheck.cli.session import Session
from presscheck.errors import InvalidArgument, PresscheckError

_IN_APP = re.compile(r"/(?:s|spaces)/(?P<space>[\w-]+)(?:/(?:~/changes|change-requests)/(?P<change>[\w-]+))?")


class Titled(Protocol):
    """What has an id and a title."""

    @property
    def id(self) -> str:
        """The id."""
        ...

    @property
    def title(self) -> str:
        """The title."""
        ...


Thing = TypeVar("Thing", bound=Titled)


def path_of(request: ChangeRequest) -> dict[str, Any]:
    """The fields that name a change request in a call."""
    return {"space_id": request.space, "change_request_id": request.id}


def is_address(text: str) -> bool:
    """Whether it is a web address."""
    return text.startswith(("https://", "http://"))


async def organization(session: Session, named: str | None) -> Organization:
    """The organization by id or title; else that of the profile; else the only one.

    Raises:
        InvalidArgument: there are several, or none of that name.
    """
    found = await session.all(ListOrganizations())
    name = named or session.profile.organization
    if name:
        return pick(found, name, "--org")
    if len(found) == 1:
        return found[0]
    raise InvalidArgument("--org", f"choose: {', '.join(one.title for one in found) or 'you are in no organization'}")


async def space(session: Session, named: str) -> Space:
    """A space by id, title or address."""
    if is_address(named):
        found = await _at_address(session, named)
        if found.space:
            return found.space
        raise InvalidArgument("SPACE", f"{named} is not the URL of a space")
    spaces = [one for org in await session.all(ListOrganizations()) for one in await _spaces(session, org)]
    if any(named in (one.id, one.title) or one.title.casefold() == named.casefold() for one in spaces):
        return pick(spaces, named, "SPACE")
    return await session.read(GetSpace(space_id=named))  # shared with us, or gone: the service knows


async def site(session: Session, named: str, org: str | None) -> tuple[Organization, Site]:
    """A site by id or title, and its organization."""
    owner = await organization(session, org)
    return owner, pick(await session.all(ListSites(organization_id=owner.id)), named, "SITE")


async def change_request(session: Session, named: str) -> ChangeRequest:
    """A change request by `SPACE#12`, id or address.

    Raises:
        InvalidArgument: there is none, or it is not clear which.
    """
    if is_address(named):
        found = (await _at_address(session, named)).change_request
        if found:
            return found
        raise InvalidArgument("CHANGE_REQUEST", f"{named} is not the URL of a change request")
    of, mark, number = named.rpartition("#")
    if mark and of and number.isdigit():
        owner = await space(session, of)
        return await session.read(GetChangeRequest(space_id=owner.id, change_request_id=number))
    if named.lstrip("#").isdigit():
        raise InvalidArgument("CHANGE_REQUEST", f"include the space: SPACE#{named.lstrip('#')}")
    return await _by_id(session, named)


def parts_of(item: Any) -> tuple[Any, ...]:
    """What a part of a site's structure is made of itself."""
    return (getattr(item, "children", ()) or getattr(item, "sections", ())) + getattr(item, "site_spaces", ())


def item_of(structure: SiteStructure, named: str) -> tuple[str, str]:
    """The kind and id of a thing in a site's structure, by id or title."""
    every: list[Any] = list(structure.structure)
    for item in every:
        every += parts_of(item)  # the list grows while it is gone through, down to the last
    one = pick(every, named, "ITEM")
    return one.object, one.id


def pick(things: list[Thing], named: str, what: str) -> Thing:
    """The one thing of this id, else of this title.

    Raises:
        InvalidArgument: there is none, or there are several.
    """
    for fits in (
        [one for one in things if one.id == named],
        [one for one in things if one.title == named],
        [one for one in things if one.title.casefold() == named.casefold()],
    ):
        if len(fits) == 1:
            return fits[0]
        if fits:
            raise InvalidArgument(what, f"{named} is ambiguous: it matches {', '.join(one.id for one in fits)}")
    known = ", ".join(one.title for one in things[:12]) or "none"
    raise InvalidArgument(what, f"{named} not found; available: {known}{' …' if len(things) > 12 else ''}")


async def _spaces(session: Session, org: Organization) -> list[Space]:
    return await session.all(ListSpaces(organization_id=org.id))


async def _by_id(session: Session, named: str) -> ChangeRequest:
    for org in await session.all(ListOrganizations()):
        for status in ("open", "draft", "merged", "archived"):
            listing = ListOrganizationChangeRequests(organization_id=org.id, status=status)
            async for one in session.every(listing):
                if one.id == named:
                    return one
    raise InvalidArgument("CHANGE_REQUEST", f"{named} not found: use SPACE#12, an id or an address")


async def _at_address(session: Session, url: str) -> ContentAtUrl:
    found = _IN_APP.search(unquote(urlsplit(url).path))
    if found is None:
        return await session.read(GetContentByUrl(url=url))
    try:
        owner = await session.read(GetSpace(space_id=found["space"]))
        if found["change"] is None:
            return ContentAtUrl(space=owner)
        request = await session.read(GetChangeRequest(space_id=owner.id, change_request_id=found["change"]))
        return ContentAtUrl(space=owner, change_request=request)
    except PresscheckError as error:
        raise InvalidArgument("address", f"not found, or you have no access: {error.message}") from None
