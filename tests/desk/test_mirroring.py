"""The mirror: all of it once, then only what moved; and on from where it was killed."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.running import signed_in
from tests.desk.mirrored import copied, desk_on, mirror
from tests.running_service import RunningService, running_service

from presscheck.api.change_requests import (
    ChangeRequest,
    CreateChangeRequest,
    GetChangeRequest,
    MergeChangeRequest,
    UpdateChangeRequest,
)
from presscheck.api.changes import EditChangeRequestContent, UpdatePage
from presscheck.api.comments import Document, PostComment, UpdateComment
from presscheck.api.content import GetPage, ListPages
from presscheck.api.operation import Operation
from presscheck.client.client import Client
from presscheck.desk.questions import comments_on
from presscheck.errors import NetworkError, RequestError, ServiceFailed, TooManyRequests

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
"""What is asked for each time."""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running_service(tmp_path_factory.mktemp("service"), sample=True) as running:
        yield running


@pytest.fixture(scope="module")
def whole(service: RunningService, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with all of it, as it was at the beginning of these tests."""
    home = tmp_path_factory.mktemp("whole") / "home"
    progress = asyncio.run(mirror(service, home))
    assert (progress.done, progress.failed, progress.refused) == (progress.parts, 0, 0)
    assert progress.spaces == 6
    return home


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Operation]:
    """What was asked of the service."""
    found: list[Operation] = []
    fetch = Client.fetch

    async def fetch_and_note(self: Client, call: Operation, *more: object) -> bytes:
        found.append(call)
        return await fetch(self, call, *more)

    monkeypatch.setattr(Client, "fetch", fetch_and_note)
    return found


def beside_listings(asked: list[Operation]) -> list[str]:
    return sorted(str(call).removeprefix("GET /spaces/") for call in asked if type(call).__name__ not in LISTED)


async def done(service: RunningService, *calls: Operation):
    """Say calls as the owner; the answer of the last."""
    client = Client(service.base_url, service.token)
    answer = None
    for call in calls:
        answer = await client.send(call)
    await client.aclose()
    return answer


async def begun(service: RunningService, space: str, subject: str) -> ChangeRequest:
    request = await done(service, CreateChangeRequest(space_id=space, subject=subject))
    assert isinstance(request, ChangeRequest)
    return request


async def test_the_second_time_asks_for_the_listings_alone(
    service: RunningService, whole: Path, tmp_path: Path, asked: list[Operation]
) -> None:
    home = copied(whole, tmp_path / "home")
    await mirror(service, home)
    asked.clear()
    progress = await mirror(service, home)
    assert beside_listings(asked) == []
    assert progress.parts == 0
    assert progress.requests <= len(asked) <= progress.requests + 1, "who we are is asked at every start"


async def test_only_what_moved_is_fetched(
    service: RunningService, whole: Path, tmp_path: Path, asked: list[Operation]
) -> None:
    home = copied(whole, tmp_path / "home")
    await mirror(service, home)
    new = await begun(service, "cli", "New since")
    path = {"space_id": new.space, "change_request_id": new.id}
    [*pages] = (await done(service, ListPages(space_id="cli"))).pages
    page = next(one for one in pages if one.type == "document")
    text = UpdatePage(page=page.id, document=Document(markdown=f"# {page.title}\n\nOther words.\n"))
    await done(service, EditChangeRequestContent(**path, changes=(text,), compat=False))
    asked.clear()
    await mirror(service, home)
    one = f"cli/change-requests/{new.id}"
    assert beside_listings(asked) == [
        f"{one}/changes",
        f"{one}/comments",
        f"{one}/content",
        f"{one}/content/page/{page.id}",
        f"{one}/requested-reviewers",
        f"{one}/reviews",
    ], "and what the page was before is known from another change request"

    comment = await done(service, PostComment(**path, body=Document(markdown="Why?")))
    asked.clear()
    await mirror(service, home)
    assert beside_listings(asked) == [f"{one}/comments", f"{one}/requested-reviewers", f"{one}/reviews"]
    desk = desk_on(service, home)
    known = desk.known(comments_on(new))
    assert known
    assert [found.body.markdown for found in known.value.items] == ["Why?"]
    await desk.close()

    resolve = UpdateComment(**path, comment_id=comment.id, resolved=True)
    await done(service, resolve, UpdateChangeRequest(**path, status="open"), MergeChangeRequest(**path))
    asked.clear()
    await mirror(service, home)
    behind = [one for one in beside_listings(asked) if not one.startswith("cli/content")]
    assert sorted(set(beside_listings(asked)) - set(behind)) == ["cli/content", f"cli/content/page/{page.id}"]
    assert all("/comments" not in one and "/reviews" not in one for one in behind)
    desk = desk_on(service, home)
    now = desk.known(GetPage(space_id="cli", page_id=page.id, format="markdown"))
    assert now
    assert "Other words." in (now.value.markdown or "")
    await desk.close()


