"""Permission checks: roles in organizations, levels in collections and spaces, and access to sites.

The level of a member in a space or collection is the highest of these: the level that their role gets by default, and
the levels that were granted to them or to one of their teams, there or in an enclosing collection. Guests only have
granted levels. All collections of an organization are loaded together, so that the levels of many spaces need no
further queries.

Items that a user may not see respond with 404; actions that a user may not perform on visible items respond with 403.

Members with the create role see and may edit all sites. Other members see sites that are published for everyone, and
sites with a space that they see. Guests can only read published sites. A level that was granted in a site counts like a
role in the organization, but only for this site. Share keys, previews and publishing show all spaces of a site, so they
require access to each of these. Widening the audience of a published site requires the role for publishing.

Members see all members and teams of their organization. Guests see only the teams with access to a collection, a space
or a site that they administer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import ColumnElement, bindparam, delete, select

from presscheck.service.db.statements import among
from presscheck.service.http.callers import Member
from presscheck.service.http.operations import ApiError, Context, not_found
from presscheck.service.models.organizations import MemberRow, OrganizationRow
from presscheck.service.models.sites import SiteRow, SiteSpaceRow
from presscheck.service.models.spaces import CollectionRow, SpaceRow
from presscheck.service.models.teams import GrantRow, TeamMemberRow, TeamRow

LEVELS = ("read", "comment", "review", "edit", "create", "admin")
"""The levels, lowest first. Each level includes all lower levels."""
PUBLISHING = "admin"
"""The role in the organization that publishing requires."""
_members, _team_members = MemberRow.__table__.c, TeamMemberRow.__table__.c
_grants, _teams_of = GrantRow.__table__.c, TeamRow.__table__.c
_MEMBER = select(_members.role).where(
    _members.organization_id == bindparam("organization"), _members.user_id == bindparam("user"), ~_members.disabled
)
_ROLES = select(_members.organization_id, _members.role).where(
    among(_members.organization_id, "ids"), _members.user_id == bindparam("user"), ~_members.disabled
)
_TEAMS_OF_USER = select(_teams_of.id).where(
    _team_members.team_id == _teams_of.id,
    _teams_of.organization_id == bindparam("organization"),
    _team_members.user_id == bindparam("user"),
)
_GRANTED = select(_grants.place_id, _grants.holder_id, _grants.role).where(
    (_grants.holder_id == bindparam("user")) | _grants.holder_id.in_(_TEAMS_OF_USER)
)

_COLLECTIONS = select(CollectionRow).where(CollectionRow.organization_id == bindparam("organization"))
_SPACES = select(SpaceRow).where(SpaceRow.organization_id == bindparam("organization"), SpaceRow.deleted_at.is_(None))
_GRANTS = select(GrantRow).where(among(GrantRow.__table__.c.place_id, "places"))
_SPACES_OF_SITES = select(SiteSpaceRow.site_id, SiteSpaceRow.space_id).where(
    among(SiteSpaceRow.__table__.c.site_id, "sites")
)
_SHOWN = select(SpaceRow.id).where(
    SiteSpaceRow.space_id == SpaceRow.id,
    SiteSpaceRow.site_id == bindparam("site"),
    SpaceRow.deleted_at.is_(None),
    SpaceRow.organization_id == bindparam("organization"),
)


def reaches(level: str | None, required: str) -> bool:
    """Return whether `level` is `required` or a higher level; False for None."""
    return level is not None and LEVELS.index(level) >= LEVELS.index(required)


def role_in(context: Context, organization_id: str, user_id: str | None = None) -> str | None:
    """Return the role of a user (by default the caller) in an organization; None for guests and non-members."""
    member = _member(context, organization_id, user_id or context.user.id)
    return member.role if member else None


def is_member(context: Context, organization_id: str) -> bool:
    """Return whether the caller is a member of the organization, including guests."""
    return _member(context, organization_id, context.user.id) is not None


def level_in_collection(context: Context, collection: CollectionRow, user_id: str | None = None) -> str | None:
    """Return the level of a user (by default the caller) in a collection, or None without access."""
    return _level(context, collection, user_id or context.user.id)


def level_in_space(context: Context, space: SpaceRow, user_id: str | None = None) -> str | None:
    """Return the level of a user (by default the caller) in a space, or None without access."""
    return _level(context, space, user_id or context.user.id)


def level_in(context: Context, item: CollectionRow | SpaceRow, user_id: str | None = None) -> str | None:
    """Return the level of a user (by default the caller) in a collection or a space, or None without access."""
    return _level(context, item, user_id or context.user.id)


def access_to(context: Context, item: CollectionRow | SpaceRow) -> tuple[str | None, dict[str, str]]:
    """Return the default level of an item, and its granted levels by the id of the team or user.

    Together they determine the levels of all members in the item. Levels granted in enclosing collections are included.
    """
    return _default(context, item), grants_in(context, item)


def grants_in(context: Context, item: CollectionRow | SpaceRow) -> dict[str, str]:
    """Return the levels granted in an item or in an enclosing collection, by the id of the team or user.

    If several levels were granted, the highest counts.
    """
    levels: dict[str, str] = {}
    for row in context.session.scalars(_GRANTS, {"places": _places(context, item)}):
        levels[row.holder_id] = most(levels.get(row.holder_id), row.role) or row.role
    return levels


def most(*levels: str | None) -> str | None:
    """Return the highest of some levels, or None if all are None."""
    return max((level for level in levels if level), key=LEVELS.index, default=None)


def organization_for(context: Context, organization_id: str, required: str = "read") -> OrganizationRow:
    """Return an organization. The caller must have the level `required` in it; "guest" admits every member.

    Raises:
        ApiError: 404 if the caller is not a member, 403 if the level of the caller is too low.
    """
    organization = context.row(OrganizationRow, organization_id)
    if organization is None or not is_member(context, organization_id):
        raise not_found("organization")
    if required != "guest":
        require_level(role_in(context, organization_id), required, "this organization")
    return organization


def space_for(context: Context, space_id: str, required: str = "read") -> SpaceRow:
    """Return a space. The caller must have the level `required` in it.

    Raises:
        ApiError: 404 if the space is deleted or the caller has no access to it, 403 if the level of the caller is too
            low.
    """
    space = context.row(SpaceRow, space_id)
    if space is None or space.deleted_at is not None:
        raise not_found("space")
    level = level_in_space(context, space)
    if level is None:
        raise not_found("space")
    require_level(level, required, "this space")
    return space


def require_unlocked(space: SpaceRow) -> None:
    """Refuse edits of a locked space.

    Raises:
        ApiError: 403, the space is locked.
    """
    if space.edit_mode == "locked":
        raise ApiError(403, "This space is locked. Unlock it before you edit pages or merge.")


def collection_for(context: Context, collection_id: str, required: str = "read") -> CollectionRow:
    """Return a collection. The caller must have the level `required` in it.

    Raises:
        ApiError: 404 if the caller has no access to the collection, 403 if the level of the caller is too low.
    """
    collection = context.session.get(CollectionRow, collection_id)
    level = level_in_collection(context, collection) if collection else None
    if collection is None or level is None:
        raise not_found("collection")
    require_level(level, required, "this collection")
    return collection


def visible_spaces(context: Context, organization_id: str) -> list[SpaceRow]:
    """Return the spaces of an organization that the caller may see."""
    rows = [space for (space,) in context.entities(_SPACES, SpaceRow, organization=organization_id)]
    # keeps references, because a session drops rows that nothing refers to
    context.known.update({(SpaceRow, row.id): row for row in rows})
    return visible_among(context, organization_id, rows)


def visible_among(context: Context, organization_id: str, rows: Sequence[SpaceRow]) -> list[SpaceRow]:
    """Return the spaces in `rows`, all of one organization, that the caller may see."""
    if any(row.parent_id for row in rows):
        collections_of(context, organization_id)  # all collections in one query
    return [row for row in rows if level_in_space(context, row) is not None]


def require_level(level: str | None, required: str, place: str) -> None:
    """Refuse callers whose level is too low.

    Raises:
        ApiError: 403, the level is lower than `required`.
    """
    if not reaches(level, required):
        raise ApiError(403, f"This needs the {required} role in {place}; your role is {level or 'guest'}.")


def _member(context: Context, organization_id: str, user_id: str) -> Member | None:
    installation = context.installation
    if installation is not None and user_id == context.user.id:
        # `granted_calls` has already refused operations that the scopes do not allow
        return Member("edit") if organization_id == installation.organization_id else None
    key = ("member", organization_id, user_id)
    if key not in context.known:
        rows = context.rows(_MEMBER, organization=organization_id, user=user_id)
        context.known[key] = Member(rows[0].role) if rows else None
    return context.known[key]


def know_roles(context: Context, organizations: Sequence[str]) -> None:
    """Load the caller's roles in several organizations in one query."""
    roles = {row.organization_id: row.role for row in context.rows(_ROLES, user=context.user.id, ids=organizations)}
    for organization in organizations:
        know_member(context, organization, is_member=organization in roles, role=roles.get(organization))


