"""Sections of a page in Browse: folded with keys, opened by jumps of the cursor into them."""

from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, running, until
from tests.tui.page_reading import reading, under_cursor, write_all

from presscheck.tui.widgets.picker import Picker

pytestmark = pytest.mark.service(shared=True, prepare=write_all)


def folded(pilot: Any) -> list[str]:
    """Return the folded headings laid out so far. Lines below an opened section are laid out while the app is idle."""
    lines = ("".join(span.text for span in line) for line in pilot.app.screen.page_view.document.lines)
    return [line.partition("  ·")[0] for line in lines if "  · " in line]


@pytest.mark.slow
async def test_matches_and_chosen_headings_open_their_sections(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path), (110, 40)) as pilot:
        await reading(pilot, "Afterwards", "Chapter 1")
        await pilot.press(".", ",")
        await until(pilot, holds=lambda: len(folded(pilot)) == 30)
        await pilot.press("/")
        await until(pilot, holds=lambda: getattr(pilot.app.focused, "takes_text", False))
        await pilot.press(*"end of 2")
        await until(pilot, shows="11 matches")
        await pilot.press("enter")
        await until(pilot, shows="1 of 11", holds=lambda: under_cursor(pilot) == "The [b]end of 2.")
        await until(pilot, holds=lambda: len(folded(pilot)) == 29 and "Chapter 2" not in folded(pilot))
        await pilot.press("escape", "l", "#")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, Picker))
        picker: Any = pilot.app.screen
        await pilot.press(*"part of 17")
        await until(pilot, holds=lambda: [choice.label.strip() for choice in picker.matches] == ["Part of 17"])
        await pilot.press("enter")
        await until(pilot, holds=lambda: under_cursor(pilot) == "Part of 17")
        await until(pilot, holds=lambda: "Chapter 30" in folded(pilot) and "Chapter 17" not in folded(pilot))
        await pilot.press("_")
        await until(pilot, shows="everything on this page is open", holds=lambda: folded(pilot) == [])


async def test_the_section_in_view_is_folded_if_the_cursor_is_scrolled_out_of_view(
    service: RunningService, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await reading(pilot, "Afterwards", "Chapter 1")
        view = pilot.app.screen.page_view
        view.ensure_lines(400)
        view.scroll_lines(100)
        await until(pilot, holds=lambda: view.top == 100)
        above = [heading.text for heading in view.document.headings if heading.line <= 100]
        await pilot.press(",")
        await until(pilot, holds=lambda: len(folded(pilot)) == 1)
        assert folded(pilot) == above[-1:]
        assert under_cursor(pilot).startswith(above[-1])
