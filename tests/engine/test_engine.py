"""The engine with real files, the real client and a real service."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.engine.engine import begun, comment, threads
from tests.engine.live_engine import engine_on, places_in, until
from tests.running_service import RunningService, running_service

from presscheck.api.ask import AskOrganization
from presscheck.api.change_requests import GetChangeRequest, SubmitReview, UpdateChangeRequest
from presscheck.api.comments import Document, ListComments, PostComment
from presscheck.api.computed_content import GetComputedDocument, GetComputedRevision
from presscheck.api.conversations import ListConversations
from presscheck.api.operation import Operation, every_operation
from presscheck.api.organizations import ListOrganizations
from presscheck.api.published_sites import SearchSite
from presscheck.api.site_events import AggregateSiteEvents
from presscheck.api.spaces import CreateSpace
from presscheck.api.url_lookup import ResolvePublishedContent
from presscheck.api.users import GetCurrentUser
from presscheck.client.client import Client
from presscheck.client.request_priority import Priority, RequestContext
from presscheck.config.profile import Profile
from presscheck.engine.engine import Engine, OutboxEntry
from presscheck.engine.reads import scheduler
from presscheck.engine.reads.scheduler import RequestScheduler
from presscheck.engine.writes.descriptions import describe
from presscheck.engine.writes.effects import effects_of
from presscheck.errors import NetworkError, NotFound, NotNow, NotSupported, RequestError, StoreError
from presscheck.store.cache import Cache
from presscheck.wiring import open_engine


def texts(engine: Engine, listing: ListComments) -> list[str]:
    known = engine.known(listing)
    return [one.body.markdown for one in known.value.items] if known else []


async def test_a_response_is_cached_after_a_read(engine: Engine) -> None:
    assert engine.known(ListOrganizations()) is None
    asked = await engine.read(ListOrganizations())
    known = engine.known(ListOrganizations())
    assert known is not None
    assert known.value.items == asked.items
    assert known.state == "cached"


async def test_a_subscription_yields_the_cached_then_the_fresh_result(engine: Engine) -> None:
    states = []
    for _ in range(2):
        async for seen in engine.watch(ListOrganizations()):
            states.append(seen.state)
            if seen.state != "cached":
                break
    assert states == ["fresh", "cached", "unchanged"]


async def test_a_write_refreshes_subscriptions(engine: Engine) -> None:
    request = await begun(engine)
    found: list[list[str]] = []

    async def look() -> None:
        async for seen in engine.watch(threads(request)):
            if seen.value:
                found.append([one.body.markdown for one in seen.value.items])

    task = asyncio.create_task(look())
    await until(lambda: bool(found))
    await engine.write(comment(request, "Hello")).landed()
    await until(lambda: found[-1] == ["Hello"] and engine.status.waiting == 0)
    task.cancel()
    stored = engine.known(threads(request))
    assert stored is not None
    assert not (stored.value.items[0].model_extra or {}).get("waiting")


async def test_an_offline_comment_is_shown_as_pending_and_sent_once(
    engine: Engine, service: RunningService, tmp_path: Path
) -> None:
    request = await begun(engine)
    await engine.read(threads(request))
    service.stop()
    with pytest.raises(RequestError):
        await engine.read(GetChangeRequest(space_id=request.space, change_request_id="1"))
    await until(lambda: not engine.status.online)
    ticket = engine.write(comment(request, "Written on a train"))
    assert texts(engine, threads(request)) == ["Written on a train"]
    assert engine.status.waiting == 1
    service.start()
    engine.refresh()
    await asyncio.wait_for(ticket.landed(), 20)
    found = await engine.read(threads(request))
    assert [one.body.markdown for one in found.items] == ["Written on a train"]
    assert engine.status.waiting == 0


@pytest.mark.parametrize("priority", [Priority.REQUESTED, Priority.BACKGROUND])
async def test_successful_read_ends_the_offline_state_and_sends_the_outbox(
    engine: Engine, service: RunningService, monkeypatch: pytest.MonkeyPatch, priority: Priority
) -> None:
    monkeypatch.setattr(scheduler, "FIRST_PAUSE", 1000.0)
    monkeypatch.setattr(scheduler, "SHORTEST_PAUSE", 0.0)
    request = await begun(engine)
    call = GetChangeRequest(space_id=request.space, change_request_id="1")
    service.stop()
    with pytest.raises(RequestError):
        await engine.fetch(call)
    await until(lambda: not engine.status.online)
    ticket = engine.write(comment(request, "Written on a train"))
    service.start()
    with pytest.raises(NetworkError):
        await engine.fetch(call, priority)
    if priority is Priority.BACKGROUND:
        await asyncio.sleep(0.3)
        assert not engine.status.online, "only reads of the user check the connection"
    else:
        await asyncio.wait_for(ticket.landed(), 20)
        assert engine.status.online


async def test_pending_writes_survive_a_restart(engine: Engine, service: RunningService, tmp_path: Path) -> None:
    request = await begun(engine)
    first = engine_on(service, tmp_path / "second")
    service.stop()
    first.write(comment(request, "Before the end"))  # never started, so nothing sends it before the end
    await first.close()
    service.start()
    second = engine_on(service, tmp_path / "second")
    await second.start()
    await until(lambda: second.status.waiting == 0)
    assert [one.body.markdown for one in (await second.read(threads(request))).items] == ["Before the end"]
    await second.close()


async def test_a_write_of_unknown_delivery_is_checked_before_it_is_repeated(
    engine: Engine, service: RunningService, tmp_path: Path
) -> None:
    request = await begun(engine)
    await engine.write(comment(request, "Arrived")).landed()
    second = engine_on(service, tmp_path / "second")
    arrived, lost = (second.write(comment(request, text)).id for text in ("Arrived", "Lost"))
    for number in (arrived, lost):
        second.outbox.note_existing(number, ())
        second.outbox.sending(number, time.time() - 60)
    await second.start()
    await until(lambda: second.status.waiting == 0)
    found = await second.read(threads(request))
    assert sorted(one.body.markdown for one in found.items) == ["Arrived", "Lost"]
    await second.close()


async def test_a_failed_write_keeps_its_text_and_error(engine: Engine) -> None:
    request = await begun(engine)
    ticket = engine.write(
        PostComment(space_id=request.space, change_request_id="999", body=Document(markdown="To nowhere"))
    )
    with pytest.raises(NotFound):
        await ticket.landed()
    (row,) = engine.waiting()
    assert row.state == "refused"
    assert row.error
    assert row.call is not None
    assert row.call.body.markdown == "To nowhere"
    engine.drop(row.id)
    assert engine.waiting() == ()


async def test_a_held_write_can_be_undone(engine: Engine) -> None:
    request = await begun(engine)
    ticket = engine.write(comment(request, "Too quick"), hold=60)
    taken = engine.unsend(ticket.id)
    assert taken is not None
    assert taken == ticket.call
    assert engine.waiting() == ()
    assert (await engine.read(threads(request))).items == ()


async def test_writes_of_one_scope_keep_their_order(engine: Engine) -> None:
    request = await begun(engine)
    tickets = [engine.write(comment(request, str(number))) for number in range(8)]
    await asyncio.gather(*(ticket.landed() for ticket in tickets))
    found = await engine.read(threads(request))
    assert [one.body.markdown for one in found.items] == [str(number) for number in range(8)]


async def test_two_engines_on_one_outbox_send_each_item_once(
    engine: Engine, service: RunningService, tmp_path: Path
) -> None:
    request = await begun(engine)
    both = [engine_on(service, tmp_path / "shared") for _ in range(2)]
    for one in both:
        await one.start()
    for number in range(6):
        both[number % 2].write(comment(request, str(number)))
    await until(lambda: not both[0].outbox.rows())
    found = await engine.read(threads(request))
    assert sorted(one.body.markdown for one in found.items) == [str(number) for number in range(6)]
    for one in both:
        await one.close()


async def test_a_pending_status_change_is_shown_at_once(engine: Engine, service: RunningService) -> None:
    request = await begun(engine)
    ask = GetChangeRequest(space_id=request.space, change_request_id=request.id)
    await engine.read(ask)
    engine.write(UpdateChangeRequest(space_id=request.space, change_request_id=request.id, status="archived"), hold=60)
    known = engine.known(ask)
    assert known is not None
    assert known.value.status == "archived"


async def test_a_write_that_cannot_be_queued_fails_offline(engine: Engine, service: RunningService) -> None:
    organization = (await engine.read(ListOrganizations())).items[0]
    service.stop()
    with pytest.raises(RequestError):
        await engine.write(CreateSpace(organization_id=organization.id)).landed()
    with pytest.raises(NotNow):
        engine.write(CreateSpace(organization_id=organization.id))
    service.start()
    engine.refresh()
    await until(lambda: engine.status.online)


async def test_a_read_only_profile_rejects_every_write(service: RunningService, tmp_path: Path) -> None:
    engine = engine_on(service, tmp_path / "readonly", read_only=True)
    await engine.start()
    with pytest.raises(NotNow, match="read-only"):
        engine.write(SubmitReview(space_id="s", change_request_id="1", status="approved"))
    await engine.close()


async def test_a_listing_is_read_by_window(engine: Engine) -> None:
    request = await begun(engine)
    for number in range(5):
        await engine.write(comment(request, str(number))).landed()
    async for seen in engine.watch_listing(threads(request)):
        if seen.state != "cached":
            break
    window = engine.window(threads(request), 2, 2)
    assert [one.body.markdown for one in window.items] == ["2", "3"]
    assert (window.total, window.complete) == (5, True)


def test_every_write_has_effects() -> None:
    writes = [one for one in every_operation() if not one.is_read()]
    assert len(writes) > 40
    for one in writes:
        call = one.model_construct(**dict.fromkeys(one.path_fields(), "x"))
        effects = effects_of(call)
        assert effects.scope(call)
        reads = (
            AggregateSiteEvents,
            AskOrganization,
            GetComputedDocument,
            GetComputedRevision,
            ResolvePublishedContent,
            SearchSite,
        )
        assert effects.stale(call) or one in reads, "reads by POST change nothing"
        assert effects.reconcile != "look" or (effects.listings and effects.is_result)
        assert effects.reconcile != "state" or effects.state


def test_a_question_is_described() -> None:
    assert describe(AskOrganization(organization_id="o", query="How?")) == "ask a question"


async def test_a_read_from_before_a_write_is_not_shared_with_later_reads() -> None:
    begun, gate, answers = asyncio.Event(), asyncio.Event(), iter((b"before", b"after"))

    class Slow:
        async def fetch(self, call: Operation[Any], context: RequestContext | None = None) -> bytes:
            body = next(answers)
            begun.set()
            if body == b"before":
                await gate.wait()
            return body

        async def aclose(self) -> None:
            gate.set()

    asking = RequestScheduler(Slow, lambda: None)
    asking.start()
    first = asyncio.create_task(asking.fetch(GetCurrentUser()))
    twin = asyncio.create_task(asking.fetch(GetCurrentUser()))
    await begun.wait()
    asking.stop_sharing(("/user",))
    assert await asking.fetch(GetCurrentUser()) == b"after"
    gate.set()
    assert await asyncio.gather(first, twin) == [b"before", b"before"]
    await asking.close()


async def test_an_unsupported_operation_is_requested_once_a_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "newest").mkdir()
    asked: list[str] = []
    monkeypatch.setattr(Client, "_send_following_redirects", counted(Client._send_following_redirects, asked))
    with running_service(tmp_path / "newest", release="0.202.0") as service:

        async def wish() -> None:
            engine = engine_on(service, tmp_path / "home")
            await engine.start()
            organization = (await engine.read(ListOrganizations())).items[0]
            asked.clear()
            for _ in range(2):
                with pytest.raises(NotSupported, match=r"it requires release 0\.146\.0"):
                    await engine.read(ListConversations(organization_id=organization.id))
            await engine.close()

        await wish()
        assert len(asked) == 1
        await wish()
        assert asked == [], "the next start believes it too"
        monkeypatch.setattr("presscheck.engine.reads.cached_reads.UNSUPPORTED_FOR", 0.0)
        await wish()
        assert len(asked) == 2, "but not for ever"


def counted(say: Callable[..., Awaitable[Any]], asked: list[str]) -> Callable[..., Awaitable[Any]]:
    async def said(client: Client, call: Operation[Any], context: RequestContext) -> Any:
        if isinstance(call, ListConversations):
            asked.append(str(call))
        return await say(client, call, context)

    return said


async def test_eviction_keeps_subscribed_responses(service: RunningService, tmp_path: Path) -> None:
    profile = Profile(base_url=service.base_url, token=service.token)
    engine = open_engine(profile, places_in(tmp_path / "home"), Cache(tmp_path / "cache.sqlite", limit=1))
    await engine.start()
    watched = engine.watch(ListOrganizations())
    assert (await anext(watched)).state == "fresh"
    await engine.read(ListConversations(organization_id=(await engine.read(ListOrganizations())).items[0].id))
    await engine.in_store(lambda cache: cache.keep("other", b'"%s"' % (b"x" * 100_000), 1.0))
    await until(lambda: engine._stored_reads._cache.answer("other") is None)
    assert engine.known(ListOrganizations())
    await watched.aclose()
    await engine.read(GetCurrentUser())
    await until(lambda: engine.known(ListOrganizations()) is None)
    await engine.close()


async def test_damage_of_the_open_cache_is_reported(engine: Engine) -> None:
    await engine.read(ListOrganizations())
    heard: list[tuple[str, ...]] = []
    engine.on_status(lambda _: heard.append(engine.notices))
    engine._stored_reads._cache._is_damaged = True
    await engine.read(ListOrganizations())
    assert "a new one was created" in heard[-1][0]
    assert engine.known(ListOrganizations())


async def test_subscriptions_become_stale_online_although_pending_writes_cannot_be_counted(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def count() -> tuple[OutboxEntry, ...]:
        raise StoreError("the file is locked")

    engine._scheduler.offline = NetworkError("gone", request="GET /user")
    with engine._subscriptions.of(GetCurrentUser()) as subscription:
        subscription.take_stale()
        monkeypatch.setattr(engine.connection, "_pending", count)
        with pytest.raises(StoreError):
            engine._scheduler._reached()
        assert subscription.take_stale()
