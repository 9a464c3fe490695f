"""The inbox on the sample workspace."""

import threading
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import running_service
from tests.service_users import opens, somebody
from tests.stalling_proxy import holding_back
from tests.tui.app_driver import app_on, inbox_loaded, running, shown, until

from presscheck.tui.screens.review.screen import ReviewScreen

pytestmark = pytest.mark.service(shared=True)


async def opened(pilot: Any) -> str:
    """Wait until a review is open. Returns the subject of its change request."""
    await until(pilot, holds=lambda: isinstance(pilot.app.screen, ReviewScreen))
    review = pilot.app.screen
    await until(pilot, holds=lambda: review.is_mounted and review.session.model.request is not None)
    return review.session.model.request.subject


@pytest.mark.slow
async def test_rows_that_arrive_above_the_cursor_do_not_change_what_enter_opens(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    answered = threading.Event()
    answered.set()
    with (
        running_service(tmp_path_factory.mktemp("service"), sample=True) as service,
        holding_back(service, tmp_path, "/change-requests?", until=answered) as address,
    ):
        async with running(app_on(service, tmp_path, base_url=address)) as pilot, somebody(service, "mia") as (mia,):
            await inbox_loaded(pilot)
            answered.clear()
            await opens(mia, "cli", "Errors by number", "Configuration", "The file.\n", asks=("robin",))
            await pilot.press("ctrl+r", "g", "g", "j", "j")
            await until(pilot, shows="▌   #4 Limits per workspace")
            assert "Errors by number" not in shown(pilot.app)
            answered.set()
            await until(pilot, shows="Errors by number")
            await pilot.press("enter")
            assert await opened(pilot) == "Limits per workspace"
