"""Comments and replies over a socket."""

import pytest
from tests.service.factories import World

from presscheck import errors
from presscheck.api.change_requests import GetChangeRequest
from presscheck.api.comments import (
    Comment,
    DeleteComment,
    DeleteReply,
    DeleteSpaceComment,
    DeleteSpaceReply,
    Document,
    GetComment,
    GetReply,
    GetSpaceComment,
    GetSpaceReply,
    ListComments,
    ListReplies,
    ListSpaceCommenters,
    ListSpaceComments,
    ListSpaceReplies,
    PostComment,
    PostReply,
    PostSpaceComment,
    PostSpaceReply,
    TableCellTarget,
    UpdateComment,
    UpdateReply,
    UpdateSpaceComment,
    UpdateSpaceReply,
)

Path = dict[str, str]


def text(markdown: str) -> Document:
    return Document(markdown=markdown)


@pytest.fixture
async def place(world: World) -> Path:
    return {"space_id": world.space, "change_request_id": (await world.draft()).id}


async def test_comment_has_author_target_and_permissions(world: World, place: Path) -> None:
    made = await world.clients["comment"].send(
        PostComment(
            **place,
            body=text("Why?"),
            page="guide",
            node="n1",
            table_cell=TableCellTarget(record="r", definition="d"),
        )
    )
    assert (made.body.markdown, made.status, made.replies, made.posted_by.display_name) == (
        "Why?",
        "open",
        0,
        "Comment",
    )
    assert made.target.page and made.target.page.id == "guide"
    assert made.target.node and made.target.node.id == "n1"
    assert made.target.table_cell and made.target.table_cell.record == "r"
    assert (made.target.change_request, made.target.space) == (place["change_request_id"], world.space)
    assert await world.clients["comment"].send(GetComment(**place, comment_id=made.id)) == made
    assert (made.permissions.edit, made.permissions.delete, made.permissions.reply) == (True, True, True)
    seen = await world.clients["read"].send(GetComment(**place, comment_id=made.id))
    assert (seen.permissions.edit, seen.permissions.delete, seen.permissions.reply) == (False, False, False)


async def test_a_node_tree_round_trips(world: World, place: Path) -> None:
    tree = {"object": "document", "data": {}, "nodes": [{"object": "block", "type": "paragraph", "nodes": []}]}
    made = await world.admin.send(PostComment(**place, body=Document(document=tree)))
    assert (made.body.document, made.body.markdown) == (tree, None)


async def test_a_comment_without_text_or_on_a_missing_page_is_refused(world: World, place: Path) -> None:
    for call in (
        PostComment(**place, body=Document()),
        PostComment(**place, body=text("  \n")),
        PostComment(**place, body=text("Hm"), page="nowhere"),
    ):
        with pytest.raises(errors.Refused, match=r"body|page"):
            await world.admin.send(call)
    with pytest.raises(errors.Forbidden):
        await world.clients["read"].send(PostComment(**place, body=text("Hm")))


async def test_comments_are_filtered_and_sorted(world: World, place: Path) -> None:
    made: list[Comment] = []
    for by, page in (("admin", "guide"), ("edit", None), ("comment", "guide")):
        made.append(await world.clients[by].send(PostComment(**place, body=text(by), page=page)))
    await world.admin.send(UpdateComment(**place, comment_id=made[1].id, resolved=True))

    async def listed(**filters: object) -> list[str]:
        return [one.body.markdown or "" async for one in world.admin.every(ListComments(**place, **filters))]

    assert await listed() == ["comment", "edit", "admin"]
    assert await listed(order="asc", limit=1) == ["admin", "edit", "comment"]
    assert await listed(status="open") == ["comment", "admin"]
    assert await listed(status="resolved") == ["edit"]
    assert await listed(status="all", target_page="guide") == ["comment", "admin"]
    assert await listed(authors=(world.users["edit"], world.users["admin"])) == ["edit", "admin"]


