"""Structure of a site: add, change, sort and remove site spaces, sections and section groups."""

from __future__ import annotations

from presscheck.api.operation import Page
from presscheck.api.site_structure import (
    AddSection,
    AddSectionGroup,
    AddSiteSpace,
    DeleteSection,
    DeleteSectionGroup,
    DeleteSiteSpace,
    DuplicateSiteSpace,
    GetSiteStructure,
    GroupNeighborPointer,
    GroupPosition,
    ListSectionGroups,
    ListSections,
    ListSiteSpaces,
    MoveSiteSection,
    MoveSiteSectionGroup,
    MoveSiteSpace,
    SectionPointer,
    SectionPosition,
    SiteSection,
    SiteSectionGroup,
    SiteSpace,
    SiteSpacePointer,
    SiteSpacePosition,
    SiteStructure,
    SortSiteStructure,
    StructureItem,
    StructureItemPointer,
    StructurePosition,
    UpdateSection,
    UpdateSectionGroup,
    UpdateSiteSpace,
)
from presscheck.service.db.ids import new_id
from presscheck.service.handlers.sites import site_for
from presscheck.service.handlers.spaces import duplicate
from presscheck.service.http.operations import ApiError, Context, handles, not_found
from presscheck.service.http.pagination import page_of_items
from presscheck.service.models.sites import SectionGroupRow, SectionRow, SiteRow, SiteSpaceRow
from presscheck.service.permissions import require_publishing, space_for
from presscheck.service.sites.structure import SiteContents
from presscheck.service.sites.structure_editor import (
    add_section,
    add_site_space,
    dissolve,
    end_of,
    open_first,
    regroup,
    sort,
)
from presscheck.service.sites.urls import require_slug


@handles(GetSiteStructure)
def get_site_structure(context: Context, call: GetSiteStructure) -> SiteStructure:
    """Return the structure of a site, in order, without the parts that the caller may not see."""
    return SiteContents(context, site_for(context, call.organization_id, call.site_id)).structure()


@handles(SortSiteStructure)
def sort_site_structure(context: Context, call: SortSiteStructure) -> StructureItem:
    """Move an item next to another item, and into the section or group of that item."""
    site = site_for(context, call.organization_id, call.site_id, "create")
    moved = sort(SiteContents(context, site), call.item, call.position)
    return SiteContents(context, site).item(moved)


@handles(MoveSiteSpace)
def move_site_space(context: Context, call: MoveSiteSpace) -> SiteSpace:
    """Move a site space next to another site space, into the same section; by default, after its siblings."""
    site = site_for(context, call.organization_id, call.site_id, "create")
    _move(context, site, StructureItemPointer(type="site-space", id=call.site_space_id), call.position)
    return SiteContents(context, site).site_space(_site_space(context, site, call.site_space_id))


@handles(MoveSiteSection)
def move_site_section(context: Context, call: MoveSiteSection) -> SiteSection:
    """Move a section next to another section, into the same group; by default, after its siblings."""
    site = site_for(context, call.organization_id, call.site_id, "create")
    _move(context, site, StructureItemPointer(type="site-section", id=call.site_section_id), call.position)
    return SiteContents(context, site).section(context.session.get_one(SectionRow, call.site_section_id))


@handles(MoveSiteSectionGroup)
def move_site_section_group(context: Context, call: MoveSiteSectionGroup) -> SiteSectionGroup:
    """Move a group next to another group or a section, into the same group; by default, after its siblings."""
    site = site_for(context, call.organization_id, call.site_id, "create")
    _move(context, site, StructureItemPointer(type="site-section-group", id=call.site_section_group_id), call.position)
    return SiteContents(context, site).group(context.session.get_one(SectionGroupRow, call.site_section_group_id))


@handles(DuplicateSiteSpace)
def duplicate_site_space(context: Context, call: DuplicateSiteSpace) -> SiteSpace:
    """Copy the live content of a site space into a new space, and add the new space to the site after the original."""
    site = site_for(context, call.organization_id, call.site_id, "create")
    row = _site_space(context, site, call.site_space_id)
    if call.draft:
        raise ApiError(400, "draft: this service has no drafts of spaces in sites")
    copy = duplicate(context, space_for(context, row.space_id))
    added = add_site_space(context, site, copy.id, _section(context, site, row.section_id))
    after = SiteSpacePosition(after=SiteSpacePointer(type="site-space", site_space=row.id))
    _move(context, site, StructureItemPointer(type="site-space", id=added.id), after)
    return SiteContents(context, site).site_space(added)


