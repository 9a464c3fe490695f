"""Invites by email, and invite links to an organization, a space or a collection, managed by its admins.

No emails are sent: users who are invited by email become members at once, and get a token from the operator of the
service. Invite links work while the organization allows them.
"""

from __future__ import annotations

import re

from sqlalchemy import func, select

from presscheck.api.invites import (
    CreateInvite,
    DeleteInvite,
    EmailInvite,
    GetInvite,
    Invite,
    InvitedUsers,
    InviteUsers,
    Joined,
    JoinWithInvite,
    ListInvites,
    OrganizationInvite,
    UpdateInvite,
)
from presscheck.api.operation import NullableModel, Page
from presscheck.service.db.ids import new_id
from presscheck.service.handlers.collections import as_collection
from presscheck.service.http.operations import ApiError, Context, handles, not_found
from presscheck.service.http.pagination import page_of_rows
from presscheck.service.models.organizations import MemberRow, OrganizationRow, UserRow
from presscheck.service.models.spaces import CollectionRow, SpaceRow
from presscheck.service.models.teams import GrantRow, InviteRow
from presscheck.service.permissions import collection_for, grant, most, organization_for, reaches, space_for
from presscheck.service.spaces.serializers import as_spaces

MOST_INVITED = 100
"""Maximum number of email addresses in one call."""
LONGEST_EMAIL = 254
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")


class InviteToOrganization(Invite, NullableModel):
    """An invite to an organization, serialized with its role even if that is null, for a guest."""

    nullable = frozenset({"role"})


class InviteToPlace(Invite, NullableModel):
    """An invite to a space or a collection, serialized with its level even if that is null."""

    nullable = frozenset({"level"})


@handles(ListInvites)
def list_invites(context: Context, call: ListInvites) -> Page[OrganizationInvite]:
    """List the invites to the organization itself, oldest first."""
    organization = organization_for(context, call.organization_id, "admin")
    rows = select(InviteRow).where(
        InviteRow.organization_id == organization.id, InviteRow.space_id.is_(None), InviteRow.collection_id.is_(None)
    )
    return page_of_rows(
        context,
        call,
        rows,
        lambda page_rows: [
            OrganizationInvite(id=row.id, role=row.role, redundant=_is_redundant(row.role, organization.default_role))
            for row in page_rows
        ],
        order=(InviteRow.created_at, InviteRow.id),
    )


@handles(CreateInvite)
def create_invite(context: Context, call: CreateInvite) -> Invite:
    """Create an invite to the organization, a space or a collection; requires an admin there."""
    organization_for(context, call.organization_id, "guest")
    if call.space is not None and call.collection is not None:
        raise ApiError(400, "space, collection: give only one of them")
    to_place = call.space is not None or call.collection is not None
    required, other = ("level", "role") if to_place else ("role", "level")
    given = call.given()
    if required not in given or other in given:
        raise ApiError(
            400,
            f"{required}: required for an invite to {'a space or a collection' if to_place else 'the organization'}",
        )
    row = InviteRow(
        id=new_id(),
        organization_id=call.organization_id,
        space_id=call.space,
        collection_id=call.collection,
        role=given[required],
        created_at=context.now(),
    )
    _require_admin(context, row)
    context.session.add(row)
    context.session.flush()
    return _as_invite(context, row)


@handles(GetInvite)
def get_invite(context: Context, call: GetInvite) -> Invite:
    """Return an invite."""
    return _as_invite(context, _invite(context, call.organization_id, call.invite_id))


@handles(UpdateInvite)
def update_invite(context: Context, call: UpdateInvite) -> Invite:
    """Change the role or level of an invite."""
    row = _invite(context, call.organization_id, call.invite_id)
    field = "level" if row.space_id or row.collection_id else "role"
    given = call.given()
    if {"role", "level"} & set(given) != {field}:
        raise ApiError(400, f"{field}: this is the only field that can be changed")
    row.role = given[field]
    return _as_invite(context, row)


@handles(DeleteInvite)
def delete_invite(context: Context, call: DeleteInvite) -> None:
    """Delete an invite."""
    organization_for(context, call.organization_id, "guest")
    row = context.session.get(InviteRow, call.invite_id)
    if row is not None and row.organization_id == call.organization_id:
        _require_admin(context, row)
        context.session.delete(row)


