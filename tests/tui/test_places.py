"""Navigation back and forward through the history of places."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, inbox_loaded, running, until

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.content import RevisionPage
from presscheck.api.roles import Location
from presscheck.api.spaces import Space, SpaceUrls
from presscheck.tui.places import LIMIT, Place, Places
from presscheck.tui.screens.browse.page_pane import PagePane
from presscheck.tui.screens.browse.page_tree import Item, Library
from presscheck.tui.screens.browse.screen import BrowseScreen
from presscheck.tui.screens.inbox.screen import InboxScreen
from presscheck.tui.screens.review.screen import ReviewScreen

pytestmark = pytest.mark.service(shared=True)

FIRST = "Rewrite the auth guide"


async def reviewing(pilot: Any, subject: str) -> Any:
    """Open a change request from the inbox. Returns the review screen."""
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


def place(name: str) -> Place:
    return Place("review", name, (name,))


def test_the_number_of_remembered_places_is_limited() -> None:
    places = Places()
    for number in range(LIMIT + 5):
        places.note(place(str(number)))
    assert [one.title for one in places.others(None)] == [str(number) for number in range(LIMIT + 4, 4, -1)]
    steps = [places.step(-1) for _ in range(LIMIT + 5)]
    assert [one.title for one in steps if one] == [str(number) for number in range(LIMIT + 3, 4, -1)]


def test_a_new_place_removes_later_places_from_the_history_but_not_from_the_list() -> None:
    places = Places()
    for name in "abc":
        places.note(place(name))
    assert places.step(-1) == place("b")
    places.note(place("d"))
    assert not places.can_step(1, place("d"))
    assert [one.title for one in places.others(place("d"))] == ["c", "b", "a"]
    assert places.step(-1) == place("b")


def test_closing_a_screen_returns_to_the_previous_screen_and_a_jump_adds_a_place() -> None:
    places, inbox = Places(), Place("inbox", "Inbox")
    first, second, third = (Place.page("api", page) for page in "abc")
    places.note(inbox)
    places.note(first)
    places.jump()
    places.note(second)
    assert [places.step(-1), places.step(1), places.step(1)] == [first, second, None]
    assert places.leave_screen() == inbox
    assert places.leave_screen() is None
    assert places.step(2) == second
    places.note(third)
    assert (places.step(-1), places.step(1)) == (first, third), "without a jump, it replaces a place on its screen"
    places.forget(first)
    assert places.step(-1) == inbox


def test_o_opens_the_published_address_or_the_address_of_the_app() -> None:
    library = Library()
    pane: Any = SimpleNamespace(_session=SimpleNamespace(library=library))
    urls = SpaceUrls(app="https://app.example.org/s/api", published="https://docs.example.org/api/")
    space = Space(id="api", urls=urls)
    page = RevisionPage(id="tokens", path="authentication/tokens")

    def opened(space: Space, page: RevisionPage | None = None) -> str | None:
        return PagePane._web_address(pane, Item("", "", "", None, space=space, page=page))

    assert opened(space, page) == "https://docs.example.org/api/authentication/tokens"
    assert opened(space) == "https://docs.example.org/api/"
    assert opened(space.model_copy(update={"urls": SpaceUrls(app=urls.app)}), page) == urls.app
    library.requests["api"] = ChangeRequest(id="5", urls=Location(app="https://app.example.org/r/5"))
    assert opened(space, page) == "https://app.example.org/r/5", "what is edited is not published"
