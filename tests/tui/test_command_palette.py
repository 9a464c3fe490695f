"""The search for pages, change requests and comments: from the store at once, then from the service."""

from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, inbox_loaded, inbox_rows, running, shown, until

from presscheck.api.change_requests import UpdateChangeRequest
from presscheck.client.client import Client
from presscheck.text.styled_text import plain
from presscheck.tui.screens.browse.screen import BrowseScreen
from presscheck.tui.screens.review.screen import ReviewScreen
from presscheck.tui.widgets.picker import Choice, Picker

pytestmark = pytest.mark.slow


async def look_for(pilot: Any, text: str, finds: str) -> list[Choice]:
    """Type a text and wait for a result; returns all results."""
    await pilot.press("ctrl+k")
    await until(pilot, shows="type to search")
    await pilot.press(*text)
    await until(pilot, shows=finds)
    assert isinstance(pilot.app.screen, Picker)
    return pilot.app.screen.matches


async def test_a_page_that_only_the_service_has_is_found_and_then_cached(
    service: RunningService, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="live")
        [choice] = await look_for(pilot, "cursor", "fifty items and a cursor")
        assert (choice.label, choice.note) == ("Lists and pages", "API docs")
        await pilot.press("enter")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, BrowseScreen))
        await until(pilot, shows="A cursor is valid for a day")
        service.stop()
        await pilot.press("g", "i")
        found = await look_for(pilot, "fifty cur", "fifty items and a cursor")
        assert found[0].label == "Lists and pages"
        assert found[0].line
        assert [span.text for span in found[0].line if span.style == "strong"] == ["fifty", "cur"]
        await pilot.press("enter")
        await until(pilot, shows="A cursor is valid for a day")


async def test_a_comment_is_found_and_opened_in_its_thread(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="live")
        await until(pilot, shows="Can we link this")
        await pilot.press("enter")
        await until(pilot, shows="carries the rights of the member")
        await pilot.press("escape")
        found = await look_for(pilot, "link this from", " commented  ")
        assert plain(found[0].line or ()).startswith("Luz")
        await pilot.press("enter")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, ReviewScreen))
        review = pilot.app.screen
        assert isinstance(review, ReviewScreen)
        await until(pilot, holds=lambda: (here := review.session.view.thread) and "link this" in here.first.text)


async def test_matches_by_name_come_first_and_are_not_searched_twice(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Limits p")
        await pilot.press("ctrl+k")
        await until(pilot, shows="type to search")
        await pilot.press(*"limits")
        await until(pilot, shows="Limits p")
        assert isinstance(pilot.app.screen, Picker)
        await until(pilot, holds=lambda: any(one.label == "Limits" for one in pilot.app.screen.matches))  # type: ignore[attr-defined]
        keys = [one.key for one in pilot.app.screen.matches]
        assert len(keys) == len(set(keys))
        assert keys[0].startswith("cr "), "a name that is known, before what the service finds"
        await pilot.press(*"xqzwvkj")  # so many that nothing is similar
        await until(pilot, shows="No match")
        assert "type to search" not in shown(pilot.app)


async def test_open_change_requests_are_listed_before_archived_ones_with_the_same_number(
    service: RunningService, tmp_path: Path
) -> None:
    async with Client(service.base_url, service.token) as client:
        at = {"space_id": "cli", "change_request_id": "2"}
        archived = await client.send(UpdateChangeRequest(**at, status="archived"))
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        await pilot.press("4")
        await inbox_loaded(pilot)
        await pilot.press("7")
        await until(pilot, holds=lambda: archived.subject in inbox_rows(pilot))
        await pilot.press(":", *"cr 2")
        await until(pilot, shows="· archived")
        notes = [choice.note for choice in pilot.app.screen.matches]
        assert len(notes) > 1
        assert notes == sorted(notes, key=lambda note: note.endswith(("archived", "merged")))


async def test_a_number_finds_change_requests_with_or_without_their_space(
    service: RunningService, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        for text, found in (
            ("guides#3", ["#3 Fix typos in quickstart"]),
            ("cr GUIDES #3", ["#3 Fix typos in quickstart"]),
            ("api docs#4", ["#4 Limits per workspace"]),
            ("#4", ["#4 Limits per workspace", "#4 Rename workspaces to projects"]),
            ("nowhere#4", []),
        ):
            await pilot.press(":", *text)
            await until(pilot, holds=lambda found=found: [one.label for one in pilot.app.screen.matches] == found)
            await pilot.press("escape")
        await pilot.press(":", *"guides#3", "enter")
        await until(pilot, shows="Guides › #3")
        await pilot.press(":", *"cr 4")
        await until(pilot, holds=lambda: len(pilot.app.screen.matches) == 2)
        assert [one.note for one in pilot.app.screen.matches] == ["Guides", "API docs"], "the current space is first"
