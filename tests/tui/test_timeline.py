"""The timeline of a review's conversation, while others write, review and edit."""

import re
from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.service_users import say, token_of
from tests.tui.app_driver import app_on, pick, review, running, shown, until, write
from tests.tui.change_request_factory import Begun, begun, rewritten

from presscheck.api.change_requests import GetChangeRequest, PullChangeRequest, RequestReviewers, SubmitReview
from presscheck.api.comments import Document, PostComment
from presscheck.api.operation import ALL
from presscheck.engine.shared_calls import changes_in, comments_on, reviewers_of, reviews_of
from presscheck.tui.screens.review.screen import ReviewScreen

SUBJECT = "How long things last"
TEXT = "A token lasts.\n\nA key stays.\n\nAsk before you make more.\n"


pytestmark = pytest.mark.usefixtures("at_once", "fast_live_updates")


async def discussed(service: RunningService) -> Begun:
    """Create a change request with requested reviewers, comments, reviews and an edit."""
    one = await begun(service, SUBJECT, TEXT)
    ada = token_of(service, "ada")
    await say(service, one.token, RequestReviewers(**one.at, users=("ada", "jon")))
    await say(
        service, ada, PostComment(**one.at, page=one.page, body=Document(markdown="> A key stays\n\nHow long is that?"))
    )
    await say(service, ada, SubmitReview(**one.at, status="changes-requested", comment=Document(markdown="Not *yet*")))
    await rewritten(service, one, TEXT.replace("stays", "stays for a year"))
    await say(service, one.token, PostComment(**one.at, body=Document(markdown="Better now?")))
    await say(service, ada, SubmitReview(**one.at, status="approved"))
    return one


def in_order(text: str, *words: str) -> bool:
    """Return True if the text contains the words in this order."""
    return bool(re.search(".*".join(map(re.escape, words)), text, re.DOTALL))


@pytest.mark.slow
async def test_the_conversation_shows_all_events_by_time(service: RunningService, tmp_path: Path) -> None:
    one = await discussed(service)
    async with review(service, tmp_path, SUBJECT) as pilot:
        await until(pilot, shows="How long is that?")
        await pilot.press("{", "l")
        await until(
            pilot,
            holds=lambda: in_order(
                shown(pilot.app),
                "Timeline",
                "Mia opened it",
                "~ edited",
                " by Mia  Lasting",
                "Mia requested a review from Ada and Jón",
                "┃ Ada now on Lasting  How long is that?",
                "┃ Ada now  Not yet",
                "✗ requested changes",
                "~ edited",
                "┃ Mia now",
                "Better now?",
                "✓ Ada approved",
            ),
        )
        view = pilot.app.screen.session.view
        await write(pilot, "/", "Better now", "enter")
        await until(pilot, holds=lambda: view.is_on_thread and view.thread.first.text == "Better now?")
        row = view.change.cursor - view.change.top
        await say(service, one.token, PullChangeRequest(**one.at))
        await rewritten(service, one, TEXT.replace("stays", "remains"))
        await say(service, token_of(service, "jon"), SubmitReview(**one.at, status="approved"))
        await until(pilot, shows="✓ Jón approved", holds=lambda: shown(pilot.app).count("~ edited") == 3)
        assert view.thread.first.text == "Better now?", "the reader's place stays"
        assert view.change.cursor - view.change.top == row

        # a comment on a page can be answered in the timeline, and enter goes to the page
        await write(pilot, "/", "on lasting", "enter")
        await until(pilot, holds=lambda: view.event is not None and view.event.thread is not None)
        comment = view.event.thread.id
        await write(pilot, "r", "A year", "ctrl+s")
        await until(pilot, shows="on Lasting  outdated · 1 reply  How long is that?")
        await pilot.press("enter")
        await until(pilot, holds=lambda: view.item is not None and view.is_on_thread)
        assert view.thread.id == comment
        await pilot.press("{", "F")
        await until(pilot, shows="Timeline: show")
        await pick(pilot, "reviews")
        await until(pilot, shows="only reviews · F shows others")
        assert "Better now?" not in shown(pilot.app)


async def test_the_timeline_shows_cached_events_offline(service: RunningService, tmp_path: Path) -> None:
    one = await discussed(service)
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Needs me")
        # cache all that the review shows except the edits, which an open review would load, too
        request = await pilot.app.engine.read(GetChangeRequest(**one.at))
        for call in (reviews_of(request), reviewers_of(request), comments_on(request), changes_in(request, ALL)):
            await pilot.app.engine.read(call)
        service.stop()
        try:
            await pilot.app.push_screen(ReviewScreen(request.space, request.id))
            await until(pilot, shows="offline")
            await pilot.press("{", "l")
            await until(pilot, shows="✗ some edits are missing: you are offline")
            await until(pilot, shows="✓ Ada approved")
            assert "~ edited" not in shown(pilot.app)
        finally:
            service.start()
        await until(pilot, shows="live")
        await pilot.press("ctrl+r")
        await until(pilot, holds=lambda: shown(pilot.app).count("~ edited") == 2)
        assert "some edits are missing" not in shown(pilot.app)
