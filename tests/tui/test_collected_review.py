"""A started review: comments are held until it is submitted, and none is lost meanwhile."""

from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, running, until
from textual.pilot import Pilot

from presscheck.api.comments import ListComments
from presscheck.client.client import Client
from presscheck.tui.places import Place

PATH = {"space_id": "guides", "change_request_id": "3"}


pytestmark = pytest.mark.usefixtures("at_once")


async def there(client: Client) -> list[str]:
    """Return the comments on the service, oldest first."""
    found = await client.send(ListComments(**PATH, format="markdown", order="asc"))
    return [(one.body.markdown or "").strip() for one in found.items]


async def collect(pilot: Pilot[int], *comments: str) -> None:
    """Start a review and add these comments."""
    await pilot.press("v", "b")
    await until(pilot, shows="✎ 0 in your review")
    for count, words in enumerate(comments, 1):
        await pilot.press("C")
        await until(pilot, shows="Comment on the change request, in your review")
        await pilot.press(*words, "ctrl+s")
        await until(pilot, shows=f"✎ {count} in your review")


async def test_a_review_can_consist_of_comments_and_its_last_comment_can_be_undone(
    service: RunningService, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path)) as pilot, Client(service.base_url, service.token) as other:
        before = await there(other)
        await until(pilot, shows="live")
        await pilot.app.go(Place.review(*PATH.values()))
        await until(pilot, shows="Can merge")
        await collect(pilot, "Kept.", "Regretted.")
        await pilot.press("z")
        await until(pilot, shows="✎ 1 in your review")
        await pilot.press("v", "c")
        await until(pilot, shows="Submit your review with 1 comment")
        await pilot.press(*["backspace"] * 10, "ctrl+s")
        await until(pilot, holds=lambda: pilot.app.engine.waiting() == ())
        assert await there(other) == [*before, "Kept."]
        await pilot.press("v", "b", "v", "b")
        await until(pilot, shows="comments are sent at once")
