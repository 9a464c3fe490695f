"""The sample workspace: reproducible and consistent."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import select
from tests.prepared_sample import planted, read_database
from tests.running_service import RunningService, running_service

from presscheck.api.change_requests import (
    ChangeRequest,
    ListOrganizationChangeRequests,
)
from presscheck.api.comments import ListComments
from presscheck.api.content import GetCurrentRevision, GetPage, RevisionPage
from presscheck.api.content_changes import GetChangeRequestChanges
from presscheck.api.organizations import ListOrganizations
from presscheck.api.site_structure import GetSiteStructure
from presscheck.api.sites import ListSites
from presscheck.api.spaces import ListSpaces, Space
from presscheck.api.users import GetCurrentUser
from presscheck.client.client import Client
from presscheck.documents.markdown.links import LinkResolver, find_links, source_path
from presscheck.service.db.engine import Database
from presscheck.service.models.sites import SiteSettingsRow
from presscheck.service.sample import plant_many
from presscheck.service.server.prepared_sample import MADE_AT, PREPARED, write_prepared
from presscheck.service.server.server import opened

NOW = datetime(2026, 5, 20, 9, 30, tzinfo=UTC)
STATES = ("draft", "open", "archived", "merged")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running_service(tmp_path_factory.mktemp("sample"), sample=True, clock=lambda: NOW) as running:
        yield running


@pytest.fixture
async def client(service: RunningService) -> AsyncIterator[Client]:
    opened = Client(service.base_url, service.token)
    yield opened
    await opened.aclose()


async def organization(client: Client) -> str:
    return (await client.send(ListOrganizations())).items[0].id


async def spaces(client: Client) -> tuple[Space, ...]:
    return (await client.send(ListSpaces(organization_id=await organization(client)))).items


async def requests(client: Client, status: str) -> tuple[ChangeRequest, ...]:
    listing = ListOrganizationChangeRequests(organization_id=await organization(client), status=status)  # pyright: ignore[reportArgumentType]
    return (await client.send(listing)).items


def at(request: ChangeRequest) -> dict[str, str]:
    return {"space_id": request.space, "change_request_id": request.id}


def every(pages: tuple[RevisionPage, ...]) -> Iterator[RevisionPage]:
    for page in pages:
        yield page
        yield from every(page.pages)


async def test_pages_have_all_kinds_of_blocks_and_no_broken_links(client: Client) -> None:
    whole, followed = "", 0
    for space in await spaces(client):
        pages = (await client.send(GetCurrentRevision(space_id=space.id))).pages
        places = LinkResolver.of(pages)
        for page in every(pages):
            if page.type != "document":
                continue
            read = await client.send(GetPage(space_id=space.id, page_id=page.id, format="markdown"))
            assert read.markdown and len(read.markdown) > 100
            whole += read.markdown
            for link in find_links(read.markdown):
                assert places.resolve(link.target, source_path(page)).kind in ("page", "web"), (page.path, link)
                followed += 1
    assert followed > 15
    for block in ("hint", "tabs", "code", "stepper", "content-ref"):
        assert f"{{% {block}" in whole, block
    for mark in ("\n## ", "\n### ", "\n- ", "\n1. ", "\n- [x] ", "\n|---", "\n```", "\n> ", "<details>"):
        assert mark in whole, mark


async def test_threads_have_all_states_replies_and_reactions(client: Client) -> None:
    comments = [
        comment
        for status in STATES
        for request in await requests(client, status)
        for comment in (await client.send(ListComments(**at(request), format="markdown"))).items
    ]
    assert {comment.status for comment in comments} == {"open", "resolved"}
    assert any(comment.replies for comment in comments)
    assert any(comment.reactions for comment in comments)
    assert any(comment.target.page for comment in comments)
    assert any((comment.body.markdown or "").startswith("> ") for comment in comments)
    assert all(comment.posted_at < "2026-05-20T09:30" for comment in comments)


async def test_sites_have_their_structure_and_urls(client: Client) -> None:
    id_ = await organization(client)
    sites = (await client.send(ListSites(organization_id=id_))).items
    assert [(site.published, site.urls.published) for site in sites] == [
        (True, "https://docs.tallowick.example/"),
        (False, None),
    ]
    structure = await client.send(GetSiteStructure(organization_id=id_, site_id=sites[0].id))
    assert [one.object for one in structure.structure] == ["site-section", "site-section", "site-section-group"]
    published = {space.title: space.urls.published for space in await spaces(client)}
    assert published["API docs"] == "https://docs.tallowick.example/api/"
    assert published["Runbook"] is None


def test_prepared_sample_matches_its_calls() -> None:
    assert PREPARED.read_text("utf-8") == planted(MADE_AT), "run `make sample`"


def test_times_of_prepared_rows_are_relative_to_now(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'service.sqlite'}"
    write_prepared(url, lambda: NOW)
    assert read_database(url) == planted(NOW)


def test_each_database_gets_new_secrets(tmp_path: Path) -> None:
    keys: list[str] = []
    for name in ("a", "b"):
        database = opened(f"sqlite:///{tmp_path / name}", sample_clock=lambda: NOW)
        with database.snapshot() as session:
            keys += session.scalars(select(SiteSettingsRow.auth_key))
        database.close()
    assert len({*keys}) == 4
    assert min(map(len, keys)) >= 43


def test_database_with_tables_is_not_changed(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'service.sqlite'}"
    Database(url).close()
    empty = read_database(url)
    write_prepared(url, lambda: NOW)
    assert read_database(url) == empty


async def test_many_change_requests_are_listed(tmp_path: Path) -> None:
    service = RunningService(tmp_path)
    database = Database(service.database_url)
    with database.writing.begin() as session:
        plant_many(session, 300)
    database.close()
    service.start()
    client = Client(service.base_url, service.token)
    try:
        me = await client.send(GetCurrentUser())
        listing = ListOrganizationChangeRequests(organization_id="many", requested_reviewer=me.id, limit=100)
        found = [one async for one in client.every(listing)]
        assert [one.number for one in found] == list(range(300, 0, -1))
        changes = await client.send(GetChangeRequestChanges(**at(found[0])))
        assert [change.type for change in changes.changes] == ["page_edited"]
    finally:
        await client.aclose()
        service.stop()
