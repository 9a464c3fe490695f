"""The browse screen on the sample workspace: pages, links, and edits in a change request."""

import asyncio
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import page_of
from tests.stalling_proxy import holding_back
from tests.terminal import Terminal
from tests.tui.app_driver import app_on, pick, running, shown, until
from tests.tui.tree_driver import to_item

from presscheck.api.change_requests import ChangeRequest, ListOrganizationChangeRequests
from presscheck.api.content import ListChangeRequestPages, RevisionPage
from presscheck.api.links import ListSpaceLinks
from presscheck.client.client import Client
from presscheck.text.styled_text import plain
from presscheck.tui.places import Place
from presscheck.tui.screens.browse.screen import BrowseScreen


async def drafts(client: Client) -> dict[str, ChangeRequest]:
    page = await client.send(ListOrganizationChangeRequests(organization_id="tallowick", status="draft"))
    return {one.subject: one for one in page.items}


async def titles(client: Client, request: ChangeRequest) -> list[str]:
    def every(pages: tuple[RevisionPage, ...]) -> list[str]:
        return [title for page in pages for title in (page.title, *every(page.pages))]

    ask = ListChangeRequestPages(space_id=request.space, change_request_id=request.id)
    return every((await client.send(ask)).pages)


async def titled(pilot: Any, client: Client, request: ChangeRequest, wanted: list[str]) -> None:
    """Wait until the change request has these pages at the service."""
    async with asyncio.timeout(20):
        while await titles(client, request) != wanted:
            await pilot.pause(0.02)


async def go(pilot: Any, *titles: str) -> None:
    """Move the cursor of the tree to the node with this path of titles, expanding its ancestors."""
    screen = pilot.app.screen
    for title in titles:
        if screen.item is None or screen.item.title != title:
            await to_item(pilot, lambda item, title=title: item.title == title)
        if title != titles[-1]:
            await pilot.press("l")


async def opened(pilot: Any, *way: str) -> None:
    await until(pilot, shows="live")
    await pilot.press("g", "o")
    await until(pilot, shows="API docs")
    await go(pilot, *way)


async def begins(pilot: Any) -> None:
    """Choose "new change request" in the picker."""
    await until(pilot, shows="New change request …")
    await pilot.press("enter")
    await until(pilot, shows="subject")


@pytest.mark.slow
async def test_a_page_is_read_and_its_links_are_followed(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await opened(pilot, "API docs", "Authentication")
        await until(pilot, shows="A request without a token is answered with 401")
        await until(pilot, shows="› API docs › Authentication")
        await pilot.press("H")
        await until(pilot, shows="no previous page")
        await pilot.press("f")
        await until(pilot, shows="[a]")
        await pilot.press("a")
        await until(pilot, shows="› Authentication › Tokens")
        await until(pilot, shows="A token belongs to one workspace")
        await pilot.press("H")
        await until(pilot, shows="A request without a token is answered with 401")
        await pilot.press("L")
        await until(pilot, shows="A token belongs to one workspace")


@pytest.mark.slow
def test_a_row_and_its_page_are_painted_at_once(service: RunningService, tmp_path: Path) -> None:
    """In a real terminal: a page that is in the cache waits for no frame after that of its row."""
    env = {
        "PRESSCHECK_HOME": str(tmp_path / "home"),
        "PRESSCHECK_BASE_URL": service.base_url,
        "PRESSCHECK_TOKEN": service.token,
    }
    terminal = Terminal([sys.executable, "-m", "presscheck"], env=env)
    try:
        terminal.wait("Rewrite the auth guide")
        terminal.press("g", "o")
        terminal.wait("Tallowick Docs")
        terminal.down_to("▌.*API docs")
        terminal.press("enter")
        terminal.wait("The test workspace")
        terminal.down_to("▌ +Limits")
        pages = {"j": "Every workspace has a twin", "k": "Sixty requests a minute"}
        for key in "jk":  # both are in the cache then
            terminal.press(key)
            terminal.wait(pages[key])
        frames: list[int] = []
        for key in "jkjkjkjk":
            sent = 0
            while sent != len(terminal.raw):  # nothing follows any more
                sent = len(terminal.raw)
                terminal.read(0.2)
            terminal.press(key)
            terminal.wait(pages[key])
            frames.append(terminal.raw[sent:].count(b"\x1b[?2026h"))
        assert 1 in frames, f"frames until the page of a row is there: {frames}"
    finally:
        terminal.close()


@pytest.mark.slow
async def test_a_page_is_found_by_name_from_anywhere(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await opened(pilot, "API docs", "Limits")
        await pilot.press("g", "i", "ctrl+k")
        await until(pilot, shows="type to search")
        await pilot.press(*"Limits")
        await until(pilot, shows="API docs")
        await pilot.press("enter")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, BrowseScreen))
        await until(pilot, shows="› API docs › Limits")


