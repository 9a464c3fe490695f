"""Collections over a socket: nesting, order, permissions, moves, transfers and deletion."""

from __future__ import annotations

import pytest
from tests.service.factories import ROLES, World, plant_world

from presscheck.api.collections import (
    Collection,
    CreateCollection,
    DeleteCollection,
    GetCollection,
    ListCollections,
    ListSpacesInCollection,
    MoveCollection,
    TransferCollection,
    UpdateCollection,
)
from presscheck.api.permissions import UpdateCollectionTeamPermission
from presscheck.api.roles import CollectionPointer, ContentPosition, SpacePointer
from presscheck.api.sites import CreateSite
from presscheck.api.spaces import (
    CreateSpace,
    DeleteSpace,
    GetSpace,
    MoveSpace,
    RestoreSpace,
    Space,
    UpdateSpace,
)
from presscheck.api.teams import CreateTeam
from presscheck.errors import Conflict, Forbidden, NotFound, PreconditionFailed, Refused
from presscheck.service.db.engine import Database
from presscheck.service.models.organizations import MemberRow


async def collection(world: World, title: str, parent: str | None = None) -> Collection:
    return await world.admin.send(CreateCollection(organization_id=world.organization, title=title, parent=parent))


async def space(world: World, title: str, parent: str | None = None) -> Space:
    return await world.admin.send(CreateSpace(organization_id=world.organization, title=title, parent=parent))


async def titles(world: World, by: str = "admin", **given: object) -> list[str]:
    listing = ListCollections(organization_id=world.organization, **given)
    return [one.title async for one in world.clients[by].every(listing)]


async def order(world: World, parent: str) -> list[str]:
    """Return the titles of the listed items in a collection, in order."""
    listed = await world.admin.send(ListSpacesInCollection(collection_id=parent))
    return [item.title for item in listed.items]


async def test_collections_nest_and_are_listed(world: World) -> None:
    top = await collection(world, "Top")
    inner = await collection(world, "Inner", top.id)
    await collection(world, "Other")
    assert (top.parent, inner.parent, inner.organization) == (None, top.id, world.organization)
    assert sorted(await titles(world)) == ["Inner", "Other", "Top"]
    assert await titles(world, nested=False) == ["Top", "Other"]
    assert await titles(world, limit=1, nested=True) == await titles(world)
    assert await world.admin.send(GetCollection(collection_id=inner.id)) == inner
    assert inner.permissions.admin and inner.permissions.create


async def test_a_collection_is_updated(world: World) -> None:
    made = await collection(world, "Top")
    where = {"collection_id": made.id}
    changed = await world.admin.send(UpdateCollection(**where, title="New", description="For all", default_level=None))
    assert (changed.title, changed.description, changed.default_level) == ("New", "For all", None)
    with pytest.raises(Refused):
        await world.admin.send(UpdateCollection(**where, title=None))


async def test_permissions_of_collections(world: World) -> None:
    made = await collection(world, "Top")
    for role in ROLES[2:]:
        with pytest.raises(Forbidden):
            await world.clients[role].send(CreateCollection(organization_id=world.organization, title="x"))
        with pytest.raises(Forbidden):
            await world.clients[role].send(MoveCollection(collection_id=made.id, parent=None))
    for role in ROLES[1:]:
        with pytest.raises(Forbidden):
            await world.clients[role].send(UpdateCollection(collection_id=made.id, title="x"))
        with pytest.raises(Forbidden):
            await world.clients[role].send(DeleteCollection(collection_id=made.id))
        seen = await world.clients[role].send(GetCollection(collection_id=made.id))
        assert (seen.permissions.view, seen.permissions.admin) == (True, False)
        assert seen.permissions.create == (role == "create")
    with pytest.raises(NotFound):
        await world.clients["guest"].send(GetCollection(collection_id=made.id))


