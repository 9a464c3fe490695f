"""The base of all screens: keys and sequences, popup, disabled reasons, errors, subscriptions."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.private_names import closing, watch_frames
from tests.tui.app_driver import until
from tests.tui.base_screen import Room, room
from tests.tui.widget_harness import app_with, shown
from textual.app import ComposeResult
from textual.pilot import Pilot
from textual.screen import Screen

from presscheck.engine.inbox.events import APPROVED, Event
from presscheck.engine.results import Result
from presscheck.errors import NotFound
from presscheck.text.styled_text import Span
from presscheck.tui.app import PresscheckApp
from presscheck.tui.commands import COMMANDS, NEVER_ALONE, Keymap, with_keys
from presscheck.tui.places import Place
from presscheck.tui.screens.page.draft import QUEUED
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog
from presscheck.tui.widgets.line_view import TextView
from presscheck.tui.widgets.row_list import RowList
from presscheck.tui.widgets.status_bar import WhichKey


class Beside(Room):
    """A screen with a list, and details of the row under the cursor."""

    def body(self) -> ComposeResult:
        yield from super().body()
        yield TextView()

    def on_row_list_row_highlighted(self, event: RowList.RowHighlighted) -> None:
        self.query_one(TextView).show([(Span(f"about row {event.index}"),)])


@pytest.fixture
async def pilot(tmp_path: Path) -> AsyncIterator[Pilot[int]]:
    async with app_with(Room, tmp_path).run_test(size=(100, 20)) as one:
        await until(one, holds=lambda: "row 0" in "\n".join(shown(one.app)))
        yield one


def app(pilot: Pilot[int]) -> PresscheckApp:
    assert isinstance(pilot.app, PresscheckApp)
    return pilot.app


async def test_a_row_and_its_details_change_in_one_frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with app_with(Beside, tmp_path).run_test(size=(100, 20)) as pilot:
        await until(pilot, holds=lambda: "row 0" in "\n".join(shown(pilot.app)) and "offline" in shown(pilot.app)[0])
        painted: list[tuple[int, set[int]]] = []

        def watch(screen: Screen[Any], update: Any) -> None:
            painted.append((screen.query_one(RowList).cursor, {y for y, _, _ in getattr(update, "spans", ())}))

        watch_frames(monkeypatch, PresscheckApp, watch)
        for number in range(1, 6):
            painted.clear()
            await pilot.press("j")
            await until(pilot, holds=lambda number=number: f"about row {number}" in shown(pilot.app))
            row, about = (shown(pilot.app).index(text) for text in (f"▌row {number}", f"about row {number}"))

            # other frames may come first: of the status bar, when the connection changes, or of the previous key
            def changed(number: int = number, lines: frozenset[int] = frozenset((row, about))) -> list[set[int]]:
                return [drawn for cursor, drawn in painted if cursor == number and drawn & lines]

            await until(pilot, holds=lambda changed=changed: bool(changed()))
            assert {row, about} <= changed()[0]


async def test_the_popup_shows_possible_keys_and_handles_none(pilot: Pilot[int]) -> None:
    await pilot.press("g")
    assert not room(pilot).query_one(WhichKey).display
    await until(pilot, holds=lambda: "g go" in "\n".join(shown(pilot.app)))
    assert "outbox" in "\n".join(shown(pilot.app))
    await pilot.press("g")
    assert not room(pilot).query_one(WhichKey).display
    assert room(pilot).query_one(RowList).cursor == 0


async def test_a_fast_sequence_shows_no_popup(pilot: Pilot[int]) -> None:
    await pilot.press("j", "g", "g")
    assert not room(pilot).query_one(WhichKey).display
    assert room(pilot).query_one(RowList).cursor == 0


async def test_escape_ends_a_sequence(pilot: Pilot[int]) -> None:
    await pilot.press("g", "escape", "j")
    assert room(pilot).query_one(RowList).cursor == 1


async def test_a_disabled_command_shows_the_reason(pilot: Pilot[int]) -> None:
    room(pilot).why = "nothing to publish yet"
    await pilot.press("P")
    assert room(pilot).did == []
    assert "nothing to publish yet" in shown(pilot.app)[-1]


async def test_the_footer_shows_the_keys_of_the_screen(pilot: Pilot[int]) -> None:
    await pilot.press("k")
    assert shown(pilot.app)[-1].split("   ") == [" enter open", "P publish", "v review", "c comment", "? keys"]


async def test_an_async_command_can_open_a_dialog(pilot: Pilot[int]) -> None:
    await pilot.press("v", "a")
    await until(pilot, holds=lambda: isinstance(pilot.app.screen, ConfirmDialog))
    await pilot.press("enter")
    await until(pilot, holds=lambda: room(pilot).did)
    assert room(pilot).did == ["approve False"]


async def test_a_message_is_shown_next_to_the_keys_until_the_next_key(pilot: Pilot[int]) -> None:
    room(pilot).notify("a short message")
    await until(pilot, shows="a short message")
    assert shown(pilot.app)[-1].startswith(" enter open   P publish")
    assert "? keys  " in shown(pilot.app)[-1]
    assert shown(pilot.app)[-1].endswith("  a short message")
    room(pilot).notify("a long message " * 20)
    await until(pilot, shows="a long message")
    assert shown(pilot.app)[-1].startswith(" ? keys  ")
    assert shown(pilot.app)[-1].endswith("…")
    await pilot.press("j")
    assert "message" not in shown(pilot.app)[-1]
    room(pilot).notify("a short message")
    await until(pilot, shows="a short message")
    await pilot.press("?")  # opens a dialog, below which the footer stays as it is
    await until(pilot, shows="type to search")
    assert "message" not in shown(pilot.app)[-1]


async def test_the_message_about_a_pending_edit_fits_in_80_columns(tmp_path: Path) -> None:
    async with app_with(Room, tmp_path).run_test(size=(80, 24)) as pilot:
        await until(pilot, holds=lambda: "row 0" in "\n".join(shown(pilot.app)))
        room(pilot).notify(with_keys(QUEUED))
        await until(pilot, shows="pending (g x shows it): sent and merged when the service is back")


async def test_a_message_disappears_after_a_while(pilot: Pilot[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("presscheck.tui.app.NOTICE_SECONDS", 0.1)
    room(pilot).notify("a short message")
    await until(pilot, shows="a short message")
    await until(pilot, holds=lambda: "message" not in shown(pilot.app)[-1])


async def test_a_message_stays_on_its_screen(pilot: Pilot[int]) -> None:
    room(pilot).notify("of the first screen")
    await until(pilot, shows="of the first screen")
    await pilot.app.push_screen(Room())
    await until(pilot, holds=lambda: "first screen" not in shown(pilot.app)[-1])
    pilot.app.notify("of the second screen")
    await until(pilot, shows="of the second screen")
    await pilot.app.pop_screen()
    await until(pilot, holds=lambda: "second screen" not in shown(pilot.app)[-1])
    assert [notice.text for notice in app(pilot).notices.history] == ["of the first screen", "of the second screen"]


async def test_events_of_other_users_do_not_replace_a_message(
    pilot: Pilot[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    news = Event(APPROVED, name="Ada", request="cr1", space="s1", number=1, subject="Auth")

    async def watch() -> AsyncIterator[tuple[tuple[Event, ...], None]]:
        yield (news,), None

    monkeypatch.setattr(app(pilot).engine.events, "watch", watch)
    room(pilot).notify("not merged")
    await app(pilot)._announce_events()
    await until(pilot, shows="not merged")
    assert "Ada" not in shown(pilot.app)[-1]
    assert [notice.text for notice in app(pilot).notices.history] == ["not merged", "Ada approved #1 Auth"]
    await pilot.press("j")
    await app(pilot)._announce_events()
    await until(pilot, shows="Ada approved #1 Auth")
    room(pilot).notify("merged")
    await until(pilot, shows="merged")
    assert "Ada" not in shown(pilot.app)[-1]


async def test_the_log_lists_each_event_of_other_users(pilot: Pilot[int], monkeypatch: pytest.MonkeyPatch) -> None:
    events = [Event(APPROVED, name="Ada", request=f"cr{at}", space="s1", number=at, subject="Auth") for at in (1, 2)]

    async def watch() -> AsyncIterator[tuple[tuple[Event, ...], None]]:
        yield tuple(events), None

    monkeypatch.setattr(app(pilot).engine.events, "watch", watch)
    await app(pilot)._announce_events()
    await until(pilot, shows="2 events, latest: Ada approved #2 Auth")
    await pilot.press("!")
    await until(pilot, shows="Notices  2")
    assert ["◆ Ada approved #2 Auth" in line for line in shown(pilot.app)[3:5]] == [True, False]
    places: list[Place] = []

    async def go(place: Place) -> None:
        places.append(place)

    monkeypatch.setattr(app(pilot), "go", go)
    await pilot.press("j", "enter")
    await until(pilot, holds=lambda: places == [Place.review("s1", "cr1")])
    app(pilot).notify("and one more")
    await until(pilot, shows="Notices  3")


async def test_an_error_of_a_subscription_is_shown(pilot: Pilot[int]) -> None:
    async def failing() -> AsyncIterator[Result[int]]:
        yield Result(0, "failed", 0.0, NotFound("gone", request="GET /x", status=404))

    room(pilot).subscribe(failing(), lambda _: None, group="x")
    await until(pilot, holds=lambda: "gone (GET /x)" in shown(pilot.app)[-1])


async def test_a_new_subscription_of_a_group_ends_the_old_one(pilot: Pilot[int]) -> None:
    one = room(pilot)
    one.subscribe(one.stream(1, 2), lambda seen: one.seen.append(seen.value), group="x")
    await until(pilot, holds=lambda: one.seen == [1, 2])
    one.subscribe(one.stream(3), lambda seen: one.seen.append(seen.value), group="x")
    one.subscribe(one.stream(4), lambda seen: one.seen.append(seen.value), group="y")
    await until(pilot, holds=lambda: sorted(one.seen) == [1, 2, 3, 4])
    assert one.ended == 1
    one.unsubscribe("y")
    await until(pilot, holds=lambda: one.ended == 2)


async def test_closing_ends_all_subscriptions(pilot: Pilot[int]) -> None:
    guest = Room()
    await pilot.app.push_screen(guest)
    guest.subscribe(guest.stream(1), lambda seen: guest.seen.append(seen.value), group="x")
    await until(pilot, holds=lambda: guest.seen)
    await pilot.press("q")
    await until(pilot, holds=lambda: guest.ended == 1)


async def test_a_timer_of_a_screen_that_is_being_closed_does_nothing(pilot: Pilot[int]) -> None:
    screen, called = room(pilot), list[str]()
    screen.set_timer(0.01, lambda: called.append("open"))
    await until(pilot, holds=lambda: called == ["open"])
    with closing(screen):
        ended = asyncio.Event()
        screen.set_timer(0.01, lambda: called.append("closing"))
        pilot.app.set_timer(0.05, ended.set)
        await ended.wait()
    assert called == ["open"]


async def test_a_hidden_screen_receives_the_latest_result_when_it_is_shown_again(pilot: Pilot[int]) -> None:
    hidden, answers = room(pilot), asyncio.Queue[int]()

    async def stream() -> AsyncIterator[Result[int]]:
        while True:
            yield Result(await answers.get(), "fresh", 0.0)

    hidden.subscribe(stream(), lambda seen: hidden.seen.append(seen.value), group="x")
    answers.put_nowait(1)
    await until(pilot, holds=lambda: hidden.seen == [1])
    await pilot.app.push_screen(ConfirmDialog("Sure?", [], "Yes"))
    answers.put_nowait(2)
    await until(pilot, holds=lambda: hidden.seen == [1, 2])  # a screen below a dialog is still visible
    await pilot.press("escape")
    await pilot.app.push_screen(Room())
    for number in (3, 4, 5):
        answers.put_nowait(number)
    await until(pilot, holds=lambda: answers.empty() and not hidden.is_shown)
    assert hidden.seen == [1, 2]
    await pilot.press("q")
    await until(pilot, holds=lambda: hidden.seen == [1, 2, 5])


async def test_a_covered_screen_reads_only_the_cache(pilot: Pilot[int]) -> None:
    covered, read = room(pilot), list[str]()

    async def stream(name: str) -> AsyncIterator[Result[int]]:
        try:
            yield Result(1, "cached", 0.0)
            read.append(f"{name} requested")
            yield Result(2, "fresh", 0.0)
            await asyncio.Event().wait()
        finally:
            read.append(f"{name} ended")

    def seen(result: Result[int]) -> None:
        covered.seen.append(result.value)

    await pilot.app.push_screen(Room())
    covered.subscribe(stream("first"), seen, group="x")
    await until(pilot, holds=lambda: bool(covered._when_shown))
    covered.subscribe(stream("second"), seen, group="x")
    await until(pilot, holds=lambda: bool(covered._when_shown) and bool(read))
    assert (read, covered.seen) == (["first ended"], [])
    await pilot.press("q")
    await until(pilot, holds=lambda: covered.seen[-1:] == [2])
    assert read == ["first ended", "second requested"]


async def test_narrow_screens_have_the_class_narrow(pilot: Pilot[int]) -> None:
    assert not room(pilot).has_class("narrow")
    await pilot.resize_terminal(99, 20)
    await until(pilot, holds=lambda: room(pilot).has_class("narrow"))


async def test_the_first_line_shows_the_connection_state(pilot: Pilot[int]) -> None:
    await until(pilot, holds=lambda: "offline" in shown(pilot.app)[0])


async def test_a_damaged_cache_is_reported_in_one_message(tmp_path: Path) -> None:
    async with app_with(Room, tmp_path).run_test(size=(100, 20)) as pilot:
        await until(pilot, holds=lambda: list((tmp_path / "cache").glob("*.sqlite")))
    for file in (tmp_path / "cache").glob("*.sqlite"):
        file.write_bytes(b"no database" * 1000)
    async with app_with(Room, tmp_path).run_test(size=(100, 20)) as pilot:
        await until(pilot, holds=lambda: "The cache was damaged or of another version" in shown(pilot.app)[-1])
        assert len(pilot.app.notices.history) == 1


async def test_keys_can_be_remapped(tmp_path: Path) -> None:
    async with app_with(Room, tmp_path, keymap=Keymap({"publish": ("ctrl+l",)})).run_test(size=(100, 20)) as pilot:
        await until(pilot, holds=lambda: "row 0" in "\n".join(shown(pilot.app)))
        await pilot.press("P", "ctrl+l")
        assert room(pilot).did == ["publish"]
        assert "ctrl+l publish" in shown(pilot.app)[-1]


def test_no_command_depends_on_a_key_that_terminals_never_send() -> None:
    assert not [command.name for command in COMMANDS if set(command.keys) <= NEVER_ALONE]


def test_command_names_are_unique_and_have_titles() -> None:
    assert len({command.name for command in COMMANDS}) == len(COMMANDS)
    assert all(command.title and command.name.isidentifier() for command in COMMANDS)


async def test_an_error_of_a_background_task_is_in_the_log_file(pilot: Pilot[int]) -> None:
    context = {"message": "a write could not be sent", "exception": KeyError("bug")}
    asyncio.get_running_loop().call_exception_handler(context)
    log = app(pilot).notices.log
    assert log
    assert log.read_text("utf-8").startswith("a write could not be sent\n")
    assert "KeyError: 'bug'" in log.read_text("utf-8")
