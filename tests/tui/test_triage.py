"""Triage in the inbox (done, snooze, bookmarks, marks) and bulk actions, on the real service."""

from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, inbox_loaded, inbox_rows, pick, running, shown, until, until_row, write

from presscheck.api.change_requests import UpdateChangeRequest
from presscheck.api.comments import Document, PostComment
from presscheck.client.client import Client
from presscheck.engine.review.merge_train import MERGE_TRAIN

WORST = "Rewrite the auth guide"
"""Subject of the first row of the inbox."""


@pytest.mark.slow
async def test_rows_are_hidden_brought_back_and_bookmarked_also_after_a_restart(
    service: RunningService, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        await pilot.press("D")
        await until_row(pilot, WORST, is_there=False)
        await until(pilot, shows=f"#5 {WORST} done (z to undo)")
        await pilot.press("z")
        await until_row(pilot, WORST)
        await pilot.press("g", "g", "S")
        await until(pilot, shows="Snooze 1 change request")
        await pick(pilot, "next week")
        await until_row(pilot, WORST, is_there=False)
        await pilot.press("4")
        await until(pilot, shows=f"◔ #5 {WORST}")
        await pilot.press("D")
        await until(pilot, shows="back in the inbox")
        await pilot.press("1")
        await until_row(pilot, WORST)
        await pilot.press("g", "g", "b")
        await until(pilot, shows=f"★ #5 {WORST}")
        await pilot.press("j")
        hidden = pilot.app.screen.session.current()
        await pilot.press("D")
        await until_row(pilot, hidden.subject, is_there=False)
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        await until(pilot, shows=f"★ #5 {WORST}")
        assert hidden.subject not in inbox_rows(pilot), "the next start remembers"
        async with Client(service.base_url, service.token) as other:
            at = {"space_id": hidden.space, "change_request_id": hidden.id}
            await other.send(PostComment(**at, body=Document(markdown="Again!")))
        await pilot.press("ctrl+r")
        await until_row(pilot, hidden.subject)


@pytest.mark.slow
async def test_the_comment_for_marked_rows_is_kept_and_failed_items_are_retried(
    service: RunningService, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        await pilot.press("V", "j", "V")
        await until(pilot, shows="2 marked")
        await pilot.press("A")
        await pick(pilot, "Comment")
        await until(pilot, shows="Comment on all marked")
        await pilot.press(*"Soon", "ctrl+s")
        await until(pilot, shows="Comment: 2 change requests?")
        await pilot.press("n")
        await until(pilot, shows="2 marked")
        await pilot.press("A")
        await pick(pilot, "Comment")
        await until(pilot, shows="Soon")
        await pilot.press("escape")
        await until(pilot, holds=lambda: not pilot.app.screen.is_modal)
        at = {"space_id": "api", "change_request_id": "5"}
        async with Client(service.base_url, service.token) as other:
            await other.send(UpdateChangeRequest(**at, status="archived"))
            await pilot.press("A")
            await pick(pilot, "Update from main")
            await until(pilot, shows="Update from main: 2 change requests?")
            await pilot.press("y")
            await until(pilot, shows="1 done · 1 failed")
            await until(pilot, shows="archived")
            await other.send(UpdateChangeRequest(**at, status="open"))
            await pilot.press("s")
            await until(pilot, shows="2 done")


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
