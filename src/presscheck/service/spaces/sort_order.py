"""Order of spaces and collections. Items with the same parent form one list, which is renumbered on changes."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from presscheck.api.collections import MoveCollection
from presscheck.api.roles import ContentPosition, SpacePointer
from presscheck.api.spaces import MoveSpace
from presscheck.service.http.operations import ApiError, Context
from presscheck.service.models.spaces import CollectionRow, SpaceRow
from presscheck.service.permissions import (
    access_to,
    collection_for,
    level_in,
    organization_for,
    space_for,
    spaces_in,
    within,
)

Placed = SpaceRow | CollectionRow
"""An item with a position."""


def last_position(session: Session, organization_id: str, parent_id: str | None) -> int:
    """Return the position after the last item of a collection, or of the top level."""
    return max((sibling.position for sibling in siblings(session, organization_id, parent_id)), default=-1) + 1


def siblings(session: Session, organization_id: str, parent_id: str | None) -> list[Placed]:
    """Return the items of a collection or of the top level in order, without deleted spaces."""
    session.flush()
    spaces = select(SpaceRow).where(
        SpaceRow.organization_id == organization_id, SpaceRow.parent_id == parent_id, SpaceRow.deleted_at.is_(None)
    )
    collections = select(CollectionRow).where(
        CollectionRow.organization_id == organization_id, CollectionRow.parent_id == parent_id
    )
    items: list[Placed] = [*session.scalars(spaces), *session.scalars(collections)]
    return sorted(items, key=lambda item: (item.position, item.id))


def place(session: Session, item: Placed, parent_id: str | None, at: int | None = None) -> None:
    """Move an item into a collection or to the top level, at an index or at the end, and renumber the siblings."""
    row = [sibling for sibling in siblings(session, item.organization_id, parent_id) if sibling is not item]
    row.insert(len(row) if at is None else at, item)
    item.parent_id = parent_id
    for number, sibling in enumerate(row):
        sibling.position = number


def move(context: Context, item: Placed, call: MoveSpace | MoveCollection) -> None:
    """Move an item to the place that a call requests, after checking permissions.

    Raises:
        ApiError: 400 if the place is invalid, 403 if the move changes who has access to an item that the caller does
            not administer, 404 if the place does not exist, 409 if the item cannot be moved there.
    """
    requested = call.model_fields_set & {"parent", "position"}
    if not requested:
        raise ApiError(400, "parent, position: give at least one of them")
    neighbour, is_before = _neighbour(context, call.position)
    current_parent = neighbour.parent_id if neighbour else item.parent_id
    parent_id = call.parent if "parent" in requested else current_parent
    if neighbour is item:
        raise ApiError(400, "position: an item cannot be placed next to itself")
    if neighbour and (neighbour.organization_id, neighbour.parent_id) != (item.organization_id, parent_id):
        raise ApiError(400, "position: the item to place it next to has another parent")
    _require_parent_outside(context, item, parent_id)
    siblings_without_item = [
        sibling for sibling in siblings(context.session, item.organization_id, parent_id) if sibling is not item
    ]
    at = siblings_without_item.index(neighbour) + (not is_before) if neighbour else None
    moved = _with_contents(context, item) if parent_id != item.parent_id else []
    former_access = [(access_to(context, inner), level_in(context, inner)) for inner in moved]
    place(context.session, item, parent_id, at)
    context.session.flush()
    for inner, (access, level) in zip(moved, former_access, strict=True):
        if level != "admin" and access_to(context, inner) != access:
            raise _not_administered(item, inner, "Moving")


def require_admin_of_all(context: Context, item: Placed) -> None:
    """Require that the caller administers an item and everything inside, so that it can be transferred.

    Raises:
        ApiError: 403, the caller does not administer one of the items.
    """
    for inner in _with_contents(context, item):
        if level_in(context, inner) != "admin":
            raise _not_administered(item, inner, "Transferring")


def _with_contents(context: Context, item: Placed) -> list[Placed]:
    """Return an item and everything inside, including deleted spaces."""
    if isinstance(item, SpaceRow):
        return [item]
    collections = within(context, item)
    return [*collections, *spaces_in(context, collections)]


def _not_administered(item: Placed, inner: Placed, doing: str) -> ApiError:
    subject = "it" if inner is item else "items inside"
    return ApiError(403, f"{doing} it changes who has access to {subject}: this needs the admin role there.")


def require_parent(context: Context, organization_id: str, parent_id: str | None) -> CollectionRow | None:
    """Require that the caller may add items to a collection. Return the collection, or None for the top level.

    Raises:
        ApiError: 403 if the caller may not, 404 if it does not exist, 409 if it is in another organization.
    """
    if parent_id is None:
        organization_for(context, organization_id, "create")
        return None
    parent = collection_for(context, parent_id, "create")
    if parent.organization_id != organization_id:
        raise ApiError(409, "parent: the collection is in another organization.")
    return parent


def _require_parent_outside(context: Context, item: Placed, parent_id: str | None) -> None:
    parent = require_parent(context, item.organization_id, parent_id)
    while parent is not None:
        if parent is item:
            raise ApiError(409, "parent: a collection cannot be moved into itself.")
        parent = context.session.get(CollectionRow, parent.parent_id) if parent.parent_id else None


def _neighbour(context: Context, position: ContentPosition | None) -> tuple[Placed | None, bool]:
    pointer = (position.before or position.after) if position else None
    if position is None or pointer is None:
        return None, False
    if position.before is not None and position.after is not None:
        raise ApiError(400, "position: give either before or after")
    is_before = position.before is not None
    if isinstance(pointer, SpacePointer):
        return space_for(context, pointer.space), is_before
    return collection_for(context, pointer.collection), is_before
