"""The screen of a specification: the pages that use it."""

from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.tui.admin import family
from tests.tui.app_driver import app_on, running, until
from tests.tui.block_page import SPACE, TITLE, write_blocks

from presscheck.api.content import ListPages
from presscheck.documents.pages.tree import flatten
from presscheck.tui.places import Place


@pytest.mark.slow
@pytest.mark.service(prepare=write_blocks)
async def test_pages_with_operations_of_the_specification_are_listed_and_opened(
    service: RunningService, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path / "home")) as pilot:
        await until(pilot, shows="Needs me")
        pages = flatten((await pilot.app.engine.read(ListPages(space_id=SPACE))).pages)  # type: ignore[attr-defined]
        page = next(page for page in pages if page.title == TITLE)
        await pilot.app.go(Place.page(SPACE, page.id))  # type: ignore[attr-defined]
        await until(pilot, shows=f"› {TITLE}")
        await until(pilot, holds=lambda: pilot.app.screen.page_view.document.done)  # type: ignore[attr-defined]
        await family(pilot, "OpenAPI")
        await pilot.press("enter")
        await until(pilot, shows="OpenAPI › pager")
        await pilot.press("g", "b")
        await until(pilot, shows="Pages with pager")
        await until(pilot, shows=f"{TITLE}")
        await pilot.press("enter")
        await until(pilot, shows=f"› {TITLE}")
