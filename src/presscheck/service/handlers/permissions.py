"""Permissions of collections and spaces, by team and by user."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import delete, select

from presscheck.api.operation import Page
from presscheck.api.permissions import (
    ListCollectionTeamPermissions,
    ListSpacesOfMember,
    ListSpaceTeamPermissions,
    ListSpaceUserPermissions,
    RemoveCollectionTeamPermission,
    SpacePermission,
    TeamPermission,
    UpdateCollectionTeamPermission,
    UserPermission,
)
from presscheck.service.handlers.organizations import member_for
from presscheck.service.handlers.teams import as_teams
from presscheck.service.http.operations import Context, handles, not_found
from presscheck.service.http.pagination import page_of_items, page_of_rows
from presscheck.service.models.organizations import MemberRow
from presscheck.service.models.teams import CollectionTeamRow, TeamRow
from presscheck.service.permissions import (
    collection_for,
    level_in_space,
    organization_for,
    role_in,
    space_for,
    teams_in_space,
    visible_spaces,
)
from presscheck.service.spaces.serializers import as_spaces, people


@handles(ListCollectionTeamPermissions)
def list_collection_teams(context: Context, call: ListCollectionTeamPermissions) -> Page[TeamPermission]:
    """Lists the teams that have a role in the collection itself. Guests need the admin level in the collection."""
    collection = collection_for(context, call.collection_id)
    if role_in(context, collection.organization_id) is None:
        collection_for(context, call.collection_id, "admin")
    return page_of_rows(
        context,
        call,
        select(CollectionTeamRow).where(CollectionTeamRow.collection_id == collection.id),
        lambda rows: _as_permissions(context, {row.team_id: row.role for row in rows}),
        order=(CollectionTeamRow.team_id,),
    )


@handles(UpdateCollectionTeamPermission)
def update_collection_team(context: Context, call: UpdateCollectionTeamPermission) -> None:
    """Grants a team a role in a collection; null revokes it. Requires an admin of the collection."""
    collection = collection_for(context, call.collection_id, "admin")
    team = context.session.get(TeamRow, call.team_id)
    if team is None or team.organization_id != collection.organization_id:
        raise not_found("team")
    row = context.session.get(CollectionTeamRow, (collection.id, team.id))
    if call.role is None:
        if row is not None and "role" in call.given():
            context.session.delete(row)  # without a row, the team has no role of its own
    elif row is None:
        context.session.add(CollectionTeamRow(collection_id=collection.id, team_id=team.id, role=call.role))
    else:
        row.role = call.role


@handles(RemoveCollectionTeamPermission)
def remove_collection_team(context: Context, call: RemoveCollectionTeamPermission) -> None:
    """Revokes the role of a team in a collection."""
    collection = collection_for(context, call.collection_id, "admin")
    permission = delete(CollectionTeamRow).where(CollectionTeamRow.team_id == call.team_id)
    context.session.execute(permission.where(CollectionTeamRow.collection_id == collection.id))


@handles(ListSpaceUserPermissions)
def list_space_users(context: Context, call: ListSpaceUserPermissions) -> Page[UserPermission]:
    """Lists the users with access to a space, by id. Requires the read role in its organization."""
    space = space_for(context, call.space_id)
    organization_for(context, space.organization_id, "read")
    rows = select(MemberRow.user_id).where(MemberRow.organization_id == space.organization_id)
    ids = context.session.scalars(rows.order_by(MemberRow.user_id)).all()
    levels = {user_id: level for user_id in ids if (level := level_in_space(context, space, user_id)) is not None}
    page = page_of_items(call, list(levels))
    users = people(context, page.items)
    items = tuple(UserPermission(permission=levels[user_id], user=users[user_id]) for user_id in page.items)
    return Page[UserPermission](items=items, next=page.next, count=page.count, total=page.total)


@handles(ListSpaceTeamPermissions)
def list_space_teams(context: Context, call: ListSpaceTeamPermissions) -> Page[TeamPermission]:
    """Lists the teams with a role in a collection around a space. Guests need the admin level in the space."""
    space = space_for(context, call.space_id)
    if role_in(context, space.organization_id) is None:
        space_for(context, call.space_id, "admin")
    return page_of_items(call, _as_permissions(context, teams_in_space(context, space)))


@handles(ListSpacesOfMember)
def list_spaces_of_member(context: Context, call: ListSpacesOfMember) -> Page[SpacePermission]:
    """Lists the spaces that both the member and the caller see, newest first."""
    member = member_for(context, call.organization_id, call.user_id)
    spaces = visible_spaces(context, member.organization_id)
    spaces.sort(key=lambda space: (space.created_at, space.id), reverse=call.order != "asc")
    levels = {space.id: level_in_space(context, space, member.user_id) for space in spaces}
    page = page_of_items(call, [space for space in spaces if levels[space.id] is not None])
    items = tuple(
        SpacePermission(permission=levels[space.id] or "", space=space) for space in as_spaces(context, page.items)
    )
    return Page[SpacePermission](items=items, next=page.next, count=page.count, total=page.total)


def _as_permissions(context: Context, roles: dict[str, str]) -> list[TeamPermission]:
    teams = context.session.scalars(select(TeamRow).where(TeamRow.id.in_(roles)).order_by(TeamRow.id))
    rows: Sequence[TeamRow] = teams.all()
    return [TeamPermission(permission=roles[team.id], team=team) for team in as_teams(context, rows)]
