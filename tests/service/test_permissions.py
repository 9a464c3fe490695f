"""Roles of users and teams in collections, spaces and sites: what they permit, who may grant them, how they end."""

from __future__ import annotations

from typing import Any

import pytest
from tests.service.factories import World

from presscheck.api.collections import CreateCollection, DeleteCollection, GetCollection, UpdateCollection
from presscheck.api.invites import CreateInvite, InviteUsers, JoinWithInvite
from presscheck.api.operation import Operation
from presscheck.api.organizations import GetMember, ListMembers, RemoveMember, UpdateMember, UpdateOrganization
from presscheck.api.permissions import (
    InviteToCollection,
    InviteToSite,
    InviteToSpace,
    ListCollectionPermissions,
    ListCollectionUserPermissions,
    ListSitePermissions,
    ListSiteTeamPermissions,
    ListSiteUserPermissions,
    ListSpacePermissions,
    ListSpaceTeamPermissions,
    RemoveCollectionUserPermission,
    RemoveSiteTeamPermission,
    RemoveSiteUserPermission,
    RemoveSpaceTeamPermission,
    RemoveSpaceUserPermission,
    UpdateCollectionUserPermission,
    UpdateSiteTeamPermission,
    UpdateSiteUserPermission,
    UpdateSpaceTeamPermission,
    UpdateSpaceUserPermission,
)
from presscheck.api.sites import CreateSite, DeleteSite, GetSite, ListSites, PublishSite, Site, UpdateSite
from presscheck.api.spaces import CreateSpace, GetSpace, ListSpaces, UpdateSpace
from presscheck.api.teams import CreateTeam, DeleteTeam, GetTeam
from presscheck.errors import Forbidden, NotFound, RequestError
from presscheck.service.db.engine import Database
from presscheck.service.models.teams import GrantRow


async def team_of(world: World, *roles: str) -> str:
    """Create a team of the users with these roles. Returns its id."""
    members = tuple(world.users[role] for role in roles)
    call = CreateTeam(organization_id=world.organization, title="Helpers", members=members)
    return (await world.admin.send(call)).id


async def created(world: World, **more: Any) -> dict[str, str]:
    """Create a site. Returns the path arguments of its API calls."""
    site = await world.admin.send(CreateSite(organization_id=world.organization, title="Docs", **more))
    return {"organization_id": world.organization, "site_id": site.id}


async def sees(world: World, role: str, call: Operation[Any]) -> bool:
    """Return True if the user with a role may make a call."""
    try:
        await world.clients[role].send(call)
    except (Forbidden, NotFound):
        return False
    return True


async def test_invited_guest_sees_a_space_until_the_role_is_removed(world: World) -> None:
    guest, space = world.clients["guest"], GetSpace(space_id=world.space)
    assert not await sees(world, "guest", space)
    with pytest.raises(Forbidden, match="your role is guest"):
        await guest.send(UpdateOrganization(organization_id=world.organization, title="Mine"))
    await world.admin.send(InviteToSpace(space_id=world.space, users=("guest@example.org",), role="edit"))
    may = (await guest.send(space)).permissions
    assert (may.edit, may.admin) == (True, False)
    listed = await guest.send(ListSpaces(organization_id=world.organization))
    assert [item.id for item in listed.items] == [world.space]
    person = {"space_id": world.space, "user_id": world.users["guest"]}
    await world.admin.send(UpdateSpaceUserPermission(**person))
    await world.admin.send(UpdateSpaceUserPermission(**person, role="read"))
    assert not (await guest.send(space)).permissions.edit
    for call in (RemoveSpaceUserPermission(**person), RemoveSpaceUserPermission(**person)):
        await world.admin.send(call)
    assert not await sees(world, "guest", space)


async def test_role_in_a_space_only_extends_the_role_of_a_member(world: World) -> None:
    await world.admin.send(InviteToSpace(space_id=world.space, users=(world.users["create"],), role="read"))
    assert (await world.clients["create"].send(GetSpace(space_id=world.space))).permissions.edit
    await world.admin.send(InviteToSpace(space_id=world.space, users=(world.users["read"],), role="admin"))
    assert (await world.clients["read"].send(UpdateSpace(space_id=world.space, title="Mine"))).title == "Mine"


