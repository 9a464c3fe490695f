"""The app on a service that has no operations beyond its document."""

from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.service_users import say
from tests.tui.app_driver import all_sent, app_on, running, until, write

from presscheck.api.change_requests import GetChangeRequest
from presscheck.api.comments import ListComments
from presscheck.tui.places import Place

pytestmark = [pytest.mark.usefixtures("at_once"), pytest.mark.service(shared=True, release="document")]
TYPOS = {"space_id": "guides", "change_request_id": "3"}


@pytest.mark.slow
async def test_an_approval_is_a_comment_and_a_change_request_is_merged(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path, user="robin")) as pilot:
        await until(pilot, shows="Needs me ")
        await pilot.app.go(Place.review(*TYPOS.values()))
        await until(pilot, shows="compared with #1, which was merged before")
        await until(pilot, shows="Can merge?")
        await pilot.press("j")
        await until(pilot, shows="word · 1 of 1")
        await until(pilot, shows="Ten minutes from nothing to a label")
        await until(pilot, shows="−1")  # the words that changed are counted
        await write(pilot, "v a", "")
        await until(pilot, shows="This service has no reviews: post a comment instead")
        await pilot.press(*"Reads well.", "ctrl+s")
        await all_sent(pilot)
        await pilot.press("m")
        await until(pilot, shows="Merge into the live content?")
        await until(pilot, shows="y  n")
        await pilot.press("y")
        await until(pilot, shows="\n merged")
    [request, comments] = await say(
        service, service.token, GetChangeRequest(**TYPOS), ListComments(**TYPOS, format="markdown")
    )
    assert request.status == "merged"
    texts = [(comment.body.markdown or "").strip() for comment in comments.items]
    assert "Approved. Reads well." in texts
