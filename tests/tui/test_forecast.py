"""The merge forecast of a review: conflicts are shown before a merge, which then requires the number."""

import threading
from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.stalling_proxy import holding_back
from tests.tui.app_driver import app_on, inbox_loaded, inbox_rows, running, shown, until

from presscheck.api.change_requests import (
    CreateChangeRequest,
    GetChangeRequest,
    MergeChangeRequest,
    UpdateChangeRequest,
)
from presscheck.api.comments import Document
from presscheck.api.content_changes import EditChangeRequestContent, InsertPage
from presscheck.client.client import Client
from presscheck.tui.places import Place
from presscheck.tui.screens.inbox import session as inbox_session

pytestmark = pytest.mark.slow

COLLIDES = {"space_id": "runbook", "change_request_id": "2"}


async def main_moves(service: RunningService, space: str) -> None:
    """Another user merges a new page into main."""
    async with Client(service.base_url, service.token) as other:
        made = await other.send(CreateChangeRequest(space_id=space, subject="Meanwhile"))
        at = {"space_id": space, "change_request_id": made.id}
        page = InsertPage(title="Meanwhile", document=Document(markdown="New.\n"))
        await other.send(EditChangeRequestContent(**at, changes=(page,), compat=False))
        await other.send(UpdateChangeRequest(**at, status="open"))
        await other.send(MergeChangeRequest(**at))


async def test_conflicts_are_listed_and_the_number_is_required(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Two carriers down at once")
        await pilot.app.go(Place.review(*COLLIDES.values()))
        await until(pilot, shows="conflicts with main in")
        assert "Can merge? ✗ no: conflicts" in shown(pilot.app)
        await pilot.press("m")
        await until(pilot, shows="Conflicts with main")
        await until(pilot, shows="type: 2")
        await pilot.press("y", "enter")
        async with Client(service.base_url, service.token) as other:
            assert (await other.send(GetChangeRequest(**COLLIDES))).status == "open", "yes alone is not enough"
            await pilot.press("m")
            await until(pilot, shows="type: 2")
            await pilot.press("2", "enter")
            await until(pilot, shows="merged with conflicts")
            assert (await other.send(GetChangeRequest(**COLLIDES))).status == "merged"


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
            await pilot.press("u")
            await until(pilot, shows="Checking for conflicts …")
            await pilot.press("y", "escape", "m")
            await until(pilot, shows="Checking for conflicts …")
            await pilot.press("y")
            assert "checking …" in shown(pilot.app)
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


async def test_the_number_of_matches_is_shown(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Limits per workspace")
        await pilot.app.go(Place.review("api", "4"))
        await until(pilot, shows="✓ yes")
        await main_moves(service, "api")
        await pilot.press("ctrl+r")
        await until(pilot, shows="↓ main has new changes")
        await until(pilot, shows="Can merge? ✓ yes")
        await pilot.press("u")
        await until(pilot, shows="No conflicts with main.")
        await pilot.press("y")
        await until(pilot, shows="updated from main")


async def test_offline_the_forecast_uses_cached_pages(service: RunningService, tmp_path: Path) -> None:
    for is_online in (True, False):
        async with running(app_on(service, tmp_path)) as pilot:
            await until(pilot, shows="Two carriers down at once")
            await pilot.app.go(Place.review(*COLLIDES.values()))
            await until(pilot, shows="conflicts with main in")
        if is_online:
            service.stop()
    service.start()


@pytest.mark.parametrize("is_changed", [False, True], ids=["same revision", "changed since"])
async def test_the_inbox_shows_the_last_forecast_at_its_next_start(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_changed: bool
) -> None:
    monkeypatch.setattr(inbox_session, "STAY", 0.0)
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="conflict")
    if is_changed:
        async with Client(service.base_url, service.token) as other:
            page = InsertPage(title="More", document=Document(markdown="New.\n"))
            await other.send(EditChangeRequestContent(**COLLIDES, changes=(page,), compat=False))
    monkeypatch.setattr(inbox_session, "STAY", 1000.0)
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        state = "outdated" if is_changed else "conflict"

        def is_shown() -> bool:
            return any("Two carriers" in row and row.endswith(state) for row in inbox_rows(pilot).splitlines())

        await until(pilot, holds=is_shown)
