"""Drafts and comments of pending reviews outside of their page: in the rows of the inbox and in the view Pending."""

from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, down_to, inbox_loaded, inbox_rows, running, shown, until, until_row, write
from textual.pilot import Pilot

from presscheck.api.comments import Document, PostComment

pytestmark = pytest.mark.usefixtures("at_once")

SUBJECT = "Fix typos in quickstart"


async def leave_draft(pilot: Pilot[int], text: str) -> None:
    """Type a comment on the change request under the cursor of the inbox, and come back without sending it."""
    await pilot.press("enter")
    await until(pilot, shows="Can merge")
    await write(pilot, "C", text, "escape")
    await pilot.press("q")
    await until_row(pilot, SUBJECT)


async def hold_comment(pilot: Pilot[int], text: str) -> None:
    """Hold a comment on the change request under the cursor of the inbox for a review, and come back."""
    await pilot.press("enter")
    await until(pilot, shows="Can merge")
    await pilot.press("v", "b")
    await until(pilot, shows="in your review")
    await write(pilot, "C", text, "ctrl+s")
    await until(pilot, shows="✎ 1 in your review")
    await pilot.press("q")
    await until_row(pilot, SUBJECT)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_a_row_counts_its_drafts_and_held_comments(
    service: RunningService, tmp_path: Path, size: tuple[int, int]
) -> None:
    async with running(app_on(service, tmp_path), size) as pilot:
        await inbox_loaded(pilot)
        assert "✎" not in inbox_rows(pilot)
        await down_to(pilot, SUBJECT)
        await hold_comment(pilot, "Is this the right limit?")
        await until(pilot, holds=lambda: _row(pilot).endswith("✎1"))
        await leave_draft(pilot, "Half a thought")
        await until(pilot, holds=lambda: _row(pilot).endswith("✎2"))
        assert shown(pilot.app).count("✎2") == 1
    async with running(app_on(service, tmp_path), size) as pilot:
        await until(pilot, holds=lambda: _row(pilot).endswith("✎2"))
        [held] = [entry for entry in pilot.app.engine.waiting() if entry.state == "collected"]
        pilot.app.engine.drop(held.id)
        await until(pilot, holds=lambda: _row(pilot).endswith("✎1"))


@pytest.mark.slow
async def test_the_view_pending_lists_what_is_held_also_offline(service: RunningService, tmp_path: Path) -> None:
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
        await pilot.press("D")  # a hidden change request still has its draft
        await pilot.press("9")
        await until_row(pilot, SUBJECT)
        assert inbox_rows(pilot).count("#") == 2, "the headings and one row"
        await write(pilot, "F", "space:api", "enter")
        await until(pilot, shows="Nothing matches the filter.")
        await write(pilot, "F", ["backspace"] * 9, "enter")
        await until_row(pilot, SUBJECT)
    service.stop()
    try:
        async with running(app_on(service, tmp_path)) as pilot:
            await until(pilot, shows="offline")
            await until(pilot, shows="Pending 1")
            await pilot.press("9")
            await until_row(pilot, SUBJECT)
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


@pytest.mark.slow
async def test_every_view_can_be_filtered_by_held_texts(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        await down_to(pilot, SUBJECT)
        await leave_draft(pilot, "Half a thought")
        await write(pilot, "F", "is:pending", "enter")
        await until(pilot, holds=lambda: inbox_rows(pilot).count("#") == 2)
        await until_row(pilot, SUBJECT)


def _row(pilot: Pilot[int]) -> str:
    return next((line for line in inbox_rows(pilot).splitlines() if "Fix typos" in line), "")


@pytest.mark.slow
async def test_quitting_names_what_is_held_once(service: RunningService, tmp_path: Path) -> None:
    app = app_on(service, tmp_path)
    async with running(app) as pilot:
        await inbox_loaded(pilot)
        await down_to(pilot, SUBJECT)
        await hold_comment(pilot, "Is this the right limit?")
        await leave_draft(pilot, "Half a thought")
        await pilot.press("q")
        await until(pilot, shows="✎ 1 draft and 1 pending review kept here: q again quits")
        await leave_draft(pilot, " and more")
        await pilot.press("q")
        await until(pilot, holds=lambda: app.return_code is not None)
    assert app.return_code == 0


@pytest.mark.slow
async def test_the_question_before_quitting_names_what_is_held(service: RunningService, tmp_path: Path) -> None:
    app = app_on(service, tmp_path)
    async with running(app) as pilot:
        await inbox_loaded(pilot)
        await down_to(pilot, SUBJECT)
        await leave_draft(pilot, "Half a thought")
        service.stop()
        try:
            await pilot.press("b")
            app.engine.refresh()
            await until(pilot, shows="offline")
            comment = PostComment(space_id="guides", change_request_id="3", body=Document(markdown="Later."))
            app.engine.write(comment)
            await pilot.press("q")
            await until(pilot, shows="✎ 1 draft: stay on this machine.")
            await pilot.press("y")
            await until(pilot, holds=lambda: app.return_code is not None)
        finally:
            service.start()


@pytest.mark.slow
async def test_without_drafts_the_first_key_quits(service: RunningService, tmp_path: Path) -> None:
    app = app_on(service, tmp_path)
    async with running(app) as pilot:
        await inbox_loaded(pilot)
        await pilot.press("q")
        await until(pilot, holds=lambda: app.return_code is not None)
