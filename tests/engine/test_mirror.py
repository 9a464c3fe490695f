"""Offline sync: everything once, then only changed parts; an interrupted sync continues."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.shell import signed_in
from tests.engine.live_engine import engine_on
from tests.engine.mirror_samples import PAGES, World, begun, copied, mirror, planted, rewritten, say
from tests.running_service import running_service

from presscheck.api.change_requests import GetChangeRequest, MergeChangeRequest
from presscheck.api.comments import Document, PostComment
from presscheck.api.content import GetPage
from presscheck.api.operation import Operation, operation_called
from presscheck.client.client import Client
from presscheck.engine.mirror.mirror import LONGEST_PAUSE
from presscheck.engine.results import Result
from presscheck.errors import Forbidden, NetworkError, RequestError, ServiceFailed, TooManyRequests

LISTED = {
    "GetCurrentUser",
    "ListOrganizations",
    "ListSpaces",
    "ListCollections",
    "ListOrganizationChangeRequests",
    "ListMembers",
    "ListSites",
    "GetSiteStructure",
}
"""Operations that every sync sends."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with running_service(tmp_path_factory.mktemp("service")) as service:
        yield asyncio.run(planted(service))


@pytest.fixture(scope="module")
def whole(world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sync the initial state of the service into a home."""
    home = tmp_path_factory.mktemp("whole") / "home"
    progress = asyncio.run(mirror(world.service, home))
    assert (progress.done, progress.failed, progress.refused) == (progress.parts, 0, 0)
    assert (progress.spaces, progress.change_requests) == (2, 1)
    return home


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Operation]:
    """Record the calls that clients send."""
    found: list[Operation] = []
    fetch = Client.fetch

    async def fetch_and_note(self: Client, call: Operation, *more: object) -> bytes:
        found.append(call)
        return await fetch(self, call, *more)

    monkeypatch.setattr(Client, "fetch", fetch_and_note)
    return found


def beside_listings(asked: list[Operation]) -> list[str]:
    return sorted(str(call).removeprefix("GET /spaces/") for call in asked if type(call).__name__ not in LISTED)


@pytest.mark.slow
async def test_only_changed_parts_are_fetched(
    world: World, whole: Path, tmp_path: Path, asked: list[Operation]
) -> None:
    home, guide, page = copied(whole, tmp_path / "home"), world.guide, world.pages[1]
    await mirror(world.service, home)
    asked.clear()
    progress = await mirror(world.service, home)
    assert beside_listings(asked) == []
    assert progress.parts == 0
    assert len(asked) - progress.requests in (0, 1), "who we are is asked at every start"

    client = Client(world.service.base_url, world.service.token)
    new = await begun(client, guide, "New since", rewritten(page, "Other words."))
    await client.aclose()
    one, calls = f"{guide}/change-requests/{new['change_request_id']}", []

    async def fetched(*said: Operation) -> list[str]:
        await say(world.service, *said)
        asked.clear()
        await mirror(world.service, home)
        return beside_listings(asked)

    calls = await fetched()
    [before] = [call for call in calls if "/revisions/" in call]
    assert before.endswith(f"/page/{page}")
    talk = [f"{one}/{part}" for part in ("comments", "requested-reviewers", "reviews")]
    content = [f"{one}/changes", f"{one}/content", f"{one}/content/page/{page}"]
    assert calls == sorted([before, *talk, *content])

    assert await fetched(PostComment(**new, body=Document(markdown="Why?"))) == talk

    gone = [f"{guide}/change-requests/{world.request}", f"{guide}/revisions/"]
    calls = [call for call in await fetched(MergeChangeRequest(**new)) if not call.startswith(tuple(gone))]
    assert calls == [f"{guide}/content", f"{guide}/content/page/{page}"]
    engine = engine_on(world.service, home)
    known = engine.known(GetPage(space_id=guide, page_id=page, format="markdown"))
    assert known
    assert "Other words." in (known.value.markdown or "")
    await engine.close()


async def test_a_sync_of_one_space_fetches_nothing_else(world: World, tmp_path: Path, asked: list[Operation]) -> None:
    progress = await mirror(world.service, tmp_path / "home", world.empty)
    assert progress.spaces == 1
    assert beside_listings(asked)
    assert all(one.startswith(world.empty) for one in beside_listings(asked))


@pytest.mark.slow
async def test_a_sync_notifies_subscribers(world: World, whole: Path, tmp_path: Path) -> None:
    engine = engine_on(world.service, copied(whole, tmp_path / "home"))
    await engine.start()
    call = GetChangeRequest(space_id=world.guide, change_request_id=world.request)
    answers = engine.watch(call)
    found: list[Result] = [await anext(answers), await anext(answers)]
    comment = PostComment(**call.given(), body=Document(markdown="Look!"))
    await say(world.service, comment)
    async for _ in engine.sync(space=world.guide):
        pass
    found.append(await asyncio.wait_for(anext(answers), 20))
    assert found[-1].value.comments == found[1].value.comments + 1
    await engine.close()


NOTING = """
import sys
from presscheck.client.client import Client
fetch, log = Client.fetch, open(sys.argv.pop(1), "a", buffering=1)
async def fetch_and_note(self, call, *more):
    body = await fetch(self, call, *more)
    log.write(f"{call.key()}\\n")
    return body
Client.fetch = fetch_and_note
from presscheck.__main__ import main
main()
"""


@pytest.mark.slow
def test_a_killed_sync_continues_where_it_stopped(world: World, tmp_path: Path) -> None:
    """Stored responses are not fetched again, except for a few that were not yet stored at the kill."""
    shell, log = signed_in(tmp_path / "home", world.service), tmp_path / "log"
    command = [sys.executable, "-c", NOTING, str(log), "sync"]

    def fetched() -> list[str]:
        lines = log.read_text().splitlines() if log.exists() else []
        return [line for line in lines if operation_called(line.partition(" ")[0]).__name__ not in LISTED]

    first = subprocess.Popen(command, env=shell.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while len(fetched()) < PAGES // 2:
        assert first.poll() is None
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    before = len(fetched())
    subprocess.run(command, env=shell.environment, check=True, capture_output=True, timeout=60)
    every = fetched()
    assert len(every) > before, "it was not done when it was killed"
    assert len(set(every)) > PAGES
    assert len(every) - len(set(every)) <= 8, "as many as may be on their way into the store"


class Troubled:
    """A client that raises an error at the first request of each call whose text ends with `ending`."""

    def __init__(self, client: Client, ending: str, error: RequestError) -> None:
        self._client, self._ending, self._error = client, ending, error
        self._given: set[str] = set()

    async def fetch(self, call: Operation, *more: object) -> bytes:
        if str(call).endswith(self._ending) and call.key() not in self._given:
            self._given.add(call.key())
            raise self._error
        return await self._client.fetch(call, *more)

    async def aclose(self) -> None:
        await self._client.aclose()


async def mirror_through(world: World, home: Path, ending: str, error: RequestError):
    engine = engine_on(world.service, home)
    engine._scheduler._connect = lambda: Troubled(Client(world.service.base_url, world.service.token), ending, error)
    await engine.start()
    try:
        return [progress async for progress in engine.sync()][-1]
    finally:
        await engine.close()


@pytest.mark.slow
async def test_failed_requests_are_repeated_in_the_next_sync_and_denied_ones_are_not(
    world: World, whole: Path, tmp_path: Path, asked: list[Operation]
) -> None:
    home = copied(whole, tmp_path / "home")
    path = {"space_id": world.guide, "change_request_id": world.request}
    await say(world.service, PostComment(**path, body=Document(markdown="Once more")))
    error = ServiceFailed("The service failed (500)", request="", status=500)
    assert (await mirror_through(world, home, "/comments", error)).failed > 0
    asked.clear()
    assert (await mirror(world.service, home)).failed == 0
    assert any(one.endswith(f"{world.request}/comments") for one in beside_listings(asked))
    assert not any(one.endswith("/reviews") for one in beside_listings(asked)), "that came the first time"

    await say(world.service, PostComment(**path, body=Document(markdown="And again")))
    denied = Forbidden("You do not have permission to do this", request="", status=403)
    assert (await mirror_through(world, home, "/reviews", denied)).refused > 0
    asked.clear()
    assert (await mirror(world.service, home)).refused == 0
    assert not any(one.endswith("/reviews") for one in beside_listings(asked))


async def test_a_sync_waits_for_the_rate_limit(world: World, whole: Path, tmp_path: Path) -> None:
    error = TooManyRequests("Too many requests", request="", status=429, retry_after=0.01)
    progress = await mirror_through(world, copied(whole, tmp_path / "home"), "", error)
    assert (progress.done, progress.failed, progress.refused) == (progress.parts, 0, 0)
    error.retry_after = LONGEST_PAUSE + 1
    with pytest.raises(TooManyRequests):
        await mirror_through(world, copied(whole, tmp_path / "other"), "", error)


async def test_a_sync_ends_with_a_network_error(world: World, tmp_path: Path) -> None:
    with pytest.raises(NetworkError):
        await mirror_through(world, tmp_path / "home", "/content", NetworkError("gone", request=""))
