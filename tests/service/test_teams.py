"""Teams, their members and owners, the access that they grant; invites, joining and SAML providers."""

from __future__ import annotations

from typing import Any

import pytest
from tests.service.counted_service import counted
from tests.service.factories import World

from presscheck.api.collections import Collection, CreateCollection, GetCollection, ListCollections
from presscheck.api.invites import CreateInvite, GetInvite, ListInvites, UpdateInvite
from presscheck.api.organizations import (
    GetMember,
    GetOrganizationsForEmailDomain,
    JoinOrganization,
    RemoveMember,
    UpdateOrganization,
)
from presscheck.api.permissions import (
    ListCollectionTeamPermissions,
    ListSpacesOfMember,
    ListSpaceTeamPermissions,
    ListSpaceUserPermissions,
    RemoveCollectionTeamPermission,
    UpdateCollectionTeamPermission,
)
from presscheck.api.saml import CreateSAMLProvider, ListSAMLProviders, ListSSOLogins, UpdateSAMLProvider
from presscheck.api.spaces import CreateSpace, GetSpace, UpdateSpace
from presscheck.api.teams import (
    AddTeamMember,
    CreateTeam,
    DeleteTeam,
    GetTeam,
    ListTeamMembers,
    ListTeams,
    ListTeamsOfMember,
    Membership,
    RemoveTeamMember,
    Team,
    UpdateTeam,
    UpdateTeamMembers,
)
from presscheck.errors import Forbidden, NotFound, Refused
from presscheck.service.handlers.teams import list_teams


async def made(world: World, title: str = "Writers", *members: str) -> Team:
    ids = tuple(world.users[member] for member in members)
    return await world.admin.send(CreateTeam(organization_id=world.organization, title=title, members=ids))


def at(world: World, team: Team) -> dict[str, str]:
    return {"organization_id": world.organization, "team_id": team.id}


async def members(world: World, team: Team) -> dict[str, str]:
    found = await world.admin.send(ListTeamMembers(**at(world, team)))
    names = {identity: name for name, identity in world.users.items()}
    return {names[item.organization.id]: item.team.role for item in found.items}


async def test_a_team_is_created_renamed_found_and_deleted(world: World) -> None:
    team = await made(world, "Writers", "edit", "read")
    assert (team.members, team.spaces, team.permissions.admin) == (2, 0, True)
    await world.admin.send(UpdateTeam(**at(world, team), title="All writers"))
    await made(world, "Lawyers")
    found = await world.clients["read"].send(ListTeams(organization_id=world.organization, title="WRIT"))
    assert [(item.title, item.permissions.admin) for item in found.items] == [("All writers", False)]
    member = await world.admin.send(GetMember(organization_id=world.organization, user_id=world.users["edit"]))
    assert member.teams == 1
    for _ in range(2):
        await world.admin.send(DeleteTeam(**at(world, team)))
    with pytest.raises(NotFound):
        await world.admin.send(GetTeam(**at(world, team)))


async def test_a_member_both_added_and_removed_is_removed(world: World) -> None:
    team = await made(world, "Writers", "read")
    call = UpdateTeamMembers(
        **at(world, team),
        add=("edit@example.org", world.users["read"], world.users["comment"]),
        memberships={world.users["review"]: Membership(role="owner"), world.users["edit"]: Membership(role="owner")},
        remove=("comment@example.org", "nobody"),
    )
    await world.admin.send(call)
    assert await members(world, team) == {"read": "member", "edit": "owner", "review": "owner"}
    await world.admin.send(AddTeamMember(**at(world, team), user_id=world.users["edit"], role="member"))
    await world.admin.send(AddTeamMember(**at(world, team), user_id=world.users["review"]))
    assert await members(world, team) == {"read": "member", "edit": "member", "review": "owner"}
    with pytest.raises(NotFound, match=r"nobody@example\.org is not a member"):
        await world.admin.send(UpdateTeamMembers(**at(world, team), add=("nobody@example.org",)))


