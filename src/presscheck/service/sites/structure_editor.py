"""Edits of the structure of a site. A site or a section with site spaces always has a default site space."""

from __future__ import annotations

from collections.abc import Sequence

from presscheck.api.site_structure import StructureItemPointer, StructurePosition
from presscheck.service.db.ids import new_id
from presscheck.service.http.operations import ApiError, Context, not_found
from presscheck.service.models.sites import SectionGroupRow, SectionRow, SiteRow, SiteSpaceRow
from presscheck.service.permissions import require_publishing, space_for
from presscheck.service.sites.structure import Entry, Item, SiteContents, above, free_path

LONGEST_SECTION_TITLE = 128


def add_site_space(context: Context, site: SiteRow, space_id: str, section: SectionRow | None) -> SiteSpaceRow:
    """Add a space at the end of a site or a section.

    Raises:
        ApiError: 403 if the site is published and the caller may not publish, 404 if the space does not exist, 409 if
            it is in another organization or already in the site.
    """
    space = space_for(context, space_id)
    if space.organization_id != site.organization_id:
        raise ApiError(409, "spaceId: the space is in another organization.")
    contents = SiteContents(context, site)
    if any(site_space.space_id == space.id for site_space in contents.site_spaces):
        raise ApiError(409, "spaceId: the space is already in this site.")
    require_publishing(context, site, "adding a space")
    section_id = section.id if section else None
    siblings = [site_space for site_space in contents.site_spaces if site_space.section_id == section_id]
    row = SiteSpaceRow(
        id=new_id(),
        site_id=site.id,
        section_id=section_id,
        space_id=space.id,
        position=end_of(siblings),
        path=free_path(space.title, {sibling.path for sibling in siblings}),
    )
    context.session.add(row)
    open_first(context, site)
    return row


def add_section(context: Context, site: SiteRow, title: str, icon: str | None) -> SectionRow:
    """Add a section at the end. It is empty, but the first section gets the site spaces of the top level."""
    contents = SiteContents(context, site)
    row = SectionRow(
        id=new_id(),
        site_id=site.id,
        position=end_of(contents.inside(None)),
        title=title[:LONGEST_SECTION_TITLE],
        path=free_path(title, {section.path for section in contents.sections}),
        icon=icon,
    )
    context.session.add(row)
    for site_space in contents.site_spaces:
        if site_space.section_id is None:
            site_space.section_id = row.id
    row.default_site_space_id, site.default_site_space_id = site.default_site_space_id, None
    open_first(context, site)
    return row


def end_of(row: Sequence[Item]) -> int:
    """Return the position after the last sibling. Positions may have gaps, where items were removed."""
    return max((item.position for item in row), default=-1) + 1


def open_first(context: Context, site: SiteRow) -> None:
    """Make the first item the default wherever the default of the site or of a section does not exist."""
    contents = SiteContents(context, site)
    site.default_section_id = _first(site.default_section_id, contents.sections)
    top = [site_space for site_space in contents.site_spaces if site_space.section_id is None]
    site.default_site_space_id = _first(site.default_site_space_id, top)
    for section in contents.sections:
        inside = [site_space for site_space in contents.site_spaces if site_space.section_id == section.id]
        section.default_site_space_id = _first(section.default_site_space_id, inside)
    context.session.flush()


def regroup(contents: SiteContents, group: SectionGroupRow, sections: Sequence[str]) -> None:
    """Move sections into a group, in this order.

    Raises:
        ApiError: 400, a section is not in the site.
    """
    rows = {section.id: section for section in contents.sections}
    for position, section_id in enumerate(dict.fromkeys(sections)):
        if section_id not in rows:
            raise ApiError(400, f"sections: section {section_id} not found in this site")
        rows[section_id].group_id, rows[section_id].position = group.id, position
    contents.context.session.flush()


def dissolve(contents: SiteContents, group: SectionGroupRow) -> None:
    """Delete a group and put its items in its place."""
    row, inside = contents.row_of(group), contents.inside(group.id)
    at = row.index(group)
    for item in inside:
        put_into(item, group.parent_id)
    _number([*row[:at], *inside, *row[at + 1 :]])
    contents.context.session.flush()
    contents.context.session.delete(group)
    contents.context.session.flush()


def put_into(item: Entry, group_id: str | None) -> None:
    """Move a section, a group or a link into a group; None moves it to the top level."""
    if isinstance(item, SectionGroupRow):
        item.parent_id = group_id
    else:
        item.group_id = group_id


def sort(contents: SiteContents, pointer: StructureItemPointer, position: StructurePosition) -> Item:
    """Move an item next to a neighbor, into the neighbor's section or group.

    Without a position, move it after all siblings.

    Raises:
        ApiError: 400 if the position is invalid, 403 if the site is published, the item leaves a section with a
            condition and the caller may not publish, 404 if the item does not exist.
    """
    item = contents.find(pointer.type, pointer.id)
    if item is None:
        raise not_found("item in this site")
    neighbour_pointer = position.before or position.after
    if neighbour_pointer is None:
        _number([*(sibling for sibling in contents.row_of(item) if sibling is not item), item])
        return item
    neighbour = _neighbour(contents, item, neighbour_pointer, position)
    row = [sibling for sibling in contents.row_of(neighbour) if sibling is not item]
    row.insert(row.index(neighbour) + (position.before is None), item)
    _adopt_parent(contents, item, neighbour)
    _number(row)
    return item


def _neighbour(contents: SiteContents, item: Item, pointer: StructureItemPointer, position: StructurePosition) -> Item:
    if position.before is not None and position.after is not None:
        raise ApiError(400, "position: give either before or after")
    neighbour = contents.find(pointer.type, pointer.id)
    if neighbour is None:
        raise ApiError(400, f"position: {pointer.type} {pointer.id} not found in this site")
    if neighbour is item:
        raise ApiError(400, "position: an item cannot be placed next to itself")
    if isinstance(neighbour, SiteSpaceRow) != isinstance(item, SiteSpaceRow):
        raise ApiError(
            400, "position: a site space must be next to a site space, any other item next to a section, group or link"
        )
    if isinstance(item, SectionGroupRow) and not isinstance(neighbour, SiteSpaceRow):
        group = above(neighbour)
        while group is not None:
            if group == item.id:
                raise ApiError(400, "position: a group cannot be moved into itself")
            group = next((candidate.parent_id for candidate in contents.groups if candidate.id == group), None)
    return neighbour


def _adopt_parent(contents: SiteContents, item: Item, neighbour: Item) -> None:
    """Move an item into the section or group of its new neighbor."""
    if isinstance(item, SiteSpaceRow) and isinstance(neighbour, SiteSpaceRow):
        if item.section_id != neighbour.section_id:
            if any(section.id == item.section_id and section.condition for section in contents.sections):
                require_publishing(contents.context, contents.site, "moving a space out of a section with a condition")
            sibling_paths = {
                sibling.path for sibling in contents.row_of(neighbour) if isinstance(sibling, SiteSpaceRow)
            }
            item.path = free_path(item.path, sibling_paths)
            item.section_id = neighbour.section_id
    elif not isinstance(item, SiteSpaceRow) and not isinstance(neighbour, SiteSpaceRow):
        put_into(item, above(neighbour))
    open_first(contents.context, contents.site)


def _number(row: Sequence[Item]) -> None:
    for number, item in enumerate(row):
        item.position = number


def _first(present: str | None, rows: Sequence[Item]) -> str | None:
    ids = [row.id for row in rows]
    return present if present in ids else next(iter(ids), None)
