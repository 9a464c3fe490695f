"""Ranges of lines in a review, for comments."""

from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import review, until
from tests.tui.change_request_factory import begun

SUBJECT = "How long things last"
pytestmark = pytest.mark.usefixtures("at_once", "fast_live_updates")


async def test_a_range_can_be_ended_and_a_range_of_one_line_quotes_that_line(
    service: RunningService, tmp_path: Path
) -> None:
    await begun(service, SUBJECT, "A token lasts\na day.\n\nA key stays.\n")
    async with review(service, tmp_path, SUBJECT) as pilot:
        await until(pilot, shows="A key stays.")
        await pilot.press("tab", "G", "V")
        view = pilot.app.screen.session.view
        await until(pilot, holds=lambda: view.text_range is not None)
        await pilot.press("escape")
        await until(pilot, holds=lambda: view.text_range is None)
        assert pilot.app.screen.session.view is view, "the review is still open"
        await pilot.press("V", "V")
        await until(pilot, shows="the range is ended")
        await pilot.press("V", "c")
        await until(pilot, shows="> A key stays.")