async def test_owner_of_a_team_manages_only_its_members(world: World) -> None:
    team = await made(world, "Writers", "read")
    add = AddTeamMember(**at(world, team), user_id=world.users["comment"])
    with pytest.raises(Forbidden, match="owners of the team"):
        await world.clients["edit"].send(add)
    await world.admin.send(AddTeamMember(**at(world, team), user_id=world.users["edit"], role="owner"))
    await world.clients["edit"].send(add)
    owned = ListTeams(organization_id=world.organization, owner=world.users["edit"])
    assert [item.id for item in (await world.admin.send(owned)).items] == [team.id]
    for call in (UpdateTeam(**at(world, team), title="Mine"), DeleteTeam(**at(world, team))):
        with pytest.raises(Forbidden):
            await world.clients["edit"].send(call)
    with pytest.raises(Forbidden):
        await world.clients["read"].send(RemoveTeamMember(**at(world, team), user_id=world.users["comment"]))
    await world.clients["read"].send(RemoveTeamMember(**at(world, team), user_id=world.users["read"]))
    assert await members(world, team) == {"edit": "owner", "comment": "member"}
    await world.admin.send(RemoveMember(organization_id=world.organization, user_id=world.users["edit"]))
    assert await members(world, team) == {"comment": "member"}, "who left the organization left its teams"


@pytest.mark.attack("other organizations")
async def test_guests_and_non_members_cannot_see_teams(world: World, other_organization: str) -> None:
    team = await made(world)
    with pytest.raises(Forbidden):
        await world.clients["guest"].send(ListTeams(organization_id=world.organization))
    with pytest.raises(NotFound):
        await world.admin.send(GetTeam(organization_id=other_organization, team_id=team.id))
    await world.admin.send(DeleteTeam(organization_id=other_organization, team_id=team.id))
    assert (await world.admin.send(GetTeam(**at(world, team)))).id == team.id


async def closed(world: World) -> tuple[Collection, Collection, str]:
    """Create nested collections with a space that members can only read. Returns them and the id of the space."""
    outer = await world.admin.send(CreateCollection(organization_id=world.organization, title="Outer"))
    inner = await world.admin.send(CreateCollection(organization_id=world.organization, title="Inner", parent=outer.id))
    space = await world.admin.send(CreateSpace(organization_id=world.organization, title="Deep", parent=inner.id))
    await world.admin.send(UpdateSpace(space_id=space.id, default_level="read"))
    return outer, inner, space.id


@pytest.mark.slow
async def test_a_team_grants_access_to_a_collection_and_its_contents(world: World, other_organization: str) -> None:
    outer, inner, space = await closed(world)
    guest = world.clients["guest"]
    with pytest.raises(NotFound):
        await guest.send(GetSpace(space_id=space))
    team = await made(world, "Outside help", "guest", "edit")
    theirs = await world.admin.send(CreateTeam(organization_id=other_organization, title="Theirs"))
    with pytest.raises(NotFound):
        await world.admin.send(UpdateCollectionTeamPermission(collection_id=outer.id, team_id=theirs.id, role="read"))
    give = UpdateCollectionTeamPermission(collection_id=outer.id, team_id=team.id, role="review")
    with pytest.raises(Forbidden):
        await world.clients["edit"].send(give)
    await world.admin.send(give)
    may = (await guest.send(GetSpace(space_id=space))).permissions
    assert (may.view, may.comment, may.review, may.edit) == (True, True, True, False)
    seen = await guest.send(ListCollections(organization_id=world.organization))
    assert {item.id for item in seen.items} == {outer.id, inner.id}
    assert (await world.clients["edit"].send(GetSpace(space_id=space))).permissions.review, (
        "the team must grant more than the default"
    )
    assert (await world.admin.send(GetTeam(**at(world, team)))).spaces == 1
    told = (await world.admin.send(ListSpaceTeamPermissions(space_id=space))).items
    assert [(one.team.id, one.permission) for one in told] == [(team.id, "review")]
    assert (await world.admin.send(ListCollectionTeamPermissions(collection_id=inner.id))).items == ()
    await world.admin.send(UpdateCollectionTeamPermission(collection_id=inner.id, team_id=team.id, role="edit"))
    people = await world.admin.send(ListSpaceUserPermissions(space_id=space, limit=100))
    levels = {item.user.display_name: item.permission for item in people.items}
    assert levels == {
        "Admin": "admin", "Create": "read", "Edit": "edit", "Review": "read", "Comment": "read", "Read": "read",
        "Guest": "edit",
    }  # fmt: skip
    for nothing_said in (UpdateCollectionTeamPermission(collection_id=inner.id, team_id=team.id), give):
        await world.admin.send(nothing_said)
    assert (await guest.send(GetSpace(space_id=space))).permissions.edit
    await world.admin.send(UpdateCollectionTeamPermission(collection_id=inner.id, team_id=team.id, role=None))
    assert not (await guest.send(GetSpace(space_id=space))).permissions.edit, (
        "only the role of the outer collection remains"
    )
    for where in (outer, inner, inner):
        await world.admin.send(RemoveCollectionTeamPermission(collection_id=where.id, team_id=team.id))
    with pytest.raises(NotFound):
        await guest.send(GetCollection(collection_id=outer.id))


