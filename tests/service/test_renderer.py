"""The requests of a site renderer for every page; each response matches the newest published API description."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.contract.description import NEWEST, Described, operations
from tests.contract.operations import wire_route
from tests.generated_docs.repositories import varied
from tests.running_service import RunningService
from tests.service.api_schemas import faults

from presscheck.api.content import (
    GetRevision,
    GetRevisionPage,
    GetRevisionPageByPath,
    GetRevisionPageDocument,
    GetRevisionReusableContentDocument,
    ListRevisionPageMetaLinks,
)
from presscheck.api.embeds import GetSpaceEmbed
from presscheck.api.operation import Operation
from presscheck.api.organizations import ListOrganizations
from presscheck.api.published_sites import GetPublishedSite, SearchSite, SiteSearchScope
from presscheck.api.site_settings import GetRedirectBySource
from presscheck.api.sites import CreateSite, PublishSite, Site
from presscheck.api.spaces import GetSpace, ListSpaces
from presscheck.api.url_lookup import PublishedSiteContent, ResolvePublishedContent, Visitor
from presscheck.client.client import Client
from presscheck.documents.pages.tree import flatten
from presscheck.errors import NotFound
from presscheck.service.blobs.store import DiskBlobStore
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import system_clock
from presscheck.service.models.organizations import UserRow
from presscheck.service.server.bootstrap import import_docs


class Renderer:
    """Sends the requests of a site renderer in their order, and compares each response with the API description.

    Args:
        client: a client of a user that sees all spaces.
        base_url: the URL of the API.
    """

    def __init__(self, client: Client, base_url: str) -> None:
        self.client, self.base_url = client, base_url
        self.faults: set[str] = set()
        self.pages = self.nodes = 0

    async def ask(self, client: Client, call: Operation[Any]) -> Any:
        """Send a call and record deviations of its response. Returns the parsed response."""
        body = await client.fetch(call)
        releases = operations()[wire_route(type(call))]
        schema = Described(releases[NEWEST]["responses"]["200"], NEWEST)
        self.faults.update(f"{type(call).__name__}{fault}" for fault in faults(schema, json.loads(body), ""))
        return call.read_answer(body)

    async def site(self, site: Site) -> None:
        """Request every page of a published site."""
        url = str(site.urls.published)
        content = await self._resolved(url)
        async with self._reader(content) as client:
            published = await self._published(client, content)
            assert published.site.id == site.id
            paths = {site_space.space.id: str(site_space.urls.published) for site_space in site_spaces(published)}
            for space_id, address in paths.items():
                space = await self.ask(client, GetSpace(space_id=space_id, share_key=content.share_key))
                revision = await self.ask(client, GetRevision(space_id=space_id, revision_id=space.revision))
                for page in flatten(revision.pages):
                    if page.type == "document":
                        await self._page(client, address, space_id, revision.id, page)
            with pytest.raises(NotFound):
                at = {"organization_id": content.organization, "site_id": content.site}
                source = "/there/is/no/such/page"
                await self.ask(client, GetRedirectBySource(**at, source=source, share_key=content.share_key))

    async def _page(self, client: Client, address: str, space_id: str, revision_id: str, page: Any) -> None:
        content = await self._resolved(address + page.path)
        at = {"space_id": space_id, "revision_id": revision_id}
        assert (content.space, content.pathname) == (space_id, f"/{page.path}")
        await self._published(client, content)
        by_path = await self.ask(client, GetRevisionPageByPath(**at, page_path=page.path))
        assert by_path.id == page.id and by_path.document is not None and by_path.markdown is not None
        how: dict[str, Any] = {"evaluated": "deterministic-only", "dereferenced": "reusable-contents"}
        document = await self.ask(client, GetRevisionPageDocument(**at, page_id=page.id, **how))
        await self.ask(client, ListRevisionPageMetaLinks(**at, page_id=page.id))
        stable = {"format": "markdown", "format_markdown_refs": "stable"}
        markdown = await self.ask(client, GetRevisionPage(**at, page_id=page.id, **stable))
        assert markdown.markdown is not None and markdown.document is None
        for node in blocks(list(document.nodes)):
            self.nodes += 1
            assert node["type"] != "if", "evaluated"
            if node["type"] == "embed" and node["data"]["url"].startswith("http"):
                await self.ask(client, GetSpaceEmbed(space_id=space_id, url=node["data"]["url"]))
            if node["type"] == "reusable-content":  # only missing reusable content is not inserted
                snippet = node["data"]["ref"]["reusableContent"]
                with pytest.raises(NotFound):
                    await self.ask(client, GetRevisionReusableContentDocument(**at, reusable_content_id=snippet))
        scope = SiteSearchScope(mode="default", current_site_space=content.site_space, restrict_to="currentSiteSpace")
        search = SearchSite(organization_id=content.organization, site_id=content.site, query=page.title, scope=scope)
        found = await self.ask(client, search)
        assert page.hidden or page.no_index or any(one.id == page.id for item in found.items for one in item.pages)
        self.pages += 1

    async def _resolved(self, url: str) -> PublishedSiteContent:
        visitor = Visitor(type="human", unsigned_claims={})
        content = await self.ask(
            self.client, ResolvePublishedContent(url=url, redirect_on_error=False, visitor=visitor)
        )
        assert isinstance(content, PublishedSiteContent)
        return content

    async def _published(self, client: Client, content: PublishedSiteContent) -> Any:
        at = {"organization_id": content.organization, "site_id": content.site}
        return await self.ask(client, GetPublishedSite(**at, share_key=content.share_key))

    @asynccontextmanager
    async def _reader(self, content: PublishedSiteContent) -> AsyncIterator[Client]:
        async with Client(self.base_url, content.api_token) as client:
            yield client


def site_spaces(published: Any) -> Iterator[Any]:
    """Yield the site spaces of a structure, including those in sections and groups."""
    waiting = [*published.structure.structure]
    while waiting:
        item = waiting.pop(0)
        if item.object == "site-space":
            yield item
        else:
            children = getattr(item, "children", ()) or getattr(item, "sections", ())
            waiting += [*children, *getattr(item, "site_spaces", ())]


def blocks(nodes: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield all blocks of a document, nested blocks after their parents."""
    for node in nodes:
        if node["object"] == "block":
            yield node
        for part in ("nodes", "fragments"):
            yield from blocks(node.get(part) or [])


@pytest.mark.slow
@pytest.mark.timeout(400)
async def test_renderer_can_read_every_page_of_a_repository(tmp_path: Path) -> None:
    service = RunningService(tmp_path)
    database = Database(service.database_url)
    with database.writing.begin() as session:
        owner = session.get_one(UserRow, service.owner_id)
        import_docs(
            session, system_clock, owner, DiskBlobStore(tmp_path), (varied(1, pages=6).write(tmp_path / "docs"),)
        )
    database.close()
    service.start()
    async with Client(service.base_url, service.token) as client:
        renderer = Renderer(client, service.base_url)
        [organization] = (await client.send(ListOrganizations())).items
        spaces = (await client.send(ListSpaces(organization_id=organization.id))).items
        made = CreateSite(organization_id=organization.id, title="Docs", spaces=tuple(one.id for one in spaces))
        at = {"organization_id": organization.id, "site_id": (await client.send(made)).id}
        site = await client.send(PublishSite(**at))
        assert isinstance(site, Site)
        await renderer.site(site)
    service.stop()
    assert sorted(renderer.faults) == []
    assert renderer.pages > 5 and renderer.nodes > 100
