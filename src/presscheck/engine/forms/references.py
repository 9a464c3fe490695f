"""The references in operation fields: the listings of the referenced objects, and the names that identify them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from presscheck.api.change_requests import ListChangeRequests, ListOrganizationChangeRequests
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


@dataclass(frozen=True)
class Reference:
    """How to look up the object that an argument refers to.

    Attributes:
        hint: the names that can be given instead of an id.
        listings: the operations that list the objects; the first operation whose other arguments are known is used.
        names: the fields of the API with names of the object.
        id: the field of the API with the id.
        label: the field with the name for display, if it is not the first of `names`.
        items: the field of the response with the items, for a listing without pages.
        lists_all: whether the listing is complete; if not, a text that matches no name is accepted as an id.
    """

    hint: str
    listings: tuple[type[Operation[Any]], ...]
    names: tuple[str, ...] = ("title",)
    id: str = "id"
    items: str = ""
    label: str = ""
    lists_all: bool = True


ORGANIZATION = Reference("title", (ListOrganizations,))
TEAM = Reference("title", (ListTeams,))
MEMBER = Reference("name or email", (ListMembers,), ("user.displayName", "user.email"))
COLLECTION = Reference("title", (ListCollections,))
SPACE = Reference("title", (ListSpaces,))
SITE = Reference("title", (ListSites,))
SECTION = Reference("title", (ListSections,), ("title", "path"))
GROUP = Reference("title", (ListSectionGroups,))
SITE_SPACE = Reference("title", (ListSiteSpaces,), ("title", "space.title", "space.id"))
CHANGE_REQUEST = Reference(
    "subject or number",
    (ListChangeRequests, ListOrganizationChangeRequests),
    ("subject", "number"),
    lists_all=False,  # the listing has only open change requests; drafts are a separate listing
)
PAGE = Reference(
    "path or title",
    (ListRevisionPages, ListChangeRequestPages, ListPages),
    ("path", "title"),
    items="pages",
    label="title",
)
FILE = Reference("name", (ListRevisionFiles, ListChangeRequestFiles, ListFiles), ("name",))
REUSABLE_CONTENT = Reference(
    "title", (GetChangeRequestRevision, GetCurrentRevision), ("title",), items="reusable_contents"
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
"""References by field name."""

SPECIAL: dict[tuple[str, str], Reference | None] = {
    ("AddSectionGroup", "parent"): GROUP,
    ("GetUser", "user_id"): None,
    ("ListIntegrations", "owner"): ORGANIZATION,
    ("ListTeams", "owner"): MEMBER,
}
"""References of fields that differ in one operation; None for an id without a listing."""
PART_REFERENCES: dict[tuple[str, str], Reference] = {
    ("destination", "site_section_id"): SECTION,
    ("destination", "site_space_id"): SITE_SPACE,
    ("source", "space"): SPACE,
    ("target", "change_request"): CHANGE_REQUEST,
    ("target", "page"): PAGE,
    ("target", "space"): SPACE,
}
"""References of parts of object fields, by field and part."""


def reference_of(operation: type[Operation[Any]], field: str) -> Reference | None:
    """Return the reference of a field, or None if the field is not an id or its ids have no listing."""
    is_cursor = field == "page" and issubclass(operation, Paged)
    return None if is_cursor else SPECIAL.get((operation.__name__, field), REFERENCES.get(field))
