"""Search in a whole change request: in the conversation, all changed pages, and their threads."""

from pathlib import Path
from typing import Any

from tests.running_service import RunningService
from tests.service_users import page_of, say, somebody
from tests.tui.app_driver import plain, review, shown, until, write
from tests.tui.change_request_factory import begun

from presscheck.api.comments import Document, PostComment
from presscheck.api.content_changes import EditChangeRequestContent, InsertPage

TEXTS = {"Second": "Nothing.\n\nThe needle again.\n\nAnd a needle.\n", "Third": "Nothing at all.\n"}


def line_under_cursor(pilot: Any) -> str:
    change = pilot.app.screen.session.view.change
    return plain(change.item(change.cursor, 0, 200)).lower()


async def test_text_is_found_across_pages_and_threads(service: RunningService, tmp_path: Path) -> None:
    one = await begun(service, "Long read", "A needle first.\n\nNothing.\n", title="First")
    inserts = tuple(InsertPage(title=title, document=Document(markdown=text)) for title, text in TEXTS.items())
    await say(service, one.token, EditChangeRequestContent(**one.at, changes=inserts, compat=False))
    async with somebody(service, "mia") as (mia,):
        third = await page_of(mia, one.at, "Third")
        await mia.send(PostComment(**one.at, body=Document(markdown="The whole has a needle")))
        await mia.send(PostComment(**one.at, page=third.id, body=Document(markdown="A NEEDLE in a thread")))
    async with review(service, tmp_path, "Long read") as pilot:
        await until(pilot, shows="A needle first.")
        await write(pilot, "ctrl+underscore", "needle")
        await until(pilot, shows="5 matches")
        await pilot.press("enter")
        await until(pilot, shows="2 of 5")  # the conversation is above the first page
        for key, place, title, words in (
            ("n", "3 of 5", "Second", "the needle again"),
            ("n", "4 of 5", "Second", "and a needle"),
            ("n", "5 of 5", "Third", "a needle in a thread"),
            ("n", "1 of 5", "Conversation", "the whole has a needle"),
            ("N", "5 of 5", "Third", "a needle in a thread"),
        ):
            await pilot.press(key)
            await until(pilot, shows=place)
            item = pilot.app.screen.session.view.item
            assert (item.title if item else "Conversation") == title
            assert words in line_under_cursor(pilot), shown(pilot.app)
        await pilot.press("&", "N", "N")  # the same with all pages in one scroll
        await until(pilot, shows="3 of 5")
        assert "the needle again" in line_under_cursor(pilot)
        await pilot.press("escape")
        await until(pilot, holds=lambda: "of 5" not in shown(pilot.app))
        await write(pilot, "ctrl+slash", "no such word", "enter")
        await until(pilot, shows="no match")
