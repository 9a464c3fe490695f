"""Live updates of an open review: when they poll, and what they refresh after a change."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.engine.live_engine import until
from tests.engine.review_engine import ReviewEngine, comment, request

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.operation import Operation
from presscheck.api.organizations import GetOrganization
from presscheck.api.spaces import Space
from presscheck.engine.review import live_updates
from presscheck.engine.review.live_updates import INTERVAL, MAX_INTERVAL, MAX_POSTPONED, LiveUpdates
from presscheck.engine.review.model import ReviewModel
from presscheck.engine.shared_calls import changes_in, comments_on, reviewers_of, reviews_of
from presscheck.errors import PresscheckError
from presscheck.store.outbox import Outbox

REQUEST = request()
TALK = [reviews_of(REQUEST), reviewers_of(REQUEST), comments_on(REQUEST)]


def test_a_review_is_polled_at_most_twelve_times_a_minute() -> None:
    assert 60 / INTERVAL <= 12
    assert INTERVAL <= 5


class Polled:
    """An engine with scripted polls that records refreshed calls; its clock advances only with `tick`."""

    def __init__(self) -> None:
        self.status = SimpleNamespace(online=True, waiting=0)
        self.is_shown = True
        self.answers: list[ChangeRequest | Exception] = []
        self.polls, self.refreshed, self.waits = 0, list[Operation[Any] | None](), list[float]()
        self._ticks = asyncio.Semaphore(0)

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        await self._ticks.acquire()

    async def tick(self) -> list[Operation[Any] | None]:
        """End the current pause. Returns the calls that are refreshed before the next one."""
        pauses = len(self.waits)
        self.refreshed.clear()
        self._ticks.release()
        await until(lambda: len(self.waits) > pauses)
        return [*self.refreshed]

    async def poll(self, call: Any) -> Any:
        assert call.change_request_id == "5"
        self.polls += 1
        answer = self.answers.pop(0) if self.answers else REQUEST
        if isinstance(answer, Exception):
            raise answer
        return answer

    def refresh(self, call: Operation[Any] | None = None) -> None:
        self.refreshed.append(call)


@pytest.fixture
def model(tmp_path: Path) -> Iterator[ReviewModel]:
    outbox = Outbox(tmp_path / "outbox.sqlite")
    model = ReviewModel(ReviewEngine(outbox), "s", "5")
    model.set_request(REQUEST)
    model.space = Space(id="s", organization="o")
    yield model
    outbox.close()


@pytest.fixture
async def polled(model: ReviewModel, monkeypatch: pytest.MonkeyPatch) -> Any:
    engine = Polled()
    monkeypatch.setattr(live_updates, "sleep", engine.sleep)
    task = asyncio.create_task(LiveUpdates(engine, model, lambda: engine.is_shown).run())  # type: ignore[arg-type]
    await until(lambda: bool(engine.waits))
    yield engine
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_changed_parts_are_refreshed(polled: Polled, model: ReviewModel) -> None:
    assert await polled.tick() == [], "it has not moved"
    moved = request(updatedAt="2026-11-21T00:00:00Z")
    polled.answers = [moved, moved, REQUEST]
    assert await polled.tick() == TALK, "the content has not changed"
    assert await polled.tick() == [], "compared with the last poll"
    model.discussion.set_comments(None, (comment("1", "One"),))
    model.discussion.set_comments("p2", (comment("2", "Two"),))
    assert await polled.tick() == [*TALK, comments_on(REQUEST).model_copy(update={"page": "p2"})]
    for changed in (request(revision="r3"), request(revision="r3", outdated=True)):
        polled.answers = [changed]
        found = await polled.tick()
        assert found[0] == changes_in(REQUEST)
        assert {call for call in found if call} >= {*TALK}
        assert GetOrganization(organization_id="o") not in found
        assert len(found) == len([*model.calls()]), "all but the organization, and the second page of comments"
    assert {*polled.waits} == {INTERVAL}


async def test_a_review_that_is_hidden_or_offline_is_not_polled(polled: Polled) -> None:
    polled.is_shown = False
    await polled.tick()
    polled.is_shown, polled.status.online = True, False
    await polled.tick()
    assert polled.polls == 0
    polled.status.online = True
    await polled.tick()
    assert polled.polls == 1


async def test_some_polls_are_skipped_while_a_write_is_waiting(polled: Polled) -> None:
    polled.status.waiting = 1
    polls = []
    for _ in range(2 * (MAX_POSTPONED + 1)):
        await polled.tick()
        polls.append(polled.polls)
    assert polls == [0, 0, 1, 1, 1, 2]


async def test_pauses_grow_after_failed_polls(polled: Polled) -> None:
    polled.answers = [PresscheckError("no") for _ in range(6)]
    for _ in range(7):
        await polled.tick()
    assert polled.waits == [INTERVAL, 10.0, 20.0, 40.0, MAX_INTERVAL, MAX_INTERVAL, MAX_INTERVAL, INTERVAL]
