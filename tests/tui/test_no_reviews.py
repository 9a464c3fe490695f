"""A service without reviews: the app reports it, and comments replace reviews."""

from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, running, shown, until

from presscheck.api.comments import ListComments
from presscheck.client.client import Client
from presscheck.tui.places import Place

PATH = {"space_id": "guides", "change_request_id": "3"}


async def last_comment(service: RunningService) -> str:
    async with Client(service.base_url, service.token) as other:
        found = await other.send(ListComments(**PATH, format="markdown", order="asc"))
        return (found.items[-1].body.markdown or "").strip()


@pytest.mark.slow
@pytest.mark.usefixtures("at_once")
async def test_a_comment_replaces_a_review_and_keeps_its_typed_text(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Fix typos in quickstart")
        await pilot.app.go(Place.review(*PATH.values()))
        await until(pilot, shows="Can merge")
        service.stop()
        await pilot.press("ctrl+r")
        await until(pilot, shows="offline")
        await pilot.press("v", "r")
        await until(pilot, shows="Request changes")
        await pilot.press(*"Name the source.", "ctrl+s")
        await until(pilot, holds=lambda: len(pilot.app.engine.waiting()) == 1)
        service.lacks = "reviews"
        service.start()
        await pilot.press("ctrl+r")
        await until(pilot, holds=lambda: not pilot.app.engine.waiting() and pilot.app.engine.lacks("reviews"))
        await pilot.press("v", "r")
        await until(pilot, shows="Changes requested: Name the source.")
        await pilot.press("ctrl+s")
        await until(pilot, holds=lambda: not pilot.app.engine.waiting())
        assert await last_comment(service) == "Changes requested: Name the source."
        await pilot.press("v", "a")
        await until(pilot, shows="This service has no reviews: post a comment instead")
        await pilot.press(*"It reads well.", "ctrl+s")
        await until(pilot, holds=lambda: not pilot.app.engine.waiting())
        assert "✗" not in shown(pilot.app).splitlines()[-1], "nothing is complained of"
        assert await last_comment(service) == "Approved. It reads well."
        pilot.app.pop_screen()
        await pilot.press("4", "space", "A")
        await until(pilot, shows="With 1 change request; this service has no reviews")
        assert "Request changes" not in shown(pilot.app)
        await pilot.press("escape", "v", "a")
        await until(pilot, holds=lambda: shown(pilot.app).splitlines()[-1].endswith("this service has no reviews"))
