"""All changed pages in one scroll: keys go across pages, and only pages near the view are laid out and loaded."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import somebody
from tests.tui.app_driver import review, shown, until, write

from presscheck.api.change_requests import CreateChangeRequest, UpdateChangeRequest
from presscheck.api.comments import Document, ListComments
from presscheck.api.content_changes import EditChangeRequestContent, InsertPage
from presscheck.engine.review.changes import ChangedItem
from presscheck.tui.screens.review import view
from presscheck.tui.screens.review.renderer import RenderedChange, render_item
from presscheck.tui.screens.review.view import ReviewView

pytestmark = pytest.mark.service(shared=True)

PAGES = 300
AUTH = "Rewrite the auth guide"


def under_cursor(pilot: Any) -> str:
    change = pilot.app.screen.session.view.change
    return "".join(segment.text for segment in change.render_line(change.cursor - change.top)).strip()


@pytest.mark.slow
async def test_changes_pages_and_threads_are_reached_across_pages(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path, AUTH) as pilot:
        await until(pilot, shows="expires after 90 days")
        view = pilot.app.screen.session.view
        texts, items = pilot.app.screen.session.texts, pilot.app.screen.session.model.items
        await until(pilot, holds=lambda: all(texts.loaded(item).difference for item in items))
        await pilot.press("&")
        await until(pilot, shows="all pages in one scroll")
        await pilot.press("l")
        await until(pilot, shows="Scopes   edited +10 words · 2 of 4")
        visited: list[str] = []
        for _ in range(12):
            await pilot.press("]")
            visited.append(view.item.title)
        assert list(dict.fromkeys(visited)) == ["Tokens", "Scopes", "Sessions", "Errors"]
        await until(pilot, shows="this is the last page")
        assert view.items.cursor == 4, "the list follows"
        for _ in range(12):
            await pilot.press("[")
        assert view.item is None or view.item.title == "Tokens"
        await pilot.press("g", "g", "}", "}")
        await until(pilot, holds=lambda: "Scopes   edited" in under_cursor(pilot))
        await pilot.press("k")
        assert view.item.title == "Tokens"
        await pilot.press("&")
        await until(pilot, shows="one page at a time")
        assert "Scopes   edited" not in shown(pilot.app)
        assert view.item.title == "Tokens"


@pytest.mark.slow
async def test_a_page_is_rendered_again_only_if_something_of_it_changed(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rendered: list[str] = []
    moment = datetime(2026, 5, 20, 12, tzinfo=UTC)

    def render(item: ChangedItem, *given: Any) -> RenderedChange:
        rendered.append(item.title)
        return render_item(item, *given)

    async with review(service, tmp_path, AUTH) as pilot:
        await until(pilot, shows="expires after 90 days")
        screen = pilot.app.screen
        await until(
            pilot,
            holds=lambda: screen.session.view.item and screen.session.texts.loaded(screen.session.view.item).difference,
        )
        monkeypatch.setattr(view, "render_item", render)
        monkeypatch.setattr(view, "now", lambda: moment)
        screen.session.view.show_change()
        rendered.clear()
        screen.session.view.show_change()
        assert rendered == []
        screen.session.view.toggle_only_changed()
        assert rendered == ["Tokens"]
        moment += timedelta(minutes=1)
        screen.session.view.show_change()
        assert rendered == ["Tokens"] * 2, "the ages of its threads grow"
        monkeypatch.setattr(screen.session.threads, "visible_on", lambda _item: [])
        screen.session.view.show_change()
        assert rendered == ["Tokens"] * 3, "its threads are others"


@pytest.mark.slow
@pytest.mark.usefixtures("at_once")
async def test_a_comment_belongs_to_the_page_under_the_cursor(service: RunningService, tmp_path: Path) -> None:
    async with review(service, tmp_path, AUTH) as pilot, somebody(service, "mia") as (mia,):
        await until(pilot, shows="expires after 90 days")
        await pilot.press("&", "l", "}")
        view = pilot.app.screen.session.view
        await until(pilot, holds=lambda: view.item.title == "Scopes" and bool(view.rendered.changes))
        await write(pilot, "] c", "Across pages", "ctrl+s")
        await until(pilot, shows="now  Across pages")
        await until(pilot, holds=lambda: not pilot.app.engine.waiting())
        found = await mia.send(ListComments(space_id="api", change_request_id="5", format="markdown"))
        [comment] = [one for one in found.items if "Across pages" in (one.body.markdown or "")]
        assert comment.target.page is not None
        assert comment.target.page.id == view.item.id


@pytest.mark.slow
async def test_only_pages_near_the_view_are_laid_out(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with somebody(service, "mia") as (mia,):
        made = await mia.send(CreateChangeRequest(space_id="guides", subject="Very many pages"))
        at = {"space_id": "guides", "change_request_id": made.id}
        pages = tuple(
            InsertPage(title=f"Page {n}", document=Document(markdown=f"The text of page {n}.\n\n" * 9))
            for n in range(PAGES)
        )
        for start in range(0, PAGES, 50):
            changes = pages[start : start + 50]
            await mia.send(EditChangeRequestContent(**at, changes=changes, compat=False))
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
