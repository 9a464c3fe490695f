"""The searchable list of keys of a screen, and commands of other screens, which first ask for their target."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, inbox_loaded, running, until
from tests.tui.base_screen import Room, room
from tests.tui.change_request_factory import begun
from tests.tui.markdown_editor import TEXT, editing
from tests.tui.widget_harness import app_with, shown
from textual.pilot import Pilot

from presscheck.tui.commands import COMMANDS, where
from presscheck.tui.places import Place
from presscheck.tui.screens.key_list import WITHOUT_KEY, KeyList, groups_of


class Site(Room):
    """A room in the scope of a site."""

    SCOPE = "site"


@pytest.fixture
async def pilot(tmp_path: Path) -> AsyncIterator[Pilot[int]]:
    async with app_with(Site, tmp_path).run_test(size=(120, 60)) as one:
        await until(one, shows="row 0")
        await one.press("?")
        await until(one, holds=lambda: isinstance(one.app.screen, KeyList))
        yield one


@pytest.mark.slow
async def test_commands_are_searched_and_run(pilot: Pilot[int]) -> None:
    await pilot.press("tab")
    await until(pilot, holds=lambda: "▌P " not in "".join(shown(pilot.app)))
    await pilot.press("shift+tab", *"comment")
    await until(pilot, shows="▌c ")
    assert "site" not in "".join(shown(pilot.app)[2:-2])
    await pilot.press("down")
    await until(pilot, shows="▌C ")
    await pilot.press("up", "up", "enter")
    await until(pilot, shows="✗ offline: this cannot wait")


async def test_a_double_click_runs_a_command(pilot: Pilot[int]) -> None:
    await until(pilot, shows="▌P ")
    y = next(y for y, line in enumerate(shown(pilot.app)) if "▌P " in line)
    await pilot.click(offset=(shown(pilot.app)[y].index("Publish"), y), times=2)
    await until(pilot, holds=lambda: room(pilot).did == ["publish"])


@pytest.mark.slow
async def test_a_command_of_another_screen_asks_for_its_target_and_runs_there(
    service: RunningService, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        await pilot.press("g", "o", ":", *"approve")
        await until(pilot, shows="▌approve  works in a review")
        await pilot.press("enter")
        await until(pilot, shows="approve: choose a change request")
        await pilot.press(*"limits", "enter")
        await until(pilot, shows="#4 Limits per workspace  ")
        await until(pilot, shows="2 pages not viewed")
        await pilot.press("escape")
        tables = {"review": pilot.app.screen.command_table}
        await pilot.press("?", *"visitors get")
        await until(pilot, shows="not here: among sites")
        await pilot.press("enter")
        await until(pilot, shows="visitors: choose a site")
        await pilot.press("escape")
        for kind in ("inbox", "browse", "publish", "admin", "outbox"):
            tables[kind] = (await pilot.app.go(Place(kind))).command_table
    for command in COMMANDS:
        there = where(command)
        if there.kind and command.name != "development_mode":  # integrations have their own screen
            assert tables[there.kind].command(there.opener or command.name), command


async def test_commands_whose_keys_type_text_have_no_key_in_the_editor(service: RunningService, tmp_path: Path) -> None:
    async with editing(service, tmp_path, await begun(service, "Keys", TEXT)) as pilot:
        screen = pilot.app.screen
        await pilot.press("f1")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, KeyList))
        groups = {group.heading: {entry.name for entry in group.entries} for group in groups_of(pilot.app, screen)}
        assert {"find_here", "refresh", "find_anything"} <= groups[WITHOUT_KEY]
        for heading, names in groups.items():
            assert "down" not in names
            assert heading != WITHOUT_KEY or not {"send", "find_in_text", "back", "quit"} & names
        await pilot.press(*"refresh")
        await until(pilot, shows=WITHOUT_KEY)
