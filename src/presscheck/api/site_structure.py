"""The structure of a site: its spaces, sections and section groups, in order."""

from typing import Annotated, Any, Literal, cast

from pydantic import Discriminator, Field, Tag

from presscheck.api.operation import Argument, InSite, Model, Operation, Page, Paged
from presscheck.api.spaces import Space


class PublishedUrl(Model):
    """The public URL of a site item; missing if it is not published."""

    published: str | None = None


class SiteSpace(Model):
    """A space in a site, optionally in a `section`; visitors see it only if they fulfill the `condition`."""

    object: str = "site-space"
    id: str
    path: str = ""
    section: str | None = None
    space: Space
    title: str = ""
    default: bool | None = None
    condition: str | None = None
    page_id: str | None = None
    draft: bool | None = None
    hidden: bool | None = None
    has_advanced_customization_feature: bool | None = None
    urls: PublishedUrl = Field(default_factory=PublishedUrl)


class SiteSection(Model):
    """A section of a site with its spaces; `section_group` is the id of its group."""

    object: str = "site-section"
    id: str
    title: str = ""
    description: str | None = None
    default: bool | None = None
    draft: bool | None = None
    path: str = ""
    condition: str | None = None
    section_group: str | None = None
    site_spaces: tuple[SiteSpace, ...] = ()
    icon: str | None = None
    urls: PublishedUrl = Field(default_factory=PublishedUrl)


class SiteSectionGroup(Model):
    """A group of sections; `children` are its sections and groups in order, `sections` only the sections."""

    object: str = "site-section-group"
    id: str
    title: str = ""
    sections: tuple[SiteSection, ...] = ()
    section_group: str | None = None
    draft: bool | None = None
    children: tuple["StructureItem", ...] = ()
    icon: str | None = None


class SiteExternalLink(Model):
    """A link among the sections of a site, optionally in a group; visitors do not see a draft."""

    object: str = "site-external-link"
    id: str
    title: str = ""
    localized_title: dict[str, Any] | None = None
    description: str | None = None
    localized_description: dict[str, Any] | None = None
    icon: str | None = None
    url: str = ""
    section_group: str | None = None
    draft: bool = False
    condition: str | None = None


class OtherStructureItem(Model):
    """An item of an unknown kind, such as a kind of a later release."""

    object: str = ""
    id: str = ""
    title: str = ""


def _kind(item: Any) -> str:
    kind = cast("dict[str, Any]", item).get("object") if isinstance(item, dict) else getattr(item, "object", "")
    return kind if kind in ("site-space", "site-section", "site-section-group", "site-external-link") else "other"


StructureItem = Annotated[
    Annotated[SiteSpace, Tag("site-space")]
    | Annotated[SiteSection, Tag("site-section")]
    | Annotated[SiteSectionGroup, Tag("site-section-group")]
    | Annotated[SiteExternalLink, Tag("site-external-link")]
    | Annotated[OtherStructureItem, Tag("other")],
    Discriminator(_kind),
]


class SiteStructure(Model):
    """The items of a site in order; `type` determines whether `structure` has sections (and groups) or site spaces."""

    type: str
    structure: tuple[StructureItem, ...] = ()


class StructureItemPointer(Argument):
    """An item of a site by kind and id."""

    type: Literal["site-space", "site-section", "site-section-group", "site-external-link"]
    id: str


class StructurePosition(Argument):
    """A position in the structure of a site: before one item or after another."""

    before: StructureItemPointer | None = None
    after: StructureItemPointer | None = None


class SiteSpacePointer(Argument):
    """A space of a site."""

    type: Literal["site-space"]
    site_space: str


class SiteSpacePosition(Argument):
    """A position next to a space of a site."""

    before: SiteSpacePointer | None = None
    after: SiteSpacePointer | None = None


class SectionPointer(Argument):
    """A section of a site."""

    type: Literal["site-section"]
    site_section: str


