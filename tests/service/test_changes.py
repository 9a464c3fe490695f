"""The lists of changes of change requests and revisions."""

from typing import Any

from tests.service.factories import World, insert, rewrite

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.content_changes import (
    DeletePage,
    GetChangeRequestChanges,
    GetRevisionChanges,
    InsertFiles,
    NewFile,
    SemanticChanges,
    UpdatePage,
)


async def changes_of(world: World, change_request: ChangeRequest, **given: Any) -> SemanticChanges:
    return await world.clients["read"].send(
        GetChangeRequestChanges(space_id=world.space, change_request_id=change_request.id, **given)
    )


async def test_each_kind_of_change_is_listed(world: World) -> None:
    draft = await world.draft()
    edited = await world.edit(
        draft,
        insert("New", into="start"),
        rewrite("guide", "# Other title\n\nText.\n"),
        DeletePage(page="reference"),
        InsertFiles(files=(NewFile(name="a.txt", base64="YQ==", content_type="text/plain"),)),
    )
    told = await changes_of(world, draft)
    by_type = {change.type: change for change in told.changes}
    assert set(by_type) == {"page_created", "page_edited", "page_deleted", "file_created"}
    created = by_type["page_created"].page
    assert created and (created.title, created.path) == ("New", "start/new")
    attributes = by_type["page_edited"].attributes or {}
    assert (attributes["title"].before, attributes["title"].after) == ("Guide", "Other title")
    assert attributes["document"].before != attributes["document"].after
    file = by_type["file_created"].file
    assert file and file.download_url.startswith(world.base_url)
    of_revision = GetRevisionChanges(space_id=world.space, revision_id=edited.change_request.revision)
    assert (await world.admin.send(of_revision)).changes == told.changes


async def test_a_move_has_both_parents(world: World) -> None:
    draft = await world.draft()
    await world.edit(draft, UpdatePage(page="reference", into="guide"))
    (change,) = (await changes_of(world, draft)).changes
    assert change.type == "page_moved"
    assert change.parent and change.parent.before is None
    assert change.parent.after and change.parent.after.id == "guide"


async def test_the_limit_truncates_and_returns_the_total(world: World) -> None:
    draft = await world.draft()
    await world.edit(draft, *(insert(f"Page {n}") for n in range(12)))
    told = await changes_of(world, draft)
    assert (len(told.changes), told.more) == (10, 2)
    told = await changes_of(world, draft, limit=11)
    assert (len(told.changes), told.more) == (11, 1)
    told = await changes_of(world, draft, limit=100)
    assert (len(told.changes), told.more) == (12, None)
