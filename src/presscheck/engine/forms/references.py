"""References in operation fields: the listings of the referenced objects, and the names that can replace their ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from presscheck.api.operation import Operation, Paged, operation_in_family


@dataclass(frozen=True)
class Reference:
    """How to look up the object that an argument refers to.

    Attributes:
        hint: the names that can be given instead of an id.
        listing_names: the operations that list the objects, as ``family.Name``; the first operation whose other
            arguments are known is used. These are names, because importing all operations takes 60 ms.
        names: the fields of the API with names of the object.
        id: the field of the API with the id.
        label: the field with the name for display, if it is not the first of `names`.
        items: the field of the response with the items, for a listing without pages.
        lists_all: whether the listing is complete; if not, a text that matches no name is accepted as an id.
    """

    hint: str
    listing_names: tuple[str, ...]
    names: tuple[str, ...] = ("title",)
    id: str = "id"
    items: str = ""
    label: str = ""
    lists_all: bool = True

    @property
    def listings(self) -> tuple[type[Operation[Any]], ...]:
        """The operations of `listing_names`."""
        return tuple(map(operation_in_family, self.listing_names))


ORGANIZATION = Reference("title", ("organizations.ListOrganizations",))
TEAM = Reference("title", ("teams.ListTeams",))
MEMBER = Reference("name or email", ("organizations.ListMembers",), ("user.displayName", "user.email"))
COLLECTION = Reference("title", ("collections.ListCollections",))
SPACE = Reference("title", ("spaces.ListSpaces",))
SITE = Reference("title", ("sites.ListSites",))
SECTION = Reference("title", ("site_structure.ListSections",), ("title", "path"))
GROUP = Reference("title", ("site_structure.ListSectionGroups",))
SITE_SPACE = Reference("title", ("site_structure.ListSiteSpaces",), ("title", "space.title", "space.id"))
CHANGE_REQUEST = Reference(
    "subject or number",
    ("change_requests.ListChangeRequests", "change_requests.ListOrganizationChangeRequests"),
    ("subject", "number"),
    lists_all=False,  # the listing has only open change requests; drafts are a separate listing
)
PAGE = Reference(
    "path or title",
    ("content.ListRevisionPages", "content.ListChangeRequestPages", "content.ListPages"),
    ("path", "title"),
    items="pages",
    label="title",
)
FILE = Reference(
    "name", ("content.ListRevisionFiles", "content.ListChangeRequestFiles", "content.ListFiles"), ("name",)
)
REUSABLE_CONTENT = Reference(
    "title", ("content.GetChangeRequestRevision", "content.GetCurrentRevision"), ("title",), items="reusable_contents"
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
    "saml_provider_id": Reference("label", ("saml.ListSAMLProviders",), ("label",)),
    "section_id": SECTION,
    "sections": SECTION,
    "share_link_id": Reference("name", ("site_settings.ListShareLinks",), ("name",)),
    "site": SITE,
    "site_redirect_id": Reference("source path", ("site_settings.ListRedirects",), ("source",)),
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
