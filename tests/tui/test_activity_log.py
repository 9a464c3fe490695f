"""The activity log: all API requests of this run, each with the command that repeats it."""

from datetime import timedelta
from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, running, shown, until, write

from presscheck.tui.app import PresscheckApp
from presscheck.tui.screens.activity_log import ActivityScreen

pytestmark = pytest.mark.service(shared=True)


async def test_it_lists_every_request_with_its_command(service: RunningService, tmp_path: Path) -> None:
    app = app_on(service, tmp_path)
    async with running(app) as pilot:
        await until(pilot, shows="✓ Jón   ✗ Ada   ◷ you")
        await pilot.press("@")
        await until(pilot, shows="Activity")
        await pilot.press("G")
        await until(pilot, shows="/user")
        await write(pilot, "/", "orgs service", "enter")
        await until(pilot, shows="/orgs service")
        assert "GET    /user " not in shown(app)
        await pilot.press("escape", "G")
        await until(pilot, shows="GET    /user ")
        await write(pilot, "/", "get-current-user", "enter")
        await until(pilot, shows="$ presscheck api get-current-user")
        row = next(line for line in shown(app).split("\n") if "GET    /user " in line).split()
        assert (row[-5], row[-2]) == ("200", "service")
        assert int(row[-3].replace(",", "")) > 50, "bytes"
        await pilot.press("y")
        await until(pilot, shows="copied")
        assert app.clipboard == "presscheck api get-current-user"
        assert service.token not in shown(app) + str(app.screen.query_one("#details"))
        await pilot.press("enter")
        await until(pilot, shows="took")


@pytest.mark.slow
async def test_it_continues_while_the_screen_is_open(service: RunningService, tmp_path: Path) -> None:
    app = app_on(service, tmp_path)
    async with running(app) as pilot:
        await until(pilot, shows="✓ Jón   ✗ Ada   ◷ you")
        await pilot.press("@")
        await until(pilot, shows="Activity")
        place = app.screen
        assert isinstance(place, ActivityScreen)
        await pilot.press("j")
        stood_on, before = place.list.current, len(place.entries)
        await pilot.press("ctrl+r")
        await until(pilot, holds=lambda: len(place.entries) > before)
        assert place.list.current == stood_on, "the cursor stays on its request"


@pytest.mark.slow
async def test_cache_and_priority_are_shown(service: RunningService, tmp_path: Path) -> None:
    app = app_on(service, tmp_path)
    async with running(app) as pilot:
        await until(pilot, shows="✓ Jón   ✗ Ada   ◷ you")
        for priority in ("visible", "prefetch", "background"):
            await until(pilot, holds=lambda wanted=priority: said(app, "list-reviews", wanted))
    app = app_on(service, tmp_path)
    async with running(app) as pilot:
        await until(pilot, shows="✓ Jón   ✗ Ada   ◷ you")
        kept = app.engine._activity._entries
        await until(pilot, holds=lambda: any(one.from_cache and one.path == "/user" and one.bytes > 50 for one in kept))
        await pilot.press("enter")
        await until(pilot, shows="carries the rights of the member")
        await until(pilot, holds=lambda: len(pages_asked(app)) >= 4)
        asked = [one for one in pages_asked(app) if one != "background"]
        assert asked[0] == "visible"
        assert sorted(asked) == ["prefetch", "prefetch", "visible", "visible"]


def said(app: PresscheckApp, name: str, priority: str) -> bool:
    kept = app.engine._activity._entries
    return any(f" {name} " in one.again and one.priority.name.lower() == priority for one in kept)


def pages_asked(app: PresscheckApp) -> list[str]:
    """The priorities of the requests for pages, in the order in which they were sent."""
    kept = [one for one in app.engine._activity._entries if "-page " in one.again and not one.from_cache]
    kept.sort(key=lambda one: one.at - timedelta(milliseconds=one.milliseconds))
    return [one.priority.name.lower() for one in kept]
