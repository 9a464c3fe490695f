"""Spaces: list, get, create, duplicate, update, move, transfer, delete and restore.

A deleted space can be restored for seven days.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import select

from presscheck.api.operation import Page
from presscheck.api.search_results import SearchPageResult
from presscheck.api.spaces import (
    CreateSpace,
    DeleteSpace,
    DuplicateSpace,
    GetSpace,
    ListSpaces,
    MoveSpace,
    RestoreSpace,
    SearchSpace,
    Space,
    TransferSpace,
    UpdateSpace,
)
from presscheck.service.access import level_in_space, organization_for, reaches, space_for, visible_spaces
from presscheck.service.background.sweep import RESTORABLE
from presscheck.service.content import add_revision
from presscheck.service.content_tables import RevisionRow
from presscheck.service.copying import copied_tree
from presscheck.service.handling import Context, Problem, answers, not_found
from presscheck.service.identity import moment_text, new_id
from presscheck.service.listing import page_of_items, page_of_rows
from presscheck.service.merge_rules import kept_rules
from presscheck.service.nesting import collections_of
from presscheck.service.placement import demand_parent, last_position, move, place, siblings
from presscheck.service.searching import as_results, search
from presscheck.service.site_addresses import opens
from presscheck.service.space_answers import as_spaces
from presscheck.service.tables import SiteRow, SiteSpaceRow, SpaceRow

LONGEST_TITLE = 50
CLEARABLE = frozenset(("default_level", "emoji", "icon", "language"))


@answers(ListSpaces)
def list_spaces(context: Context, call: ListSpaces) -> Page[Space]:
    """Lists all spaces that the caller may see, in all collections."""
    organization = organization_for(context, call.organization_id, "guest")
    collections_of(context, organization.id)
    return page_of_rows(
        context,
        call,
        select(SpaceRow).where(SpaceRow.id.in_(visible_spaces(context, organization.id))),
        lambda rows: as_spaces(context, rows),
        order=(SpaceRow.position, SpaceRow.id),
    )


@answers(GetSpace)
def get_space(context: Context, call: GetSpace) -> Space:
    """Returns a space: to its admins while it can be restored, and to holders of a share key what that shows."""
    row = context.session.get(SpaceRow, call.space_id)
    if row and row.deleted_at and not _is_lost(context, row) and reaches(level_in_space(context, row), "admin"):
        return as_spaces(context, [row])[0]
    if row and not row.deleted_at and call.share_key and opens(context, row.id, call.share_key):
        return as_spaces(context, [row])[0]
    return as_spaces(context, [space_for(context, call.space_id)])[0]


@answers(CreateSpace)
def create_space(context: Context, call: CreateSpace) -> Space:
    """Creates an empty space at the end; requires the create role."""
    organization = organization_for(context, call.organization_id, "guest")
    demand_parent(context, organization.id, call.parent)
    if call.template is not None or call.computed_source is not None:
        raise Problem(400, "template, computedSource: not supported; this service creates empty spaces only")
    now = context.now()
    row = SpaceRow(
        id=new_id(),
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
    row.revision_id = add_revision(context.session, row.id, [], created_at=now, created_by=context.user.id).id
    context.session.add(row)
    context.session.flush()
    return as_spaces(context, [row])[0]


@answers(UpdateSpace)
def update_space(context: Context, call: UpdateSpace) -> Space:
    """Updates a space; requires an admin of it."""
    row = space_for(context, call.space_id, "admin")
    if call.emoji is not None and call.icon is not None:
        raise Problem(400, "emoji, icon: give only one of them")
    given = {name: value for name, value in call.given().items() if name != "space_id"}
    if call.merge_rules is not None:
        given["merge_rules"] = kept_rules(call.merge_rules)
    for name, value in given.items():
        if value is None and name not in CLEARABLE:
            raise Problem(400, f"{call.on_wire(name)}: must not be null")
        setattr(row, name, value)
    if given.get("emoji") or given.get("icon"):
        row.icon, row.emoji = given.get("icon"), given.get("emoji")
    row.updated_at = context.now()
    return as_spaces(context, [row])[0]


@answers(DeleteSpace)
def delete_space(context: Context, call: DeleteSpace) -> None:
    """Deletes a space, which can be restored for seven days; a missing one is not an error."""
    row = context.session.get(SpaceRow, call.space_id)
    if row is None or row.deleted_at is not None or level_in_space(context, row) is None:
        return
    space_for(context, call.space_id, "admin").deleted_at = context.now()


@answers(RestoreSpace)
def restore_space(context: Context, call: RestoreSpace) -> Space:
    """Restores a space within seven days, at the end of its collection."""
    row = context.session.get(SpaceRow, call.space_id)
    if row is None or not reaches(level_in_space(context, row), "admin"):
        raise not_found("space")
    if _is_lost(context, row):
        raise Problem(409, "This space was deleted more than seven days ago and cannot be restored.")
    if row.deleted_at is not None:
        row.position = last_position(context.session, row.organization_id, row.parent_id)
        row.deleted_at = None
    return as_spaces(context, [row])[0]


@answers(DuplicateSpace)
def duplicate_space(context: Context, call: DuplicateSpace) -> Space:
    """Copies the live content into a new space after the original, without comments and change requests."""
    row = space_for(context, call.space_id)
    demand_parent(context, row.organization_id, row.parent_id)
    copy = _copy(context, row)
    context.session.add(copy)
    others = [
        sibling for sibling in siblings(context.session, row.organization_id, row.parent_id) if sibling is not copy
    ]
    place(context.session, copy, row.parent_id, others.index(row) + 1)
    context.session.flush()
    return as_spaces(context, [copy])[0]


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
    ).id
    return copy


@answers(MoveSpace)
def move_space(context: Context, call: MoveSpace) -> Space:
    """Moves a space within its organization."""
    row = space_for(context, call.space_id, "create")
    move(context, row, call)
    return as_spaces(context, [row])[0]


@answers(TransferSpace)
def transfer_space(context: Context, call: TransferSpace) -> Space:
    """Transfers a space to another organization of the caller, at the end of the top level."""
    row = space_for(context, call.space_id, "admin")
    target = organization_for(context, call.organization, "create")
    if target.id == row.organization_id:
        raise Problem(409, "organization: the space is already in this organization.")
    demand_no_site(context, [row.id])
    row.organization_id, row.parent_id = target.id, None
    place(context.session, row, None)
    context.session.flush()
    return as_spaces(context, [row])[0]


@answers(SearchSpace)
def search_space(context: Context, call: SearchSpace) -> Page[SearchPageResult]:
    """Finds pages with all words of the query, matches in the title first."""
    space = space_for(context, call.space_id)
    page = page_of_items(call, search(context, [space], call.query).get(space.id, []))
    return Page[SearchPageResult].model_construct(
        items=as_results(context, page.items, call.query), next=page.next, count=page.count
    )


def demand_no_site(context: Context, ids: Iterable[str]) -> None:
    """Refuses a transfer of spaces that are used by sites.

    Raises:
        Problem: 412, naming the sites.
    """
    shown = select(SiteSpaceRow.site_id).where(SiteSpaceRow.space_id.in_(list(ids)))
    titles = context.session.scalars(select(SiteRow.title).where(SiteRow.id.in_(shown)).order_by(SiteRow.title)).all()
    if titles:
        raise Problem(412, f"The space is used by sites ({', '.join(titles)}). Remove it from them first.")


def _is_lost(context: Context, row: SpaceRow) -> bool:
    return row.deleted_at is not None and row.deleted_at < moment_text(context.clock() - RESTORABLE)
