"""Clicks on a text of the screen."""

from typing import Any

from tests.tui.app_driver import until
from tests.tui.widget_harness import shown
from textual.pilot import Pilot


async def click_text(pilot: Pilot[Any], text: str, *, times: int = 1, at: int = 1, button: int = 1) -> None:
    """Click on the first place where the screen shows a text, on its second character or a later one."""
    await until(pilot, shows=text)
    lines = shown(pilot.app)
    y = next(y for y, line in enumerate(lines) if text in line)
    await pilot.click(offset=(lines[y].index(text) + at, y), times=times, button=button)