async def test_resolving_records_the_user_and_reopening_clears_it(world: World, place: Path) -> None:
    made = await world.admin.send(PostComment(**place, body=text("Hm")))
    resolved = await world.admin.send(UpdateComment(**place, comment_id=made.id, resolved=True))
    assert resolved.status == "resolved"
    assert resolved.resolved_by and resolved.resolved_by.id == world.users["admin"]
    again = await world.admin.send(UpdateComment(**place, comment_id=made.id, resolved=True))
    assert again.resolved_at == resolved.resolved_at
    reopened = await world.admin.send(UpdateComment(**place, comment_id=made.id, resolved=False))
    assert (reopened.status, reopened.resolved_at, reopened.resolved_by) == ("open", None, None)


async def test_a_reaction_counts_each_user_once(world: World, place: Path) -> None:
    made = await world.admin.send(PostComment(**place, body=text("Hm")))
    for by in ("admin", "edit", "edit"):
        await world.clients[by].send(UpdateComment(**place, comment_id=made.id, added_reactions=("1f44d", "1f389")))
    changed = await world.admin.send(UpdateComment(**place, comment_id=made.id, removed_reactions=("1f389", "never")))
    counts = {
        reaction.emoji: (reaction.count, [who.user.display_name for who in reaction.users])
        for reaction in changed.reactions
    }
    assert counts == {"1f44d": (2, ["Admin", "Edit"]), "1f389": (1, ["Edit"])}


async def test_replies_on_a_live_space_are_edited_and_deleted(world: World, place: Path) -> None:
    here = {"space_id": world.space}
    comment = await world.admin.send(PostSpaceComment(**here, body=text("Hm")))
    reply = await world.clients["edit"].send(PostSpaceReply(**here, comment_id=comment.id, body=text("Yes")))
    one = {**here, "comment_id": comment.id, "comment_reply_id": reply.id}
    assert (await world.clients["read"].send(GetSpaceReply(**one))).urls.location == reply.urls.location
    with pytest.raises(errors.Forbidden, match="edit your own replies"):
        await world.clients["comment"].send(UpdateSpaceReply(**one, body=text("x")))
    reacted = await world.clients["comment"].send(UpdateSpaceReply(**one, added_reactions=("1f44d",)))
    changed = await world.clients["edit"].send(UpdateSpaceReply(**one, body=text("x")))
    assert (changed.body.markdown, changed.reactions) == ("x", reacted.reactions)
    in_request = await world.admin.send(PostComment(**place, body=text("Hm")))
    with pytest.raises(errors.NotFound):
        await world.admin.send(GetSpaceReply(**{**one, "comment_id": in_request.id}))
    await world.admin.send(DeleteSpaceReply(**{**one, "comment_id": in_request.id}))
    assert (await world.admin.send(GetSpaceReply(**one))).body.markdown == "x"
    await world.clients["edit"].send(DeleteSpaceReply(**one))
    with pytest.raises(errors.NotFound, match="Reply not found"):
        await world.admin.send(GetSpaceReply(**one))


async def test_commenters_of_a_space_exclude_those_of_its_change_requests(world: World, place: Path) -> None:
    await world.clients["comment"].send(PostSpaceComment(space_id=world.space, body=text("Hm")))
    await world.clients["edit"].send(PostComment(**place, body=text("Hm")))
    commenters = (await world.admin.send(ListSpaceCommenters(space_id=world.space))).items
    assert [(member.user.display_name, member.role) for member in commenters] == [("Comment", "comment")]


