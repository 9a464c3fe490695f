"""Steps in the administration screens."""

from typing import Any

from tests.tui.app_driver import until

from presscheck.tui.places import Place
from presscheck.tui.screens.admin.screen import AdminScreen
from presscheck.tui.screens.form_dialog import FormDialog


async def family(pilot: Any, title: str, shows: str = "") -> AdminScreen:
    """Open a family of administration, wait until it shows a text, and focus its table."""
    await until(pilot, shows="live")
    await pilot.press("g", "a")
    await until(pilot, holds=lambda: isinstance(pilot.app.screen, AdminScreen) and pilot.app.screen.organization)
    screen: AdminScreen = pilot.app.screen
    screen.go_to(Place.family(title))
    await until(pilot, shows=f"Administration › {title}")
    await until(pilot, holds=lambda: screen.table.family.title == title and screen.table.loaded.value is not None)
    await until(pilot, shows=shows)
    await pilot.press("enter")
    return screen


async def form(pilot: Any) -> FormDialog:
    await until(pilot, holds=lambda: isinstance(pilot.app.screen, FormDialog))
    dialog: FormDialog = pilot.app.screen
    await until(pilot, holds=lambda: dialog.focused is not None)
    return dialog


async def go_to(pilot: Any, text: str) -> None:
    """Move the cursor to the first row with a text."""
    rows = pilot.app.screen.table.rows
    await until(pilot, shows=text)
    await pilot.press("home")
    for _ in range(rows.count):
        line = "".join(span.text for span in rows.row(rows.cursor, 90))
        if text in line:
            return
        await pilot.press("j")
    raise AssertionError(f"no row with {text}")
