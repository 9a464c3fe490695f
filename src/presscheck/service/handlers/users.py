"""Users: the caller, and other users."""

from __future__ import annotations

from sqlalchemy import bindparam, select

from presscheck.api.users import GetCurrentUser, GetUser, User
from presscheck.service.http.operations import Context, handles, not_found
from presscheck.service.models.organizations import MemberRow
from presscheck.service.spaces.serializers import as_user, people

_active = select(MemberRow.organization_id).where(MemberRow.disabled.is_(False))
_SHARED = _active.where(
    MemberRow.user_id == bindparam("user"),
    MemberRow.organization_id.in_(_active.where(MemberRow.user_id == bindparam("mine"))),
).limit(1)


@handles(GetCurrentUser)
def get_current_user(context: Context, call: GetCurrentUser) -> User:
    """Return the owner of the token."""
    return as_user(context, context.user)


@handles(GetUser)
def get_user(context: Context, call: GetUser) -> User:
    """Return the caller, or a user who shares an organization with the caller in which both memberships are enabled."""
    user = people(context, [call.user_id]).get(call.user_id)
    if user is None or (user.id != context.user.id and not context.rows(_SHARED, user=user.id, mine=context.user.id)):
        raise not_found("user")
    return user
