"""Texts that would take long to render are refused when they are written; the error names the limit."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from tests.running_service import RunningService
from tests.service.factories import World, insert, plant_world, rewrite
from tests.service.web_pages import published

from presscheck.api.change_requests import MergeChangeRequest
from presscheck.api.comments import Document, ListComments, ListReplies, PostComment, PostReply
from presscheck.api.content import GetPage
from presscheck.api.content_changes import UpdatePage
from presscheck.api.links import ListSpaceLinks
from presscheck.documents.markdown.page_size import COMMENT_LIMITS, PAGE_LIMITS
from presscheck.errors import RequestError
from presscheck.service.content import serializers
from presscheck.service.db.engine import Database
from presscheck.service.http import operations
from presscheck.service.json_values import MOST_VALUES
from presscheck.service.models.content import CommentRow

HUGE = {
    "paragraphs": "ab\n\n" * (PAGE_LIMITS.parts + 1),
    "letters": "a" * (PAGE_LIMITS.characters + 1),
    "rows without cells": ("|a" * 1000 + "|\n" + "|-" * 1000 + "|\n" + "|\n" * 60 + "\n"),
}


def as_nodes(count: int, text: str) -> Document:
    leaf = {"object": "leaf", "text": text, "marks": []}
    node = {"object": "block", "type": "paragraph", "nodes": [{"object": "text", "leaves": [leaf]}]}
    return Document(document={"object": "document", "data": {}, "nodes": [node] * count})


@pytest.mark.attack("deep and huge pages")
@pytest.mark.parametrize("kind", HUGE)
async def test_a_page_that_is_too_large_is_refused(world: World, kind: str) -> None:
    draft = await world.draft()
    for change in (rewrite("start", HUGE[kind]), insert("New", HUGE[kind])):
        with pytest.raises(RequestError, match=r"document: too large: .* at most [\d,]+ are allowed"):
            await world.edit(draft, change)


@pytest.mark.attack("deep and huge pages")
async def test_too_many_document_nodes_are_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    draft = await world.draft()
    for count, text, reason, most in (
        (2, "a" * (PAGE_LIMITS.characters // 2), "500,0.. characters", serializers.MOST_OBJECTS),
        (100, "", "more than 300 nodes", 300),  # each node is three objects, and the document is one more
    ):
        monkeypatch.setattr(serializers, "MOST_OBJECTS", most)
        with pytest.raises(RequestError, match=f"document: too large: {reason}"):
            await world.edit(draft, UpdatePage(page="start", document=as_nodes(count, text)))


@pytest.mark.attack("deep and huge pages")
async def test_a_comment_that_is_too_large_is_refused(world: World) -> None:
    at: dict[str, Any] = {"space_id": world.space, "change_request_id": (await world.draft()).id}
    for body in (Document(markdown="a\n" * (COMMENT_LIMITS.parts + 1)), as_nodes(COMMENT_LIMITS.parts + 1, "a")):
        with pytest.raises(RequestError, match=r"body: too large: 2,001 lines"):
            await world.admin.send(PostComment(**at, body=body))


@pytest.mark.attack("deep and huge pages")
async def test_merges_do_not_make_a_page_larger_than_its_limit(world: World) -> None:
    middle, half = "First.\n\nSecond.\n\nThird.\n", "a\n\n" * (PAGE_LIMITS.parts * 2 // 3)
    first, second = await world.draft(), await world.draft()
    await world.edit(first, rewrite("guide", f"{half}{middle}"))
    await world.edit(second, rewrite("guide", f"{middle}\n{half}"))
    await world.admin.send(MergeChangeRequest(space_id=world.space, change_request_id=first.id))
    with pytest.raises(RequestError, match=r"merged page: too large: .* at most 20,000 are allowed"):
        await world.admin.send(MergeChangeRequest(space_id=world.space, change_request_id=second.id))


OLD = "[gone](gone.md) {% if x %}\n\n" * PAGE_LIMITS.parts


@pytest.fixture
async def old_world(service: RunningService) -> AsyncIterator[World]:
    """A space whose pages were stored before pages had limits."""
    planted = plant_world(
        service.database_url, service.base_url, [("Start", OLD), ("Guide", "Gone: [x](start.md#y).\n")]
    )
    yield planted
    for client in planted.clients.values():
        await client.aclose()


@pytest.mark.attack("deep and huge pages")
async def test_an_older_page_that_is_too_large_is_read_but_not_rendered(old_world: World) -> None:
    page = await old_world.admin.send(GetPage(space_id=old_world.space, page_id="start"))
    assert page.markdown == f"# Start\n\n{OLD}" and page.document is None
    with pytest.raises(RequestError, match=r"page: too large: .* at most 500,000 are allowed"):
        await old_world.admin.send(GetPage(space_id=old_world.space, page_id="start", format="document"))
    links = (await old_world.admin.send(ListSpaceLinks(space_id=old_world.space))).items
    assert [link.status for link in links] == ["ok"], "only the link to the page, whose anchors are not read"
    site, _ = await published(old_world)
    async with httpx.AsyncClient(follow_redirects=True) as web:
        assert "<p>This text is too large: " in (await web.get(f"{site}/start")).text
        found = (await web.get(site, params={"q": "gone"})).text
    assert "guide" in found and "[gone]" not in found, "no excerpt of a text whose conditions are not read"


@pytest.mark.attack("deep and huge pages")
async def test_older_pages_that_are_too_large_are_not_merged(old_world: World) -> None:
    drafts = [await old_world.draft(), await old_world.draft()]
    for draft in drafts:
        await old_world.edit(draft, rewrite("start", f"Short: {draft.id}.\n"))
    first, second = (MergeChangeRequest(space_id=old_world.space, change_request_id=draft.id) for draft in drafts)
    await old_world.admin.send(first)
    with pytest.raises(RequestError, match="page to merge: too large"):
        await old_world.admin.send(second)


@pytest.mark.attack("deep and huge pages")
async def test_list_of_large_comments_is_shorter_than_requested(world: World) -> None:
    """The comments of a response are together no larger than the largest page, in each format."""
    at: dict[str, Any] = {"space_id": world.space, "change_request_id": (await world.draft()).id}
    large = Document(markdown="a\n" * COMMENT_LIMITS.parts)
    ids = [(await world.admin.send(PostComment(**at, body=large))).id for _ in range(12)]
    first = await world.admin.send(ListComments(**at, format="document", order="asc"))
    assert first.next and (first.total, [comment.id for comment in first.items]) == (12, ids[:10])
    rest = await world.admin.send(ListComments(**at, order="asc", page=first.next.page))
    assert (rest.next, [comment.id for comment in rest.items]) == (None, ids[10:])
    replied: dict[str, Any] = {**at, "comment_id": ids[0]}
    for _ in range(11):
        await world.admin.send(PostReply(**replied, body=large))
    replies = await world.admin.send(ListReplies(**replied, format="document"))
    assert replies.next and len(replies.items) == 10


@pytest.mark.attack("deep and huge pages")
@pytest.mark.parametrize(
    ("pages", "reason"),
    [
        (["[a](b.md) " * (PAGE_LIMITS.parts - 1)] * 6, "many links: 119,994, at most 100,000"),
        (
            ["a" * PAGE_LIMITS.characters + str(number) for number in range(61)],
            "large: 30,500,112 characters, at most 30,000,000",
        ),
    ],
    ids=["links", "characters"],
)
async def test_links_of_a_space_have_limits(service: RunningService, pages: list[str], reason: str) -> None:
    space = plant_world(service.database_url, service.base_url, [(f"Page {at}", text) for at, text in enumerate(pages)])
    with pytest.raises(RequestError, match=f"pages: too {reason}"):
        await space.admin.send(ListSpaceLinks(space_id=space.space))
    for client in space.clients.values():
        await client.aclose()


@pytest.mark.attack("deep and huge pages")
async def test_older_comment_that_is_too_large_is_returned_in_its_format(world: World) -> None:
    at: dict[str, Any] = {"space_id": world.space, "change_request_id": (await world.draft()).id}
    posted = await world.admin.send(PostComment(**at, body=Document(markdown="a\n")))
    database, large = Database(world.database_url), "a\n" * (COMMENT_LIMITS.parts + 1)
    with database.writing.begin() as session:
        session.get_one(CommentRow, posted.id).body = {"markdown": large}
    database.close()
    [comment] = (await world.admin.send(ListComments(**at, format="document"))).items
    assert comment.body == Document(markdown=large)


@pytest.mark.attack("deep and huge pages")
async def test_body_with_many_values_is_refused_quickly(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    draft = await world.draft()
    headers = {"authorization": f"Bearer {world.tokens['admin']}", "content-type": "application/json"}
    path = f"/v1/spaces/{world.space}/change-requests/{draft.id}/content"

    async def refused(changes: str) -> tuple[int, str]:
        before = time.process_time()
        response = await http.post(path, content=f'{{"changes":[{changes}]}}')
        assert time.process_time() - before < 10, "it took a minute when each value was validated"
        return response.status_code, response.json()["error"]["message"]

    async with httpx.AsyncClient(base_url=world.base_url, headers=headers, timeout=60) as http:
        for kind, changes, reason in (
            ("numbers below the limit", "1," * 1_900_000 + "1", "changes.0: "),
            ("commas of a text", '"' + "," * 3 * MOST_VALUES + '"', "changes.0: "),
            ("files", '{"operation":"insert_files","files":[' + "1," * 1_900_000 + "1]}", "files.0: "),
        ):
            status, message = await refused(changes)
            assert status == 400 and reason in message, (kind, message)
        monkeypatch.setattr(operations, "MOST_VALUES", 20_000)
        for kind, changes in (
            ("many lists", "[]," * 20_000 + "[]"),
            ("many objects", '{"a":"\\"[","b":1},' * 7_000 + "{}"),
        ):
            status, message = await refused(changes)
            assert status == 413 and "more than 20,000 values" in message, (kind, message)