class SectionPosition(Argument):
    """A position next to a section of a site."""

    before: SectionPointer | None = None
    after: SectionPointer | None = None


class GroupNeighborPointer(Argument):
    """A section or a section group of a site."""

    type: Literal["site-section", "site-section-group"]
    id: str


class GroupPosition(Argument):
    """A position next to a section or a section group of a site."""

    before: GroupNeighborPointer | None = None
    after: GroupNeighborPointer | None = None


class GetSiteStructure(InSite, Operation[SiteStructure]):
    """Get the structure of a site."""

    operation_id = "getSiteStructure"
    route = "GET /orgs/{organization_id}/sites/{site_id}/structure"
    feature = "site structure"

    share_key: str | None = None


class SortSiteStructure(InSite, Operation[StructureItem]):
    """Move an item in the structure of a site.

    Returns the moved item. Fails with 400 if the position is invalid, 404 if the item does not exist.
    """

    operation_id = "sortSiteStructure"
    route = "PATCH /orgs/{organization_id}/sites/{site_id}/structure/sort"

    item: StructureItemPointer
    position: StructurePosition


class ListSiteSpaces(InSite, Paged, Operation[Page[SiteSpace]]):
    """List the spaces of a site.

    `default` filters by whether the space is a default.
    """

    operation_id = "listSiteSpaces"
    route = "GET /orgs/{organization_id}/sites/{site_id}/site-spaces"
    feature = "site structure"

    share_key: str | None = None
    default: bool | None = None


class AddSiteSpace(InSite, Operation[SiteSpace]):
    """Add a space to a site or to one of its sections."""

    operation_id = "addSpaceToSite"
    route = "POST /orgs/{organization_id}/sites/{site_id}/site-spaces"
    feature = "editing of site structure"
    success = 201

    space_id: str
    section_id: str | None = None


class UpdateSiteSpace(InSite, Operation[SiteSpace]):
    """Update a space of a site.

    Changes the path, the condition, or which space it is. The path has 1 to 100 characters, the condition at most 1024;
    a condition of null is removed.
    """

    operation_id = "updateSiteSpaceById"
    route = "PATCH /orgs/{organization_id}/sites/{site_id}/site-spaces/{site_space_id}"
    feature = "editing of site structure"

    site_space_id: str
    path: str | None = Field(default=None, min_length=1, max_length=100)
    condition: str | None = Field(default=None, max_length=1024)
    space_id: str | None = None


class DeleteSiteSpace(InSite, Operation[None]):
    """Remove a space from a site; the space is not deleted."""

    operation_id = "deleteSiteSpaceById"
    route = "DELETE /orgs/{organization_id}/sites/{site_id}/site-spaces/{site_space_id}"
    feature = "editing of site structure"
    success = 204

    site_space_id: str


class ListSections(InSite, Paged, Operation[Page[SiteSection]]):
    """List the sections of a site."""

    operation_id = "listSiteSections"
    route = "GET /orgs/{organization_id}/sites/{site_id}/sections"
    feature = "site structure"

    share_key: str | None = None


class AddSection(InSite, Operation[SiteSection]):
    """Add a section with its first space to a site.

    The title has 2 to 128 characters.
    """

    operation_id = "addSectionToSite"
    route = "POST /orgs/{organization_id}/sites/{site_id}/sections"
    feature = "editing of site structure"
    success = 201

    space_id: str
    title: str | None = Field(default=None, min_length=2, max_length=128)
    icon: str | None = Field(default=None, max_length=50)


class UpdateSection(InSite, Operation[SiteSection]):
    """Update a section of a site.

    The title has 2 to 128 characters, the path 1 to 100, the condition at most 1024, the description 256; the last
    two can be null.
    """

    operation_id = "updateSiteSectionById"
    route = "PATCH /orgs/{organization_id}/sites/{site_id}/sections/{site_section_id}"
    feature = "editing of site structure"

    site_section_id: str
    title: str | None = Field(default=None, min_length=2, max_length=128)
    path: str | None = Field(default=None, min_length=1, max_length=100)
    default_site_space: str | None = None
    condition: str | None = Field(default=None, max_length=1024)
    icon: str | None = Field(default=None, max_length=50)
    description: str | None = Field(default=None, max_length=256)


