"""Reads, writes and health checks run concurrently without delaying each other, on both engines."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import httpx
import pytest
from tests.running_service import RunningService
from tests.service.engines import locked
from tests.service.factories import World
from tests.service.web_pages import write

from presscheck.service import app
from presscheck.service.http.turns import RETRY_AFTER

WRITERS = 45
PROMPT = 1.0
"""Maximum duration in seconds of a call that waits for no other, on a busy machine."""
LOCK_WAIT = 4.0
"""Seconds, fewer than a writer waits for the lock: a call that waits for the writer takes longer."""
COMMENT = {"body": {"markdown": "Hm"}}


@pytest.fixture
async def http(world: World) -> AsyncIterator[httpx.AsyncClient]:
    headers = {"authorization": f"Bearer {world.tokens['admin']}"}
    limits = httpx.Limits(max_connections=200)
    async with httpx.AsyncClient(base_url=world.base_url, headers=headers, timeout=60, limits=limits) as client:
        yield client


async def slowest(http: httpx.AsyncClient, path: str, during: asyncio.Future[object] | float) -> float:
    """Return the duration in seconds of the slowest of 100 reads, or of the reads until `during` is done."""
    longest = 0.0
    for _ in range(100):
        begun = time.perf_counter()
        assert (await http.get(path)).status_code == 200, path
        longest = max(longest, time.perf_counter() - begun)
        if isinstance(during, asyncio.Future) and during.done():
            break
    return longest


@pytest.mark.engines
async def test_waiting_writers_do_not_delay_other_calls(
    service: RunningService, world: World, http: httpx.AsyncClient
) -> None:
    members = f"/v1/orgs/{world.organization}/members"
    await http.get(members)
    with locked(service.database_url):
        path = f"/v1/spaces/{world.space}/comments"
        writes = [asyncio.create_task(http.post(path, json=COMMENT)) for _ in range(WRITERS)]
        await asyncio.sleep(0.3)
        assert not any(write.done() for write in writes)
        for name in ("/healthz", members, f"/v1/spaces/{world.space}"):
            assert await slowest(http, name, 0) < LOCK_WAIT
    responses = await asyncio.gather(*writes)
    assert {response.status_code for response in responses} == {200}
    assert len({response.json()["id"] for response in responses}) == WRITERS, "no write is made twice"


@pytest.mark.slow
@pytest.mark.engines
async def test_writers_beyond_the_queue_get_503_with_retry_after(
    service: RunningService, world: World, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.stop()
    with monkeypatch.context() as patched:
        patched.setattr(app, "MOST_WAITING", 5)
        service.start()
        await overfill(service, world, http)
    service.stop()  # other tests share the service
    service.start()


async def overfill(service: RunningService, world: World, http: httpx.AsyncClient) -> None:
    assert (await http.get("/readyz")).status_code == 200
    with locked(service.database_url):
        path = f"/v1/spaces/{world.space}/comments"
        writes = [asyncio.create_task(http.post(path, json=COMMENT)) for _ in range(10)]
        done, _ = await asyncio.wait(writes, timeout=3)
        refused = [write.result() for write in done]
        assert [response.status_code for response in refused] == [503] * 4, "one waits for the lock, five for that one"
        assert {response.headers["retry-after"] for response in refused} == {str(RETRY_AFTER)}
        assert "try again later" in refused[0].json()["error"]["message"]
    assert sorted([(await write).status_code for write in writes]) == [200] * 6 + [503] * 4


@pytest.mark.slow
async def test_large_page_as_document_does_not_delay_other_calls(world: World, http: httpx.AsyncClient) -> None:
    await write(world, "\n\n".join(f"A paragraph with **some** words, number {number}." for number in range(4_000)))
    page = f"/v1/spaces/{world.space}/content/page/start?format=document"
    for _ in range(60):  # cheap reads of the same operation come first
        assert (await http.get(f"/v1/spaces/{world.space}/content/page/guide?format=document")).status_code == 200
    large = asyncio.ensure_future(http.get(page))
    await asyncio.sleep(0.05)
    assert await slowest(http, "/healthz", large) < PROMPT
    assert (await large).status_code == 200


@pytest.mark.engines
async def test_readiness_check_succeeds_while_the_database_is_locked(
    service: RunningService, http: httpx.AsyncClient
) -> None:
    assert (await http.get("/readyz")).json() == {"status": "ok"}
    with locked(service.database_url):
        assert (await http.get("/readyz")).status_code == 200, "reads go on"
    assert (await http.get("/healthz")).json() == {"status": "ok"}
