"""The outbox worker without a network: what it sends and when, and the states of failed writes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.engine.live_engine import until
from tests.engine.scripted_service import ScriptedService
from tests.engine.write_samples import REQUEST, THREAD, page, pages, text

from presscheck.api import comments
from presscheck.api.change_requests import (
    CreateChangeRequest,
    GetChangeRequest,
    MergeChangeRequest,
    SubmitReview,
    UpdateChangeRequest,
)
from presscheck.api.operation import Operation
from presscheck.engine.reads.scheduler import RequestScheduler
from presscheck.engine.shared_calls import changed_page
from presscheck.engine.writes import delivery
from presscheck.engine.writes.delivery import (
    ABANDONED,
    ABANDONED_AFTER,
    LONGEST_PAUSE,
    OTHER_AUTHOR,
    DeliveryReconciler,
    ImmediateSender,
    OutboxWorker,
    UndoGuard,
)
from presscheck.engine.writes.effects import effects_of
from presscheck.engine.writes.folder_push import PushFolder
from presscheck.engine.writes.page_merge import page_base
from presscheck.errors import (
    Ambiguous,
    Forbidden,
    MalformedAnswer,
    NetworkError,
    NotFound,
    NotSignedIn,
    PresscheckError,
    ServiceFailed,
    StoreError,
    TooManyRequests,
)
from presscheck.store.outbox import PART, Outbox, Row

POST = comments.PostComment(**REQUEST, body=text("Hello"))
COMMENTS = comments.ListComments(**REQUEST, format="markdown", order="desc", limit=1000)
EDIT = comments.UpdateComment(**THREAD, body=text("New"))
MERGE, GET = MergeChangeRequest(**REQUEST), GetChangeRequest(**REQUEST)
NONE: dict[str, Any] = {"items": []}
SETTLE = 0.01


def elsewhere(number: int, subject: str = "New") -> UpdateChangeRequest:
    """Return a write to another change request, which has its own scope."""
    return UpdateChangeRequest(space_id="api", change_request_id=f"other-{number}", subject=subject)


def comment(identity: str, markdown: str = "Hello", author: str = "me") -> dict[str, Any]:
    user = {"object": "user", "id": author}
    return {"object": "comment", "id": identity, "postedBy": user, "body": {"markdown": markdown}}


@dataclass
class Delivery:
    """A worker with a real outbox, and what the worker has reported."""

    outbox: Outbox
    service: ScriptedService = field(default_factory=ScriptedService)
    me: str | Exception = "me"
    delivered: list[tuple[int, bytes, Any]] = field(default_factory=list)
    refused: list[tuple[int, PresscheckError]] = field(default_factory=list)
    pushed: list[PushFolder] = field(default_factory=list)
    changes: int = 0

    def __post_init__(self) -> None:
        self.scheduler = RequestScheduler(lambda: self.service, lambda: None)
        self.reconciler = DeliveryReconciler(self.scheduler, SETTLE)
        self.reconciler.timeout = 0.0
        self.guard = UndoGuard(self.outbox, self.reconciler.read, self._keep)
        self.worker = OutboxWorker(
            self.outbox,
            self.scheduler,
            self.reconciler,
            self.guard,
            push=self._push,
            user_id=self._user_id,
            delivered=self._delivered,
            refused=lambda row, error: self.refused.append((row.id, error)),
            changed=self._changed,
        )
        self.sender = ImmediateSender(self.outbox, self.scheduler, self.reconciler, self.guard, self._user_id)

    async def _push(self, call: PushFolder) -> None:
        self.pushed.append(call)
        await asyncio.sleep(0)

    async def _keep(self, *_: Any) -> None:
        await asyncio.sleep(0)

    async def _user_id(self) -> str:
        if isinstance(self.me, Exception):
            raise self.me
        return self.me

    async def _delivered(self, row: Row, _: Operation[Any], body: bytes, item: Any) -> None:
        self.delivered.append((row.id, body, item))
        self.outbox.delivered(row.id, None)

    def _changed(self) -> None:
        self.changes += 1

    def put(self, call: Operation[Any], state: str = "waiting", **more: Any) -> int:
        """Put a write in the outbox, by default in the scope of its call. Returns its number."""
        error, due = more.pop("error", None), more.pop("due", 0.0)
        scope = more.pop("scope", effects_of(call).scope(call))
        number = self.outbox.put(call.stored_name(), call.given(), scope, more.pop("now", 1.0), **more)
        if state != "waiting" or error or due:
            self.outbox.reschedule(number, due, error, state=state)
        return number

    def row(self, number: int) -> Row:
        row = self.outbox.row(number)
        assert row
        return row

    async def until_sent(self, *numbers: int) -> None:
        """Run the worker until these writes are delivered."""
        self.worker.start()
        await until(lambda: {*numbers} <= {number for number, *_ in self.delivered})

    async def until_reported(self, number: int) -> Row:
        """Run the worker until it reports an error, a refusal or that it is offline. Returns the row of the write."""
        self.worker.start()
        await until(lambda: bool(self.row(number).error or self.refused or self.scheduler.offline))
        return self.row(number)


@pytest.fixture
async def at(tmp_path: Path) -> AsyncIterator[Delivery]:
    outbox = Outbox(tmp_path / "outbox.sqlite")
    opened = Delivery(outbox)
    yield opened
    await opened.worker.close()
    await opened.scheduler.close()
    outbox.close()


def failed(kind: type[Any], status: int, **more: Any) -> Any:
    return kind(f"because of {status}", request="", status=status, **more)


FAILURES: dict[str, tuple[PresscheckError, str, str | None, float | None, bool]] = {
    # error, state and message of the row, seconds until the next attempt (None: no attempt), and whether it is offline
    "500": (failed(ServiceFailed, 500), "sending", "because of 500", SETTLE, False),
    "malformed": (MalformedAnswer("odd", request=""), "sending", "odd", SETTLE, False),
    "no response": (Ambiguous("cut", request=""), "sending", "cut", SETTLE, True),
    "no connection": (NetworkError("gone", request=""), "waiting", None, 0.0, True),
    "rate limit": (failed(TooManyRequests, 429, retry_after=30.0), "waiting", "because of 429", 30.0, False),
    "not signed in": (failed(NotSignedIn, 401), "waiting", "because of 401", SETTLE, False),
    "denied": (failed(Forbidden, 403), "refused", "because of 403", None, False),
    "not there": (failed(NotFound, 404), "refused", "because of 404", None, False),
}


@pytest.mark.parametrize("kind", FAILURES)
async def test_a_failed_write_is_kept_for_another_attempt_or_for_the_user(at: Delivery, kind: str) -> None:
    error, state, message, pause, is_offline = FAILURES[kind]
    at.service.answer(EDIT, error)
    at.reconciler.timeout = 3600.0  # do not search for writes of unknown delivery in this test
    number, before = at.put(EDIT), time.time()
    row = await at.until_reported(number)
    assert (row.state, row.error, bool(at.scheduler.offline)) == (state, message, is_offline)
    assert at.refused == ([(number, error)] if pause is None else [])
    assert at.changes == (0 if pause is None else 1)  # the receiver of a refusal reports the change
    if pause is not None:
        assert before + pause <= row.not_before <= time.time() + pause


async def test_pauses_grow_up_to_a_limit(at: Delivery) -> None:
    number, error = at.put(EDIT), failed(NotSignedIn, 401)
    pauses = []
    for _ in range(20):
        pauses.append(at.worker._pause(at.row(number), error))
        at.outbox.sending(number, 1.0)
    assert pauses == [SETTLE * 2**doublings for doublings in (0, 0, 1, 2, 3, 4, 5, 6, 7, *[8] * 11)]
    at.reconciler.settle = 2.0
    assert at.worker._pause(at.row(number), error) == LONGEST_PAUSE
    assert at.worker._pause(at.row(number), failed(TooManyRequests, 429, retry_after=900.0)) == 900.0


async def test_write_waits_if_the_search_before_it_fails(at: Delivery) -> None:
    at.service.answer(COMMENTS, failed(ServiceFailed, 503))
    row = await at.until_reported(at.put(POST))
    assert (row.state, row.error) == ("waiting", "because of 503")
    assert at.service.writes() == []


async def test_a_write_that_is_discarded_while_it_fails_stays_discarded(at: Delivery) -> None:
    number = at.put(EDIT)
    row = at.row(number)
    at.outbox.drop(number)
    at.worker._failed(row, NetworkError("gone", request=""))
    assert (at.outbox.rows(), at.changes, at.scheduler.offline) == ((), 0, None)


async def test_writes_are_sent_in_order_and_a_blocked_write_blocks_only_its_scope(at: Delivery) -> None:
    refused = at.put(elsewhere(1), "refused", error="No")
    behind = at.put(elsewhere(1, "Behind"))
    later = at.put(elsewhere(2), due=time.time() + 50 * LONGEST_PAUSE)
    at.put(elsewhere(2, "Behind"))
    at.put(elsewhere(3), "collected")
    other = at.put(elsewhere(4), author="ada")
    own = at.put(elsewhere(4, "Own"), author="me")
    failed_other = at.put(elsewhere(5), "refused", error="No", author="ada")
    parked_other = at.put(elsewhere(5), "parked", error="Not readable", author="ada")
    lost_clock = at.put(elsewhere(6), due=time.time() + 61 * LONGEST_PAUSE)
    last = [at.put(elsewhere(3, f"{number}")) for number in range(3)]
    at.worker.set_user("me")
    await at.until_sent(own, lost_clock, *last)
    sent = [number for number, *_ in at.delivered]
    assert [number for number in sent if number in last] == last
    assert {*sent} == {own, lost_clock, *last}, "one far in the future waits no longer: the clock was set back"
    assert at.row(other).error == OTHER_AUTHOR
    assert (at.row(failed_other).error, at.row(refused).error, at.row(behind).error) == ("No", "No", None)
    assert (at.row(later).error, at.row(parked_other).error) == (None, "Not readable")
    assert at.changes == 1, "it is said once at the write of another user"


async def test_the_worker_looks_again_when_the_next_write_is_due(at: Delivery, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery, "POLL_INTERVAL", 2000.0)
    assert at.worker._start_due() == 2000
    for number, seconds in enumerate((3000, 1000, 500, 1500)):
        at.put(elsewhere(number), due=time.time() + seconds)
    assert 400 < at.worker._start_due() <= 500
    monkeypatch.setattr(delivery, "POLL_INTERVAL", 0.0)
    assert at.worker._start_due() == 0.01, "it does not run in circles"
    assert at.service.sent == []


async def test_writes_wait_offline_and_are_sent_in_order_afterwards(at: Delivery) -> None:
    at.scheduler.offline = NetworkError("gone", request="")
    numbers = [at.put(elsewhere(1)), at.put(elsewhere(2))]
    at.worker.start()
    await asyncio.sleep(0)
    assert at.service.sent == []
    at.scheduler.offline = None
    at.worker.wake()
    await until(lambda: len(at.delivered) == 2)
    assert [number for number, *_ in at.delivered] == numbers


async def test_write_waits_until_its_author_is_signed_in(at: Delivery) -> None:
    held = at.put(elsewhere(1), author="ada")
    at.me = "me"
    await at.until_sent(at.put(elsewhere(2)))
    await until(lambda: at.row(held).error == OTHER_AUTHOR)
    assert at.row(held).state == "waiting"
    at.me = "ada"
    at.worker.forget_user()
    await until(lambda: held in {number for number, *_ in at.delivered})


@pytest.mark.parametrize(("error", "is_reported"), [(StoreError("full"), False), (KeyError("bug"), True)])
async def test_local_error_delays_the_next_attempt_in_its_scope(
    at: Delivery, monkeypatch: pytest.MonkeyPatch, error: Exception, *, is_reported: bool
) -> None:
    reports: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reports.append(context["exception"]))
    at.me = error
    number = at.put(elsewhere(1))
    at.worker.start()
    await until(lambda: bool(at.worker._retry_at))
    assert reports == ([error] if is_reported else [])
    at.me = "me"
    assert at.worker._start_due() == delivery.POLL_INTERVAL
    assert at.worker._busy == {}, "the same scope is not tried again at once"
    await at.worker.close()
    at.worker._retry_at.clear()
    monkeypatch.setattr(delivery, "RETRY_AFTER_ERROR", 0.0)
    await at.until_sent(number)


async def test_an_unexpected_error_is_reported_and_does_not_end_the_worker(
    at: Delivery, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports, errors = list[Any](), [KeyError("bug")]
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reports.append(context["exception"]))
    monkeypatch.setattr(delivery, "RETRY_AFTER_ERROR", 0.01)

    def look() -> bool:
        if errors:
            raise errors.pop()
        return False

    monkeypatch.setattr(at.outbox, "changed_elsewhere", look)
    await at.until_sent(at.put(elsewhere(1)))
    assert [type(report) for report in reports] == [KeyError]


async def test_unreadable_write_is_parked(at: Delivery) -> None:
    number = at.outbox.put("noSuchOperation", {}, "scope", 1.0)
    at.worker.start()
    await until(lambda: bool(at.refused))
    row = at.row(number)
    assert row.state == "parked"
    assert row.error == at.refused[0][1].message
    assert [refused for refused, _ in at.refused] == [number]


async def test_new_item_is_found_by_id_text_and_author(at: Delivery) -> None:
    at.service.answer(COMMENTS, {"items": [comment("old")]})
    number = at.put(POST)
    at.service.answer(POST, failed(TooManyRequests, 429, retry_after=60.0))
    await at.until_reported(number)
    assert at.row(number).existing_ids == ("old",)
    effects, row = effects_of(POST), at.row(number)
    for items, found in (
        ([comment("old")], None),
        ([comment("old"), comment("n1", "Other"), comment("n2", author="ada"), comment("n3")], "n3"),
    ):
        at.service.answer(COMMENTS, {"items": items})
        item = await at.reconciler.find(row, effects, POST, "me")
        assert (item.id if item else None) == found


async def test_all_pages_are_searched_once(at: Delivery) -> None:
    second = COMMENTS.model_copy(update={"page": "2"})
    at.service.answer(COMMENTS, {"items": [comment("a")], "next": {"page": "2"}})
    at.service.answer(second, {"items": [comment("b"), comment("a")], "next": {"page": "2"}})
    found = await at.reconciler.existing(effects_of(POST), POST, "me")
    assert [item.id for item in found] == ["a", "b"]
    assert at.service.sent == [COMMENTS, second]


async def test_write_of_unknown_delivery_is_searched_until_it_can_no_longer_arrive(at: Delivery) -> None:
    effects = effects_of(POST)
    at.service.answer(COMMENTS, NONE, NONE, {"items": [comment("late")]})
    row = at.row(at.put(POST, "sending"))
    item = await at.reconciler.result_of(row, effects, POST, "me")
    assert item.id == "late"
    at.service.answer(COMMENTS, NONE)
    at.service.sent.clear()
    assert await at.reconciler.result_of(row, effects, POST, "me") is None
    assert at.service.sent == [COMMENTS] * 3, "at once, and twice when it can no longer arrive"
    assert await at.reconciler.result_of(row, effects_of(EDIT), EDIT, "me") is None
    assert len(at.service.sent) == 3, "what can be repeated is not looked for"


def test_a_request_can_arrive_until_the_time_out_and_the_settle_time_have_passed(at: Delivery) -> None:
    at.reconciler.timeout, at.reconciler.settle = 30.0, 2.0
    number, now = at.put(POST), time.time()
    assert at.reconciler.until_certain(at.row(number)) == pytest.approx(32, abs=1)
    for sent_at, left in ((now, 32), (now - 10, 22), (now + 5000, 32), (now - 40, 0)):
        at.outbox.sending(number, sent_at)
        assert at.reconciler.until_certain(at.row(number)) == pytest.approx(left, abs=1)
    assert at.reconciler.until_certain(at.row(number)) == 0.0
    assert (DeliveryReconciler(at.scheduler).settle, at.reconciler.settle) == (delivery.SETTLE, 2.0)
    assert DeliveryReconciler(at.scheduler, 0.0).settle == 0.0


async def test_found_write_is_delivered_and_not_sent_again(at: Delivery) -> None:
    at.service.answer(COMMENTS, {"items": [comment("n")]})
    at.reconciler.timeout = 3600.0  # an existing item is found without a pause
    number = at.put(POST, "sending")
    await at.until_sent(number)
    [(_, body, item)] = at.delivered
    assert (body, item.id, at.service.writes()) == (b"", "n", [])


async def test_former_reactions_are_those_of_the_signed_in_user(at: Delivery) -> None:
    react = comments.UpdateComment(**THREAD, added_reactions=("1f44d",))
    user = {"object": "user", "id": "me"}
    reactions = [{"emoji": "1f44d", "count": 1, "users": [{"user": user}]}]
    at.service.answer(comments.GetComment(**THREAD, format="markdown"), {**comment("c1"), "reactions": reactions})
    await at.until_sent(at.put(react))
    [ended] = at.outbox.history()
    assert ended.former == {"reactions": ["1f44d"]}


def undo_of_what_is_undone(at: Delivery, state: str) -> tuple[int, int, UpdateChangeRequest]:
    """Queue the undo of a sent change that somebody else has already undone.

    Returns:
        The numbers of the change and of its undo, and the call that undoes it.
    """
    rename = elsewhere(1, "After")
    number = at.put(rename)
    at.outbox.note_former(number, {"subject": "Before"})
    at.outbox.delivered(number, None)
    back = elsewhere(1, "Before")
    get = GetChangeRequest(space_id="api", change_request_id="other-1")
    at.service.answer(get, {"object": "change-request", "id": "x", "space": "api", "subject": "Before"})
    [undo] = at.outbox.put_undo(number, [(back.stored_name(), back.given(), "scope", state)], 2.0, "me")
    return number, undo, back


async def test_undo_that_is_already_done_is_not_sent(at: Delivery) -> None:
    number, undo, _ = undo_of_what_is_undone(at, "waiting")
    await at.until_sent(undo)
    assert (at.delivered, at.service.writes()) == ([(undo, b"", None)], [])
    ended = at.outbox.ended(number)
    assert ended
    assert ended.state == "undone"


async def test_write_can_be_edited_or_discarded_until_it_is_sent(at: Delivery) -> None:
    at.service.answer(COMMENTS, NONE)
    edited, dropped = at.put(POST), at.put(elsewhere(1))
    existing = at.reconciler.existing

    async def meanwhile(*given: Any) -> tuple[Any, ...]:
        assert at.outbox.rewrite(edited, comments.PostComment(**REQUEST, body=text("Edited")).given())
        at.outbox.drop(dropped, unless_sending=True)
        return await existing(*given)

    at.reconciler.existing = meanwhile  # type: ignore[method-assign]
    at.worker.start()
    await until(lambda: bool(at.delivered))
    assert [call.body.markdown for call in at.service.writes() if isinstance(call, comments.PostComment)] == ["Edited"]


@pytest.mark.parametrize("is_discarded", [True, False])
async def test_a_page_edit_that_is_edited_or_discarded_while_the_page_is_read(
    at: Delivery, *, is_discarded: bool
) -> None:
    first, second = (pages(page(document=text(f"{word}\n\ntwo\n"))) for word in ("First", "Second"))
    base = page_base("Page", "one\n\ntwo\n")
    number = at.put(first, base=base)
    at.service.answer(
        changed_page("api", "5", "p1"),
        {"id": "p1", "type": "document", "title": "Page", "markdown": "one\n\ntwo, by others\n"},
    )
    read = at.reconciler.read

    async def meanwhile(call: Operation[Any]) -> Any:
        at.reconciler.read = read  # type: ignore[method-assign]
        if is_discarded:
            at.outbox.drop(number)
        else:
            assert at.outbox.rebase(at.row(number), second.given(), base)
        return await read(call)

    at.reconciler.read = meanwhile  # type: ignore[method-assign]
    await at.worker._send(at.row(number))
    texts = [change["document"]["markdown"] for call in at.service.writes() for change in call.given()["changes"]]
    assert texts == ([] if is_discarded else ["Second\n\ntwo, by others\n"])
    assert at.refused == []


async def test_push_of_a_folder_is_sent_by_its_own_requests(at: Delivery) -> None:
    call = PushFolder(space_id="api", directory="/docs", subject="Words", content="1", files=2)
    number = at.put(call)
    await at.until_sent(number)
    assert (at.pushed, at.service.writes()) == ([call], [])


async def test_part_of_a_task_does_not_stay_in_the_outbox_after_unknown_delivery(at: Delivery) -> None:
    at.service.answer(EDIT, Ambiguous("cut", request=""))
    now = time.time()
    number = at.outbox.put(EDIT.stored_name(), EDIT.given(), f"a{PART}", now, state="now")
    with pytest.raises(Ambiguous):
        await at.sender.send(number, EDIT, effects_of(EDIT))
    abandoned = at.outbox.put(EDIT.stored_name(), EDIT.given(), f"b{PART}", now, state="now")
    at.outbox._execute("UPDATE writes SET sent_at = ? WHERE id = ?", (now - ABANDONED_AFTER - 1, abandoned))
    at.worker.start()
    await until(lambda: at.outbox.row(abandoned) is None)
    assert [(one.id, one.state) for one in at.outbox.history()] == [(abandoned, "refused"), (number, "refused")]


@pytest.mark.parametrize("is_there", [True, False])
async def test_immediate_write_of_an_ended_instance_is_settled(at: Delivery, *, is_there: bool) -> None:
    now = time.time()
    merged = {"object": "change-request", "id": "5", "space": "api", "status": "merged" if is_there else "open"}
    at.service.answer(GET, merged)
    running = at.put(MERGE, "now", scope="a", now=now - ABANDONED_AFTER + 60)
    at.outbox._execute("UPDATE writes SET sent_at = ? WHERE id = ?", (now - ABANDONED_AFTER + 60, running))
    old = at.put(MERGE, scope="b", now=now - ABANDONED_AFTER - 1, state="now")
    at.outbox._execute("UPDATE writes SET state = 'now', sent_at = ? WHERE id = ?", (now - ABANDONED_AFTER - 1, old))
    at.worker.start()
    if is_there:
        await until(lambda: bool(at.delivered))
        [(number, body, item)] = at.delivered
        assert (number, body, item.status) == (old, b"", "merged")
    else:
        await until(lambda: at.outbox.row(old).state == "refused")  # type: ignore[union-attr]
        assert (at.row(old).error, at.changes) == (ABANDONED, 1)
    assert (at.row(running).state, at.row(running).error) == ("now", None), "its instance may still run"
    assert at.service.writes() == []


class TestSentAtOnce:
    """Tests of writes that cannot be queued."""

    CREATE = CreateChangeRequest(space_id="api", subject="New")

    def listings(self) -> list[Operation[Any]]:
        listings = effects_of(self.CREATE).listings
        assert listings
        return [*listings(self.CREATE, "me")]

    async def send(self, at: Delivery, call: Operation[Any]) -> tuple[bytes, Any]:
        number = at.put(call, "now")
        return await at.sender.send(number, call, effects_of(call))

    async def test_existing_items_are_noted_and_the_body_is_returned(self, at: Delivery) -> None:
        request = {"object": "change-request", "id": "old", "space": "api", "subject": "New"}
        draft, opened = self.listings()
        at.service.answer(draft, {"items": [request]})
        at.service.answer(opened, {"items": [{**request, "id": "older"}]})
        at.service.answer(self.CREATE, b'{"id": "new"}')
        assert await self.send(at, self.CREATE) == (b'{"id": "new"}', None)
        [row] = at.outbox.rows()
        assert (row.existing_ids, row.state) == (("old", "older"), "now")
        assert at.service.sent == [draft, opened, self.CREATE]

    @pytest.mark.parametrize("is_found", [True, False])
    async def test_write_without_a_response_is_searched(self, at: Delivery, *, is_found: bool) -> None:
        request = {"object": "change-request", "id": "n", "space": "api", "subject": "New", "createdBy": {"id": "me"}}
        draft, opened = self.listings()
        at.service.answer(draft, NONE, {"items": [request] if is_found else []})
        at.service.answer(opened, NONE)
        error = Ambiguous("cut", request="")
        at.service.answer(self.CREATE, error)
        if is_found:
            body, item = await self.send(at, self.CREATE)
            assert (body, item.id) == (b"", "n")
        else:
            with pytest.raises(Ambiguous) as caught:
                await self.send(at, self.CREATE)
            assert caught.value is error
            [row] = at.outbox.rows()
            assert (row.state, row.error) == ("refused", "cut"), "the user decides"
        assert at.scheduler.offline is None

    @pytest.mark.parametrize("is_lost", [True, False])
    @pytest.mark.parametrize("is_before", [True, False], ids=["before it is sent", "when it is sent"])
    async def test_failed_write_leaves_the_outbox(self, at: Delivery, *, is_lost: bool, is_before: bool) -> None:
        error = NetworkError("gone", request="") if is_lost else failed(Forbidden, 403)
        draft, opened = self.listings()
        at.service.answer(draft, error if is_before else NONE)
        at.service.answer(opened, NONE)
        at.service.answer(self.CREATE, error)
        with pytest.raises(type(error)):
            await self.send(at, self.CREATE)
        assert at.outbox.rows() == ()
        [ended] = at.outbox.history()
        assert (ended.state, ended.error) == ("refused", error.message)
        assert bool(at.scheduler.offline) == is_lost
        assert at.service.writes() == ([] if is_before else [self.CREATE])

    async def test_undo_that_is_already_done_is_an_error(self, at: Delivery) -> None:
        _, undo, back = undo_of_what_is_undone(at, "now")
        with pytest.raises(PresscheckError, match=r"^Not undone: it is already as it was before$"):
            await at.sender.send(undo, back, effects_of(back))
        assert (at.outbox.rows(), at.service.writes()) == ((), [])


def test_reviews_and_comments_are_searched_and_edits_are_repeated() -> None:
    """The tests above rely on these ways to settle unknown delivery."""
    review = SubmitReview(**REQUEST, status="approved")
    assert [effects_of(call).reconcile for call in (POST, review, EDIT, MERGE)] == ["look", "look", "repeat", "state"]
