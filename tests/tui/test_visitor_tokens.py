"""Tokens of visitors who sign in: made and tested by keys, then used by a client and a browser."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.running_service import RunningService
from tests.service.browser import browse
from tests.tui.app_driver import app_on, pick, running, until, write
from textual import events
from textual.widgets import Input

from presscheck.api.sites import CreateSite, GetSite, Site
from presscheck.client.client import Client
from presscheck.tui.places import Place
from presscheck.tui.screens.publish.screen import PublishScreen
from presscheck.tui.screens.sites.adaptive.screen import AdaptiveContentScreen

ORG, TITLE = "tallowick", "For its readers"

pytestmark = pytest.mark.needs("chromium")


async def published(pilot: Any, client: Client, visibility: str) -> Site:
    """Create a site, set its visibility and publish it by keys."""
    made = await client.send(CreateSite(organization_id=ORG, title=TITLE, spaces=("guides",)))
    await until(pilot, shows="live")
    await pilot.press("g", "p")
    await until(pilot, shows=TITLE, holds=lambda: isinstance(pilot.app.screen, PublishScreen))
    await pilot.app.go(Place.site(made.id))
    await until(pilot, holds=lambda: pilot.app.screen.current and pilot.app.screen.current.id == made.id)
    await pilot.press("E")
    await pick(pilot, "Visibility")
    await pick(pilot, visibility)
    await until(pilot, shows="changed: z undoes it")
    await until(pilot, holds=lambda: pilot.app.screen.current.visibility == visibility)
    await pilot.press("P")
    await until(pilot, shows="Visible to ")
    await until(pilot, shows="y  n")
    await pilot.press("y")
    await until(pilot, shows="The site is live, and the page a")
    await pilot.press("q")
    await until(pilot, holds=lambda: isinstance(pilot.app.screen, PublishScreen))
    return await client.send(GetSite(organization_id=ORG, site_id=made.id))


async def read_by_a_visitor(address: str, tmp_path: Path) -> httpx.Response:
    """Return the response to a visitor without an account. A browser must show the site only if the status is 200."""
    async with httpx.AsyncClient(follow_redirects=True) as visitor:
        answer = await visitor.get(address)
    rendered = await asyncio.to_thread(browse, tmp_path / "browser", address, "--dump-dom")
    assert ("<h1" in rendered and TITLE in rendered) == (answer.status_code == 200), rendered[:500]
    return answer


@pytest.mark.slow
async def test_visitors_read_a_site_with_a_token_that_was_made_and_tested_by_keys(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        site = await published(pilot, client, "visitor-auth")
        assert (await read_by_a_visitor(str(site.urls.published), tmp_path)).status_code == 401
        await pilot.press("g", "c")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, AdaptiveContentScreen))
        await pilot.press("3")
        await until(pilot, shows="No audience is saved yet.")
        await write(pilot, "a", "Readers", "ctrl+s")
        await until(pilot, shows="no claims")
        await pilot.press(".", "j")
        await pick(pilot, "Make one, with the address of the site")
        await until(pilot, shows="copied an address with a token for Readers")
        address = pilot.app.clipboard
        assert address.startswith(f"{site.urls.published}?jwt_token=")
        assert (await read_by_a_visitor(address, tmp_path)).status_code == 200
        assert (await read_by_a_visitor(address[:-4], tmp_path)).status_code == 401

        for pasted, words in ((address, "✓ the site signed it"), (address[:-4], "✗ ")):
            await pilot.press(".", "j")
            await pick(pilot, "Test a token")
            await until(pilot, holds=lambda: isinstance(pilot.app.focused, Input))
            entry = pilot.app.focused
            entry.post_message(events.Paste(pasted))
            await until(pilot, holds=lambda entry=entry, pasted=pasted: entry.value == pasted)
            await pilot.press("enter")
            await until(pilot, shows=words)
            await until(pilot, shows="Readers  the same claims")
            await pilot.press("q")
            await until(pilot, holds=lambda: isinstance(pilot.app.screen, AdaptiveContentScreen))
