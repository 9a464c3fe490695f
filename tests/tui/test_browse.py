"""The browse screen on the sample workspace: edits in a change request."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, pick, running, shown, until
from tests.tui.tree_driver import to_item

from presscheck.api.change_requests import ChangeRequest, ListOrganizationChangeRequests
from presscheck.api.content import ListChangeRequestPages, RevisionPage
from presscheck.client.client import Client


async def drafts(client: Client) -> dict[str, ChangeRequest]:
    page = await client.send(ListOrganizationChangeRequests(organization_id="tallowick", status="draft"))
    return {one.subject: one for one in page.items}


async def titles(client: Client, request: ChangeRequest) -> list[str]:
    def every(pages: tuple[RevisionPage, ...]) -> list[str]:
        return [title for page in pages for title in (page.title, *every(page.pages))]

    ask = ListChangeRequestPages(space_id=request.space, change_request_id=request.id)
    return every((await client.send(ask)).pages)


async def titled(pilot: Any, client: Client, request: ChangeRequest, wanted: list[str]) -> None:
    """Wait until the change request has pages with these titles on the service."""
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
