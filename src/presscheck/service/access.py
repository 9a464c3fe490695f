"""Who may do what: a member's role in an organization, and the level that it comes to in a collection or a space.

What a person may not see is not there (404); what they may see but not do is forbidden (403).
"""

from __future__ import annotations

from sqlalchemy import select

from presscheck.service.handling import Context, Problem, not_found
from presscheck.service.tables import CollectionRow, MemberRow, OrganizationRow, SpaceRow

LEVELS = ("read", "comment", "review", "edit", "create", "admin")
"""From the least to the most; each includes those before it."""


def reaches(level: str | None, wanted: str) -> bool:
    """Whether a level includes another."""
    return level is not None and LEVELS.index(level) >= LEVELS.index(wanted)


def role_in(context: Context, organization_id: str) -> str | None:
    """The caller's role in an organization; None for guests and strangers."""
    key = ("role", organization_id)
    if key not in context.known:
        member = context.session.get(MemberRow, (organization_id, context.user.id))
        context.known[key] = member.role if member and not member.disabled else None
    return context.known[key]


def is_member(context: Context, organization_id: str) -> bool:
    """Whether the caller is in an organization, if only as a guest."""
    member = context.session.get(MemberRow, (organization_id, context.user.id))
    return member is not None and not member.disabled


def level_in_collection(context: Context, collection: CollectionRow) -> str | None:
    """The caller's level in a collection."""
    return _level(context, collection.organization_id, collection.default_level, collection.parent_id)


def level_in_space(context: Context, space: SpaceRow) -> str | None:
    """The caller's level in a space."""
    return _level(context, space.organization_id, space.default_level, space.parent_id)


def organization_for(context: Context, organization_id: str, wanted: str = "read") -> OrganizationRow:
    """The organization, for somebody who may do this in it; `wanted` "guest" lets every member in."""
    found = context.session.get(OrganizationRow, organization_id)
    if found is None or not is_member(context, organization_id):
        raise not_found("organization")
    if wanted != "guest":
        _demand(role_in(context, organization_id), wanted, "this organization")
    return found


def space_for(context: Context, space_id: str, wanted: str = "read", *, to_write: bool = False) -> SpaceRow:
    """The space, for somebody who may do this in it; one that is deleted is not there.

    With `to_write` its row is locked until the end of the transaction, so that writers take turns.
    """
    found = context.session.get(SpaceRow, space_id, with_for_update=to_write or None)
    if found is None or found.deleted_at is not None:
        raise not_found("space")
    level = level_in_space(context, found)
    if level is None:
        raise not_found("space")
    _demand(level, wanted, "this space")
    return found


def demand_unlocked(space: SpaceRow) -> None:
    """Refuse to edit a space that is locked.

    Raises:
        Problem: 403.
    """
    if space.edit_mode == "locked":
        raise Problem(403, "This space is locked: unlock it before you edit pages or merge.")


def collection_for(context: Context, collection_id: str, wanted: str = "read") -> CollectionRow:
    """The collection, for somebody who may do this in it."""
    found = context.session.get(CollectionRow, collection_id)
    level = level_in_collection(context, found) if found else None
    if found is None or level is None:
        raise not_found("collection")
    _demand(level, wanted, "this collection")
    return found


def visible_spaces(context: Context, organization_id: str) -> list[str]:
    """The ids of the spaces of an organization that the caller may see."""
    rows = context.session.scalars(
        select(SpaceRow).where(SpaceRow.organization_id == organization_id, SpaceRow.deleted_at.is_(None))
    )
    return [row.id for row in rows if level_in_space(context, row) is not None]


def _demand(level: str | None, wanted: str, where: str) -> None:
    if not reaches(level, wanted):
        raise Problem(403, f"That needs the role {wanted} in {where}; yours is {level or 'guest'}.")


def _level(context: Context, organization_id: str, own: str | None, parent_id: str | None) -> str | None:
    role = role_in(context, organization_id)
    if role == "admin" or role is None:
        return role
    while own == "inherit" and parent_id is not None:
        parent = context.session.get(CollectionRow, parent_id)
        own, parent_id = (parent.default_level, parent.parent_id) if parent else ("inherit", None)
    return role if own == "inherit" else own
