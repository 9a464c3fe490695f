"""Going from place to place: what `g i`, `g o` and `g p` show, back and forward, and the list of open places."""

import asyncio
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from sqlalchemy import update
from tests.running_service import RunningService
from tests.service_users import somebody
from tests.tui.app_driver import app_on, inbox_loaded, pick, running, until

from presscheck.api.comments import Document, PostComment
from presscheck.api.spaces import GetSpace
from presscheck.client.request_priority import Priority
from presscheck.documents.pages.tree import flatten
from presscheck.engine.review import live_updates
from presscheck.errors import PresscheckError
from presscheck.service.db.engine import Database
from presscheck.service.models.sites import SiteRow
from presscheck.tui.places import LIMIT, Place, Places
from presscheck.tui.screens.browse.screen import BrowseScreen
from presscheck.tui.screens.inbox.screen import InboxScreen
from presscheck.tui.screens.publish.screen import PublishScreen
from presscheck.tui.screens.review.screen import ReviewScreen

pytestmark = pytest.mark.service(shared=True)

FIRST, SECOND = "Rewrite the auth guide", "Limits per workspace"


async def reviewing(pilot: Any, subject: str) -> Any:
    """Open a change request from the inbox; its screen."""
    await until(pilot, holds=lambda: isinstance(pilot.app.screen, InboxScreen))
    screen = pilot.app.screen
    await until(pilot, shows=subject)
    await pilot.press("g", "g")
    while subject not in (screen.session.current().subject if screen.session.current() else ""):
        await pilot.press("j")
    await pilot.press("enter")
    await until(pilot, shows=f" {subject}", holds=lambda: isinstance(pilot.app.screen, ReviewScreen))
    await until(
        pilot, holds=lambda: bool(pilot.app.screen.session.model.items) and bool(pilot.app.screen.session.view.flow.ids)
    )
    return pilot.app.screen


async def at(pilot: Any, kind: type[Any]) -> Any:
    await until(pilot, holds=lambda: type(pilot.app.screen) is kind)
    return pilot.app.screen


