"""Drafts outside of their page: in the view Pending, and before quitting."""

from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, down_to, inbox_loaded, inbox_rows, running, until, until_row, write
from textual.pilot import Pilot

from presscheck.api.comments import Document, PostComment

pytestmark = pytest.mark.usefixtures("at_once")

SUBJECT = "Fix typos in quickstart"


async def leave_draft(pilot: Pilot[int], text: str) -> None:
    """Type a comment on the change request at the cursor of the inbox, and return to the inbox without sending it."""
    await pilot.press("enter")
    await until(pilot, shows="Can merge")
    await write(pilot, "C", text, "escape")
    await pilot.press("q")
    await until_row(pilot, SUBJECT)


@pytest.mark.slow
async def test_the_pending_view_lists_drafts_also_offline(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        await down_to(pilot, SUBJECT)
        await pilot.press("9")
        await until(pilot, shows="You have no drafts and no pending review.")
        await pilot.press("1")
        await until_row(pilot, SUBJECT)
        await down_to(pilot, SUBJECT)
        await leave_draft(pilot, "Half a thought")
        await until(pilot, shows="Pending 1")
        await until(pilot, holds=lambda: "✎1" in inbox_rows(pilot))
        await pilot.press("D")  # a hidden change request still has its draft
        await pilot.press("9")
        await until_row(pilot, SUBJECT)
        assert inbox_rows(pilot).count("#") == 2, "the headings and one row"
        await pilot.press("q")
        await until(pilot, shows="✎ 1 draft kept here: q again quits")
    service.stop()
    try:
        async with running(app_on(service, tmp_path)) as pilot:
            await until(pilot, shows="offline")
            await until(pilot, shows="Pending 1")
            await pilot.press("9")
            await until_row(pilot, SUBJECT)
            comment = PostComment(space_id="guides", change_request_id="3", body=Document(markdown="Later."))
            pilot.app.engine.write(comment)
            await pilot.press("q")
            await until(pilot, shows="✎ 1 draft: stay on this machine.")
            await pilot.press("n")
            [key] = pilot.app.engine.outbox.draft_keys()
            await pilot.press("g", "x", "3")
            await until(pilot, shows="Half a thought")
            await pilot.press("-")
            await until(pilot, shows="Discard your draft")
            await pilot.press("y")
            await until(pilot, holds=lambda: key not in pilot.app.engine.outbox.draft_keys())
            await pilot.press("q")
            await until(pilot, shows="You have no drafts and no pending review.")
    finally:
        service.start()
