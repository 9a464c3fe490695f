"""The rate limit: shared by all requests, which slow down before it is reached."""

import asyncio
import time
from email.utils import formatdate

import pytest
from httpx import Headers

from presscheck.api.spaces import GetSpace
from presscheck.api.users import GetCurrentUser
from presscheck.client.client import Client
from presscheck.client.request_priority import Budget, BudgetExhausted, Priority, RequestContext
from presscheck.errors import TooManyRequests

from .conftest import QUICK, TOKEN, FaultServer, http

READ = GetCurrentUser()


def told(left: int, seconds: float, *, limit: int = 100, status: int = 200) -> bytes:
    """An answer that tells how much is left, and for how long, by a clock that is a year behind."""
    then = int(time.time()) - 365 * 86400
    return http(
        status,
        {"id": "u1"},
        date=formatdate(then, usegmt=True),
        x_ratelimit_limit=str(limit),
        x_ratelimit_remaining=str(left),
        x_ratelimit_reset=str(int(then + seconds)),
    )


async def timed(client: Client, count: int) -> float:
    """Seconds that so many reads take, all at once."""
    began = time.monotonic()
    await asyncio.gather(*(client.send(GetSpace(space_id=f"s{number}")) for number in range(count)))
    return time.monotonic() - began


async def test_requests_do_not_wait_with_enough_budget(server: FaultServer, client: Client) -> None:
    server.script = [told(90, 600)]
    await client.send(READ)
    assert await timed(client, 20) < 5, "spread over the window, they would take two minutes"


@pytest.mark.slow
async def test_retry_after_applies_to_all_requests(server: FaultServer) -> None:
    server.script = [http(429, retry_after="1"), http(200, {"id": "u1"})]
    refused = asyncio.Event()
    async with Client(server.address, TOKEN, timeout=QUICK, on_exchange=lambda _: refused.set()) as client:
        first = asyncio.create_task(client.send(READ))
        await refused.wait()
        assert await timed(client, 3) > 0.8
        assert (await first).id == "u1"


@pytest.mark.slow
async def test_a_small_budget_is_spread_over_the_window(server: FaultServer, client: Client) -> None:
    server.script = [told(9, 2)]
    await client.send(READ)
    spent = await timed(client, 5)
    assert 0.6 < spent < 2, "five of the nine that are left, in two seconds"


@pytest.mark.slow
async def test_a_spent_budget_waits_for_the_next_window(server: FaultServer, client: Client) -> None:
    server.script = [told(0, 1), told(99, 600)]
    await client.send(READ)
    assert 0.8 < await timed(client, 1) < 2
    assert await timed(client, 10) < 5, "a new window, over which they would take a minute"


async def test_a_spent_budget_with_a_late_reset_is_an_error(server: FaultServer, client: Client) -> None:
    server.script = [told(0, 1800)]
    await client.send(READ)
    with pytest.raises(TooManyRequests, match="Rate limit of this token reached, try again in 30 min") as caught:
        await client.send(READ)
    assert caught.value.retry_after == pytest.approx(1800, abs=2)
    assert len(server.asked) == 1


@pytest.mark.slow
async def test_the_reserve_is_not_used_by_background_requests(server: FaultServer, client: Client) -> None:
    server.script = [told(10, 1), told(99, 60)]
    await client.send(READ)
    idle = [asyncio.create_task(client.fetch(READ, RequestContext(Priority.BACKGROUND))) for _ in range(20)]
    await asyncio.sleep(0)
    assert await timed(client, 2) < 0.8
    assert len(server.asked) == 3, "none that nobody waits for"
    await asyncio.gather(*idle)


@pytest.mark.slow
async def test_a_request_under_way_counts_for_the_reserve() -> None:
    budget = Budget(max_wait=3)
    ends = str(int(time.time()) + 10)
    headers = {"x-ratelimit-limit": "100", "x-ratelimit-remaining": "11", "x-ratelimit-reset": ends}
    budget.update_from(200, Headers(headers))
    budget.update_from(200, Headers(headers | {"x-ratelimit-remaining": "60"}))  # an older response that came later
    await budget.wait_for_turn(RequestContext(Priority.VISIBLE))
    with pytest.raises(BudgetExhausted) as caught:
        await budget.wait_for_turn(RequestContext(Priority.BACKGROUND))
    assert caught.value.seconds > 6, "nothing but the reserve is left, so it waits for the end of the window"


async def test_raising_the_priority_ends_the_wait(server: FaultServer, client: Client) -> None:
    server.script = [told(10, 2)]
    await client.send(READ)
    context, began = RequestContext(Priority.BACKGROUND), time.monotonic()
    waits = asyncio.create_task(client.fetch(READ, context))
    await asyncio.sleep(0.3)
    assert not waits.done()
    context.raise_priority(Priority.VISIBLE)
    await waits
    assert time.monotonic() - began < 0.9


async def test_cancelled_requests_do_not_delay_others(server: FaultServer, client: Client) -> None:
    server.script = [told(9, 2)]
    await client.send(READ)
    lost = [asyncio.create_task(client.fetch(READ)) for _ in range(8)]
    await asyncio.sleep(0.05)
    for task in lost:
        task.cancel()
    assert await timed(client, 1) < 0.5


async def test_invalid_rate_limit_headers_are_ignored(server: FaultServer, client: Client) -> None:
    server.script = [
        http(200, {"id": "u1"}, x_ratelimit_limit="many", x_ratelimit_remaining="0", x_ratelimit_reset="soon")
    ]
    await client.send(READ)
    assert await timed(client, 5) < 0.5


async def test_the_clock_skew_is_measured(server: FaultServer, client: Client) -> None:
    server.script = [told(9, 60)]
    await client.send(READ)
    assert client.clock_skew == pytest.approx(-365 * 86400, abs=3)
