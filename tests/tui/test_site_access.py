"""Sites, redirects, share links and visitor sign-in by keys: each change is checked at the service."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.running_service import RunningService
from tests.table import each_case
from tests.tui.app_driver import app_on, pick, running, shown, until
from tests.tui.site_access import ORG, access_open, comes, paste, redirects, sites_open

from presscheck.api.site_settings import GetPublishingAuth, ListShareLinks, ShareLink, UpdateShareLink
from presscheck.api.sites import ListSites, PublishSite, Site, UpdateSite
from presscheck.client.client import Client
from presscheck.tui.places import Place
from presscheck.tui.screens.publish.screen import PublishScreen
from presscheck.tui.screens.sites.access.share_links import no_address

pytestmark = pytest.mark.service(shared=True)


async def live_site(client: Client) -> Site:
    return next(site for site in (await client.send(ListSites(organization_id=ORG))).items if site.published)


@each_case(
    ("link", "site", "reason"),
    [
        ({}, {"visibility": "share-link", "published": True}, "not known yet"),
        ({}, {"visibility": "share-link"}, "the site is not live"),
        ({}, {"visibility": "public", "published": True}, "the site is public"),
        ({"active": False}, {"visibility": "share-link", "published": True}, "the link is off"),
        ({"id": "waiting:1"}, {"visibility": "share-link", "published": True}, "not sent yet"),
        ({"urls": {"published": "https://a.example/k"}}, {"visibility": "share-link", "published": True}, None),
    ],
)
def test_a_link_without_an_address_has_a_reason(link: dict[str, Any], site: dict[str, Any], reason: str | None) -> None:
    assert no_address(ShareLink(**{"id": "l1", "active": True, **link}), Site(id="s1", title="Docs", **site)) == reason


async def is_gone(links: Callable[[], Awaitable[list[Any]]]) -> bool:
    return not await links()


async def visited(service: RunningService, address: str) -> httpx.Response:
    """Return the response to a visitor at a public address of this service."""
    url = httpx.URL(address)
    async with httpx.AsyncClient(base_url=service.base_url) as visitor:
        return await visitor.get(url.raw_path.decode(), headers={"host": url.netloc.decode()})


async def sources(client: Client, site: Site, expected: set[str]) -> bool:
    return set(await redirects(client, site)) == expected


async def test_a_change_behind_a_failed_one_is_pending(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path), (140, 40)) as pilot:
        screen, engine = await access_open(pilot), pilot.app.engine
        engine.write(UpdateShareLink(**screen.session.path, share_link_id="none", name="Nothing"))
        await until(pilot, holds=lambda: engine.status.refused == 1)
        await pilot.press("a")
        await paste(pilot, "/held", "enter")
        await until(pilot, shows="/held redirects to")
        await paste(pilot, "https://example.org/held", "enter")
        await until(pilot, shows="pending behind a failed change, see the outbox")


CSV = '\ufeffsource,destination\n/one,/guides/customs\n"/two","https://example.org/a,b"\n/three,/one\n'
"""A table with a byte order mark, a quoted comma, and a redirect to another redirect."""


@pytest.mark.slow
async def test_redirects_are_added_imported_and_deleted(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    site = await live_site(client)
    table = tmp_path / "new.csv"
    async with running(app_on(service, tmp_path), (140, 40)) as pilot:
        screen = await access_open(pilot)
        assert screen.session.paths is not None
        page = next(target for target in screen.session.paths.targets if target.path.count("/") > 1)
        table.write_text(CSV.replace("/guides/customs", page.path), encoding="utf-8")

        await pilot.press("a")
        await paste(pilot, "old page", "enter")
        await until(pilot, shows="a path such as /old/page")
        await paste(pilot, "/old", "enter")
        await until(pilot, shows="/old redirects to")
        await paste(pilot, page.path, "enter")
        await until(pilot, shows="1 redirect")
        made = (await comes(pilot, lambda: redirects(client, site)))["/old"]
        assert made.destination.page_id == page.destination.page_id
        answer = await visited(service, f"{service.base_url}/docs/{site.basename or site.id}/old")
        assert answer.status_code == 307
        assert answer.headers["location"].endswith(page.path)

        await pilot.press(".", "i")
        await until(pilot, shows="Import redirects from a CSV file")
        await paste(pilot, str(table), "enter")
        await until(pilot, shows="3 new, 0 changed, 0 unchanged.")
        await until(pilot, shows="1 chain shortened")
        await pilot.press("y")
        await until(pilot, shows="4 redirects", holds=lambda: len(screen.session.redirects.value or ()) == 4)
        found = await redirects(client, site)
        assert found["/three"].destination == found["/one"].destination
        assert found["/two"].destination.url == "https://example.org/a,b"

        await pilot.press("/")
        await paste(pilot, "example.org", "enter")
        await until(pilot, holds=lambda: screen.lists.tab.count == 1)
        await pilot.press("escape", "g", "g", "space", "space", "A")
        await until(pilot, shows="2 marked")
        await pick(pilot, "Delete them")
        await until(pilot, shows="Delete 2 redirects?")
        await pilot.press("y")
        await comes(pilot, lambda: sources(client, site, {"/three", "/two"}))
        await until(pilot, shows="2 redirects changed")
        await pilot.press("z")
        await until(pilot, shows="Adds the redirect /o")
        await pilot.press("y")
        await until(pilot, shows="undone", holds=lambda: len(screen.session.redirects.value or ()) == 3)


@pytest.mark.slow
async def test_share_links_and_the_key_of_visitors(service: RunningService, client: Client, tmp_path: Path) -> None:
    made = next(one for one in (await client.send(ListSites(organization_id=ORG))).items if not one.published)
    path = {"organization_id": ORG, "site_id": made.id}
    await client.send(UpdateSite(**path, visibility="share-link"))
    await client.send(PublishSite(**path))

    async def links() -> list[Any]:
        return list((await client.send(ListShareLinks(**path))).items)

    async with running(app_on(service, tmp_path), (140, 40)) as pilot:
        copied: list[str] = []
        await sites_open(pilot)
        pilot.app.screen.go_to(Place.site(made.id))
        await until(pilot, holds=lambda: pilot.app.screen.current.id == made.id)
        await pilot.press("g", "v", "2")
        await until(pilot, shows="No share links yet.")
        await pilot.press("a")
        await paste(pilot, "partners", "enter")
        await until(pilot, shows="secret: y copies it")
        [link] = await links()
        assert link.name == "partners"
        secret = link.urls.published
        pilot.app.copy_to_clipboard = copied.append  # instead of the clipboard of the terminal
        await pilot.press("y")
        await until(pilot, shows="copied the address of partners")
        assert copied == [secret]
        assert secret not in shown(pilot.app)
        await pilot.press("E")
        await pick(pilot, "Name")
        await paste(pilot, "partners!", "enter")
        await until(pilot, shows="partners!")
        await pilot.press("E")
        await pick(pilot, "Turn off")
        await until(pilot, shows="○ off")
        await until(pilot, shows="the link is off")
        assert await comes(pilot, lambda: is_off(links))
        assert (await visited(service, secret)).status_code == 404
        await pilot.press("-")
        await until(pilot, shows="Revoke partners!?")
        await pilot.press("y")
        await until(pilot, shows="No share links yet.")
        assert await comes(pilot, lambda: is_gone(links)), "shown at once, then sent"

        before = (await client.send(GetPublishingAuth(**path))).private_key
        await pilot.press("3")
        await until(pilot, shows="custom: your own server signs visitors in")
        await pilot.press(".", "k")
        await until(pilot, shows=f"type: {made.title}")
        await paste(pilot, made.title, "enter")
        await until(pilot, shows="the key is replaced")
        now = (await client.send(GetPublishingAuth(**path))).private_key
        assert now != before
        await pilot.press("y")
        await until(pilot, shows="copied the key")
        assert copied[-1] == now
        assert now not in shown(pilot.app)
        await pilot.press("q")
        await until(pilot, shows=made.title, holds=lambda: isinstance(pilot.app.screen, PublishScreen))
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert files and not [file for file in files if now.encode() in file.read_bytes()], "the key is not cached"


async def is_off(links: Callable[[], Awaitable[list[Any]]]) -> bool:
    return not (await links())[0].active
