"""Resolution of arguments to objects: by id, by unique title, or by URL.

A change request is `SPACE#12`, an id, or its URL in the web app. URLs are parsed, never requested.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from urllib.parse import unquote, urlsplit

from presscheck.api.organizations import ListOrganizations, Organization
from presscheck.api.spaces import GetSpace, ListSpaces, Space
from presscheck.cli.session import Session
from presscheck.config.project_search import PROJECT_NAME
from presscheck.errors import InvalidArgument, NotFound, PresscheckError

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest
    from presscheck.api.content import RevisionPage
    from presscheck.api.site_structure import SiteStructure
    from presscheck.api.sites import Site
    from presscheck.api.url_lookup import ContentAtUrl

HERE = "."
"""The argument for the space or site of the project."""
_IN_APP = re.compile(r"/(?:s|spaces)/(?P<space>[\w-]+)(?:/(?:~/changes|change-requests)/(?P<change>[\w-]+))?")


class Titled(Protocol):
    """An object with an id and a title."""

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
    """Return the path fields of operations on a change request."""
    return {"space_id": request.space, "change_request_id": request.id}


def is_url(text: str) -> bool:
    """Return whether a text is an HTTP URL."""
    return text.startswith(("https://", "http://"))


async def organization(session: Session, named: str | None, what: str = "--org") -> Organization:
    """Find an organization by id or title; by default the profile's organization, or the only one.

    Args:
        session: reads the organizations.
        named: the id or title; None for the default.
        what: the argument or option, for an error.

    Raises:
        InvalidArgument: no organization matches, or several are possible.
    """
    organizations = await session.all(ListOrganizations())
    name = named or session.profile.organization
    if name:
        return pick(organizations, name, what)
    if len(organizations) == 1:
        return organizations[0]
    titles = ", ".join(organization.title for organization in organizations)
    raise InvalidArgument(what, f"choose one of: {titles}" if titles else "you are not a member of an organization")


async def space(session: Session, named: str, what: str = "SPACE") -> Space:
    """Find a space by id, title or URL; `.` is the space of the project. `what` is the argument, for an error.

    Raises:
        InvalidArgument: no space matches, or several match.
    """
    named = _in_project(session, "space", named)
    if is_url(named):
        content = await _at_url(session, named)
        if content.space:
            return content.space
        raise InvalidArgument(what, f"{named} is not the URL of a space")
    spaces = [space for org in await session.all(ListOrganizations()) for space in await _spaces(session, org)]
    if any(named in (space.id, space.title) or space.title.casefold() == named.casefold() for space in spaces):
        return pick(spaces, named, what)
    try:
        return await session.read(GetSpace(space_id=named))  # shared with the user, or deleted: the service decides
    except NotFound:
        return pick(spaces, named, what)


async def site(
    session: Session, named: str, org: str | None, what: str = "SITE", what_org: str = "--org"
) -> tuple[Organization, Site]:
    """Find a site by id or title; `.` is the site of the project. Return its organization and the site.

    `what` and `what_org` are the arguments, for an error.

    Raises:
        InvalidArgument: no site matches, or several match.
    """
    from presscheck.api.sites import ListSites  # 5 ms, only to find a site

    named = _in_project(session, "site", named)
    owner = await organization(session, org, what_org)
    return owner, pick(await session.all(ListSites(organization_id=owner.id)), named, what)


async def change_request(session: Session, named: str, what: str = "SPACE#NUMBER") -> ChangeRequest:
    """Find a change request by `SPACE#12`, id or URL, or by its number in the space of the project.

    `what` is the argument, for an error.

    Raises:
        InvalidArgument: no change request matches, or several match.
    """
    from presscheck.api.change_requests import GetChangeRequest  # 25 ms, only to find a change request

    if is_url(named):
        request = (await _at_url(session, named)).change_request
        if request:
            return request
        raise InvalidArgument(what, f"{named} is not the URL of a change request")
    project = session.profile.project
    if project and project.space and named.removeprefix("#").isdigit():
        named = f"{project.space}#{named.removeprefix('#')}"
    of, mark, number = named.rpartition("#")
    if mark and of and number.isdigit():
        owner = await space(session, of, what)
        try:
            return await session.read(GetChangeRequest(space_id=owner.id, change_request_id=number))
        except NotFound:
            raise InvalidArgument(what, f"{owner.title} has no change request #{number}") from None
    if named.lstrip("#").isdigit():
        raise InvalidArgument(what, f"{named} has no space: write SPACE#{named.lstrip('#')}")
    return await _by_id(session, named, what)


def _in_project(session: Session, kind: str, named: str) -> str:
    """Return an argument unchanged, or, for `.`, the space or site of the project.

    Raises:
        InvalidArgument: the argument is `.`, and there is no project or it does not set `kind`.
    """
    if named != HERE:
        return named
    project = session.profile.project
    if value := project.values.get(kind) if project else None:
        return value
    raise InvalidArgument(kind.upper(), f"name a {kind}, or set {kind} in {PROJECT_NAME} of this folder")


@contextmanager
def not_found(what: str, named: str) -> Generator[None]:
    """Convert a 404 response to an error about the argument `what`. `named` is the id in the path.

    Raises:
        InvalidArgument: the service returned 404 to the request.
    """
    try:
        yield
    except NotFound:
        raise InvalidArgument(what, f"{named} not found, or you have no access") from None


def children_of(item: Any) -> tuple[Any, ...]:
    """Return the direct children of an item in a site's structure."""
    return (getattr(item, "children", ()) or getattr(item, "sections", ())) + getattr(item, "site_spaces", ())


