"""Events from the differences of two snapshots: each kind, and the changes without an event."""

import asyncio
from dataclasses import replace
from itertools import combinations, pairwise

import pytest
from tests.table import each_case

from presscheck.api.change_requests import ChangeRequest
from presscheck.engine.engine import Engine
from presscheck.engine.inbox.event_log import EVENT, MAX_EVENTS
from presscheck.engine.inbox.events import (
    EVENT_TEXTS,
    Event,
    RequestState,
    SiteState,
    Snapshot,
    UserAction,
    diff_snapshots,
    read_event,
    read_snapshot,
    sentence,
    summarize,
    write_event,
    write_snapshot,
)
from presscheck.errors import StoreError

ME, MIA = "robin", "mia"
FIRST = UserAction("approved", "jon", "Jón Stefánsson", "2026-05-20T10:00:00.000Z")
STILL = RequestState(
    5, "Rewrite", "api", updated_at="2026-05-20T10:00:00.000Z", actions={"review r1": FIRST}, conflict=False
)


def deed(kind: str, who: str = MIA) -> UserAction:
    return UserAction(kind, who, {ME: "Robin Achterberg", MIA: "Mia Okonkwo"}[who], "2026-05-20T11:00:00.000Z")


def with_deed(one: UserAction) -> RequestState:
    return replace(STILL, actions={**(STILL.actions or {}), "new": one})


def looks(was: RequestState | None, now: RequestState) -> tuple[Snapshot, Snapshot]:
    return Snapshot({"c": was} if was else {}), Snapshot({"c": now})


CHANGES: dict[str, tuple[RequestState | None, RequestState, str]] = {
    "asked again": (STILL, with_deed(deed("review-asked")), "Mia requested your review of #5 Rewrite"),
    "asked at first sight": (None, with_deed(deed("review-asked")), "Mia requested your review of #5 Rewrite"),
    "a reply": (STILL, with_deed(deed("reply")), "Mia commented on #5 Rewrite"),
    "approved": (STILL, with_deed(deed("approved")), "Mia approved #5 Rewrite"),
    "refused": (STILL, with_deed(deed("changes-requested")), "Mia requested changes to #5 Rewrite"),
    "outdated": (STILL, replace(STILL, outdated=True), "#5 Rewrite is outdated: main has new changes"),
    "conflict": (
        replace(STILL, outdated=True),
        replace(STILL, outdated=True, conflict=True),
        "#5 Rewrite conflicts with main",
    ),
    "merged": (STILL, replace(STILL, status="merged", merged=deed("merged")), "Mia merged #5 Rewrite"),
    "merged by nobody knows whom": (STILL, replace(STILL, merged=UserAction("merged")), "somebody merged #5 Rewrite"),
}
"""State before, state after, and text of the event."""

NOTHING: dict[str, tuple[RequestState | None, RequestState]] = {
    "the same": (STILL, STILL),
    "seen for the first time": (None, with_deed(deed("approved"))),
    "seen for the first time as it is": (None, replace(STILL, outdated=True, conflict=True, merged=deed("merged"))),
    "one's own": (STILL, replace(with_deed(deed("reply", ME)), merged=deed("merged", ME))),
    "something was taken back": (with_deed(deed("reply")), STILL),
    "what was done could not be seen before": (replace(STILL, actions=None), STILL),
    "what was done cannot be seen now": (STILL, replace(STILL, actions=None)),
    "still outdated": (replace(STILL, outdated=True), replace(STILL, outdated=True)),
    "no longer outdated": (replace(STILL, outdated=True, conflict=True), STILL),
    "a conflict that may have been there": (replace(STILL, conflict=None), replace(STILL, conflict=True)),
    "archived, and outdated since": (STILL, replace(STILL, status="archived", outdated=True)),
    "it left": (STILL, replace(STILL, has_left=True)),
    "it came back": (replace(STILL, has_left=True), STILL),
}


@each_case("name", CHANGES)
def test_each_change_is_one_event_with_its_text(name: str) -> None:
    was, now, says = CHANGES[name]
    [event] = diff_snapshots(*looks(was, now), ME)
    assert (sentence(event), event.request, event.space) == (says, "c", "api")
    assert diff_snapshots(*looks(now, now), ME) == (), "the next look tells it no more"
    assert diff_snapshots(None, Snapshot({"c": now}), ME) == (), "a first look tells nothing"


def test_table_contains_every_kind_of_event() -> None:
    kinds = {event.kind for was, now, _ in CHANGES.values() for event in diff_snapshots(*looks(was, now), ME)}
    assert kinds | {"published"} == EVENT_TEXTS.keys()


@each_case("name", NOTHING)
def test_changes_without_an_event(name: str) -> None:
    assert diff_snapshots(*looks(*NOTHING[name]), ME) == ()


def test_each_action_is_reported_once_although_snapshots_are_missing() -> None:
    """Snapshots may miss states. No action is reported twice, and no action of the user is reported."""
    acts = {f"d{number}": deed("reply", who) for number, who in enumerate((MIA, ME, MIA))}
    states = [Snapshot({"c": replace(STILL, actions=dict(list(acts.items())[:count]))}) for count in range(4)]
    for in_order in combinations(states, 3):
        events = [event for was, now in pairwise(in_order) for event in diff_snapshots(was, now, ME)]
        missed = states.index(in_order[0])
        assert len(events) == sum(one.who == MIA for one in list(acts.values())[missed : states.index(in_order[-1])])