async def test_a_team_has_a_role_in_a_space(world: World) -> None:
    team, space = await team_of(world, "guest"), GetSpace(space_id=world.space)
    await world.admin.send(InviteToSpace(space_id=world.space, teams=(team,), role="comment"))
    assert (await world.clients["guest"].send(space)).permissions.comment
    [listed] = (await world.admin.send(ListSpaceTeamPermissions(space_id=world.space))).items
    assert (listed.team.id, listed.permission, listed.team.spaces) == (team, "comment", 1)
    await world.admin.send(UpdateSpaceTeamPermission(space_id=world.space, team_id=team, role="review"))
    assert (await world.clients["guest"].send(space)).permissions.review
    await world.admin.send(RemoveSpaceTeamPermission(space_id=world.space, team_id=team))
    assert not await sees(world, "guest", space)
    await world.admin.send(UpdateSpaceTeamPermission(space_id=world.space, team_id=team, role="review"))
    await world.admin.send(DeleteTeam(organization_id=world.organization, team_id=team))
    assert not await sees(world, "guest", space)
    assert grants(world, team) == 0


@pytest.mark.engines
async def test_role_in_a_collection_applies_to_all_items_inside(world: World) -> None:
    outer = await world.admin.send(CreateCollection(organization_id=world.organization, title="Outer"))
    inner = await world.admin.send(CreateCollection(organization_id=world.organization, title="Inner", parent=outer.id))
    space = await world.admin.send(CreateSpace(organization_id=world.organization, title="Deep", parent=inner.id))
    await world.admin.send(InviteToCollection(collection_id=outer.id, users=(world.users["guest"],), role="review"))
    assert (await world.clients["guest"].send(GetSpace(space_id=space.id))).permissions.review
    [listed] = (await world.admin.send(ListCollectionUserPermissions(collection_id=outer.id))).items
    assert (listed.user.id, listed.permission) == (world.users["guest"], "review")
    assert (await world.admin.send(ListCollectionUserPermissions(collection_id=inner.id))).items == ()
    everyone = (await world.admin.send(ListCollectionPermissions(collection_id=inner.id, role="review"))).items
    assert {item.user.display_name for item in everyone} == {"Guest", "Review"}
    person = {"collection_id": outer.id, "user_id": world.users["guest"]}
    with pytest.raises(Forbidden, match="needs the admin role in this collection; your role is review"):
        await world.clients["guest"].send(RemoveCollectionUserPermission(**person))
    await world.admin.send(UpdateCollectionUserPermission(**person, role="admin"))
    assert (await world.clients["guest"].send(UpdateCollection(collection_id=inner.id, title="Mine"))).title == "Mine"
    await world.admin.send(RemoveCollectionUserPermission(**person))
    assert not await sees(world, "guest", GetCollection(collection_id=outer.id))
    await world.admin.send(UpdateCollectionUserPermission(**person, role="admin"))
    await world.admin.send(DeleteCollection(collection_id=outer.id))
    assert grants(world, outer.id) == 0


@pytest.mark.engines
async def test_users_with_access_are_listed_by_their_role(world: World) -> None:
    await world.admin.send(InviteToSpace(space_id=world.space, users=(world.users["guest"],), role="edit"))
    everyone = (await world.admin.send(ListSpacePermissions(space_id=world.space))).items
    assert len(everyone) == 7
    editors = [
        item async for item in world.admin.every(ListSpacePermissions(space_id=world.space, role="edit", limit=1))
    ]
    assert {item.user.display_name for item in editors} == {"Edit", "Guest"}


async def test_guest_with_a_role_in_a_site_edits_it_or_grants_roles(world: World) -> None:
    at = await created(world)
    guest = world.clients["guest"]
    assert not await sees(world, "guest", GetSite(**at))
    await world.admin.send(InviteToSite(**at, users=(world.users["guest"],), role="create"))
    assert (await guest.send(UpdateSite(**at, title="Ours"))).title == "Ours"
    assert [site.id for site in (await guest.send(ListSites(organization_id=world.organization))).items] == [
        at["site_id"]
    ]
    other = await created(world)
    assert not await sees(world, "guest", GetSite(**other))
    with pytest.raises(Forbidden, match="needs the admin role in this site; your role is create"):
        await guest.send(InviteToSite(**at, users=(world.users["read"],), role="read"))
    person = {**at, "user_id": world.users["guest"]}
    await world.admin.send(UpdateSiteUserPermission(**person, role="admin"))
    await guest.send(InviteToSite(**at, users=(world.users["read"],), role="create"))
    assert (await world.clients["read"].send(UpdateSite(**at, title="Mine"))).permissions["edit"]
    await world.admin.send(RemoveSiteUserPermission(**person))
    assert not await sees(world, "guest", GetSite(**at))
    assert not await sees(world, "guest", ListSites(organization_id=world.organization))
    await world.admin.send(DeleteSite(**at))
    assert grants(world, at["site_id"]) == 0