async def test_replies_are_counted_listed_edited_and_deleted(world: World, place: Path) -> None:
    comment = await world.admin.send(PostComment(**place, body=text("Hm")))
    thread = {**place, "comment_id": comment.id}
    replies = [await world.clients[by].send(PostReply(**thread, body=text(by))) for by in ("edit", "admin", "edit")]
    shown = await world.admin.send(GetComment(**thread))
    assert shown.replies == 3
    assert {one.user.display_name: one.count for one in shown.repliers} == {"Edit": 2, "Admin": 1}
    assert [one.id async for one in world.admin.every(ListReplies(**thread, limit=2))] == [
        reply.id for reply in replies
    ]
    one = {**thread, "comment_reply_id": replies[0].id}
    assert await world.clients["edit"].send(GetReply(**one)) == replies[0]
    with pytest.raises(errors.Forbidden):
        await world.clients["comment"].send(UpdateReply(**one, body=text("x")))
    changed = await world.clients["edit"].send(UpdateReply(**one, body=text("x"), added_reactions=("1f44d",)))
    assert (changed.body.markdown, changed.reactions[0].count) == ("x", 1)
    await world.clients["edit"].send(DeleteReply(**one))
    await world.clients["edit"].send(DeleteReply(**one))
    with pytest.raises(errors.NotFound, match="Reply not found"):
        await world.admin.send(GetReply(**one))
    assert (await world.admin.send(GetComment(**thread))).replies == 2


async def test_deleting_a_comment_deletes_its_replies_and_updates_the_count(world: World, place: Path) -> None:
    comment = await world.admin.send(PostComment(**place, body=text("Hm")))
    thread = {**place, "comment_id": comment.id}
    await world.admin.send(PostReply(**thread, body=text("Yes")))
    await world.admin.send(DeleteComment(**thread))
    await world.admin.send(DeleteComment(**thread))
    with pytest.raises(errors.NotFound, match="Comment not found"):
        await world.admin.send(ListReplies(**thread))
    assert (await world.admin.send(GetChangeRequest(**place))).comments == 0


async def test_comments_of_the_live_content_are_separate(world: World, place: Path) -> None:
    here = {"space_id": world.space}
    made = await world.clients["comment"].send(PostSpaceComment(**here, body=text("Live"), page="start"))
    assert (made.target.change_request, made.target.space) == (None, world.space)
    assert (await world.admin.send(ListComments(**place))).items == ()
    thread = {**here, "comment_id": made.id}
    assert await world.clients["comment"].send(GetSpaceComment(**thread)) == made
    await world.admin.send(PostSpaceReply(**thread, body=text("Yes")))
    assert [item.body.markdown for item in (await world.admin.send(ListSpaceReplies(**thread))).items] == ["Yes"]
    assert (await world.admin.send(UpdateSpaceComment(**thread, resolved=True))).status == "resolved"
    assert (await world.admin.send(ListSpaceComments(**here, status="open"))).items == ()
    with pytest.raises(errors.NotFound):
        await world.admin.send(GetComment(**place, comment_id=made.id))
    await world.admin.send(DeleteSpaceComment(**thread))
    assert (await world.admin.send(ListSpaceComments(**here))).count == 0


async def test_delete_does_not_reveal_items_elsewhere(world: World, place: Path) -> None:
    other = {"space_id": world.space, "change_request_id": (await world.draft("Other")).id}
    comment = await world.admin.send(PostComment(**other, body=text("Hm")))
    reply = await world.admin.send(PostReply(**other, comment_id=comment.id, body=text("Yes")))
    here = {"comment_id": comment.id, "comment_reply_id": reply.id}
    for call in (
        DeleteComment(**place, comment_id=comment.id),
        DeleteSpaceComment(space_id=world.space, comment_id=comment.id),
        DeleteReply(**place, **here),
        DeleteReply(**place, **here | {"comment_reply_id": "none"}),
        DeleteReply(**place, **here | {"comment_id": "none"}),
    ):
        await world.admin.send(call)
    assert (await world.admin.send(GetComment(**other, comment_id=comment.id))).replies == 1
    for missing in (reply.id, "none"):
        with pytest.raises(errors.NotFound, match="Space"):
            await world.clients["guest"].send(DeleteReply(**other, comment_id=comment.id, comment_reply_id=missing))