async def test_deleting_a_private_collection_keeps_its_items_private(world: World) -> None:
    closed = await collection(world, "Closed")
    inner = await collection(world, "Inner", closed.id)
    shut = await space(world, "Shut", closed.id)
    deleted = await space(world, "Deleted", closed.id)
    await world.admin.send(DeleteSpace(space_id=deleted.id))
    await world.admin.send(UpdateCollection(collection_id=closed.id, default_level=None))
    await world.admin.send(DeleteCollection(collection_id=closed.id))
    await world.admin.send(DeleteCollection(collection_id=closed.id))
    with pytest.raises(NotFound):
        await world.admin.send(GetCollection(collection_id=closed.id))
    await world.admin.send(RestoreSpace(space_id=deleted.id))
    for one in (shut, deleted):
        moved = await world.admin.send(GetSpace(space_id=one.id))
        assert (moved.parent, moved.default_level) == (None, None)
        with pytest.raises(NotFound):
            await world.clients["create"].send(GetSpace(space_id=one.id))
    assert (await world.admin.send(GetCollection(collection_id=inner.id))).parent is None


async def test_items_of_a_deleted_collection_move_to_its_position(world: World) -> None:
    first, middle, last = [await collection(world, title) for title in ("First", "Middle", "Last")]
    await collection(world, "A", middle.id)
    await collection(world, "B", middle.id)
    await world.admin.send(DeleteCollection(collection_id=middle.id))
    assert await titles(world, nested=False) == ["First", "A", "B", "Last"]
    assert first.id != last.id


async def test_spaces_and_collections_share_one_order(world: World) -> None:
    top = await collection(world, "Top")
    for title in ("A", "B", "C"):
        await space(world, title, top.id)
    spaces = {item.title: item for item in (await world.admin.send(ListSpacesInCollection(collection_id=top.id))).items}
    inner = await collection(world, "Inner", top.id)
    before_a = ContentPosition(before=SpacePointer(space=spaces["A"].id))
    await world.admin.send(MoveSpace(space_id=spaces["C"].id, position=before_a))
    assert await order(world, top.id) == ["C", "A", "B"]
    after_inner = ContentPosition(after=CollectionPointer(collection=inner.id))
    await world.admin.send(MoveSpace(space_id=spaces["C"].id, position=after_inner))
    assert await order(world, top.id) == ["A", "B", "C"]
    await world.admin.send(MoveCollection(collection_id=inner.id, position=before_a))
    await world.admin.send(MoveSpace(space_id=spaces["B"].id, position=after_inner))
    assert await order(world, top.id) == ["B", "A", "C"]
    moved = await world.admin.send(MoveSpace(space_id=spaces["A"].id, parent=None))
    assert moved.parent is None
    assert await order(world, top.id) == ["B", "C"]
    await world.admin.send(MoveSpace(space_id=spaces["A"].id, parent=top.id))
    assert await order(world, top.id) == ["B", "C", "A"]


async def test_an_invalid_move_is_refused(world: World) -> None:
    top = await collection(world, "Top")
    inner = await collection(world, "Inner", top.id)
    deepest = await collection(world, "Deepest", inner.id)
    elsewhere = plant_world(world.database_url, world.base_url)
    foreign = await elsewhere.admin.send(CreateCollection(organization_id=elsewhere.organization, title="Foreign"))
    beside = ContentPosition(after=CollectionPointer(collection=inner.id))
    twice = ContentPosition(before=CollectionPointer(collection=inner.id), after=CollectionPointer(collection=inner.id))
    refusals = [
        (MoveCollection(collection_id=top.id, parent=deepest.id), Conflict),
        (MoveCollection(collection_id=top.id, parent=top.id), Conflict),
        (MoveCollection(collection_id=top.id, position=beside), Conflict),
        (MoveCollection(collection_id=top.id, parent="gone"), NotFound),
        (MoveCollection(collection_id=top.id, parent=foreign.id), NotFound),
        (MoveCollection(collection_id=top.id), Refused),
        (MoveCollection(collection_id=inner.id, position=beside), Refused),
        (MoveCollection(collection_id=deepest.id, position=twice), Refused),
        (MoveSpace(space_id=world.space, parent=None, position=beside), Refused),
        (MoveSpace(space_id=world.space, position=ContentPosition(before=SpacePointer(space=world.space))), Refused),
    ]
    try:
        for call, error in refusals:
            with pytest.raises(error):
                await world.admin.send(call)
        assert (await world.admin.send(GetCollection(collection_id=top.id))).parent is None
    finally:
        for client in elsewhere.clients.values():
            await client.aclose()