async def test_highest_role_of_a_team_in_outer_collections_counts(world: World) -> None:
    outer, inner, space = await closed(world)
    team = await made(world)
    for roles in (("edit", "review"), ("review", "edit")):
        for collection, role in zip((outer, inner), roles, strict=True):
            give = UpdateCollectionTeamPermission(collection_id=collection.id, team_id=team.id, role=role)
            await world.admin.send(give)
        [listed] = (await world.admin.send(ListSpaceTeamPermissions(space_id=space))).items
        assert (listed.team.id, listed.permission) == (team.id, "edit")


async def test_spaces_and_teams_of_a_member_are_listed(world: World) -> None:
    outer, _, space = await closed(world)
    team = await made(world, "Outside help", "guest")
    await made(world, "Others", "edit")
    guest = {"organization_id": world.organization, "user_id": world.users["guest"]}
    [membership] = (await world.admin.send(ListTeamsOfMember(**guest, title="HELP"))).items
    assert (membership.team.id, membership.member.role) == (team.id, "member")
    assert (await world.admin.send(ListTeamsOfMember(**guest, title="Others"))).items == ()
    assert (await world.admin.send(ListSpacesOfMember(**guest))).items == ()
    await world.admin.send(UpdateCollectionTeamPermission(collection_id=outer.id, team_id=team.id, role="review"))
    [listed] = (await world.clients["guest"].send(ListSpacesOfMember(**guest))).items
    assert (listed.space.id, listed.permission) == (space, "review")
    reader = {"organization_id": world.organization, "user_id": world.users["read"]}
    newest = [item.space.id async for item in world.admin.every(ListSpacesOfMember(**reader, limit=1))]
    assert newest == [space, world.space]
    oldest = (await world.admin.send(ListSpacesOfMember(**reader, order="asc"))).items
    assert [item.space.id for item in oldest] == [world.space, space]
    with pytest.raises(Forbidden):
        await world.clients["guest"].send(ListSpacesOfMember(**reader))
    world.change(default_level=None)
    seen = (await world.clients["edit"].send(ListSpacesOfMember(**guest | {"user_id": world.users["admin"]}))).items
    assert [item.space.id for item in seen] == [space], "the caller does not see the other one"


@pytest.mark.parametrize(
    "given",
    [{}, {"level": "read"}, {"role": "read", "space": "s"}, {"level": "read", "space": "s", "collection": "c"}],
)
async def test_an_invalid_invite_is_refused(world: World, given: dict[str, Any]) -> None:
    with pytest.raises(Refused, match=r"role:|level:|space, collection:"):
        await world.admin.send(CreateInvite(organization_id=world.organization, **given))


