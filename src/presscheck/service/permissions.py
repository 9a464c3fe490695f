"""Permission checks: a member's role in an organization, their level in a collection or a space, access to sites.

The level is the higher of two: what the default levels make of the member's role, and what a team of theirs was granted
in the collection or a collection around it. A guest only has the latter. All collections of an organization are loaded
at once, so that the levels of many spaces need no further queries.

What a person may not see is not found (404); what they may see but not do is forbidden (403).

Everyone with the create role sees and may edit all sites. Other members see the sites that are published for everybody
and those that show a space that they see; guests see sites only as readers of published ones. Share keys and previews
of a site show all of its spaces, so they also need access to each of these. What widens the audience of a published
site needs the role that publishing needs.

Members see all members and teams of their organization. Guests do not, except for the teams with access to a collection
or a space of which they are an admin.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, and_, bindparam, select
from sqlalchemy.orm import Session

from presscheck.service.db.statements import among, read_rows
from presscheck.service.http.middleware import CALLER, asked_caller, caller_of, is_of_token
from presscheck.service.http.operations import ApiError, Caller, Context, is_fit, not_found
from presscheck.service.models.content import ChangeRequestRow
from presscheck.service.models.organizations import MemberRow, OrganizationRow, TokenRow, UserRow
from presscheck.service.models.sites import SiteRow, SiteSpaceRow
from presscheck.service.models.spaces import CollectionRow, SpaceRow
from presscheck.service.models.teams import CollectionTeamRow, TeamMemberRow, TeamRow

LEVELS = ("read", "comment", "review", "edit", "create", "admin")
"""The levels, lowest first; each includes those before it."""
PUBLISHING = "admin"
"""The role in the organization that publishing needs."""
_members, _team_members = MemberRow.__table__.c, TeamMemberRow.__table__.c
_grants, _teams_of = CollectionTeamRow.__table__.c, TeamRow.__table__.c
_MEMBER = select(_members.role).where(
    _members.organization_id == bindparam("organization"), _members.user_id == bindparam("user"), ~_members.disabled
)
_ROLES = select(_members.organization_id, _members.role).where(
    among(_members.organization_id, "ids"), _members.user_id == bindparam("user"), ~_members.disabled
)
_GRANTED = select(_grants.collection_id, _grants.role).where(
    _teams_of.id == _grants.team_id,
    _team_members.team_id == _teams_of.id,
    _teams_of.organization_id == bindparam("organization"),
    _team_members.user_id == bindparam("user"),
)

_COLLECTIONS = select(CollectionRow).where(CollectionRow.organization_id == bindparam("organization"))
_SPACES = select(SpaceRow).where(SpaceRow.organization_id == bindparam("organization"), SpaceRow.deleted_at.is_(None))
_COLLECTION_TEAMS = select(CollectionTeamRow).where(
    CollectionTeamRow.collection_id.in_(bindparam("collections", expanding=True))
)
SPACES_OF_SITES = select(SiteSpaceRow.site_id, SiteSpaceRow.space_id).where(
    among(SiteSpaceRow.__table__.c.site_id, "sites")
)
"""The spaces that some sites show, with deleted ones."""
_SHOWN = select(SpaceRow.id).where(
    SiteSpaceRow.space_id == SpaceRow.id,
    SiteSpaceRow.site_id == bindparam("site"),
    SpaceRow.deleted_at.is_(None),
    SpaceRow.organization_id == bindparam("organization"),
)


_PLACES: dict[str, type[Any]] = {
    "organization_id": OrganizationRow,
    "site_id": SiteRow,
    "space_id": SpaceRow,
    "change_request_id": ChangeRequestRow,
}
"""The rows that paths name by their ids."""


class _Member(NamedTuple):
    """A member who is not disabled; guests have no role."""

    role: str | None


class Reader:
    """Who reads, and what they read about: the caller, and what the path of a read names, in one statement.

    Nearly every read begins with them. Of a path that names no organization and no space, it is the caller alone.

    Args:
        fields: the fields of the path.
    """

    def __init__(self, fields: Sequence[str]) -> None:
        self._fields = [name for name in fields if name in _PLACES]
        self._places = [(_PLACES[name], _PLACES[name].__table__.columns.keys()) for name in self._fields]
        chosen: list[Any] = [*CALLER]
        tables = UserRow.__table__.join(TokenRow.__table__, is_of_token)
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
        """The caller, and what a `Context` then knows: the caller's membership, and the rows that the path names.

        Raises:
            ApiError: 401, the token is missing, unknown or expired.
        """
        values = asked_caller(authorization, now)
        for name in self._fields:
            values[name] = path[name] if is_fit(path[name]) else ""  # what no id is, is refused later
        rows = read_rows(session.connection(), self._statement, values)
        caller, columns, known = caller_of(rows), iter(rows[0][len(CALLER) :]), dict[Any, Any]()
        for entity, names in self._places:
            values = dict(zip(names, columns, strict=False))  # the next class has the other columns
            if values["id"] is not None:
                known[entity, values["id"]] = entity(**values)  # the session would need three times as long
        if self._is_in_organization:
            organization, member, role = columns
            known["member", organization, caller.id] = _Member(role) if member else None
        return caller, known


@cache
def reader_of(fields: tuple[str, ...]) -> Reader:
    """The reader for paths with these fields, which many operations share."""
    return Reader(fields)


def _organization_of(fields: Collection[str]) -> ColumnElement[str] | None:
    """The column with the organization of a place; None if its path names neither that nor a space."""
    if "organization_id" in fields:
        return OrganizationRow.__table__.c.id
    return SpaceRow.__table__.c.organization_id if "space_id" in fields else None


def reaches(level: str | None, required: str) -> bool:
    """Whether a level includes another."""
    return level is not None and LEVELS.index(level) >= LEVELS.index(required)


def role_in(context: Context, organization_id: str, user_id: str | None = None) -> str | None:
    """The role of a user in an organization, by default of the caller; None for guests and non-members."""
    member = _member(context, organization_id, user_id or context.user.id)
    return member.role if member else None


def is_member(context: Context, organization_id: str) -> bool:
    """Whether the caller is a member of the organization, guests included."""
    return _member(context, organization_id, context.user.id) is not None


def level_in_collection(context: Context, collection: CollectionRow, user_id: str | None = None) -> str | None:
    """The level of a user in a collection, by default of the caller."""
    above = (collection.id, *_above(context, collection.parent_id))
    return _level(context, collection, above, user_id or context.user.id)


def level_in_space(context: Context, space: SpaceRow, user_id: str | None = None) -> str | None:
    """The level of a user in a space, by default of the caller."""
    return _level(context, space, _above(context, space.parent_id), user_id or context.user.id)


def level_in(context: Context, item: CollectionRow | SpaceRow) -> str | None:
    """The level of the caller in a collection or a space."""
    return level_in_space(context, item) if isinstance(item, SpaceRow) else level_in_collection(context, item)


def access_to(context: Context, item: CollectionRow | SpaceRow) -> tuple[str | None, dict[str, str]]:
    """What the levels of all members in an item follow from: its default level, and the levels of teams by id."""
    own = () if isinstance(item, SpaceRow) else (item.id,)
    return _default(context, item), _teams(context, (*own, *_above(context, item.parent_id)))


def teams_in_space(context: Context, space: SpaceRow) -> dict[str, str]:
    """The teams with a role in a space through the collections around it: the highest level of each, by id."""
    return _teams(context, _above(context, space.parent_id))


def _teams(context: Context, above: tuple[str, ...]) -> dict[str, str]:
    levels_by_team: dict[str, str] = {}
    for row in context.session.scalars(_COLLECTION_TEAMS, {"collections": above}) if above else ():
        levels_by_team[row.team_id] = most(levels_by_team.get(row.team_id), row.role) or row.role
    return levels_by_team


def most(*levels: str | None) -> str | None:
    """The highest of some levels; None if there are none."""
    return max((level for level in levels if level), key=LEVELS.index, default=None)


def organization_for(context: Context, organization_id: str, required: str = "read") -> OrganizationRow:
    """Returns the organization if the caller has the level `required` in it; "guest" admits every member."""
    organization = context.row(OrganizationRow, organization_id)
    if organization is None or not is_member(context, organization_id):
        raise not_found("organization")
    if required != "guest":
        _demand(role_in(context, organization_id), required, "this organization")
    return organization


def space_for(context: Context, space_id: str, required: str = "read") -> SpaceRow:
    """Returns the space if the caller has the level `required` in it; a deleted space is not found."""
    space = context.row(SpaceRow, space_id)
    if space is None or space.deleted_at is not None:
        raise not_found("space")
    level = level_in_space(context, space)
    if level is None:
        raise not_found("space")
    _demand(level, required, "this space")
    return space


def require_unlocked(space: SpaceRow) -> None:
    """Refuses edits of a locked space.

    Raises:
        ApiError: 403.
    """
    if space.edit_mode == "locked":
        raise ApiError(403, "This space is locked. Unlock it before you edit pages or merge.")


def collection_for(context: Context, collection_id: str, required: str = "read") -> CollectionRow:
    """Returns the collection if the caller has the level `required` in it."""
    collection = context.session.get(CollectionRow, collection_id)
    level = level_in_collection(context, collection) if collection else None
    if collection is None or level is None:
        raise not_found("collection")
    _demand(level, required, "this collection")
    return collection


def visible_spaces(context: Context, organization_id: str) -> list[SpaceRow]:
    """The spaces of an organization that the caller may see."""
    rows = context.session.scalars(_SPACES, {"organization": organization_id}).all()
    context.known.update({(SpaceRow, row.id): row for row in rows})  # a session forgets what no reference holds
    return visible_among(context, organization_id, rows)


def visible_among(context: Context, organization_id: str, rows: Sequence[SpaceRow]) -> list[SpaceRow]:
    """Those of some spaces of an organization that the caller may see."""
    if any(row.parent_id for row in rows):
        collections_of(context, organization_id)  # at once, not one by one
    return [row for row in rows if level_in_space(context, row) is not None]


def _demand(level: str | None, required: str, where: str) -> None:
    if not reaches(level, required):
        raise ApiError(403, f"This needs the {required} role in {where}; your role is {level or 'guest'}.")


def _member(context: Context, organization_id: str, user_id: str) -> _Member | None:
    key = ("member", organization_id, user_id)
    if key not in context.known:
        found = context.rows(_MEMBER, organization=organization_id, user=user_id)
        context.known[key] = _Member(found[0].role) if found else None
    return context.known[key]


def know_roles(context: Context, organizations: Sequence[str]) -> None:
    """Reads the caller's role in each of some organizations at once."""
    roles = {row.organization_id: row.role for row in context.rows(_ROLES, user=context.user.id, ids=organizations)}
    for organization in organizations:
        know_member(context, organization, is_member=organization in roles, role=roles.get(organization))


