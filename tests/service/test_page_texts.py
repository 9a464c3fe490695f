"""Options for reading pages: evaluated, with reusable content inserted, with links by id; and meta links."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service.factories import World

from presscheck.api.content import (
    GetCurrentRevision,
    GetPage,
    GetRevisionPageByPath,
    GetRevisionPageDocument,
    GetRevisionReusableContentDocument,
    ListPageMetaLinks,
    ListRevisionPageMetaLinks,
)
from presscheck.client.client import Client
from presscheck.errors import NotFound, RequestError
from presscheck.service.blobs.store import DiskBlobStore
from presscheck.service.content import page_texts
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import new_id, system_clock
from presscheck.service.models.content import RevisionRow
from presscheck.service.models.imports import TranslationRow
from presscheck.service.models.organizations import UserRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.server.bootstrap import import_docs

BOOK = {
    "SUMMARY.md": "# The Lamp Book\n\n* [Home](README.md)\n* [Start](guide/start.md)\n* [Loop](loop.md)\n",
    "README.md": "# Home\n\nHello.\n",
    "loop.md": '# Loop\n\n{% include ".gitbook/includes/loop.md" %}\n\n{% include "gone.md" %}\n',
    "guide/start.md": (
        "# Start\n\n"
        "![Sky](../.gitbook/assets/sky.svg) at [home](../README.md), [there](start.md#a-b), [away](https://example.org)\n\n"
        '* An item:\n\n  {% include "../.gitbook/includes/note.md" %}\n\n'
        '{% include "../.gitbook/includes/note.md" %}\n\n'
        "{% if visitor.claims.isBeta %}\nSecret.\n{% endif %}\n\n"
        'Version <code class="expression">space.vars.version</code> of '
        '<code class="expression">space.vars.none</code>.\n\n'
        '```\n{% include "../.gitbook/includes/note.md" %}\n<code class="expression">space.vars.version</code>\n```\n'
    ),
    ".gitbook/assets/sky.svg": '<svg xmlns="http://www.w3.org/2000/svg"/>',
    ".gitbook/includes/note.md": "---\ntitle: A note\n---\nMind the [step](../../README.md#s).\n\nAgain.\n",
    ".gitbook/includes/loop.md": '---\ntitle: Loop\n---\nOnce.\n\n{% include "loop.md" %}\n',
}
VERSION = "*2* | {% if x %}"


class Book:
    """A space that was imported from a repository, with a variable."""

    def __init__(self, client: Client, service: RunningService, space: str, revision: Any) -> None:
        self.client, self.service, self.space, self.revision = client, service, space, revision
        self.at = {"space_id": space, "revision_id": revision.id}
        self.pages = {page.title: page.id for page in revision.pages}

    async def markdown(self, title: str, **how: Any) -> str:
        call = GetPage(space_id=self.space, page_id=self.pages[title], format="markdown", **how)
        return (await self.client.send(call)).markdown or ""

    async def nodes(self, title: str, **how: Any) -> list[dict[str, Any]]:
        call = GetRevisionPageDocument(**self.at, page_id=self.pages[title], **how)
        return list((await self.client.send(call)).nodes)


@pytest.fixture
async def book(tmp_path: Path, database_url: str) -> AsyncIterator[Book]:
    for name, text in BOOK.items():
        (tmp_path / "book" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "book" / name).write_text(text)
    service = RunningService(tmp_path, database_url=database_url)
    database = Database(service.database_url)
    with database.writing.begin() as session:
        owner = session.get_one(UserRow, service.owner_id)
        assert import_docs(session, system_clock, owner, DiskBlobStore(tmp_path), (tmp_path / "book",)) == [
            f"{tmp_path}/book/loop.md:5: gone.md: snippet not found"
        ]
        space = session.query(SpaceRow).filter(SpaceRow.title == "The Lamp Book").one()
        session.get_one(RevisionRow, space.revision_id).variables = {"version": VERSION}
        space_id = space.id
    database.close()
    service.start()
    async with Client(service.base_url, service.token) as client:
        yield Book(client, service, space_id, await client.send(GetCurrentRevision(space_id=space_id)))
    service.stop()


async def test_links_are_relative_or_contain_ids(book: Book) -> None:
    relative = await book.markdown("Start")
    assert "(../README.md)" in relative and "(start.md#a-b)" in relative
    assert await book.markdown("Start", format_markdown_refs="relative") == relative
    stable = await book.markdown("Start", format_markdown_refs="stable")
    here = f"/spaces/{book.space}"
    for address in (
        f"![Sky]({here}/files/{book.revision.files[0].id})",
        f"[home]({here}/pages/{book.pages['Home']})",
        f"[there]({here}/pages/{book.pages['Start']}#a-b)",
        "[away](https://example.org)",
        f'{{% include "{here}/reusable-content/{book.revision.reusable_contents[1].id}" %}}',
        '```\n{% include "../.gitbook/includes/note.md" %}',
    ):
        assert address in stable
    whole = await book.markdown("Start", format_markdown_refs="stable", dereferenced=True)
    assert f"[step]({here}/pages/{book.pages['Home']}#s)" in whole


async def test_reusable_content_replaces_its_include_tags(book: Book) -> None:
    text = await book.markdown("Start", dereferenced="reusable-contents")
    assert "* An item:\n\n  Mind the [step](../README.md#s).\n\n  Again.\n" in text
    assert text.count("{% include") == 1, "code stays as it is"
    assert "reusable-content" in json.dumps(await book.nodes("Start"))
    nodes = json.dumps(await book.nodes("Start", dereferenced=True))
    assert "reusable-content" not in nodes and "Again." in nodes


async def test_recursive_include_ends_and_missing_include_stays(book: Book) -> None:
    text = await book.markdown("Loop", dereferenced=True)
    assert text.count("Once.") == 1
    assert '{% include "gone.md" %}' in text and "loop.md" not in text


@pytest.mark.attack("deep and huge pages")
async def test_page_that_includes_too_much_is_refused(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_texts, "LARGEST", 20)
    with pytest.raises(RequestError, match="page: too large"):
        await book.nodes("Start", dereferenced=True)


async def test_conditions_and_variables_are_evaluated(book: Book) -> None:
    as_written = await book.markdown("Start")
    assert "Secret." in as_written and as_written.count("space.vars.version") == 2
    text = await book.markdown("Start", evaluated="deterministic-only")
    assert "Secret." not in text and "{% if" not in text
    assert "space.vars.none" in text, "the value is not known"
    assert text.count("space.vars.version") == 1, "code stays as it is"
    nodes = await book.nodes("Start", evaluated=True)
    [said] = [node for node in nodes if "Version" in json.dumps(node)]
    assert f"Version {VERSION.partition('{')[0].strip()}" in "".join(
        leaf["text"] for one in said["nodes"] for leaf in one.get("leaves", ())
    )


async def test_a_page_of_a_revision_is_read_by_path_and_reusable_content_by_id(book: Book) -> None:
    page = await book.client.send(GetRevisionPageByPath(**book.at, page_path="start"))
    assert page.id == book.pages["Start"] and page.document and page.markdown
    with pytest.raises(NotFound):
        await book.client.send(GetRevisionPageByPath(**book.at, page_path="guide"))
    note = book.revision.reusable_contents[1]
    call = GetRevisionReusableContentDocument(**book.at, reusable_content_id=note.id)
    document = await book.client.send(call)
    assert [node["type"] for node in document.nodes] == ["paragraph", "paragraph"]
    assert f'"page": "{book.pages["Home"]}"' in json.dumps(document.nodes)
    with pytest.raises(NotFound):
        await book.client.send(GetRevisionPageDocument(**book.at, page_id="none"))


async def test_meta_links_name_the_translations_that_the_caller_sees(world: World) -> None:
    database = Database(world.database_url)
    with database.writing.begin() as session:
        source = session.get_one(SpaceRow, world.space)
        columns = {column.key: getattr(source, column.key) for column in SpaceRow.__table__.columns}
        for language in ("de", "fr"):
            session.add(SpaceRow(**columns | {"id": language, "title": language, "language": language}))
            session.add(
                TranslationRow(
                    id=new_id(),
                    organization_id=world.organization,
                    source_space=world.space,
                    source_language="en",
                    language=language,
                    instructions={},
                    status="completed",
                    result_space=language,
                    created_by=world.users["admin"],
                    created_at=source.created_at,
                    updated_at=source.created_at,
                )
            )
        session.flush()
        session.get_one(SpaceRow, "fr").default_level = None
    database.close()

    async def spaces(user: str, space: str) -> list[str | None]:
        links = await world.clients[user].send(ListPageMetaLinks(space_id=space, page_id="guide"))
        assert {(link.kind, link.page) for link in links.alternates or ()} <= {("page", "guide")}
        return [link.space for link in links.alternates or ()]

    assert await spaces("admin", world.space) == ["de", "fr"]
    assert await spaces("read", world.space) == ["de"], "the other one is private"
    assert set(await spaces("read", "de")) == {world.space}
    revision = (await world.admin.send(GetCurrentRevision(space_id=world.space))).id
    call = ListRevisionPageMetaLinks(space_id=world.space, revision_id=revision, page_id="guide")
    assert len((await world.admin.send(call)).alternates or ()) == 2
    with pytest.raises(NotFound):
        await world.admin.send(ListPageMetaLinks(space_id=world.space, page_id="none"))