async def test_invites_are_created_listed_updated_and_deleted(world: World) -> None:
    here = {"organization_id": world.organization}
    to_all = await world.admin.send(CreateInvite(**here, role=None))
    to_space = await world.admin.send(CreateInvite(**here, level="edit", space=world.space))
    assert (to_all.role, to_space.level) == (None, "edit")
    assert to_space.space and to_space.space.id == world.space
    assert [item.id for item in (await world.admin.send(ListInvites(**here))).items] == [to_all.id]
    changed = await world.admin.send(UpdateInvite(**here, invite_id=to_space.id, level="read"))
    assert changed.level == "read"
    with pytest.raises(Refused, match="level: this is the only field"):
        await world.admin.send(UpdateInvite(**here, invite_id=to_space.id, role="read"))
    with pytest.raises(Forbidden):
        await world.clients["edit"].send(GetInvite(**here, invite_id=to_all.id))
    await world.admin.send(UpdateOrganization(**here, default_role="edit"))
    for role, is_redundant in (("read", True), ("admin", False)):
        assert (await world.admin.send(CreateInvite(**here, role=role))).redundant is is_redundant


async def test_users_with_an_allowed_email_domain_can_join(world: World, other_organization: str) -> None:
    join = JoinOrganization(organization_id=other_organization)
    refusals: list[str] = []
    for organization in (other_organization, "none"):
        with pytest.raises(NotFound, match="email domain is not allowed") as refused:
            await world.clients["edit"].send(JoinOrganization(organization_id=organization))
        refusals.append(refused.value.message)
    assert refusals[0] == refusals[1], "the response must not tell which organizations exist"
    domains = UpdateOrganization(
        organization_id=other_organization, email_domains=("Example.org",), default_role="read"
    )
    await world.admin.send(domains)
    found = await world.clients["edit"].send(GetOrganizationsForEmailDomain(email_domain="EXAMPLE.org"))
    assert other_organization in [organization.id for organization in found.organizations]
    assert (
        await world.clients["edit"].send(GetOrganizationsForEmailDomain(email_domain="other.org"))
    ).organizations == ()
    for _ in range(2):
        await world.clients["edit"].send(join)
    member = await world.admin.send(GetMember(organization_id=other_organization, user_id=world.users["edit"]))
    assert member.role == "read"
    with pytest.raises(NotFound):
        await world.clients["edit"].send(JoinOrganization(organization_id="none"))


async def test_saml_provider_is_active_when_it_is_complete(world: World) -> None:
    here = {"organization_id": world.organization}
    team = await made(world)
    provider = await world.admin.send(CreateSAMLProvider(**here, label="Keys", default_team=team.id))
    assert (provider.status, provider.default_role) == ("pending", None)
    assert provider.default_team and provider.default_team.id == team.id
    assert (await world.clients["guest"].send(ListSSOLogins(**here))).items == ()
    whole = {"sso_url": "https://keys.example/sso", "entity_id": "keys", "certificate": "MII"}
    changed = await world.admin.send(UpdateSAMLProvider(**here, saml_provider_id=provider.id, **whole))
    assert (changed.status, changed.sso_url, changed.label) == ("active", "https://keys.example/sso", "Keys")
    [login] = (await world.clients["guest"].send(ListSSOLogins(**here))).items
    assert (login.label, login.start_url) == ("Keys", changed.service.start_url)
    with pytest.raises(Forbidden):
        await world.clients["create"].send(ListSAMLProviders(**here))
    for unknown in ("none", ""):
        with pytest.raises(Refused, match="defaultTeam: team not found"):
            await world.admin.send(CreateSAMLProvider(**here, label="Others", default_team=unknown))
        with pytest.raises(Refused, match="defaultTeam: team not found"):
            await world.admin.send(UpdateSAMLProvider(**here, saml_provider_id=provider.id, default_team=unknown))


async def test_number_of_queries_does_not_grow_with_teams(world: World) -> None:
    def asked() -> int:
        listing = ListTeams(organization_id=world.organization)
        teams, statements = counted(
            world.database_url, world.users["admin"], lambda context: list_teams(context, listing)
        )
        assert {team.spaces for team in teams.items} == {1}
        return statements

    outer, inner, _ = await closed(world)
    numbers: list[int] = []
    for where in (outer, inner, inner, outer, outer):
        team = await made(world, f"Team {len(numbers)}", "edit")
        await world.admin.send(UpdateCollectionTeamPermission(collection_id=where.id, team_id=team.id, role="read"))
        numbers.append(asked())
    assert len(set(numbers)) == 1
