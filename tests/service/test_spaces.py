"""Spaces and their counters, over a socket."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.service.counted_service import counted
from tests.service.factories import ROLES, World, insert

from presscheck.api.change_requests import UpdateChangeRequest
from presscheck.api.collections import CreateCollection
from presscheck.api.comments import Document, PostComment, PostSpaceComment, UpdateSpaceComment
from presscheck.api.content import GetPage, ListPages
from presscheck.api.roles import MergeRulesChange
from presscheck.api.sites import CreateSite, PublishSite
from presscheck.api.spaces import (
    CreateSpace,
    DeleteSpace,
    DuplicateSpace,
    GetSpace,
    ListSpaces,
    RestoreSpace,
    TransferSpace,
    UpdateSpace,
)
from presscheck.errors import Conflict, NotFound, Refused
from presscheck.service.db.engine import Database
from presscheck.service.handlers.spaces import list_spaces
from presscheck.service.http.operations import Caller, Context, InstallationGrant
from presscheck.service.permissions import role_in


async def test_a_space_is_created_updated_and_listed(world: World) -> None:
    made = await world.clients["create"].send(
        CreateSpace(organization_id=world.organization, title="New", emoji="1f4d8", language="de")
    )
    assert (made.title, made.emoji, made.language, made.organization) == ("New", "1f4d8", "de", world.organization)
    assert (await world.admin.send(ListPages(space_id=made.id))).pages == ()
    changed = await world.admin.send(
        UpdateSpace(
            space_id=made.id, title="Newer", icon="https://example.org/i.png", merge_rules=MergeRulesChange(type="none")
        )
    )
    assert (changed.title, changed.emoji, changed.urls.icon) == ("Newer", "", "https://example.org/i.png")
    assert changed.merge_rules and changed.merge_rules.type == "none"
    listed = await world.clients["read"].send(ListSpaces(organization_id=world.organization))
    assert [item.title for item in listed.items] == ["Manual", "Newer"]


async def test_invalid_values_are_refused(world: World) -> None:
    for call in (
        UpdateSpace(space_id=world.space, title=None),
        UpdateSpace(space_id=world.space, emoji="1f4d8", icon="https://example.org/i.png"),
        CreateSpace(organization_id=world.organization, computed_source={"type": "x"}),
    ):
        with pytest.raises(Refused) as refused:
            await world.admin.send(call)
        assert refused.value.status == 400
    with pytest.raises(NotFound):
        await world.admin.send(CreateSpace(organization_id=world.organization, parent="gone"))


async def test_permissions_follow_the_role(world: World) -> None:
    may = {}
    for role in ROLES:
        found = (await world.clients[role].send(GetSpace(space_id=world.space))).permissions
        may[role] = (found.view, found.comment, found.review, found.edit, found.merge, found.admin)
    assert may == {
        "admin": (True, True, True, True, True, True),
        "create": (True, True, True, True, True, False),
        "edit": (True, True, True, True, True, False),
        "review": (True, True, True, False, False, False),
        "comment": (True, True, False, False, False, False),
        "read": (True, False, False, False, False, False),
    }
    with pytest.raises(NotFound):
        await world.clients["guest"].send(GetSpace(space_id=world.space))


async def test_counters_match_the_data(world: World) -> None:
    drafts = [await world.draft() for _ in range(3)]
    opened, archived = drafts[:2]
    for request, status in ((opened, "open"), (archived, "archived")):
        await world.admin.send(UpdateChangeRequest(space_id=world.space, change_request_id=request.id, status=status))
    said = await world.admin.send(PostSpaceComment(space_id=world.space, body=Document(markdown="a")))
    await world.admin.send(PostSpaceComment(space_id=world.space, body=Document(markdown="b")))
    await world.admin.send(
        PostComment(space_id=world.space, change_request_id=opened.id, body=Document(markdown="not of the space"))
    )
    counted = await world.admin.send(GetSpace(space_id=world.space))
    assert (counted.change_requests, counted.change_requests_open, counted.change_requests_draft) == (3, 1, 1)
    assert counted.comments == 2
    await world.admin.send(UpdateSpaceComment(space_id=world.space, comment_id=said.id, resolved=True))
    assert (await world.admin.send(GetSpace(space_id=world.space))).comments == 1


async def test_duplicate_has_the_live_content_and_the_access_of_its_original(world: World) -> None:
    await world.edit(await world.draft(), insert("Only there"))
    copy = await world.clients["create"].send(DuplicateSpace(space_id=world.space))
    assert (copy.title, copy.change_requests) == ("Copy of Manual", 0)
    before = (await world.admin.send(ListPages(space_id=world.space))).pages
    after = (await world.admin.send(ListPages(space_id=copy.id))).pages
    assert [one.title for one in after] == [one.title for one in before]
    assert {one.id for one in after}.isdisjoint(one.id for one in before)
    page = await world.admin.send(GetPage(space_id=copy.id, page_id=after[1].id, format="markdown"))
    assert page.markdown == "# Guide\n\nFirst.\n\nSecond.\n\nThird.\n"
    listed = await world.admin.send(ListSpaces(organization_id=world.organization))
    assert [item.id for item in listed.items] == [world.space, copy.id]
    await world.admin.send(UpdateSpace(space_id=copy.id, default_level=None))
    closed = await world.admin.send(DuplicateSpace(space_id=copy.id))
    assert closed.default_level is None
    with pytest.raises(NotFound):
        await world.clients["create"].send(GetSpace(space_id=closed.id))


async def test_a_deleted_space_is_not_found_until_restored(world: World) -> None:
    for space in (world.space, world.space, "gone"):
        await world.admin.send(DeleteSpace(space_id=space))
    assert (await world.admin.send(GetSpace(space_id=world.space))).deleted_at is not None
    for call in (GetSpace(space_id=world.space), RestoreSpace(space_id=world.space)):
        with pytest.raises(NotFound):
            await world.clients["create"].send(call)
    with pytest.raises(NotFound):
        await world.admin.send(ListPages(space_id=world.space))
    assert (await world.admin.send(ListSpaces(organization_id=world.organization))).items == ()
    restored = await world.admin.send(RestoreSpace(space_id=world.space))
    assert restored.deleted_at is None
    assert len((await world.clients["read"].send(ListPages(space_id=world.space))).pages) == 3


async def test_a_space_cannot_be_restored_after_seven_days(world: World) -> None:
    for days, comes_back in ((6.9, True), (7.1, False)):
        moment = datetime.now(UTC) - timedelta(days=days)
        world.change(deleted_at=moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"))
        if comes_back:
            await world.admin.send(RestoreSpace(space_id=world.space))
            continue
        with pytest.raises(Conflict, match="seven days"):
            await world.admin.send(RestoreSpace(space_id=world.space))
        with pytest.raises(NotFound):
            await world.admin.send(GetSpace(space_id=world.space))


async def test_a_space_is_transferred(world: World, other_organization: str) -> None:
    for target, error in ((world.organization, Conflict), ("gone", NotFound)):
        with pytest.raises(error):
            await world.admin.send(TransferSpace(space_id=world.space, organization=target))
    given = await world.admin.send(TransferSpace(space_id=world.space, organization=other_organization))
    assert (given.organization, given.parent) == (other_organization, None)
    assert (await world.admin.send(ListSpaces(organization_id=world.organization))).items == ()
    assert len((await world.admin.send(ListPages(space_id=world.space))).pages) == 3


async def test_a_share_key_grants_access_to_a_space(world: World) -> None:
    site = await world.admin.send(
        CreateSite(organization_id=world.organization, title="Shared", visibility="share-link", spaces=(world.space,))
    )
    published = await world.admin.send(PublishSite(organization_id=world.organization, site_id=site.id))
    assert published.object == "site"  # pyright: ignore[reportAttributeAccessIssue]
    key = str(published.urls.published).rstrip("/").rpartition("/")[2]  # pyright: ignore[reportAttributeAccessIssue]
    opened = await world.clients["guest"].send(GetSpace(space_id=world.space, share_key=key))
    assert opened.id == world.space
    assert not opened.permissions.view
    for wrong in ("", "wrong", key[:-1]):
        with pytest.raises(NotFound):
            await world.clients["guest"].send(GetSpace(space_id=world.space, share_key=wrong))


async def test_number_of_queries_does_not_grow_with_the_list(world: World) -> None:
    def asked() -> int:
        listing = ListSpaces(organization_id=world.organization)
        return counted(world.database_url, world.users["edit"], lambda context: list_spaces(context, listing))[1]

    numbers: list[int] = []
    parent = None
    for number in range(4):
        made = CreateCollection(organization_id=world.organization, title=f"Collection {number}", parent=parent)
        parent = (await world.admin.send(made)).id
        await world.admin.send(CreateSpace(organization_id=world.organization, parent=parent))
        numbers.append(asked())
    assert len(set(numbers)) == 1 and numbers[0] <= 16


def test_an_integration_edits_in_the_organization_that_installed_it(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'service.sqlite'}")
    integration = Caller("lamp", "Lamp", None, None, installation=InstallationGrant("lamp", "i", "o", frozenset()))
    with database.snapshot() as session:
        context = Context(session, integration, "", lambda: datetime(2026, 5, 20, tzinfo=UTC), tmp_path)
        assert [role_in(context, organization) for organization in ("o", "another")] == ["edit", None]
    database.close()
