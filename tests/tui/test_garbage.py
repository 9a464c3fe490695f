"""Objects that must not stay in memory."""

import gc
from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, inbox_loaded, running, until
from textual.strip import Strip

pytestmark = pytest.mark.slow


@pytest.mark.service(shared=True)
async def test_the_drawn_lines_of_a_closed_dialog_do_not_stay_in_memory(
    service: RunningService, tmp_path: Path
) -> None:
    def drawn() -> str:
        gc.collect()
        return "\n".join(strip.text for strip in gc.get_objects() if isinstance(strip, Strip))

    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        gc.freeze()  # get_objects() then lists only newer objects
        try:
            await pilot.press("?")
            await until(pilot, shows="Go to a space by name")
            assert "Go to a space by name" in drawn()
            await pilot.press("escape")
            await pilot.press("j")  # each frame drops the lines that were drawn for earlier frames
            await until(pilot, holds=lambda: "Go to a space by name" not in drawn())
        finally:
            gc.unfreeze()
