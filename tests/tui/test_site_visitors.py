"""Settings of a site, changed by keys, as visitors see them over HTTP and in a browser."""

import asyncio
import os
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
from tests.running_service import RunningService
from tests.service.browser import browse
from tests.tui.app_driver import app_on, pick, running, shown, until
from tests.tui.site_access import access_open, comes, paste

from presscheck.api.sites import GetSite, ListSites, Site
from presscheck.client.client import Client
from presscheck.tui.places import Place
from presscheck.tui.screens.publish.screen import PublishScreen

pytestmark = pytest.mark.needs("chromium")
ORG = "tallowick"
MANY = min(10_000, 40 * int(os.environ.get("PRESSCHECK_CASES", "1")))
"""Number of imported redirects. `PRESSCHECK_CASES=250` sets 10,000, the maximum of one table."""
SECONDS = 20 + 0.1 * MANY
"""Time limit of the import."""


async def a_site(client: Client, *, published: bool) -> tuple[Site, dict[str, Any]]:
    """Return a site of the sample, and the ids for calls about it."""
    found = (await client.send(ListSites(organization_id=ORG))).items
    site = next(site for site in found if site.published is published)
    return site, {"organization_id": ORG, "site_id": site.id}


async def on_site(pilot: Any, site: Site) -> None:
    """Open the publish screen and move the cursor to a site."""
    await until(pilot, shows="live")
    await pilot.press("g", "p")
    await until(pilot, shows="● live", holds=lambda: isinstance(pilot.app.screen, PublishScreen))
    pilot.app.screen.go_to(Place.site(site.id))
    await until(pilot, holds=lambda: pilot.app.screen.current.id == site.id)


async def set_visibility(pilot: Any, visibility: str) -> None:
    await pilot.press("E")
    await pick(pilot, "Visibility")
    await pick(pilot, visibility)
    await until(pilot, shows=f"Change the visibility to {visibility}?")
    await pilot.press("y")
    await until(pilot, holds=lambda: pilot.app.screen.current.visibility == visibility)
    await until(pilot, holds=lambda: not pilot.app.engine.waiting())


async def visit(address: str, **given: Any) -> httpx.Response:
    """Return the response to a visitor without an account. Redirects are not followed."""
    async with httpx.AsyncClient() as visitor:
        return await visitor.get(address, **given)


async def seen(tmp_path: Path, address: str) -> str:
    """Return the HTML that a browser has at an address, after all redirects."""
    return await asyncio.to_thread(browse, tmp_path / "browser", address, "--dump-dom")


def address_here(service: RunningService, site: Site) -> str:
    """Return the address at which this machine serves a site that has its own host name."""
    return f"{service.base_url}/docs/{site.basename or site.id}/"


