"""Terminals of at most 60 columns, where the tree covers the page."""

from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, running, shown, until
from tests.tui.mouse import click_text

from presscheck.tui.places import Place
from presscheck.tui.screens.browse.screen import BrowseScreen
from presscheck.tui.screens.review.screen import ReviewScreen

pytestmark = pytest.mark.service(shared=True)


def lines(pilot: Any, text: str) -> list[str]:
    return [line for line in shown(pilot.app).splitlines() if text in line]


async def on_page(pilot: Any) -> BrowseScreen:
    """Open the browse screen, with the cursor of the tree on a page."""
    await until(pilot, shows="live")
    await pilot.app.go(Place.page("api"))
    screen: Any = pilot.app.screen
    await until(pilot, holds=lambda: screen.library.pages("api") is not None)
    await click_text(pilot, "Authentication")
    await until(pilot, holds=lambda: screen.item is not None and screen.item.title == "Authentication")
    return screen


async def test_the_tree_can_be_filtered_while_it_covers_the_page(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path), size=(60, 22)) as pilot:
        await on_page(pilot)
        await pilot.press("slash", *"limits")
        await until(pilot, holds=lambda: bool(lines(pilot, "Limits")) and not lines(pilot, "The test workspace"))


SENTENCE = "A request without a token is answered with 401"


@pytest.mark.slow
async def test_opening_a_page_folds_the_tree_and_a_key_or_click_unfolds_it(
    service: RunningService, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path), size=(60, 22)) as pilot:
        screen = await on_page(pilot)
        assert "▾ 🔑 API docs" in shown(pilot.app), "the tree is over the page"
        assert screen.page_view.size.width == 60
        await pilot.press("enter")
        await until(pilot, shows=SENTENCE)
        assert "▾ 🔑 API docs" not in shown(pilot.app)
        for back in ("key", "click"):
            if back == "key":
                await pilot.press("tab")
            else:
                await click_text(pilot, "tab tree")
            await until(pilot, shows="▾ 🔑 API docs")
            assert screen.tree_view.has_focus
            assert SENTENCE not in shown(pilot.app)
            assert "tab tree" not in shown(pilot.app)
            await pilot.click(offset=(55, 8))  # on the visible strip of the page
            await until(pilot, shows=SENTENCE)
            assert screen.page_view.has_focus
        await pilot.resize_terminal(61, 22)
        await until(pilot, shows="▾ 🔑 API docs")
        assert screen.page_view.has_focus and "tab tree" not in shown(pilot.app), "beside the page there is room again"


@pytest.mark.slow
@pytest.mark.parametrize("size", [(60, 22), (40, 20)])
async def test_opening_a_change_folds_the_list_of_pages_of_a_review(
    service: RunningService, tmp_path: Path, size: tuple[int, int]
) -> None:
    async with running(app_on(service, tmp_path), size=size) as pilot:
        await until(pilot, shows="Rewrite the auth guide")
        await pilot.press("enter")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, ReviewScreen), shows="Sessions")
        view = pilot.app.screen.session.view
        assert view.change.size.width == size[0], "the list takes no room from the change"
        await pilot.press("enter")
        await until(pilot, holds=lambda: view.change.has_focus and not lines(pilot, "Conversation"))
        await click_text(pilot, "tab pages")
        await until(pilot, shows="Conversation")
        assert view.items.has_focus
        await pilot.click(offset=(size[0] - 2, size[1] - 4))
        await until(pilot, holds=lambda: view.change.has_focus and not lines(pilot, "Conversation"))
        await pilot.press("tab")
        await until(pilot, shows="Conversation")