@pytest.mark.slow
async def test_pages_are_added_renamed_and_deleted_in_a_change_request(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await opened(pilot, "Handbook")
        await pilot.press("O")
        await begins(pilot)
        await pilot.press(*"All new [b]notes", "enter")
        await until(pilot, shows="editing #")
        await until(pilot, shows="All new [b]notes")
        request = (await drafts(client))["All new [b]notes"]
        before = await titles(client, request)
        await pilot.press("a")
        await pick(pilot, "Page in Handbook")
        await until(pilot, shows="Title of the new page")
        await pilot.press(*"One [i]more", "enter")
        await titled(pilot, client, request, [*before, "One [i]more"])
        await until(pilot, shows="› One [i]more")
        await go(pilot, "One [i]more")
        await pilot.press("E")
        await until(pilot, shows="Edit One [i]more")
        await pilot.press("t")
        await until(pilot, shows="Title of the page")
        await pilot.press("!", "enter")
        await titled(pilot, client, request, [*before, "One [i]more!"])
        await until(pilot, shows="› One [i]more!")
        await go(pilot, "One [i]more!")
        await pilot.press("-")
        await until(pilot, shows="Delete One [i]more!?")
        await pilot.press("enter")
        assert "One [i]more!" in await titles(client, request), "No is what enter says"
        await pilot.press("-")
        await until(pilot, shows="It is not live, because this change request added it.")
        await pilot.press("n")
        await pilot.press("-")
        await until(pilot, shows="Delete One [i]more!?")
        await pilot.press("y")
        await titled(pilot, client, request, before)
        await until(pilot, holds=lambda: "One [i]more!" not in shown(pilot.app))
        assert "✗" not in shown(pilot.app)
        await pilot.press("O")
        await until(pilot, shows="leaves the change request")
        await pick(pilot, "Main")
        await until(pilot, shows="showing main again")
        await until(pilot, holds=lambda: "All new [b]notes" not in shown(pilot.app))


@pytest.mark.slow
async def test_a_typed_subject_is_restored(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await opened(pilot, "Handbook")
        await pilot.press("a")
        await pick(pilot, "Page in Handbook")
        await begins(pilot)
        await pilot.press(*"Half a tho", "escape")
        await until(pilot, holds=lambda: "subject" not in shown(pilot.app))
        await pilot.press("a")
        await pick(pilot, "Page in Handbook")
        await begins(pilot)
        await until(pilot, shows="Half a tho")


@pytest.mark.slow
async def test_an_existing_change_request_can_be_chosen(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await opened(pilot, "API docs")
        await pilot.press("O")
        await until(pilot, shows="Edit API docs in")
        await pick(pilot, "Rewrite the auth")
        await until(pilot, shows="#5 Rewrite the auth guide")
        tree, space = pilot.app.screen.tree_view, pilot.app.screen.library.item("space api").space
        await until(pilot, shows=f"in #5 · {space.change_requests_open}")
        row = [node.key for node, *_ in tree._rows].index("space api")
        assert plain(tree.item(row, 0, 24)).endswith("in #5 "), "the count is left out before the title is cut"
        await go(pilot, "Authentication")
        await pilot.press("l")
        await until(pilot, shows="Sessions")
        await pilot.press("g", "r")
        await until(pilot, shows="Can merge?")


@pytest.mark.slow
async def test_a_list_of_a_space_asks_about_its_own_space_when_the_cursor_has_moved(
    service: RunningService, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await opened(pilot, "Guides")
        place = pilot.app.screen.content_place()
        assert place.choose_request
        await go(pilot, "Handbook")
        pilot.app.screen.run(place.choose_request)
        await until(pilot, shows="Edit Guides in")


@pytest.mark.slow
async def test_offline_it_shows_cached_pages_and_offers_cached_change_requests_for_edits(
    service: RunningService, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await opened(pilot, "API docs", "Authentication")
        await until(pilot, shows="A request without a token")
        service.stop()
        await pilot.press("ctrl+r")
        await until(pilot, shows="offline")
        await pilot.press("e")
        await until(pilot, shows="Edit API docs in")
        await pilot.press("escape")
        await until(pilot, shows="A request without a token")
        await go(pilot, "Limits")
        await until(pilot, shows="This page cannot be shown")


@pytest.mark.slow
async def test_a_page_opens_in_its_change_request_also_before_the_spaces_are_known(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    requests = await client.send(ListOrganizationChangeRequests(organization_id="tallowick", status="open"))
    request = next(one for one in requests.items if one.subject == "Rewrite the auth guide")
    page = await page_of(client, {"space_id": "api", "change_request_id": request.id}, "Tokens")
    answered = threading.Event()
    with holding_back(service, tmp_path, "/collections?", until=answered) as address:
        async with running(app_on(service, tmp_path, base_url=address)) as pilot:
            await until(pilot, shows="Needs me")
            await pilot.app.go(Place.page("api", page.id, request.id))
            await until(pilot, shows=f"editing #{request.number}")
            answered.set()
            await until(pilot, shows=f"#{request.number} Rewrite the auth guide")
            await until(pilot, holds=lambda: pilot.app.screen.item.page.id == page.id)


@pytest.mark.slow
async def test_the_pages_that_link_here_are_one_key_away(service: RunningService, tmp_path: Path) -> None:
    async with Client(service.base_url, service.token) as client:
        links = (await client.send(ListSpaceLinks(space_id="guides", limit=1000))).items
    target, source = next(
        (link.target_reference.page, link.location_references[0].page)
        for link in links
        if link.target_reference and link.target_reference.page and len(link.location_references) == 1
    )
    assert target and source
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Needs me")
        await pilot.app.go(Place.page("guides", target.id))
        await until(pilot, holds=lambda: (item := pilot.app.screen.item) and item.page and item.page.id == target.id)
        await pilot.press("g", "b")
        await until(pilot, shows="Pages that link here")
        await pilot.press("enter")
        await until(pilot, holds=lambda: pilot.app.screen.item.page.id == source.id)
        await pilot.press("H")
        await until(pilot, holds=lambda: pilot.app.screen.item.page.id == target.id)
