"""Sites, redirects, share links and visitor sign-in by keys: each change is checked at the service."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.running_service import RunningService, running_service
from tests.service_users import somebody, token_of
from tests.tui.app_driver import app_on, pick, running, shown, until, write

from presscheck.api.site_settings import GetPublishingAuth, ListRedirects, ListShareLinks, Redirect
from presscheck.api.sites import GetSite, ListSites, PublishSite, Site, UpdateSite
from presscheck.client.client import Client
from presscheck.tui.screens.publish.screen import PublishScreen
from presscheck.tui.screens.site_access.screen import SiteAccessScreen

ORG = "tallowick"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running_service(tmp_path_factory.mktemp("service"), sample=True) as one:
        yield one


@pytest.fixture
async def client(service: RunningService) -> AsyncIterator[Client]:
    async with Client(service.base_url, service.token) as one:
        yield one


async def live_site(client: Client) -> Site:
    return next(site for site in (await client.send(ListSites(organization_id=ORG))).items if site.published)


async def comes(pilot: Any, holds: Callable[[], Awaitable[Any]]) -> Any:
    """Wait until the service has something; what it has."""
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
    await until(pilot, holds=lambda: screen.model.map is not None and screen.model.links is not None)
    await pilot.press(tab)
    return screen


async def redirects(client: Client, site: Site) -> dict[str, Redirect]:
    page = await client.send(ListRedirects(organization_id=ORG, site_id=site.id, limit=1000))
    return {redirect.source: redirect for redirect in page.items}


async def sources(client: Client, site: Site, expected: set[str]) -> bool:
    return set(await redirects(client, site)) == expected


async def test_the_details_of_a_site_are_shown_filtered_changed_and_undone(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    site = await live_site(client)
    path = {"organization_id": ORG, "site_id": site.id}
    async with running(app_on(service, tmp_path), (140, 40)) as pilot:
        await sites_open(pilot)
        await until(pilot, shows=f"{site.visibility} · {site.type}")
        await pilot.press("/", *"draft", "enter")
        await until(pilot, holds=lambda: [one.published for one in pilot.app.screen.sites] == [False])
        await pilot.press("escape")
        await until(pilot, holds=lambda: len(pilot.app.screen.sites) > 1)
        pilot.app.screen.open_site(site.id)
        await until(pilot, holds=lambda: pilot.app.screen.current.id == site.id)

        await pilot.press("E")
        await pick(pilot, "Visibility")
        await pick(pilot, "unlisted")
        await until(pilot, shows="Change the visibility to unlisted?")
        await pilot.press("y")
        await until(pilot, shows="unlisted · ")
        assert await comes(pilot, lambda: _has(client, path, visibility="unlisted"))
        await until(pilot, shows="changed: z undoes it")
        await pilot.press("z")
        await until(pilot, shows=f"Restores the visibility “{site.visibility}”")
        await pilot.press("y")
        assert await comes(pilot, lambda: _has(client, path, visibility=site.visibility))

        await pilot.press("E")
        await pick(pilot, "Proxy")
        await write(pilot, "", "example", "enter")
        await until(pilot, shows="a host and a path")
        await write(pilot, "", ".org/docs", "enter")
        await until(pilot, shows="changed: z undoes it")
        assert (await client.send(GetSite(**path))).proxy.origin == "example.org/docs"  # type: ignore[union-attr]
        await pilot.press("z")
        await until(pilot, shows="Removes the proxy")
        await pilot.press("y")
        await until(pilot, shows="undone")
        assert (await client.send(GetSite(**path))).proxy is None

        await pilot.press("E")
        await pick(pilot, "Base path")
        await until(pilot, shows="Base path of ")
        await pilot.press("ctrl+u")
        await write(pilot, "", "Bad Name")
        await until(pilot, shows="single hyphens or dots")
        await pilot.press("ctrl+u")
        await write(pilot, "", "handbook-of-all", "enter")
        await until(pilot, shows="Change the base path to handbook-of-all?")
        await pilot.press("y")
        assert await comes(pilot, lambda: _has(client, path, basename="handbook-of-all"))


async def _has(client: Client, path: dict[str, Any], **values: Any) -> bool:
    site = await client.send(GetSite(**path))
    return all(getattr(site, name) == value for name, value in values.items())


async def test_without_the_role_the_verbs_say_so(service: RunningService, tmp_path: Path) -> None:
    token = token_of(service, somebody(service, "read"))
    async with running(app_on(service, tmp_path, token=token)) as pilot:
        await sites_open(pilot)
        for key, role in (("E", "create"), ("-", "admin")):
            await pilot.press(key)
            await until(pilot, shows=f"this needs the {role} role in the organization")
