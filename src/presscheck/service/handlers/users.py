"""Users: the caller, and other users."""

from __future__ import annotations

from sqlalchemy import bindparam, select

from presscheck.api.users import GetCurrentUser, GetUser, User
from presscheck.service.http.operations import Caller, Context, handles, not_found
from presscheck.service.models.organizations import MemberRow, UserRow
from presscheck.service.spaces.serializers import as_user

_active = select(MemberRow.organization_id).where(MemberRow.disabled.is_(False))
_users = UserRow.__table__.c
_KNOWN = select(_users.id, _users.display_name, _users.email, _users.photo_url).where(
    _users.id == bindparam("user"),
    _active.where(
        MemberRow.user_id == _users.id,
        MemberRow.organization_id.in_(_active.where(MemberRow.user_id == bindparam("mine"))),
    ).exists(),
)


@handles(GetCurrentUser)
def get_current_user(context: Context, call: GetCurrentUser) -> User:
    """Return the owner of the token."""
    return as_user(context, context.user)


@handles(GetUser)
def get_user(context: Context, call: GetUser) -> User:
    """Return the caller, or a user who shares an organization with the caller in which both memberships are enabled."""
    if call.user_id == context.user.id:
        return as_user(context, context.user)
    for row in context.rows(_KNOWN, user=call.user_id, mine=context.user.id):
        return as_user(context, Caller(*row))
    raise not_found("user")
