"""Permissions of collections, spaces and sites, by team and by user.

An admin of the place grants roles to members of its organization, guests included, and to its teams. A granted role
never reduces access: users with a higher role, for example in an enclosing collection, keep the higher role.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select

from presscheck.api.operation import Page, Paged
from presscheck.api.organizations import ListMembers, OrganizationMember
from presscheck.api.permissions import (
    InviteToCollection,
    InviteToSite,
    InviteToSpace,
    ListCollectionPermissions,
    ListCollectionTeamPermissions,
    ListCollectionUserPermissions,
    ListSitePermissions,
    ListSiteTeamPermissions,
    ListSiteUserPermissions,
    ListSpacePermissions,
    ListSpacesOfMember,
    ListSpaceTeamPermissions,
    ListSpaceUserPermissions,
    PermissionOrigin,
    RemoveCollectionTeamPermission,
    RemoveCollectionUserPermission,
    RemoveSiteTeamPermission,
    RemoveSiteUserPermission,
    RemoveSpaceTeamPermission,
    RemoveSpaceUserPermission,
    SiteMemberPermission,
    SiteTeamPermission,
    SiteUserPermission,
    SpacePermission,
    TeamPermission,
    UpdateCollectionTeamPermission,
    UpdateCollectionUserPermission,
    UpdateSiteTeamPermission,
    UpdateSiteUserPermission,
    UpdateSpaceTeamPermission,
    UpdateSpaceUserPermission,
    UserPermission,
)
from presscheck.service.handlers.organizations import every_member, member_for
from presscheck.service.handlers.sites import site_for
from presscheck.service.handlers.teams import as_teams, member_ids
from presscheck.service.http.operations import ApiError, Context, handles, not_found
from presscheck.service.http.pagination import page_of_items, page_of_rows
from presscheck.service.models.organizations import MemberRow
from presscheck.service.models.sites import SiteRow
from presscheck.service.models.spaces import CollectionRow, SpaceRow
from presscheck.service.models.teams import GrantRow, TeamMemberRow, TeamRow
from presscheck.service.permissions import (
    collection_for,
    grant,
    grants_in,
    level_in,
    level_in_site,
    level_in_space,
    organization_for,
    remove_grants,
    role_in,
    space_for,
    visible_spaces,
)
from presscheck.service.spaces.serializers import as_spaces, people

Place = CollectionRow | SpaceRow | SiteRow
Invitation = InviteToCollection | InviteToSpace | InviteToSite
CollectionCall = (
    InviteToCollection
    | ListCollectionPermissions
    | ListCollectionTeamPermissions
    | ListCollectionUserPermissions
    | RemoveCollectionTeamPermission
    | RemoveCollectionUserPermission
    | UpdateCollectionTeamPermission
    | UpdateCollectionUserPermission
)
SpaceCall = (
    InviteToSpace
    | ListSpacePermissions
    | RemoveSpaceTeamPermission
    | RemoveSpaceUserPermission
    | UpdateSpaceTeamPermission
    | UpdateSpaceUserPermission
)
SiteCall = (
    InviteToSite
    | ListSitePermissions
    | ListSiteTeamPermissions
    | ListSiteUserPermissions
    | RemoveSiteTeamPermission
    | RemoveSiteUserPermission
    | UpdateSiteTeamPermission
    | UpdateSiteUserPermission
)


@handles(InviteToCollection)
@handles(InviteToSpace)
@handles(InviteToSite)
def invite(context: Context, call: Invitation) -> None:
    """Grant members and teams a role in a place; null revokes it. Requires an admin of the place."""
    place = _place_for(context, call, "admin")
    if not call.users and not call.teams:
        raise ApiError(400, "users, teams: give at least one of them")
    teams = [_team(context, place, team_id) for team_id in call.teams or ()]
    for holder_id in dict.fromkeys([*teams, *member_ids(context, place.organization_id, call.users or ())]):
        grant(context, place.id, holder_id, call.role)


@handles(UpdateCollectionTeamPermission)
@handles(UpdateSpaceTeamPermission)
@handles(UpdateSiteTeamPermission)
def update_team(
    context: Context, call: UpdateCollectionTeamPermission | UpdateSpaceTeamPermission | UpdateSiteTeamPermission
) -> None:
    """Grant a team a role in a place; null revokes it. Requires an admin of the place."""
    place = _place_for(context, call, "admin")
    team_id = _team(context, place, call.team_id)
    if "role" in call.given():
        grant(context, place.id, team_id, call.role)


@handles(UpdateCollectionUserPermission)
@handles(UpdateSpaceUserPermission)
@handles(UpdateSiteUserPermission)
def update_user(
    context: Context, call: UpdateCollectionUserPermission | UpdateSpaceUserPermission | UpdateSiteUserPermission
) -> None:
    """Grant a member a role in a place; null revokes it. Requires an admin of the place."""
    place = _place_for(context, call, "admin")
    [user_id] = member_ids(context, place.organization_id, [call.user_id])
    if "role" in call.given():
        grant(context, place.id, user_id, call.role)


@handles(RemoveCollectionTeamPermission)
@handles(RemoveSpaceTeamPermission)
@handles(RemoveSiteTeamPermission)
def remove_team(
    context: Context, call: RemoveCollectionTeamPermission | RemoveSpaceTeamPermission | RemoveSiteTeamPermission
) -> None:
    """Revoke the role of a team in a place."""
    place = _place_for(context, call, "admin")
    remove_grants(context, (GrantRow.place_id == place.id) & (GrantRow.holder_id == call.team_id))


@handles(RemoveCollectionUserPermission)
@handles(RemoveSpaceUserPermission)
@handles(RemoveSiteUserPermission)
def remove_user(
    context: Context, call: RemoveCollectionUserPermission | RemoveSpaceUserPermission | RemoveSiteUserPermission
) -> None:
    """Revoke the role of a user in a place."""
    place = _place_for(context, call, "admin")
    remove_grants(context, (GrantRow.place_id == place.id) & (GrantRow.holder_id == call.user_id))


@handles(ListCollectionTeamPermissions)
def list_collection_teams(context: Context, call: ListCollectionTeamPermissions) -> Page[TeamPermission]:
    """List the teams that have a role in the collection itself. Guests need the admin level in the collection."""
    grants = _grants_of(context, _listed_place_for(context, call))
    return page_of_rows(
        context,
        call,
        select(TeamRow).where(TeamRow.id.in_(grants)),
        lambda rows: [TeamPermission(permission=grants[team.id], team=team) for team in as_teams(context, rows)],
        order=(TeamRow.id,),
    )


@handles(ListSiteTeamPermissions)
def list_site_teams(context: Context, call: ListSiteTeamPermissions) -> Page[SiteTeamPermission]:
    """List the teams that have a role in the site. Guests need the admin level in it."""
    grants = _grants_of(context, _listed_place_for(context, call))
    return page_of_rows(
        context,
        call,
        select(TeamRow).where(TeamRow.id.in_(grants)),
        lambda rows: [SiteTeamPermission(permission=grants[team.id], team=team) for team in as_teams(context, rows)],
        order=(TeamRow.id,),
    )


@handles(ListCollectionUserPermissions)
def list_collection_users(context: Context, call: ListCollectionUserPermissions) -> Page[UserPermission]:
    """List the users that have a role in the collection itself. Guests need the admin level in the collection."""
    place = _listed_place_for(context, call)
    return _page_of_users(context, call, _user_grants(context, place))


@handles(ListSiteUserPermissions)
def list_site_users(context: Context, call: ListSiteUserPermissions) -> Page[SiteUserPermission]:
    """List the users that have a role in the site. Guests need the admin level in it."""
    roles = _user_grants(context, _listed_place_for(context, call))
    page = page_of_items(call, list(roles))
    users = people(context, page.items)
    items = tuple(SiteUserPermission(permission=roles[user_id], user=users[user_id]) for user_id in page.items)
    return Page[SiteUserPermission](items=items, next=page.next, count=page.count, total=page.total)


@handles(ListSpaceUserPermissions)
def list_space_users(context: Context, call: ListSpaceUserPermissions) -> Page[UserPermission]:
    """List the users with access to a space, sorted by id. Requires the read role in the organization."""
    space = space_for(context, call.space_id)
    organization_for(context, space.organization_id, "read")
    return _page_of_users(context, call, _levels(context, space))


@handles(ListCollectionPermissions)
@handles(ListSpacePermissions)
def list_permissions(context: Context, call: ListCollectionPermissions | ListSpacePermissions) -> Page[UserPermission]:
    """List the users with access to a collection or a space, sorted by id. Guests need the admin level in it."""
    levels = _levels(context, _listed_place_for(context, call))
    if call.role is not None:
        levels = {user_id: level for user_id, level in levels.items() if level == call.role}
    return _page_of_users(context, call, levels)


@handles(ListSitePermissions)
def list_site_permissions(context: Context, call: ListSitePermissions) -> Page[SiteMemberPermission]:
    """List the members of the organization with their roles in a site, most recently joined first."""
    site = _listed_place_for(context, call)
    listing = ListMembers(organization_id=site.organization_id, search=call.search, sort=call.sort, order=call.order)
    members = every_member(context, listing)
    if call.team is not None:
        team_id = _team(context, site, call.team)
        in_team = set(context.session.scalars(select(TeamMemberRow.user_id).where(TeamMemberRow.team_id == team_id)))
        members = [member for member in members if member.id in in_team]
    levels = {member.id: _level(context, site, member.id) for member in members}
    if call.role is not None:
        members = [member for member in members if (levels[member.id] or "guest") == call.role]
    page = page_of_items(call, members)
    grants = _grants_of(context, site)
    items = tuple(
        SiteMemberPermission(
            permission=levels[member.id],
            user=member.user,
            origin=_origin(context, site, member, levels[member.id], grants),
            disabled=member.disabled,
            last_seen_at=member.last_seen_at,
        )
        for member in page.items
    )
    return Page[SiteMemberPermission](items=items, next=page.next, count=page.count, total=page.total)


@handles(ListSpaceTeamPermissions)
def list_space_teams(context: Context, call: ListSpaceTeamPermissions) -> Page[TeamPermission]:
    """List the teams with a role in a space or a collection around it. Guests need the admin level in the space."""
    space = space_for(context, call.space_id)
    if role_in(context, space.organization_id) is None:
        space_for(context, call.space_id, "admin")
    roles = grants_in(context, space)
    rows: Sequence[TeamRow] = context.session.scalars(
        select(TeamRow).where(TeamRow.id.in_(roles)).order_by(TeamRow.id)
    ).all()
    return page_of_items(
        call, [TeamPermission(permission=roles[team.id], team=team) for team in as_teams(context, rows)]
    )


@handles(ListSpacesOfMember)
def list_spaces_of_member(context: Context, call: ListSpacesOfMember) -> Page[SpacePermission]:
    """List the spaces that both the member and the caller see, newest first."""
    member = member_for(context, call.organization_id, call.user_id)
    spaces = visible_spaces(context, member.organization_id)
    spaces.sort(key=lambda space: (space.created_at, space.id), reverse=call.order != "asc")
    levels = {space.id: level_in_space(context, space, member.user_id) for space in spaces}
    page = page_of_items(call, [space for space in spaces if levels[space.id] is not None])
    items = tuple(
        SpacePermission(permission=levels[space.id] or "", space=space) for space in as_spaces(context, page.items)
    )
    return Page[SpacePermission](items=items, next=page.next, count=page.count, total=page.total)


def _place_for(context: Context, call: CollectionCall | SpaceCall | SiteCall, required: str) -> Place:
    """Return the place in the path of a call if the caller has the level `required` in it."""
    if isinstance(call, CollectionCall):
        return collection_for(context, call.collection_id, required)
    if isinstance(call, SpaceCall):
        return space_for(context, call.space_id, required)
    return site_for(context, call.organization_id, call.site_id, required)


def _listed_place_for(context: Context, call: CollectionCall | SpaceCall | SiteCall) -> Place:
    """Return the place in the path of a call; guests need the admin level in it."""
    place = _place_for(context, call, "read")
    return place if role_in(context, place.organization_id) else _place_for(context, call, "admin")


def _team(context: Context, place: Place, team_id: str) -> str:
    """Return the id of a team of the organization.

    Raises:
        ApiError: 404 if the organization does not have this team.
    """
    team = context.session.get(TeamRow, team_id)
    if team is None or team.organization_id != place.organization_id:
        raise not_found("team")
    return team.id


def _grants_of(context: Context, place: Place) -> dict[str, str]:
    """Return the roles granted in a place itself, by the id of the team or user."""
    rows = context.session.scalars(select(GrantRow).where(GrantRow.place_id == place.id))
    return {row.holder_id: row.role for row in rows}


def _user_grants(context: Context, place: Place) -> dict[str, str]:
    """Return the roles granted in a place itself to members, by user id, in the order of the ids."""
    grants = _grants_of(context, place)
    return {user_id: grants[user_id] for user_id in _members(context, place) if user_id in grants}


def _levels(context: Context, place: Place) -> dict[str, str]:
    """Return the levels of all members with access to a place, by user id, in the order of the ids."""
    levels = {user_id: _level(context, place, user_id) for user_id in _members(context, place)}
    return {user_id: level for user_id, level in levels.items() if level is not None}


def _level(context: Context, place: Place, user_id: str) -> str | None:
    if isinstance(place, SiteRow):
        return level_in_site(context, place, user_id)
    return level_in(context, place, user_id)


def _members(context: Context, place: Place) -> Sequence[str]:
    rows = select(MemberRow.user_id).where(MemberRow.organization_id == place.organization_id)
    return context.session.scalars(rows.order_by(MemberRow.user_id)).all()


def _page_of_users(context: Context, call: Paged, levels: dict[str, str]) -> Page[UserPermission]:
    page = page_of_items(call, list(levels))
    users = people(context, page.items)
    items = tuple(UserPermission(permission=levels[user_id], user=users[user_id]) for user_id in page.items)
    return Page[UserPermission](items=items, next=page.next, count=page.count, total=page.total)


def _origin(
    context: Context, site: Place, member: OrganizationMember, level: str | None, grants: dict[str, str]
) -> PermissionOrigin:
    """Return where the level of a member in a site comes from."""
    if level == member.role:
        return PermissionOrigin(type="organization", organization=site.organization_id)
    if grants.get(member.id) == level:
        return PermissionOrigin(type="site", site=site.id, reason="member")
    memberships = select(TeamMemberRow.team_id).where(
        TeamMemberRow.user_id == member.id, TeamMemberRow.team_id.in_(grants)
    )
    teams = context.session.scalars(memberships.order_by(TeamMemberRow.team_id))
    team_id = next((team_id for team_id in teams if grants[team_id] == level), None)
    return PermissionOrigin(type="site", site=site.id, reason="team", team=team_id)
