"""Sections of a page in Browse: folded by keys and clicks, opened by what goes into them, kept while it changes."""

from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import main_moves, somebody
from tests.tui.app_driver import app_on, running, shown, until
from tests.tui.page_reading import reading, under_cursor, write_all

from presscheck.tui.widgets.picker import Picker

pytestmark = pytest.mark.service(shared=True, prepare=write_all)


def folded(pilot: Any) -> list[str]:
    """The folded headings that are laid out: what is below an opened section follows while the app rests."""
    lines = ("".join(span.text for span in line) for line in pilot.app.screen.page_view.document.lines)
    return [line.partition("  ·")[0] for line in lines if "  · " in line]


@pytest.mark.slow
async def test_the_section_at_the_cursor_folds_and_shows_what_it_hides(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await reading(pilot, "Afterwards", "Chapter 1")
        view = pilot.app.screen.page_view
        await pilot.press(",")
        await until(pilot, shows="no section here: ] goes to the next heading")
        await pilot.press("]", "j", "j", "j", ",")
        # six lines of words, the heading below, an item and the last line
        await until(pilot, shows="Chapter 1  · ", holds=lambda: under_cursor(pilot).startswith("Chapter 1"))
        await until(pilot, shows=f"Chapter 1  · {hidden_lines(pilot)} lines")
        assert "Part of 1\n" not in shown(pilot.app)
        await pilot.press("j", "j", "j")
        assert under_cursor(pilot) == "Chapter 2"
        await pilot.press("[")  # to the part in the folded one
        await until(pilot, holds=lambda: folded(pilot) == [] and under_cursor(pilot) == "Part of 1")
        await pilot.press("[", ",")
        await until(pilot, holds=lambda: folded(pilot) == ["Chapter 1"])
        await pilot.press("l")
        await until(pilot, holds=lambda: folded(pilot) == [])
        assert view.has_focus
        await pilot.press(",", "enter")
        await until(pilot, holds=lambda: folded(pilot) == [])


def hidden_lines(pilot: Any) -> int:
    """How many lines with a text the first chapter has, from a layout in which nothing is folded."""
    from presscheck.documents.terminal.page_lines import render_page

    document = pilot.app.screen.page_view.document
    markdown = "\n\n".join(block.text for block in document.blocks)
    lines = ["".join(span.text for span in line) for line in render_page(markdown, document.width)]
    return sum(1 for line in lines[lines.index("Chapter 1") + 1 : lines.index("Chapter 2")] if line.strip())


@pytest.mark.slow
async def test_all_sections_fold_and_stay_so(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await reading(pilot, "Afterwards", "Chapter 1")
        view = pilot.app.screen.page_view
        await pilot.press(".", ",")
        await until(pilot, shows="all sections are folded")
        await until(pilot, holds=lambda: folded(pilot) == [f"Chapter {number}" for number in range(1, 31)])
        assert "Part of" not in shown(pilot.app)
        # other pages do not change it, nor another width, nor a change by somebody else
        await pilot.press("{")
        await until(pilot, shows="A picture of it")
        await pilot.press("}")
        await until(pilot, holds=lambda: len(folded(pilot)) == 30)
        before = view.columns
        await pilot.press("=")
        await until(pilot, holds=lambda: view.columns > before and len(folded(pilot)) == 30)
        await pilot.press("=")
        async with somebody(service, "robin") as (robin,):
            await main_moves(
                robin, "runbook", "Afterwards", "## Chapter 1\n", "New words.\n\n## New\n\nMore.\n\n## Chapter 1\n"
            )
        pilot.app.engine.refresh()
        await until(pilot, shows="New words.")
        await until(pilot, holds=lambda: folded(pilot) == [f"Chapter {number}" for number in range(1, 31)])
        assert "More." in shown(pilot.app)
        await pilot.press(".", ",")
        await until(pilot, shows="all sections are open", holds=lambda: folded(pilot) == [])
        async with somebody(service, "robin") as (robin,):
            await main_moves(robin, "runbook", "Afterwards", "New words.\n\n## New\n\nMore.\n\n", "")


@pytest.mark.slow
async def test_a_click_on_the_mark_of_a_heading_folds(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await reading(pilot, "Afterwards", "Chapter 1")
        view = pilot.app.screen.page_view
        row = next(n for n, line in enumerate(shown(pilot.app).split("\n")) if "▾Chapter 1" in line) - view.region.y
        await pilot.click(view, offset=(0, row))
        await until(pilot, shows="▸Chapter 1  · ")
        await pilot.click(view, offset=(0, row))
        await until(pilot, shows="▾Chapter 1", holds=lambda: folded(pilot) == [])
        await pilot.click(view, offset=(0, row))
        await until(pilot, shows="lines")
        await pilot.click(view, offset=(1 + len("Chapter 1  · "), row))  # what it hides is a link
        await until(pilot, holds=lambda: folded(pilot) == [])
        await pilot.click(view, offset=(3, row))
        assert folded(pilot) == [], "a click on its text only moves the cursor"


@pytest.mark.slow
async def test_what_one_goes_to_is_opened(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path), (110, 40)) as pilot:
        await reading(pilot, "Afterwards", "Chapter 1")
        await pilot.press(".", ",")
        await until(pilot, holds=lambda: len(folded(pilot)) == 30)
        # find: only the section of the match is opened
        await pilot.press("/")
        await until(pilot, holds=lambda: getattr(pilot.app.focused, "takes_text", False))
        await pilot.press(*"end of 2")
        await until(pilot, shows="11 matches")
        await pilot.press("enter")
        await until(pilot, shows="1 of 11", holds=lambda: under_cursor(pilot) == "The [b]end of 2.")
        await until(pilot, holds=lambda: len(folded(pilot)) == 29 and "Chapter 2" not in folded(pilot))
        await pilot.press("n")
        await until(pilot, shows="2 of 11", holds=lambda: under_cursor(pilot) == "The [b]end of 20.")
        await pilot.press("n")
        await until(pilot, shows="3 of 11", holds=lambda: under_cursor(pilot) == "The [b]end of 21.")
        await until(pilot, holds=lambda: len(folded(pilot)) == 27)
        await pilot.press("N", "N")
        await until(pilot, shows="1 of 11", holds=lambda: under_cursor(pilot) == "The [b]end of 2.")
        await until(pilot, holds=lambda: len(folded(pilot)) == 27)
        # headings
        await pilot.press("escape", "l", "#")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, Picker))
        picker: Any = pilot.app.screen
        await pilot.press(*"part of 17")
        await until(pilot, holds=lambda: [choice.label.strip() for choice in picker.matches] == ["Part of 17"])
        await pilot.press("enter")
        await until(pilot, holds=lambda: under_cursor(pilot) == "Part of 17")
        await until(pilot, holds=lambda: "Chapter 30" in folded(pilot) and "Chapter 17" not in folded(pilot))
        await pilot.press("]")
        await until(pilot, holds=lambda: under_cursor(pilot).startswith("Chapter 18  ·"))
        await pilot.press("]")
        await until(pilot, holds=lambda: under_cursor(pilot).startswith("Part of 18"))
        await until(pilot, holds=lambda: "Chapter 30" in folded(pilot) and "Chapter 18" not in folded(pilot))
        # a link from another page
        await pilot.press("{")
        await until(pilot, shows="a fragment")
        view = pilot.app.screen.page_view
        await pilot.press("f")
        await until(pilot, holds=lambda: view.is_labelled)
        label = next(name for name, link in view._labels.items() if link == "after.md#chapter-20")
        await pilot.press(label)
        await until(pilot, holds=lambda: under_cursor(pilot) == "Chapter 20")
        await until(pilot, holds=lambda: "Chapter 30" in folded(pilot))
        await pilot.press("_")
        await until(pilot, shows="everything on this page is open", holds=lambda: folded(pilot) == [])


async def test_the_section_in_view_folds_if_the_cursor_is_scrolled_out_of_it(
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