def test_publishing_a_site_is_an_event() -> None:
    hidden, live = SiteState("Docs", published=False), SiteState("Docs", published=True)
    [event] = diff_snapshots(Snapshot(sites={"s": hidden}), Snapshot(sites={"s": live}), ME)
    assert (event.kind, event.site, sentence(event)) == ("published", "s", "Docs is live")
    for was, now, own in (
        ({"s": hidden}, {"s": live}, {"site s"}),
        ({"s": live}, {"s": live}, ()),
        ({"s": live}, {"s": hidden}, ()),
        ({}, {"s": live}, ()),
    ):
        assert diff_snapshots(Snapshot(sites=was), Snapshot(sites=now), ME, own) == ()


def test_own_merges_cause_no_outdated_events() -> None:
    stale = replace(STILL, outdated=True, conflict=True)
    mine = replace(STILL, number=4, status="merged", merged=deed("merged", ME))
    assert diff_snapshots(Snapshot({"c": STILL, "d": STILL}), Snapshot({"c": stale, "d": mine}), ME) == ()
    assert diff_snapshots(Snapshot({"c": STILL}), Snapshot({"c": stale}), ME, {"space api"}) == ()
    assert [one.kind for one in diff_snapshots(Snapshot({"c": STILL}), Snapshot({"c": stale}), ME, {"space cli"})] == [
        "outdated",
        "conflict",
    ]


def test_old_review_requests_in_a_truncated_view_cause_no_events() -> None:
    long_list = Snapshot({"b": replace(STILL, updated_at="2026-05-20T10:30:00.000Z")}, complete=False)
    old = replace(deed("review-asked"), at="2026-05-19T10:00:00.000Z")
    for asked, count in ((old, 0), (deed("review-asked"), 1)):
        assert len(diff_snapshots(long_list, Snapshot({**long_list.requests, "c": with_deed(asked)}), ME)) == count


def test_events_are_sorted_by_time() -> None:
    late, early = deed("reply"), replace(deed("approved"), at="2026-05-20T10:30:00.000Z")
    now = replace(STILL, actions={**(STILL.actions or {}), "2": late, "1": early}, outdated=True)
    events = diff_snapshots(*looks(STILL, now), ME)
    assert [one.kind for one in events] == ["approved", "reply", "outdated"]
    assert summarize(events) == "3 events, latest: #5 Rewrite is outdated: main has new changes"


def test_snapshots_and_events_survive_a_round_trip() -> None:
    whole = Snapshot({"c": CHANGES["merged"][1], "d": replace(STILL, actions=None)}, {"s": SiteState("D", True)}, False)
    assert read_snapshot(write_snapshot(whole)) == whole
    for damaged in (None, "", "{}", "[]", '{"requests":{"c":{}},"sites":{},"whole":true}', "null"):
        assert read_snapshot(damaged) is None
    event = Event("reply", MIA, "Mia \x1b]0;x\a", "", "c", "api", 5, "Rewrite")
    assert read_event(write_event(event)) == event
    for damaged in ("", "{}", "7", '{"kind": "of another version"}', '{"kind": "reply", "more": 1}'):
        assert read_event(damaged) is None


async def test_the_event_log_keeps_the_latest_events(engine: Engine) -> None:
    events = tuple(Event("reply", "mia", "Mia", "", "c", "api", number) for number in range(MAX_EVENTS + 5))
    for half in (events[:150], events[150:]):
        version = engine.outbox.recall("events")
        engine.outbox.swap(
            "events", version, engine.events._new_state(int(version or 0) + 1, "seen me", "{}", {}, half)
        )
    assert [one.number for one in engine.events.recent()] == list(range(MAX_EVENTS + 4, 4, -1))
    assert len(engine.outbox.recall_all(EVENT)) == MAX_EVENTS
    assert not engine.outbox.swap("events", "0", {"events": "9"}), "somebody was quicker"
    assert engine.outbox.recall("events") == "2"


async def test_event_log_continues_after_a_full_disk(engine: Engine) -> None:
    events, file = engine.events, engine.outbox._db
    events.first, events.pause = 0, 0.01
    looks = events.watch()
    file.execute("PRAGMA query_only = 1")
    assert isinstance((await anext(looks))[1], StoreError)
    file.execute("PRAGMA query_only = 0")
    assert (await anext(looks))[1] is None
    request = ChangeRequest(id="c", number=5, space="api", subject="Rewrite", status="open", updated_at="2026-05-20")
    engine.triage.done(request)
    event = Event("reply", "mia", "Mia", "2026-05-21", "c", "api", 5)
    engine.outbox.remember(f"{EVENT}9", write_event(event))
    file.execute("PRAGMA query_only = 1")  # the change request cannot be unhidden
    assert isinstance((await anext(looks))[1], StoreError)
    file.execute("PRAGMA query_only = 0")
    assert (await anext(looks))[0] == (event,)
    assert engine.triage.hidden_state(request) is None


async def test_cancellation_together_with_a_wake_ends_the_watch(engine: Engine) -> None:
    engine.events.first = 0
    looks = engine.events.watch()
    await anext(looks)
    waiting = asyncio.ensure_future(anext(looks))
    await asyncio.sleep(0.01)
    engine.events.wake()
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(waiting, 10)
