"""The checks of a site in the publish screen: where enter leads, and when they are made again."""

import re
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, running, shown, until
from tests.tui.change_request_factory import begun
from tests.tui.site_checks import ORG, on_site

from presscheck.api.change_requests import MergeChangeRequest
from presscheck.api.operation import Operation
from presscheck.api.site_settings import CreateRedirect, DeleteRedirect, ListRedirects, RedirectDestination
from presscheck.api.site_structure import GetSiteStructure, SiteSection, UpdateSection
from presscheck.api.sites import CreateSite, ListSites, PublishSite, Site
from presscheck.client.client import Client
from presscheck.documents.sites.content import key_of
from presscheck.errors import Forbidden
from presscheck.service.db.engine import Database
from presscheck.service.models.sites import SiteRow
from presscheck.tui.screens.browse.screen import BrowseScreen
from presscheck.tui.screens.sites.access.screen import SiteAccessScreen


async def live_site(client: Client) -> Site:
    page = await client.send(ListSites(organization_id=ORG))
    return next(site for site in page.items if site.published)


async def follow(pilot: Any, text: str) -> None:
    """Press enter on the finding with a text."""
    await pilot.press("W")
    await until(pilot, shows=text)
    await pilot.press("/", *text, "enter")
    await until(pilot, holds=lambda: any("▌" in line and text in line for line in shown(pilot.app).split("\n")))
    await pilot.press("enter")


async def redirected(client: Client, site: Site, *ways: tuple[str, str]) -> dict[str, str]:
    """Redirects to other paths of a site; returns their ids by path."""
    made: dict[str, str] = {}
    for source, to in ways:
        target = RedirectDestination(kind="external", url=f"{str(site.urls.published).rstrip('/')}{to}")
        call = CreateRedirect(organization_id=ORG, site_id=site.id, source=source, destination=target)
        made[source] = (await client.send(call)).id
    return made


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_enter_leads_to_the_redirect_and_to_the_section(
    service: RunningService, client: Client, tmp_path: Path, size: tuple[int, int]
) -> None:
    site = await live_site(client)
    await redirected(client, site, ("/a", "/guides"), ("/m", "/n"), ("/n", "/m"))
    at: Any = {"organization_id": ORG, "site_id": site.id}
    items = (await client.send(GetSiteStructure(**at))).structure
    section = [item for item in items if isinstance(item, SiteSection)][1]
    await client.send(UpdateSection(**at, site_section_id=section.id, condition="visitor.claims.plam"))
    async with running(app_on(service, tmp_path), size) as pilot:
        screen = await on_site(pilot, site)
        await follow(pilot, "Redirect /n")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, SiteAccessScreen))
        access: Any = pilot.app.screen
        await until(pilot, holds=lambda: access.redirects.current and access.redirects.current.source == "/n")
        await pilot.press("q")
        await until(pilot, holds=lambda: pilot.app.screen is screen)
        await follow(pilot, section.title)
        await until(pilot, holds=lambda: pilot.app.screen is screen and screen.session.tree.has_focus)
        await until(pilot, holds=lambda: screen.session.tree.key == key_of(section))


@pytest.mark.slow
async def test_enter_leads_to_the_line(service: RunningService, client: Client, tmp_path: Path) -> None:
    site = await live_site(client)
    long = "\n\n".join(f"Paragraph {number}." for number in range(1, 61))
    marked = f"{long}\n\n<<<<<<< change request\nOurs\n=======\nTheirs\n>>>>>>> live\n"
    texts = {
        "Marked": (marked, "unresolved conflict markers", "onflict"),
        "Drawn": (f"{long}\n\nHere: ![](a.png) it is drawn.\n\n{long}\n", "1 image without", "it is drawn"),
        "Specified": (f'{long}\n\n{{% openapi src="nix" path="/a" method="get" %}}\nnix\n', "the OpenAPI block", "nix"),
    }
    for title, (text, _, _) in texts.items():
        page = await begun(service, f"Add {title}", text, title=title)
        await client.send(MergeChangeRequest(**page.at))
    async with running(app_on(service, tmp_path)) as pilot:
        screen = await on_site(pilot, site)
        for title, (_, finding, words) in texts.items():
            await follow(pilot, finding)
            await until(pilot, holds=lambda: isinstance(pilot.app.screen, BrowseScreen))
            view = pilot.app.screen.page_view
            await until(
                pilot, holds=lambda title=title: (item := pilot.app.screen.item) is not None and item.title == title
            )
            await until(pilot, holds=lambda view=view: view.cursor > 60)
            assert words in view.source_at_cursor()[0]
            assert view.cursor in view.visible_range
            await pilot.press("g", "p")
            await until(pilot, holds=lambda: pilot.app.screen is screen)


