"""A write notifies exactly the subscriptions that its effects name."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.engine.engine import comment, threads
from tests.engine.live_engine import engine_on, until
from tests.running_service import RunningService
from tests.table import each_case

from presscheck.api.change_requests import (
    ChangeRequest,
    CreateChangeRequest,
    GetChangeRequest,
    ListChangeRequests,
    ListOrganizationChangeRequests,
    MergeChangeRequest,
    UpdateChangeRequest,
)
from presscheck.api.comments import Document, UpdateComment
from presscheck.api.content import ListChangeRequestPages, ListPages
from presscheck.api.content_changes import EditChangeRequestContent, GetChangeRequestChanges, InsertPage
from presscheck.api.operation import Operation
from presscheck.api.organizations import ListOrganizations
from presscheck.api.spaces import CreateSpace, GetSpace
from presscheck.client.client import Client
from presscheck.engine.engine import Engine
from presscheck.engine.inbox import activity_poller
from presscheck.engine.reads.subscriptions import beneath, matches
from presscheck.engine.writes.effects import effects_of
from presscheck.engine.writes.overlays import OVERLAYS
from presscheck.engine.writes.pending_writes import ME
from presscheck.errors import NotFound, ServiceFailed

pytestmark = pytest.mark.service(shared=True)


class Watchers:
    """Watches calls on an engine and counts the results of each."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._tasks: list[asyncio.Task[None]] = []
        self._answers: Counter[str] = Counter()
        self._before: Counter[str] = Counter()
        self.last: dict[str, Any] = {}

    async def follow(self, *calls: Operation[Any]) -> None:
        """Watch calls, and wait until each has its first response from the service."""
        for call in calls:
            is_listing = isinstance(call, ListOrganizationChangeRequests)
            answers = self._engine.watch_listing(call) if is_listing else self._engine.watch(call)
            self._tasks.append(asyncio.create_task(self._count(call.key(), answers)))
        await until(lambda: all(self.is_fresh(call) for call in calls))
        self.begin()

    def begin(self) -> None:
        """Count results from now on."""
        self._before = self._answers.copy()

    def woken(self, *calls: Operation[Any]) -> list[Operation[Any]]:
        """Return the calls that have had a result since `begin`."""
        return [call for call in calls if self._answers[call.key()] > self._before[call.key()]]

    def is_fresh(self, call: Operation[Any]) -> bool:
        return call.key() in self.last and self.last[call.key()].state in ("fresh", "unchanged")

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _count(self, key: str, answers: AsyncIterator[Any]) -> None:
        async for seen in answers:
            self._answers[key] += 1
            self.last[key] = seen


@pytest.fixture
async def watchers(engine: Engine) -> AsyncIterator[Watchers]:
    opened = Watchers(engine)
    yield opened
    await opened.close()


async def sent(engine: Engine, call: Operation[Any]) -> Any:
    answer = await engine.write(call).landed()
    await asyncio.sleep(0)  # let the woken watchers run
    return answer


async def space_with(engine: Engine, *subjects: str) -> list[ChangeRequest]:
    organization = (await engine.read(ListOrganizations())).items[0].id
    space = await sent(engine, CreateSpace(organization_id=organization, title="Guide"))
    requests = [await sent(engine, CreateChangeRequest(space_id=space.id, subject=subject)) for subject in subjects]
    for request in requests:
        await sent(engine, UpdateChangeRequest(space_id=space.id, change_request_id=request.id, status="open"))
    return [await engine.read(named(request)) for request in requests]


def named(request: ChangeRequest, name: str | None = None) -> GetChangeRequest:
    return GetChangeRequest(space_id=request.space, change_request_id=name or request.id)


def talk_of(request: ChangeRequest) -> tuple[Operation[Any], ...]:
    """Return calls of a review whose responses a comment may change."""
    return named(request), threads(request)


def content_of(request: ChangeRequest) -> tuple[Operation[Any], ...]:
    """Return calls of a review whose responses no comment changes."""
    at = {"space_id": request.space, "change_request_id": request.id}
    return GetChangeRequestChanges(**at), ListChangeRequestPages(**at)


def looks_at(request: ChangeRequest) -> tuple[Operation[Any], ...]:
    """Return the calls of a review."""
    return (*talk_of(request), *content_of(request))


