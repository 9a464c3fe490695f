"""The sheet that submits a pending review: held comments are opened, edited, dropped and restored."""

from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import somebody
from tests.tui.app_driver import all_sent, app_on, open_review, running, shown, until, write
from textual.pilot import Pilot

from presscheck.api.comments import ListComments
from presscheck.client.client import Client
from presscheck.tui.widgets.search_inputs import SearchInput

AUTH = {"space_id": "api", "change_request_id": "5"}

pytestmark = pytest.mark.usefixtures("at_once")


async def comments(client: Client) -> list[str]:
    """Return the last line of each comment that other users see, oldest first."""
    found = await client.send(ListComments(**AUTH, format="markdown", order="asc"))
    return [(one.body.markdown or "").strip().split("\n")[-1] for one in found.items]


async def hold_two(pilot: Pilot[int]) -> None:
    """Hold a comment on a line of a page, and one on the change request."""
    await open_review(pilot, AUTH)
    await pilot.press("v", "b")
    await until(pilot, shows="✎ 0 in your review")
    screen: Any = pilot.app.screen
    await pilot.press("enter")
    await until(pilot, holds=lambda: screen.session.view.is_in_change and bool(screen.session.view.page.difference))
    await pilot.press("]")
    await write(pilot, "c", "Which one?", "ctrl+s")
    await until(pilot, shows="✎ 1 in your review")
    await write(pilot, "C", "Thank you.", "ctrl+s")
    await until(pilot, shows="✎ 2 in your review")


@pytest.mark.slow
async def test_held_comments_are_opened_edited_dropped_and_restored_before_they_are_submitted(
    service: RunningService, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path), (80, 24)) as pilot, somebody(service, "mia") as (mia,):
        before = await comments(mia)
        await hold_two(pilot)

        # enter goes to the place of a comment, and the message stays
        await pilot.press("G")
        await write(pilot, "v r", "Not so fast", "tab", "enter")
        await until(pilot, holds=lambda: "Request changes, with" not in shown(pilot.app))
        screen: Any = pilot.app.screen
        await until(pilot, holds=lambda: screen.session.view.thread is not None)
        assert screen.session.view.thread.first.text.endswith("Which one?")
        assert len(pilot.app.engine.waiting()) == 2
        await write(pilot, "v r", "")
        assert pilot.app.screen.query_one(SearchInput).value == "Not so fast"

        await until(pilot, shows="Request changes, with 2 comments")
        await until(pilot, shows="✎ Tokens · line ")
        await until(pilot, shows="✎ the change request")
        await pilot.press("tab")
        await until(pilot, shows="e edit")
        await pilot.press("j", "e")
        await until(pilot, shows="Edit your comment")
        await pilot.press("backspace", *" all.", "ctrl+s")
        await until(pilot, shows="  Thank you all.")
        await pilot.press("k", "-")
        await until(pilot, shows="dropped “Which one?”: z restores it")
        await pilot.press("-")
        await until(pilot, shows="dropped “Thank you all.”: z restores it")
        assert not pilot.app.engine.waiting()
        await pilot.press("z")
        await until(pilot, shows="Request changes, with 1 comment")
        await pilot.press("ctrl+s")
        await all_sent(pilot)
        assert await comments(mia) == [*before, "Thank you all.", "Not so fast"]
