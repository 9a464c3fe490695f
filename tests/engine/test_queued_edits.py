"""Edits of pages and of the page tree that wait in the outbox while other users edit the same change request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.engine.live_engine import running_engine, until
from tests.running_service import RunningService

from presscheck.api.comments import Document
from presscheck.api.content import GetChangeRequestPage, ListChangeRequestPages
from presscheck.api.content_changes import DeletePage, EditChangeRequestContent, InsertPage, UpdatePage
from presscheck.client.client import Client
from presscheck.documents.pages.tree import flatten
from presscheck.engine.engine import Engine
from presscheck.engine.writes.page_merge import CONFLICT, page_base
from presscheck.engine.writes.queued_edits import edits_of_page, queue_edit
from presscheck.engine.writes.tree_merge import EDITED, NotNow, change_tree
from presscheck.store.outbox import NEW

pytestmark = pytest.mark.service(sample=True)
PATH = {"space_id": "guides", "change_request_id": "3"}
TEXT = "one\n\ntwo\n\nthree"


def content(*changes: Any) -> EditChangeRequestContent:
    return EditChangeRequestContent(**PATH, changes=changes, compat=False)


def written(page: str, text: str) -> UpdatePage:
    return UpdatePage(page=page, document=Document(markdown=text))


async def new_page(engine: Engine) -> tuple[str, str]:
    """Add a page to the change request. Returns its id and its text."""
    added = await engine.write(content(InsertPage(title="Page", document=Document(markdown=TEXT)))).landed()
    page = added.changes[0].page_id or ""
    return page, await text_of(engine, page)


async def text_of(reader: Engine | Client, page: str) -> str:
    read = GetChangeRequestPage(**PATH, page_id=page, format="markdown")
    return (await (reader.read(read) if isinstance(reader, Engine) else reader.send(read))).markdown or ""


async def titles(client: Client) -> list[str]:
    return [page.title for page in flatten((await client.send(ListChangeRequestPages(**PATH))).pages)]


async def all_sent(engine: Engine) -> None:
    await until(lambda: not engine.outbox.rows())


async def test_queued_edit_is_merged_with_an_edit_of_others(service: RunningService, tmp_path: Path) -> None:
    async with running_engine(service, tmp_path) as engine:
        page, before = await new_page(engine)
        service.stop()
        once, twice = before.replace("one", "ONE"), before.replace("one", "ONE").replace("two", "TWO")
        engine.write(content(written(page, once)), base=page_base("Page", before))
        engine.write(content(written(page, twice)), base=page_base("Page", once))
        await until(lambda: not engine.status.online)
    service.start()
    async with Client(service.base_url, service.token) as client:
        await client.send(content(written(page, before.replace("three", "THREE"))))
        async with running_engine(service, tmp_path) as engine:
            await all_sent(engine)
        assert [word for word in (await text_of(client, page)).split() if word.isalpha()][-3:] == [
            "ONE",
            "TWO",
            "THREE",
        ]


async def test_an_edit_of_the_same_lines_is_a_conflict(service: RunningService, tmp_path: Path) -> None:
    async with running_engine(service, tmp_path) as engine:
        page, before = await new_page(engine)
        service.stop()
        engine.write(content(written(page, before.replace("one", "mine"))), base=page_base("Page", before))
        await until(lambda: not engine.status.online)
    service.start()
    async with Client(service.base_url, service.token) as client:
        await client.send(content(written(page, before.replace("one", "theirs"))))
        async with running_engine(service, tmp_path) as engine:
            await until(lambda: [row.state for row in engine.outbox.rows()] == ["refused"])
            [row] = engine.outbox.rows()
            assert (row.error or "").startswith(CONFLICT)
            assert "mine" in row.given["changes"][0]["document"]["markdown"]
        assert "theirs" in await text_of(client, page)


async def test_the_page_tree_is_changed_while_offline(service: RunningService, tmp_path: Path) -> None:
    async with running_engine(service, tmp_path) as engine:
        page, before = await new_page(engine)
        await engine.read(ListChangeRequestPages(**PATH))
        service.stop()
        engine.write(content(written(page, before.replace("one", "ONE"))), base=page_base("Page", before))
        await until(lambda: not engine.status.online)
        assert await change_tree(engine, PATH, [InsertPage(title="New", document=Document(markdown="x"))]) is None
        await change_tree(engine, PATH, [UpdatePage(page=page, title="Renamed")])
        with pytest.raises(NotNow, match=EDITED):
            await change_tree(engine, PATH, [DeletePage(page=page)])
    service.start()
    async with Client(service.base_url, service.token) as client:
        await client.send(content(InsertPage(title="Theirs", document=Document(markdown="y"))))
        async with running_engine(service, tmp_path) as engine:
            await all_sent(engine)
        found = await titles(client)
        assert [found.count(title) for title in ("New", "Theirs", "Renamed", "Page")] == [1, 1, 1, 0]
        assert "ONE" in await text_of(client, page)


async def test_edit_of_a_queued_edit_replaces_it_and_keeps_its_title(service: RunningService, tmp_path: Path) -> None:
    async with running_engine(service, tmp_path) as engine:
        page, before = await new_page(engine)
        service.stop()
        renamed = UpdatePage(page=page, title="Renamed", document=Document(markdown=before.replace("one", "ONE")))
        first = queue_edit(engine, PATH, renamed, page_base("Page", before))
        await until(lambda: not engine.status.online)
        pending = await text_of(engine, page)
        assert "ONE" in pending
        follows = written(page, pending.replace("two", "TWO"))
        assert queue_edit(engine, PATH, follows, page_base("Renamed", pending)) == first
        beside = queue_edit(engine, PATH, written(page, before.replace("three", "THREE")), page_base("Page", before))
        assert beside != first, "it was not written on what waits"
        edits = [(row.id, edit.title) for row, edit in edits_of_page(engine.outbox, "3", page)]
        assert edits == [(first, "Renamed"), (beside, None)]
    service.start()
    async with running_engine(service, tmp_path) as engine:
        await all_sent(engine)
    async with Client(service.base_url, service.token) as client:
        text = await text_of(client, page)
        assert all(word in text for word in ("ONE", "TWO", "THREE"))
        assert "Renamed" in await titles(client)


async def test_page_that_is_not_added_yet_can_be_read_offline(service: RunningService, tmp_path: Path) -> None:
    async with running_engine(service, tmp_path) as engine:
        await engine.read(ListChangeRequestPages(**PATH))
        service.stop()
        await engine.read(ListChangeRequestPages(**PATH))
        await until(lambda: not engine.status.online)
        assert await change_tree(engine, PATH, [InsertPage(title="New", document=Document(markdown=TEXT))]) is None
        [row] = engine.outbox.rows()
        page = await engine.read(GetChangeRequestPage(**PATH, page_id=f"{NEW}{row.id}", format="markdown"))
        assert (page.title, page.markdown) == ("New", TEXT)