async def test_a_comment_wakes_its_own_change_request_and_no_other(engine: Engine, watchers: Watchers) -> None:
    first, second = await space_with(engine, "First", "Second")
    [elsewhere] = await space_with(engine, "Elsewhere")
    others = (
        *content_of(first),
        *looks_at(second),
        *looks_at(elsewhere),
        ListPages(space_id=first.space),
        GetSpace(space_id=elsewhere.space),
    )
    await watchers.follow(*talk_of(first), *others)
    ticket = engine.write(comment(first, "Hello"))
    await asyncio.sleep(0)
    assert watchers.woken(threads(first)), "it shows before it is sent"
    await ticket.landed()
    await until(lambda: watchers.is_fresh(threads(first)) and watchers.is_fresh(named(first)))
    assert [item.body.markdown for item in watchers.last[threads(first).key()].value.items] == ["Hello"]
    assert watchers.woken(*talk_of(first)) == [*talk_of(first)]
    assert watchers.woken(*others) == []


async def test_listings_named_by_the_effects_are_woken(engine: Engine, watchers: Watchers) -> None:
    first, _ = await space_with(engine, "First", "Second")
    organization = (await engine.read(ListOrganizations())).items[0].id
    in_organization = ListOrganizationChangeRequests(organization_id=organization, status="open")
    in_space = ListChangeRequests(space_id=first.space)
    await watchers.follow(in_organization, in_space, ListOrganizations())
    path = {"space_id": first.space, "change_request_id": first.id}
    await sent(engine, UpdateChangeRequest(**path, subject="First, but better"))
    listed = lambda: [row.subject for row in engine.window(in_organization, 0, 100).items]  # noqa: E731
    await until(lambda: "First, but better" in listed() and watchers.is_fresh(in_space))
    assert watchers.woken(in_organization, in_space) == [in_organization, in_space]
    assert watchers.woken(ListOrganizations()) == []


async def test_a_merge_wakes_the_pages_of_its_own_space_alone(engine: Engine, watchers: Watchers) -> None:
    [request] = await space_with(engine, "A page more")
    [elsewhere] = await space_with(engine, "Elsewhere")
    path = {"space_id": request.space, "change_request_id": request.id}
    page = InsertPage(document=Document(markdown="# New\n\nText.\n"))
    await sent(engine, EditChangeRequestContent(**path, changes=(page,), compat=False))
    pages = ListPages(space_id=request.space)
    others = (*looks_at(elsewhere), ListPages(space_id=elsewhere.space), GetSpace(space_id=elsewhere.space))
    await watchers.follow(pages, *others)
    await sent(engine, MergeChangeRequest(**path))
    await until(lambda: any(page.title == "New" for page in watchers.last[pages.key()].value.pages))
    assert watchers.woken(*others) == []


async def test_a_watch_by_number_is_woken_by_a_write_by_id(engine: Engine, watchers: Watchers) -> None:
    first, second = await space_with(engine, "First", "Second")
    by_number = [named(request, str(request.number)) for request in (first, second)]
    await watchers.follow(*by_number)
    await sent(engine, UpdateChangeRequest(space_id=first.space, change_request_id=first.id, subject="Renamed"))
    await until(lambda: watchers.last[by_number[0].key()].value.subject == "Renamed")
    assert watchers.woken(*by_number) == by_number[:1]


async def test_editing_and_discarding_a_pending_write_notifies_its_subscribers(
    engine: Engine, watchers: Watchers
) -> None:
    first, second = await space_with(engine, "First", "Second")
    await watchers.follow(threads(first), threads(second))
    kept = [engine.write(comment(request, "Held"), hold=60) for request in (first, second)]
    await asyncio.sleep(0)
    watchers.begin()
    assert engine.rewrite(kept[0].id, comment(first, "Held, in other words"))
    await asyncio.sleep(0)
    assert watchers.woken(threads(first), threads(second)) == [threads(first)]
    [item] = watchers.last[threads(first).key()].value.items
    assert item.body.markdown == "Held, in other words"
    watchers.begin()
    engine.drop(kept[1].id)
    await asyncio.sleep(0)
    assert watchers.woken(threads(first), threads(second)) == [threads(second)]
    assert watchers.last[threads(second).key()].value.items == ()


