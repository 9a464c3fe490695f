"""Steps in the Markdown editor of the app."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from tests.running_service import RunningService
from tests.tui.app_driver import app_on, running, until
from tests.tui.change_request_factory import Begun

from presscheck.tui.app import PresscheckApp
from presscheck.tui.places import Place
from presscheck.tui.screens.markdown_editor.area import MarkdownArea
from presscheck.tui.screens.markdown_editor.screen import MarkdownEditor

TEXT = "A token lasts 30 days.\n\nA key lasts for ever.\n"


def editor(pilot: Any) -> MarkdownEditor:
    screens = [screen for screen in pilot.app.screen_stack if isinstance(screen, MarkdownEditor)]
    return screens[-1]


def is_editing(pilot: Any) -> bool:
    return isinstance(pilot.app.focused, MarkdownArea)


@asynccontextmanager
async def editing(
    service: RunningService, home: Path, one: Begun, size: tuple[int, int] = (120, 40), **profile: object
) -> AsyncIterator[Any]:
    """Run the app with the page of a change request in the editor."""
    async with running(app_on(service, home, **profile), size) as pilot:
        await until(pilot, shows="Needs me")
        await cast("PresscheckApp", pilot.app).go(Place.page(one.at["space_id"], one.page, one.at["change_request_id"]))
        await until(pilot, shows="A key lasts for ever.")
        await pilot.press("e")
        await until(pilot, holds=lambda: is_editing(pilot))
        yield pilot
