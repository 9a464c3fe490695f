"""Triage in the inbox (done, snooze, bookmarks, marks) and bulk actions, on the real service."""

import re
from datetime import datetime
from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, inbox_loaded, inbox_rows, pick, running, shown, until, until_row, write

from presscheck.api.change_requests import GetChangeRequest, ListReviews, UpdateChangeRequest
from presscheck.api.comments import Document, ListComments, PostComment
from presscheck.client.client import Client
from presscheck.engine.inbox.triage import wake_time
from presscheck.engine.review.merge_train import MERGE_TRAIN
from presscheck.tui.widgets.row_list import RowList

WORST, SECOND = "Rewrite the auth guide", "What to write afterwards"
"""The first two rows."""


@pytest.mark.slow
async def test_done_hides_until_there_is_new_activity(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        await pilot.press("D")
        await until_row(pilot, WORST, is_there=False)
        await until(pilot, shows=f"#5 {WORST} done (z to undo)")
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        assert WORST not in inbox_rows(pilot), "the next start remembers"
        async with Client(service.base_url, service.token) as other:
            await other.send(PostComment(space_id="api", change_request_id="5", body=Document(markdown="Again!")))
        await pilot.press("ctrl+r")
        await until_row(pilot, f"#5 {WORST}")


@pytest.mark.slow
async def test_hidden_requests_can_be_brought_back(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        await pilot.press("D", "D")
        await until_row(pilot, WORST, is_there=False)
        await until_row(pilot, SECOND, is_there=False)
        await pilot.press("z")
        await until_row(pilot, SECOND)
        await pilot.press("z")
        await until(pilot, shows="nothing to undo")
        await pilot.press("4")
        await until(pilot, shows=f"□ #5 {WORST}")
        await pilot.press("D")
        await until(pilot, shows="back in the inbox")
        await pilot.press("1")
        await until_row(pilot, WORST)


@pytest.mark.slow
async def test_snooze_asks_for_a_time(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        await pilot.press("S")
        await until(pilot, shows="Snooze 1 change request")
        await pick(pilot, "next week")
        await until_row(pilot, WORST, is_there=False)
        await until(pilot, shows=f"#5 {WORST} snoozed")
        await pilot.press("4")
        await until(pilot, shows=f"◔ #5 {WORST}")


def test_when_snoozed_requests_come_back() -> None:
    friday = datetime(2026, 5, 22, 17, 45).astimezone()
    assert wake_time("tomorrow", friday) == datetime(2026, 5, 23, 8).astimezone().timestamp()
    assert wake_time("week", friday) == datetime(2026, 5, 25, 8).astimezone().timestamp()
    assert wake_time("week", datetime(2026, 5, 25, 6).astimezone()) == datetime(2026, 6, 1, 8).astimezone().timestamp()
    assert wake_time("activity", friday) is None


@pytest.mark.slow
async def test_a_bookmark_stays(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows=WORST)
        await pilot.press("b")
        await until(pilot, shows=f"★ #5 {WORST}")
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows=f"★ #5 {WORST}")
        await pilot.press("b")
        await until(pilot, holds=lambda: "★" not in shown(pilot.app))


@pytest.mark.slow
async def test_marks_ranges_and_all_visible_rows(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        rows = pilot.app.screen.query_one(RowList)
        await pilot.press("space", "space")
        await until(pilot, shows="2 marked")
        await pilot.press("V", "j", "j", "V")
        await until(pilot, shows="5 marked")
        await pilot.press("*")
        await until(pilot, shows=f"{rows.count} marked")
        await pilot.press("escape")
        await until(pilot, holds=lambda: "marked" not in shown(pilot.app).splitlines()[1])
        await pilot.press("space", "space", "D")
        await until(pilot, shows="2 change requests done (z to undo)")


@pytest.mark.slow
async def test_a_bulk_action_shows_a_result_for_each(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        await pilot.press("space", "j", "space", "A")
        await until(pilot, shows="With 2 change requests")
        await pick(pilot, "Approve")
        await until(pilot, shows="Approve 2 change requests")
        await pilot.press("enter")
        await until(pilot, shows="2 done")
        await until(pilot, holds=lambda: "retry" not in shown(pilot.app))
        await pilot.press("q")
        await until(pilot, shows="Needs me")
        await until(pilot, holds=lambda: "marked" not in shown(pilot.app).splitlines()[1])
    async with Client(service.base_url, service.token) as client:
        for space, number in (("api", "5"), ("api", "4")):
            reviews = (await client.send(ListReviews(space_id=space, change_request_id=number))).items
            assert [one.status for one in reviews if one.reviewer.id == "robin"] == ["approved"]


@pytest.mark.slow
async def test_failed_items_can_be_retried(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        await pilot.press("space", "space")
        await until(pilot, shows="2 marked")
        at = {"space_id": "api", "change_request_id": "5"}
        async with Client(service.base_url, service.token) as other:
            await other.send(UpdateChangeRequest(**at, status="archived"))
            await pilot.press("A")
            await pick(pilot, "Update from main")
            await until(pilot, shows="Update from main: 2 change requests?")
            await pilot.press("y")
            await until(pilot, shows="1 done · 1 failed")
            await until(pilot, shows="s retry")
            await until(pilot, shows="archived")
            await other.send(UpdateChangeRequest(**at, status="open"))
            await pilot.press("s")
            await until(pilot, shows="2 done")
            assert (await other.send(GetChangeRequest(**at))).status == "open"


@pytest.mark.slow
async def test_the_draft_of_a_comment_on_all_marked_is_kept(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        await pilot.press("space", "space", "A")
        await pick(pilot, "Comment")
        await until(pilot, shows="Comment on all marked")
        await pilot.press(*"Soon", "ctrl+s")
        await until(pilot, shows="Comment: 2 change requests?")
        await pilot.press("n")
        await until(pilot, shows="2 marked")
        await pilot.press("A")
        await pick(pilot, "Comment")
        await until(pilot, shows="Soon")
        await pilot.press("ctrl+s")
        await until(pilot, shows="Comment: 2 change requests?")
        await pilot.press("y")
        await until(pilot, shows="2 done")
    async with Client(service.base_url, service.token) as client:
        said = (await client.send(ListComments(space_id="api", change_request_id="5", format="markdown"))).items
        assert "Soon" in [(one.body.markdown or "").strip() for one in said]


@pytest.mark.slow
async def test_offline_bulk_actions_are_queued(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        service.stop()
        await pilot.press("ctrl+r")
        await until(pilot, shows="offline")
        await pilot.press("space", "space", "A")
        await pick(pilot, "Approve")
        await until(pilot, shows="Approve 2 change requests")
        await pilot.press("enter")
        await until(pilot, shows="2 pending")
        assert shown(pilot.app).count("pending in the outbox") == 2
    service.start()


@pytest.mark.slow
async def test_a_view_is_filtered_and_remembers_the_filter(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        await write(pilot, "F", "colour:red")
        await until(pilot, shows="colour: unknown filter")
        await pilot.press("enter", *["backspace"] * 10, *"space:api sort:-number", "enter")
        await until(pilot, shows="space:api sort:-number")
        await until(pilot, holds=lambda: re.findall(r"#\d", inbox_rows(pilot)) == ["#5", "#4", "#2"])
        await pilot.press("D")
        await until_row(pilot, WORST, is_there=False)
        await pilot.press("z", "4")
        await until(pilot, shows="All open 10")
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, holds=lambda: re.findall(r"#\d", inbox_rows(pilot)) == ["#5", "#4", "#2"])
        await write(pilot, "F", [*["backspace"] * 30, *"nothing at all"], "enter")
        await until(pilot, shows="Nothing matches the filter. F changes or clears it.")
        await write(pilot, "F", ["backspace"] * 30, "enter")
        await until_row(pilot, SECOND)


@pytest.mark.slow
async def test_a_merge_train_stops_at_a_failure_and_continues_after_a_restart(
    service: RunningService, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        await write(pilot, "4 F", "space:runbook sort:number", "enter")
        await until(pilot, shows="Two carriers down at once")
        await pilot.press("*")
        await until(pilot, shows="marked")
        await pilot.press("A")
        await pick(pilot, "Merge")
        await until(pilot, shows="one after another?")
        await until(pilot, shows="To undo a merge")
        await until(pilot, shows="The train stops at Runbook #2")
        await until(pilot, shows="Can merge? ✗ no: conflicts with main in")
        await pilot.press("y")
        await until(pilot, shows="stopped here: conflicts with main in")
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="a merge train was stopped: A continues")
        await pilot.press("A")
        await until(pilot, shows="Merge train stopped at")
        await pilot.press("enter")
        await until(pilot, shows="stopped here: conflicts with main in")
        await pilot.press("q", "A")
        await until(pilot, shows="Merge train stopped at")
        await pick(pilot, "Discard")
        await until(pilot, holds=lambda: pilot.app.engine.outbox.recall(MERGE_TRAIN) is None)


@pytest.mark.slow
async def test_a_long_merge_train_can_be_read_to_its_end_before_it_starts(
    service: RunningService, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path), (80, 24)) as pilot:
        await inbox_loaded(pilot)
        await pilot.press("*")
        await until(pilot, shows="marked")
        await pilot.press("A")
        await pick(pilot, "Merge")
        await until(pilot, shows="To undo a merge")
        before = shown(pilot.app)
        await pilot.press("j", "j", "pagedown")
        await until(pilot, holds=lambda: shown(pilot.app) != before)
        assert "one after another?" in shown(pilot.app), "the title stays"
        await pilot.press("n")


@pytest.mark.slow
async def test_warnings_are_shown_before_a_merge_train_starts(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="✓ Jón   ✗ Ada   ◷ you")
        await pilot.press("space", "A")
        await pick(pilot, "Merge")
        await until(pilot, shows="Can merge? ⚠ with warnings: Ada requested changes")
        text = " ".join(shown(pilot.app).split())
        assert "1 page added, 3 edited · reviews ✓1 ✗1 ◷1" in text
        assert "The train stops" not in text, "a warning does not stop it"
        await pilot.press("n")
        async with Client(service.base_url, service.token) as other:
            at = {"space_id": "api", "change_request_id": "5"}
            assert (await other.send(GetChangeRequest(**at))).status == "open"
