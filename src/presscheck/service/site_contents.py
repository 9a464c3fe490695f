"""All that a site is made of, fetched at once: groups, sections and site spaces, as rows and as on the wire.

A space that is deleted, or that the caller may not see, is not there.
"""

from __future__ import annotations

from sqlalchemy import select

from presscheck.api.site_structure import (
    PublishedUrl,
    SiteSection,
    SiteSectionGroup,
    SiteSpace,
    SiteStructure,
    StructureItem,
)
from presscheck.api.spaces import Space
from presscheck.service.access import visible_spaces
from presscheck.service.handling import Context, Problem
from presscheck.service.nesting import collections_of
from presscheck.service.page_texts import slugify
from presscheck.service.site_addresses import section_address, space_address
from presscheck.service.space_answers import as_spaces
from presscheck.service.tables import SectionGroupRow, SectionRow, SiteRow, SiteSpaceRow, SpaceRow

Item = SiteSpaceRow | SectionRow | SectionGroupRow
"""What has a place in a site."""
KINDS: dict[type[Item], str] = {
    SiteSpaceRow: "site-space",
    SectionRow: "site-section",
    SectionGroupRow: "site-section-group",
}


class SiteContents:
    """The rows of a site in order, as they were when this was made."""

    def __init__(self, context: Context, site: SiteRow) -> None:
        self.context = context
        self.site = site
        session = context.session
        session.flush()
        self.groups = list(session.scalars(select(SectionGroupRow).where(SectionGroupRow.site_id == site.id)))
        self.sections = list(session.scalars(select(SectionRow).where(SectionRow.site_id == site.id)))
        self.site_spaces = list(session.scalars(select(SiteSpaceRow).where(SiteSpaceRow.site_id == site.id)))
        for rows in (self.groups, self.sections, self.site_spaces):
            rows.sort(key=lambda one: (one.position, one.id))
        self._spaces: dict[str, SiteSpace] | None = None

    def find(self, kind: str, item_id: str) -> Item | None:
        """A row by kind and id."""
        rows: list[Item] = [*self.site_spaces, *self.sections, *self.groups]
        return next((one for one in rows if (KINDS[type(one)], one.id) == (kind, item_id)), None)

    def row_of(self, item: Item) -> list[Item]:
        """What stands beside an item, itself included, in order."""
        if isinstance(item, SiteSpaceRow):
            return [one for one in self.site_spaces if one.section_id == item.section_id]
        return self.inside(above(item))

    def inside(self, group_id: str | None) -> list[Item]:
        """The sections and groups in a group, or at the top, in order."""
        found: list[Item] = [one for one in self.sections if one.group_id == group_id]
        found += [one for one in self.groups if one.parent_id == group_id]
        return sorted(found, key=lambda one: (one.position, one.id))

    def structure(self) -> SiteStructure:
        """The whole, in order."""
        if self.sections or self.groups:
            return SiteStructure(type="sections", structure=tuple(self.item(one) for one in self.inside(None)))
        return SiteStructure(type="siteSpaces", structure=tuple(self.shown_spaces(None)))

    def item(self, item: Item) -> StructureItem:
        """An item as on the wire."""
        if isinstance(item, SiteSpaceRow):
            return self.site_space(item)
        return self.section(item) if isinstance(item, SectionRow) else self.group(item)

    def group(self, row: SectionGroupRow) -> SiteSectionGroup:
        """A group with all that is in it."""
        children = tuple(self.item(one) for one in self.inside(row.id))
        return SiteSectionGroup(
            id=row.id,
            title=row.title,
            icon=row.icon,
            section_group=row.parent_id,
            children=children,
            sections=tuple(one for one in children if isinstance(one, SiteSection)),
        )

    def section(self, row: SectionRow) -> SiteSection:
        """A section with its site spaces."""
        return SiteSection(
            id=row.id,
            title=row.title,
            description=row.description,
            default=row.id == self.site.default_section_id,
            path=row.path,
            condition=row.condition,
            section_group=row.group_id,
            site_spaces=tuple(self.shown_spaces(row.id)),
            icon=row.icon,
            urls=self._urls(section_address(self.context, self.site, row)),
        )

    def shown_spaces(self, section_id: str | None) -> list[SiteSpace]:
        """The site spaces of a section, or of the top, that may be seen."""
        shown = self._shown()
        return [shown[one.id] for one in self.site_spaces if one.section_id == section_id and one.id in shown]

    def every_space(self) -> list[SiteSpace]:
        """All site spaces that may be seen, section by section."""
        sections: list[str | None] = [None, *(one.id for one in self.sections_in_order())]
        return [one for section in sections for one in self.shown_spaces(section)]

    def site_space(self, row: SiteSpaceRow) -> SiteSpace:
        """One site space.

        Raises:
            Problem: 404, for one whose space is not there.
        """
        found = self._shown().get(row.id)
        if found is None:
            raise Problem(404, "There is no such site space.")
        return found

    def sections_in_order(self, group_id: str | None = None) -> list[SectionRow]:
        """The sections as a reader meets them, those in groups too."""
        found: list[SectionRow] = []
        for one in self.inside(group_id):
            if isinstance(one, SectionRow):
                found.append(one)
            elif isinstance(one, SectionGroupRow):
                found += self.sections_in_order(one.id)
        return found

    def _shown(self) -> dict[str, SiteSpace]:
        if self._spaces is None:
            seen = visible(self.context, self.site.organization_id)
            ids = [one.space_id for one in self.site_spaces if one.space_id in seen]
            rows = self.context.session.scalars(select(SpaceRow).where(SpaceRow.id.in_(ids))).all()
            spaces = {space.id: space for space in as_spaces(self.context, rows)}
            sections = {one.id: one for one in self.sections}
            self._spaces = {
                one.id: self._site_space(one, sections.get(one.section_id or ""), spaces[one.space_id])
                for one in self.site_spaces
                if one.space_id in spaces
            }
        return self._spaces

    def _site_space(self, row: SiteSpaceRow, section: SectionRow | None, space: Space) -> SiteSpace:
        first = section.default_site_space_id if section else self.site.default_site_space_id
        return SiteSpace(
            id=row.id,
            path=row.path,
            section=row.section_id,
            space=space,
            title=space.title,
            default=row.id == first,
            condition=row.condition,
            urls=self._urls(space_address(self.context, self.site, section, row)),
        )

    def _urls(self, address: str) -> PublishedUrl:
        return PublishedUrl(published=address if self.site.published else None)


def visible(context: Context, organization_id: str) -> frozenset[str]:
    """The ids of the spaces that the caller may see; found once in a call."""
    key = ("visible spaces", organization_id)
    if key not in context.known:
        collections_of(context, organization_id)
        context.known[key] = frozenset(visible_spaces(context, organization_id))
    return context.known[key]


def above(item: SectionRow | SectionGroupRow) -> str | None:
    """The id of the group that an item is in."""
    return item.group_id if isinstance(item, SectionRow) else item.parent_id


def free_path(title: str, taken: set[str]) -> str:
    """A part of an address made from a title, with a number behind it where another has that one."""
    wanted = slugify(title)
    path, number = wanted, 1
    while path in taken:
        path = f"{wanted}-{number}"
        number += 1
    return path
