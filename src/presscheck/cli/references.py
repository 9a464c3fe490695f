"""References of generated commands: a team by its title, a member by name or email, a page by its path.

A field refers to what its row in `REFERENCES` lists. The id is found in that listing; a service that does not list it,
or does not let the caller list it, gets the text as an id.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from presscheck.api.collections import ListCollections
from presscheck.api.content import (
    GetChangeRequestRevision,
    GetCurrentRevision,
    ListChangeRequestFiles,
    ListChangeRequestPages,
    ListFiles,
    ListPages,
    ListRevisionFiles,
    ListRevisionPages,
)
from presscheck.api.operation import Operation, Paged
from presscheck.api.organizations import ListMembers, ListOrganizations
from presscheck.api.saml import ListSAMLProviders
from presscheck.api.site_settings import ListRedirects, ListShareLinks
from presscheck.api.site_structure import ListSectionGroups, ListSections, ListSiteSpaces
from presscheck.api.sites import ListSites
from presscheck.api.spaces import ListSpaces
from presscheck.api.teams import ListTeams
from presscheck.cli.output import as_json, row_of
from presscheck.cli.session import Session
from presscheck.documents.pages.tree import flatten
from presscheck.errors import Forbidden, InvalidArgument, NotFound, NotSupported

SHOWN = 12
"""How many names an error lists."""


@dataclass(frozen=True)
class Reference:
    """How to find what an argument names.

    Attributes:
        hint: what can be given instead of an id.
        listings: the operations that list it; the first whose other arguments are known is used.
        names: its names, as field names of the API.
        id: its id, as a field name of the API.
        items: the field of the answer with the items, if it is not a paginated list.
    """

    hint: str
    listings: tuple[type[Operation[Any]], ...]
    names: tuple[str, ...] = ("title",)
    id: str = "id"
    items: str = ""


ORGANIZATION = Reference("title", (ListOrganizations,))
TEAM = Reference("title", (ListTeams,))
MEMBER = Reference("name or email", (ListMembers,), ("user.displayName", "user.email"))
COLLECTION = Reference("title", (ListCollections,))
SPACE = Reference("title", (ListSpaces,))
SITE = Reference("title", (ListSites,))
SECTION = Reference("title", (ListSections,), ("title", "path"))
GROUP = Reference("title", (ListSectionGroups,))
SITE_SPACE = Reference("title", (ListSiteSpaces,), ("title", "space.title", "space.id"))
PAGE = Reference(
    "path or title", (ListRevisionPages, ListChangeRequestPages, ListPages), ("path", "title"), "id", "pages"
)
FILE = Reference("name", (ListRevisionFiles, ListChangeRequestFiles, ListFiles), ("name",))
REUSABLE_CONTENT = Reference(
    "title", (GetChangeRequestRevision, GetCurrentRevision), ("title",), "id", "reusable_contents"
)

REFERENCES: dict[str, Reference] = {
    "add": MEMBER,
    "authors": MEMBER,
    "collection": COLLECTION,
    "collection_id": COLLECTION,
    "default_site_section": SECTION,
    "default_site_space": SITE_SPACE,
    "default_team": TEAM,
    "file_id": FILE,
    "members": MEMBER,
    "organization": ORGANIZATION,
    "page": PAGE,
    "page_id": PAGE,
    "parent": COLLECTION,
    "remove": MEMBER,
    "reusable_content_id": REUSABLE_CONTENT,
    "saml_provider_id": Reference("label", (ListSAMLProviders,), ("label",)),
    "section_id": SECTION,
    "sections": SECTION,
    "share_link_id": Reference("name", (ListShareLinks,), ("name",)),
    "site": SITE,
    "site_redirect_id": Reference("source path", (ListRedirects,), ("source",)),
    "site_section_group_id": GROUP,
    "site_section_id": SECTION,
    "site_space": SITE_SPACE,
    "site_space_id": SITE_SPACE,
    "space": SPACE,
    "space_id": SPACE,
    "spaces": SPACE,
    "target_page": PAGE,
    "team_id": TEAM,
    "user_id": MEMBER,
}
"""What a field refers to, by its name."""

SPECIAL: dict[tuple[str, str], Reference | None] = {
    ("AddSectionGroup", "parent"): GROUP,
    ("GetUser", "user_id"): None,
    ("ListIntegrations", "owner"): ORGANIZATION,
    ("ListTeams", "owner"): MEMBER,
}
"""What a field of one operation refers to instead; None for an id without a listing."""
PART_REFERENCES: dict[tuple[str, str], Reference] = {
    ("destination", "site_section_id"): SECTION,
    ("destination", "site_space_id"): SITE_SPACE,
    ("source", "space"): SPACE,
    ("target", "space"): SPACE,
}
"""What a part of a field refers to, by field and part."""


def reference_of(operation: type[Operation[Any]], field: str) -> Reference | None:
    """What a field refers to; None if it is no reference, or its id has no listing."""
    is_cursor = field == "page" and issubclass(operation, Paged)
    return None if is_cursor else SPECIAL.get((operation.__name__, field), REFERENCES.get(field))


async def find_id(session: Session, reference: Reference, named: str, known: Mapping[str, str], what: str) -> str:
    """The id of what is named by its id or one of its names.

    Args:
        session: reads the listing.
        reference: what it refers to.
        named: an id or a name.
        known: the ids that are known so far, such as that of the organization, by field.
        what: the argument or option, for an error.

    Raises:
        InvalidArgument: none matches, or several match.
    """
    try:
        rows = [_row(reference, item) async for item in _items(session, reference, known)]
    except (Forbidden, NotFound, NotSupported):
        return named
    for matches in (
        {row[0] for row in rows if row[0] == named},
        {row[0] for row in rows if named in row[1:]},
        {row[0] for row in rows if named.casefold() in (name.casefold() for name in row[1:])},
    ):
        if len(matches) == 1:
            return matches.pop()
        if matches:
            ids = ", ".join(sorted(matches))
            raise InvalidArgument(what, f"{named} is ambiguous. Use one of these ids: {ids}")
    if reference is MEMBER and "@" in named:
        return named  # people can be invited by an address that no member has
    names = list(dict.fromkeys(next(filter(None, row[1:]), row[0]) for row in rows))
    known_names = ", ".join(names[:SHOWN]) or "none"
    raise InvalidArgument(what, f"{named} not found. Available: {known_names}{' …' if len(names) > SHOWN else ''}")


def _row(reference: Reference, item: Any) -> list[str]:
    """The id and the names of an item, as they are printed."""
    value = as_json(item)
    return [str(value.get(reference.id)), *row_of(value, reference.names)]


async def _items(session: Session, reference: Reference, known: Mapping[str, str]) -> AsyncIterator[Any]:
    listing = _listing(reference, known)
    missing = [name for name in listing.path_fields() if name not in known]
    if missing == ["organization_id"]:
        for organization in await session.all(ListOrganizations()):
            async for item in _items(session, reference, {**known, "organization_id": organization.id}):
                yield item
        return
    call = listing(**{name: known[name] for name in listing.path_fields()})
    if not reference.items:
        async for item in session.every(call):
            yield item
        return
    items = cast("Sequence[Any]", getattr(await session.read(call), reference.items))
    for item in flatten(items) if reference is PAGE else items:
        yield item


def _listing(reference: Reference, known: Mapping[str, str]) -> type[Operation[Any]]:
    """The first listing whose arguments are known; the last one if there is none."""
    complete = (listing for listing in reference.listings if set(listing.path_fields()) <= set(known))
    return next(complete, reference.listings[-1])
