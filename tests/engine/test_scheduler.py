"""Request scheduling: priorities, shared requests, cancellation."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from tests.client.conftest import TOKEN, Exchanged, FaultServer, http
from tests.engine.live_engine import places_in, until

from presscheck.api.operation import Operation
from presscheck.api.organizations import ListOrganizations
from presscheck.api.spaces import GetSpace
from presscheck.api.users import GetCurrentUser
from presscheck.client.client import Client
from presscheck.client.request_priority import Priority
from presscheck.config.profile import Profile
from presscheck.engine.reads.scheduler import AT_ONCE, BACKGROUND, PREFETCH, REQUESTED, VISIBLE, RequestScheduler
from presscheck.errors import NetworkError, StoreError
from presscheck.wiring import open_engine


class Slow(FaultServer):
    """A server that answers one request for each release of `gate`."""

    def __init__(self) -> None:
        super().__init__(script=[self.wait])
        self.gate = asyncio.Semaphore(0)

    async def wait(self, exchanged: Exchanged) -> None:
        gone = asyncio.create_task(exchanged.hang())
        gate = asyncio.create_task(self.gate.acquire())
        done, rest = await asyncio.wait((gone, gate), return_when=asyncio.FIRST_COMPLETED)
        if gate in done:
            await exchanged.write(http(200, {"object": "user", "id": "x", "displayName": "X"}))
        for one in rest:
            one.cancel()

    @property
    def names(self) -> list[str]:
        return [one.target.rpartition("/")[2] for one in self.asked]


@pytest.fixture
async def slow() -> AsyncIterator[Slow]:
    async with Slow().listening() as made:
        yield made


@asynccontextmanager
async def asking_of(slow: Slow) -> AsyncIterator[RequestScheduler]:
    asking = RequestScheduler(lambda: Client(slow.address, TOKEN), lambda: None)
    asking.start()
    try:
        yield asking
    finally:
        await asking.close()


def begin(asking: RequestScheduler, names: Iterable[str], priority: Priority) -> list[asyncio.Task[bytes]]:
    return [asyncio.create_task(asking.fetch(space(name), priority)) for name in names]


def space(name: str) -> Operation[Any]:
    return GetSpace(space_id=name)


async def left(*tasks: asyncio.Task[Any]) -> None:
    for task in tasks:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def test_callers_receive_the_error_of_an_unreadable_state_file(slow: Slow) -> None:
    """Changes of the connection status count the waiting writes in a file that may be damaged."""

    def count() -> None:
        raise StoreError("the file is damaged")

    asking = RequestScheduler(lambda: Client("https://docs.invalid", TOKEN), count)
    asking.start()
    with pytest.raises(StoreError, match="the file is damaged"):
        await asyncio.wait_for(asking.fetch(space("unreachable")), 10)
    await asking.close()
    asking = RequestScheduler(lambda: Client(slow.address, TOKEN), count)
    asking.start()
    waiting = asyncio.create_task(asking.fetch(space("found")))
    await slow.has_been_asked(1)
    asking.offline = NetworkError("unreachable", request="GET /user")
    slow.gate.release()
    with pytest.raises(StoreError, match="the file is damaged"):
        await asyncio.wait_for(waiting, 10)
    await asking.close()


async def test_a_higher_priority_is_sent_first(slow: Slow) -> None:
    full = AT_ONCE[VISIBLE]
    async with asking_of(slow) as asking:
        begin(asking, [f"e{number}" for number in range(full)], VISIBLE)
        await slow.has_been_asked(full)
        for priority in (BACKGROUND, PREFETCH, REQUESTED, VISIBLE):
            begin(asking, [priority.name], priority)
        for count in range(1, 5):
            slow.gate.release()
            await slow.has_been_asked(full + count)
        assert slow.names[full:] == ["VISIBLE", "REQUESTED", "PREFETCH", "BACKGROUND"]


async def test_slow_requests_leave_room_for_visible_ones(slow: Slow) -> None:
    async with asking_of(slow) as asking:
        for priority in (BACKGROUND, PREFETCH, REQUESTED):
            begin(asking, [f"{priority.name}{number}" for number in range(20)], priority)
            await slow.has_been_asked(AT_ONCE[priority])
        seen = begin(asking, ["seen"], VISIBLE)
        await slow.has_been_asked(AT_ONCE[REQUESTED] + 1)
        assert slow.names[-1] == "seen"
        assert sum(name.startswith("BACK") for name in slow.names) == AT_ONCE[BACKGROUND]
        assert not seen[0].done()


async def test_equal_requests_are_shared_and_get_the_higher_priority(slow: Slow) -> None:
    async with asking_of(slow) as asking:
        begin(asking, ["b1", "b2", "b3"], BACKGROUND)
        await slow.has_been_asked(2)
        twins = begin(asking, ["b3", "b3"], VISIBLE)
        await slow.has_been_asked(3)
        assert slow.names[2] == "b3", "it waits no longer behind what is slow"
        for _ in range(3):
            slow.gate.release()
        assert len({task.result() for task in (await asyncio.wait(twins))[0]}) == 1
        assert slow.names.count("b3") == 1


async def test_requests_without_callers_are_cancelled(slow: Slow) -> None:
    async with asking_of(slow) as asking:
        under_way = begin(asking, ["n1", "n2", "n3", "n4"], PREFETCH)
        await slow.has_been_asked(4)
        queued = begin(asking, ["n5", "n6"], PREFETCH)
        await asyncio.sleep(0)
        await left(queued[0], *under_way[:2])
        await until(lambda: slow.open_now == 3)
        await slow.has_been_asked(5)
        assert slow.names == ["n1", "n2", "n3", "n4", "n6"]


async def test_a_cancelled_caller_leaves_a_shared_request_to_the_next(slow: Slow) -> None:
    async with asking_of(slow) as asking:
        first, second = begin(asking, ["a", "a"], VISIBLE)
        await slow.has_been_asked(1)
        await left(first)
        await left(second)
        again = begin(asking, ["a"], VISIBLE)
        await asyncio.sleep(0.4)
        slow.gate.release()
        assert await again[0]
        assert slow.names == ["a"]


async def test_read_after_a_write_is_shared_only_with_later_reads(slow: Slow) -> None:
    async with asking_of(slow) as asking:
        before = begin(asking, ["a"], VISIBLE)
        await slow.has_been_asked(1)
        asking.stop_sharing(("/spaces/*",))
        after = begin(asking, ["a"], VISIBLE)
        await slow.has_been_asked(2)
        slow.gate.release()
        await before[0]
        more = begin(asking, ["a"], VISIBLE)
        slow.gate.release()
        assert await after[0] is await more[0], "what ended before them is not theirs"
        assert slow.names == ["a", "a"]


async def test_closing_a_subscription_cancels_its_own_request(slow: Slow, tmp_path: Path) -> None:
    engine = open_engine(Profile(base_url=slow.address, token=TOKEN), places_in(tmp_path))
    engine._scheduler.start()

    async def look(call: Operation[Any]) -> None:
        async for _ in engine.watch(call):
            pass

    screens = [asyncio.create_task(look(call)) for call in (GetCurrentUser(), GetCurrentUser(), ListOrganizations())]
    await slow.has_been_asked(2)
    await left(screens[0], screens[2])
    await until(lambda: slow.open_now == 1)
    slow.gate.release()
    await until(lambda: engine.known(GetCurrentUser()) is not None)
    assert not engine.known(ListOrganizations())
    await left(screens[1])
    await engine.close()