async def test_refused_comment_refreshes_the_content(engine: Engine, watchers: Watchers) -> None:
    """Often the reason is a change by another user, which should be shown then."""
    first, second = await space_with(engine, "First", "Second")
    await watchers.follow(*content_of(first), *content_of(second))
    ticket = engine.write(
        UpdateComment(space_id=first.space, change_request_id=first.id, comment_id="gone", resolved=True)
    )
    with pytest.raises(NotFound):
        await ticket.landed()
    await until(lambda: len(watchers.woken(*content_of(first))) == 2)
    assert watchers.woken(*content_of(second)) == []


async def test_a_write_of_another_instance_notifies_its_subscribers(
    engine: Engine, watchers: Watchers, service: RunningService, tmp_path: Path
) -> None:
    first, second = await space_with(engine, "First", "Second")
    await watchers.follow(threads(first), threads(second))
    window = engine_on(service, tmp_path / "home")  # never started, so the other engine sends its writes
    window.write(comment(first, "From beside"), hold=60)
    await until(lambda: bool(watchers.woken(threads(first))))
    assert [row.state for row in engine.waiting()] == ["waiting"]
    assert watchers.woken(threads(second)) == []
    await window.close()


async def test_news_of_the_inbox_wakes_its_listings_alone(
    engine: Engine, watchers: Watchers, service: RunningService
) -> None:
    [request] = await space_with(engine, "First")
    organization = (await engine.read(ListOrganizations())).items[0].id
    listing = ListOrganizationChangeRequests(organization_id=organization, status="open")
    others = (GetSpace(space_id=request.space), ListPages(space_id=request.space))
    await engine.events.poll()
    await watchers.follow(listing, *others)
    client = Client(service.base_url, service.token)
    await client.send(UpdateChangeRequest(space_id=request.space, change_request_id=request.id, subject="From beside"))
    await client.aclose()
    await engine.events.poll()
    await asyncio.sleep(0)
    assert watchers.woken(listing, *others) == [listing]
    assert "From beside" in [row.subject for row in engine.window(listing, 0, 100).items]
    watchers.begin()
    await engine.events.poll()
    await asyncio.sleep(0)
    assert watchers.woken(listing, *others) == [], "nothing is new"


async def test_news_of_a_poll_that_fails_later_wakes_its_listings(
    engine: Engine, watchers: Watchers, service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    [request] = await space_with(engine, "First")
    organization = (await engine.read(ListOrganizations())).items[0].id
    listing = ListOrganizationChangeRequests(organization_id=organization, status="open")
    await engine.events.poll()
    await watchers.follow(listing)
    client = Client(service.base_url, service.token)
    await client.send(UpdateChangeRequest(space_id=request.space, change_request_id=request.id, subject="From beside"))
    await client.aclose()

    async def fails(*_: object) -> None:
        raise ServiceFailed("unavailable", request="r", status=503)

    with monkeypatch.context() as last_requests:
        last_requests.setattr(activity_poller._Poll, "_poll_sites", fails)
        with pytest.raises(ServiceFailed):
            await engine.events.poll()
    await asyncio.sleep(0)
    assert watchers.woken(listing) == [listing]


async def test_the_signed_in_user_is_read_once(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    [request] = await space_with(engine, "First")
    await engine.read(threads(request))
    asked: list[str] = []
    recall = engine.outbox.recall
    monkeypatch.setattr(engine.outbox, "recall", lambda name: (asked.append(name), recall(name))[1])
    engine.write(comment(request, "Held"), hold=60)
    for _ in range(50):
        known = engine.known(threads(request))
        assert known
        assert known.value.items[0].posted_by.id == engine.me.id
    assert asked.count(ME) <= 1


@each_case(("read", "write"), OVERLAYS)
def test_a_write_wakes_every_read_that_shows_it(read: type[Operation[Any]], write: type[Operation[Any]]) -> None:
    with_ids = [kind.model_construct(**{field: f"{field} 1" for field in kind.path_fields()}) for kind in (read, write)]
    assert matches(with_ids[0].wire_path(), effects_of(with_ids[1]).stale(with_ids[1]))


def test_pattern_matches_whole_names_only() -> None:
    patterns = beneath("/spaces/s1")
    assert matches("/spaces/s1", patterns)
    assert matches("/spaces/s1/content/pages", patterns)
    assert not matches("/spaces/s10", patterns)
    assert not matches("/spaces/s10/content/pages", patterns)
