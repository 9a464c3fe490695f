"""The settings of a profile for the first screen, the first view and the sizes of panes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, down_to, inbox_loaded, running, shown, until
from tests.tui.mouse import drag

from presscheck.paths import Places
from presscheck.tui.app import PresscheckApp
from presscheck.tui.places import Place
from presscheck.tui.screens.browse.screen import BrowseScreen
from presscheck.tui.screens.inbox.screen import InboxScreen
from presscheck.tui.screens.publish.screen import PublishScreen
from presscheck.tui.screens.review.screen import ReviewScreen
from presscheck.tui.screens.startup_snapshot import KEY, StartupSnapshot
from presscheck.tui.widgets.pane_border import PaneBorder
from presscheck.wiring import open_cache


@pytest.fixture
def sample(shared_service: Callable[..., RunningService]) -> RunningService:
    return shared_service(sample=True)


@pytest.mark.slow
async def test_the_app_begins_with_the_screen_of_the_settings(sample: RunningService, tmp_path: Path) -> None:
    for name, screen in (("browse", BrowseScreen), ("publish", PublishScreen)):
        async with running(app_on(sample, tmp_path, first_screen=name)) as pilot:
            await until(pilot, shows="live", holds=lambda screen=screen: isinstance(pilot.app.screen, screen))
            assert not any(isinstance(each, InboxScreen) for each in pilot.app.screen_stack)
            await pilot.press("q")
            await inbox_loaded(pilot)


@pytest.mark.slow
async def test_the_app_begins_where_it_ended(sample: RunningService, tmp_path: Path) -> None:
    async with running(app_on(sample, tmp_path, first_screen="last")) as pilot:
        await inbox_loaded(pilot)
        await pilot.press("enter")
        await until(pilot, shows="Can merge? ")
        left = pilot.app.screen.place().key
        await pilot.press("ctrl+q")
    async with running(app_on(sample, tmp_path, first_screen="last")) as pilot:
        await until(pilot, shows="Can merge? ", holds=lambda: isinstance(pilot.app.screen, ReviewScreen))
        assert pilot.app.screen.place().key == left
        await pilot.press("q")
        await inbox_loaded(pilot)
        await pilot.press("g", "o")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, BrowseScreen))
        await until(pilot, shows="API docs")
        await down_to(pilot, "API docs")
        await pilot.press("ctrl+q")
    async with running(app_on(sample, tmp_path, first_screen="last")) as pilot:
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, BrowseScreen))
        await until(
            pilot, holds=lambda: pilot.app.screen.item is not None and pilot.app.screen.item.title == "API docs"
        )


@pytest.mark.slow
async def test_a_last_place_that_cannot_be_opened_leaves_the_inbox(sample: RunningService, tmp_path: Path) -> None:
    for stored in ('["review", "api", "never-loaded"]', '["batch", "1"]', '["review"]', "{", '"x"', "7"):
        app = app_on(sample, tmp_path, first_screen="last", offline=True)
        app.engine.outbox.remember("last place", stored)
        async with running(app) as pilot:
            await until(pilot, holds=lambda: isinstance(pilot.app.screen, InboxScreen))
            if "never" in stored:
                await until(pilot, shows="the change request where you left is not stored here any more")


@pytest.mark.slow
async def test_the_inbox_begins_with_the_view_of_the_settings(sample: RunningService, tmp_path: Path) -> None:
    app = app_on(sample, tmp_path, first_view="ALL  open")
    async with running(app) as pilot:
        await inbox_loaded(pilot)
        assert pilot.app.screen.session.model.view.id == "all-open"
        await pilot.press("1")
        await until(pilot, holds=lambda: pilot.app.screen.session.model.view.id == "needs-me")
        await pilot.press("q")
    assert "Needs me" in still(tmp_path, app, "") + still(tmp_path, app, "needs-me")
    assert still(tmp_path, app, "All open").strip() == "", "a picture of another view would change under the cursor"
    async with running(app_on(sample, tmp_path, first_view="all-open")) as pilot:
        await inbox_loaded(pilot)
        assert pilot.app.screen.session.model.view.id == "all-open"


def still(home: Path, app: PresscheckApp, view: str) -> str:
    """The picture that the next start shows before anything is loaded, for an inbox that begins with a view."""
    cache = open_cache(app.profile, Places(home / "config", home / "cache", home / "state", home / "data"))
    kept = cache.answer(KEY)
    cache.close()
    assert kept
    screen: Any = StartupSnapshot(kept.json, app.style_for(""), view)
    return "\n".join(strip.text for strips in screen._strips.values() for strip in strips)


async def test_an_unknown_view_is_named_and_the_last_one_is_shown(sample: RunningService, tmp_path: Path) -> None:
    async with running(app_on(sample, tmp_path, first_view="Mein\x1b[31m"), (200, 40)) as pilot:
        await until(pilot, shows="first_view: no view is named Mein")
        assert "there are Needs me, Mine" in shown(pilot.app)
        await inbox_loaded(pilot)
        assert pilot.app.screen.session.model.view.id == "needs-me"


@pytest.mark.slow
async def test_the_preview_has_the_side_and_size_of_the_settings(sample: RunningService, tmp_path: Path) -> None:
    async with running(app_on(sample, tmp_path, preview_side="right", preview_size=60)) as pilot:
        await inbox_loaded(pilot)
        preview = pilot.app.screen.query_one("#preview")
        assert preview.size.width == 120 * 60 // 100 - 1
        _, beside = pilot.app.screen.query(PaneBorder)
        await drag(pilot, beside, (0, 3), (10, 3), (20, 3))
        await until(pilot, holds=lambda: preview.size.width == 51)
        await pilot.press("|")
        await until(pilot, holds=lambda: preview.size.width == 120)
        assert preview.size.height == round((40 - 4 - 1) * 0.6) - 1
    # what was changed in the app counts until the setting is changed
    for settings, width in ((("right", 60), 120), (("right", 30), 120), (("below", 60), 120), ((None, None), 120)):
        async with running(app_on(sample, tmp_path, preview_side=settings[0], preview_size=settings[1])) as pilot:
            await inbox_loaded(pilot)
            assert pilot.app.screen.query_one("#preview").size.width == width, settings


@pytest.mark.slow
async def test_a_list_has_the_width_of_the_settings_where_it_fits(sample: RunningService, tmp_path: Path) -> None:
    async with running(app_on(sample, tmp_path, first_screen="browse", tree_width=104)) as pilot:
        await until(pilot, shows="API docs")
        screen: Any = pilot.app.screen
        assert screen.tree_view.size.width == 33, "there is no room for the page"
        await pilot.resize_terminal(160, 40)
        await until(pilot, holds=lambda: screen.tree_view.size.width == 104)
        await pilot.resize_terminal(50, 24)
        await until(pilot, holds=lambda: screen.tree_view.size.width < 50)
        await pilot.resize_terminal(160, 40)
        await until(pilot, holds=lambda: screen.tree_view.size.width == 104)
        border = screen.query_one(PaneBorder)
        await pilot.click(border, offset=(0, 3))
        assert screen.engine.outbox.recall("width BrowseScreen tree") is None, "a click is no choice"
        await drag(pilot, border, (0, 3), (-20, 3), (-54, 3))
        await until(pilot, holds=lambda: screen.tree_view.size.width == 50)
    for columns, width in ((104, 50), (70, 70), (None, 46)):
        async with running(app_on(sample, tmp_path, first_screen="browse", tree_width=columns), (160, 40)) as pilot:
            await until(pilot, holds=lambda: isinstance(pilot.app.screen, BrowseScreen))
            await until(pilot, holds=lambda width=width: pilot.app.screen.query_one("#tree").size.width == width)


@pytest.mark.slow
async def test_the_pages_of_a_review_and_the_outline(sample: RunningService, tmp_path: Path) -> None:
    app = app_on(sample, tmp_path, pages_width=25, outline_width=60)
    async with running(app) as pilot:
        await inbox_loaded(pilot)
        await app.go(Place.review("api", "5"))
        await until(pilot, shows="Can merge? ", holds=lambda: app.screen.query_one("#pages").size.width == 25)
        await app.go(Place.item("space api"))
        await until(pilot, holds=lambda: isinstance(app.screen, BrowseScreen) and app.screen.item is not None)
        await pilot.press("#")
        outline = app.screen.query_one("#outline")
        await until(pilot, holds=lambda: bool(outline.display) and 25 < outline.outer_size.width < 41)
        await pilot.resize_terminal(200, 40)
        await until(pilot, holds=lambda: outline.outer_size.width == 60)
        await pilot.resize_terminal(120, 40)
        await until(pilot, holds=lambda: 25 < outline.outer_size.width < 41)
