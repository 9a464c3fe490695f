"""Change requests over a socket."""

from tests.service.factories import World, insert

from presscheck.api.change_requests import (
    ChangeRequest,
    GetChangeRequest,
    ListChangeRequests,
    RequestReviewers,
    SubmitReview,
    UpdateChangeRequest,
)
from presscheck.api.comments import Document, PostComment, UpdateComment


async def listed(world: World, by: str = "admin", **filters: str) -> list[str]:
    call = ListChangeRequests(space_id=world.space, **filters)
    return [found.id async for found in world.clients[by].every(call)]


async def set_status(world: World, change_request: ChangeRequest, status: str) -> ChangeRequest:
    return await world.admin.send(
        UpdateChangeRequest(space_id=world.space, change_request_id=change_request.id, status=status)
    )


async def test_the_list_is_sorted_by_last_update_and_paginated(world: World) -> None:
    made = [await world.draft(str(n)) for n in range(5)]
    await world.edit(made[1], insert("New"))
    expected = [made[n].id for n in (1, 4, 3, 2, 0)]
    assert await listed(world, status="draft") == expected
    first = await world.admin.send(ListChangeRequests(space_id=world.space, status="draft", limit=2))
    assert (len(first.items), first.count, first.total) == (2, 2, 5)
    assert first.next
    last = await world.admin.send(
        ListChangeRequests(space_id=world.space, status="draft", limit=3, page=first.next.page)
    )
    assert [one.id for one in (*first.items, *last.items)] == expected
    assert (last.next, last.count, last.total) == (None, 3, 5)
    nothing = await world.admin.send(ListChangeRequests(space_id=world.space, status="draft", limit=0))
    assert (nothing.items, nothing.next, nothing.count, nothing.total) == ((), None, 0, 5)
    assert await listed(world) == [], "none is open"


async def test_filters_by_creator_contributor_and_requested_reviewer(world: World) -> None:
    mine, theirs = await world.draft("mine"), await world.draft("theirs", by="edit")
    await world.admin.send(
        RequestReviewers(space_id=world.space, change_request_id=mine.id, users=(world.users["review"],))
    )
    comment = PostComment(space_id=world.space, change_request_id=theirs.id, body=Document(markdown="Hm"))
    await world.clients["comment"].send(comment)
    assert await listed(world, status="draft", creator=world.users["edit"]) == [theirs.id]
    assert await listed(world, status="draft", requested_reviewer=world.users["review"]) == [mine.id]
    assert await listed(world, status="draft", contributor=world.users["comment"]) == [theirs.id]
    assert await listed(world, status="draft", creator=world.users["read"]) == []


async def test_status_changes_between_draft_open_and_archived(world: World) -> None:
    made = await world.draft()
    for status in ("open", "draft", "archived", "open", "archived", "draft"):
        assert (await set_status(world, made, status)).status == status


async def test_subject_and_description_are_stored_and_cleared(world: World) -> None:
    made = await world.draft()
    tree = {"object": "document", "data": {"schemaVersion": 8, "gap": None}, "nodes": []}
    path = {"space_id": world.space, "change_request_id": made.id}
    changed = await world.admin.send(UpdateChangeRequest(**path, subject="New", description=tree))
    assert (changed.subject, changed.description) == ("New", tree)
    cleared = await world.admin.send(UpdateChangeRequest(**path, description=None))
    assert (cleared.subject, cleared.description) == ("New", None)


async def test_open_comments_are_counted(world: World) -> None:
    made = await world.draft()
    path = {"space_id": world.space, "change_request_id": made.id}
    comments = [await world.admin.send(PostComment(**path, body=Document(markdown=str(n)))) for n in range(3)]
    await world.admin.send(UpdateComment(**path, comment_id=comments[0].id, resolved=True))
    assert (await world.admin.send(GetChangeRequest(**path))).comments == 2
    listing = ListChangeRequests(space_id=world.space, status="draft")
    assert (await world.admin.send(listing)).items[0].comments == 2
    await world.admin.send(SubmitReview(**path, status="approved", comment=Document(markdown="Good.")))
    assert (await world.admin.send(GetChangeRequest(**path))).comments == 2, "the text of a review asks for no answer"