async def test_admin_of_a_site_can_publish_only_visible_spaces(world: World) -> None:
    at = await created(world, spaces=(world.space,))
    await world.admin.send(InviteToSite(**at, users=(world.users["guest"],), role="admin"))
    with pytest.raises(Forbidden, match="all spaces of the site"):
        await world.clients["guest"].send(PublishSite(**at))
    await world.admin.send(UpdateSite(**at, visibility="visitor-auth"))
    await world.admin.send(PublishSite(**at))
    with pytest.raises(Forbidden, match="all spaces of the site"):
        await world.clients["guest"].send(UpdateSite(**at, visibility="public"))
    await world.admin.send(InviteToSpace(space_id=world.space, users=(world.users["guest"],), role="read"))
    assert isinstance(await world.clients["guest"].send(PublishSite(**at)), Site)


async def test_roles_in_a_site_are_listed_with_their_origin(world: World) -> None:
    at, team = await created(world), await team_of(world, "comment")
    await world.admin.send(InviteToSite(**at, users=(world.users["guest"],), teams=(team,), role="edit"))
    [user] = (await world.admin.send(ListSiteUserPermissions(**at))).items
    [listed] = (await world.admin.send(ListSiteTeamPermissions(**at))).items
    assert (user.user.id, user.permission) == (world.users["guest"], "edit")
    assert (listed.team.id, listed.permission) == (team, "edit")
    await world.admin.send(UpdateMember(**member(world, "read"), role=None))
    items = (await world.admin.send(ListSitePermissions(**at, sort="name"))).items
    assert [item.user.display_name for item in items] == sorted(item.user.display_name for item in items)
    found = {item.user.display_name: (item.permission, item.origin) for item in items}
    assert {name: permission for name, (permission, _) in found.items()} == {
        "Admin": "admin", "Create": "create", "Edit": "edit", "Review": "review", "Comment": "edit", "Read": None,
        "Guest": "edit",
    }  # fmt: skip
    assert found["Edit"][1].organization == world.organization
    assert (found["Guest"][1].type, found["Guest"][1].reason) == ("site", "member")
    assert (found["Comment"][1].reason, found["Comment"][1].team) == ("team", team)
    for given, names in (
        ({"role": "guest"}, {"Read"}),
        ({"role": "edit", "search": "EDIT"}, {"Edit"}),
        ({"team": team}, {"Comment"}),
    ):
        listing = ListSitePermissions(**at, **given)
        assert {item.user.display_name for item in (await world.admin.send(listing)).items} == names
    await world.admin.send(UpdateSiteTeamPermission(**at, team_id=team, role="read"))
    await world.admin.send(RemoveSiteTeamPermission(**at, team_id=team))
    assert (await world.admin.send(ListSiteTeamPermissions(**at))).items == ()


async def test_admins_can_invite_only_members_to_a_space(world: World, other_organization: str) -> None:
    theirs = await world.admin.send(CreateTeam(organization_id=other_organization, title="Theirs"))
    for given, message in (
        ({"users": ("nobody@example.org",)}, "nobody@example.org is not a member"),
        ({"users": (world.users["guest"], "none")}, "none is not a member"),
        ({"teams": (theirs.id,)}, "Team not found"),
    ):
        with pytest.raises(NotFound, match=message):
            await world.admin.send(InviteToSpace(space_id=world.space, role="read", **given))
    with pytest.raises(RequestError, match="give at least one"):
        await world.admin.send(InviteToSpace(space_id=world.space, role="read"))
    with pytest.raises(Forbidden):
        await world.clients["create"].send(InviteToSpace(space_id=world.space, users=("x",), role="read"))
    assert grants(world, world.space) == 0, "nobody was invited"


