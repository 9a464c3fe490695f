"""The merge forecast of a review: a merge with conflicts requires typing the number of the change request."""

import threading
from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.stalling_proxy import holding_back
from tests.tui.app_driver import app_on, running, until

from presscheck.api.change_requests import (
    GetChangeRequest,
)
from presscheck.client.client import Client
from presscheck.tui.places import Place

pytestmark = pytest.mark.slow

COLLIDES = {"space_id": "runbook", "change_request_id": "2"}


@pytest.mark.service(on_a_path=True)
async def test_a_merge_waits_for_its_forecast(service: RunningService, tmp_path: Path) -> None:
    answered = threading.Event()
    with holding_back(service, tmp_path, "/revisions/", until=answered) as address:
        async with running(app_on(service, tmp_path, base_url=address)) as pilot:
            await until(pilot, shows="Two carriers down at once")
            await pilot.app.go(Place.review(*COLLIDES.values()))
            await until(pilot, shows="↓ main has new changes")
            review = pilot.app.screen
            await pilot.press("m")
            await until(pilot, shows="Checking for conflicts …")
            await pilot.press("y", "tab", "enter")
            assert pilot.app.screen is review, "enter is No while it is not known"
            await pilot.press("m")
            await until(pilot, shows="checking …")
            answered.set()
            await until(pilot, shows="Conflicts with main:")
            await until(pilot, shows="type: 2")
            await pilot.press("y", "enter")
            async with Client(service.base_url, service.token) as other:
                assert (await other.send(GetChangeRequest(**COLLIDES))).status == "open", "nothing was merged so far"
            await pilot.press("m")
            await until(pilot, shows="type: 2")
            await pilot.press("2", "enter")
            await until(pilot, shows="merged with conflicts")
