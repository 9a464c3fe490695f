"""Reviews, reviewers and details of a change request, while another user acts between key presses."""

from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import At, edits, somebody, threads
from tests.tui.app_driver import all_sent, app_on, open_review, pick, running, shown, until, write

from presscheck.api.change_requests import (
    GetChangeRequest,
    ListRequestedReviewers,
    ListReviews,
    MergeChangeRequest,
    RemoveRequestedReviewer,
    RequestReviewers,
    UpdateChangeRequest,
)
from presscheck.client.client import Client
from presscheck.documents.nodes.from_markdown import markdown_to_nodes

AUTH = {"space_id": "api", "change_request_id": "5"}
TYPOS = {"space_id": "guides", "change_request_id": "3"}


pytestmark = pytest.mark.usefixtures("at_once")


async def verdict_of(client: Client, at: At, person: str) -> Any:
    """The review of a person that counts."""
    found = (await client.send(ListReviews(**at, limit=100))).items
    [newest] = [one for one in found if one.reviewer.id == person and not one.outdated]
    return newest


@pytest.mark.slow
async def test_a_review_of_a_revision_that_changed_meanwhile(service: RunningService, tmp_path: Path) -> None:
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
        await write(pilot, "v c", "Hm")
        await edits(mia, AUTH, "Errors", "No errors.\n")
        await pilot.press("ctrl+s")
        await until(pilot, shows="✓2 stale")
        await until(pilot, shows="you  approved an older revision · changed since: Errors")
        await all_sent(pilot)
        assert "Hm" in await threads(mia, AUTH)
        assert (await verdict_of(mia, AUTH, "robin")).id == verdict.id, "a comment alone is no verdict"


@pytest.mark.slow
async def test_a_submitted_review_is_complete_and_becomes_stale(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia", "ada") as (mia, ada):
        await open_review(pilot, AUTH)
        await pilot.press("v", "b")
        await until(pilot, shows="✎ 0 in your review")
        await write(pilot, "c", "One")
        await pilot.press("ctrl+s")
        await until(pilot, shows="✎ 1 in your review")
        await edits(mia, AUTH, "Tokens", "It all works otherwise now.\n")
        await write(pilot, "C", "Two")
        await pilot.press("ctrl+s")
        await until(pilot, shows="✎ 2 in your review")
        await pilot.press("v", "a")
        await until(pilot, shows="with 2 comments")
        await edits(mia, AUTH, "Errors", "No errors.\n")
        await pilot.press("enter")
        await all_sent(pilot)
        await until(pilot, holds=lambda: "in your review" not in shown(pilot.app))
        assert {"One", "Two"} <= (await threads(ada, AUTH)).keys()
        assert (await verdict_of(ada, AUTH, "robin")).status == "approved"
        await edits(mia, AUTH, "Scopes", "read only", "read alone")
        await pilot.press("ctrl+r", "g", "g")
        await until(pilot, shows="you  approved an older revision · changed since: Scopes")
        await until(pilot, shows="✓2 stale")


async def asked(client: Client, at: At) -> set[str]:
    found = (await client.send(ListRequestedReviewers(**at))).items
    return {one.user.id for one in found if one.user}


@pytest.mark.slow
async def test_two_people_add_and_remove_reviewers(service: RunningService, tmp_path: Path) -> None:
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
        await pilot.press("R")
        await until(pilot, shows="Reviewers")
        await mia.send(RequestReviewers(**AUTH, users=("kenji",)))
        await mia.send(RemoveRequestedReviewer(**AUTH, user_id="tomasz"))
        await pilot.press(*"健司", "tab", *["backspace"] * 2, *"tomasz", "tab", "enter")
        await all_sent(pilot)
        assert await asked(mia, AUTH) == {"robin", "noor", "kenji"}
        await pilot.press("g", "g")
        await until(pilot, shows="田中  review requested")
        assert "Tomasz" not in shown(pilot.app)


async def detail(pilot: Any, name: str) -> None:
    """Choose a detail to edit."""
    await pilot.press("E")
    await until(pilot, shows="Edit details")
    await pick(pilot, name)


@pytest.mark.slow
async def test_subject_description_and_state_are_edited_by_two(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "noor") as (noor,):
        await open_review(pilot, TYPOS)
        await detail(pilot, "subject")
        await until(pilot, shows="enter OK")
        await noor.send(UpdateChangeRequest(**TYPOS, subject="Typos"))
        await pilot.press("enter")  # as it was: nothing of it is sent
        await detail(pilot, "description")
        await until(pilot, shows="the draft is kept")
        await pilot.press(*"Only spelling.", "ctrl+s")
        await all_sent(pilot)
        await until(pilot, shows="3 Typos")
        found = await noor.send(GetChangeRequest(**TYPOS))
        assert (found.subject, bool(found.description), found.status) == ("Typos", True, "open")
        await detail(pilot, "description")
        await until(pilot, shows="the draft is kept")
        await noor.send(UpdateChangeRequest(**TYPOS, description=markdown_to_nodes("Only spelling, and one comma.")))
        await pilot.press("ctrl+s")  # as it was: nothing of it is sent
        await pilot.press("g", "g", "ctrl+r")
        await until(pilot, shows="Only spelling, and one comma.")
        await detail(pilot, "draft")
        await noor.send(UpdateChangeRequest(**TYPOS, subject="Typos again"))
        await all_sent(pilot)
        await pilot.press("ctrl+r")
        await until(pilot, shows="3 Typos again")
        await until(pilot, shows=" draft ")
        await detail(pilot, "subject")
        await until(pilot, shows="enter OK")
        await pilot.press("end", *", all")
        await noor.send(UpdateChangeRequest(**TYPOS, status="open", description=None))
        await pilot.press("enter")
        await all_sent(pilot)
        await until(pilot, shows="3 Typos again, all")
        found = await noor.send(GetChangeRequest(**TYPOS))
        assert (found.subject, found.description, found.status) == ("Typos again, all", None, "open")


@pytest.mark.slow
async def test_two_people_archive_and_reopen(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "noor") as (noor,):
        await open_review(pilot, TYPOS)
        await pilot.press("X")
        await until(pilot, shows="Archive it?")
        await noor.send(UpdateChangeRequest(**TYPOS, status="archived"))
        await pilot.press("y")
        await until(pilot, shows="✗ no: it is archived")
        await all_sent(pilot)
        assert (await noor.send(GetChangeRequest(**TYPOS))).status == "archived"
        await pilot.press("X")
        await until(pilot, shows="Reopen it?")
        await noor.send(UpdateChangeRequest(**TYPOS, status="open"))
        await noor.send(MergeChangeRequest(**TYPOS))
        await pilot.press("y")
        await until(pilot, shows="already merged")
        await until(pilot, shows="merged by Noor")


@pytest.mark.slow
async def test_changes_are_requested_with_a_comment_only(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        await open_review(pilot, AUTH)
        before = (await mia.send(ListReviews(**AUTH))).items
        await pilot.press("v", "r")
        await until(pilot, shows="Request changes")
        await pilot.press("ctrl+s")
        assert "Request changes" in shown(pilot.app), "an empty comment is not sent"
        await pilot.press(*"Not so", "ctrl+s")
        await until(pilot, holds=lambda: not pilot.app.engine.waiting())
        after = (await mia.send(ListReviews(**AUTH))).items
        assert len(after) == len(before) + 1