def item_of(structure: SiteStructure, named: str) -> tuple[str, str]:
    """Find an item in a site's structure by id or title. Return the type and the id of the item.

    Raises:
        InvalidArgument: no item matches, or several match.
    """
    items: list[Any] = list(structure.structure)
    for item in items:
        items += children_of(item)  # the loop also visits the appended items
    chosen = pick(items, named, "ITEM")
    return chosen.object, chosen.id


def page(pages: tuple[RevisionPage, ...], named: str, what: str = "PAGE") -> RevisionPage:
    """Return the page of a tree with this id, path or title.

    Raises:
        InvalidArgument: no page, or several pages match.
    """
    from presscheck.documents.pages.tree import flatten  # 10 ms, only to find a page

    all_pages = [*flatten(pages)]
    for page in all_pages:
        if named in (page.id, page.path):
            return page
    return pick(all_pages, named, what)


async def page_path(session: Session, path: Mapping[str, Any], named: str, what: str) -> str:
    """Return the path of a page of a change request. A group has no path, and its id or title is returned.

    Raises:
        InvalidArgument: no page, or several pages match.
    """
    from presscheck.api.content import ListChangeRequestPages  # 30 ms, only to find a page

    return page((await session.read(ListChangeRequestPages(**path))).pages, named, what).path or named


async def page_id(session: Session, request: ChangeRequest, named: str) -> str:
    """Return the id of the page that is given as `--page`.

    Raises:
        InvalidArgument: no page, or several pages match.
    """
    from presscheck.api.content import ListChangeRequestPages  # 30 ms, only to find a page

    return page((await session.read(ListChangeRequestPages(**path_of(request)))).pages, named, "--page").id


def pick(things: list[Thing], named: str, what: str) -> Thing:
    """Return the object whose id is `named`, or else whose title is `named`, preferably in the same case.

    Raises:
        InvalidArgument: no object matches, or several match.
    """
    for matches in (
        [thing for thing in things if thing.id == named],
        [thing for thing in things if thing.title == named],
        [thing for thing in things if thing.title.casefold() == named.casefold()],
    ):
        if len(matches) == 1:
            return matches[0]
        if matches:
            ids = ", ".join(match.id for match in matches)
            raise InvalidArgument(what, f"{named} is ambiguous. Use one of these ids: {ids}")
    known = ", ".join(thing.title for thing in things[:12]) or "none"
    raise InvalidArgument(what, f"{named} not found. Available: {known}{' …' if len(things) > 12 else ''}")


async def _spaces(session: Session, org: Organization) -> list[Space]:
    return await session.all(ListSpaces(organization_id=org.id))


async def _by_id(session: Session, named: str, what: str) -> ChangeRequest:
    from presscheck.api.change_requests import ListOrganizationChangeRequests  # 25 ms, only to find a change request

    for org in await session.all(ListOrganizations()):
        for status in ("open", "draft", "merged", "archived"):
            listing = ListOrganizationChangeRequests(organization_id=org.id, status=status)
            async for request in session.every(listing):
                if request.id == named:
                    return request
    raise InvalidArgument(what, f"{named} not found. Use SPACE#12, an id or a URL")


async def _at_url(session: Session, url: str) -> ContentAtUrl:
    # 70 ms, only for a URL
    from presscheck.api.change_requests import GetChangeRequest
    from presscheck.api.url_lookup import ContentAtUrl, GetContentByUrl

    match = _IN_APP.search(unquote(urlsplit(url).path))
    if match is None:
        return await session.read(GetContentByUrl(url=url))
    try:
        owner = await session.read(GetSpace(space_id=match["space"]))
        if match["change"] is None:
            return ContentAtUrl(space=owner)
        request = await session.read(GetChangeRequest(space_id=owner.id, change_request_id=match["change"]))
        return ContentAtUrl(space=owner, change_request=request)
    except PresscheckError as error:
        raise InvalidArgument("URL", f"not found, or you have no access: {error.message}") from None
