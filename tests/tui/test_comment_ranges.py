"""Comments on several lines of a review, while others edit the page."""

from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.service_users import say
from tests.tui.app_driver import all_sent, review, shown, until, write
from tests.tui.change_request_factory import begun, rewritten

from presscheck.api.comments import ListComments
from presscheck.api.content import GetChangeRequestPage
from presscheck.documents.nodes.comment_targets import find_block_key

SUBJECT = "How long things last"
TEXT = """A token lasts a day.

A key stays.

Ask before you make more.

And that is all.
"""


pytestmark = pytest.mark.usefixtures("at_once", "fast_live_updates")


def line_before(text: str, words: str) -> str:
    """The line above the line with these words, without blank lines."""
    lines = [line for line in text.splitlines() if line.strip(" │▌")]
    return lines[next(at for at, line in enumerate(lines) if words in line) - 1]


@pytest.mark.slow
async def test_a_range_of_lines_is_commented_and_stays_at_its_end(service: RunningService, tmp_path: Path) -> None:
    one = await begun(service, SUBJECT, TEXT)
    async with review(service, tmp_path, SUBJECT) as pilot:
        await until(pilot, shows="And that is all.")
        await pilot.press("tab", "V")
        await until(pilot, shows="a range starts on a line of the page's text")
        await write(pilot, "/", "token lasts", "enter")
        view = pilot.app.screen.session.view
        await until(pilot, holds=lambda: not pilot.app.screen.query("FindBar") and view.text_line is not None)
        await pilot.press("V")
        await until(pilot, shows="a range starts here: c comments on it")
        await write(pilot, "/", "ask before", "enter")
        await until(pilot, holds=lambda: view.text_range == (2, 6))
        assert sum("▌" in line.partition("│")[2] for line in shown(pilot.app).splitlines()) == 5
        await pilot.press("c")
        await until(pilot, shows="> A token lasts a day. … Ask before you make more.")
        await pilot.press(*"Say it shorter", "ctrl+g")
        await until(pilot, shows="a suggestion changes one block")
        await pilot.press("ctrl+s")
        await until(pilot, shows="from “A token lasts a day.”")
        assert "Ask before you make more." in line_before(shown(pilot.app), "from “A token")
        assert view.text_range is None
        await all_sent(pilot)
        found, page = await say(
            service,
            one.token,
            ListComments(**one.at, format="markdown"),
            GetChangeRequestPage(**one.at, page_id=one.page, format="document"),
        )
        assert (
            found.items[0].body.markdown.strip()
            == "> A token lasts a day. … Ask before you make more.\n\nSay it shorter"
        )
        assert found.items[0].target.node.id == find_block_key(page.document, "Ask before you make")
        await rewritten(service, one, TEXT.replace("A key", "Nobody knows.\n\nA key"))
        await until(pilot, shows="Nobody knows.")
        assert "Ask before you make more." in line_before(shown(pilot.app), "from “A token")
        await rewritten(service, one, TEXT.replace("Ask before", "Think before"))
        await until(pilot, shows="↻ outdated")


async def test_a_range_is_ended_and_a_range_of_one_line_is_that_line(service: RunningService, tmp_path: Path) -> None:
    await begun(service, SUBJECT, "A token lasts\na day.\n\nA key stays.\n")
    async with review(service, tmp_path, SUBJECT) as pilot:
        await until(pilot, shows="A key stays.")
        await pilot.press("tab", "G", "V")
        view = pilot.app.screen.session.view
        await until(pilot, holds=lambda: view.text_range is not None)
        await pilot.press("escape")
        await until(pilot, holds=lambda: view.text_range is None)
        assert pilot.app.screen.session.view is view, "the review is still open"
        await pilot.press("V", "V")
        await until(pilot, shows="the range is ended")
        await pilot.press("V", "c")
        await until(pilot, shows="> A key stays.")