def know_member(context: Context, organization_id: str, *, is_member: bool, role: str | None) -> None:
    """Store the caller's membership and role after they were loaded as part of another query."""
    context.known["member", organization_id, context.user.id] = Member(role) if is_member else None


def _places(context: Context, item: CollectionRow | SpaceRow) -> list[str]:
    """Return the ids of an item and of the collections around it, innermost first."""
    ids, parent_id = [item.id], item.parent_id
    while parent_id is not None:
        ids.append(parent_id)
        parent = context.session.get(CollectionRow, parent_id)
        parent_id = parent.parent_id if parent else None
    return ids


def _level(context: Context, item: CollectionRow | SpaceRow, user_id: str) -> str | None:
    """Return the level of a user in an item: the highest of its default level and the levels granted to the user.

    Levels that were granted in an enclosing collection count too. Admins have their role everywhere, users who are not
    members have no level, and scripts of integrations may read.
    """
    member = _member(context, item.organization_id, user_id)
    if member is None or member.role == "admin":
        return member.role if member else None
    if context.installation is not None and user_id == context.user.id:
        return "read"  # `granted_calls` limits scripts to the spaces where their integration is installed
    granted = granted_to(context, item.organization_id, user_id)
    default = _level_of_role(context, item, member.role) if member.role else None
    return most(default, *(granted[place] for place in _places(context, item) if place in granted))


