"""Random edits of documentation, through the editor and the service, change only what was edited."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from typing import Any

import pytest
from tests.documents.diff_on_documentation import KINDS
from tests.generated_docs.documentation import Documentation

from presscheck.api.change_requests import CreateChangeRequest, MergeChangeRequest, UpdateChangeRequest
from presscheck.api.comments import Document
from presscheck.api.content import GetChangeRequestPage
from presscheck.api.content_changes import EditChangeRequestContent, GetChangeRequestChanges, InsertPage, UpdatePage
from presscheck.client.client import Client
from presscheck.tui.screens.page.markdown import EditorPage, from_editor, to_editor

EDITS = int(os.environ.get("PRESSCHECK_CASES", "2"))
"""Number of edits of each kind; `make edits` sets 25."""
PAGES = min(40, 12 * EDITS)
MOST_BLOCKS = 3
"""Maximum number of blocks that an edit replaces: a list item with another marker splits its list into three."""
SPACE = {"space_id": "runbook"}

pytestmark = [pytest.mark.documentation("handbook", "varied"), pytest.mark.service(shared=False)]


async def shown(client: Client, path: dict[str, Any], page: str) -> EditorPage:
    """Read a page and return it as the editor shows it."""
    found = await client.send(GetChangeRequestPage(**path, page_id=page, format="markdown"))
    return to_editor(found.title, found.markdown or "")


async def blocks(client: Client, path: dict[str, Any], page: str) -> Counter[str]:
    """Count the top-level blocks of a page, each as the JSON of its node."""
    found = await client.send(GetChangeRequestPage(**path, page_id=page, format="document"))
    return Counter(json.dumps(node, sort_keys=True) for node in (found.document or {}).get("nodes", []))


async def new_request(client: Client) -> dict[str, Any]:
    """Create a change request. Returns its ids."""
    made = await client.send(CreateChangeRequest(**SPACE, subject="Edits"))
    return {**SPACE, "change_request_id": made.id}


async def merged_pages(client: Client, texts: list[str]) -> list[str]:
    """Merge new pages with these texts. Returns their ids."""
    path, ids = await new_request(client), list[str]()
    for number, text in enumerate(texts):
        insert = InsertPage(title=f"Page {number}", document=Document(markdown=text))
        answer = await client.send(EditChangeRequestContent(**path, changes=(insert,), compat=False))
        ids += [created.page_id for created in answer.changes if created.object == "created_page"]
    await client.send(UpdateChangeRequest(**path, status="open"))
    await client.send(MergeChangeRequest(**path))
    return ids


@pytest.mark.slow
async def test_edits_change_only_what_was_edited(documentation: Documentation, client: Client) -> None:
    chance = random.Random(documentation.name)
    pages = [page for page in documentation.pages if len(page.text) < 50_000]
    texts = [page.text.replace("\r\n", "\n") for page in chance.sample(pages, min(PAGES, len(pages)))]
    ids = await merged_pages(client, texts)
    path = await new_request(client)
    edited = set[str]()
    for kind in sorted(KINDS.keys() - {"front"}):  # front matter becomes details of the page
        done = 0
        for _ in range(EDITS * 100):
            page = chance.choice(ids)
            before = await shown(client, path, page)
            change = KINDS[kind](chance, before.text.split("\n"))
            if change is None or (edit := from_editor(before, "\n".join(change[0]))) is None:
                continue
            old = await blocks(client, path, page)
            new_title = {"title": edit.title} if edit.title else {}
            update = UpdatePage(page=page, document=Document(markdown=edit.markdown), **new_title)
            await client.send(EditChangeRequestContent(**path, changes=(update,)))
            lines = (await shown(client, path, page)).text.rstrip().split("\n")
            assert lines == "\n".join(change[0]).rstrip().split("\n"), f"{kind}: {before.text!r}"
            new = await blocks(client, path, page)
            assert (old - new).total() <= MOST_BLOCKS, f"{kind}: {before.text!r}"
            assert (new - old).total() <= MOST_BLOCKS, f"{kind}: {before.text!r}"
            edited.add(page)
            done += 1
            if done == EDITS:
                break
        assert done == EDITS, f"{documentation.name} has too few pages for {kind}"
    changes = (await client.send(GetChangeRequestChanges(**path, limit=1000))).changes
    changed = {(change.type, change.page.id) for change in changes if change.page}
    assert changed == {("page_edited", page) for page in edited}
