"""Editing the details of a change request."""

from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, pick, running, shown, until

from presscheck.api.change_requests import GetChangeRequest
from presscheck.client.client import Client
from presscheck.tui.places import Place

PATH = {"space_id": "guides", "change_request_id": "3"}


pytestmark = pytest.mark.usefixtures("at_once")


async def test_subject_description_and_state_are_changed(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, Client(service.base_url, service.token) as other:
        await until(pilot, shows="live")
        await pilot.app.go(Place.review(*PATH.values()))
        await until(pilot, shows="Can merge")
        await pilot.press("E")
        await until(pilot, shows="Edit details")
        await pick(pilot, "Subject")
        await until(pilot, shows="enter OK")
        await pilot.press("end", *", all of them", "enter")
        await until(pilot, shows="Fix typos in quickstart, all of them")
        await pilot.press("E")
        await until(pilot, shows="Edit details")
        await pick(pilot, "Description")
        await until(pilot, shows="the draft is kept")
        await pilot.press(*"Only **spelling**.", "ctrl+s")
        await pilot.press("g", "g", "k", "k")
        await until(pilot, shows="Only spelling.")
        await pilot.press("E")
        await until(pilot, shows="Convert to draft")
        await pick(pilot, "Convert to draft")
        await until(pilot, holds=lambda: shown(pilot.app).split("\n")[1].startswith(" draft"))
        await until(pilot, holds=lambda: pilot.app.engine.waiting() == ())
        found = await other.send(GetChangeRequest(**PATH))
        assert (found.subject, found.status) == ("Fix typos in quickstart, all of them", "draft")
        assert found.description
