"""Authentication: the caller of a request is the user of its token, or the script of an integration."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, and_, bindparam, or_, select
from sqlalchemy.orm import Session

from presscheck.service.db.engine import detached
from presscheck.service.db.ids import hash_token
from presscheck.service.http.integration_tokens import integration_caller
from presscheck.service.http.operations import ApiError, Caller, is_fit
from presscheck.service.http.site_tokens import read_site_token
from presscheck.service.models.content import ChangeRequestRow
from presscheck.service.models.organizations import MemberRow, OrganizationRow, TokenRow, UserRow
from presscheck.service.models.sites import SiteRow
from presscheck.service.models.spaces import SpaceRow

# table columns instead of the ORM, because this query runs for every request
_users, _tokens, _members = UserRow.__table__.c, TokenRow.__table__.c, MemberRow.__table__.c
_CALLER = (_users.id, _users.display_name, _users.email, _users.photo_url, _tokens.expires_at, _tokens.scope)
_IS_OF_TOKEN = and_(
    _tokens.user_id == _users.id,
    _tokens.sha256 == bindparam("token"),
    or_(_tokens.expires_at.is_(None), _tokens.expires_at > bindparam("now")),
)
_PLACES: dict[str, type[Any]] = {
    "organization_id": OrganizationRow,
    "site_id": SiteRow,
    "space_id": SpaceRow,
    "change_request_id": ChangeRequestRow,
}
"""Tables by the path field with their id."""


class Member(NamedTuple):
    """A member who is not disabled; guests have no role."""

    role: str | None


class Reader:
    """Loads the caller and the rows in the path of a read with one statement, because nearly every read needs them.

    The membership of the caller is loaded too, if the path has an organization or a space.

    Args:
        fields: the fields of the path.
    """

    def __init__(self, fields: Sequence[str]) -> None:
        self._fields = [name for name in fields if name in _PLACES]
        self._places = [_PLACES[name] for name in self._fields]
        chosen: list[Any] = [*_CALLER]
        tables = UserRow.__table__.join(TokenRow.__table__, _IS_OF_TOKEN)
        for name in self._fields:
            table = _PLACES[name].__table__
            tables = tables.outerjoin(table, table.c.id == bindparam(name))
            chosen.append(_PLACES[name])
        organization = _organization_of(self._fields)
        self._is_in_organization = organization is not None
        if organization is not None:
            is_member = and_(
                _members.organization_id == organization,
                _members.user_id == UserRow.__table__.c.id,
                ~_members.disabled,
            )
            tables = tables.outerjoin(MemberRow.__table__, is_member)
            chosen += [organization, _members.user_id, _members.role]
        self._statement = select(*chosen).select_from(tables)

    def read(
        self, session: Session, authorization: str, now: str, path: Mapping[str, str]
    ) -> tuple[Caller, dict[Any, Any]]:
        """Return the caller and the initial `known` of a `Context`: the caller's membership and the rows of the path.

        Raises:
            ApiError: 401, the token is missing, unknown or expired.
        """
        token = bearer_token(authorization)
        if not token:
            raise ApiError(401, "Authentication required: send the header Authorization: Bearer TOKEN.")
        script = integration_caller(session, token, now)
        if script is not None:
            return script, {}
        token_hash, grant = read_site_token(session, token, now) or (hash_token(token), None)
        values = {"token": token_hash, "now": now}
        for name in self._fields:
            values[name] = path[name] if is_fit(path[name]) else ""  # a value that cannot be an id is refused later
        row = session.connection().execute(self._statement, values).first()
        if row is None:
            raise ApiError(401, "The token is invalid or has expired.")
        columns, known = iter(row), dict[Any, Any]()
        user_id, name, email, photo, expires_at, scope = islice(columns, len(_CALLER))
        expires = expires_at is not None or grant is not None
        caller = Caller(user_id, name, email, photo, expires=expires, token_hash=token_hash, grant=grant, scope=scope)
        for entity in self._places:
            place = detached(entity, columns)
            if place is not None:
                known[entity, place.id] = place
        if self._is_in_organization:
            organization, member, role = columns
            known["member", organization, caller.id] = Member(role) if member else None
        return caller, known


@cache
def reader_of(fields: tuple[str, ...]) -> Reader:
    """Return the reader for paths with these fields; cached, because many operations share it."""
    return Reader(fields)


def caller_of(session: Session, authorization: str, now: str) -> Caller:
    """Return the caller of a request.

    Raises:
        ApiError: 401, the token is missing, unknown or expired.
    """
    return reader_of(()).read(session, authorization, now, {})[0]


def bearer_token(authorization: str) -> str:
    """Return the token of an ``Authorization`` header, or an empty string."""
    kind, _, token = authorization.partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


def _organization_of(fields: Collection[str]) -> ColumnElement[str] | None:
    """Return the column with the organization of a path, or None if the path has neither organization nor space."""
    if "organization_id" in fields:
        return OrganizationRow.__table__.c.id
    return SpaceRow.__table__.c.organization_id if "space_id" in fields else None
