"""The write queue: what it stores, which subscriptions it notifies, and what it reports about each write."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import ExitStack
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
    ListReviews,
    MergeChangeRequest,
    SubmitReview,
    UpdateChangeRequest,
)
from presscheck.api.content import ListChangeRequestPages
from presscheck.api.content_changes import EditChangeRequestContent
from presscheck.api.operation import Operation
from presscheck.api.spaces import CreateSpace, GetSpace, UpdateSpace
from presscheck.api.users import GetCurrentUser
from presscheck.engine.connection import Activity
from presscheck.engine.reads.cached_reads import CacheWriter, ServiceReads, StoredReads, UnsupportedCalls
from presscheck.engine.reads.scheduler import RequestScheduler
from presscheck.engine.reads.subscriptions import Subscription, Subscriptions
from presscheck.engine.shared_calls import changed_page
from presscheck.engine.writes.effects import effects_of
from presscheck.engine.writes.folder_push import PushFolder
from presscheck.engine.writes.page_merge import page_base
from presscheck.engine.writes.pending_writes import HELD_UP, PendingWrites, SignedInUser
from presscheck.engine.writes.write_queue import PENDING_EDIT, WriteQueue
from presscheck.errors import (
    Forbidden,
    NetworkError,
    NotNow,
    NotSupported,
    PresscheckError,
    ReadOnly,
    ServiceFailed,
    StoreError,
)
from presscheck.store.cache import Cache
from presscheck.store.outbox import Outbox

EDIT = comments.UpdateComment(**THREAD, body=text("New"))
APPROVE = SubmitReview(**REQUEST, status="approved")
REVIEWS = ListReviews(**REQUEST, format="markdown", limit=1000)
RENAME, GET = UpdateChangeRequest(**REQUEST, subject="After"), GetChangeRequest(**REQUEST)
CREATE, MERGE = CreateChangeRequest(space_id="api", subject="New"), MergeChangeRequest(**REQUEST)
NEW_SPACE = CreateSpace(organization_id="o", title="New")
ME = {"object": "user", "id": "me", "displayName": "Ida Ray"}
REVIEW = {"object": "review", "id": "r1", "reviewer": ME, "status": "approved"}
ELSEWHERE = GetChangeRequest(space_id="api", change_request_id="6")


def request(**fields: Any) -> dict[str, Any]:
    return {"object": "change-request", "id": "5", "space": "api", "subject": "Before", **fields}


class Queue:
    """A write queue with real files and a scripted service, and what the queue has reported."""

    def __init__(self, home: Path, *, read_only: bool = False) -> None:
        self.service = ScriptedService([(GetCurrentUser(), ME), (REVIEWS, {"items": []}), (GET, request())])
        self.outbox, self.cache = Outbox(home / "outbox.sqlite"), Cache(home / "cache.sqlite")
        self.changes, self.own, self.kept = 0, list[Operation[Any]](), list[Operation[Any]]()
        self.noted = list[tuple[Operation[Any], int, Any]]()
        self.scheduler = RequestScheduler(lambda: self.service, lambda: None)
        self.subscriptions, self.user = Subscriptions(), SignedInUser(self.outbox)
        pending = PendingWrites(self.outbox, self.user)
        self.writer = CacheWriter(self.cache, self.subscriptions, lambda _: None)
        stored = StoredReads(self.cache, self.writer, pending, Activity(), lambda: None)
        self.unsupported = UnsupportedCalls(self.cache, self.writer.thread)
        self.reads = ServiceReads(self.scheduler, self.unsupported, stored, pending)
        self.queue = WriteQueue(
            self.outbox,
            pending,
            self.scheduler,
            self.subscriptions,
            self.reads,
            stored,
            self.user,
            read_only=read_only,
            settle=0.01,
            push=self._push,
            keep=self._keep,
            note=self._note,
            changed=self._changed,
            sent=self.own.append,
        )
        self._open = ExitStack()

    async def _push(self, _: PushFolder) -> None:
        raise AssertionError("no folder is pushed here")

    async def _keep(self, call: Operation[Any], _: int) -> None:
        self.kept.append(call)

    def _note(self, call: Operation[Any], number: int, answer: Any) -> None:
        self.noted.append((call, number, answer))

    def _changed(self) -> None:
        self.changes += 1

    async def start(self) -> None:
        """Read the signed-in user, then start sending."""
        self.scheduler.start()
        await self.reads.read(GetCurrentUser())
        self.queue.start()

    def subscribe(self, *calls: Operation[Any]) -> list[Subscription]:
        """Open subscriptions to calls, whose responses count as up to date."""
        subscriptions = [self._open.enter_context(self.subscriptions.of(call)) for call in calls]
        for subscription in subscriptions:
            subscription.take_stale()
        return subscriptions

    async def close(self) -> None:
        """Close everything in the same order as the engine."""
        self._open.close()
        await self.queue.close()
        await self.scheduler.close()
        await self.writer.close()
        self.outbox.close()


@pytest.fixture
async def at(tmp_path: Path) -> AsyncIterator[Queue]:
    opened = Queue(tmp_path)
    yield opened
    await opened.close()


def is_told(subscription: Subscription) -> bool:
    """Return whether a subscription was notified since the last call of this function."""
    was, _ = subscription._event.is_set(), subscription._event.clear()
    return was


async def test_write_is_stored_with_its_state_scope_and_author(at: Queue) -> None:
    await at.reads.stored.in_store(lambda cache: cache.keep(GetCurrentUser().key(), b'{"id": "me"}', 1.0))
    before = time.time()
    queued = at.queue.write(EDIT, 60)
    held = at.queue.write(APPROVE, 0, collect=True)
    at.queue.background(asyncio.sleep(0))
    first, second = at.outbox.rows()
    assert [queued.id, held.id] == [first.id, second.id]
    assert (first.state, first.scope, first.author) == ("waiting", "/spaces/api/change-requests/5", "me")
    assert (first.given, first.undoes) == (EDIT.given(), None)
    assert before + 60 <= first.not_before <= time.time() + 60
    assert before <= first.created_at <= time.time()
    assert (second.state, second.scope) == ("collected", first.scope)
    assert at.changes == 2


async def test_write_that_cannot_be_queued_is_sent_at_once_and_blocks_nothing(at: Queue) -> None:
    tickets = [at.queue.write(MERGE, 0), at.queue.write(MERGE, 0, collect=True)]
    rows = at.outbox.rows()
    assert [ticket.id for ticket in tickets] == [0, 0]
    assert [row.state for row in rows] == ["now", "now"]
    assert len({"/spaces/api/change-requests/5", *(row.scope for row in rows)}) == 3
    at.scheduler.offline = NetworkError("gone", request="")
    with pytest.raises(NotNow, match="You are offline and this action cannot be queued: gone"):
        at.queue.write(MERGE, 0)
    with pytest.raises(NotNow):
        at.queue.undo(1, [UpdateSpace(space_id="api", title="Before")])
    assert at.queue.write(EDIT, 0).id > 0
    assert len(at.outbox.rows()) == 3


@pytest.mark.parametrize(
    ("state", "is_in_the_way"), [("waiting", True), ("sending", True), ("refused", False), ("collected", False)]
)
async def test_immediate_edit_does_not_overtake_a_queued_edit_of_the_page(
    at: Queue, state: str, *, is_in_the_way: bool
) -> None:
    first, other = page(page="p1", document=text("New")), page(page="p2", document=text("New"))
    number = at.queue.write(pages(first), 60, base={"title": "Page", "markdown": "Old\n"}).id
    at.outbox.reschedule(number, time.time() + 60, None, state=state)
    at.queue.changed()
    if is_in_the_way:
        with pytest.raises(NotNow, match=PENDING_EDIT):
            at.queue.write(pages(first), 0)
    else:
        at.queue.write(pages(first), 0)
    at.queue.write(pages(other), 0)
    at.queue.write(pages(page(page="p1", title="Renamed")), 0)
    elsewhere = EditChangeRequestContent(space_id="api", change_request_id="6", changes=(first,))
    at.queue.write(elsewhere, 0)
    assert [row.state for row in at.outbox.rows()] == [state, *["now"] * (3 if is_in_the_way else 4)]


async def test_read_only_profile_accepts_and_sends_nothing(tmp_path: Path) -> None:
    at = Queue(tmp_path, read_only=True)
    at.outbox.put(EDIT.stored_name(), EDIT.given(), "scope", 1.0)
    await at.start()
    for take in (lambda: at.queue.write(EDIT, 0), lambda: at.queue.undo(1, [EDIT])):
        with pytest.raises(ReadOnly):
            take()
    await until(lambda: at.user.user.id == "me")
    assert at.queue._worker._task is None
    assert len(at.outbox.rows()) == 1
    await at.close()


async def test_an_undo_is_queued_once_and_belongs_to_its_write(at: Queue) -> None:
    number = at.outbox.put(RENAME.stored_name(), RENAME.given(), "scope", 1.0)
    at.outbox.delivered(number, None)
    back = RENAME.model_copy(update={"subject": "Before"})
    tickets = at.queue.undo(number, [back, MERGE])
    assert at.queue.undo(number, [back]) == []
    rows = at.outbox.rows()
    assert [(row.undoes, row.state, row.name) for row in rows] == [
        (number, "waiting", back.stored_name()),
        (number, "now", MERGE.stored_name()),
    ]
    assert [ticket.id for ticket in tickets] == [rows[0].id, 0]
    assert rows[0].scope == "/spaces/api/change-requests/5" != rows[1].scope


async def test_pending_write_notifies_the_subscriptions_that_show_it(at: Queue) -> None:
    shown, other, elsewhere = at.subscribe(GET, GetSpace(space_id="other"), ELSEWHERE)
    number = at.queue.write(RENAME, 60).id
    assert (is_told(shown), is_told(other), is_told(elsewhere)) == (True, False, False)
    assert not shown.take_stale(), "the service has nothing new"
    at.outbox.drop(number)
    at.queue.changed()
    assert (is_told(shown), is_told(elsewhere)) == (True, False), "nor has it when the write is discarded"


async def test_sent_write_is_reported_stored_and_makes_responses_stale(at: Queue) -> None:
    await at.start()
    at.service.answer(APPROVE, REVIEW)
    reviews, elsewhere = at.subscribe(REVIEWS, ELSEWHERE)
    answer = await at.queue.write(APPROVE, 0).landed()
    assert answer
    assert (answer.id, at.own, at.kept) == ("r1", [APPROVE], [APPROVE])
    [ended] = at.outbox.history()
    assert (ended.state, ended.result, at.outbox.rows()) == ("sent", None, ())
    await until(lambda: reviews.take_stale())
    assert not elsewhere.take_stale()
    assert at.cache.resource("review", "r1")
    at.service.answer(RENAME, request(subject="After"))
    renamed = await at.queue.write(RENAME, 0).landed()
    assert renamed
    assert (renamed.subject, at.own) == ("After", [APPROVE, RENAME])
    assert at.outbox.history()[0].former == {"subject": "Before"}


async def test_an_edited_page_is_read_again_when_its_edit_was_sent(at: Queue) -> None:
    at.scheduler.start()
    edit, now = pages(page(page="p1", document=text("New"))), changed_page("api", "5", "p1")
    row = at.outbox.row(at.queue.write(edit, 60, base=page_base("Page", "Old")).id)
    assert row
    at.service.answer(edit, {"changeRequest": request(), "changes": []})
    at.service.answer(now, {"id": "p1", "type": "document", "title": "Page", "markdown": "New"})
    await at.queue._delivered(row, edit, await at.service.fetch(edit), None)
    assert at.service.sent == [edit, now]


async def test_reply_to_an_unsent_comment_gets_the_id_of_the_sent_comment(at: Queue) -> None:
    post = comments.PostComment(**REQUEST, body=text("One"))
    number = at.queue.write(post, 60).id
    reply = comments.PostReply(**REQUEST, comment_id=f"waiting:{number}", body=text("Two"))
    second = at.queue.write(reply, 60).id
    row = at.outbox.row(number)
    assert row
    comment = {"object": "comment", "id": "c9", "postedBy": ME, "body": {"markdown": "One"}}
    at.service.answer(post, comment)
    await at.queue._delivered(row, post, await at.service.fetch(post), None)
    replying = at.outbox.row(second)
    assert replying
    assert replying.given["comment_id"] == "c9"
    assert at.outbox.history()[0].result == {"id": "c9"}


async def test_unreadable_response_to_a_write_makes_responses_stale(at: Queue) -> None:
    [shown] = at.subscribe(GET)
    await at.queue._store_result(RENAME, b"[")
    assert shown.take_stale()
    await at.queue._store_result(RENAME, b"")
    assert shown.take_stale()


async def test_a_refused_write_raises_and_its_scope_is_read_again(at: Queue) -> None:
    await at.start()
    error = Forbidden("No", request="", status=403)
    at.service.answer(RENAME, error)
    shown, pages, space = at.subscribe(GET, ListChangeRequestPages(**REQUEST), GetSpace(space_id="other"))
    with pytest.raises(Forbidden):
        await at.queue.write(RENAME, 0).landed()
    assert [one.take_stale() for one in (shown, pages, space)] == [True, True, False]
    assert [row.state for row in at.outbox.rows()] == ["refused"]
    assert at.changes == 2, "when it was stored, and when it was refused"


@pytest.mark.parametrize("call", [APPROVE, NEW_SPACE], ids=["queued", "at once"])
async def test_unsupported_call_is_remembered(at: Queue, call: Operation[Any]) -> None:
    await at.start()
    at.service.answer(call, NotSupported("This service has no reviews", request="", status=404))
    call_type = type(call)
    assert at.unsupported.reason(call_type) is None
    with pytest.raises(NotSupported):
        await at.queue.write(call, 0).landed()
    await until(lambda: at.unsupported.reason(call_type) == "This service has no reviews")


async def test_immediate_write_is_reported_and_makes_responses_stale(at: Queue) -> None:
    await at.start()
    changes = at.changes
    at.service.answer(MERGE, {"revision": "m2", "result": "merge"})
    space, other = at.subscribe(GetSpace(space_id="api"), GetSpace(space_id="other"))
    answer = await at.queue.write(MERGE, 0).landed()
    assert answer
    assert at.own == [MERGE]
    assert [(call, reply) for call, _, reply in at.noted] == [(MERGE, answer)], "before who waits for it goes on"
    await until(lambda: at.changes > changes)
    assert [one.take_stale() for one in (space, other)] == [True, False]
    assert [row.state for row in at.outbox.history()] == ["sent"]
    at.service.answer(GET, request(status="open"))
    at.service.answer(MERGE, ServiceFailed("Broken", request="", status=500))
    with pytest.raises(PresscheckError, match="Broken; the change was not made; try again"):
        await at.queue.write(MERGE, 0).landed()
    await until(lambda: space.take_stale())
    assert at.own == [MERGE]
    assert len(at.noted) == 1, "nothing was done"


async def test_callers_of_an_immediate_write_receive_every_error(at: Queue) -> None:
    await at.start()
    at.service.answer(MERGE, KeyError("bug"))
    with pytest.raises(KeyError):
        await asyncio.wait_for(at.queue.write(MERGE, 0).landed(), 10)
    unsent = at.queue.write(NEW_SPACE, 0)
    await at.queue.close()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(unsent.landed(), 10)


async def test_immediate_write_succeeds_although_the_outbox_cannot_be_written(
    at: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    await at.start()
    at.service.answer(MERGE, {"revision": "m2", "result": "merge"})

    def full(*_: Any, **__: Any) -> None:
        raise StoreError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(at.outbox, "delivered", full)
        assert await asyncio.wait_for(at.queue.write(MERGE, 0).landed(), 10)
    assert [row.state for row in at.outbox.rows()] == ["now"], "the worker finds out later that it arrived"


async def test_history_keeps_the_id_that_an_immediate_write_created(at: Queue) -> None:
    await at.start()
    listings = effects_of(CREATE).listings
    assert listings
    for listing in listings(CREATE, "me"):
        at.service.answer(listing, {"items": []})
    at.service.answer(CREATE, request(id="9"))
    ticket = at.queue.write(CREATE, 0)
    [row] = at.outbox.rows()
    rename = UpdateChangeRequest(space_id="api", change_request_id=f"waiting:{row.id}", subject="Later")
    refers = at.queue.write(rename, 60).id
    created = await ticket.landed()
    assert created
    assert (created.id, at.outbox.history()[0].result) == ("9", {"id": "9"})
    [later] = at.outbox.rows()
    assert (later.id, later.given["change_request_id"]) == (refers, "9"), "a write that refers to it has the id now"


async def test_changes_by_another_instance_are_reported(at: Queue, tmp_path: Path) -> None:
    calls = [UpdateChangeRequest(space_id="api", change_request_id=f"{number}", subject="A") for number in range(5)]
    sent, refused, parked, silent, waiting = [at.queue.write(call, 60) for call in calls]
    at.user.remember(at.user.user.model_copy(update={"id": "me"}))
    other = Outbox(tmp_path / "outbox.sqlite")
    other.delivered(sent.id, None)
    other.refuse(refused.id, "Denied")
    other.refuse(parked.id, "Not readable", state="parked")
    other._execute("UPDATE writes SET state = 'refused', error = NULL WHERE id = ?", (silent.id,))
    other.remember("me", '{"id": "ada"}')
    other.close()
    changes = at.changes
    at.queue._rows_changed()
    assert await sent.landed() is None
    for ticket, message in ((refused, "Denied"), (parked, "Not readable"), (silent, "The request failed")):
        with pytest.raises(PresscheckError, match=message):
            await ticket.landed()
    assert at.changes > changes
    assert at.user.user.id == "ada"
    await at.queue.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting.landed()


async def test_signed_in_user_is_read_again_after_a_change(at: Queue) -> None:
    assert at.queue.author() is None
    await at.start()
    await until(lambda: at.queue._worker._me == "me")
    assert (at.queue.author(), at.user.user.display_name) == ("me", "Ida Ray")
    at.service.answer(GetCurrentUser(), {**ME, "id": "ada"})
    at.queue.user_changed()
    assert at.queue._worker._me is None
    await until(lambda: at.queue._worker._me == "ada")
    assert at.queue.author() == "ada"
    at.scheduler.offline = NetworkError("gone", request="")
    at.queue.user_changed()
    await asyncio.gather(*at.queue._tasks)
    assert at.user.user.id == "ada", "offline, it is who signed in last"
    assert at.queue._worker._me is None, "but nothing is sent in their name"


async def test_waiting_for_a_write_behind_a_failed_one_is_an_error(at: Queue) -> None:
    await at.start()
    error = Forbidden("No", request="", status=403)
    at.service.answer(RENAME, error, request())
    first, second = at.queue.write(RENAME, 0), at.queue.write(RENAME, 0)
    waiting = asyncio.create_task(second.landed())
    with pytest.raises(Forbidden):
        await first.landed()
    with pytest.raises(NotNow, match=HELD_UP):
        await waiting
    with pytest.raises(NotNow, match=HELD_UP):
        await at.queue.write(RENAME, 0).landed()
    assert [row.state for row in at.outbox.rows()] == ["refused", "waiting", "waiting"]
    at.outbox.drop(first.id)
    at.queue.changed()
    assert await second.landed(), "it is sent once the failed one is discarded"


async def test_write_behind_a_discarded_one_can_be_awaited(at: Queue) -> None:
    await at.start()
    at.service.answer(RENAME, Forbidden("No", request="", status=403), request())
    first, second = at.queue.write(RENAME, 0), at.queue.write(RENAME, 0)
    with pytest.raises(Forbidden):
        await first.landed()
    assert second.held_up.is_set()
    at.outbox.drop(first.id)
    at.queue.changed()
    assert await second.landed()
