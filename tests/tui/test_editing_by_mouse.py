"""The mouse in the browse screen: the menu of a row."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, pick, running, until
from tests.tui.mouse import click_text

from presscheck.tui.app import PresscheckApp
from presscheck.tui.screens.browse.screen import BrowseScreen
from presscheck.tui.widgets.picker import Picker

pytestmark = pytest.mark.service(shared=True)


async def on_top(pilot: Any, kind: type) -> None:
    await until(pilot, holds=lambda: isinstance(pilot.app.screen, kind))


@asynccontextmanager
async def organization(service: RunningService, home: Path, size: tuple[int, int]) -> AsyncIterator[Any]:
    async with running(app_on(service, home), size) as pilot:
        await until(pilot, shows="Needs me")
        await pilot.press("g", "o")
        await until(pilot, shows="Guides")
        yield pilot


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_a_right_click_lists_the_commands_of_a_row(
    service: RunningService, tmp_path: Path, size: tuple[int, int]
) -> None:
    async with organization(service, tmp_path, size) as pilot:
        app = cast("PresscheckApp", pilot.app)
        browse = cast("BrowseScreen", app.screen)
        await click_text(pilot, "Runbook", button=3)
        await on_top(pilot, Picker)
        assert browse.item is not None and browse.item.title == "Runbook", "the cursor is on the row"
        labels = [choice.label for choice in cast("Picker", app.screen).matches]
        assert labels[0] == "open" and "move to" in labels
        assert all(browse.disabled_reason(choice.key) is None for choice in cast("Picker", app.screen).matches)
        assert "space runbook" not in browse.tree_view.expanded
        await pick(pilot, "open")
        await until(pilot, holds=lambda: "space runbook" in browse.tree_view.expanded)