def know_member(context: Context, organization_id: str, *, is_member: bool, role: str | None) -> None:
    """Notes what was read with something else: whether the caller is a member who is not disabled, and their role."""
    context.known["member", organization_id, context.user.id] = _Member(role) if is_member else None


def _above(context: Context, collection_id: str | None) -> tuple[str, ...]:
    """A collection and its ancestors, innermost first."""
    ids: list[str] = []
    while collection_id is not None:
        ids.append(collection_id)
        parent = context.session.get(CollectionRow, collection_id)
        collection_id = parent.parent_id if parent else None
    return tuple(ids)


def _level(context: Context, thing: CollectionRow | SpaceRow, above: tuple[str, ...], user_id: str) -> str | None:
    """The higher of the default level and what a team of the user was granted in a collection around it."""
    member = _member(context, thing.organization_id, user_id)
    if member is None or member.role == "admin":
        return member.role if member else None
    granted = _granted(context, thing.organization_id, user_id)
    usual = _usual(context, thing, member.role) if member.role else None
    return most(usual, *(granted[identity] for identity in above if identity in granted))


def _usual(context: Context, thing: CollectionRow | SpaceRow, role: str) -> str | None:
    """The level that a role has by default levels."""
    level = _default(context, thing)
    return role if level == "inherit" else level