@pytest.mark.slow
async def test_each_visibility_admits_only_its_visitors(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    site, path = await a_site(client, published=False)
    docs, _ = await a_site(client, published=True)
    sign_in = address_here(service, docs)
    async with running(app_on(service, tmp_path), (140, 40)) as pilot:
        copied: list[str] = []
        pilot.app.copy_to_clipboard = copied.append  # type: ignore[method-assign]
        await on_site(pilot, site)
        await pilot.press("P")
        await until(pilot, shows="y  n")
        await pilot.press("y")
        await pick(pilot, "Publish without")
        await until(pilot, shows="The site is live, but has no active share link")
        await pilot.press("q")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, PublishScreen))
        await until(pilot, holds=lambda: pilot.app.screen.current.published)

        # public and unlisted admit anyone; search engines may index only public sites
        await set_visibility(pilot, "public")
        address = str((await client.send(GetSite(**path))).urls.published)
        page = await visit(address)
        assert (page.status_code, "x-robots-tag" in page.headers) == (200, False)
        first = page.text.partition("<title>")[2].partition("<")[0]
        assert site.title in first
        assert first in await seen(tmp_path, address)
        await set_visibility(pilot, "unlisted")
        page = await visit(address)
        assert (page.status_code, page.headers["x-robots-tag"]) == (200, "noindex")

        # share-link admits only visitors with an active link; its key is never on the screen
        await set_visibility(pilot, "share-link")
        assert (await visit(address)).status_code == 404
        own = str((await client.send(GetSite(**path))).urls.published)
        key = own.rstrip("/").rpartition("/")[2]
        assert (await visit(own)).status_code == 200
        await until(pilot, shows=f"/docs/{site.basename or site.id}/…")
        assert key not in shown(pilot.app)
        await pilot.press("y")
        await until(pilot, holds=lambda: copied[-1:] == [own])
        await pilot.press("g", "v", "2")
        await until(pilot, shows="No share links yet.")
        await pilot.press("a")
        await paste(pilot, "partners", "enter")
        await until(pilot, shows="secret: y copies it")
        await pilot.press("y")
        await until(pilot, shows="copied the address of partners")
        link = copied[-1]
        assert (await visit(link)).status_code == 200
        await pilot.press("-")
        await until(pilot, shows="Revoke partners?")
        await pilot.press("y")
        await until(pilot, shows="No share links yet.", holds=lambda: not pilot.app.engine.waiting())
        assert (await visit(link)).status_code == 404

        # visitor-auth admits only visitors with a token that the current key has signed
        await pilot.press("q")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, PublishScreen))
        await set_visibility(pilot, "visitor-auth")
        assert [(await visit(one)).status_code for one in (address, own)] == [401, 401]
        await pilot.press("g", "v", "3")
        await until(pilot, shows="custom: your own server signs visitors in")
        await pilot.press("j", "E")
        await paste(pilot, sign_in, "enter")
        await until(pilot, shows=sign_in, holds=lambda: not pilot.app.engine.waiting())
        away = await comes(pilot, lambda: redirected(address))
        assert away == f"{sign_in}?location=%2F"
        await pilot.press("y")
        await until(pilot, shows="copied the key")
        token = jwt.encode({"plan": "pro"}, copied[-1], "HS256")
        assert (await visit(address, params={"jwt_token": token})).status_code == 303
        assert first in await seen(tmp_path, f"{address}?jwt_token={token}")
        await pilot.press(".", "k")
        await until(pilot, shows=f"type: {site.title}")
        await paste(pilot, site.title, "enter")
        await until(pilot, shows="the key is replaced", holds=lambda: not pilot.app.engine.waiting())
        assert (await visit(address, params={"jwt_token": token})).status_code == 401
        await pilot.press("y")
        await until(pilot, holds=lambda: len(set(copied[-2:])) == 2)
        token = jwt.encode({}, copied[-1], "HS256")
        assert (await visit(address, params={"jwt_token": token})).status_code == 303

        # an unpublished site admits no one
        await pilot.press("q")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, PublishScreen))
        await pilot.press("P")
        await until(pilot, shows=f"type: {site.title}")
        await pilot.press(*site.title, "enter")
        await until(pilot, shows="Unpublished, and its address no longer answers")
        assert (await visit(address, params={"jwt_token": token})).status_code == 404


async def redirected(address: str) -> str | None:
    return (await visit(address)).headers.get("location")


@pytest.mark.slow
@pytest.mark.timeout(SECONDS + 100)
async def test_many_imported_redirects_are_sent_and_redirect_visitors(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    docs, _ = await a_site(client, published=True)
    root = address_here(service, docs).rstrip("/")
    table = tmp_path / "many.csv"
    async with running(app_on(service, tmp_path), (120, 40)) as pilot:
        screen = await access_open(pilot)
        assert screen.session.paths is not None
        pages = [target.path for target in screen.session.paths.targets if target.path.count("/") > 1]
        ways = {f"/old/{number}": pages[number % len(pages)] for number in range(MANY)}
        table.write_text("source,destination\n" + "\n".join(f"{one},{to}" for one, to in ways.items()))
        await pilot.press(".", "i")
        await paste(pilot, str(table), "enter")
        await until(pilot, shows=f"{MANY:,} new, 0 changed, 0 unchanged.")
        await pilot.press("y")
        async with asyncio.timeout(SECONDS):
            while f"many.csv: {MANY:,} sent" not in shown(pilot.app):
                await pilot.pause(0.1)
        await until(pilot, holds=lambda: len(screen.session.redirects.value or ()) == MANY)
        assert not pilot.app.engine.waiting()
    for source, page in list(ways.items())[:: MANY // 20]:
        answer = await visit(f"{root}{source}")
        address = f"{root}{page}"
        # the first page of a space redirects to a shorter address
        own = (await visit(address)).headers.get("location", address)
        assert answer.status_code // 100 == 3 and answer.headers["location"] in (address, own), source
    assert (await visit(f"{root}/old/{MANY}")).status_code == 404
