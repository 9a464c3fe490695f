"""The outline of a page in Browse: a pane beside it in a wide terminal, a list to choose from in a narrow one."""

from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, plain, running, shown, until
from tests.tui.page_reading import reading, under_cursor, write_all

from presscheck.tui.widgets.picker import Picker

pytestmark = pytest.mark.service(shared=True, prepare=write_all)


def current(pilot: Any) -> str:
    """Return the heading that is marked in the outline."""
    outline = pilot.app.screen.outline
    rows = [outline.item(number, 0, 80) for number in range(outline.count)]
    return next(plain(row).strip() for row in rows if any("accent" in span.style for span in row))


async def test_the_outline_follows_the_page(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await reading(pilot, "Afterwards", "Chapter 1")
        screen = pilot.app.screen
        view, outline = screen.page_view, screen.outline
        assert not outline.display
        columns = view.columns
        await pilot.press("#")
        await until(pilot, holds=lambda: outline.has_focus and outline.count == 61)
        assert view.columns < columns - 20
        await until(pilot, shows="  Chapter 3", holds=lambda: current(pilot) == "Afterwards")
        await until(pilot, holds=lambda: "    Part of 3" in shown(pilot.app))
        # enter moves the cursor to the heading and focuses the page
        await pilot.press("j", "j", "j", "enter")
        await until(pilot, holds=lambda: view.has_focus and under_cursor(pilot) == "Chapter 2")
        await until(pilot, holds=lambda: current(pilot) == "Chapter 2")
        # the outline follows keys and scrolling
        await pilot.press("]", "]", "]")
        await until(pilot, holds=lambda: current(pilot) == "Part of 3")
        assert outline.cursor == 6
        for _ in range(30):
            view.scroll_lines(3)
        await until(pilot, holds=lambda: int(current(pilot).split()[-1]) > 6)
        assert under_cursor(pilot) == "Part of 3", "the cursor stays where it was"
        # a click moves the cursor to the heading
        row = next(
            number
            for number in range(outline.visible_range.start, 61)
            if "Chapter 9" in plain(outline.item(number, 0, 80))
        )
        await pilot.click(outline, offset=(8, row - outline.top))
        await until(pilot, holds=lambda: view.has_focus and under_cursor(pilot) == "Chapter 9")
        # a jump into a folded section opens it
        await pilot.press(".", ",")
        await until(pilot, shows="all sections are folded")
        assert outline.count == 61
        await pilot.press("tab")
        await until(pilot, holds=lambda: outline.has_focus)
        await pilot.press("j", "enter")
        await until(pilot, holds=lambda: under_cursor(pilot) == "Part of 9")


@pytest.mark.slow
async def test_the_outline_is_remembered_and_hidden_in_narrow_terminals(
    service: RunningService, tmp_path: Path
) -> None:
    app = app_on(service, tmp_path)
    async with running(app) as pilot:
        await reading(pilot, "Afterwards", "Chapter 1")
        outline = pilot.app.screen.outline
        await pilot.press("#")
        await until(pilot, holds=lambda: outline.display)
        await pilot.press("=")
        await until(pilot, holds=lambda: not outline.display and pilot.app.screen.page_view.has_focus)
        await pilot.press("=")
        await until(pilot, holds=lambda: outline.display)
        await pilot.resize_terminal(119, 40)
        await until(pilot, holds=lambda: not outline.display)
        await pilot.press("#")
        await until(pilot, shows="Headings", holds=lambda: isinstance(pilot.app.screen, Picker))
        await pilot.press("escape")
        await pilot.resize_terminal(120, 40)
        await until(pilot, holds=lambda: outline.display)
    async with running(app_on(service, tmp_path)) as pilot:
        await reading(pilot, "Afterwards", "Chapter 1")
        outline = pilot.app.screen.outline
        await until(pilot, holds=lambda: outline.display and outline.count == 61)
        assert pilot.app.screen.page_view.has_focus
