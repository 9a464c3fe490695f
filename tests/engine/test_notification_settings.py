"""Muted and followed targets: which setting counts, what is stored, and which events are reported."""

import pytest
from tests.table import each_case

from presscheck.api.users import User
from presscheck.engine.inbox.events import Event
from presscheck.engine.inbox.notification_settings import NotificationSettings, NotificationTarget
from presscheck.engine.members import mentions
from presscheck.store.outbox import Outbox

SPACE = NotificationTarget("api")
REQUEST = NotificationTarget("api", "c", seen="2026-05-20T10:00:00.000Z")
OTHER = NotificationTarget("api", "d")
THREAD = NotificationTarget("api", "c", "t", "2026-05-20T10:00:00.000Z")
LATER, EARLIER = "2026-05-20T11:00:00.000Z", "2026-05-20T09:00:00.000Z"


def event(kind: str = "reply", at: str = LATER, thread: str = "", *, mentions_me: bool = False) -> Event:
    return Event(kind, "mia", "Mia", at, "c", "api", 5, "Rewrite", thread=thread, mentions_me=mentions_me)


def test_most_specific_setting_counts_and_is_stored(outbox: Outbox) -> None:
    settings = NotificationSettings(outbox)
    assert settings.by_id() == {}
    settings.set(SPACE, "muted")
    settings.set(REQUEST, "followed")
    settings.set(THREAD, "muted")
    for known in (settings, NotificationSettings(outbox)):
        assert [known.state(target) for target in (SPACE, OTHER, REQUEST, THREAD)] == [
            "muted", "muted", "followed", "muted"
        ]  # fmt: skip
        assert known.state(NotificationTarget("api", "c", "u")) == "followed"
        assert known.state(NotificationTarget("cli", "e")) == ""
        assert known.by_id() == {"requests": {"c": "followed"}, "spaces": {"api": "muted"}}
        assert known.followed("request") == (REQUEST,)
        assert known.followed("thread") == ()


def test_unreadable_settings_are_ignored(outbox: Outbox) -> None:
    outbox.remember("notify request c", "no JSON")
    outbox.remember("notify request d", '{"state": "loud", "space": "api"}')
    outbox.remember("notify request e", '{"state": "muted", "colour": "red"}')
    outbox.remember("notify request f", "[]")
    assert NotificationSettings(outbox).by_id() == {}


def test_toggle_ends_a_state_only_if_all_have_it_and_undo_restores_each(outbox: Outbox) -> None:
    changes: list[str] = []
    settings = NotificationSettings(outbox, lambda: changes.append("changed"))
    settings.set(OTHER, "followed")
    changes.clear()
    muted = settings.toggle([REQUEST, OTHER], "muted")
    assert muted.is_on
    assert changes == ["changed"] * 2
    assert [settings.state(target) for target in (REQUEST, OTHER)] == ["muted", "muted"]
    ended = settings.toggle([REQUEST, OTHER], "muted")
    assert not ended.is_on
    assert settings.by_id() == {}
    settings.undo(ended)
    settings.undo(muted)
    assert [settings.state(target) for target in (REQUEST, OTHER)] == ["", "followed"]
    settings.change([OTHER], "muted", is_on=False)
    assert settings.state(OTHER) == "followed", "it was not muted"


def test_request_in_a_muted_space_can_be_unmuted(outbox: Outbox) -> None:
    settings = NotificationSettings(outbox)
    settings.set(SPACE, "muted")
    settings.toggle([REQUEST], "muted")
    assert [settings.state(target) for target in (SPACE, REQUEST, THREAD, OTHER)] == ["muted", "", "", "muted"]
    settings.toggle([REQUEST], "muted")
    assert settings.state(REQUEST) == "muted"


@pytest.mark.parametrize(
    ("muted", "happens", "is_reported", "after"),
    [
        (REQUEST, event(), False, "muted"),
        (REQUEST, event("merged"), False, "muted"),
        (REQUEST, event("review-asked"), True, ""),
        (REQUEST, event("review-asked", EARLIER), False, "muted"),
        (REQUEST, event("review-asked", ""), True, ""),
        (REQUEST, event(mentions_me=True), True, ""),
        (REQUEST, event(thread="t", mentions_me=True), True, ""),
        (SPACE, event(), False, "muted"),
        (SPACE, event("review-asked"), False, "muted"),
        (SPACE, event(mentions_me=True), False, "muted"),
        (THREAD, event(thread="t"), False, "muted"),
        (THREAD, event(thread="u"), True, "muted"),
        (THREAD, event("approved"), True, "muted"),
        (THREAD, event(thread="t", mentions_me=True), True, ""),
        (OTHER, event(), True, "muted"),
    ],
)
def test_events_of_muted_targets(
    outbox: Outbox, muted: NotificationTarget, happens: Event, after: str, *, is_reported: bool
) -> None:
    settings = NotificationSettings(outbox)
    settings.set(muted, "muted")
    assert settings.filter_events([happens]) == ((happens,) if is_reported else ())
    assert settings.state(muted) == after
    assert NotificationSettings(outbox).state(muted) == after


def test_following_a_thread_reports_only_its_events(outbox: Outbox) -> None:
    settings = NotificationSettings(outbox)
    settings.set(THREAD, "followed")
    inside, outside, site = event(thread="t"), event(thread="u"), Event("published", site="s")
    assert settings.filter_events([inside, outside, site], ["c"]) == (inside, site)
    assert settings.filter_events([inside, outside]) == (inside, outside), "of one that concerns the user anyway"
    settings.set(REQUEST, "muted")
    assert settings.filter_events([inside, outside]) == (inside,)


@each_case(
    ("text", "is_mention"),
    [
        ("What do you say, @Robin Achterberg?", True),
        ("@robin achterberg", True),
        ("see [Robin](/~/users/r1 \"mention\")", True),
        ("@Robin Achterbergs", False),
        ("[Robin](/~/users/r12 \"mention\") @Robin Achterberger", False),
        ("@Robin Achterbergs, @Robin Achterberg", True),
        ("Robin Achterberg", False),
        ("@Robin", False),
        ("", False),
    ],
)  # fmt: skip
def test_mentions(text: str, *, is_mention: bool) -> None:
    assert mentions(text, User(id="r1", display_name="Robin Achterberg")) is is_mention


def test_a_user_without_a_name_is_mentioned_by_id_only() -> None:
    assert not mentions("@ all", User(id="r1"))