@handles(ListSiteSpaces)
def list_site_spaces(context: Context, call: ListSiteSpaces) -> Page[SiteSpace]:
    """List the site spaces that the caller may see, section by section."""
    contents = SiteContents(context, site_for(context, call.organization_id, call.site_id))
    every = contents.every_space()
    return page_of_items(
        call, [site_space for site_space in every if call.default is None or site_space.default == call.default]
    )


@handles(AddSiteSpace)
def add_space(context: Context, call: AddSiteSpace) -> SiteSpace:
    """Add a space to a section of a site: by default to the default section, or to the site if it has no sections."""
    site = site_for(context, call.organization_id, call.site_id, "create")
    section = _section(context, site, call.section_id or site.default_section_id)
    row = add_site_space(context, site, call.space_id, section)
    return SiteContents(context, site).site_space(row)


@handles(UpdateSiteSpace)
def update_site_space(context: Context, call: UpdateSiteSpace) -> SiteSpace:
    """Change the path, the condition or the space of a site space."""
    site = site_for(context, call.organization_id, call.site_id, "create")
    row = _site_space(context, site, call.site_space_id)
    contents = SiteContents(context, site)
    if call.path is not None:
        siblings = [
            sibling for sibling in contents.row_of(row) if isinstance(sibling, SiteSpaceRow) and sibling is not row
        ]
        _require_free_path(call.path, {sibling.path for sibling in siblings})
        row.path = call.path
    if "condition" in call.model_fields_set:
        _set_condition(context, site, row, call.condition)
    if call.space_id is not None and call.space_id != row.space_id:
        space = space_for(context, call.space_id)
        if space.organization_id != site.organization_id or space.id in {
            site_space.space_id for site_space in contents.site_spaces
        }:
            raise ApiError(409, "spaceId: the space is in another organization, or already in this site.")
        require_publishing(context, site, "adding a space")
        row.space_id = space.id
    context.session.flush()
    return SiteContents(context, site).site_space(row)


@handles(DeleteSiteSpace)
def delete_site_space(context: Context, call: DeleteSiteSpace) -> None:
    """Remove a space from a site. Return normally if the site does not have this site space."""
    site = site_for(context, call.organization_id, call.site_id, "create")
    row = context.session.get(SiteSpaceRow, call.site_space_id)
    if row is not None and row.site_id == site.id:
        context.session.delete(row)
        open_first(context, site)


@handles(ListSections)
def list_sections(context: Context, call: ListSections) -> Page[SiteSection]:
    """List the sections of a site that the caller may see."""
    contents = SiteContents(context, site_for(context, call.organization_id, call.site_id))
    return page_of_items(call, [contents.section(row) for row in contents.sections_in_order() if contents.shows(row)])


@handles(AddSection)
def add_new_section(context: Context, call: AddSection) -> SiteSection:
    """Add a section with its first space. The default title is the title of the space."""
    site = site_for(context, call.organization_id, call.site_id, "create")
    space = space_for(context, call.space_id)
    if any(
        site_space.space_id == space.id and site_space.section_id
        for site_space in SiteContents(context, site).site_spaces
    ):
        raise ApiError(409, "spaceId: the space is already in another section.")
    row = add_section(context, site, call.title or space.title or "Untitled", call.icon)
    if not any(site_space.space_id == space.id for site_space in SiteContents(context, site).site_spaces):
        add_site_space(context, site, space.id, row)
    return SiteContents(context, site).section(row)


@handles(UpdateSection)
def update_section(context: Context, call: UpdateSection) -> SiteSection:
    """Change a section or its default site space."""
    site = site_for(context, call.organization_id, call.site_id, "create")
    row = _section(context, site, call.site_section_id)
    if row is None:
        raise not_found("section")
    contents = SiteContents(context, site)
    if call.title is not None:
        row.title = call.title
    if call.path is not None:
        _require_free_path(call.path, {section.path for section in contents.sections if section is not row})
        row.path = call.path
    if "condition" in call.model_fields_set:
        _set_condition(context, site, row, call.condition)
    for name in call.model_fields_set & {"icon", "description"}:
        setattr(row, name, getattr(call, name))
    if call.default_site_space is not None:
        if call.default_site_space not in {
            site_space.id for site_space in contents.site_spaces if site_space.section_id == row.id
        }:
            raise ApiError(400, "defaultSiteSpace: site space not found in this section")
        row.default_site_space_id = call.default_site_space
    context.session.flush()
    return SiteContents(context, site).section(row)


