"""How many files of a checkout are read at the same time."""

import asyncio
import time
from collections.abc import Awaitable, Callable

import pytest

from presscheck.documents.git_format.exported import Key
from presscheck.engine.checkout.content import AT_ONCE, FEW_AT_ONCE, each

KEYS: list[Key] = [("page", f"{number}") for number in range(24)]


async def far(_: Key) -> None:
    await asyncio.sleep(0.01)


async def near(_: Key) -> None:
    until = time.process_time() + 0.0005
    while time.process_time() < until:
        pass
    await asyncio.sleep(0)


@pytest.mark.parametrize(("read", "most"), [(far, AT_ONCE), (near, FEW_AT_ONCE)])
async def test_a_far_service_is_asked_for_more_files_at_once(read: Callable[[Key], Awaitable[None]], most: int) -> None:
    running, seen, done = 0, 0, list[Key]()

    async def work(key: Key) -> None:
        nonlocal running, seen
        running += 1
        seen = max(seen, running)
        await read(key)
        running -= 1
        done.append(key)

    await each(KEYS, work)
    assert seen == most
    assert sorted(done) == sorted(KEYS)
