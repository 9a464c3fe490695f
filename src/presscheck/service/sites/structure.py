"""The structure of a site as rows and serialized: section groups, sections, external links and site spaces.

Deleted spaces and spaces that the caller may not see are left out. Sections and groups without visible spaces are left
out too, unless the caller sees all sections (see `sees_all_sections`).
"""

from __future__ import annotations

from functools import cached_property

from sqlalchemy import and_, bindparam, exists, or_, select

from presscheck.api.site_structure import (
    PublishedUrl,
    SiteExternalLink,
    SiteSection,
    SiteSectionGroup,
    SiteSpace,
    SiteStructure,
    StructureItem,
)
from presscheck.api.spaces import Space
from presscheck.documents.pages.tree import title_slug
from presscheck.service.http.operations import ApiError, Context
from presscheck.service.models.sites import ExternalLinkRow, SectionGroupRow, SectionRow, SiteRow, SiteSpaceRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.permissions import sees_all_sections, visible_among
from presscheck.service.sites.urls import published_address, section_path, space_path
from presscheck.service.spaces.serializers import as_spaces

Entry = SectionRow | SectionGroupRow | ExternalLinkRow
"""A section, or an item that can be placed next to sections."""
Item = SiteSpaceRow | Entry
"""An item with a position in a site."""
KINDS: dict[type[Item], str] = {
    SiteSpaceRow: "site-space",
    SectionRow: "site-section",
    SectionGroupRow: "site-section-group",
    ExternalLinkRow: "site-external-link",
}

_GROUPS = select(SectionGroupRow).where(SectionGroupRow.site_id == bindparam("site"))
_LINKS = select(ExternalLinkRow).where(ExternalLinkRow.site_id == bindparam("site"))
_SECTIONS = select(SectionRow).where(SectionRow.site_id == bindparam("site"))
_placed, _spaces = SiteSpaceRow.__table__.c, SpaceRow.__table__.c
_ENTRIES = SectionRow, SectionGroupRow, ExternalLinkRow
_has_sections = or_(*(exists().where(row.site_id == bindparam("site")) for row in _ENTRIES))
_SITE_SPACES = (
    select(SiteSpaceRow, SpaceRow, _has_sections)
    .select_from(
        SiteSpaceRow.__table__.outerjoin(
            SpaceRow.__table__,
            and_(
                _spaces.id == _placed.space_id,
                _spaces.organization_id == bindparam("organization"),
                _spaces.deleted_at.is_(None),
            ),
        )
    )
    .where(_placed.site_id == bindparam("site"))
)
"""Selects the site spaces of a site with their spaces, and whether it has sections, groups or external links.

The columns of a deleted space are null.
"""


