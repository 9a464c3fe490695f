"""Unsent writes: the entries of the outbox, the signed-in user, and the actions on unsent writes."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from tests.engine.write_samples import REQUEST, THREAD, pages, text

from presscheck.api import comments
from presscheck.api.change_requests import ChangeRequest, GetChangeRequest, MergeChangeRequest, UpdateChangeRequest
from presscheck.api.content_changes import InsertPage
from presscheck.api.operation import Operation
from presscheck.api.users import User
from presscheck.engine.shared_calls import changed_page
from presscheck.engine.writes.pending_writes import PendingWrite, PendingWrites, SignedInUser
from presscheck.engine.writes.write_queue import UNANSWERED, OutboxActions
from presscheck.store.outbox import Outbox

EDIT = comments.UpdateComment(**THREAD, body=text("New"))
RENAME, GET = UpdateChangeRequest(**REQUEST, subject="After"), GetChangeRequest(**REQUEST)


def put(outbox: Outbox, call: Operation[object], state: str = "waiting") -> int:
    number = outbox.put(call.stored_name(), call.given(), "scope", 5.0)
    if state != "waiting":
        outbox.reschedule(number, 0, "Why", state=state)
    return number


def test_entries_are_queued_writes_without_immediate_ones(outbox: Outbox) -> None:
    numbers = [put(outbox, EDIT), put(outbox, RENAME, "refused")]
    put(outbox, MergeChangeRequest(**REQUEST), "now")
    numbers.append(outbox.put("noSuchOperation", {"x": 1}, "scope", 6.0))
    pending = PendingWrites(outbox, SignedInUser(outbox))
    first, second, unreadable = pending.entries()
    assert [first.id, second.id, unreadable.id] == numbers
    assert (first.call, first.state, first.error, first.created_at) == (EDIT, "waiting", None, 5.0)
    assert first.name == EDIT.stored_name()
    assert (second.call, second.state, second.error) == (RENAME, "refused", "Why")
    assert (unreadable.call, unreadable.name) == (None, "noSuchOperation")
    assert pending.entries() is pending.entries(), "the same tuple until the outbox changes"


def test_reload_returns_the_changed_calls(outbox: Outbox) -> None:
    pending = PendingWrites(outbox, SignedInUser(outbox))
    assert pending.reload() == ()
    number = put(outbox, EDIT)
    outbox.put("noSuchOperation", {}, "scope", 6.0)
    assert pending.entries() == ()
    assert pending.reload() == (EDIT,)
    other = comments.UpdateComment(**THREAD, body=text("Newer"))
    outbox.rewrite(number, other.given())
    assert pending.reload() == (EDIT, other), "what the former call changed is news as well"
    put(outbox, RENAME)
    assert pending.reload() == (RENAME,)
    outbox.drop(number)
    assert pending.reload() == (other,)
    assert pending.reload() == ()


def test_entry_of_an_unchanged_write_is_reused(outbox: Outbox) -> None:
    """Otherwise each sent write would rebuild the entries of a thousand waiting ones."""
    pending = PendingWrites(outbox, SignedInUser(outbox))
    first, second = put(outbox, EDIT), put(outbox, RENAME)
    before = {entry.id: entry for entry in pending.entries()}
    outbox.reschedule(first, 0, "Why", state="refused")
    put(outbox, EDIT)
    pending.reload()
    after = {entry.id: entry for entry in pending.entries()}
    assert after[second] is before[second]
    assert (before[first].state, after[first].state) == ("waiting", "refused")


def test_unsent_writes_are_shown_in_responses(outbox: Outbox) -> None:
    pending, answer = PendingWrites(outbox, SignedInUser(outbox)), ChangeRequest(id="5", space="api", subject="Before")
    assert pending.apply(GET, answer) is answer
    put(outbox, RENAME)
    pending.reload()
    assert pending.apply(GET, answer).subject == "After"


def test_the_signed_in_user_is_stored(outbox: Outbox) -> None:
    signed_in = SignedInUser(outbox)
    assert (signed_in.user.id, signed_in.user.display_name) == ("me", "you")
    signed_in.remember(User(id="ida", display_name="Ida Ray"))
    assert signed_in.user.id == "ida"
    assert SignedInUser(outbox).user == User(id="ida", display_name="Ida Ray")
    SignedInUser(outbox).remember(User(id="ada"))
    assert signed_in.user.id == "ida"
    signed_in.forget()
    assert signed_in.user.id == "ada"


def test_a_read_of_an_added_page_uses_its_id_from_the_service_once_it_is_added(outbox: Outbox) -> None:
    pending = PendingWrites(outbox, SignedInUser(outbox))
    number = put(outbox, pages(InsertPage(title="New", document=text("x"))))
    read, other = changed_page("api", "5", f"waiting:{number}"), changed_page("api", "5", "p1")
    assert pending.resolved(read) is read, "only the outbox has the page"
    outbox.delivered(number, "p9", result={"pages": ["p9"]})
    assert pending.resolved(read) == changed_page("api", "5", "p9")
    for unaffected in (other, GET):
        assert pending.resolved(unaffected) is unaffected


async def test_cancelling_a_wait_does_not_cancel_the_write() -> None:
    outcome: asyncio.Future[object] = asyncio.get_running_loop().create_future()
    write = PendingWrite(7, EDIT, outcome)  # type: ignore[arg-type]
    waiting = asyncio.create_task(write.landed())
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    outcome.set_result("sent")
    assert (await write.landed(), write.id, write.call) == ("sent", 7, EDIT)


class TestActions:
    """Tests of actions on unsent writes."""

    @pytest.fixture
    def changes(self) -> list[str]:
        return []

    @pytest.fixture
    def actions(self, outbox: Outbox, changes: list[str]) -> OutboxActions:
        return OutboxActions(outbox, lambda: changes.append("changed"))

    def test_unsend(self, outbox: Outbox, actions: OutboxActions, changes: list[str]) -> None:
        waiting, sending = put(outbox, EDIT), put(outbox, RENAME, "sending")
        unreadable = outbox.put("noSuchOperation", {}, "scope", 6.0)
        assert actions.unsend(sending) is None
        assert actions.unsend(999) is None
        assert changes == []
        assert actions.unsend(waiting) == EDIT
        assert actions.unsend(unreadable) is None
        assert len(changes) == 2
        assert [row.id for row in outbox.rows()] == [sending]

    def test_retry_rewrite_and_drop(self, outbox: Outbox, actions: OutboxActions, changes: list[str]) -> None:
        number, sending = put(outbox, EDIT, "refused"), put(outbox, RENAME, "sending")
        assert actions.retry(number)
        assert not actions.retry(sending)
        assert [row.state for row in outbox.rows()] == ["waiting", "sending"]
        other = comments.UpdateComment(**THREAD, body=text("Newer"))
        assert actions.rewrite(number, other)
        assert not actions.rewrite(sending, RENAME)
        row = outbox.row(number)
        assert row
        assert row.given == other.given()
        assert actions.drop(number, only_held=False)
        assert not actions.drop(number, only_held=False)
        assert not actions.drop(sending, only_held=False)
        assert [row.id for row in outbox.rows()] == [sending]
        assert len(changes) == 5

    def test_send_now(self, outbox: Outbox, actions: OutboxActions, changes: list[str]) -> None:
        put(outbox, EDIT, "refused")
        behind = put(outbox, EDIT)
        assert outbox.held_up()
        assert actions.send_now(behind)
        assert (outbox.held_up(), len(changes)) == ({}, 1)

    def test_write_in_delivery_is_discarded_only_if_no_other_instance_may_send(
        self, outbox: Outbox, tmp_path: Path, changes: list[str]
    ) -> None:
        other = Outbox(tmp_path / "outbox.sqlite")
        waiting, sending = put(outbox, EDIT), put(outbox, RENAME, "sending")
        actions = OutboxActions(other, lambda: changes.append("changed"))
        assert outbox.may_send()
        assert not actions.drop_unanswered(sending)
        outbox.close()
        assert not actions.drop_unanswered(waiting), "it was not sent"
        assert not actions.drop_unanswered(999)
        assert changes == []
        assert actions.drop_unanswered(sending)
        assert (changes, [row.id for row in other.rows()]) == (["changed"], [waiting])
        assert [(row.state, row.error) for row in other.history()] == [("refused", UNANSWERED)]
        other.close()

    def test_release(self, outbox: Outbox, actions: OutboxActions, changes: list[str]) -> None:
        held = [put(outbox, EDIT, "collected") for _ in range(3)]
        before = time.time()
        actions.release(held[:1])
        actions.release(held[1:2], hold=60)
        now = time.time()
        first, second, third = outbox.rows()
        assert [first.state, second.state, third.state] == ["waiting", "waiting", "collected"]
        assert before <= first.not_before <= now
        assert before + 60 <= second.not_before <= now + 60
        assert len(changes) == 2
