"""Links, backlinks and orphans computed from cached pages equal those of the service."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from tests.engine.live_engine import running_engine
from tests.generated_docs.documentation import Documentation
from tests.running_service import RunningService

from presscheck.api.change_requests import ChangeRequest, ListOrganizationChangeRequests
from presscheck.api.content import (
    GetChangeRequestPage,
    GetChangeRequestRevision,
    GetCurrentRevision,
    GetPage,
    ListChangeRequestPages,
    ListPages,
    RevisionPage,
)
from presscheck.api.links import Link, ListChangeRequestPageLinks, ListPageBacklinks, ListSpaceLinks
from presscheck.api.operation import Operation
from presscheck.api.organizations import ListOrganizations
from presscheck.api.spaces import GetSpace, ListSpaces, Space
from presscheck.documents.markdown.link_report import orphan_pages
from presscheck.engine.engine import Engine
from presscheck.engine.search.backlinks import backlinks, links_in, links_of_space
from presscheck.errors import NotSupported
from presscheck.service.blobs.store import DiskBlobStore
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import system_clock
from presscheck.service.models.content import DocumentRow
from presscheck.service.models.organizations import UserRow
from presscheck.service.server.bootstrap import import_docs
from presscheck.store.cache import Cache

pytestmark = pytest.mark.service(sample=True, shared=True)


def every(pages: tuple[RevisionPage, ...]) -> list[RevisionPage]:
    return [found for page in pages for found in (page, *every(page.pages))]


async def spaces_of(engine: Engine) -> tuple[Space, ...]:
    organization = (await engine.read(ListOrganizations())).items[0]
    return (await engine.read(ListSpaces(organization_id=organization.id))).items


async def read_all(engine: Engine, space: Space) -> tuple[RevisionPage, ...]:
    """Read every page of a space into the cache. Returns the page tree."""
    revision = await engine.read(GetCurrentRevision(space_id=space.id))
    pages = [page for page in every(revision.pages) if page.type == "document"]
    await asyncio.gather(*(engine.read(GetPage(space_id=space.id, page_id=one.id, format="markdown")) for one in pages))
    return revision.pages


async def same(engine: Engine, space: Space, pages: tuple[RevisionPage, ...]) -> tuple[Link, ...]:
    """Check that links and orphans from the cache equal those of the service. Returns the links."""
    told = await links_of_space(engine, space.id)
    [_] = [seen async for seen in engine.search("all is read up", index_timeout=600, local_only=True)]
    here = await engine.local_links(space.id)
    assert here
    assert (here.unread, told.is_from_service) == ((), True)
    ours = here.links.as_links(here.links.usages)
    assert [one.model_dump() for one in ours] == [one.model_dump() for one in told.items]
    assert orphan_pages(pages, ours) == orphan_pages(pages, told.items)
    return told.items


async def test_local_links_equal_those_of_the_service(service: RunningService, tmp_path: Path) -> None:
    async with running_engine(service, tmp_path) as engine:
        found = [
            link
            for space in await spaces_of(engine)
            for link in await same(engine, space, await read_all(engine, space))
        ]
        assert len(found) > 10
        for space in await spaces_of(engine):
            here = await engine.local_links(space.id)
            assert here
            for page in every((await engine.read(ListPages(space_id=space.id))).pages)[:3]:
                told = await backlinks(engine, space.id, page.id)
                assert [one.model_dump() for one in here.links.to("page", page.id)] == [
                    one.model_dump() for one in told.items
                ]


@pytest.mark.slow
@pytest.mark.documentation("varied-1")
async def test_local_links_of_documentation_equal_those_of_the_service(
    tmp_path: Path, documentation: Documentation
) -> None:
    service = RunningService(tmp_path)
    database = Database(service.database_url)
    with database.writing.begin() as session:
        owner = session.get_one(UserRow, service.owner_id)
        import_docs(session, system_clock, owner, DiskBlobStore(tmp_path), (documentation.directory,))
        session.flush()
        texts = dict(session.execute(select(DocumentRow.id, DocumentRow.markdown)).all())
    database.close()
    service.start()
    async with running_engine(service, tmp_path) as engine:
        for space in await spaces_of(engine):
            revision = await engine.read(GetCurrentRevision(space_id=space.id))
            await engine.in_store(partial(keep_texts, space=space, pages=revision.pages, texts=texts))
            assert len(await same(engine, space, revision.pages)) > 50
    service.stop()


def keep_texts(cache: Cache, space: Space, pages: tuple[RevisionPage, ...], texts: dict[str, str]) -> None:
    """Store the responses for pages in the cache, because requesting hundreds of pages takes long."""
    for page in every(pages):
        if page.document_id:
            text = f"# {page.title}\n\n{texts[page.document_id]}"
            answer = {"id": page.id, "type": page.type, "title": page.title, "path": page.path, "markdown": text}
            answer["documentId"] = page.document_id
            call = GetPage(space_id=space.id, page_id=page.id, format="markdown")
            cache.keep(call.key(), json.dumps(answer).encode(), 1.0)


async def request_with_pages(engine: Engine) -> tuple[ChangeRequest, tuple[RevisionPage, ...]]:
    """Read the pages that a change request of the sample content edits.

    Returns:
        The change request and its page tree.
    """
    organization = (await engine.read(ListOrganizations())).items[0]
    listed = await engine.read(ListOrganizationChangeRequests(organization_id=organization.id, status="open"))
    request = next(one for one in listed.items if "auth guide" in one.subject)
    path = {"space_id": request.space, "change_request_id": request.id}
    live = {page.id: page for page in every((await engine.read(ListPages(space_id=request.space))).pages)}
    pages = (await engine.read(ListChangeRequestPages(**path))).pages
    for page in every(pages):
        if page.id not in live or live[page.id].document_id != page.document_id:
            await engine.read(GetChangeRequestPage(**path, page_id=page.id, format="markdown"))
    return request, pages


async def test_links_of_a_change_request_include_unchanged_pages(service: RunningService, tmp_path: Path) -> None:
    async with running_engine(service, tmp_path) as engine:
        request, pages = await request_with_pages(engine)
        await read_all(engine, await engine.read(GetSpace(space_id=request.space)))
        await engine.read(GetChangeRequestRevision(space_id=request.space, change_request_id=request.id))
        here = await engine.local_links(request.space, request.id)
        assert here
        assert here.unread == ()
        for page in every(pages):
            call = ListChangeRequestPageLinks(
                space_id=request.space, change_request_id=request.id, page_id=page.id, limit=1000
            )
            told = (await engine.read(call)).items
            ours = here.links.as_links(here.links.of_page(page.id))
            assert [one.model_dump() for one in ours] == [one.model_dump() for one in told], page.title


def test_newest_cached_page_tree_is_used(tmp_path: Path) -> None:
    def tree(*names: str) -> bytes:
        pages = [{"id": name, "type": "document", "title": name, "documentId": f"d-{name}"} for name in names]
        return json.dumps({"id": "r", "pages": pages}).encode()

    revision, pages = GetCurrentRevision(space_id="s").key(), ListPages(space_id="s").key()
    cache = Cache(tmp_path / "cache.sqlite")
    cache.keep(revision, tree("old"), 1.0)
    for key, names, at, newest in ((pages, ["new"], 2.0, "new"), (revision, ["newer"], 3.0, "newer")):
        cache.keep(key, tree(*names), at)
        found = links_in(cache, "s", None)
        assert found
        assert found.unread == (newest,)
    cache.close()


async def test_uses_in_other_spaces_are_found_in_cached_pages(service: RunningService, tmp_path: Path) -> None:
    async with running_engine(service, tmp_path) as engine:
        spaces = {space.id: space for space in await spaces_of(engine)}
        pages = (await engine.read(ListPages(space_id="guides"))).pages
        first, second, *others = (page for page in every(pages) if page.document_id)
        address = "/~/spaces/notes/~/reusable/piece"
        include, link = f'{{% include "{address}" %}}', "[No](/~/reusable/piece)"
        texts = {str(first.document_id): include, str(second.document_id): link}
        await engine.in_store(partial(keep_texts, space=spaces["guides"], pages=(first, second), texts=texts))
        found = await engine.uses_elsewhere("notes", frozenset((address,)))
    assert [(space.id, page.id) for space, page in found.pages] == [("guides", first.id)]
    assert found.unread == len(others)
    assert {space.id for space in found.not_searched} == spaces.keys() - {"guides", "notes"}


async def test_uses_of_a_specification_are_cached_pages_with_its_blocks(
    service: RunningService, tmp_path: Path
) -> None:
    async with running_engine(service, tmp_path) as engine:
        spaces = {space.id: space for space in await spaces_of(engine)}
        pages = [page for page in every((await engine.read(ListPages(space_id="guides"))).pages) if page.document_id]
        by_slug, by_address, other, in_code, *unread = pages
        texts = {
            str(
                by_slug.document_id
            ): '{% openapi-operation spec="parcels" path="/a" method="get" %}x{% endopenapi-operation %}',
            str(by_address.document_id): '{% openapi src="https://example.org/a.yaml" path="/a" %}x{% endopenapi %}',
            str(
                other.document_id
            ): '{% openapi-operation spec="parcels-2" path="/a" %}x{% endopenapi-operation %} parcels',
            str(in_code.document_id): '```\n{% openapi-operation spec="parcels" %}\n```\n',
        }
        shown = (by_slug, by_address, other, in_code)
        await engine.in_store(partial(keep_texts, space=spaces["guides"], pages=shown, texts=texts))
        names = frozenset(("parcels", "https://example.org/a.yaml"))
        found = await engine.specification_uses("tallowick", names)
    assert [(space.id, page.id) for space, page in found.pages] == [("guides", by_slug.id), ("guides", by_address.id)]
    assert found.unread == len(unread)
    assert {space.id for space in found.not_searched} == spaces.keys() - {"guides"}


async def test_without_link_operations_cached_pages_are_used(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running_engine(service, tmp_path) as engine:
        read = engine.read

        async def without_links(call: Operation[Any], **options: Any) -> Any:
            if isinstance(call, ListSpaceLinks | ListPageBacklinks):
                raise NotSupported("This service has no links", request=str(call), status=404)
            return await read(call, **options)

        monkeypatch.setattr(engine, "read", without_links)
        [api] = [space for space in await spaces_of(engine) if space.id == "api"]
        tree = every((await engine.read(ListPages(space_id=api.id))).pages)
        found = await links_of_space(engine, api.id)
        assert (found.items, found.is_from_service) == ((), False)
        assert found.unread == sum(page.type == "document" for page in tree)
        await read_all(engine, api)
        found = await links_of_space(engine, api.id)
        assert (found.unread, found.is_from_service) == (0, False)
        assert len(found.items) > 5
        [tokens] = [page for page in tree if page.title == "Tokens"]
        back = await backlinks(engine, api.id, tokens.id)
        assert "Authentication" in [one.page.title for one in back.items if one.page]
        assert (await engine.local_links("no such space")) is None


async def test_cached_links_of_the_service_are_used_offline(service: RunningService, tmp_path: Path) -> None:
    async with running_engine(service, tmp_path) as engine:
        told = await links_of_space(engine, "api")
        assert told.is_from_service
        assert await engine.read(ListSpaceLinks(space_id="api", limit=1000))