def _level_of_role(context: Context, item: CollectionRow | SpaceRow, role: str) -> str | None:
    """Return the level that a role has in an item by default."""
    level = _default(context, item)
    return role if level == "inherit" else level


def _default(context: Context, item: CollectionRow | SpaceRow) -> str | None:
    """Return the default level of an item, or of the nearest enclosing collection that has one, or else ``inherit``."""
    level, parent_id = item.default_level, item.parent_id
    while level == "inherit" and parent_id is not None:
        parent = context.session.get(CollectionRow, parent_id)
        level, parent_id = (parent.default_level, parent.parent_id) if parent else ("inherit", None)
    return level


def granted_to(context: Context, organization_id: str, user_id: str) -> dict[str, str]:
    """Return the levels granted to a user or to the user's teams, by the id of the place.

    If several levels were granted in a place, the highest counts.
    """
    key = ("granted", organization_id, user_id)
    if key not in context.known:
        granted: dict[str, str] = {}
        for row in context.rows(_GRANTED, organization=organization_id, user=user_id):
            granted[row.place_id] = most(granted.get(row.place_id), row.role) or row.role
        context.known[key] = granted
    return context.known[key]


def grant(context: Context, place_id: str, holder_id: str, role: str | None) -> None:
    """Grant a team or a user a role in a place, replacing the former role; None revokes it."""
    row = context.session.get(GrantRow, (place_id, holder_id))
    if row is None and role is not None:
        context.session.add(GrantRow(place_id=place_id, holder_id=holder_id, role=role))
    elif row is not None and role is not None:
        row.role = role
    elif row is not None:
        context.session.delete(row)


def remove_grants(context: Context, condition: ColumnElement[bool]) -> None:
    """Remove the granted roles that match a condition, such as all roles in a place that is deleted."""
    context.session.execute(delete(GrantRow).where(condition))


def collections_of(context: Context, organization_id: str) -> dict[str, CollectionRow]:
    """Return all collections of an organization by id, cached for the call."""
    key = ("collections", organization_id)
    if key not in context.known:
        rows = context.session.scalars(_COLLECTIONS, {"organization": organization_id})
        context.known[key] = {row.id: row for row in rows}  # keeps them in the identity map
    return context.known[key]


def within(context: Context, collection: CollectionRow) -> list[CollectionRow]:
    """Return a collection and all its descendants."""
    context.session.flush()
    context.known.pop(("collections", collection.organization_id), None)
    every = collections_of(context, collection.organization_id)
    collections = [collection]
    for parent in collections:  # the list grows during the loop
        collections += [inner for inner in every.values() if inner.parent_id == parent.id]
    return collections


