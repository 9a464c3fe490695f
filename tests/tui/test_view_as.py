"""`w` on a site: the site as an audience sees it, compared with the published site."""

import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, pick, running, shown, until
from tests.tui.change_request_factory import begun
from tests.tui.view_as import CLAIMS, PRO, SCHEMA

from presscheck.api.change_requests import MergeChangeRequest
from presscheck.api.site_settings import UpdateAdaptiveSchema
from presscheck.api.site_structure import GetSiteStructure, SiteSection, UpdateSection
from presscheck.api.sites import AdaptiveContentChange, ListSites, UpdateSite
from presscheck.client.client import Client
from presscheck.engine.publish.audiences import Audiences
from presscheck.engine.publish.previews import preview_url
from presscheck.tui.screens.publish.screen import PublishScreen
from presscheck.tui.screens.sites.adaptive.audience_view import AudienceView

ORG = "tallowick"


async def limited_site(client: Client, *, is_on: bool = True) -> tuple[Any, SiteSection]:
    """Give the live site of the sample a schema, and its last section a condition. Returns both."""
    sites = (await client.send(ListSites(organization_id=ORG))).items
    site = next(site for site in sites if site.published)
    at = {"organization_id": ORG, "site_id": site.id}
    await client.send(UpdateAdaptiveSchema(**at, json_schema=SCHEMA))
    structure = (await client.send(GetSiteStructure(**at))).structure
    section = [item for item in structure if isinstance(item, SiteSection)][-1]
    await client.send(UpdateSection(**at, site_section_id=section.id, condition=PRO))
    await client.send(UpdateSite(**at, adaptive_content=AdaptiveContentChange(enabled=is_on)))
    return site, section


async def sites_open(pilot: Any) -> None:
    await until(pilot, shows="live")
    await pilot.press("g", "p")
    await until(pilot, shows="● live", holds=lambda: isinstance(pilot.app.screen, PublishScreen))


async def viewed(pilot: Any, audience: str) -> Any:
    """Show the site at the cursor as an audience sees it. Returns the screen once it has content."""
    await pilot.press("w")
    await pick(pilot, audience)
    await until(pilot, holds=lambda: isinstance(pilot.app.screen, AudienceView))
    screen = pilot.app.screen
    await until(pilot, holds=lambda: screen.audience.name == audience and screen.seen.places)
    return screen


def titles(screen: Any, kind: str) -> list[str]:
    return [place.title for place in screen.seen.places if place.kind == kind]


@pytest.mark.slow
async def test_an_audience_sees_the_navigation_and_the_text_of_its_visitors(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    site, section = await limited_site(client)
    paying = f"{{% IF {PRO} %}}paid"
    text = (
        f"Words. {paying} words{{% EndIf %}}\n\n{paying} block\n{{% else %}}\nother block\n{{% endif %}}\n\n"
        f"{{% if visitor.claims.missing %}}\ndoubtful\n{{% endif %}}\n"
    )
    page = await begun(service, "Plans", text, title="Plans")
    await client.send(MergeChangeRequest(**page.at))
    async with running(app_on(service, tmp_path), (120, 40)) as pilot:
        await sites_open(pilot)
        Audiences(pilot.app.engine.outbox, site.id).save("Customers", CLAIMS)
        screen = await viewed(pilot, "Everyone")
        await until(pilot, shows="As Everyone  no claims")
        assert section.title not in titles(screen, "section")
        assert "for other audiences" in shown(pilot.app)
        as_everyone = titles(screen, "section")

        await viewed(pilot, "Customers")
        await until(pilot, shows='As Customers  unsigned.plan = "pro"')
        as_customers = titles(screen, "section")
        assert set(as_customers) - set(as_everyone) == {section.title}
        assert "Not shown" not in shown(pilot.app)

        for claims, seen in ((None, as_everyone), ("(unsigned:(plan:pro))", as_customers)):
            address = await preview_url(pilot.app.engine, ORG, site.id, claims=claims)
            async with httpx.AsyncClient(follow_redirects=True) as visitor:
                answer = await visitor.get(address)
            links = re.findall(r"<a[^>]*>([^<]+)</a>", answer.text)
            assert [title for title in as_customers if title in links] == seen

        screen.tree_view.move_to_key(f"section {section.id}")
        await until(pilot, shows=f"Only visitors with {PRO}")

        # a page as these visitors see it
        key = next(place.key for place in screen.seen.places if place.page_id == page.page)
        screen.tree_view.move_to_key(key)
        await until(pilot, shows="Plans")
        await pilot.press("enter")
        await until(pilot, shows="Words.")
        said = shown(pilot.app)
        assert "As Customers" in said
        assert [words in said for words in ("paid words", "paid block", "other block")] == [True, True, False]
        assert "Shown if visitor.claims.missing" in said and "doubtful" in said
        await pilot.press("escape", "escape")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, PublishScreen))


async def test_while_adaptive_content_is_off_everybody_sees_everything(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    _, section = await limited_site(client, is_on=False)
    async with running(app_on(service, tmp_path), (120, 40)) as pilot:
        await sites_open(pilot)
        screen = await viewed(pilot, "Everyone")
        await until(pilot, shows="Adaptive content is off: everybody sees everything.")
        await until(pilot, holds=lambda: section.title in titles(screen, "section"))
