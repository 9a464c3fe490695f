"""The pending review: comments that are held in the outbox until they are submitted together."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.engine.write_samples import REQUEST, text

from presscheck.api.change_requests import CreateChangeRequest, SubmitReview
from presscheck.api.comments import PostComment
from presscheck.api.operation import Operation
from presscheck.engine.review.pending_review import PendingReview, draft_key
from presscheck.engine.writes.effects import may_wait
from presscheck.engine.writes.pending_writes import OutboxEntry, PendingWrite, PendingWrites, SignedInUser
from presscheck.engine.writes.write_queue import OutboxActions
from presscheck.store.outbox import Outbox

APPROVE = SubmitReview(**REQUEST, status="approved")


def said(words: str, request: str = "5") -> PostComment:
    return PostComment(space_id="api", change_request_id=request, body=text(words))


class Writes:
    """The write methods of an engine, with a real outbox; nothing is sent."""

    def __init__(self, outbox: Outbox) -> None:
        self.outbox, self.reads = outbox, 0
        self._pending = PendingWrites(outbox, SignedInUser(outbox))
        self._actions = OutboxActions(outbox, self._pending.reload)

    def waiting(self) -> tuple[OutboxEntry, ...]:
        self.reads += 1
        return self._pending.entries()

    def may_wait(self, call: type[Operation[Any]]) -> bool:
        return may_wait(call)

    def write(
        self, call: Operation[Any], *, hold: float = 0, collect: bool = False, agent: str | None = None
    ) -> PendingWrite[Any]:
        state, name = "collected" if collect else "waiting", call.stored_name()
        number = self.outbox.put(name, call.given(), "s", time.time(), hold=hold, state=state, agent=agent)
        self._pending.reload()
        return PendingWrite(number, call, asyncio.get_running_loop().create_future())

    def release(self, numbers: Any, *, hold: float = 0) -> None:
        self._actions.release(numbers, hold=hold)


@pytest.fixture
def writes(tmp_path: Path) -> Iterator[Writes]:
    outbox = Outbox(tmp_path / "outbox.sqlite")
    yield Writes(outbox)
    outbox.close()


def rows(writes: Writes) -> list[tuple[str, float]]:
    """Return the state of each row, and the minutes until it is due, rounded."""
    now = time.time()
    return [(row.state, round((row.not_before - now) / 60)) for row in writes.outbox.rows()]


async def test_started_review_holds_comments_until_it_is_submitted(writes: Writes) -> None:
    review = PendingReview(writes, "5")
    assert not review.is_started
    review.start()
    assert review.is_started
    assert PendingReview(writes, "5").is_started, "also after a restart"
    assert not PendingReview(writes, "6").is_started
    first, second = review.hold(said("One")), review.hold(said("Two"))
    elsewhere = PendingReview(writes, "6")
    elsewhere.hold(said("Other", "6"))
    writes.write(said("At once"))
    assert [entry.id for entry in review.entries()] == [first.id, second.id]
    assert elsewhere.is_started, "it has a held comment"
    third = review.hold(said("By a program"))
    ticket = review.submit(APPROVE, [first.id, second.id, 4, 999], hold=3600)
    assert ticket
    assert ticket.call == APPROVE
    states = dict(zip([row.id for row in writes.outbox.rows()], rows(writes), strict=True))
    assert [states[number] for number in (first.id, second.id, ticket.id)] == [("waiting", 60)] * 3
    assert states[third.id][0] == "collected", "the user was not asked about it"
    assert states[3][0] == "collected", "the one of the other change request"
    assert ticket.id > third.id, "the review comes last"
    assert [entry.id for entry in review.entries()] == [third.id]
    writes.outbox.drop(third.id)
    writes._pending.reload()
    assert not review.is_started, "submitting ends it"


async def test_a_review_without_comments_is_an_ordinary_write(writes: Writes) -> None:
    review = PendingReview(writes, "5")
    review.start()
    assert review.submit(APPROVE, [], hold=3600)
    assert rows(writes) == [("waiting", 60)]
    assert not review.is_started
    review.submit(CreateChangeRequest(space_id="api", subject="New"), [], hold=3600)
    assert rows(writes)[1] == ("waiting", 0), "what cannot be queued cannot be held"


async def test_held_comments_stay_after_the_end_of_the_review_and_can_be_sent_alone(writes: Writes) -> None:
    review = PendingReview(writes, "5")
    held = review.hold(said("One"))
    review.end()
    assert [entry.id for entry in review.entries()] == [held.id]
    assert review.submit(None, []) is None
    assert rows(writes)[0][0] == "collected"
    assert review.submit(None, [held.id]) is None
    assert rows(writes) == [("waiting", 0)]


async def test_the_outbox_is_read_again_only_after_a_change(writes: Writes, monkeypatch: pytest.MonkeyPatch) -> None:
    review = PendingReview(writes, "5")
    assert not review.is_started
    recalled: list[str] = []
    monkeypatch.setattr(writes.outbox, "recall", recalled.append)
    assert not review.is_started
    assert review.entries() == ()
    assert recalled == []
    monkeypatch.undo()
    writes.outbox.remember("review of 5", "begun")
    assert not review.is_started
    writes.write(said("x"))
    assert review.is_started


def test_key_of_a_draft_contains_the_change_request_and_the_name() -> None:
    assert draft_key("c", "reply 1") == "review c reply 1"
