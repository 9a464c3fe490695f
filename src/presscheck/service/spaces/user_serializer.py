"""Users in responses, loaded in one query."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import bindparam, select

from presscheck.api.roles import Location
from presscheck.api.users import User
from presscheck.service.content.revisions import MOST_AT_ONCE
from presscheck.service.http.operation_registry import Caller, Context
from presscheck.service.http.unchecked_models import unchecked
from presscheck.service.models.organizations import UserRow

_users = UserRow.__table__.c
_user, _location = unchecked(User), unchecked(Location)
_USERS = select(_users.id, _users.display_name, _users.email, _users.photo_url).where(
    _users.id.in_(bindparam("ids", expanding=True))
)


def people(context: Context, ids: Iterable[str | None]) -> dict[str, User]:
    """Loads users by id; the caller is known."""
    wanted = {user_id for user_id in ids if user_id}
    users: dict[str, User] = {}
    if context.user.id in wanted and isinstance(context.user, Caller):
        wanted.remove(context.user.id)
        users[context.user.id] = as_user(context, context.user)
    unique = sorted(wanted)
    for start in range(0, len(unique), MOST_AT_ONCE):
        rows = context.rows(_USERS, ids=unique[start : start + MOST_AT_ONCE])
        users |= {row.id: as_user(context, Caller(*row)) for row in rows}
    return users


def as_user(context: Context, row: UserRow | Caller) -> User:
    """Serializes a user."""
    return _user(
        id=row.id,
        display_name=row.display_name,
        email=row.email,
        photoURL=row.photo_url,
        urls=_location(location=context.location(f"/users/{row.id}")),
    )