def spaces_in(context: Context, collections: Iterable[CollectionRow]) -> list[SpaceRow]:
    """Return the spaces in some collections, including deleted spaces."""
    ids = [collection.id for collection in collections]
    return list(context.session.scalars(select(SpaceRow).where(SpaceRow.parent_id.in_(ids))))


def visible_space_ids(context: Context, organization_id: str) -> frozenset[str]:
    """Return the ids of the spaces that the caller may see, cached for the call."""
    key = ("visible spaces", organization_id)
    if key not in context.known:
        context.known[key] = frozenset(space.id for space in visible_spaces(context, organization_id))
    return context.known[key]


def is_open(site: SiteRow) -> bool:
    """Return whether a site is published for everyone who has its URL."""
    return site.published and site.visibility in ("public", "unlisted")


def level_in_site(context: Context, site: SiteRow, user_id: str | None = None) -> str | None:
    """Return the level of a user (by default the caller) in a site, or None without access.

    The level is the role of the user in the organization, or a higher level that was granted in the site.
    """
    user_id = user_id or context.user.id
    member = _member(context, site.organization_id, user_id)
    if member is None or member.role == "admin":
        return member.role if member else None
    return most(member.role, granted_to(context, site.organization_id, user_id).get(site.id))


def site_organization_for(context: Context, organization_id: str, site_id: str) -> OrganizationRow:
    """Return the organization of a site. The caller must have a role in it, or a level in the site."""
    if role_in(context, organization_id) is None and is_member(context, organization_id):
        is_granted = site_id in granted_to(context, organization_id, context.user.id)
        return organization_for(context, organization_id, "guest" if is_granted else "read")
    return organization_for(context, organization_id)


def visible_sites(context: Context, organization_id: str, rows: Sequence[SiteRow]) -> list[SiteRow]:
    """Return the sites in `rows`, all of one organization, that the caller may see."""
    role = role_in(context, organization_id)
    if reaches(role, "create"):
        return list(rows)
    granted = granted_to(context, organization_id, context.user.id) if is_member(context, organization_id) else {}
    if role is None:
        return [site for site in rows if site.id in granted]
    seen = visible_space_ids(context, organization_id)
    rows_of_sites = context.rows(_SPACES_OF_SITES, sites=[site.id for site in rows])
    shown = {site_id for site_id, space_id in rows_of_sites if space_id in seen} | granted.keys()
    return [site for site in rows if site.id in shown or (site.published and site.visibility == "public")]


def sees_site(context: Context, site: SiteRow) -> bool:
    """Return whether the caller may see a site."""
    return bool(visible_sites(context, site.organization_id, [site]))


def sees_all_sections(context: Context, site: SiteRow) -> bool:
    """Return whether the caller may see all sections of a site, even sections in which the caller may see no space."""
    has_key = ("share key", site.id) in context.known
    return has_key or is_open(site) or reaches(level_in_site(context, site), "create")


def sees_every_space(context: Context, site: SiteRow) -> bool:
    """Return whether the caller may see all spaces of the site."""
    if role_in(context, site.organization_id) == "admin":
        return True
    site_space_ids = context.session.scalars(_SHOWN, {"site": site.id, "organization": site.organization_id})
    return visible_space_ids(context, site.organization_id).issuperset(site_space_ids)


def may_manage(context: Context, site: SiteRow) -> bool:
    """Return whether the caller may edit a site and see all of its spaces.

    Only then may responses contain keys of the site.
    """
    return reaches(level_in_site(context, site), "create") and sees_every_space(context, site)


def require_every_space(context: Context, site: SiteRow) -> None:
    """Refuse callers who may not see all spaces of a site.

    Raises:
        ApiError: 403, a space is not visible.
    """
    if not sees_every_space(context, site):
        raise ApiError(403, "This shows all spaces of the site, and you do not have access to all of them.")


def require_publishing(context: Context, site: SiteRow, change: str) -> None:
    """Refuse a change that widens the audience of a published site, unless the caller may publish all its spaces.

    Args:
        context: the transaction.
        site: the site; until it is published, everyone who may edit it may make the change.
        change: the change for the error message, such as ``adding a space``.

    Raises:
        ApiError: 403, the site is published and the caller may not publish.
    """
    if not site.published:
        return
    level = level_in_site(context, site)
    if not reaches(level, PUBLISHING):
        raise ApiError(
            403,
            f"This site is published: {change} needs the {PUBLISHING} role in this organization, as publishing does; "
            f"your role is {level or 'guest'}.",
        )
    require_every_space(context, site)
