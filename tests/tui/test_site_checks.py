"""The checks of a site in the publish screen: what enter opens, and when the checks run again."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, running, shown, until
from tests.tui.site_checks import ORG, on_site

from presscheck.api.operation import Operation
from presscheck.api.site_settings import CreateRedirect, DeleteRedirect, ListRedirects, RedirectDestination
from presscheck.api.site_structure import GetSiteStructure, SiteSection, UpdateSection
from presscheck.api.sites import ListSites, Site
from presscheck.client.client import Client
from presscheck.documents.sites.content import key_of
from presscheck.errors import Forbidden
from presscheck.service.db.engine import Database
from presscheck.service.models.sites import SiteRow
from presscheck.text.styled_text import plain
from presscheck.tui.screens.sites.access.screen import SiteAccessScreen


async def live_site(client: Client) -> Site:
    page = await client.send(ListSites(organization_id=ORG))
    return next(site for site in page.items if site.published)


async def follow(pilot: Any, text: str) -> None:
    """Press enter on the finding that contains a text."""
    await pilot.press("W")
    await until(pilot, shows=text)
    await pilot.press("/", *text, "enter")
    await until(pilot, holds=lambda: any("▌" in line and text in line for line in shown(pilot.app).split("\n")))
    await pilot.press("enter")


async def redirected(client: Client, site: Site, *ways: tuple[str, str]) -> dict[str, str]:
    """Create redirects to other paths of a site. Returns their ids by source path."""
    made: dict[str, str] = {}
    for source, to in ways:
        target = RedirectDestination(kind="external", url=f"{str(site.urls.published).rstrip('/')}{to}")
        call = CreateRedirect(organization_id=ORG, site_id=site.id, source=source, destination=target)
        made[source] = (await client.send(call)).id
    return made


@pytest.mark.slow
async def test_enter_opens_the_source_of_a_finding_and_the_checks_run_again(
    service: RunningService, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("presscheck.tui.screens.publish.screen.AFTER_A_SCREEN", 0.0)
    site = await live_site(client)
    loop = await redirected(client, site, ("/m", "/n"), ("/n", "/m"))
    at: Any = {"organization_id": ORG, "site_id": site.id}
    items = (await client.send(GetSiteStructure(**at))).structure
    section = [item for item in items if isinstance(item, SiteSection)][1]
    await client.send(UpdateSection(**at, site_section_id=section.id, condition="visitor.claims.plam"))
    async with running(app_on(service, tmp_path), (160, 40)) as pilot:
        engine, refused = pilot.app.engine, True
        read = engine.read

        async def refuses(call: Operation[Any], **options: Any) -> Any:
            if refused and isinstance(call, ListRedirects):
                raise Forbidden("a role is missing", request=str(call), status=403)
            return await read(call, **options)

        def summary() -> str:
            return plain(screen.checklist.summary_line(site))

        # enter on a failed check runs it again
        monkeypatch.setattr(engine, "read", refuses)
        screen = await on_site(pilot, site)
        await follow(pilot, "not checked:")
        await until(pilot, shows=f"{site.title}: still not checked: a role is missing")
        await until(pilot, shows="Not checked")  # the list stays open
        assert "Redirect /m" not in shown(pilot.app)
        refused = False
        await pilot.press("enter")
        await until(pilot, shows=f"{site.title}: checked now, 2 errors")
        assert "Not checked" not in shown(pilot.app)
        await pilot.press("q")

        # enter opens the redirect or the section; the checks run again after a change there
        await until(pilot, holds=lambda: pilot.app.screen is screen)
        await follow(pilot, "Redirect /n")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, SiteAccessScreen))
        access: Any = pilot.app.screen
        await until(pilot, holds=lambda: access.redirects.current and access.redirects.current.source == "/n")
        before = summary()
        await client.send(DeleteRedirect(**at, site_redirect_id=loop["/n"]))
        await pilot.press("q")
        await until(pilot, holds=lambda: pilot.app.screen is screen and summary() != before)
        before = summary()
        await follow(pilot, section.title)
        await until(pilot, holds=lambda: pilot.app.screen is screen and screen.session.tree.has_focus)
        await until(pilot, holds=lambda: screen.session.tree.key == key_of(section))
        await pilot.press("-")
        await until(pilot, shows=f"Remove the section {section.title}?")
        await pilot.press("y")
        await until(pilot, holds=lambda: screen.checklist.content(site) is not None and summary() != before)


@pytest.mark.slow
async def test_enter_shows_where_to_change_a_hostname_and_asks_for_a_proxy(
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
