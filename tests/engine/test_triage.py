"""Triage: change requests that are snoozed, done or bookmarked."""

import time
from datetime import datetime
from pathlib import Path

import pytest
from tests.table import each_case

from presscheck.api.change_requests import ChangeRequest
from presscheck.engine.inbox.triage import Triage, wake_time
from presscheck.store.outbox import Outbox

REQUEST = ChangeRequest(id="c", number=1, space="s", revision="r1", updated_at="2026-05-20T10:00:00.000Z")
LATER = REQUEST.model_copy(update={"updated_at": "2026-05-20T11:00:00.000Z"})


def test_snoozed_until_a_time_or_until_new_activity(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path / "outbox.sqlite")
    triage = Triage(outbox)
    request = ChangeRequest(id="c", number=1, space="s", updated_at="2026-05-20T10:00:00.000Z")
    later = request.model_copy(update={"updated_at": "2026-05-20T11:00:00.000Z"})
    triage.snooze(request, time.time() + 60)
    assert triage.hidden_state(request)
    assert triage.hidden_state(later), "until then means until then"
    triage.snooze(request, time.time() - 1)
    assert triage.hidden_state(request) is None
    triage.snooze(request, None)
    assert triage.hidden_state(request)
    assert Triage(outbox).hidden_state(request) == triage.hidden_state(request)
    assert triage.hidden_state(later) is None
    outbox.close()


def test_done_until_there_is_new_activity(outbox: Outbox) -> None:
    triage = Triage(outbox)
    assert not triage.unhide("c")
    triage.done(REQUEST)
    state = Triage(outbox).hidden_state(REQUEST)
    assert state
    assert (state.is_done, state.until, state.revision) == (True, None, "")
    assert triage.hidden_state(LATER) is None, "it has no events, so any update shows it again"
    assert [*triage.hidden_ids] == ["c"]
    assert triage.unhide("c")
    assert (triage.hidden_state(REQUEST), [*triage.hidden_ids], Triage(outbox).hidden_state(REQUEST)) == (
        None,
        [],
        None,
    )


def test_request_with_events_is_shown_again_only_after_new_content(outbox: Outbox) -> None:
    triage = Triage(outbox)
    triage.followed = {"c"}
    triage.snooze(REQUEST, None)
    state = triage.hidden_state(LATER)
    assert state
    assert (state.is_done, state.revision) == (False, "r1"), "an update alone is no activity"
    assert triage.hidden_state(REQUEST.model_copy(update={"revision": "r2"})) is None


@pytest.mark.parametrize(
    ("at", "is_shown"),
    [("2026-05-20T09:59:59.000Z", False), (REQUEST.updated_at, False), ("2026-05-20T10:00:01.000Z", True), ("", True)],
)
def test_newer_event_shows_a_done_request_again(outbox: Outbox, at: str, *, is_shown: bool) -> None:
    triage = Triage(outbox)
    triage.done(REQUEST)
    triage.on_event("other", at)
    triage.on_event("c", at)
    assert (triage.hidden_state(REQUEST) is None) == is_shown
    triage.snooze(REQUEST, time.time() + 60)
    triage.on_event("c", at)
    assert triage.hidden_state(REQUEST), "until then means until then"


def test_bookmarks_are_stored(outbox: Outbox) -> None:
    triage = Triage(outbox)
    assert (triage.bookmark("c"), triage.bookmark("d"), triage.bookmark("d")) == (True, True, False)
    for each in (triage, Triage(outbox)):
        assert (each.is_bookmarked("c"), each.is_bookmarked("d")) == (True, False)


@pytest.mark.usefixtures("berlin")
@each_case(
    ("choice", "at", "returns"),
    [
        ("tomorrow", "2026-05-22T17:45", "2026-05-23T08:00+02:00"),
        ("week", "2026-05-22T17:45", "2026-05-25T08:00+02:00"),
        ("week", "2026-05-25T06:00", "2026-06-01T08:00+02:00"),
        ("tomorrow", "2026-10-24T17:45", "2026-10-25T08:00+01:00"),  # the clocks change during the night
        ("week", "2026-03-27T17:45", "2026-03-30T08:00+02:00"),
    ],
)
def test_snoozed_requests_return_at_eight_local_time(choice: str, at: str, returns: str) -> None:
    now = datetime.fromisoformat(at).astimezone()
    assert wake_time(choice, now) == datetime.fromisoformat(returns).timestamp()
    assert wake_time("activity", now) is None
