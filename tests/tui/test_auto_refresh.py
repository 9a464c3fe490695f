"""The background refresh: it starts while the user is idle, and pauses on key presses."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from time import monotonic
from types import SimpleNamespace
from typing import Any

import pytest

from presscheck.errors import NetworkError
from presscheck.tui import auto_refresh
from presscheck.tui.auto_refresh import AutoRefresh


async def test_unread_pages_are_synced_while_the_user_is_idle_and_online(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in (("IDLE", 0.005), ("POLL", 0.001), ("INTERVAL", 0.001)):
        monkeypatch.setattr(auto_refresh, name, seconds)
    synced, status, is_typing = list[int](), SimpleNamespace(online=True), True

    async def sync(pace: Callable[[], Any]) -> AsyncGenerator[int]:
        nonlocal is_typing
        await pace()
        synced.append(1)
        yield 1
        is_typing = len(synced) == 1
        await pace()
        synced.append(2)
        yield 2
        raise NetworkError("gone", request="GET /x")

    async def rests_at(count: int) -> None:
        async with asyncio.timeout(5):
            while len(synced) < count:  # noqa: ASYNC110
                await asyncio.sleep(0.001)
        await asyncio.sleep(0.03)
        assert len(synced) == count

    engine: Any = SimpleNamespace(sync=sync, status=status)
    refresh = AutoRefresh(engine, lambda: monotonic() if is_typing else 0.0)
    refresh.start()
    await rests_at(0)
    is_typing = False
    await rests_at(1)
    is_typing, status.online = False, False
    await rests_at(1)
    status.online = True
    async with asyncio.timeout(5):
        while len(synced) < 6:  # noqa: ASYNC110  after an error the sync starts again
            await asyncio.sleep(0.001)
    await refresh.close()
    count = len(synced)
    await rests_at(count)


async def test_an_unexpected_error_of_the_sync_is_reported_and_the_refresh_can_be_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reports, tries = list[Any](), list[int]()
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reports.append(context["exception"]))
    monkeypatch.setattr(auto_refresh, "INTERVAL", 0.001)

    async def sync(pace: Callable[[], Any]) -> AsyncGenerator[int]:
        tries.append(1)
        yield 1
        raise KeyError("bug")

    engine: Any = SimpleNamespace(sync=sync, status=SimpleNamespace(online=True))
    refresh = AutoRefresh(engine, lambda: 0.0)
    refresh.start()
    async with asyncio.timeout(5):
        while len(tries) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
    await refresh.close()
    assert [type(report) for report in reports[:1]] == [KeyError]
