"""Steps in the lists of permissions."""

from typing import Any

from tests.tui.app_driver import until

from presscheck.tui.places import Place
from presscheck.tui.screens.admin.screen import AdminScreen


async def open_family(pilot: Any, title: str) -> Any:
    """Open a family of administration, with the focus on its table."""
    await pilot.press("g", "a")
    await until(pilot, holds=lambda: isinstance(pilot.app.screen, AdminScreen) and pilot.app.screen.organization)
    screen: AdminScreen = pilot.app.screen
    screen.go_to(Place.family(title))
    await until(pilot, holds=lambda: screen.table.family.title == title and screen.table.loaded.value is not None)
    screen.table.rows.focus()
    await until(pilot, holds=lambda: screen.table.rows.has_focus)
    return screen
