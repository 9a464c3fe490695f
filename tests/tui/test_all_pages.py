"""All changed pages in one scroll: keys go across pages, and only pages near the view are laid out and loaded."""

from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import somebody
from tests.tui.app_driver import all_sent, review, until, write

from presscheck.api.change_requests import CreateChangeRequest, UpdateChangeRequest
from presscheck.api.comments import Document, ListComments
from presscheck.api.content_changes import EditChangeRequestContent, InsertPage
from presscheck.tui.screens.review.view import ReviewView

pytestmark = pytest.mark.service(shared=True)

PAGES = 50


def under_cursor(pilot: Any) -> str:
    change = pilot.app.screen.session.view.change
    return "".join(segment.text for segment in change.render_line(change.cursor - change.top)).strip()


@pytest.mark.slow
@pytest.mark.usefixtures("at_once")
async def test_only_pages_near_the_view_are_laid_out_and_comments_go_to_the_page_under_the_cursor(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with somebody(service, "mia") as (mia,):
        made = await mia.send(CreateChangeRequest(space_id="guides", subject="Very many pages"))
        at = {"space_id": "guides", "change_request_id": made.id}
        pages = tuple(
            InsertPage(title=f"Page {n}", document=Document(markdown=f"The text of page {n}.\n\n" * 9))
            for n in range(PAGES)
        )
        await mia.send(EditChangeRequestContent(**at, changes=pages, compat=False))
        await mia.send(UpdateChangeRequest(**at, status="open"))
    laid_out: list[int] = []
    original = ReviewView._lay_out

    def counted(view: ReviewView, number: int) -> None:
        laid_out.append(number)
        original(view, number)

    monkeypatch.setattr(ReviewView, "_lay_out", counted)
    async with review(service, tmp_path, "Very many pages") as pilot:
        await until(pilot, shows="The text of page 0.")
        await pilot.press("&", "l")
        await until(pilot, shows="The text of page 1.")
        await until(pilot, shows="The text of page 1.\n")
        before = set(laid_out)
        await pilot.press("G")
        await until(pilot, shows=f"+ Page {PAGES - 1}")
        await pilot.press("G")
        await until(pilot, shows=f"The text of page {PAGES - 1}.")
        await pilot.press("g", "g", "}", "}", "j")
        await until(pilot, shows="The text of page 1.")
        assert len(before) < 10
        assert len(set(laid_out)) < 20, "a page is laid out when it comes into the view"
        view = pilot.app.screen.session.view
        for _ in range(40):
            await pilot.press("j")
        middle = under_cursor(pilot), view.item.title
        await pilot.press("ctrl+r")
        await until(pilot, holds=lambda: (under_cursor(pilot), view.item.title) == middle)
        await write(pilot, "c", "Across pages", "ctrl+s")
        await all_sent(pilot)
        async with somebody(service, "mia") as (mia,):
            [comment] = (await mia.send(ListComments(**at))).items
        assert comment.target.page is not None
        assert comment.target.page.id == view.item.id
