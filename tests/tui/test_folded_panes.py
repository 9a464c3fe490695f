"""Terminals of at most 60 columns, in which the tree is over the page."""

from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, running, shown, until
from tests.tui.mouse import click_text

from presscheck.tui.places import Place
from presscheck.tui.screens.browse.screen import BrowseScreen

pytestmark = pytest.mark.service(shared=True)


def lines(pilot: Any, text: str) -> list[str]:
    return [line for line in shown(pilot.app).splitlines() if text in line]


async def on_page(pilot: Any) -> BrowseScreen:
    """Browse, with the cursor of the tree on a page."""
    await until(pilot, shows="live")
    await pilot.app.go(Place.page("api"))
    screen: Any = pilot.app.screen
    await until(pilot, holds=lambda: screen.library.pages("api") is not None)
    await click_text(pilot, "Authentication")
    await until(pilot, holds=lambda: screen.item is not None and screen.item.title == "Authentication")
    return screen


async def test_the_tree_is_filtered_while_it_is_over_the_page(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path), size=(60, 22)) as pilot:
        await on_page(pilot)
        await pilot.press("slash", *"limits")
        await until(pilot, holds=lambda: bool(lines(pilot, "Limits")) and not lines(pilot, "The test workspace"))