class SiteContents:
    """The site spaces, sections, groups and links of a site, each in order, and the spaces that it shows.

    They are loaded when this object is created. `is_published` leaves out draft links.
    """

    def __init__(self, context: Context, site: SiteRow, *, is_published: bool = False) -> None:
        self.context = context
        self.site = site
        session = context.session
        session.flush()
        found = context.entities(_SITE_SPACES, SiteSpaceRow, SpaceRow, site=site.id, organization=site.organization_id)
        found.sort(key=lambda row: (row[0].position, row[0].id))
        self.site_spaces: list[SiteSpaceRow] = [site_space for site_space, _, _ in found]
        self.spaces: dict[str, SpaceRow] = {space.id: space for _, space, _ in found if space is not None}
        # most sites have none of these, which saves three queries; a site without site spaces may have some
        may_have_sections = not found or found[0][2]
        self.groups = list(session.scalars(_GROUPS, {"site": site.id})) if may_have_sections else []
        self.sections = list(session.scalars(_SECTIONS, {"site": site.id})) if may_have_sections else []
        links = session.scalars(_LINKS, {"site": site.id}) if may_have_sections else ()
        self.links = [link for link in links if not (is_published and link.draft)]
        for rows in (self.groups, self.sections, self.links):
            rows.sort(key=lambda row: (row.position, row.id))
        self._serialized: dict[str, SiteSpace] | None = None

    def find(self, kind: str, item_id: str) -> Item | None:
        """Return the row with this kind and id, or None."""
        rows: list[Item] = [*self.site_spaces, *self.sections, *self.groups, *self.links]
        return next((row for row in rows if row.id == item_id and _kind(row) == kind), None)

    def row_of(self, item: Item) -> list[Item]:
        """Return the siblings of an item in order, including the item."""
        if isinstance(item, SiteSpaceRow):
            return [site_space for site_space in self.site_spaces if site_space.section_id == item.section_id]
        return list[Item](self.inside(above(item)))

    def inside(self, group_id: str | None) -> list[Entry]:
        """Return the sections, groups and links of a group, or of the top level, in order."""
        items = [
            *(section for section in self.sections if section.group_id == group_id),
            *(link for link in self.links if link.group_id == group_id),
            *(group for group in self.groups if group.parent_id == group_id),
        ]
        return sorted(items, key=lambda item: (item.position, item.id))

    def structure(self) -> SiteStructure:
        """Serialize the whole structure, in order."""
        if self.sections or self.groups or self.links:
            return SiteStructure(type="sections", structure=self._shown_items(None))
        return SiteStructure(type="siteSpaces", structure=tuple(self.shown_spaces(None)))

    def item(self, item: Item) -> StructureItem:
        """Serialize an item."""
        if isinstance(item, SiteSpaceRow):
            return self.site_space(item)
        if isinstance(item, ExternalLinkRow):
            return as_link(item)
        return self.section(item) if isinstance(item, SectionRow) else self.group(item)

    def group(self, row: SectionGroupRow) -> SiteSectionGroup:
        """Serialize a group with its items."""
        children = self._shown_items(row.id)
        return SiteSectionGroup(
            id=row.id,
            title=row.title,
            draft=False,
            icon=row.icon,
            section_group=row.parent_id,
            children=children,
            sections=tuple(child for child in children if isinstance(child, SiteSection)),
        )

    def section(self, row: SectionRow) -> SiteSection:
        """Serialize a section with its site spaces."""
        return SiteSection(
            id=row.id,
            title=row.title,
            draft=False,
            description=row.description,
            default=row.id == self.site.default_section_id,
            path=row.path,
            condition=row.condition,
            section_group=row.group_id,
            site_spaces=tuple(self.shown_spaces(row.id)),
            icon=row.icon,
            urls=self._urls(section_path(self.site, row)),
        )

    def shows(self, item: Entry) -> bool:
        """Return whether the caller may see a section, a group or a link."""
        if self._shows_all_sections or isinstance(item, ExternalLinkRow):
            return True
        if isinstance(item, SectionRow):
            return bool(self.shown_spaces(item.id))
        return any(self.shows(inner) for inner in self.inside(item.id))

    def shown_spaces(self, section_id: str | None) -> list[SiteSpace]:
        """Return the visible site spaces of a section, or of the top level."""
        visible_spaces = self._visible_site_spaces()
        return [
            visible_spaces[site_space.id]
            for site_space in self.site_spaces
            if site_space.section_id == section_id and site_space.id in visible_spaces
        ]

    def every_space(self) -> list[SiteSpace]:
        """Return all visible site spaces, section by section."""
        sections: list[str | None] = [None, *(section.id for section in self.sections_in_order())]
        return [site_space for section in sections for site_space in self.shown_spaces(section)]

    def site_space(self, row: SiteSpaceRow) -> SiteSpace:
        """Serialize one site space.

        Raises:
            ApiError: 404, the space does not exist, or the caller may not see it.
        """
        serialized = self._visible_site_spaces().get(row.id)
        if serialized is None:
            raise ApiError(404, "Site space not found.")
        return serialized

    def in_order(self, group_id: str | None = None) -> list[SectionRow | ExternalLinkRow]:
        """Return all sections and links in navigation order, including those in groups."""
        rows: list[SectionRow | ExternalLinkRow] = []
        for item in self.inside(group_id):
            if isinstance(item, SectionGroupRow):
                rows += self.in_order(item.id)
            else:
                rows.append(item)
        return rows

    def sections_in_order(self) -> list[SectionRow]:
        """Return all sections in navigation order, including sections in groups."""
        return [item for item in self.in_order() if isinstance(item, SectionRow)]

    @cached_property
    def _shows_all_sections(self) -> bool:
        return sees_all_sections(self.context, self.site)

    def _shown_items(self, group_id: str | None) -> tuple[StructureItem, ...]:
        return tuple(self.item(item) for item in self.inside(group_id) if self.shows(item))

    def _visible_site_spaces(self) -> dict[str, SiteSpace]:
        if self._serialized is None:
            ids = dict.fromkeys(site_space.space_id for site_space in self.site_spaces)
            rows = [self.spaces[space_id] for space_id in ids if space_id in self.spaces]
            seen = visible_among(self.context, self.site.organization_id, rows)
            spaces = {space.id: space for space in as_spaces(self.context, seen)}
            sections = {section.id: section for section in self.sections}
            self._serialized = {
                site_space.id: self._site_space(
                    site_space, sections.get(site_space.section_id or ""), spaces[site_space.space_id]
                )
                for site_space in self.site_spaces
                if site_space.space_id in spaces
            }
        return self._serialized

    def _site_space(self, row: SiteSpaceRow, section: SectionRow | None, space: Space) -> SiteSpace:
        first = section.default_site_space_id if section else self.site.default_site_space_id
        return SiteSpace(
            id=row.id,
            path=row.path,
            draft=False,
            section=row.section_id,
            space=space,
            title=space.title,
            default=row.id == first,
            condition=row.condition,
            urls=self._urls(space_path(self.site, section, row)),
        )

    def _urls(self, path: str) -> PublishedUrl:
        address = published_address(self.context, self.site)
        return PublishedUrl(published=address + path if address else None)


def _kind(row: Item) -> str:
    return next(kind for row_class, kind in KINDS.items() if isinstance(row, row_class))


def as_link(row: ExternalLinkRow) -> SiteExternalLink:
    """Serialize an external link."""
    return SiteExternalLink(
        id=row.id,
        title=row.title,
        localized_title=row.localized_title,
        description=row.description,
        localized_description=row.localized_description,
        icon=row.icon,
        url=row.url,
        section_group=row.group_id,
        draft=row.draft,
        condition=row.condition,
    )


def above(item: Entry) -> str | None:
    """Return the id of the group that contains an item, or None at the top level."""
    return item.parent_id if isinstance(item, SectionGroupRow) else item.group_id


def free_path(title: str, taken: set[str]) -> str:
    """Return a slug for a title, with a number if the slug is taken."""
    slug = title_slug(title)
    path, number = slug, 1
    while path in taken:
        path = f"{slug}-{number}"
        number += 1
    return path