async def test_a_former_member_loses_the_roles_in_all_places(world: World) -> None:
    at = await created(world)
    users = {"users": (world.users["guest"],), "role": "admin"}
    await world.admin.send(InviteToSpace(space_id=world.space, **users))
    await world.admin.send(InviteToSite(**at, **users))
    await world.admin.send(RemoveMember(**member(world, "guest")))
    assert not await sees(world, "guest", GetSpace(space_id=world.space))
    assert grants(world, world.users["guest"]) == 0


async def test_users_invited_by_email_become_members(world: World) -> None:
    at = {"organization_id": world.organization}
    emails = ("New@Example.org", "new@example.org", {"email": "other@example.org", "role": None}, "edit@example.org")
    answer = await world.admin.send(InviteUsers(**at, emails=emails, role="review"))
    assert answer.invited == 2 and answer.users[2] == world.users["edit"]
    listed = (await world.admin.send(ListMembers(**at, search="example.org", limit=100))).items
    roles = {member.user.email: (member.user.display_name, member.role) for member in listed}
    assert roles["new@example.org"] == ("new", "review")
    assert roles["other@example.org"] == ("other", None)
    assert roles["edit@example.org"] == ("Edit", "edit"), "a member keeps the role"
    again = await world.admin.send(InviteUsers(**at, emails=("new@example.org",)))
    assert (again.users, again.invited) == (answer.users[:1], 0)
    refused = await world.admin.send(InviteUsers(**at, emails=("sso@example.org",), sso=True))
    assert (refused.failed_sso_emails, refused.invited) == (("sso@example.org",), 0)
    for email in ("", "nobody", "a b@example.org", "a@b@example.org", "x" * 250 + "@example.org"):
        with pytest.raises(RequestError, match="is not an email address"):
            await world.admin.send(InviteUsers(**at, emails=("third@example.org", email)))
    with pytest.raises(RequestError, match="at most 100"):
        await world.admin.send(InviteUsers(**at, emails=("third@example.org",) * 101))
    assert (await world.admin.send(ListMembers(**at, search="third@"))).items == ()


async def test_invite_links_work_only_if_the_organization_allows_them(world: World) -> None:
    at = {"organization_id": world.organization}
    link = await world.admin.send(CreateInvite(**at, space=world.space, level="review"))
    to_all = await world.admin.send(CreateInvite(**at, role="comment"))
    join = JoinWithInvite(**at, invite_id=link.id)
    with pytest.raises(NotFound, match="does not allow invite links"):
        await world.clients["guest"].send(join)
    await world.admin.send(UpdateOrganization(**at, invite_links=True))
    await world.clients["guest"].send(join)
    assert (await world.clients["guest"].send(GetSpace(space_id=world.space))).permissions.review
    assert (await world.admin.send(GetMember(**member(world, "guest")))).role is None
    await world.clients["guest"].send(JoinWithInvite(**at, invite_id=to_all.id))
    assert (await world.admin.send(GetMember(**member(world, "guest")))).role == "comment"
    await world.clients["edit"].send(JoinWithInvite(**at, invite_id=to_all.id))
    assert (await world.admin.send(GetMember(**member(world, "edit")))).role == "edit", "nobody loses a role"
    await world.admin.send(RemoveMember(**member(world, "read")))
    await world.clients["read"].send(join)
    assert (await world.clients["read"].send(GetSpace(space_id=world.space))).permissions.review
    with pytest.raises(NotFound):
        await world.clients["read"].send(JoinWithInvite(organization_id="none", invite_id=link.id))


async def test_invitation_without_a_role_removes_the_role(world: World) -> None:
    team = await team_of(world, "guest")
    for role in ("edit", None):
        await world.admin.send(InviteToSpace(space_id=world.space, teams=(team,), role=role))
    assert (await world.admin.send(GetTeam(organization_id=world.organization, team_id=team))).spaces == 0


def member(world: World, role: str) -> dict[str, str]:
    return {"organization_id": world.organization, "user_id": world.users[role]}


def grants(world: World, of: str) -> int:
    """Count the roles in a place, of a user or of a team in the database."""
    database = Database(world.database_url)
    with database.snapshot() as session:
        count = session.query(GrantRow).where((GrantRow.place_id == of) | (GrantRow.holder_id == of)).count()
    database.close()
    return count
