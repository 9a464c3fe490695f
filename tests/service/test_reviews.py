"""Reviews, requested reviewers and merge rules."""

import pytest
from tests.service.factories import World, insert

from presscheck import errors
from presscheck.api.change_requests import (
    GetReview,
    ListCommenters,
    ListContributors,
    ListRequestedReviewers,
    ListReviews,
    RemoveRequestedReviewer,
    RequestReviewers,
    SubmitReview,
    UpdateChangeRequest,
)
from presscheck.api.comments import Document, ListComments, PostComment

Path = dict[str, str]


@pytest.fixture
async def place(world: World) -> Path:
    return {"space_id": world.space, "change_request_id": (await world.draft()).id}


async def test_reviewers_are_added_and_removed(world: World, place: Path) -> None:
    with pytest.raises(errors.Refused, match="users"):
        await world.admin.send(RequestReviewers(**place, users=(world.users["edit"], "stranger"), subject="Changed"))
    assert (await world.admin.send(ListRequestedReviewers(**place))).count == 0
    asked = (world.users["review"], world.users["edit"], world.users["review"])
    answer = await world.admin.send(RequestReviewers(**place, users=asked, subject="Look at this"))
    assert answer.users and [user.user.display_name for user in answer.users if user.user] == ["Review", "Edit"]
    listed = [one async for one in world.admin.every(ListRequestedReviewers(**place, limit=1))]
    assert sorted(one.user.display_name for one in listed if one.user) == ["Edit", "Review"]
    assert all(one.requested_by and one.requested_by.display_name == "Admin" for one in listed)
    for _ in range(2):
        await world.admin.send(RemoveRequestedReviewer(**place, user_id=world.users["edit"]))
    assert (await world.admin.send(ListRequestedReviewers(**place))).count == 1


async def test_a_newer_review_replaces_the_older_one_of_the_same_user(world: World, place: Path) -> None:
    await world.admin.send(RequestReviewers(**place, users=(world.users["review"],)))
    reviewer = world.clients["review"]
    first = await reviewer.send(SubmitReview(**place, status="changes-requested", comment=Document(markdown="Not yet")))
    assert (first.outdated, first.comment and first.comment.body.markdown) == (False, "Not yet")
    assert first.requested_by and first.requested_by.display_name == "Admin"
    comments = (await world.admin.send(ListComments(**place))).items
    assert [comment.target.review for comment in comments] == [first.id]
    other = await world.admin.send(SubmitReview(**place, status="approved"))
    second = await reviewer.send(SubmitReview(**place, status="approved"))
    assert (await reviewer.send(GetReview(**place, review_id=first.id))).outdated
    current = await world.admin.send(ListReviews(**place, outdated=False))
    assert [item.id for item in current.items] == [second.id, other.id]
    assert [item.id for item in (await world.admin.send(ListReviews(**place, outdated=True))).items] == [first.id]
    assert (await world.admin.send(ListReviews(**place))).count == 3
    await world.admin.send(UpdateChangeRequest(**place, status="archived"))
    with pytest.raises(errors.Conflict, match="archived"):
        await reviewer.send(SubmitReview(**place, status="approved"))


async def test_a_review_refers_to_the_revision_at_its_time(world: World, place: Path) -> None:
    made = await world.admin.send(SubmitReview(**place, status="approved"))
    change_request = await world.admin.send(UpdateChangeRequest(**place, status="open"))
    assert made.revision == change_request.revision
    edited = await world.edit(change_request, insert("New"))
    assert edited.change_request.revision != made.revision
    assert (await world.admin.send(GetReview(**place, review_id=made.id))).revision == made.revision


async def test_contributors_and_commenters_are_listed(world: World, place: Path) -> None:
    change_request = await world.admin.send(UpdateChangeRequest(**place, status="open"))
    for title in ("One", "Two"):
        await world.edit(change_request, insert(title), by="edit")
    await world.clients["comment"].send(PostComment(**place, body=Document(markdown="Hm")))
    parts = (await world.admin.send(ListContributors(**place))).items
    found = {(part.user.display_name, part.action_type, part.count) for part in parts}
    assert found == {("Edit", "edit", 2), ("Comment", "comment", 1)}
    commenters = (await world.admin.send(ListCommenters(**place))).items
    assert [(commenter.user.display_name, commenter.role) for commenter in commenters] == [("Comment", "comment")]
