"""Snapshots of the screens of a site: access, adaptive content, what visitors get, and what its plan limits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_plans import limit_site
from tests.tui.app_driver import app_on, noon, pick, shown, until
from tests.tui.snapshot_setup import LOOK_NAMES, LOOKS, at_noon, rested
from tests.tui.test_view_as import CLAIMS, PRO, SCHEMA

from presscheck.api.site_settings import (
    CreateRedirect,
    CreateShareLink,
    ListShareLinks,
    RedirectDestination,
    UpdateAdaptiveSchema,
    UpdatePublishingAuth,
    UpdateShareLink,
)
from presscheck.api.site_structure import GetSiteStructure, SiteSection, UpdateSection
from presscheck.api.sites import AdaptiveContentChange, CreateSite, ListSites, UpdateSite
from presscheck.client.client import Client
from presscheck.engine.publish.audiences import Audiences
from presscheck.tui.screens.adaptive_content.audience_view import AudienceView

__all__ = ["at_noon"]

ORG = "tallowick"
SHARED, SIGNED = "For partners", "For customers"


async def planted(service: RunningService) -> None:
    """Give the live site redirects and adaptive content, and create a site with share links and one with sign-in."""
    async with Client(service.base_url, service.token) as client:
        sites = (await client.send(ListSites(organization_id=ORG))).items
        at = {"organization_id": ORG, "site_id": next(site.id for site in sites if site.published)}
        for source, url in (("/start", "/api"), ("/help", "/start"), ("/loop", "/loop")):
            outside = RedirectDestination(kind="external", url=f"https://docs.tallowick.example{url}")
            await client.send(CreateRedirect(**at, source=source, destination=outside))
        await client.send(UpdateAdaptiveSchema(**at, json_schema=SCHEMA))
        structure = (await client.send(GetSiteStructure(**at))).structure
        news = next(item for item in structure if isinstance(item, SiteSection) and item.title == "News")
        await client.send(UpdateSection(**at, site_section_id=news.id, condition=PRO))
        await client.send(UpdateSite(**at, adaptive_content=AdaptiveContentChange(enabled=True)))
        shared = await client.send(
            CreateSite(organization_id=ORG, title=SHARED, visibility="share-link", spaces=("guides",))
        )
        to = {"organization_id": ORG, "site_id": shared.id}
        for name in ("Printers", "Resellers"):
            await client.send(CreateShareLink(**to, name=name))
        links = (await client.send(ListShareLinks(**to))).items
        await client.send(UpdateShareLink(**to, share_link_id=links[-1].id, active=False))
        signed = await client.send(
            CreateSite(organization_id=ORG, title=SIGNED, visibility="visitor-auth", spaces=("guides",))
        )
        fallback = "https://tallowick.example/login"
        to = {"organization_id": ORG, "site_id": signed.id}
        await client.send(UpdatePublishingAuth(**to, backend="custom", fallback_url=fallback))
        limit_site(service, signed.id, "ultimate", "basic")


pytestmark = [pytest.mark.service(shared=True, clock=noon, on_a_path=True, prepare=planted)]


async def site(pilot: Any, title: str, *keys: str) -> None:
    """Put the cursor on a site, then press keys."""
    await until(pilot, shows="Needs me")
    await pilot.press("g", "p")
    await until(pilot, shows=SIGNED)
    screen = pilot.app.screen
    chosen = next(one for one in screen.sites if one.title == title)
    screen.open_site(chosen.id)
    await until(pilot, holds=lambda: screen.current.id == chosen.id)
    await until(pilot, holds=lambda: screen.checklist.content(chosen) is not None)
    Audiences(pilot.app.engine.outbox, chosen.id).save("Customers", CLAIMS)
    Audiences(pilot.app.engine.outbox, chosen.id).save("Trial", {"unsigned": {"plan": "free"}})
    await pilot.press(*keys)


async def redirects(pilot: Any) -> None:
    await site(pilot, "Tallowick Docs", "g", "v")
    await until(pilot, shows="/loop")


async def share_links(pilot: Any) -> None:
    await site(pilot, SHARED, "g", "v", "2")
    await until(pilot, shows="Resellers")


async def visitor_sign_in(pilot: Any) -> None:
    await site(pilot, SIGNED, "g", "v", "3")
    await until(pilot, shows="tallowick.example/login")


async def plan_limits(pilot: Any) -> None:
    await site(pilot, SIGNED)
    await until(pilot, shows="Frozen by the plan")


async def visitor_schema(pilot: Any) -> None:
    await site(pilot, "Tallowick Docs", "g", "c")
    await until(pilot, shows="What anybody can claim")


async def audiences(pilot: Any) -> None:
    await visitor_schema(pilot)
    await pilot.press("3")
    await until(pilot, shows="0 of 1 limited")


async def who_sees_what(pilot: Any) -> None:
    await visitor_schema(pilot)
    await pilot.press("4", "&")
    await until(pilot, shows="Customers")
    await until(pilot, shows="places")


async def view_as_menu(pilot: Any) -> None:
    await site(pilot, "Tallowick Docs", "w")
    await until(pilot, shows="Make a new one")


async def view_as(pilot: Any) -> None:
    await site(pilot, "Tallowick Docs", "w")
    await pick(pilot, "Trial")
    await until(pilot, holds=lambda: isinstance(pilot.app.screen, AudienceView) and pilot.app.screen.seen.places)


async def published_profile(pilot: Any) -> None:
    await site(pilot, "Tallowick Docs", ".", "g")
    await until(pilot, shows="What visitors get: Tallowick Docs")
    await until(pilot, holds=lambda: "reach" in shown(pilot.app) and "checking" not in shown(pilot.app))


SCREENS = [
    redirects,
    share_links,
    visitor_sign_in,
    plan_limits,
    visitor_schema,
    audiences,
    who_sees_what,
    view_as_menu,
    view_as,
    published_profile,
]


@pytest.mark.parametrize(("size", "theme"), LOOKS, ids=LOOK_NAMES)
@pytest.mark.parametrize("drive", SCREENS, ids=lambda drive: drive.__name__)
def test_it_looks_as_it_did(
    drive: Callable[[Any], Awaitable[None]],
    size: tuple[int, int],
    theme: str,
    service: RunningService,
    tmp_path: Path,
    snap_compare: Any,
) -> None:
    app = app_on(service, tmp_path, theme=theme)
    assert snap_compare(app, terminal_size=size, run_before=lambda pilot: rested(pilot, drive(pilot)))
