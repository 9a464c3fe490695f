"""The review screen on the sample workspace."""

from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import review, shown, until, write

from presscheck.api.comments import ListComments
from presscheck.text.styled_text import plain
from presscheck.tui.widgets.row_list import RowList


async def test_d_switches_to_the_markdown_source_and_back(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path, "Rewrite the auth guide") as pilot:
        await until(pilot, shows="expires after 90 days")
        session, change = pilot.app.screen.session, pilot.app.screen.query_one("#change")
        folds = len(session.view.rendered.folds)
        await pilot.press("tab")
        change.move_to(min(session.view.rendered.folds))
        await pilot.press("enter")
        await until(pilot, holds=lambda: len(session.view.rendered.folds) == folds - 1)
        await pilot.press("i")
        await until(pilot, shows="unchanged lines are shown")
        assert "{% hint" not in shown(pilot.app)
        await pilot.press("d", "d")
        await until(pilot, shows='{% hint style="warning" %}')
        await until(pilot, shows="− A token belongs to one workspace")
        await pilot.press("d")
        await until(pilot, holds=lambda: "{% hint" not in shown(pilot.app))


@pytest.mark.slow
async def test_offline_a_comment_is_pending_and_a_merge_is_disabled(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path, "Fix typos in quickstart") as pilot:
        await until(pilot, shows="✓2 ◷1")
        service.stop()
        await pilot.press("ctrl+r")
        await until(pilot, shows="offline")
        await pilot.press("m")
        await until(pilot, shows="a merge cannot be queued")
        await write(pilot, "C", "Later", "ctrl+s")
        await pilot.press("{")
        await until(pilot, shows="pending  Later")
        await until(pilot, shows="offline: as of")  # the age of the data stays visible after a pending write
        service.start()
        await pilot.press("ctrl+r")
        await until(pilot, holds=lambda: not pilot.app.engine.waiting())
        assert "offline: as of" not in shown(pilot.app)
        await until(pilot, shows="now  Later")
        path = pilot.app.screen.session.model.path
        kept = await pilot.app.engine.read(ListComments(**path, format="markdown"))
        assert [(one.body.markdown or "").strip() for one in kept.items].count("Later") == 1


@pytest.mark.slow
async def test_enter_on_a_merge_requirement_goes_to_the_reviewer_or_the_comment(
    service: RunningService, tmp_path: Path
) -> None:
    async with review(service, tmp_path, "Rewrite the auth guide") as pilot:
        await until(pilot, shows="with warnings: Ada requested changes")
        screen = pilot.app.screen
        await until(pilot, holds=lambda: screen.session.model.discussion.is_known)
        await pilot.press("W")
        await until(pilot, shows="✗ Ada  requested changes")
        await pilot.press("enter")
        await until(pilot, holds=lambda: pilot.app.screen is screen and screen.session.view.item is None)
        assert screen.session.view.rendered.reviewers["ada"] == screen.session.view.line
        await pilot.press("W")
        await until(pilot, shows="An hour is short")
        rows = pilot.app.screen.query_one(RowList)
        while "An hour is short" not in plain(rows.row(rows.cursor, 200)):
            before = rows.cursor
            await pilot.press("j")
            assert rows.cursor > before
        await pilot.press("enter")
        await until(pilot, holds=lambda: pilot.app.screen is screen and screen.session.view.is_on_thread)
        assert "An hour is short" in screen.session.view.thread.first.text
        await pilot.press("W", "G", "enter")
        await until(pilot, shows="nothing to open here")


@pytest.mark.slow
async def test_typed_text_survives_escape_undo_and_a_full_disk(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path, "Rewrite the auth guide") as pilot:
        await until(pilot, shows="1 of 4")
        await write(pilot, "C", "Half", "escape", "C")
        await until(pilot, shows="Half")
        await pilot.press(*" done", "ctrl+s")
        await until(pilot, holds=lambda: len(pilot.app.engine.waiting()) == 1)
        await pilot.press("z")
        await until(pilot, holds=lambda: not pilot.app.engine.waiting())
        await pilot.press("C")
        await until(pilot, shows="Half done")
        await until(pilot, shows="the draft is kept")
        file = pilot.app.engine.outbox._db
        [pages] = file.execute("PRAGMA page_count").fetchone()
        file.execute(f"PRAGMA max_page_count = {pages}")
        pilot.app.screen.query_one("TextArea").text = "Typed with care. " * 1000
        await pilot.press("ctrl+s")
        await until(pilot, shows="the disk is full")
        await until(pilot, shows="Typed with care.")
        assert pilot.app.engine.waiting() == ()
        file.execute("PRAGMA max_page_count = 1000000")
        await pilot.press("ctrl+s")
        await until(pilot, holds=lambda: "the draft is kept" not in shown(pilot.app))
        assert len(pilot.app.engine.waiting()) == 1