def _default(context: Context, thing: CollectionRow | SpaceRow) -> str | None:
    """The default level of an item: its own, else that of the nearest collection around it, else ``inherit``."""
    own, parent_id = thing.default_level, thing.parent_id
    while own == "inherit" and parent_id is not None:
        parent = context.session.get(CollectionRow, parent_id)
        own, parent_id = (parent.default_level, parent.parent_id) if parent else ("inherit", None)
    return own


def _granted(context: Context, organization_id: str, user_id: str) -> dict[str, str]:
    """The levels that the teams of a user were granted, by collection."""
    key = ("granted", organization_id, user_id)
    if key not in context.known:
        granted: dict[str, str] = {}
        for row in context.rows(_GRANTED, organization=organization_id, user=user_id):
            granted[row.collection_id] = most(granted.get(row.collection_id), row.role) or row.role
        context.known[key] = granted
    return context.known[key]


def collections_of(context: Context, organization_id: str) -> dict[str, CollectionRow]:
    """All collections of an organization by id, cached for the call."""
    key = ("collections", organization_id)
    if key not in context.known:
        rows = context.session.scalars(_COLLECTIONS, {"organization": organization_id})
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


def visible_space_ids(context: Context, organization_id: str) -> frozenset[str]:
    """The ids of the spaces that the caller may see, cached for the call."""
    key = ("visible spaces", organization_id)
    if key not in context.known:
        context.known[key] = frozenset(space.id for space in visible_spaces(context, organization_id))
    return context.known[key]


