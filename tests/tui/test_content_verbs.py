"""Keys of the tree that mark pages and copy addresses."""

from pathlib import Path
from typing import cast

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, running, until

from presscheck.tui.app import PresscheckApp
from presscheck.tui.places import Place
from presscheck.tui.screens.browse.screen import BrowseScreen


@pytest.fixture(autouse=True)
def far_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unset the external editor, and simulate SSH, so that addresses are copied instead of opened."""
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    monkeypatch.setenv("SSH_CONNECTION", "elsewhere")


async def test_pages_are_marked_by_range_and_their_address_is_copied(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path), (80, 24)) as pilot:
        await until(pilot, shows="Needs me")
        app = cast("PresscheckApp", pilot.app)
        await app.go(Place.page("guides"))
        await until(pilot, shows="Quickstart", holds=lambda: isinstance(app.screen, BrowseScreen))
        browse = cast("BrowseScreen", app.screen)
        await until(pilot, holds=lambda: browse.item is not None and browse.item.key == "space guides")
        await pilot.press("y")
        await until(pilot, shows="copied")
        space = app.clipboard
        assert space.endswith("/guides")
        await pilot.press("V")
        await until(pilot, shows="a range starts here: V ends it")
        await pilot.press("j", "j", "V")
        await until(pilot, shows="2 pages marked")  # the space itself is no page
        await pilot.press("escape")
        await until(pilot, holds=lambda: not browse.tree_view.marks.keys)
        await pilot.press("*")
        await until(pilot, shows="pages marked", holds=lambda: len(browse.tree_view.marks.keys) > 2)
        await pilot.press("*")
        await until(pilot, shows="no page is marked", holds=lambda: not browse.tree_view.marks.keys)
        assert browse.item is not None
        assert browse.item.page is not None
        await pilot.press("y")
        await until(pilot, holds=lambda: app.clipboard == f"{space}/{browse.item.page.path}")
