"""The views of the inbox: what needs a review and what not, while other users edit, request and merge."""

import threading
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import edits, opens, somebody
from tests.stalling_proxy import holding_back
from tests.tui.app_driver import (
    all_sent,
    app_on,
    inbox_loaded,
    inbox_rows,
    open_review,
    pick,
    running,
    shown,
    until,
    until_row,
    write,
)

from presscheck.api.change_requests import (
    ListReviews,
    MergeChangeRequest,
    RequestReviewers,
    SubmitReview,
    UpdateChangeRequest,
)
from presscheck.api.comments import Document, PostComment
from presscheck.client.client import Client

LIMITS = {"space_id": "api", "change_request_id": "4"}
TYPOS = {"space_id": "guides", "change_request_id": "3"}
TABS, FILTER = 1, 2
"""The lines of the tabs and of the filter."""


def line(pilot: Any, number: int) -> str:
    return shown(pilot.app).splitlines()[number]


@pytest.mark.slow
@pytest.mark.parametrize("verdict", ["approve", "changes"])
async def test_a_request_leaves_needs_me_with_any_review_and_comes_back(
    service: RunningService, tmp_path: Path, verdict: str
) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "noor") as (noor,):
        await inbox_loaded(pilot)
        await pilot.press("j", "j", "space")
        await until(pilot, shows="1 marked")
        await until(pilot, shows="m merge marked")
        await pilot.press("v")
        await until(pilot, shows="approve marked")
        await pilot.press("escape", "A")
        await pick(pilot, verdict)
        if verdict == "changes":
            await until(pilot, shows="Request changes on all marked")
            await pilot.press(*"Numbers please", "ctrl+s")
            await until(pilot, shows="1 change request?")
            await pilot.press("y")
        else:
            await until(pilot, shows="Approve 1 change request")
            await pilot.press("enter")
        await until(pilot, shows="1 done")
        await pilot.press("q")
        await until_row(pilot, "Limits per workspace", is_there=False)
        await until(pilot, shows="Waiting for author 1")
        await pilot.press("8")
        await until_row(pilot, "Limits per workspace")
        await pilot.press("1")
        await until_row(pilot, "Limits per workspace", is_there=False)

        await edits(noor, LIMITS, "Limits", "Fewer than before.\n")
        await pilot.press("ctrl+r")
        await until_row(pilot, "Limits per workspace")
        await until(pilot, holds=lambda: "Waiting for author 1" not in line(pilot, TABS))
        sign = "✓" if verdict == "approve" else "✗"
        await until_row(pilot, f"{sign} stale")
        await pilot.resize_terminal(80, 24)
        await until_row(pilot, "↻")


@pytest.mark.slow
async def test_a_request_comes_back_when_somebody_asks_again(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "noor") as (noor,):
        await inbox_loaded(pilot)
        async with Client(service.base_url, service.token) as elsewhere:
            await elsewhere.send(SubmitReview(**LIMITS, status="approved"))
        await pilot.press("ctrl+r")
        await until_row(pilot, "Limits per workspace", is_there=False)
        await noor.send(RequestReviewers(**LIMITS, users=("robin",)))
        await pilot.press("ctrl+r")
        await until_row(pilot, "Limits per workspace")


@pytest.mark.slow
async def test_a_review_that_is_read_for_a_row_counts_before_the_views_are_counted(
    service: RunningService, tmp_path: Path
) -> None:
    counted = threading.Event()
    counted.set()
    with holding_back(service, tmp_path, "?limit=1&", until=counted) as address:
        async with running(app_on(service, tmp_path, base_url=address)) as pilot:
            await inbox_loaded(pilot)
            counted.clear()
            async with Client(service.base_url, service.token) as elsewhere:
                await elsewhere.send(SubmitReview(**LIMITS, status="approved"))
            await pilot.press("ctrl+r")
            await until(pilot, shows="Needs me 6")
            assert "Limits per workspace" not in inbox_rows(pilot)


