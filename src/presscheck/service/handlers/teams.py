"""Teams: list, create, rename, delete, and manage members. Admins manage teams; team owners manage only the members."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import Select, delete, func, select

from presscheck.api.operation import Page
from presscheck.api.teams import (
    AddTeamMember,
    CreateTeam,
    DeleteTeam,
    GetTeam,
    ListTeamMembers,
    ListTeams,
    ListTeamsOfMember,
    MembershipPermissions,
    MembershipRole,
    MemberTeam,
    RemoveTeamMember,
    Team,
    TeamMember,
    TeamPermissions,
    UpdateTeam,
    UpdateTeamMembers,
)
from presscheck.service.db.ids import new_id
from presscheck.service.handlers.organizations import as_members, member_for
from presscheck.service.http.operations import ApiError, Context, handles, not_found
from presscheck.service.http.pagination import page_of_rows
from presscheck.service.models.organizations import MemberRow, UserRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.models.teams import GrantRow, TeamMemberRow, TeamRow
from presscheck.service.permissions import collections_of, organization_for, reaches, remove_grants, role_in


@handles(ListTeams)
def list_teams(context: Context, call: ListTeams) -> Page[Team]:
    """List the teams of an organization, oldest first. `owner` limits them to teams that this member can manage."""
    organization = organization_for(context, call.organization_id)
    rows = _teams_titled(organization.id, call.title)
    if call.owner and role_in(context, organization.id, call.owner) != "admin":
        owned = select(TeamMemberRow.team_id).where(TeamMemberRow.user_id == call.owner, TeamMemberRow.role == "owner")
        rows = rows.where(TeamRow.id.in_(owned))
    return page_of_rows(
        context,
        call,
        rows,
        lambda page_rows: as_teams(context, page_rows),
        order=(TeamRow.created_at, TeamRow.id),
    )


@handles(ListTeamsOfMember)
def list_teams_of_member(context: Context, call: ListTeamsOfMember) -> Page[MemberTeam]:
    """List the teams of a member, oldest first. Guests may not list teams."""
    organization = organization_for(context, call.organization_id)
    member = member_for(context, organization.id, call.user_id)
    memberships = select(TeamMemberRow).where(TeamMemberRow.user_id == member.user_id)
    roles = {row.team_id: row.role for row in context.session.scalars(memberships)}
    return page_of_rows(
        context,
        call,
        _teams_titled(organization.id, call.title).where(TeamRow.id.in_(roles)),
        lambda rows: [
            MemberTeam(team=team, member=MembershipRole(role=roles[team.id])) for team in as_teams(context, rows)
        ],
        order=(TeamRow.created_at, TeamRow.id),
    )


def _teams_titled(organization_id: str, title: str | None) -> Select[TeamRow]:
    """Select the teams of an organization whose titles contain a text."""
    rows = select(TeamRow).where(TeamRow.organization_id == organization_id)
    return rows.where(func.lower(TeamRow.title).contains(title.lower(), autoescape=True)) if title else rows


@handles(CreateTeam)
def create_team(context: Context, call: CreateTeam) -> Team:
    """Create a team; requires an admin."""
    organization = organization_for(context, call.organization_id, "admin")
    row = TeamRow(id=new_id(), organization_id=organization.id, title=call.title, created_at=context.now())
    context.session.add(row)
    for user_id in dict.fromkeys(member_ids(context, organization.id, call.members or ())):
        context.session.add(TeamMemberRow(team_id=row.id, user_id=user_id, role="member"))
    context.session.flush()
    return as_teams(context, [row])[0]


@handles(GetTeam)
def get_team(context: Context, call: GetTeam) -> Team:
    """Return a team."""
    organization_for(context, call.organization_id)
    return as_teams(context, [_team(context, call.organization_id, call.team_id)])[0]


@handles(UpdateTeam)
def update_team(context: Context, call: UpdateTeam) -> Team:
    """Rename a team; requires an admin."""
    organization_for(context, call.organization_id, "admin")
    row = _team(context, call.organization_id, call.team_id)
    row.title = call.title
    return as_teams(context, [row])[0]


@handles(DeleteTeam)
def delete_team(context: Context, call: DeleteTeam) -> None:
    """Delete a team and its permissions."""
    organization_for(context, call.organization_id, "admin")
    row = context.session.get(TeamRow, call.team_id)
    if row is not None and row.organization_id == call.organization_id:
        remove_grants(context, GrantRow.holder_id == row.id)
        context.session.delete(row)


@handles(ListTeamMembers)
def list_team_members(context: Context, call: ListTeamMembers) -> Page[TeamMember]:
    """List the members of a team, sorted by user id."""
    organization_for(context, call.organization_id)
    team = _team(context, call.organization_id, call.team_id)
    return page_of_rows(
        context,
        call,
        select(TeamMemberRow).where(TeamMemberRow.team_id == team.id),
        lambda rows: _as_team_members(context, team, rows),
        order=(TeamMemberRow.user_id,),
    )


@handles(UpdateTeamMembers)
def update_team_members(context: Context, call: UpdateTeamMembers) -> None:
    """Add members, change roles and remove members. A user who is both added and removed is removed."""
    team = _managed(context, call.organization_id, call.team_id)
    for user_id in member_ids(context, team.organization_id, call.add or ()):
        _set_role(context, team, user_id, None)
    for id_or_email, membership in (call.memberships or {}).items():
        [user_id] = member_ids(context, team.organization_id, [id_or_email])
        _set_role(context, team, user_id, membership.role)
    for id_or_email in call.remove or ():
        _remove(context, team, _member_id(context, team.organization_id, id_or_email) or id_or_email)


@handles(AddTeamMember)
def add_team_member(context: Context, call: AddTeamMember) -> None:
    """Add a member or change their role."""
    team = _managed(context, call.organization_id, call.team_id)
    [user_id] = member_ids(context, team.organization_id, [call.user_id])
    _set_role(context, team, user_id, call.role)


@handles(RemoveTeamMember)
def remove_team_member(context: Context, call: RemoveTeamMember) -> None:
    """Remove a member from a team. Members can remove themselves."""
    if call.user_id == context.user.id:
        organization_for(context, call.organization_id, "guest")
        team = _team(context, call.organization_id, call.team_id)
    else:
        team = _managed(context, call.organization_id, call.team_id)
    _remove(context, team, call.user_id)


def as_teams(context: Context, rows: Sequence[TeamRow]) -> list[Team]:
    """Serialize teams."""
    ids = [row.id for row in rows]
    counting = select(TeamMemberRow.team_id, func.count()).where(TeamMemberRow.team_id.in_(ids))
    members = {row[0]: row[1] for row in context.session.execute(counting.group_by(TeamMemberRow.team_id))}
    spaces = _spaces_of(context, rows)
    owned_by_caller = select(TeamMemberRow.team_id).where(
        TeamMemberRow.user_id == context.user.id, TeamMemberRow.role == "owner"
    )
    owned = set(context.session.scalars(owned_by_caller.where(TeamMemberRow.team_id.in_(ids))))
    return [
        Team(
            id=row.id,
            title=row.title,
            members=members.get(row.id, 0),
            spaces=spaces[row.id],
            created_at=row.created_at,
            permissions=TeamPermissions(admin=row.id in owned or _administers(context, row), view=True),
        )
        for row in rows
    ]


def _spaces_of(context: Context, teams: Sequence[TeamRow]) -> dict[str, int]:
    """Return the number of spaces that teams have access to, by team id."""
    places_by_team: dict[str, set[str]] = {team.id: set() for team in teams}
    rows = select(GrantRow.holder_id, GrantRow.place_id).where(GrantRow.holder_id.in_(places_by_team))
    for team_id, place_id in context.session.execute(rows):
        places_by_team[team_id].add(place_id)
    organizations = {team.organization_id for team in teams}
    above = {
        collection.id: collection.parent_id
        for each in organizations
        for collection in collections_of(context, each).values()
    }
    spaces = select(SpaceRow.id, SpaceRow.parent_id).where(
        SpaceRow.organization_id.in_(organizations), SpaceRow.deleted_at.is_(None)
    )
    around = [{row.id, *_enclosing(above, row.parent_id)} for row in context.session.execute(spaces)]
    return {team: sum(not granted.isdisjoint(places) for places in around) for team, granted in places_by_team.items()}


def _enclosing(above: dict[str, str | None], collection_id: str | None) -> Iterable[str]:
    while collection_id is not None:
        yield collection_id
        collection_id = above.get(collection_id)


def _as_team_members(context: Context, team: TeamRow, rows: Sequence[TeamMemberRow]) -> list[TeamMember]:
    keys = [row.user_id for row in rows]
    memberships = select(MemberRow).where(
        MemberRow.organization_id == team.organization_id, MemberRow.user_id.in_(keys)
    )
    members = {member.id: member for member in as_members(context, context.session.scalars(memberships).all())}
    return [
        TeamMember(
            organization=members[row.user_id],
            team=MembershipRole(role=row.role),
            permissions=MembershipPermissions(view=True),
        )
        for row in rows
    ]


def _team(context: Context, organization_id: str, team_id: str) -> TeamRow:
    row = context.session.get(TeamRow, team_id)
    if row is None or row.organization_id != organization_id:
        raise not_found("team")
    return row


def _managed(context: Context, organization_id: str, team_id: str) -> TeamRow:
    organization_for(context, organization_id, "guest")
    row = _team(context, organization_id, team_id)
    if not _may_manage(context, row):
        raise ApiError(403, "Only admins of this organization and owners of the team can do this.")
    return row


def _may_manage(context: Context, team: TeamRow) -> bool:
    membership = context.session.get(TeamMemberRow, (team.id, context.user.id))
    return _administers(context, team) or (membership is not None and membership.role == "owner")


def _administers(context: Context, team: TeamRow) -> bool:
    return reaches(role_in(context, team.organization_id), "admin")


def member_ids(context: Context, organization_id: str, members: Iterable[str]) -> list[str]:
    """Convert ids or emails of members to user ids.

    Raises:
        ApiError: 404 if someone is not a member of the organization.
    """
    user_ids: list[str] = []
    for member in members:
        user_id = _member_id(context, organization_id, member)
        if user_id is None:
            raise ApiError(404, f"{member} is not a member of this organization.")
        user_ids.append(user_id)
    return user_ids


def _member_id(context: Context, organization_id: str, id_or_email: str) -> str | None:
    member = select(MemberRow.user_id).where(MemberRow.organization_id == organization_id)
    if "@" in id_or_email:
        is_them = func.lower(UserRow.email) == id_or_email.lower()
        return context.session.scalar(member.join(UserRow, UserRow.id == MemberRow.user_id).where(is_them))
    return context.session.scalar(member.where(MemberRow.user_id == id_or_email))


def _set_role(context: Context, team: TeamRow, user_id: str, role: str | None) -> None:
    row = context.session.get(TeamMemberRow, (team.id, user_id))
    if row is None:
        context.session.add(TeamMemberRow(team_id=team.id, user_id=user_id, role=role or "member"))
        context.session.flush()
    elif role is not None:
        row.role = role


def _remove(context: Context, team: TeamRow, user_id: str) -> None:
    context.session.execute(
        delete(TeamMemberRow).where(TeamMemberRow.team_id == team.id, TeamMemberRow.user_id == user_id)
    )