class DeleteSection(InSite, Operation[None]):
    """Remove a section and its spaces from a site."""

    operation_id = "deleteSiteSectionById"
    route = "DELETE /orgs/{organization_id}/sites/{site_id}/sections/{site_section_id}"
    feature = "editing of site structure"
    success = 204

    site_section_id: str


class ListSectionGroups(InSite, Paged, Operation[Page[SiteSectionGroup]]):
    """List the section groups of a site."""

    operation_id = "listSiteSectionGroups"
    route = "GET /orgs/{organization_id}/sites/{site_id}/section-groups"
    feature = "site structure"


class AddSectionGroup(InSite, Operation[SiteSectionGroup]):
    """Group sections of a site.

    The title has 1 to 100 characters. A group can be inside another group.
    """

    operation_id = "addSectionGroupToSite"
    route = "POST /orgs/{organization_id}/sites/{site_id}/section-groups"
    feature = "editing of site structure"
    success = 201

    title: str = Field(min_length=1, max_length=100)
    icon: str | None = Field(default=None, max_length=50)
    sections: tuple[str, ...] | None = None
    parent: str | None = None


class UpdateSectionGroup(InSite, Operation[SiteSectionGroup]):
    """Change the title or icon of a section group.

    The title has 1 to 100 characters; an icon of null is removed.
    """

    operation_id = "updateSiteSectionGroupById"
    route = "PATCH /orgs/{organization_id}/sites/{site_id}/section-groups/{site_section_group_id}"
    feature = "editing of site structure"

    site_section_group_id: str
    title: str | None = Field(default=None, min_length=1, max_length=100)
    icon: str | None = Field(default=None, max_length=50)


class DeleteSectionGroup(InSite, Operation[None]):
    """Delete a section group; its sections stay."""

    operation_id = "deleteSiteSectionGroupById"
    route = "DELETE /orgs/{organization_id}/sites/{site_id}/section-groups/{site_section_group_id}"
    feature = "editing of site structure"
    success = 204

    site_section_group_id: str


class MoveSiteSection(InSite, Operation[SiteSection]):
    """Move a section of a site.

    Without a position, it moves to the end.
    """

    operation_id = "moveSiteSection"
    route = "POST /orgs/{organization_id}/sites/{site_id}/sections/{site_section_id}/move"
    feature = "moves by type of item"
    release = "0.202.0"

    site_section_id: str
    position: SectionPosition | None = None


class MoveSiteSectionGroup(InSite, Operation[SiteSectionGroup]):
    """Move a section group of a site.

    Without a position, it moves to the end.
    """

    operation_id = "moveSiteSectionGroup"
    route = "POST /orgs/{organization_id}/sites/{site_id}/section-groups/{site_section_group_id}/move"
    feature = "moves by type of item"
    release = "0.202.0"

    site_section_group_id: str
    position: GroupPosition | None = None


class MoveSiteSpace(InSite, Operation[SiteSpace]):
    """Move a space of a site.

    Without a position, it moves to the end.
    """

    operation_id = "moveSiteSpace"
    route = "POST /orgs/{organization_id}/sites/{site_id}/site-spaces/{site_space_id}/move"
    feature = "moves by type of item"
    release = "0.202.0"

    site_space_id: str
    position: SiteSpacePosition | None = None


class DuplicateSiteSpace(InSite, Operation[SiteSpace]):
    """Copy a space of a site into a new space after it.

    The local service has no drafts of spaces in sites.
    """

    operation_id = "duplicateSiteSpace"
    route = "POST /orgs/{organization_id}/sites/{site_id}/site-spaces/{site_space_id}/duplicate"
    success = 201
    feature = "copies in sites"
    release = "0.202.0"

    site_space_id: str
    draft: bool | None = None
