"""The sheet that submits a pending review: each held comment with its place, to open, edit, drop and restore."""

from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import somebody
from tests.tui.app_driver import all_sent, app_on, open_review, running, shown, until, write
from textual.pilot import Pilot

from presscheck.api.comments import ListComments
from presscheck.client.client import Client
from presscheck.tui.widgets.row_list import RowList
from presscheck.tui.widgets.search_inputs import SearchInput

AUTH = {"space_id": "api", "change_request_id": "5"}

pytestmark = pytest.mark.usefixtures("at_once")


async def comments(client: Client) -> list[str]:
    """The comments that others see, without quotes, oldest first."""
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
@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
@pytest.mark.parametrize(
    ("keys", "title"),
    [
        ("v a", "Approve, with 2 comments"),
        ("v r", "Request changes, with 2 comments"),
        ("v c", "Submit your review with 2 comments"),
    ],
)
async def test_each_held_comment_is_listed_with_its_place_and_edited(
    service: RunningService, tmp_path: Path, keys: str, title: str, size: tuple[int, int]
) -> None:
    async with running(app_on(service, tmp_path), size) as pilot, somebody(service, "mia") as (mia,):
        before = await comments(mia)
        await hold_two(pilot)
        await pilot.press(*keys.split())
        await until(pilot, shows=title)
        await until(pilot, shows="✎ Tokens · line ")
        await until(pilot, shows="✎ the change request")
        await until(pilot, shows="Thank you.")
        await pilot.press("tab")
        await until(pilot, shows="e edit")
        await pilot.press("j", "e")
        await until(pilot, shows="Edit your comment")
        await pilot.press("backspace", *" all.", "ctrl+s")
        await until(pilot, shows="  Thank you all.")
        await pilot.press("ctrl+s")
        await all_sent(pilot)
        assert await comments(mia) == [*before, "Which one?", "Thank you all."]


@pytest.mark.slow
async def test_a_dropped_comment_can_be_restored_in_the_sheet(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        before = await comments(mia)
        await hold_two(pilot)
        await pilot.press("v", "r")
        await until(pilot, shows="Request changes, with 2 comments")
        await pilot.press("tab")
        await until(pilot, shows="- drop")
        await pilot.press("-")
        await until(pilot, shows="dropped “Which one?”: z restores it")
        await pilot.press("-")
        await until(pilot, shows="dropped “Thank you.”: z restores it")
        assert not pilot.app.engine.waiting()
        await pilot.press("ctrl+s")
        await until(pilot, shows="Request changes")
        assert await comments(mia) == before, "nothing to say, and nothing sent"
        await pilot.press("z")
        await until(pilot, shows="Request changes, with 1 comment")
        await pilot.press("ctrl+s")
        await all_sent(pilot)
        assert await comments(mia) == [*before, "Thank you."]


@pytest.mark.slow
async def test_a_comment_opens_at_its_line_and_the_message_is_kept(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await hold_two(pilot)
        await pilot.press("G")
        await write(pilot, "v a", "Good so far", "tab", "enter")
        await until(pilot, holds=lambda: "Approve, with" not in shown(pilot.app))
        screen: Any = pilot.app.screen
        await until(pilot, holds=lambda: screen.session.view.thread is not None)
        assert screen.session.view.thread.first.text.endswith("Which one?")
        assert len(pilot.app.engine.waiting()) == 2
        await write(pilot, "v a", "")
        assert pilot.app.screen.query_one(SearchInput).value == "Good so far"


@pytest.mark.slow
async def test_the_sheet_works_by_mouse(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await hold_two(pilot)
        await pilot.press("v", "a")
        await until(pilot, shows="✎ the change request")
        await pilot.click(RowList, offset=(4, 2))
        await until(pilot, shows="- drop")
        lines = shown(pilot.app).split("\n")
        row = next(at for at, line in enumerate(lines) if "- drop" in line)
        await pilot.click(offset=(lines[row].index("- drop"), row))
        await until(pilot, shows="dropped “Thank you.”: z restores it")
        await until(pilot, shows="Approve, with 1 comment")
