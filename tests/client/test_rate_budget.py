"""The rate limit: all requests share it and slow down before it is reached."""

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

from .conftest import FaultServer, http

READ = GetCurrentUser()


def told(left: int, seconds: float, *, limit: int = 100, status: int = 200) -> bytes:
    """Return a response with rate limit headers: `left` requests for the next `seconds`.

    The clock of the service is a year behind.
    """
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
    """Return the seconds that `count` concurrent reads take."""
    began = time.monotonic()
    await asyncio.gather(*(client.send(GetSpace(space_id=f"s{number}")) for number in range(count)))
    return time.monotonic() - began


async def test_requests_do_not_wait_with_enough_budget(server: FaultServer, client: Client) -> None:
    server.script = [told(90, 600)]
    await client.send(READ)
    assert await timed(client, 20) < 5, "spread over the window, they would take two minutes"


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


async def test_raising_the_priority_ends_the_wait(server: FaultServer, client: Client) -> None:
    server.script = [told(10, 2)]
    await client.send(READ)
    context, began = RequestContext(Priority.BACKGROUND), time.monotonic()
    waits = asyncio.create_task(client.fetch(READ, context))
    await asyncio.sleep(0.3)
    assert not waits.done()
    context.raise_priority(Priority.VISIBLE)
    await waits
    assert time.monotonic() - began < 1.5, "it does not wait for the window to end"


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


def left(number: int, seconds: int) -> Headers:
    """Return rate limit headers: `number` requests for the next `seconds`."""
    ends = str(int(time.time()) + seconds)
    return Headers({"x-ratelimit-limit": "100", "x-ratelimit-remaining": str(number), "x-ratelimit-reset": ends})


async def wait_of(budget: Budget, priority: Priority = Priority.VISIBLE) -> float:
    """Return the seconds that a request would wait; fails if they do not exceed the limit of the budget."""
    with pytest.raises(BudgetExhausted) as caught:
        await budget.wait_for_turn(RequestContext(priority))
    return caught.value.seconds


@pytest.mark.parametrize("status", [429, 503])
async def test_all_requests_wait_for_the_retry_after_of_the_service(status: int) -> None:
    budget = Budget(max_wait=0)
    budget.update_from(status, Headers({"retry-after": "7"}))
    assert await wait_of(budget) == pytest.approx(7, abs=1)
    assert await wait_of(budget, Priority.BACKGROUND) == pytest.approx(7, abs=1)


async def test_a_spent_budget_waits_for_the_next_window() -> None:
    budget = Budget(max_wait=0)
    budget.update_from(200, left(0, 30))
    assert await wait_of(budget) == pytest.approx(30, abs=2)


async def test_a_small_budget_is_spread_over_the_window() -> None:
    budget = Budget(max_wait=45)
    budget.update_from(200, left(9, 100))
    others = [asyncio.create_task(budget.wait_for_turn(RequestContext(Priority.VISIBLE))) for _ in range(4)]
    await asyncio.sleep(0)
    assert await wait_of(budget) == pytest.approx(50, abs=2), "the fifth of nine, in a hundred seconds"
    for other in others:
        other.cancel()


async def test_requests_under_way_reduce_the_budget_above_the_reserve() -> None:
    budget = Budget(max_wait=3)
    budget.update_from(200, left(11, 10))
    budget.update_from(200, left(60, 10))  # an older response that arrived later
    budget._next = 0.0  # the last request was long ago
    await budget.wait_for_turn(RequestContext(Priority.VISIBLE))
    assert await wait_of(budget, Priority.BACKGROUND) > 6, "nothing but the reserve is left until the window ends"
