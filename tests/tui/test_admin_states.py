"""What each family of administration shows when it is forbidden, empty, failed, offline and read-only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.running_service import running_service
from tests.service_users import token_of
from tests.stalling_proxy import holding_back
from tests.tui.app_driver import app_on, running, shown, until

from presscheck.tui.screens.admin.families import FAMILIES, Family
from presscheck.tui.screens.admin.screen import AdminScreen

OF_EVERYBODY = ("Organizations", "AI instructions")
"""They are listed with the organization: without it there is no administration."""
NEVER_EMPTY = (*OF_EVERYBODY, "Members")
FORBIDDEN = {
    "Members": "You are not permitted to list the members of this organization.",
    "Teams": "You are not permitted to list the teams of this organization.",
}


async def opened(pilot: Any) -> AdminScreen:
    """Administration, once its organization is known."""
    await until(pilot, shows="live")
    await pilot.press("g", "a")
    await until(pilot, holds=lambda: isinstance(pilot.app.screen, AdminScreen) and pilot.app.screen.organization)
    screen: AdminScreen = pilot.app.screen
    return screen


async def at(pilot: Any, screen: AdminScreen, family: Family) -> str:
    """The words of a family's table, once they are not changing any more."""
    screen.show_family(family.title)
    table = screen.table
    await until(pilot, holds=lambda: table.family is family and (table._is_loaded or table._error or table.unavailable))
    await until(pilot, holds=lambda: "Loading" not in shown(pilot.app))
    return " ".join(shown(pilot.app).split())


async def test_failed_offline_and_read_only_families(tmp_path: Path) -> None:
    (tmp_path / "service").mkdir()
    parts = [f"/orgs/tallowick/{name}" for name in ("members", "teams")]
    with running_service(tmp_path / "service", sample=True) as service:
        async with running(app_on(service, tmp_path / "g", token=token_of(service, "luz"))) as pilot:
            screen = await opened(pilot)
            for family in FAMILIES:
                text = await at(pilot, screen, family)
                print(
                    "GUEST",
                    family.title,
                    screen.table._error,
                    screen.table.unavailable,
                    "\n",
                    "\n".join(shown(pilot.app).split("\n")[:12]),
                )
        with holding_back(service, tmp_path, *parts) as address:
            pass
    with running_service(tmp_path / "service2", sample=False) as service:
        async with running(app_on(service, tmp_path / "e")) as pilot:
            screen = await opened(pilot)
            for family in FAMILIES:
                text = await at(pilot, screen, family)
                print("EMPTY", family.title, text)
