"""The sample workspace: reproducible, consistent, and fast to create."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, select, text
from tests.prepared_sample import planted, read_database
from tests.running_service import RunningService, running_service

from presscheck.api.change_requests import (
    ChangeRequest,
    ListChangeRequests,
    ListOrganizationChangeRequests,
    ListRequestedReviewers,
    ListReviews,
    MergeChangeRequest,
)
from presscheck.api.collections import ListCollections
from presscheck.api.comments import ListComments, ListReplies, ListSpaceComments
from presscheck.api.content import GetCurrentRevision, GetPage, RevisionPage
from presscheck.api.content_changes import GetChangeRequestChanges
from presscheck.api.operation import Page
from presscheck.api.organizations import ListMembers, ListOrganizations
from presscheck.api.site_structure import GetSiteStructure
from presscheck.api.sites import ListSites
from presscheck.api.spaces import ListSpaces, Space
from presscheck.api.users import GetCurrentUser
from presscheck.client.client import Client
from presscheck.documents.markdown.links import LinkResolver, find_links, source_path
from presscheck.service.db.engine import Database
from presscheck.service.models.content import ChangeRequestRow, RevisionRow
from presscheck.service.models.sites import SiteSettingsRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.sample import plant, plant_many
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


@pytest.mark.slow
async def test_the_workspace_has_the_expected_items(client: Client) -> None:
    id_ = await organization(client)
    assert len((await client.send(ListMembers(organization_id=id_))).items) == 8
    collections = (await client.send(ListCollections(organization_id=id_))).items
    assert {collection.title: collection.parent for collection in collections} == {
        "Product": None,
        "Developers": next(collection.id for collection in collections if collection.title == "Product"),
        "Internal": None,
    }
    found = await spaces(client)
    assert len(found) == 6
    pages = [len(list(every((await client.send(GetCurrentRevision(space_id=one.id))).pages))) for one in found]
    assert sorted(pages)[-2] >= 8
    assert min(pages) >= 4
    by_status = [len(await requests(client, status)) for status in STATES]
    assert sum(by_status) == 20
    assert all(by_status)


@pytest.mark.slow
async def test_pages_show_every_kind_of_block(client: Client) -> None:
    whole = ""
    for space in await spaces(client):
        for page in every((await client.send(GetCurrentRevision(space_id=space.id))).pages):
            if page.type == "document":
                read = await client.send(GetPage(space_id=space.id, page_id=page.id, format="markdown"))
                assert read.markdown and len(read.markdown) > 100
                whole += read.markdown
    for block in ("hint", "tabs", "code", "stepper", "content-ref"):
        assert f"{{% {block}" in whole, block
    for mark in ("\n## ", "\n### ", "\n- ", "\n1. ", "\n- [x] ", "\n|---", "\n```", "\n> ", "<details>"):
        assert mark in whole, mark


@pytest.mark.slow
async def test_no_link_is_broken(client: Client) -> None:
    followed = 0
    for space in await spaces(client):
        pages = (await client.send(GetCurrentRevision(space_id=space.id))).pages
        places = LinkResolver.of(pages)
        for page in every(pages):
            if page.type != "document":
                continue
            read = await client.send(GetPage(space_id=space.id, page_id=page.id, format="markdown"))
            for link in find_links(read.markdown or ""):
                assert places.resolve(link.target, source_path(page)).kind in ("page", "web"), (page.path, link)
                followed += 1
    assert followed > 15


@pytest.mark.slow
async def test_counts_match_the_data(client: Client) -> None:
    for space in await spaces(client):
        by_status = {
            status: (await client.send(ListChangeRequests(space_id=space.id, status=status))).items for status in STATES
        }
        listed = [one for found in by_status.values() for one in found]
        assert (space.change_requests, space.change_requests_open, space.change_requests_draft) == (
            len(listed),
            len(by_status["open"]),
            len(by_status["draft"]),
        )
        assert sorted(one.number for one in listed) == list(range(1, len(listed) + 1))
        said = await client.send(ListSpaceComments(space_id=space.id, status="open"))
        assert space.comments == said.count == len(said.items)
        for request in listed:
            assert request.outdated == (
                request.status != "merged"
                and (request.revision_merged_ancestor or request.revision_initial) != space.revision
            )
            comments = (await client.send(ListComments(**at(request), status="open"))).items
            assert request.comments == sum(comment.target.review is None for comment in comments)
            for comment in comments:
                replies = await client.send(ListReplies(**at(request), comment_id=comment.id))
                assert comment.replies == len(replies.items)


@pytest.mark.slow
async def test_the_inbox_has_items_to_triage(client: Client) -> None:
    me = await client.send(GetCurrentUser())
    listing = ListOrganizationChangeRequests(organization_id=await organization(client), requested_reviewer=me.id)
    assert len((await client.send(listing)).items) == 7
    kinds: Counter[str] = Counter()
    sizes: list[int] = []
    verdicts: Counter[tuple[str, bool]] = Counter()
    asked = 0
    for status in STATES:
        for request in await requests(client, status):
            changes = (await client.send(GetChangeRequestChanges(**at(request), limit=100))).changes
            assert changes or status == "merged", request.subject
            kinds.update(change.type for change in changes)
            sizes.append(len({change.page.id for change in changes if change.page}))
            reviews: Page[Any] = await client.send(ListReviews(**at(request)))
            verdicts.update((review.status, review.outdated) for review in reviews.items)
            asked += len((await client.send(ListRequestedReviewers(**at(request)))).items)
    assert {"page_created", "page_edited", "page_moved", "page_deleted"} <= set(kinds)
    assert max(sizes) >= 10
    assert {("approved", False), ("changes-requested", False), ("changes-requested", True)} <= set(verdicts)
    assert asked > 15


async def test_threads_are_open_resolved_replied_to_and_reacted_to(client: Client) -> None:
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


async def test_the_sites_exist(client: Client) -> None:
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


@pytest.mark.slow
async def test_one_change_request_conflicts_and_one_is_clean(tmp_path: Path) -> None:
    with running_service(tmp_path, sample=True, clock=lambda: NOW) as service:
        client = Client(service.base_url, service.token)
        results = {}
        for request in await requests(client, "open"):
            if request.subject in ("Two carriers down at once", "Fix typos in quickstart"):
                results[request.subject] = (await client.send(MergeChangeRequest(**at(request)))).result
                assert request.outdated == (request.subject == "Two carriers down at once")
        await client.aclose()
    assert results == {"Two carriers down at once": "conflicts", "Fix typos in quickstart": "merge"}


def test_the_prepared_sample_is_what_its_calls_make() -> None:
    assert PREPARED.read_text("utf-8") == planted(MADE_AT), "run `make sample`"


def test_prepared_rows_have_the_times_of_the_present(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'service.sqlite'}"
    write_prepared(url, lambda: NOW)
    assert read_database(url) == planted(NOW)


def test_each_database_draws_its_own_secrets(tmp_path: Path) -> None:
    keys: list[str] = []
    for name in ("a", "b"):
        database = opened(f"sqlite:///{tmp_path / name}", sample_clock=lambda: NOW)
        with database.snapshot() as session:
            keys += session.scalars(select(SiteSettingsRow.auth_key))
        database.close()
    assert len({*keys}) == 4
    assert min(map(len, keys)) >= 43


def test_a_database_with_tables_stays_as_it_is(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'service.sqlite'}"
    Database(url).close()
    empty = read_database(url)
    write_prepared(url, lambda: NOW)
    assert read_database(url) == empty


def statements_of_sample(path: Path) -> tuple[int, float]:
    """The statements that create the sample, and its processor time over that of as many trivial ones."""
    database = Database(f"sqlite:///{path}")
    statements: list[str] = []
    for engine in {database.engine}:
        event.listen(engine, "before_cursor_execute", lambda *given: statements.append(given[2]))
    with database.writing.begin() as session:
        began = time.thread_time()
        plant(session, lambda: NOW)
        planted = time.thread_time() - began
        count, began = len(statements), time.thread_time()
        for _ in range(count):
            session.execute(text("SELECT 1")).all()
        bare = time.thread_time() - began
    database.close()
    return count, planted / bare


@pytest.mark.slow
def test_creating_the_sample_is_fast(tmp_path: Path) -> None:
    # what else the machine does slows one part or the other: one quiet attempt of three is enough
    for attempt in range(3):
        count, ratio = statements_of_sample(tmp_path / f"{attempt}.sqlite")
        assert count < 3000
        if ratio < 15:  # five is usual
            return
    raise AssertionError(f"creating the sample takes {ratio:.0f} times as long as as many trivial SQL statements")


@pytest.mark.slow
def test_many_change_requests_are_created_fast_next_to_the_sample(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'd.sqlite'}")
    with database.writing.begin() as session:
        plant(session, lambda: NOW)
        began = time.thread_time()
        space_id = plant_many(session, 5000, lambda: NOW)
        assert time.thread_time() - began < 3
        space = session.get_one(SpaceRow, space_id)
        rows = session.scalars(select(ChangeRequestRow).where(ChangeRequestRow.space_id == space_id)).all()
        assert (len(rows), space.numbered, max(row.number for row in rows)) == (5000, 5000, 5000)
        revisions = {row.id for row in session.scalars(select(RevisionRow).where(RevisionRow.space_id == space_id))}
        assert {row.revision for row in rows} < revisions
    database.close()


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