@pytest.mark.slow
async def test_a_place_is_shown_whatever_stands_on_top_of_it(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await reviewing(pilot, FIRST)
        await pilot.press("g", "t")
        await until(pilot, shows="Threads")
        await pilot.press("g", "i")
        await at(pilot, InboxScreen)
        await inbox_loaded(pilot)
        await pilot.press("g", "o")
        await at(pilot, BrowseScreen)
        await pilot.press("g", "x")
        await until(pilot, shows="Outbox")
        await pilot.press("g", "p")
        await at(pilot, PublishScreen)
        await pilot.press("@")
        await until(pilot, shows="Activity")
        await pilot.press("g", "p")
        await at(pilot, PublishScreen)
        await pilot.press("g", "o")
        await at(pilot, BrowseScreen)


@pytest.mark.slow
async def test_back_and_forward_return_to_the_line_in_a_review(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        await pilot.press("alt+left")
        await until(pilot, shows="no earlier place")
        review = await reviewing(pilot, FIRST)
        await pilot.press("}", "tab", "j", "j")
        await until(pilot, holds=lambda: review.session.view.is_in_change and review.session.view.line == 2)
        page = review.session.view.item
        await pilot.press("g", "i", "4")
        inbox = await at(pilot, InboxScreen)
        await until(pilot, shows="All open 10")
        await pilot.press("g", "o")
        await at(pilot, BrowseScreen)
        await pilot.press("alt+left", "alt+left")
        assert await at(pilot, ReviewScreen) is review
        assert (review.session.view.item, review.session.view.line, review.session.view.is_in_change) == (page, 2, True)
        await until(pilot, shows=FIRST)
        await pilot.press("alt+right")
        assert await at(pilot, InboxScreen) is inbox
        assert inbox.session.model.view.title == "All open"
        await pilot.press("alt+right")
        await at(pilot, BrowseScreen)
        await pilot.press("alt+right")
        await until(pilot, shows="no later place")


@pytest.mark.slow
async def test_closing_goes_back_to_where_one_came_from(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        review = await reviewing(pilot, FIRST)
        await pilot.press("g", "o")
        await at(pilot, BrowseScreen)
        await pilot.press("g", "p")
        await at(pilot, PublishScreen)
        await pilot.press("q")
        await at(pilot, BrowseScreen)
        await pilot.press("g", "r")
        assert await at(pilot, ReviewScreen) is review
        await pilot.press("q")
        await at(pilot, BrowseScreen)
        assert not review.is_running
        await pilot.press("q")
        again = await at(pilot, ReviewScreen)
        assert again is not review
        await until(pilot, shows=FIRST)
        await pilot.press("q")
        await at(pilot, InboxScreen)
        await pilot.press("alt+right")
        await at(pilot, ReviewScreen)


@pytest.mark.slow
async def test_open_places_are_listed_and_one_is_chosen(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        await pilot.press("B")
        await until(pilot, shows="no other place was opened yet")
        first = await reviewing(pilot, FIRST)
        await pilot.press("g", "i")
        await reviewing(pilot, SECOND)
        await pilot.press("g", "p")
        await at(pilot, PublishScreen)
        await until(pilot, shows="Inside Tallowick")
        await pilot.press("B")
        await until(pilot, shows="Open places")
        listed = [choice.label for choice in pilot.app.screen.choices]
        assert listed == [f"#4 {SECOND} · API docs", "Inbox · Needs me", f"#5 {FIRST} · API docs"]
        await pick(pilot, FIRST)
        assert await at(pilot, ReviewScreen) is first
        await pilot.press("q")
        await at(pilot, PublishScreen)


@pytest.mark.slow
async def test_a_jump_to_another_page_is_another_place(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await inbox_loaded(pilot)
        await pilot.press("g", "o")
        browse = await at(pilot, BrowseScreen)
        for title in ("Limits", "Tokens"):
            await until(pilot, shows="API docs")
            await pilot.press("ctrl+k")
            await until(pilot, shows="type to search")
            await pilot.press(*title)
            await until(pilot, holds=lambda title=title: title in [row.label for row in pilot.app.screen.matches])
            row = [row.label for row in pilot.app.screen.matches].index(title)
            await pilot.press(*["down"] * row, "enter")
            await until(pilot, shows=f"› {title}", holds=lambda: pilot.app.screen is browse)
        await pilot.press("alt+left")
        await until(pilot, shows="› Limits")
        await pilot.press("alt+right")
        await until(pilot, shows="› Tokens")
        await pilot.press("q")
        await at(pilot, InboxScreen)


def opened_status(address: str) -> tuple[int, str]:
    """What a browser gets at an address of the service."""
    with urlopen(address) as response:
        return response.status, response.read().decode()


@pytest.mark.slow
async def test_o_opens_the_published_page_or_that_of_the_app(service: RunningService, tmp_path: Path) -> None:
    database = Database(service.database_url)
    database.write(lambda session: session.execute(update(SiteRow).values(hostname=None)))  # so that it is served here
    database.close()
    async with running(app_on(service, tmp_path), size=(160, 40)) as pilot:
        await inbox_loaded(pilot)
        await pilot.press("g", "o")
        browse = await at(pilot, BrowseScreen)
        for space, path, words in (("api", "authentication/tokens", "Tokens"), ("guides", "quickstart", "Quickstart")):
            await until(pilot, holds=lambda space=space: browse.library.item(f"space {space}") is not None)
            await pilot.app.go(Place.page(space))
            await until(pilot, holds=lambda space=space: browse.library.pages(space) is not None)
            page = next(one for one in flatten(browse.library.pages(space).pages) if one.path == path)
            await pilot.app.go(Place.page(space, page.id))
            await until(pilot, holds=lambda page=page: browse.item.page is not None and browse.item.page.id == page.id)
            await pilot.press("o")
            await until(pilot, shows=f"copied: {pilot.app.clipboard}")
            assert pilot.app.clipboard.startswith(f"{service.base_url.removesuffix('/v1')}/docs/"), space
            assert pilot.app.clipboard.endswith(f"/{path}"), space
            status, html = await asyncio.to_thread(opened_status, pilot.app.clipboard)
            assert status == 200
            assert words in html


def place(name: str) -> Place:
    return Place("review", name, (name,))


def test_only_so_many_places_are_remembered() -> None:
    places = Places()
    for number in range(LIMIT + 5):
        places.note(place(str(number)))
    assert [one.title for one in places.others(None)] == [str(number) for number in range(LIMIT + 4, 4, -1)]
    steps = [places.step(-1) for _ in range(LIMIT + 5)]
    assert [one.title for one in steps if one] == [str(number) for number in range(LIMIT + 3, 4, -1)]


def test_another_place_ends_the_history_but_not_the_list() -> None:
    places = Places()
    for name in "abc":
        places.note(place(name))
    assert places.step(-1) == place("b")
    places.note(place("d"))
    assert not places.can_step(1, place("d"))
    assert [one.title for one in places.others(place("d"))] == ["c", "b", "a"]
    assert places.step(-1) == place("b")


@pytest.mark.slow
async def test_a_covered_screen_requests_nothing_until_it_is_shown(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_updates, "INTERVAL", 3600.0)  # news come from what is subscribed alone
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "mia") as (mia,):
        review, engine = await reviewing(pilot, FIRST), pilot.app.engine
        request = review.session.model.request
        path = f"/spaces/{request.space}/change-requests/{request.id}"

        def requested() -> list[str]:
            log = (entry for entry in engine._activity._entries if not entry.from_cache)
            return [entry.path for entry in log if entry.priority is Priority.VISIBLE and entry.path.startswith(path)]

        await pilot.press("g", "p")
        await at(pilot, PublishScreen)
        await until(pilot, shows="Inside Tallowick", holds=lambda: not engine._scheduler._shared)
        before = requested()
        assert len(before) > 3
        news = Document(markdown="While it was covered")
        await mia.send(PostComment(space_id=request.space, change_request_id=request.id, body=news))
        await pilot.press("ctrl+r")
        await until(pilot, holds=lambda: len(review._when_shown) > 3)  # it knows that its parts are stale
        for _ in range(3):
            await engine.read(GetSpace(space_id="api"))
        assert requested() == before
        await pilot.press("g", "r")
        assert await at(pilot, ReviewScreen) is review
        await pilot.press("g", "g")
        await until(pilot, shows="While it was covered")
        assert len(requested()) > len(before) + 3


@pytest.mark.slow
async def test_offline_one_cannot_go_to_a_review_that_was_never_loaded(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await reviewing(pilot, FIRST)
    async with running(app_on(service, tmp_path, offline=True)) as pilot:
        review = await reviewing(pilot, FIRST)
        where = Place.review(review.session.model.request.space, "never")
        pilot.app.remember_review(*where.ids)
        await pilot.press("g", "r")
        await until(pilot, shows="you are offline, and this change request was never loaded")
        assert pilot.app.screen is review
        with pytest.raises(PresscheckError, match="never loaded"):
            pilot.app.go(where)
