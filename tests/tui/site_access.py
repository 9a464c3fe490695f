"""Steps in the screens of a site."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from tests.tui.app_driver import until
from textual import events
from textual.widgets import Input

from presscheck.api.site_settings import ListRedirects, Redirect
from presscheck.api.sites import Site
from presscheck.client.client import Client
from presscheck.tui.screens.publish.screen import PublishScreen
from presscheck.tui.screens.sites.access.screen import SiteAccessScreen

ORG = "tallowick"


async def comes(pilot: Any, holds: Callable[[], Awaitable[Any]]) -> Any:
    """Wait until `holds` returns something true. Returns that value."""
    async with asyncio.timeout(20):
        while not (value := await holds()):
            await pilot.pause(0.02)
    return value


async def sites_open(pilot: Any, state: str = "live") -> None:
    await until(pilot, shows=state)
    await pilot.press("g", "p")
    await until(pilot, shows="● live", holds=lambda: isinstance(pilot.app.screen, PublishScreen))


async def access_open(pilot: Any, tab: str = "1") -> SiteAccessScreen:
    await sites_open(pilot)
    await pilot.press("g", "v")
    await until(pilot, holds=lambda: isinstance(pilot.app.screen, SiteAccessScreen))
    screen: SiteAccessScreen = pilot.app.screen
    await until(pilot, holds=lambda: screen.session.map is not None and screen.session.links.value is not None)
    await pilot.press(tab)
    return screen


async def paste(pilot: Any, text: str, *then: str) -> None:
    """Replace the text of the focused input with a pasted text, then press keys."""
    await until(pilot, holds=lambda: isinstance(pilot.app.focused, Input))
    entry = pilot.app.focused
    await pilot.press("ctrl+u")
    entry.post_message(events.Paste(text))
    await until(pilot, holds=lambda: entry.value == text)
    await pilot.press(*then)


async def redirects(client: Client, site: Site) -> dict[str, Redirect]:
    page = await client.send(ListRedirects(organization_id=ORG, site_id=site.id, limit=1000))
    return {redirect.source: redirect for redirect in page.items}
