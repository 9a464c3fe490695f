"""The number of files that a checkout reads concurrently."""

import asyncio
from dataclasses import dataclass

import pytest

from presscheck.documents.git_format.exported import Key
from presscheck.engine.checkout import content
from presscheck.engine.checkout.content import AT_ONCE, FEW_AT_ONCE, each

KEYS: list[Key] = [("page", f"{number}") for number in range(24)]


@dataclass
class Clock:
    """A replacement for `time` whose clocks only the test advances, so that a busy machine does not matter."""

    now: float = 0.0
    worked: float = 0.0

    def monotonic(self) -> float:
        return self.now

    def process_time(self) -> float:
        return self.worked


@pytest.mark.parametrize(("worked", "waited", "most"), [(0.002, 0.01, AT_ONCE), (0.002, 0.001, FEW_AT_ONCE)])
async def test_slow_service_gets_more_concurrent_requests(
    monkeypatch: pytest.MonkeyPatch, worked: float, waited: float, most: int
) -> None:
    clock = Clock()
    monkeypatch.setattr(content, "time", clock)
    running, seen, done = 0, 0, list[Key]()

    async def work(key: Key) -> None:
        nonlocal running, seen
        running += 1
        seen = max(seen, running)
        clock.worked += worked
        clock.now += worked + waited
        await asyncio.sleep(0)
        running -= 1
        done.append(key)

    await each(KEYS, work)
    assert seen == most
    assert sorted(done) == sorted(KEYS)
