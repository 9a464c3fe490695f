"""Collections: list, get, create, update, move, transfer and delete."""

from __future__ import annotations

from sqlalchemy import select, update

from presscheck.api.collections import (
    Collection,
    CollectionPermissions,
    CreateCollection,
    DeleteCollection,
    GetCollection,
    ListCollections,
    ListSpacesInCollection,
    MoveCollection,
    TransferCollection,
    UpdateCollection,
)
from presscheck.api.operation import Page
from presscheck.api.roles import Location
from presscheck.api.spaces import Space
from presscheck.service.db.ids import new_id
from presscheck.service.handlers.spaces import require_no_site
from presscheck.service.http.operations import ApiError, Context, handles
from presscheck.service.http.pagination import page_of_rows
from presscheck.service.models.spaces import CollectionRow, SpaceRow
from presscheck.service.models.teams import GrantRow
from presscheck.service.permissions import (
    collection_for,
    collections_of,
    level_in_collection,
    level_in_space,
    organization_for,
    reaches,
    remove_grants,
    spaces_in,
    within,
)
from presscheck.service.spaces.serializers import as_spaces
from presscheck.service.spaces.sort_order import (
    last_position,
    move,
    place,
    require_admin_of_all,
    require_parent,
    siblings,
)


@handles(ListCollections)
def list_collections(context: Context, call: ListCollections) -> Page[Collection]:
    """List the collections that the caller may see, in order. Leave out nested collections if `nested` is false."""
    organization = organization_for(context, call.organization_id, "guest")
    every = collections_of(context, organization.id).values()
    seen = [row.id for row in every if level_in_collection(context, row) is not None]
    rows = select(CollectionRow).where(CollectionRow.id.in_(seen))
    if call.nested is False:
        rows = rows.where(CollectionRow.parent_id.is_(None))
    return page_of_rows(
        context,
        call,
        rows,
        lambda page_rows: [as_collection(context, row) for row in page_rows],
        order=(CollectionRow.position, CollectionRow.id),
    )


@handles(GetCollection)
def get_collection(context: Context, call: GetCollection) -> Collection:
    """Return a collection."""
    return as_collection(context, collection_for(context, call.collection_id))


@handles(CreateCollection)
def create_collection(context: Context, call: CreateCollection) -> Collection:
    """Create a collection, last in its parent collection or at the top level. Requires the create role."""
    organization_for(context, call.organization_id, "guest")
    require_parent(context, call.organization_id, call.parent)
    row = CollectionRow(
        id=new_id(),
        organization_id=call.organization_id,
        parent_id=call.parent,
        position=last_position(context.session, call.organization_id, call.parent),
        title=call.title or "Untitled",
        default_level="inherit",
        created_at=context.now(),
    )
    context.session.add(row)
    context.session.flush()
    return as_collection(context, row)


@handles(UpdateCollection)
def update_collection(context: Context, call: UpdateCollection) -> Collection:
    """Update a collection; requires an admin of the collection."""
    row = collection_for(context, call.collection_id, "admin")
    given = call.given()
    if call.title is None and "title" in given:
        raise ApiError(400, "title: must not be null")
    for name in ("title", "description", "default_level"):
        if name in given:
            setattr(row, name, given[name])
    return as_collection(context, row)


@handles(DeleteCollection)
def delete_collection(context: Context, call: DeleteCollection) -> None:
    """Delete a collection; its items move up to its position and keep their access. Ignore a missing collection."""
    row = context.session.get(CollectionRow, call.collection_id)
    if row is None or level_in_collection(context, row) is None:
        return
    row = collection_for(context, call.collection_id, "admin")
    above = siblings(context.session, row.organization_id, row.parent_id)
    inside = siblings(context.session, row.organization_id, row.id)
    for item in inside:
        if item.default_level == "inherit":
            item.default_level = row.default_level
        item.parent_id = row.parent_id
    # includes deleted spaces: a restored space is then in the parent collection, with the same access
    contained_spaces = update(SpaceRow).where(SpaceRow.parent_id == row.id)
    inherits = SpaceRow.default_level == "inherit"
    context.session.execute(contained_spaces.where(inherits).values(default_level=row.default_level))
    context.session.execute(contained_spaces.values(parent_id=row.parent_id))
    at = above.index(row)
    for number, item in enumerate([*above[:at], *inside, *above[at + 1 :]]):
        item.position = number
    context.session.flush()
    remove_grants(context, GrantRow.place_id == row.id)
    context.session.delete(row)


@handles(ListSpacesInCollection)
def list_spaces_in_collection(context: Context, call: ListSpacesInCollection) -> Page[Space]:
    """List the direct spaces of a collection that the caller may see, in order."""
    row = collection_for(context, call.collection_id)
    collections_of(context, row.organization_id)
    seen = [space.id for space in spaces_in(context, [row]) if not space.deleted_at and level_in_space(context, space)]
    return page_of_rows(
        context,
        call,
        select(SpaceRow).where(SpaceRow.id.in_(seen)),
        lambda rows: as_spaces(context, rows),
        order=(SpaceRow.position, SpaceRow.id),
    )


@handles(MoveCollection)
def move_collection(context: Context, call: MoveCollection) -> Collection:
    """Move a collection, but not into itself. If this changes who has access, it requires an admin of the contents."""
    row = collection_for(context, call.collection_id, "create")
    move(context, row, call)
    return as_collection(context, row)


@handles(TransferCollection)
def transfer_collection(context: Context, call: TransferCollection) -> Collection:
    """Transfer a collection with its contents to another organization of the caller."""
    row = collection_for(context, call.collection_id, "admin")
    target = organization_for(context, call.organization, "create")
    if target.id == row.organization_id:
        raise ApiError(409, "organization: the collection is already in this organization.")
    require_admin_of_all(context, row)
    moved = within(context, row)
    spaces = spaces_in(context, moved)
    require_no_site(context, [space.id for space in spaces])
    for item in (*moved, *spaces):
        item.organization_id = target.id
    place(context.session, row, None)
    context.session.flush()
    return as_collection(context, row)


def as_collection(context: Context, row: CollectionRow) -> Collection:
    """Serialize a collection."""
    level = level_in_collection(context, row)
    return Collection(
        id=row.id,
        title=row.title,
        description=row.description,
        organization=row.organization_id,
        parent=row.parent_id,
        default_level=row.default_level,
        urls=Location(location=context.location(f"/collections/{row.id}"), app=context.app(f"/c/{row.id}")),
        permissions=CollectionPermissions(
            view=reaches(level, "read"),
            admin=reaches(level, "admin"),
            view_invite_links=reaches(level, "admin"),
            create=reaches(level, "create"),
        ),
    )
