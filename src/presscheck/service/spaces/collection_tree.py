"""Nested collections: all of an organization are loaded at once, so that levels need no further queries."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import select

from presscheck.service.http.operation_registry import Context
from presscheck.service.models.spaces import CollectionRow, SpaceRow


def collections_of(context: Context, organization_id: str) -> dict[str, CollectionRow]:
    """All collections of an organization by id, cached for the call."""
    key = ("collections", organization_id)
    if key not in context.known:
        rows = context.session.scalars(select(CollectionRow).where(CollectionRow.organization_id == organization_id))
        context.known[key] = {row.id: row for row in rows}  # keeps them in the identity map
    return context.known[key]


def within(context: Context, collection: CollectionRow) -> list[CollectionRow]:
    """A collection and all its descendants."""
    context.session.flush()
    context.known.pop(("collections", collection.organization_id), None)
    every = collections_of(context, collection.organization_id)
    collections = [collection]
    for parent in collections:  # the list grows during the loop
        collections += [inner for inner in every.values() if inner.parent_id == parent.id]
    return collections


def spaces_in(context: Context, collections: Iterable[CollectionRow]) -> list[SpaceRow]:
    """The spaces in some collections, including deleted ones."""
    ids = [collection.id for collection in collections]
    return list(context.session.scalars(select(SpaceRow).where(SpaceRow.parent_id.in_(ids))))
