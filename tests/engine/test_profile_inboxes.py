"""Inboxes of several profiles, each with its own engine, which is opened and closed separately."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from tests.engine.live_engine import engine_on, running_engine, until
from tests.running_service import RunningService

from presscheck.engine.engine import Engine
from presscheck.engine.inbox import profile_inboxes
from presscheck.engine.inbox.profile_inboxes import SHOWN_VIEWS, ProfileInboxes
from presscheck.errors import NoToken

pytestmark = pytest.mark.service(sample=True, shared=True)
NEEDS_ME = SHOWN_VIEWS[0]


class Opened:
    """A function that opens engines of other profiles on a service; the profile `bare` has no token."""

    def __init__(self, service: RunningService, home: Path) -> None:
        self._service, self._home = service, home
        self.names: list[str] = []
        self.closed: list[str] = []

    async def __call__(self, name: str) -> Engine:
        self.names.append(name)
        if name == "bare":
            raise NoToken("no token")
        engine = engine_on(self._service, self._home, name=name)
        close = engine.close

        async def closing() -> None:
            self.closed.append(name)
            await close()

        engine.close = closing  # type: ignore[method-assign]
        await engine.start()
        return engine


@asynccontextmanager
async def kept_fresh(inboxes: ProfileInboxes) -> AsyncIterator[None]:
    """Keep the inboxes fresh while the block runs."""
    task = asyncio.create_task(inboxes.keep_fresh(lambda: None))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def test_engines_of_other_profiles_are_opened_once_and_closed(service: RunningService, tmp_path: Path) -> None:
    opened = Opened(service, tmp_path)
    async with running_engine(service, tmp_path) as engine:
        inboxes = ProfileInboxes("work", engine, opened)
        await inboxes.choose(["work", "client", "third"])
        assert opened.names == []
        async with kept_fresh(inboxes):
            await until(lambda: all(inbox.is_answered for inbox in inboxes.inboxes))
        assert sorted(opened.names) == ["client", "third"]
        assert [row.profile for row in inboxes.rows(NEEDS_ME)[:3]].count("client") == 1, "those updated last come first"
        await inboxes.choose(["client", "work"])
        assert opened.closed == ["third"]
        async with kept_fresh(inboxes):
            await until(lambda: len(inboxes.rows(NEEDS_ME)) == 2 * len(inboxes.inboxes[0].rows[NEEDS_ME.id]))
        assert sorted(opened.names) == ["client", "third"], "it stays open"
        await inboxes.close()
        assert opened.closed == ["third", "client"]
        assert engine.status.online, "the app closes its own engine"


async def test_profile_without_a_token_is_opened_again_only_on_request(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profile_inboxes, "POLL_INTERVAL", 0.05)
    opened = Opened(service, tmp_path)
    async with running_engine(service, tmp_path) as engine:
        inboxes = ProfileInboxes("work", engine, opened)
        await inboxes.choose(["bare", "work"])
        bare, work = inboxes.inboxes
        async with kept_fresh(inboxes):
            await until(lambda: work.is_answered and bare.is_answered)
            seen = len(await anext(engine.activity()))
            await until(lambda: _more(engine, seen))
            assert isinstance(bare.error, NoToken)
            assert opened.names == ["bare"], "its token may come from a program that asks the user"
            inboxes.wake()
            await until(lambda: opened.names == ["bare", "bare"])
        assert inboxes.inbox("work") is work
        assert work.error is None
        await inboxes.close()


async def test_cancellation_together_with_a_wake_ends_the_refresh(service: RunningService, tmp_path: Path) -> None:
    async with running_engine(service, tmp_path) as engine:
        inboxes = ProfileInboxes("work", engine, Opened(service, tmp_path))
        await inboxes.choose(["work"])
        task = asyncio.create_task(inboxes.keep_fresh(lambda: None))
        await until(lambda: inboxes.inboxes[0].is_answered)
        await asyncio.sleep(0)
        inboxes.wake()
        task.cancel()
        async with asyncio.timeout(5):
            with pytest.raises(asyncio.CancelledError):
                await task


async def _more(engine: Engine, seen: int) -> bool:
    return len(await anext(engine.activity())) > seen
