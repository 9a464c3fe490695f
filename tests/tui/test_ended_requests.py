"""Editing in a change request ends when another user archives or merges it."""

from pathlib import Path
from typing import Any, cast

import pytest
from tests.running_service import RunningService
from tests.service_users import say
from tests.tui.app_driver import app_on, running, shown, until
from tests.tui.change_request_factory import begun, edited

from presscheck.api.change_requests import GetChangeRequest, MergeChangeRequest, UpdateChangeRequest
from presscheck.tui.app import PresscheckApp
from presscheck.tui.places import Place
from presscheck.tui.screens.browse.screen import BrowseScreen

pytestmark = pytest.mark.service(shared=True)

TEXT = "A token lasts 30 days.\n\nA key lasts for ever.\n"


@pytest.fixture(autouse=True)
def no_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)


async def browsing(pilot: Any, one: Any, shows: str) -> BrowseScreen:
    """Open the page of a change request in the browse screen."""
    await cast("PresscheckApp", pilot.app).go(Place.page(one.at["space_id"], one.page, one.at["change_request_id"]))
    await until(pilot, shows=shows)
    return cast("BrowseScreen", pilot.app.screen)


@pytest.mark.slow
async def test_a_change_request_that_somebody_archived_is_left_before_the_editor_opens(
    service: RunningService, tmp_path: Path
) -> None:
    one = await edited(service, "To be archived", TEXT, TEXT.replace("30", "60"), title="Left")
    async with running(app_on(service, tmp_path), (80, 24)) as pilot:
        await until(pilot, shows="Needs me")
        browse = await browsing(pilot, one, "60 days")
        await say(service, one.token, UpdateChangeRequest(**one.at, status="archived"))
        await pilot.press("e")
        await until(pilot, shows="is archived: showing main again")
        await until(pilot, shows="30 days")
        assert pilot.app.screen is browse, "no editor opens"
        assert "guides" not in browse.library.requests
        await pilot.press("e")
        await until(pilot, shows="New change request", holds=lambda: pilot.app.screen is not browse)
        await pilot.press("escape")
        await until(pilot, holds=lambda: pilot.app.screen is browse)
        # an archived change request can still be read, but not edited
        await browsing(pilot, one, "To be archived")
        for key in ("e", "delete"):
            await pilot.press(key)
            await until(pilot, shows="is archived: O leaves it, or chooses another one")
            assert pilot.app.screen is browse
            await pilot.press("g", "g")
            await until(pilot, holds=lambda: "O leaves it" not in shown(pilot.app))


@pytest.mark.slow
async def test_the_home_of_a_space_lists_a_merged_change_request_under_the_last_merges(
    service: RunningService, tmp_path: Path
) -> None:
    one = await begun(service, "Merged by Mia", TEXT, title="Merged here")
    async with running(app_on(service, tmp_path), (120, 40)) as pilot:
        await until(pilot, shows="Needs me")
        browse = await browsing(pilot, one, "30 days")
        browse.session.go_to("space guides")
        await until(pilot, shows="Last merges", holds=lambda: "Merged by Mia" in _part_of_home(pilot, last=False))
        await say(service, one.token, MergeChangeRequest(**one.at))
        pilot.app.engine.refresh(GetChangeRequest(**one.at))
        await until(pilot, shows="is merged: showing main again")
        await until(pilot, holds=lambda: "Merged by Mia" in _part_of_home(pilot, last=True))
        await until(pilot, holds=lambda: "Merged by Mia" not in _part_of_home(pilot, last=False))


def _part_of_home(pilot: Any, *, last: bool) -> str:
    """Return the text of the space home before “Last merges”, or after it if `last` is true."""
    document = pilot.app.screen.page_view.document
    lines = ["".join(span.text for span in line) for line in document.lines] if document else []
    return "\n".join(lines).partition("Last merges")[2 if last else 0]
