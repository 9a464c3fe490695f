"""The list of keys of a screen: its groups, columns and search; and the palette, which runs only what was typed."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.running_service import RunningService, running_service
from tests.tui.app_driver import app_on, inbox_loaded, inbox_rows, open_review, running, until
from tests.tui.base_screen import Room, room
from tests.tui.widget_harness import app_with, shown
from textual.pilot import Pilot

from presscheck.tui.commands import COMMANDS, where
from presscheck.tui.places import Place
from presscheck.tui.screens.key_list import KeyGrid, KeyList


class Site(Room):
    """A screen whose commands are those of a site and of a review."""

    SCOPE = "site"


@pytest.fixture
async def pilot(tmp_path: Path) -> AsyncIterator[Pilot[int]]:
    async with app_with(Site, tmp_path).run_test(size=(120, 60)) as one:
        await until(one, shows="row 0")
        await one.press("?")
        await until(one, holds=lambda: isinstance(one.app.screen, KeyList))
        yield one


def line_with(pilot: Pilot[int], text: str) -> str:
    return next(line for line in shown(pilot.app) if text in line)


@pytest.mark.slow
async def test_it_begins_with_the_keys_of_the_place_in_two_columns(pilot: Pilot[int]) -> None:
    await until(pilot, shows="▌P ")
    headings = [line.strip() for line in shown(pilot.app)]
    assert headings.index(line_with(pilot, "site").strip()) < headings.index(line_with(pilot, "review").strip())
    place = line_with(pilot, "▌P ")
    assert "Publish or unpublish (asks first)" in place
    assert "Publish or unpublish (asks first)" in line_with(pilot, "Keys"), "in full, where a column has no room"
    assert len(place.split("  ")) > 4, "the other column stands beside it"
    await pilot.press("enter")
    await until(pilot, holds=lambda: room(pilot).did == ["publish"])


@pytest.mark.slow
async def test_moving_searching_and_running(pilot: Pilot[int]) -> None:
    await pilot.press("tab")
    await until(pilot, holds=lambda: "▌P " not in "".join(shown(pilot.app)))
    await pilot.press("shift+tab", *"comment")
    await until(pilot, shows="▌c ")
    assert "site" not in "".join(shown(pilot.app)[2:-2])
    await pilot.press("down")
    await until(pilot, shows="▌C ")
    await pilot.press("up", "up", "enter")
    await until(pilot, shows="✗ offline: this cannot wait")


async def test_a_double_click_runs(pilot: Pilot[int]) -> None:
    await until(pilot, shows="▌P ")
    y = next(y for y, line in enumerate(shown(pilot.app)) if "▌P " in line)
    await pilot.click(offset=(shown(pilot.app)[y].index("Publish"), y), times=2)
    await until(pilot, holds=lambda: room(pilot).did == ["publish"])


@pytest.mark.slow
async def test_one_column_where_there_is_no_room_and_it_scrolls(tmp_path: Path) -> None:
    async with app_with(Site, tmp_path).run_test(size=(80, 24)) as pilot:
        await until(pilot, shows="row 0")
        await pilot.press("?")
        await until(pilot, shows="▌P ")
        assert "site" in "\n".join(shown(pilot.app))
        await pilot.press(*["down"] * 40)
        grid = pilot.app.screen.query_one(KeyGrid)
        await until(pilot, holds=lambda: grid.top > 0 and grid.entry is not None)
        assert f"▌{grid.entry.keys}" in "\n".join(shown(pilot.app)) if grid.entry else False
        await pilot.press(*"zzzz")
        await until(pilot, shows="No match")
        await pilot.press("enter", "escape")
        await until(pilot, holds=lambda: pilot.app.screen is room(pilot))


class TestPalette:
    @pytest.fixture(scope="class")
    def service(self, tmp_path_factory: pytest.TempPathFactory):
        with running_service(tmp_path_factory.mktemp("service"), sample=True) as one:
            yield one

    @pytest.mark.slow
    async def test_a_number_finds_that_change_request_only(self, service: RunningService, tmp_path: Path) -> None:
        async with running(app_on(service, tmp_path)) as pilot:
            await until(pilot, shows="Limits per workspace")
            await pilot.press(":", *"cr 987")
            await until(pilot, shows="No change request #987 here")
            await pilot.press("enter", *["backspace"] * 3, "4")
            await until(pilot, shows="▌#4 Limits per workspace")
            await pilot.press("enter")
            await until(pilot, shows="4 Limits per workspace  ")

    @pytest.mark.slow
    async def test_nothing_similar_is_offered(self, service: RunningService, tmp_path: Path) -> None:
        async with running(app_on(service, tmp_path)) as pilot:
            await until(pilot, shows="Limits per workspace")
            await pilot.press(":", *"space zzz")
            await until(pilot, shows="No space “zzz” here")
            await pilot.press(*["backspace"] * 9, *"snoooze")
            await until(pilot, shows="No match")
            await pilot.press(*["backspace"] * 3, "z")
            await until(pilot, shows="▌snooze")

    @pytest.mark.slow
    async def test_a_command_of_another_place_asks_for_its_target_and_runs_there(
        self, service: RunningService, tmp_path: Path
    ) -> None:
        async with running(app_on(service, tmp_path)) as pilot:
            await until(pilot, shows="Limits per workspace")
            await pilot.press("g", "o", ":", *"approve")
            await until(pilot, shows="▌approve  works in a review")
            await pilot.press("enter")
            await until(pilot, shows="approve: choose a change request")
            await pilot.press(*"limits", "enter")
            await until(pilot, shows="#4 Limits per workspace  ")
            await until(pilot, shows="2 pages not viewed")
            await pilot.press("escape", "?", *"visitors get")
            await until(pilot, shows="not here: among sites")
            await pilot.press("enter")
            await until(pilot, shows="visitors: choose a site")

    @pytest.mark.slow
    async def test_a_command_on_a_row_of_the_inbox_goes_there_and_touches_no_row(
        self, service: RunningService, tmp_path: Path
    ) -> None:
        async with running(app_on(service, tmp_path)) as pilot:
            await inbox_loaded(pilot)
            rows = inbox_rows(pilot)
            await pilot.press("g", "o", ":", *"until there is new activity", "enter")
            await until(pilot, shows="D (done) works here")
            assert inbox_rows(pilot) == rows

    @pytest.mark.slow
    async def test_every_command_works_where_the_lists_say(self, service: RunningService, tmp_path: Path) -> None:
        async with running(app_on(service, tmp_path)) as pilot:
            await open_review(pilot, {"space_id": "cli", "change_request_id": "2"})
            tables = {"review": pilot.app.screen.command_table}
            for kind in ("inbox", "browse", "publish", "admin", "outbox"):
                tables[kind] = (await pilot.app.go(Place(kind))).command_table
        for command in COMMANDS:
            there = where(command)
            if there.kind and command.name != "development_mode":  # an integration has a screen of its own
                assert tables[there.kind].command(there.opener or command.name), command