@pytest.mark.slow
async def test_enter_checks_again_what_could_not_be_checked(
    service: RunningService, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = await live_site(client)
    await redirected(client, site, ("/m", "/n"), ("/n", "/m"))
    async with running(app_on(service, tmp_path), (160, 40)) as pilot:
        engine, refused = pilot.app.engine, True
        read = engine.read

        async def refuses(call: Operation[Any], **options: Any) -> Any:
            if refused and isinstance(call, ListRedirects):
                raise Forbidden("a role is missing", request=str(call), status=403)
            return await read(call, **options)

        monkeypatch.setattr(engine, "read", refuses)
        await on_site(pilot, site)
        await follow(pilot, "not checked:")
        await until(pilot, shows=f"{site.title}: still not checked: a role is missing")
        assert "Not checked" in shown(pilot.app), "the list stays open"
        assert "Redirect /m" not in shown(pilot.app)
        refused = False
        await pilot.press("enter")
        await until(pilot, shows=f"{site.title}: checked now, 2 errors")
        assert "Not checked" not in shown(pilot.app)
        assert "Redirect /m" in shown(pilot.app)


async def test_enter_on_a_hostname_tells_where_it_is_changed_and_on_a_proxy_asks_for_it(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    site = await live_site(client)
    database = Database(service.database_url)
    wrong = {"hostname": "docs_example.com", "proxy": {"origin": "-example.com/docs"}}
    database.write(lambda session: session.execute(update(SiteRow).where(SiteRow.id == site.id).values(wrong)))
    database.close()
    async with running(app_on(service, tmp_path), (160, 40)) as pilot:
        screen = await on_site(pilot, site)
        await follow(pilot, ": hostname")
        await until(pilot, shows=f"the API has no call for the hostname: change it in the web app: {site.urls.app}")
        await follow(pilot, ": proxy")
        await until(pilot, shows=f"Proxy of {site.title}")
        await pilot.press(*["backspace"] * len("-example.com/docs"), *"example.com/docs", "enter")
        await until(pilot, holds=lambda: screen.current.proxy and screen.current.proxy.origin == "example.com/docs")
    [now] = [one for one in (await client.send(ListSites(organization_id=ORG))).items if one.id == site.id]
    assert now.proxy
    assert now.proxy.origin == "example.com/docs"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("visibility", "text", "tab"),
    [
        ("share-link", "no link is active", "share_links"),
        ("visitor-auth", "no address for", "sign_in"),
    ],
)
async def test_enter_leads_to_share_links_and_to_the_sign_in(
    service: RunningService, client: Client, tmp_path: Path, visibility: Any, text: str, tab: str
) -> None:
    site = await client.send(CreateSite(organization_id=ORG, title="New", visibility=visibility, spaces=("guides",)))
    async with running(app_on(service, tmp_path)) as pilot:
        await on_site(pilot, site)
        await follow(pilot, text)
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, SiteAccessScreen))
        access: Any = pilot.app.screen
        await until(pilot, holds=lambda: access.lists.tab is getattr(access, tab))


@pytest.mark.slow
async def test_checks_are_made_again_when_the_structure_changes_and_after_another_screen(
    service: RunningService, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("presscheck.tui.screens.publish.screen.AFTER_A_SCREEN", 0.0)
    made = await client.send(CreateSite(organization_id=ORG, title="One space", spaces=("runbook",)))
    site = await client.send(PublishSite(organization_id=ORG, site_id=made.id))
    assert isinstance(site, Site)
    loop = await redirected(client, site, ("/a", "/b"), ("/b", "/a"))
    async with running(app_on(service, tmp_path)) as pilot:
        screen = await on_site(pilot, site)
        await until(pilot, shows="✗ 2 errors, ")
        await pilot.press("g", "v")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, SiteAccessScreen))
        await client.send(DeleteRedirect(organization_id=ORG, site_id=site.id, site_redirect_id=loop["/b"]))
        await pilot.press("q")
        await until(pilot, holds=lambda: re.search(r"[·!] \d+ (note|warning)", shown(pilot.app)))
        assert "error" not in shown(pilot.app)
        await pilot.press("tab")
        await until(pilot, holds=lambda: screen.session.tree.has_focus)
        await pilot.press("-")
        await until(pilot, shows="Remove the space Runbook?")
        await pilot.press("y")
        await until(pilot, shows="✗ 1 error")