@handles(DeleteSection)
def delete_section(context: Context, call: DeleteSection) -> None:
    """Remove a section and its site spaces. Return normally if the section does not exist."""
    site = site_for(context, call.organization_id, call.site_id, "create")
    row = context.session.get(SectionRow, call.site_section_id)
    if row is not None and row.site_id == site.id:
        context.session.delete(row)
        open_first(context, site)


@handles(ListSectionGroups)
def list_section_groups(context: Context, call: ListSectionGroups) -> Page[SiteSectionGroup]:
    """List the section groups of a site that the caller may see, including nested groups."""
    contents = SiteContents(context, site_for(context, call.organization_id, call.site_id))
    return page_of_items(call, [contents.group(row) for row in contents.groups if contents.shows(row)])


@handles(AddSectionGroup)
def add_section_group(context: Context, call: AddSectionGroup) -> SiteSectionGroup:
    """Add a group of sections at the end of the site or of another group."""
    site = site_for(context, call.organization_id, call.site_id, "create")
    contents = SiteContents(context, site)
    if call.parent is not None and contents.find("site-section-group", call.parent) is None:
        raise ApiError(400, "parent: group not found in this site")
    row = SectionGroupRow(
        id=new_id(),
        site_id=site.id,
        parent_id=call.parent,
        position=end_of(contents.inside(call.parent)),
        title=call.title,
        icon=call.icon,
    )
    context.session.add(row)
    regroup(SiteContents(context, site), row, call.sections or ())
    return SiteContents(context, site).group(row)


@handles(UpdateSectionGroup)
def update_section_group(context: Context, call: UpdateSectionGroup) -> SiteSectionGroup:
    """Change the title or icon of a group."""
    site = site_for(context, call.organization_id, call.site_id, "create")
    row = context.session.get(SectionGroupRow, call.site_section_group_id)
    if row is None or row.site_id != site.id:
        raise not_found("section group")
    row.title = call.title or row.title
    if "icon" in call.model_fields_set:
        row.icon = call.icon
    context.session.flush()
    return SiteContents(context, site).group(row)


@handles(DeleteSectionGroup)
def delete_section_group(context: Context, call: DeleteSectionGroup) -> None:
    """Delete a group and move its items to its position. Return normally if the group does not exist."""
    site = site_for(context, call.organization_id, call.site_id, "create")
    row = context.session.get(SectionGroupRow, call.site_section_group_id)
    if row is not None and row.site_id == site.id:
        dissolve(SiteContents(context, site), row)


def _move(
    context: Context,
    site: SiteRow,
    item: StructureItemPointer,
    position: SiteSpacePosition | SectionPosition | GroupPosition | None,
) -> None:
    """Move an item next to another item, or after its siblings if there is no position."""
    before, after = (_neighbor(position.before), _neighbor(position.after)) if position else (None, None)
    sort(SiteContents(context, site), item, StructurePosition(before=before, after=after))
    context.session.flush()


def _neighbor(pointer: SiteSpacePointer | SectionPointer | GroupNeighborPointer | None) -> StructureItemPointer | None:
    if isinstance(pointer, SiteSpacePointer):
        return StructureItemPointer(type=pointer.type, id=pointer.site_space)
    if isinstance(pointer, SectionPointer):
        return StructureItemPointer(type=pointer.type, id=pointer.site_section)
    return StructureItemPointer(type=pointer.type, id=pointer.id) if pointer is not None else None


def _section(context: Context, site: SiteRow, section_id: str | None) -> SectionRow | None:
    if section_id is None:
        return None
    row = context.session.get(SectionRow, section_id)
    if row is None or row.site_id != site.id:
        raise not_found("section")
    return row


def _site_space(context: Context, site: SiteRow, site_space_id: str) -> SiteSpaceRow:
    row = context.session.get(SiteSpaceRow, site_space_id)
    if row is None or row.site_id != site.id:
        raise not_found("site space")
    return row


def _set_condition(context: Context, site: SiteRow, row: SiteSpaceRow | SectionRow, condition: str | None) -> None:
    """Set the condition of an item. Replacing a condition can widen access, which requires publishing rights."""
    if row.condition and condition != row.condition:
        require_publishing(context, site, "changing a condition")
    row.condition = condition


def _require_free_path(path: str, taken: set[str]) -> None:
    require_slug("path", path)
    if path in taken:
        raise ApiError(409, f"path: {path} is already in use.")