async def test_one_space_alone(service: RunningService, tmp_path: Path, asked: list[Operation]) -> None:
    progress = await mirror(service, tmp_path / "home", "runbook")
    assert progress.spaces == 1
    assert beside_listings(asked)
    assert all(one.startswith("runbook/") for one in beside_listings(asked))


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


def test_a_mirror_that_was_killed_goes_on_where_it_was(service: RunningService, tmp_path: Path) -> None:
    """Nothing that was kept is fetched again; what came in the moment of its death may be."""
    shell, log = signed_in(tmp_path / "home", service), tmp_path / "log"
    command = [sys.executable, "-c", NOTING, str(log), "sync", "--space", "api"]

    def fetched() -> list[str]:
        lines = log.read_text().splitlines() if log.exists() else []
        return [line for line in lines if line.partition(" ")[0].partition(".")[2] not in LISTED]

    first = subprocess.Popen(command, env=shell.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while len(fetched()) < 30:
        assert first.poll() is None
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    before = len(fetched())
    subprocess.run(command, env=shell.environment, check=True, capture_output=True, timeout=60)
    every = fetched()
    assert len(every) > before + 10, "it was not done when it was killed"
    assert len(every) - len(set(every)) <= 8, "as many as may be on their way into the store"


class Troubled:
    """The real service, with an answer that it gives instead, once for each call whose path ends so."""

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


async def mirror_through(service: RunningService, home: Path, ending: str, error: RequestError):
    desk = desk_on(service, home)
    desk._asking._connect = lambda: Troubled(Client(service.base_url, service.token), ending, error)
    await desk.start()
    try:
        return [progress async for progress in desk.sync(space="runbook")][-1]
    finally:
        await desk.close()


async def test_what_failed_is_asked_for_the_next_time(
    service: RunningService, tmp_path: Path, asked: list[Operation]
) -> None:
    home = tmp_path / "home"
    error = ServiceFailed("The service failed (500)", request="", status=500)
    assert (await mirror_through(service, home, "/reviews", error)).failed > 0
    asked.clear()
    assert (await mirror(service, home, "runbook")).failed == 0
    assert beside_listings(asked)
    assert all(one.endswith("/reviews") for one in beside_listings(asked))


async def test_it_waits_when_the_service_wants_it_to(service: RunningService, tmp_path: Path) -> None:
    error = TooManyRequests("Too many requests", request="", status=429, retry_after=0.01)
    progress = await mirror_through(service, tmp_path / "home", "", error)
    assert (progress.done, progress.failed, progress.refused) == (progress.parts, 0, 0)
    assert progress.parts > 0


async def test_it_ends_when_the_service_is_gone(service: RunningService, tmp_path: Path) -> None:
    with pytest.raises(NetworkError):
        await mirror_through(service, tmp_path / "home", "/content", NetworkError("gone", request=""))


async def test_a_change_request_is_known_by_its_number_too(
    service: RunningService, whole: Path, tmp_path: Path
) -> None:
    desk = desk_on(service, copied(whole, tmp_path / "home"))
    known = desk.known(GetChangeRequest(space_id="api", change_request_id="5"))
    assert known
    assert known.value.subject == "Rewrite the auth guide"
    await desk.close()