@handles(InviteUsers)
def invite_users(context: Context, call: InviteUsers) -> InvitedUsers:
    """Make users members of an organization; existing members keep their role. Requires an admin.

    With `sso`, no user is invited, and the response lists all emails as failed.
    """
    organization = organization_for(context, call.organization_id, "admin")
    if len(call.emails) > MOST_INVITED:
        raise ApiError(400, f"emails: at most {MOST_INVITED} at once")
    default_role = call.role if "role" in call.given() else organization.default_role
    roles: dict[str, str | None] = {}
    for entry in call.emails:
        email, role = (entry.email, entry.role) if isinstance(entry, EmailInvite) else (entry, default_role)
        if not _EMAIL.fullmatch(email) or len(email) > LONGEST_EMAIL:
            raise ApiError(400, f"emails: {email[:LONGEST_EMAIL]} is not an email address")
        roles[email.lower()] = role
    if call.sso:  # members sign in with tokens alone
        return InvitedUsers(failed_sso_emails=tuple(roles))
    users, invited = [_user_with_email(context, organization.id, email) for email in roles], 0
    for user_id, role in zip(users, roles.values(), strict=True):
        if context.session.get(MemberRow, (organization.id, user_id)) is None:
            _add_member(context, organization.id, user_id, role)
            invited += 1
    return InvitedUsers(users=tuple(users), invited=invited)


@handles(JoinWithInvite)
def join_with_invite(context: Context, call: JoinWithInvite) -> Joined:
    """Make the caller a member, or a guest with a level in a space or a collection.

    Callers who already have a higher role or level keep it.
    """
    organization = context.session.get(OrganizationRow, call.organization_id)
    row = context.session.get(InviteRow, call.invite_id)
    if organization is None or row is None or row.organization_id != organization.id or not organization.invite_links:
        # the same response in all cases: outsiders must not learn which organizations exist
        raise ApiError(404, "Invite not found, or the organization does not allow invite links.")
    member = context.session.get(MemberRow, (organization.id, context.user.id))
    if member is not None and member.disabled:
        raise ApiError(403, "Your membership in this organization is disabled. Ask an admin to enable it.")
    place_id = row.space_id or row.collection_id
    role = None if place_id else row.role
    if member is None:
        _add_member(context, organization.id, context.user.id, role)
    else:
        member.role = most(member.role, role)
    if place_id:
        former = context.session.get(GrantRow, (place_id, context.user.id))
        grant(context, place_id, context.user.id, most(former.role if former else None, row.role))
    return Joined()


def _user_with_email(context: Context, organization_id: str, email: str) -> str:
    """Return the id of the user with an email address, creating the user if necessary.

    Several users may have the same address; a member of the organization is preferred.
    """
    is_member = (MemberRow.user_id == UserRow.id) & (MemberRow.organization_id == organization_id)
    users = select(UserRow.id).outerjoin(MemberRow, is_member).where(func.lower(UserRow.email) == email)
    members_first = users.order_by(MemberRow.user_id.is_(None), UserRow.id)
    user_id = context.session.scalars(members_first).first()
    if user_id is not None:
        return user_id
    user = UserRow(id=new_id(), display_name=email.partition("@")[0], email=email, created_at=context.now())
    context.session.add(user)
    context.session.flush()
    return user.id


def _add_member(context: Context, organization_id: str, user_id: str, role: str | None) -> None:
    context.session.add(MemberRow(organization_id=organization_id, user_id=user_id, role=role, joined_at=context.now()))
    context.session.flush()


def _invite(context: Context, organization_id: str, invite_id: str) -> InviteRow:
    organization_for(context, organization_id, "guest")
    row = context.session.get(InviteRow, invite_id)
    if row is None or row.organization_id != organization_id:
        raise not_found("invite")
    _require_admin(context, row)
    return row


def _require_admin(context: Context, row: InviteRow) -> None:
    if row.space_id:
        place: SpaceRow | CollectionRow | OrganizationRow = space_for(context, row.space_id, "admin")
    elif row.collection_id:
        place = collection_for(context, row.collection_id, "admin")
    else:
        place = organization_for(context, row.organization_id, "admin")
    owner = place.id if isinstance(place, OrganizationRow) else place.organization_id
    if owner != row.organization_id:
        raise ApiError(404, "The space or collection is not in this organization.")


def _as_invite(context: Context, row: InviteRow) -> Invite:
    if row.space_id:
        space = space_for(context, row.space_id)
        is_redundant = _is_redundant(row.role, space.default_level)
        return InviteToPlace(
            id=row.id, level=row.role, redundant=is_redundant, space=next(iter(as_spaces(context, [space])))
        )
    if row.collection_id:
        collection = collection_for(context, row.collection_id)
        is_redundant = _is_redundant(row.role, collection.default_level)
        return InviteToPlace(
            id=row.id, level=row.role, redundant=is_redundant, collection=as_collection(context, collection)
        )
    organization = organization_for(context, row.organization_id, "guest")
    is_redundant = _is_redundant(row.role, organization.default_role)
    return InviteToOrganization(id=row.id, role=row.role, redundant=is_redundant)


def _is_redundant(level: str | None, default: str | None) -> bool:
    """Return whether members have at least this level without the invite."""
    default = None if default == "inherit" else default
    return level is not None and reaches(default, level)
