"""Organizations, their members, and search across their spaces, over a socket."""

from __future__ import annotations

import pytest
from tests.service.factories import ROLES, World

from presscheck.api.organizations import (
    DefaultSite,
    GetMember,
    GetOrganization,
    ListMembers,
    ListOrganizations,
    RemoveMember,
    SearchOrganization,
    UpdateLastSeen,
    UpdateMember,
    UpdateOrganization,
)
from presscheck.api.sites import CreateSite
from presscheck.api.spaces import SearchSpace
from presscheck.api.users import GetUser
from presscheck.errors import Conflict, Forbidden, NotFound, Refused
from presscheck.service.db.engine import Database
from presscheck.service.models.organizations import MemberRow


async def test_disabled_members_are_not_found(world: World) -> None:
    database = Database(world.database_url)
    with database.writing.begin() as session:
        session.get_one(MemberRow, (world.organization, world.users["read"])).disabled = True
    database.close()
    with pytest.raises(NotFound):
        await world.admin.send(GetUser(user_id=world.users["read"]))
    with pytest.raises(NotFound):
        await world.clients["read"].send(GetUser(user_id=world.users["admin"]))
    assert (await world.clients["read"].send(GetUser(user_id=world.users["read"]))).id == world.users["read"]


async def test_organization_has_permissions_for_the_caller(world: World) -> None:
    may: dict[str, tuple[bool, bool]] = {}
    for role in (*ROLES, "guest"):
        found = await world.clients[role].send(GetOrganization(organization_id=world.organization))
        may[role] = (found.permissions.admin, found.permissions.create_content)
        assert [item.id for item in (await world.clients[role].send(ListOrganizations())).items] == [found.id]
    assert may.pop("admin") == (True, True)
    assert may.pop("create") == (False, True)
    assert set(may.values()) == {(False, False)}


async def test_an_admin_can_update_an_organization(world: World) -> None:
    site = await world.admin.send(CreateSite(organization_id=world.organization, title="Docs"))
    changed = await world.admin.send(
        UpdateOrganization(
            organization_id=world.organization,
            title="Apex",
            default_role="read",
            default_content=DefaultSite(site=site.id),
            email_domains=("apex.example",),
        )
    )
    assert (changed.title, changed.default_role, changed.email_domains) == ("Apex", "read", ("apex.example",))
    assert changed.default_content and changed.default_content.site == site.id
    cleared = await world.admin.send(
        UpdateOrganization(organization_id=world.organization, default_role=None, default_content=None)
    )
    assert (cleared.default_role, cleared.default_content, cleared.title) == (None, None, "Apex")


@pytest.mark.parametrize("change", [{"title": None}, {"default_content": DefaultSite(site="gone")}, {"sso": None}])
async def test_an_invalid_update_is_refused(world: World, change: dict[str, object]) -> None:
    with pytest.raises(Refused) as refused:
        await world.admin.send(UpdateOrganization(organization_id=world.organization, **change))
    assert refused.value.status == 400


async def test_only_admins_can_update_an_organization(world: World) -> None:
    for role in (*ROLES[1:], "guest"):
        with pytest.raises(Forbidden):
            await world.clients[role].send(UpdateOrganization(organization_id=world.organization, title="Mine"))


async def names(world: World, **given: object) -> list[str]:
    answer = await world.admin.send(ListMembers(organization_id=world.organization, **given))
    return [item.user.display_name for item in answer.items]


@pytest.mark.engines
async def test_members_are_listed_sorted_and_searched(world: World) -> None:
    assert sorted(await names(world)) == sorted(role.title() for role in (*ROLES, "guest"))
    assert await names(world, sort="name") == sorted(role.title() for role in (*ROLES, "guest"))
    assert await names(world, sort="name", order="desc", limit=2) == ["Review", "Read"]
    assert await names(world, role="guest") == ["Guest"]
    assert await names(world, role="edit") == ["Edit"]
    assert await names(world, search="REVIEW@") == ["Review"]
    assert await names(world, search="%") == []
    assert await names(world, order="asc") == list(reversed(await names(world)))


async def test_a_member_has_counts_of_visible_items(world: World) -> None:
    reader = await world.admin.send(GetMember(organization_id=world.organization, user_id=world.users["read"]))
    guest = await world.admin.send(GetMember(organization_id=world.organization, user_id=world.users["guest"]))
    assert (reader.role, reader.spaces) == ("read", 1)
    assert (guest.role, guest.spaces) == (None, 0)


async def test_update_of_last_seen_records_the_time(world: World) -> None:
    where = {"organization_id": world.organization, "user_id": world.users["guest"]}
    assert (await world.admin.send(GetMember(**where))).last_seen_at is None
    await world.clients["guest"].send(UpdateLastSeen(organization_id=world.organization))
    seen = (await world.admin.send(GetMember(**where))).last_seen_at
    assert seen and seen > (await world.admin.send(GetMember(**where))).joined_at


async def test_roles_are_granted_and_revoked(world: World) -> None:
    where = {"organization_id": world.organization, "user_id": world.users["read"]}
    assert (await world.admin.send(UpdateMember(**where, role="edit"))).role == "edit"
    assert (await world.admin.send(UpdateMember(**where, role=None))).role is None
    with pytest.raises(Forbidden):
        await world.clients["create"].send(UpdateMember(**where, role="admin"))
    await world.admin.send(RemoveMember(**where))
    await world.admin.send(RemoveMember(**where))
    with pytest.raises(NotFound):
        await world.admin.send(GetMember(**where))


async def test_members_can_leave_except_the_last_admin(world: World) -> None:
    organization = world.organization
    await world.clients["edit"].send(RemoveMember(organization_id=organization, user_id=world.users["edit"]))
    with pytest.raises(NotFound):
        await world.clients["edit"].send(GetOrganization(organization_id=organization))
    with pytest.raises(Forbidden):
        await world.clients["create"].send(RemoveMember(organization_id=organization, user_id=world.users["read"]))
    for call in (
        RemoveMember(organization_id=organization, user_id=world.users["admin"]),
        UpdateMember(organization_id=organization, user_id=world.users["admin"], role="create"),
    ):
        with pytest.raises(Conflict):
            await world.admin.send(call)


async def test_search_finds_pages_with_all_words_and_shows_the_section(world: World) -> None:
    async def found(query: str) -> list[str]:
        answer = await world.admin.send(SearchOrganization(organization_id=world.organization, query=query))
        return [page.title for space in answer.items for page in space.pages]

    assert await found("second THIRD") == await found("guide second") == ["Guide"]
    assert await found("welcome second") == await found("   ") == await found("%") == []
    answer = await world.clients["read"].send(SearchSpace(space_id=world.space, query="second"))
    page = answer.items[0]
    assert (page.title, page.path, answer.count) == ("Guide", "guide", 1)
    assert page.sections
    assert (page.sections[0].title, page.sections[0].body) == ("Guide", "First. Second. Third.")


async def test_guests_find_nothing(world: World) -> None:
    found = await world.clients["guest"].send(SearchOrganization(organization_id=world.organization, query="guide"))
    assert found.items == ()
