"""Spaces: list, get, create, duplicate, update, move, transfer, delete and restore.

A deleted space can be restored for seven days.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Any, cast

from sqlalchemy import select

from presscheck.api.operation import Page
from presscheck.api.search_results import SearchPageResult
from presscheck.api.spaces import (
    CreateSpace,
    DeleteSpace,
    DuplicateSpace,
    GetSpace,
    GetSpaceGitInfo,
    GitSync,
    ListSpaces,
    MoveSpace,
    RestoreSpace,
    SearchSpace,
    Space,
    TransferSpace,
    UpdateSpace,
)
from presscheck.documents.pages.tree import with_slugs
from presscheck.service.content.revisions import add_revision
from presscheck.service.content.search import as_results, search
from presscheck.service.content.tree_copy import copied_tree
from presscheck.service.db.ids import moment_text, new_id
from presscheck.service.handlers.computed_content import ComputedSpace, computed_space, computed_tree
from presscheck.service.http.operations import ApiError, Context, Reading, handles, not_found
from presscheck.service.http.pagination import SortKey, page_of_found, page_of_items
from presscheck.service.jobs.purge_deleted import RESTORABLE
from presscheck.service.models.content import RevisionRow
from presscheck.service.models.sites import SiteRow, SiteSpaceRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.permissions import (
    level_in_space,
    organization_for,
    reaches,
    space_for,
    visible_sites,
    visible_spaces,
)
from presscheck.service.review.merge_rules import stored_rules
from presscheck.service.sites.urls import opens
from presscheck.service.spaces.serializers import as_shared_space, as_spaces
from presscheck.service.spaces.sort_order import last_position, move, place, require_parent, siblings

_KEY = SortKey.of((SpaceRow.position, SpaceRow.id))
LONGEST_TITLE = 50
CLEARABLE = frozenset(("default_level", "emoji", "icon", "language"))


@handles(ListSpaces)
def list_spaces(context: Context, call: ListSpaces) -> Page[Space]:
    """List all spaces that the caller may see, in all collections."""
    organization = organization_for(context, call.organization_id, "guest")
    # all spaces are loaded to determine the access to each
    spaces = sorted(visible_spaces(context, organization.id), key=_place_of)

    def read(place: list[Any] | None, most: int) -> list[SpaceRow]:
        start = bisect_right(spaces, tuple(place), key=_place_of) if place else 0
        return spaces[start : start + most]

    return page_of_found(call, read, lambda rows: as_spaces(context, rows), key=_KEY, total=lambda: len(spaces))


def _place_of(space: SpaceRow) -> tuple[int, str]:
    return space.position, space.id


@handles(GetSpace)
def get_space(context: Context, call: GetSpace) -> Space:
    """Return a space.

    Admins also get a deleted space that can be restored. A caller with a share key gets the fields that readers see.
    """
    row = context.row(SpaceRow, call.space_id)
    if row and row.deleted_at and not _is_lost(context, row) and reaches(level_in_space(context, row), "admin"):
        return as_spaces(context, [row])[0]
    if row and not row.deleted_at and call.share_key and opens(context, row.id, call.share_key):
        is_reader = level_in_space(context, row) is not None
        return as_spaces(context, [row])[0] if is_reader else as_shared_space(context, row)
    return as_spaces(context, [space_for(context, call.space_id)])[0]


def with_pages(reading: Reading, call: CreateSpace) -> CreateSpace:
    """Compute the pages of a space with a content source, after checking that the caller may create the space."""
    if call.template is not None:
        raise ApiError(400, "template: not supported; this service has no templates")
    if call.computed_source is None:
        return call
    with reading() as context:
        organization_for(context, call.organization_id, "guest")
        require_parent(context, call.organization_id, call.parent)
        prepared = call.model_copy()
        prepared._prepared = computed_space(context, call.organization_id, call.computed_source)
    return prepared


@handles(CreateSpace, beforehand=with_pages)
def create_space(context: Context, call: CreateSpace) -> Space:
    """Create a space, last in its collection or at the top level. Requires the create role.

    The space is empty, or gets the pages of a content source.
    """
    organization = organization_for(context, call.organization_id, "guest")
    require_parent(context, organization.id, call.parent)
    now, computed = context.now(), cast("ComputedSpace | None", call._prepared)
    tree = with_slugs(computed_tree(context.session, computed.pages, now)) if computed else []
    row = SpaceRow(
        id=computed.space_id if computed else new_id(),
        organization_id=organization.id,
        parent_id=call.parent,
        position=last_position(context.session, organization.id, call.parent),
        title=call.title or "Untitled",
        emoji=call.emoji,
        language=call.language,
        edit_mode=call.edit_mode or "live",
        created_by=context.user.id,
        created_at=now,
        updated_at=now,
    )
    row.revision_id = add_revision(context.session, row.id, tree, created_at=now, created_by=context.user.id)
    context.session.add(row)
    context.session.flush()
    for record in computed.events if computed else ():
        record(context.session)
    return as_spaces(context, [row])[0]


@handles(UpdateSpace)
def update_space(context: Context, call: UpdateSpace) -> Space:
    """Update a space; requires an admin of the space."""
    row = space_for(context, call.space_id, "admin")
    if call.emoji is not None and call.icon is not None:
        raise ApiError(400, "emoji, icon: give only one of them")
    given = {name: value for name, value in call.given().items() if name != "space_id"}
    if call.merge_rules is not None:
        given["merge_rules"] = stored_rules(call.merge_rules)
    for name, value in given.items():
        if value is None and name not in CLEARABLE:
            raise ApiError(400, f"{call.on_wire(name)}: must not be null")
        setattr(row, name, value)
    if given.get("emoji") or given.get("icon"):
        row.icon, row.emoji = given.get("icon"), given.get("emoji")
    row.updated_at = context.now()
    return as_spaces(context, [row])[0]


@handles(DeleteSpace)
def delete_space(context: Context, call: DeleteSpace) -> None:
    """Delete a space, which can be restored for seven days. Return normally if the space does not exist."""
    row = context.session.get(SpaceRow, call.space_id)
    if row is None or row.deleted_at is not None or level_in_space(context, row) is None:
        return
    space_for(context, call.space_id, "admin").deleted_at = context.now()


@handles(RestoreSpace)
def restore_space(context: Context, call: RestoreSpace) -> Space:
    """Restore a space within seven days, at the end of its collection."""
    row = context.session.get(SpaceRow, call.space_id)
    if row is None or not reaches(level_in_space(context, row), "admin"):
        raise not_found("space")
    if _is_lost(context, row):
        raise ApiError(409, "This space was deleted more than seven days ago and cannot be restored.")
    if row.deleted_at is not None:
        row.position = last_position(context.session, row.organization_id, row.parent_id)
        row.deleted_at = None
    return as_spaces(context, [row])[0]


@handles(DuplicateSpace)
def duplicate_space(context: Context, call: DuplicateSpace) -> Space:
    """Copy the live content into a new space after the original, without comments and change requests."""
    return as_spaces(context, [duplicate(context, space_for(context, call.space_id))])[0]


def duplicate(context: Context, row: SpaceRow) -> SpaceRow:
    """Copy the live content of a space into a new space after the original. Requires the create role there."""
    require_parent(context, row.organization_id, row.parent_id)
    copy = _copy(context, row)
    context.session.add(copy)
    others = [
        sibling for sibling in siblings(context.session, row.organization_id, row.parent_id) if sibling is not copy
    ]
    place(context.session, copy, row.parent_id, others.index(row) + 1)
    context.session.flush()
    return copy


@handles(GetSpaceGitInfo)
def get_space_git_info(context: Context, call: GetSpaceGitInfo) -> GitSync:
    """Respond with 404: this service imports from Git repositories and exports to them, but has no Git sync."""
    space_for(context, call.space_id)
    raise ApiError(404, "This space has no Git sync.")


def _copy(context: Context, row: SpaceRow) -> SpaceRow:
    live = context.session.get_one(RevisionRow, row.revision_id)
    now = context.now()
    copy = SpaceRow(
        id=new_id(),
        organization_id=row.organization_id,
        parent_id=row.parent_id,
        title=f"Copy of {row.title}"[:LONGEST_TITLE],
        emoji=row.emoji,
        icon=row.icon,
        language=row.language,
        edit_mode=row.edit_mode,
        default_level=row.default_level,
        merge_rules=row.merge_rules,
        created_by=context.user.id,
        created_at=now,
        updated_at=now,
    )
    copy.revision_id = add_revision(
        context.session,
        copy.id,
        copied_tree(live.tree),
        created_at=now,
        created_by=context.user.id,
        files=live.files,
        reusable_contents=live.reusable_contents,
        variables=live.variables,
    )
    return copy


@handles(MoveSpace)
def move_space(context: Context, call: MoveSpace) -> Space:
    """Move a space within its organization. If this changes who has access, it requires an admin of the space."""
    row = space_for(context, call.space_id, "create")
    move(context, row, call)
    return as_spaces(context, [row])[0]


@handles(TransferSpace)
def transfer_space(context: Context, call: TransferSpace) -> Space:
    """Transfer a space to another organization of the caller, at the end of the top level."""
    row = space_for(context, call.space_id, "admin")
    target = organization_for(context, call.organization, "create")
    if target.id == row.organization_id:
        raise ApiError(409, "organization: the space is already in this organization.")
    require_no_site(context, [row.id])
    row.organization_id, row.parent_id = target.id, None
    place(context.session, row, None)
    context.session.flush()
    return as_spaces(context, [row])[0]


@handles(SearchSpace)
def search_space(context: Context, call: SearchSpace) -> Page[SearchPageResult]:
    """Find pages with all words of the query, the best match first."""
    space = space_for(context, call.space_id)
    results, terms = search(context, [space], call.query)
    page = page_of_items(call, results.get(space.id, []))
    return Page[SearchPageResult].model_construct(
        items=as_results(context, page.items, terms), next=page.next, count=page.count, total=page.total
    )


def require_no_site(context: Context, ids: Iterable[str]) -> None:
    """Require that no site uses any of these spaces, so that they can be transferred.

    Raises:
        ApiError: 412, naming the sites that the caller sees.
    """
    site_ids = select(SiteSpaceRow.site_id).where(SiteSpaceRow.space_id.in_(list(ids)))
    sites = context.session.scalars(select(SiteRow).where(SiteRow.id.in_(site_ids)).order_by(SiteRow.title)).all()
    if sites:
        visible = visible_sites(context, sites[0].organization_id, sites)
        names = [site.title for site in visible]
        if len(visible) < len(sites):
            names.append(f"{len(sites) - len(visible)} that you cannot see")
        raise ApiError(412, f"The space is used by sites ({', '.join(names)}). Remove it from them first.")


def _is_lost(context: Context, row: SpaceRow) -> bool:
    return row.deleted_at is not None and row.deleted_at < moment_text(context.clock() - RESTORABLE)