@pytest.mark.slow
async def test_a_review_in_the_outbox_counts_at_once(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        service.stop()
        await pilot.press("ctrl+r")
        await until(pilot, shows="offline")
        await pilot.press("space", "A")
        await pick(pilot, "Approve")
        await until(pilot, shows="Approve 1 change request")
        await pilot.press("enter")
        await until(pilot, shows="1 pending")
        await pilot.press("q")
        await until(pilot, shows="Needs me 6")
        assert "Rewrite the auth guide" not in inbox_rows(pilot)
        service.start()
        await pilot.press("ctrl+r")
        await until(pilot, shows="live")
        await all_sent(pilot)
        await until(pilot, shows="Waiting for author 1")
        assert "Needs me 6" in line(pilot, TABS)


@pytest.mark.slow
async def test_involved_has_what_i_only_approved(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        await inbox_loaded(pilot)
        at = await opens(mia, "cli", "Errors by number", "Configuration", "The file of settings.\n")
        await pilot.press("ctrl+r")
        await until(pilot, shows="All open 11")
        await open_review(pilot, at)
        await pilot.press("v", "a")
        await until(pilot, shows="Approve")
        await pilot.press("enter")
        await all_sent(pilot)
        await pilot.press("q")
        await until(pilot, shows="Involved 9")
        await pilot.press("3")
        await until_row(pilot, "Errors by number")


@pytest.mark.slow
async def test_tabs_are_counted_again_after_a_merge(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "noor") as (noor,):
        await inbox_loaded(pilot)
        await pilot.press("6")
        await until(pilot, shows="merged · by")
        await pilot.press("4")
        await until(pilot, shows="open · by")
        await pilot.press("1")
        await noor.send(MergeChangeRequest(**TYPOS))
        await pilot.press("space", "A")
        await pick(pilot, "Merge")
        await until(pilot, shows="one after another?")
        await until(pilot, shows="To undo a merge")
        await pilot.press("y")
        await until(pilot, shows="1 done")
        await pilot.press("q")
        await until(pilot, shows="All open 8")
        await until(pilot, shows="Merged 6")
        assert "Needs me 5" in line(pilot, TABS)


@pytest.mark.slow
async def test_archived_change_requests_have_a_tab(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "noor") as (noor,):
        await until(pilot, shows="Archived 2")
        await noor.send(UpdateChangeRequest(**TYPOS, status="archived"))
        await pilot.press("7")
        await until(pilot, shows="Archived 3")
        await until_row(pilot, "Fix typos in quickstart")
        await until(pilot, shows="archived · by")


@pytest.mark.slow
async def test_a_filter_from_the_last_session_is_shown_and_can_be_cleared(
    service: RunningService, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        await write(pilot, "4 F", "status:archived", "enter")
        await until(pilot, shows="archived · by")
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        await until(pilot, holds=lambda: line(pilot, FILTER) == " filtered: status:archived · F")
        await write(pilot, "F", [])
        await until(pilot, shows="All open: filter (leave it empty to show all)")
        await pilot.press(*["backspace"] * 20, "enter")
        await until(pilot, holds=lambda: not line(pilot, FILTER))
        await until(pilot, shows="All open 10")


@pytest.mark.slow
async def test_changes_are_requested_on_all_marked_with_one_text(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "noor") as (noor,):
        await inbox_loaded(pilot)
        await pilot.press("space", "space", "A")
        await pick(pilot, "Request changes")
        await until(pilot, shows="Request changes on all marked")
        await pilot.press(*"No dates", "ctrl+s")
        await until(pilot, shows="Request changes: 2 change requests?")
        await noor.send(UpdateChangeRequest(space_id="api", change_request_id="5", status="archived"))
        await pilot.press("y")
        await until(pilot, shows="1 done · 1 failed")
        await until(pilot, shows="Change request #5 is archived.")
        await noor.send(UpdateChangeRequest(space_id="api", change_request_id="5", status="open"))
        await pilot.press("s")
        await until(pilot, shows="2 done")
        for at in ({"space_id": "api", "change_request_id": "5"}, {"space_id": "runbook", "change_request_id": "3"}):
            [review] = [
                review
                for review in (await noor.send(ListReviews(**at, format="markdown"))).items
                if review.reviewer.id == "robin"
            ]
            assert review.status == "changes-requested"
            assert review.comment
            assert (review.comment.body.markdown or "").strip() == "No dates"


@pytest.mark.slow
async def test_all_marked_are_snoozed(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        await pilot.press("space", "space", "A")
        await pick(pilot, "Snooze")
        await until(pilot, shows="Snooze 2 change requests")
        await pilot.press("enter")
        await until_row(pilot, "Rewrite the auth guide", is_there=False)
        await until(pilot, shows="2 change requests snoozed (z to undo)")
        await pilot.press("z")
        await until_row(pilot, "Rewrite the auth guide")


@pytest.mark.slow
async def test_the_preview_has_description_pages_and_threads(service: RunningService, tmp_path: Path) -> None:
    at = {"space_id": "api", "change_request_id": "5"}
    async with Client(service.base_url, service.token) as client:
        words: dict[str, Any] = {
            "object": "document",
            "data": {},
            "nodes": [
                {
                    "object": "block",
                    "type": "paragraph",
                    "data": {},
                    "nodes": [
                        {"object": "text", "leaves": [{"object": "leaf", "text": "Why tokens expire.", "marks": []}]}
                    ],
                }
            ],
        }
        suggestion = "Shorter:\n\n```suggestion\nIt expires.\n```"
        await client.send(UpdateChangeRequest(**at, description=words))
        await client.send(PostComment(**at, body=Document(markdown=suggestion)))
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Why tokens expire.")
        await until(pilot, shows="4 changed pages")
        await until(pilot, shows="4 open comments")
        await until(pilot, shows="This still says API key in two places.")
        await until(pilot, shows="you  now")
        await until(pilot, shows="Shorter: suggestion: It expires.")
        assert "│" not in shown(pilot.app)
        await pilot.press("|")
        await until(pilot, holds=lambda: "│ 4 changed pages" in shown(pilot.app))
        await until(pilot, holds=lambda: "│ 4 open comments" in shown(pilot.app))
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="│ 4 changed pages")
        await pilot.press("|")
        await until(pilot, holds=lambda: "│" not in shown(pilot.app))
    async with running(app_on(service, tmp_path), (80, 24)) as pilot:
        await inbox_loaded(pilot)
        await pilot.press("|")
        await until(pilot, shows="the preview stands on the right from 100 columns on")


@pytest.mark.slow
async def test_column_headings_are_shown_on_a_wide_screen_and_can_be_toggled(
    service: RunningService, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="# Change request")
        await until(pilot, shows="0/12")
        await until(pilot, holds=lambda: inbox_rows(pilot).count("◷") == pilot.app.screen.session.rows.count)
        lines = inbox_rows(pilot).splitlines()
        heading = next(text for text in lines if "Change request" in text)
        row = next(text for text in lines if "Rename workspaces" in text)
        assert heading.index("Viewed") == row.index("0/12")
        assert heading.index("Comments") == row.index("1 open")
        assert heading.index("You") == row.index("◷")
        await pilot.press("M", "h")
        await until_row(pilot, "Change request", is_there=False)
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        assert "Change request" not in inbox_rows(pilot)
    async with running(app_on(service, tmp_path / "other"), (80, 24)) as pilot:
        await inbox_loaded(pilot)
        assert "Change request" not in inbox_rows(pilot)
        await pilot.press("M", "h")
        await until_row(pilot, "Change request")


@pytest.mark.slow
@pytest.mark.parametrize("columns", [80, 200])
async def test_columns_are_as_wide_as_their_contents(service: RunningService, tmp_path: Path, columns: int) -> None:
    async with running(app_on(service, tmp_path), (columns, 30)) as pilot:
        await until(pilot, shows="What to write afterwards")
        await until(pilot, shows="0/12")
        row = next(text for text in inbox_rows(pilot).splitlines() if "What to write" in text)
        assert row.index("Runbook") - row.index("What to write afterwards") < 40
        if columns == 200:
            await until(pilot, shows="◷ requested")
            assert "✓ Jón  ✗ Ada" in inbox_rows(pilot)
            assert "Rename workspaces to projects" in inbox_rows(pilot)
