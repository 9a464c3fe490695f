"""Queued writes are sent once, by their author only, and failed ones are kept."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session
from tests.client.conftest import Fault, FaultServer, http
from tests.engine.engine import begun, comment, threads
from tests.engine.failing_service import ME, refusing_service
from tests.engine.live_engine import engine_on, places_in, until
from tests.running_service import RunningService
from tests.table import each_case

from presscheck.api import change_requests as cr
from presscheck.api import comments, sites
from presscheck.api.operation import Operation
from presscheck.api.organizations import ListOrganizations
from presscheck.api.site_settings import CreateRedirect, ListRedirects, RedirectDestination
from presscheck.config.profile import Profile
from presscheck.engine.engine import Engine
from presscheck.engine.writes import delivery
from presscheck.engine.writes.delivery import DeliveryReconciler
from presscheck.errors import Ambiguous, PresscheckError, RequestError, ServiceError, ServiceFailed
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import system_clock
from presscheck.service.models.organizations import MemberRow, OrganizationRow, UserRow
from presscheck.service.server.api_tokens import create_token
from presscheck.wiring import open_engine

LONG_AGO = 60.0
BODY = comments.Document(markdown="Typed with care")


@contextmanager
def in_its_database(service: RunningService) -> Iterator[Session]:
    database = Database(service.database_url)
    try:
        with database.writing.begin() as session:
            yield session
    finally:
        database.close()


def with_mia(service: RunningService) -> None:
    """Add a second admin."""
    with in_its_database(service) as session:
        [organization] = session.scalars(select(OrganizationRow))
        session.add(UserRow(id="mia", display_name="Mia", created_at="2026-01-01T00:00:00.000Z"))
        session.flush()
        member = MemberRow(organization_id=organization.id, user_id="mia", role="admin", joined_at="2026-01-01")
        session.add(member)


pytestmark = pytest.mark.service(shared=True, prepare=with_mia)


def another_token(service: RunningService, person: str) -> str:
    """Create an additional token for a user."""
    with in_its_database(service) as session:
        return create_token(session, system_clock, person, "second", None)


def doubtful(engine: Engine, call: Operation[Any], noted: tuple[str, ...] = ()) -> int:
    """Queue a write whose delivery is unknown. Returns its number."""
    number = engine.write(call, hold=60).id
    engine.outbox.note_existing(number, noted)
    engine.outbox.sending(number, time.time() - LONG_AGO)
    engine.outbox.reschedule(number, 0, None, state="sending")
    return number


async def all_sent(engine: Engine) -> None:
    await engine.start()
    await until(lambda: engine.outbox.rows() == ())
    await engine.close()


async def as_somebody_else(service: RunningService, home: Path, call: Operation[Any]) -> Any:
    other = engine_on(service, home, token=another_token(service, "mia"))
    await other.start()
    try:
        return await other.write(call).landed()
    finally:
        await other.close()


def path(request: Any) -> dict[str, str]:
    return {"space_id": request.space, "change_request_id": request.id}


async def test_equal_comment_of_another_user_is_not_mistaken_for_the_sent_one(
    engine: Engine, service: RunningService, tmp_path: Path
) -> None:
    request = await begun(engine)
    second = engine_on(service, tmp_path / "second")
    doubtful(second, comment(request, "Looks good"))
    doubtful(second, cr.SubmitReview(**path(request), status="approved"))
    await as_somebody_else(service, tmp_path / "mia", comment(request, "Looks good"))
    await as_somebody_else(service, tmp_path / "mia", cr.SubmitReview(**path(request), status="approved"))
    await all_sent(second)
    said = (await engine.read(threads(request))).items
    assert {one.posted_by.id for one in said} == {"mia", service.owner_id}
    assert len(said) == 2
    verdicts = (await engine.read(cr.ListReviews(**path(request)))).items
    assert {one.reviewer.id for one in verdicts} == {"mia", service.owner_id}
    assert len(verdicts) == 2


async def test_a_sent_comment_is_found_after_reformatting_by_the_service(
    engine: Engine, service: RunningService, tmp_path: Path
) -> None:
    request = await begun(engine)
    await engine.write(comment(request, "* one\n* two **bold**")).landed()
    second = engine_on(service, tmp_path / "second")
    doubtful(second, comment(request, "- one\n- two __bold__"))
    await all_sent(second)
    assert len((await engine.read(threads(request))).items) == 1


async def test_earlier_equal_comment_is_not_mistaken_for_the_sent_one(
    engine: Engine, service: RunningService, tmp_path: Path
) -> None:
    request = await begun(engine)
    before = await engine.write(comment(request, "Again")).landed()
    second = engine_on(service, tmp_path / "second")
    doubtful(second, comment(request, "Again"), (before.id,))
    await all_sent(second)
    assert texts_of(await engine.read(threads(request))) == ["Again", "Again"]


def texts_of(page: Any) -> list[str]:
    return [one.body.markdown.strip() for one in page.items]


async def test_write_that_is_undone_in_time_is_not_sent(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    request = await begun(engine)
    looking, go_on = asyncio.Event(), asyncio.Event()
    there = DeliveryReconciler.existing

    async def slow(self: DeliveryReconciler, *given: Any) -> Any:
        looking.set()
        await go_on.wait()
        return await there(self, *given)

    monkeypatch.setattr(DeliveryReconciler, "existing", slow)
    ticket = engine.write(comment(request, "No, wait"))
    await looking.wait()
    assert engine.unsend(ticket.id) == ticket.call
    go_on.set()
    await engine.write(cr.UpdateChangeRequest(**path(request), subject="Something else")).landed()
    assert texts_of(await engine.read(threads(request))) == []


async def test_a_write_that_was_not_sent_is_not_searched_for(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    request = await begun(engine)
    await engine.write(comment(request, "Twice")).landed()
    there, failed = DeliveryReconciler.existing, []

    async def fails_once(self: DeliveryReconciler, *given: Any) -> Any:
        if not failed:
            failed.append(True)
            raise ServiceFailed("It broke", request="GET", status=500)
        return await there(self, *given)

    monkeypatch.setattr(DeliveryReconciler, "existing", fails_once)
    await engine.write(comment(request, "Twice")).landed()
    assert texts_of(await engine.read(threads(request))) == ["Twice", "Twice"]


async def test_another_instance_sends_and_this_one_gets_the_result(
    engine: Engine, service: RunningService, tmp_path: Path
) -> None:
    request = await begun(engine)
    both = [engine_on(service, tmp_path / "shared") for _ in range(2)]
    for one in both:
        await one.start()
    await until(lambda: both[0].outbox.may_send())
    ticket = both[1].write(comment(request, "Through the other window"))
    refused = both[1].write(comments.PostComment(space_id=request.space, change_request_id="999", body=BODY))
    assert await asyncio.wait_for(ticket.landed(), 20) is None
    with pytest.raises(PresscheckError, match="Change request not found"):
        await asyncio.wait_for(refused.landed(), 20)
    assert [one.state for one in both[1].waiting()] == ["refused"]
    for one in both:
        await one.close()


async def test_retry_applies_to_failed_writes_only(service: RunningService, tmp_path: Path) -> None:
    engine = engine_on(service, tmp_path / "second")
    number = doubtful(engine, comments.PostComment(space_id="api", change_request_id="1", body=BODY), ("a",))
    engine.retry(number)
    row = engine.outbox.row(number)
    assert row
    assert (row.state, row.existing_ids) == ("sending", ("a",))
    await engine.close()


async def test_only_a_token_of_the_author_sends_a_write(
    engine: Engine, service: RunningService, tmp_path: Path
) -> None:
    request = await begun(engine)
    await engine.close()
    home = tmp_path / "shared"
    first = engine_on(service, home)
    await first.start()
    await until(lambda: first.me.id == service.owner_id)
    number = first.write(comment(request, "Before the token was renewed"), hold=60).id
    await first.close()
    other = engine_on(service, home, token=another_token(service, "mia"))
    await other.start()  # the user is read before the write is due
    await until(lambda: [one.error for one in other.waiting()] == [delivery.OTHER_AUTHOR])
    await other.write(comment(request, "Meanwhile")).landed()
    await other.close()
    renewed = engine_on(service, home, token=another_token(service, service.owner_id))
    renewed.outbox.reschedule(number, 0, None)
    await renewed.start()
    await until(lambda: renewed.outbox.rows() == ())
    said = (await renewed.read(threads(request))).items
    assert [(one.posted_by.id, one.body.markdown.strip()) for one in said] == [
        ("mia", "Meanwhile"),
        (service.owner_id, "Before the token was renewed"),
    ]
    await renewed.close()


async def test_an_abandoned_write_is_found_or_left_to_the_user(
    engine: Engine, service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "ABANDONED_AFTER", 0.0)
    request = await begun(engine)
    second = engine_on(service, tmp_path / "second")
    for call in (
        cr.CreateChangeRequest(space_id=request.space, subject="A change"),
        cr.CreateChangeRequest(space_id=request.space, subject="Never arrived"),
        cr.MergeChangeRequest(**path(request)),
    ):
        second.outbox.put(call.stored_name(), call.given(), str(call), time.time() - LONG_AGO, state="now")
    await second.start()
    await until(lambda: [one.state for one in second.waiting()] == ["refused", "refused"])
    asked = [one.call for one in second.waiting()]
    assert [type(one).__name__ for one in asked] == ["CreateChangeRequest", "MergeChangeRequest"]
    assert {one.error for one in second.waiting()} == {delivery.ABANDONED}
    assert (await second.read(cr.GetChangeRequest(**path(request)))).status == "draft", "nothing merges by itself later"
    await second.close()


KINDS: tuple[type[Operation[Any]], ...] = (
    comments.PostComment,
    comments.PostReply,
    comments.UpdateComment,
    comments.UpdateReply,
    comments.DeleteComment,
    comments.DeleteReply,
    cr.SubmitReview,
    cr.RequestReviewers,
    cr.RemoveRequestedReviewer,
    cr.UpdateChangeRequest,
)
GIVEN = {
    "comment_id": "c",
    "comment_reply_id": "r",
    "body": BODY,
    "status": "approved",
    "users": ("u",),
    "user_id": "u",
    "subject": "Typed with care",
}
REFUSED, WAITING = (400, 403, 404, 409, 412, 413, 422), (429, 500)


def calls(status: int) -> list[Operation[Any]]:
    """Return a write of each kind, each in its own change request.

    For the status 409, another write follows each of them in the same change request.
    """
    found: list[Operation[Any]] = []
    for kind in KINDS:
        where = {"space_id": str(status), "change_request_id": kind.__name__}
        given = {name: value for name, value in GIVEN.items() if name in kind.model_fields}
        if kind is cr.UpdateChangeRequest:
            del given["status"]
        found.append(kind(**where, **given))
        if status == 409:
            found.append(comments.PostComment(**where, body=BODY))
    return found


@each_case("statuses", [REFUSED, WAITING])
async def test_a_failed_write_keeps_its_text_and_blocks_only_its_scope(
    tmp_path: Path, statuses: tuple[int, ...]
) -> None:
    async with refusing_service() as (address, asked):
        engine = open_engine(Profile(base_url=address, token="t"), places_in(tmp_path))
        await engine.start()
        written = [call for status in statuses for call in calls(status)]
        for call in written:
            engine.write(call)
        tried = len(KINDS) * len(statuses)
        await until(lambda: sum(row.error is not None for row in engine.outbox.rows()) == tried)
        rows = engine.waiting()
        assert [one.call for one in rows] == written, "all kept, with all that was typed, in order"
        assert sum(one.error is None for one in rows) == len(written) - tried
        for one in (one for one in rows if one.error):
            status = int(one.call.space_id) if one.call else 0
            assert f"because of {status}" in (one.error or "")
            assert one.state == ("refused" if status in REFUSED else "waiting" if status == 429 else "sending")
        await engine.close()
    assert len(set(asked)) == tried, "what follows a refused one is not sent"


async def test_a_failed_immediate_write_raises_its_error(tmp_path: Path) -> None:
    async with refusing_service() as (address, _):
        engine = open_engine(Profile(base_url=address, token="t"), places_in(tmp_path))
        await engine.start()
        with pytest.raises(ServiceError, match="because of 409"):
            await engine.write(cr.MergeChangeRequest(space_id="409", change_request_id="1")).landed()
        assert engine.outbox.rows() == ()
        await engine.close()


@each_case(
    ("found", "says"),
    [
        (http(200, {"object": "site", "id": "s", "published": True}), "the change was made anyway"),
        (http(200, {"object": "site", "id": "s", "published": False}), "the change was not made; try again"),
        (http(403, {"error": {"code": 403, "message": "No."}}), "Out of memory"),
    ],
)
async def test_failed_immediate_write_reports_whether_it_was_made(tmp_path: Path, found: bytes, says: str) -> None:
    publish = sites.PublishSite(organization_id="o", site_id="s")
    failed = http(500, {"error": {"code": 500, "message": "Out of memory"}})
    always: dict[str, Fault] = {f"/v1{publish.wire_path()}": failed, "/v1/orgs/o/sites/s": found}
    async with FaultServer([http(200, ME)], always).listening() as server:
        engine = open_engine(Profile(base_url=server.address, token="t"), places_in(tmp_path))
        await engine.start()
        with pytest.raises(RequestError, match=says) as caught:
            await engine.write(publish).landed()
        assert isinstance(caught.value, Ambiguous) == ("the change" in says)
        notes = getattr(caught.value, "__notes__", [])
        assert bool(notes) == ("the change" not in says), "the first error counts, the second is a note"
        [ended] = engine.outbox.history() if says.startswith("the change") else [None]
        assert ended is None or ended.state == ("sent" if "anyway" in says else "refused")
        states = [row.state for row in engine.outbox.rows()]
        assert states == ([] if ended else ["refused"])
        await engine.close()


async def test_a_write_edited_before_it_is_sent_is_sent_as_edited(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = await begun(engine)
    there = DeliveryReconciler.existing

    async def meanwhile(reconciler: DeliveryReconciler, *given: Any) -> Any:
        found = await there(reconciler, *given)
        assert engine.rewrite(ticket.id, comment(request, "Second thoughts"))
        return found

    monkeypatch.setattr(DeliveryReconciler, "existing", meanwhile)
    ticket = engine.write(comment(request, "First thoughts"))
    await ticket.landed()
    assert not engine.rewrite(ticket.id, comment(request, "Too late")), "it is gone"
    found = await engine.read(threads(request))
    assert [one.body.markdown for one in found.items] == ["Second thoughts"]
    assert engine.waiting() == ()


async def test_redirect_is_sent_without_a_search_and_found_later_by_path_and_target(
    engine: Engine, service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    organization = (await engine.read(ListOrganizations())).items[0].id
    site = await engine.write(sites.CreateSite(organization_id=organization, title="Moved")).landed()
    at = {"organization_id": organization, "site_id": site.id}

    def to(url: str) -> CreateRedirect:
        return CreateRedirect(**at, source="/old", destination=RedirectDestination(kind="external", url=url))

    looks: list[Operation[Any]] = []
    there = DeliveryReconciler.existing

    async def counted(self: DeliveryReconciler, effects: Any, call: Operation[Any], author: str) -> Any:
        looks.append(call)
        return await there(self, effects, call, author)

    monkeypatch.setattr(DeliveryReconciler, "existing", counted)
    first = await engine.write(to("https://example.org/")).landed()
    assert looks == []
    second = engine_on(service, tmp_path / "second")
    doubtful(second, to("https://example.org/"))
    await all_sent(second)
    assert looks, "its answer was lost: it is looked for"
    third = engine_on(service, tmp_path / "third")
    number = doubtful(third, to("https://other.example/"))
    await third.start()
    await until(lambda: (row := third.outbox.row(number)) is not None and row.state == "refused")
    await third.close()
    found = (await engine.read(ListRedirects(**at))).items
    assert [(one.id, one.destination.url) for one in found] == [(first.id, "https://example.org/")]
