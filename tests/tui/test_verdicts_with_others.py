"""Reviews, reviewers and details of a change request, while another user writes between key presses."""

from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import At, edits, somebody
from tests.tui.app_driver import all_sent, app_on, open_review, pick, running, until, write

from presscheck.api.change_requests import (
    GetChangeRequest,
    ListRequestedReviewers,
    ListReviews,
    RemoveRequestedReviewer,
    RequestReviewers,
    UpdateChangeRequest,
)
from presscheck.client.client import Client
from presscheck.documents.nodes.from_markdown import markdown_to_nodes

AUTH = {"space_id": "api", "change_request_id": "5"}


pytestmark = pytest.mark.usefixtures("at_once")


async def verdict_of(client: Client, at: At, person: str) -> Any:
    """Return the review of a user that is not outdated."""
    found = (await client.send(ListReviews(**at, limit=100))).items
    [newest] = [one for one in found if one.reviewer.id == person and not one.outdated]
    return newest


@pytest.mark.slow
async def test_a_review_also_covers_changes_made_just_before_it_arrived(
    service: RunningService, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        await open_review(pilot, AUTH)
        await write(pilot, "v r", "Not so")
        await edits(mia, AUTH, "Tokens", "expires after 90 days", "expires after 30 days")
        newest = (await mia.send(GetChangeRequest(**AUTH))).revision
        await pilot.press("ctrl+s")
        await until(pilot, shows="your review also covers changes made just before it arrived: Tokens")
        await until(pilot, shows="✗2 ✓1 stale")
        await all_sent(pilot)
        assert (await verdict_of(mia, AUTH, "robin")).revision == newest
        await until(pilot, shows="expires after 30 days")
        await edits(mia, AUTH, "Scopes", "read only", "read alone")
        await pilot.press("ctrl+r", "g", "g")
        await until(pilot, shows="you  requested changes in an older revision · changed since: Scopes")
        await write(pilot, "v a", "Now")
        await pilot.press("enter")
        await until(pilot, shows="✓1 ✗1 ✓1 stale")
        await all_sent(pilot)
        newest = (await mia.send(GetChangeRequest(**AUTH))).revision
        verdict = await verdict_of(mia, AUTH, "robin")
        assert (verdict.status, verdict.revision) == ("approved", newest)


async def asked(client: Client, at: At) -> set[str]:
    found = (await client.send(ListRequestedReviewers(**at))).items
    return {one.user.id for one in found if one.user}


@pytest.mark.slow
async def test_two_people_change_reviewers_subject_and_description(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        await open_review(pilot, AUTH)
        await pilot.press("R")
        await until(pilot, shows="Reviewers")
        await mia.send(RemoveRequestedReviewer(**AUTH, user_id="ada"))
        await mia.send(RequestReviewers(**AUTH, users=("noor",)))
        await pilot.press(*"tomasz", "tab", *["backspace"] * 6, *"jón", "tab", "enter")
        await all_sent(pilot)
        await until(pilot, shows="◷3")
        assert await asked(mia, AUTH) == {"robin", "noor", "tomasz"}
        await detail(pilot, "subject")
        await until(pilot, shows="enter OK")
        await mia.send(UpdateChangeRequest(**AUTH, subject="Auth"))
        await pilot.press("enter")  # unchanged, so nothing is sent
        await until(pilot, holds=lambda: not pilot.app.screen.is_modal)
        await detail(pilot, "description")
        await until(pilot, shows="the draft is kept")
        await mia.send(UpdateChangeRequest(**AUTH, description=markdown_to_nodes("Only spelling, and one comma.")))
        await pilot.press("ctrl+s")  # unchanged, too
        await until(pilot, holds=lambda: not pilot.app.screen.is_modal)
        await pilot.press("g", "g", "ctrl+r")
        await until(pilot, shows="Only spelling, and one comma.")
        await until(pilot, shows="5 Auth")
        await detail(pilot, "subject")
        await until(pilot, shows="enter OK")
        await pilot.press("end", *", all")
        await mia.send(UpdateChangeRequest(**AUTH, description=None))
        await pilot.press("enter")
        await all_sent(pilot)
        await until(pilot, shows="5 Auth, all")
        found = await mia.send(GetChangeRequest(**AUTH))
        assert (found.subject, found.description) == ("Auth, all", None)


async def detail(pilot: Any, name: str) -> None:
    """Choose a detail to edit."""
    await pilot.press("E")
    await until(pilot, shows="Edit details")
    await pick(pilot, name)
