"""The tour: all steps by keys, with changed keys, without writes, and ended early."""

from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import all_sent, app_on, inbox_loaded, running, shown, until
from textual.pilot import Pilot
from textual.widgets import TextArea

from presscheck.text.styled_text import width
from presscheck.tui.app import PresscheckApp
from presscheck.tui.commands import COMMANDS, Keymap
from presscheck.tui.commands import shown as shown_key
from presscheck.tui.key_settings import PRESETS, Keys
from presscheck.tui.tour import STEPS, Tour
from presscheck.tui.widgets.tour_bar import TourBar

SMALL = (80, 24)
CHANGED: Keys = {**PRESETS["arrows"], "tour_next": ("f8",), "comment": ("ctrl+x",), "go_browse": ("f9",)}


def written(app: PresscheckApp) -> list[str]:
    """Return the paths of the requests that were sent with a method other than GET."""
    return [entry.path for entry in app.engine._activity._entries if entry.method != "GET"]


async def step(pilot: Pilot[int], number: int) -> None:
    """Wait until a step is shown."""
    await until(pilot, shows=f" {number}/{len(STEPS)}  ")


async def start(pilot: Pilot[int]) -> None:
    app: Any = pilot.app
    app.navigation.command_tour()
    await step(pilot, 1)


@pytest.mark.slow
async def test_steps_can_be_carried_out_in_the_sample_workspace_and_escape_ends_the_tour(
    service: RunningService, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path, is_sample=True), SMALL) as pilot:
        app: Any = pilot.app
        await inbox_loaded(pilot)
        await pilot.press("g", "?")
        await step(pilot, 1)
        await pilot.press("j")
        await step(pilot, 2)
        await pilot.press("k", "enter")
        await step(pilot, 3)
        await until(pilot, shows="Can merge? ")
        await pilot.press("]")
        await step(pilot, 4)
        assert "Try it" in shown(app)
        await until(pilot, shows="▌")
        await pilot.press("c")
        await until(pilot, shows="Write a comment", holds=lambda: isinstance(app.focused, TextArea))
        await pilot.press(*"So it is", "ctrl+s")
        await step(pilot, 5)
        await pilot.press("v", "a")
        await until(pilot, shows="Approve, with a line of text")
        await pilot.press("escape")
        await step(pilot, 6)
        await pilot.press(":")
        await until(pilot, shows="The tour goes on when this is closed")
        await pilot.press("escape")
        await until(pilot, holds=lambda: not app.screen.is_modal)
        await pilot.press("g", "i")
        await until(pilot, shows="The tour goes on in the review: g r goes there")
        await pilot.press("escape")
        await until(pilot, shows="tour ended: g ? starts it again", holds=lambda: not app.screen.query(TourBar))
        assert not [bar for screen in app.screen_stack for bar in screen.query(TourBar)]
        await all_sent(pilot)
        assert any("comments" in request for request in written(app)), "a step can be done there"


@pytest.mark.slow
async def test_outside_the_sample_workspace_the_tour_only_shows_writes(service: RunningService, tmp_path: Path) -> None:
    app = app_on(service, tmp_path)
    app.keymap = Keymap(CHANGED)
    keys = {command.name: app.keymap.first(command.name) for command in COMMANDS}
    async with running(app, SMALL) as pilot:
        await inbox_loaded(pilot)
        await start(pilot)
        assert f"{shown_key(keys['down'])} and {shown_key(keys['up'])} move" in shown(app)
        await pilot.press(keys["tour_next"])
        await step(pilot, 2)
        await pilot.press(keys["tour_next"])
        await step(pilot, 3)
        await until(pilot, shows="Can merge? ")
        await pilot.press(keys["tour_next"])
        await step(pilot, 4)
        assert f"{shown_key(keys['comment'])} comments on the line" in shown(app)
        await pilot.press(keys["comment"])
        await step(pilot, 5)
        assert "the tour only shows this" in shown(app)
        assert not app.screen.is_modal, "it opens no composer"
        await pilot.press(*keys["approve"].split())
        await step(pilot, 6)
        assert not app.screen.is_modal
        await pilot.press(keys["tour_next"])
        await step(pilot, 7)
        await pilot.press(*keys["go_browse"].split())
        await step(pilot, 8)
        await pilot.press(keys["edit"])
        await step(pilot, 9)
        await pilot.press(keys["tour_next"])
        await step(pilot, 10)
        await pilot.press(keys["tour_next"])
        await until(pilot, shows="that was the tour")
        assert not written(app)
        assert not app.engine.waiting()


@pytest.mark.parametrize("name", PRESETS)
def test_the_texts_of_the_tour_fit_on_a_small_screen(name: str) -> None:
    class App:
        keymap = Keymap(PRESETS[name])

    names = {command.name for command in COMMANDS}
    guide = Tour(App(), lambda: "", lambda: True)  # type: ignore[arg-type]
    for number, one in enumerate(STEPS, 1):
        assert set(one.commands) <= names
        for text in (one.text, one.inside):
            assert width(guide._line(text)) + len(f" {number}/{len(STEPS)}  ") < SMALL[0], text
        room = SMALL[0] - width(guide._keys("next", "end")) - 8 - 3
        assert width(guide._line(one.detail)) <= room, one.detail


def test_steps_that_write_are_declared() -> None:
    assert {command for one in STEPS if one.writes for command in one.commands} == {
        "comment",
        "approve",
        "request_changes",
        "edit",
    }
