"""The activity log: all API requests of this run, each with the command that repeats it."""

from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, running, shown, until, write

pytestmark = pytest.mark.service(shared=True)


async def test_activity_log_lists_every_request_with_its_command(service: RunningService, tmp_path: Path) -> None:
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
