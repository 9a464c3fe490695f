"""Pages, comments and edits as document nodes, through the real client, on both engines."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from tests.documents.node_schema import DOCUMENTED, faults_of
from tests.service.factories import World, rewrite

from presscheck import errors
from presscheck.api import content
from presscheck.api.comments import Document, GetComment, ListReplies, PostComment, PostReply
from presscheck.api.content import RevisionPage
from presscheck.api.content_changes import EditChangeRequestContent, InsertFiles, InsertPage, NewFile, UpdatePage

TEXT = """See [the guide](guide.md#second), [![Sky](sky.png)](start.md) and [the web](https://example.org/guide.md).

{% hint style="warning" %}
Mind *this*.
{% endhint %}

{% file src="sky.png" %}

{% content-ref url="guide.md" %}
[guide.md](guide.md)
{% endcontent-ref %}
"""


def refs(node: Any) -> list[dict[str, Any]]:
    """Return all references of a document, in order."""
    if isinstance(node, list):
        return [ref for one in node for ref in refs(one)]
    if not isinstance(node, dict):
        return []
    own = [node["data"]["ref"]] if "ref" in (node.get("data") or {}) else []
    return own + refs(node.get("nodes")) + refs(node.get("fragments"))


class Draft:
    """A change request in which the page `start` has TEXT; `picture` is the id of its image."""

    def __init__(self, world: World, at: dict[str, str], picture: str) -> None:
        self.world, self.at, self.picture = world, at, picture

    async def page(self, page_id: str, shape: Any = "document") -> RevisionPage:
        return await self.world.admin.send(content.GetChangeRequestPage(**self.at, page_id=page_id, format=shape))


@pytest.fixture
async def draft(world: World) -> Draft:
    made = await world.draft()
    picture = NewFile(name="sky.png", base64=base64.b64encode(b"picture").decode())
    answer = await world.edit(made, InsertFiles(files=(picture,)), rewrite("start", TEXT))
    assert answer.inserted_files
    return Draft(world, {"space_id": world.space, "change_request_id": made.id}, answer.inserted_files[0].id)


async def test_page_without_a_format_has_markdown_and_nodes(world: World) -> None:
    at = {"space_id": world.space, "page_id": "guide"}
    markdown, nodes = (
        await world.admin.send(content.GetPage(**at, format="markdown")),
        await world.admin.send(content.GetPage(**at, format="document")),
    )
    assert markdown.document is None and nodes.markdown is None
    both = await world.admin.send(content.GetPage(**at))
    assert both.markdown == markdown.markdown and both.document == nodes.document
    by_path = content.GetPageByPath(space_id=world.space, page_path="guide")
    assert await world.admin.send(by_path) == both


async def test_nodes_refer_to_pages_and_files_by_id(draft: Draft) -> None:
    page = await draft.page("start")
    assert page.document
    assert faults_of(page.document, DOCUMENTED) == []
    assert refs(page.document["nodes"]) == [
        {"kind": "anchor", "anchor": "second", "page": "guide"},
        {"kind": "page", "page": "start"},
        {"kind": "file", "file": draft.picture},
        {"kind": "url", "url": "https://example.org/guide.md"},
        {"kind": "file", "file": draft.picture},
        {"kind": "page", "page": "guide"},
    ]


async def test_a_page_round_trips_as_nodes(world: World, draft: Draft) -> None:
    before, page = await draft.page("start", "markdown"), await draft.page("start")
    change = UpdatePage(page="start", document=Document(document=page.document))
    await world.admin.send(_edit(draft, change))
    assert before.markdown and (await draft.page("start", "markdown")).markdown == before.markdown.replace("*", "_")
    assert (await draft.page("start")).document == page.document


async def test_pages_are_created_from_nodes(world: World, draft: Draft) -> None:
    link = {"object": "inline", "type": "link", "data": {"ref": {"kind": "page", "page": "guide"}}, "nodes": text("it")}
    away = {"kind": "page", "page": "p1", "space": "elsewhere"}
    mention = {"object": "inline", "type": "mention", "isVoid": True, "data": {"ref": away}}
    nodes = [{"object": "block", "type": "paragraph", "nodes": [*text("Read "), link, *text(", "), mention]}]
    document = Document(document={"object": "document", "data": {}, "nodes": nodes})
    await world.admin.send(_edit(draft, InsertPage(title="New", into="guide", document=document)))
    page = (await draft.page("guide")).pages[0]
    read = await draft.page(page.id, "markdown")
    origin = world.base_url.removesuffix("/v1")
    assert read.markdown == f'# New\n\nRead [it](../guide.md), [p1]({origin}/app/spaces/elsewhere/pages/p1 "mention")\n'
    again = await draft.page(page.id)
    assert again.document and [ref["kind"] for ref in refs(again.document["nodes"])] == ["page", "page"]
    empty = Document(document={"object": "document", "data": {}, "nodes": []})
    await world.admin.send(_edit(draft, UpdatePage(page=page.id, document=empty)))
    emptied = await draft.page(page.id)
    assert emptied.title == "New" and emptied.document_id is None and emptied.document == empty_tree()


async def test_invalid_nodes_are_refused_with_their_path(draft: Draft) -> None:
    wrong = {"object": "document", "data": {}, "nodes": [{"object": "block", "type": "loud"}]}
    for change in (
        UpdatePage(page="start", document=Document(document=wrong)),
        InsertPage(title="New", document=Document(document=wrong)),
    ):
        with pytest.raises(errors.Refused, match=r"document\.nodes\[0\]\.type: 'loud' is not allowed here"):
            await draft.world.admin.send(_edit(draft, change))


async def test_comments_are_returned_in_the_requested_format(draft: Draft) -> None:
    send = draft.world.admin.send
    written = await send(PostComment(**draft.at, body=Document(markdown="Is *it*?")))
    at = {**draft.at, "comment_id": written.id}
    told = await send(GetComment(**at, format="document"))
    assert told.body.markdown is None and told.body.document
    assert (await send(GetComment(**at, format="markdown"))).body.markdown == "Is *it*?"
    await send(PostReply(**at, body=Document(document=told.body.document)))
    listed = await send(ListReplies(**at, format="markdown"))
    assert [item.body.markdown for item in listed.items] == ["Is _it_?\n"]
    bad = Document(document={"object": "document", "data": {}, "nodes": [{"object": "text"}]})
    with pytest.raises(errors.Refused, match=r"nodes\[0\]\.object: is not block"):
        await send(PostComment(**draft.at, body=bad))


def text(words: str) -> list[dict[str, Any]]:
    return [{"object": "text", "leaves": [{"object": "leaf", "text": words, "marks": []}]}]


def empty_tree() -> dict[str, Any]:
    return {"object": "document", "data": {"schemaVersion": 1}, "nodes": []}


def _edit(draft: Draft, change: Any) -> Any:
    return EditChangeRequestContent(**draft.at, changes=(change,), compat=False)