async def test_a_collection_is_transferred_with_its_contents(world: World, other_organization: str) -> None:
    top = await collection(world, "Top")
    inner = await collection(world, "Inner", top.id)
    inside = await space(world, "Inside", inner.id)
    given = await world.admin.send(TransferCollection(collection_id=top.id, organization=other_organization))
    assert (given.organization, given.parent) == (other_organization, None)
    moved = await world.admin.send(GetSpace(space_id=inside.id))
    assert (moved.organization, moved.parent) == (other_organization, inner.id)
    assert await titles(world) == []


async def test_invalid_transfers_are_refused(world: World, other_organization: str) -> None:
    top = await collection(world, "Top")
    inside = await space(world, "Inside", top.id)
    with pytest.raises(NotFound):
        await world.admin.send(TransferCollection(collection_id=top.id, organization="gone"))
    with pytest.raises(Conflict):
        await world.admin.send(TransferCollection(collection_id=top.id, organization=world.organization))
    await world.admin.send(CreateSite(organization_id=world.organization, title="Shown", spaces=(inside.id,)))
    with pytest.raises(PreconditionFailed, match="Shown"):
        await world.admin.send(TransferCollection(collection_id=top.id, organization=other_organization))
    with pytest.raises(Forbidden):
        await world.clients["create"].send(TransferCollection(collection_id=top.id, organization=other_organization))


async def test_a_move_that_changes_access_requires_an_admin_of_the_item(world: World) -> None:
    creator, at = world.clients["create"], {"organization_id": world.organization}
    open_one, other, closed = [
        await world.admin.send(CreateCollection(**at, title=title)) for title in ("Open", "Other", "Readers")
    ]
    await world.admin.send(UpdateCollection(collection_id=closed.id, default_level="create"))
    space = await creator.send(CreateSpace(**at, title="Mine", parent=open_one.id))
    nested = await creator.send(CreateCollection(**at, title="Nested", parent=open_one.id))
    for call in (
        MoveSpace(space_id=space.id, parent=closed.id),
        MoveCollection(collection_id=nested.id, parent=closed.id),
    ):
        with pytest.raises(Forbidden, match="changes who has access to it"):
            await creator.send(call)
    assert (await creator.send(MoveSpace(space_id=space.id, parent=other.id))).parent == other.id, "nothing changes"
    assert (await creator.send(MoveCollection(collection_id=nested.id, parent=other.id))).parent == other.id
    team = await world.admin.send(CreateTeam(**at, title="Writers", members=(world.users["guest"],)))
    await world.admin.send(UpdateCollectionTeamPermission(collection_id=other.id, team_id=team.id, role="read"))
    with pytest.raises(Forbidden, match="changes who has access to it"):
        await creator.send(MoveSpace(space_id=space.id, parent=open_one.id))
    assert (await world.admin.send(MoveSpace(space_id=space.id, parent=closed.id))).parent == closed.id


async def test_moving_a_collection_does_not_open_private_items_to_others(world: World, other_organization: str) -> None:
    at = {"organization_id": world.organization}
    outer, inner = [await world.admin.send(CreateCollection(**at, title=title)) for title in ("Outer", "Inner")]
    await world.admin.send(UpdateCollection(collection_id=inner.id, default_level="admin"))
    closed = await world.admin.send(CreateSpace(**at, title="Closed", parent=inner.id))
    await world.admin.send(UpdateSpace(space_id=closed.id, default_level=None))
    team = await world.admin.send(CreateTeam(**at, title="Writers", members=(world.users["guest"],)))
    await world.admin.send(UpdateCollectionTeamPermission(collection_id=outer.id, team_id=team.id, role="read"))
    creator = world.clients["create"]
    with pytest.raises(Forbidden, match="items inside"):
        await creator.send(MoveCollection(collection_id=inner.id, parent=outer.id))
    database = Database(world.database_url)
    with database.writing.begin() as session:
        joined = {"joined_at": "2026-05-20T09:30:00.000Z", "organization_id": other_organization}
        session.add(MemberRow(user_id=world.users["create"], role="admin", **joined))
    database.close()
    with pytest.raises(Forbidden, match="items inside"):
        await creator.send(TransferCollection(collection_id=inner.id, organization=other_organization))
    await world.admin.send(TransferCollection(collection_id=inner.id, organization=other_organization))