def is_open(site: SiteRow) -> bool:
    """Whether a site is published for everyone who knows its address."""
    return site.published and site.visibility in ("public", "unlisted")


def visible_sites(context: Context, organization_id: str, rows: Sequence[SiteRow]) -> list[SiteRow]:
    """Those of some sites of an organization that the caller may see."""
    role = role_in(context, organization_id)
    if role is None:
        return []
    if reaches(role, "create"):
        return list(rows)
    seen = visible_space_ids(context, organization_id)
    found = context.rows(SPACES_OF_SITES, sites=[site.id for site in rows])
    showing = {site_id for site_id, space_id in found if space_id in seen}
    return [site for site in rows if site.id in showing or (site.published and site.visibility == "public")]


def sees_site(context: Context, site: SiteRow) -> bool:
    """Whether the caller may see a site."""
    return bool(visible_sites(context, site.organization_id, [site]))


def sees_all_sections(context: Context, site: SiteRow) -> bool:
    """Whether the caller may also see the sections of a site in which they see no space."""
    has_key = ("share key", site.id) in context.known
    return has_key or is_open(site) or reaches(role_in(context, site.organization_id), "create")


def sees_every_space(context: Context, site: SiteRow) -> bool:
    """Whether the caller may see all spaces that the site shows."""
    if role_in(context, site.organization_id) == "admin":
        return True
    shown = context.session.scalars(_SHOWN, {"site": site.id, "organization": site.organization_id})
    return visible_space_ids(context, site.organization_id).issuperset(shown)


def may_manage(context: Context, site: SiteRow) -> bool:
    """Whether the caller may edit the site and see all of its spaces; only then do responses contain its keys."""
    return reaches(role_in(context, site.organization_id), "create") and sees_every_space(context, site)


def require_every_space(context: Context, site: SiteRow) -> None:
    """Refuses callers who may not see all spaces of a site.

    Raises:
        ApiError: 403.
    """
    if not sees_every_space(context, site):
        raise ApiError(403, "This shows all spaces of the site, and you do not have access to all of them.")


def require_publishing(context: Context, site: SiteRow, change: str) -> None:
    """Refuses a change that widens what a published site shows, unless the caller may publish.

    Args:
        context: the transaction.
        site: the site; as long as it is not published, everyone who may edit it may make the change.
        change: what the caller wants to do, such as ``adding a space``.

    Raises:
        ApiError: 403.
    """
    role = role_in(context, site.organization_id)
    if site.published and not reaches(role, PUBLISHING):
        raise ApiError(
            403,
            f"This site is published: {change} needs the {PUBLISHING} role in this organization, as publishing does; "
            f"your role is {role or 'guest'}.",
        )
