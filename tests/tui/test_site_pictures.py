"""Snapshots of the screens and sheets of a site: access, customization, adaptive content, history, audiences."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_plans import limit_site
from tests.tui.app_driver import NOON, app_on, noon, pick, until
from tests.tui.site_access import paste
from tests.tui.snapshot_setup import LOOK_NAMES, LOOKS, at_noon, rested
from tests.tui.view_as import CLAIMS, PRO, SCHEMA
from textual.widgets import Input

from presscheck.api.change_requests import CreateChangeRequest, MergeChangeRequest, UpdateChangeRequest
from presscheck.api.comments import Document
from presscheck.api.content import ListPages
from presscheck.api.content_changes import EditChangeRequestContent, InsertPage, UpdatePage
from presscheck.api.site_settings import (
    CreateRedirect,
    CreateShareLink,
    GetPublishingAuth,
    ListShareLinks,
    RedirectDestination,
    UpdateAdaptiveSchema,
    UpdatePublishingAuth,
    UpdateShareLink,
)
from presscheck.api.site_structure import GetSiteStructure, SiteSection, UpdateSection
from presscheck.api.sites import AdaptiveContentChange, CreateSite, ListSites, UnpublishSite, UpdateSite
from presscheck.api.spaces import CreateSpace
from presscheck.client.client import Client
from presscheck.engine.publish.audiences import Audiences
from presscheck.engine.publish.visitor_tokens import make_token
from presscheck.engine.site_config.document import SiteConfig
from presscheck.tui.places import Place
from presscheck.tui.screens.sites.adaptive.audience_view import AudienceView
from presscheck.tui.screens.sites.adaptive.screen import AdaptiveContentScreen
from presscheck.tui.screens.sites.customization.screen import CustomizationScreen
from presscheck.tui.screens.sites.history.screen import SiteHistoryScreen

__all__ = ["at_noon"]

ORG = "tallowick"
SHARED, SIGNED = "For partners", "For customers"
DRAFT = "Inside Tallowick"
"""A site of the sample that is not published."""


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
        moved = await space_with_a_moved_page(client)
        shared = await client.send(
            CreateSite(organization_id=ORG, title=SHARED, visibility="share-link", spaces=("guides", moved))
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


async def space_with_a_moved_page(client: Client) -> str:
    """Create a space in which the path of a page has changed. Returns its id."""
    space = await client.send(CreateSpace(organization_id=ORG, title="Warehouse"))

    async def merge(*changes: Any) -> None:
        made = await client.send(CreateChangeRequest(space_id=space.id, subject="Pages"))
        at = {"space_id": space.id, "change_request_id": made.id}
        await client.send(EditChangeRequestContent(**at, changes=changes, compat=False))
        await client.send(UpdateChangeRequest(**at, status="open"))
        await client.send(MergeChangeRequest(**at))

    await merge(*(InsertPage(title=title, document=Document(markdown="A page.\n")) for title in ("Racks", "Forklifts")))
    pages = (await client.send(ListPages(space_id=space.id))).pages
    await merge(*(UpdatePage(page=page.id, slug=f"{page.path}-of-today") for page in pages if page.title == "Racks"))
    return space.id


pytestmark = [pytest.mark.service(shared=True, clock=noon, on_a_path=True, prepare=planted)]


async def site(pilot: Any, title: str, *keys: str) -> None:
    """Move the cursor to a site, save two audiences for it, and press keys."""
    await until(pilot, shows="Needs me")
    await pilot.press("g", "p")
    await until(pilot, shows=SIGNED)
    screen = pilot.app.screen
    chosen = next(one for one in screen.session.sites.items if one.title == title)
    screen.go_to(Place.site(chosen.id))
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


async def visitor_schema(pilot: Any) -> None:
    await site(pilot, "Tallowick Docs", "g", "c")
    await until(pilot, shows="What anybody can claim")


async def audiences(pilot: Any) -> None:
    await visitor_schema(pilot)
    await pilot.press("3")
    await until(pilot, shows="0 of 1 limited")


async def view_as(pilot: Any) -> None:
    await site(pilot, "Tallowick Docs", "w")
    await pick(pilot, "Trial")
    await until(pilot, holds=lambda: isinstance(pilot.app.screen, AudienceView) and pilot.app.screen.seen.places)


async def look_opened(pilot: Any, *keys: str) -> None:
    """Open the customization with unsaved edits and a field that another user changed in the meantime."""
    await site(pilot, "Tallowick Docs", "g", "y")
    await until(pilot, shows="Primary color")
    session = pilot.app.screen.session
    base = {**session.base, "styling": {**session.base["styling"], "corners": "straight"}}
    page = {"kind": "url", "url": "https://tallowick.example/status"}
    links = [
        {"title": "Products", "to": None, "links": [{"title": "Lamps", "to": page}, {"title": "Oil", "to": page}]},
        {"title": "Sign up", "to": page, "links": [], "style": "button-primary"},
    ]
    mine = {
        **base,
        "styling": {
            **base["styling"],
            "corners": "circular",
            "primaryColor": {"light": "#eeaa00", "dark": "#ffd166"},
        },
        "header": {**base["header"], "links": links},
        "footer": {
            "groups": [{"title": "Company", "links": [{"title": "Jobs", "to": page}]}],
            "copyright": "© Tallowick",
        },
        "announcement": {"enabled": True, "style": "warning", "message": "We move on Friday"},
    }
    await pilot.press("escape")
    key = f"customization of site {session.site.id}"
    pilot.app.engine.outbox.save_draft(key, json.dumps({"base": base, "mine": mine}), {"site": session.site.title})
    await pilot.press("g", "y")
    await until(
        pilot, holds=lambda: isinstance(pilot.app.screen, CustomizationScreen) and pilot.app.screen.session.base
    )
    await until(pilot, shows="somebody else changed the site in the meantime")
    await pilot.press(*keys)


async def look_colors(pilot: Any) -> None:
    await look_opened(pilot)
    await until(pilot, shows="1.9 fails")


async def color_form(pilot: Any) -> None:
    await look_opened(pilot, "enter")
    await until(pilot, shows="contrast 1.9 : 1 with the light page: fails")
    await until(pilot, holds=lambda: isinstance(pilot.app.focused, Input))


async def history_opened(pilot: Any) -> None:
    """Open the history with a snapshot of this machine from an hour ago, with other corners and depth."""
    await site(pilot, "Tallowick Docs", "g", "y")
    await until(pilot, shows="Primary color")
    session = pilot.app.screen.session
    styling = {**session.base["styling"], "corners": "straight", "depth": "flat"}
    before = SiteConfig(customization={**session.base, "styling": styling})
    kept = pilot.app.engine.site_snapshots.of(session.site.id).keep(before, "customization", "edited as a form", "Noor")
    at = NOON - timedelta(hours=1)
    head, document = kept.file.read_text().split("\n", 1)
    moved = kept.file.with_name(f"{at:%Y-%m-%dT%H%M%SZ}.snapshot")
    moved.write_text(f"{json.dumps({**json.loads(head), 'at': at.timestamp()})}\n{document}")
    kept.file.unlink()
    await pilot.press("escape", "g", "h")
    await until(pilot, holds=lambda: isinstance(pilot.app.screen, SiteHistoryScreen))
    screen = pilot.app.screen
    await until(pilot, holds=lambda: any(row.snapshot for row in screen.list.items))
    row = next(number for number, row in enumerate(screen.list.items) if row.snapshot)
    await pilot.press(*"j" * row)
    await until(pilot, holds=lambda: screen.list.current is screen.list.items[row])


async def history_changes(pilot: Any) -> None:
    await history_opened(pilot)
    await pilot.press("enter")
    await until(pilot, shows="styling.depth: flat")


async def findings(pilot: Any) -> None:
    await site(pilot, "Tallowick Docs", "g", "n")
    await until(pilot, shows="no description")


async def token_test(pilot: Any) -> None:
    await site(pilot, SIGNED, "g", "c")
    await until(pilot, holds=lambda: isinstance(pilot.app.screen, AdaptiveContentScreen))
    screen: Any = pilot.app.screen
    await until(pilot, holds=lambda: screen.session.content.value is not None)
    key = (await pilot.app.engine.read(GetPublishingAuth(**screen.session.path))).private_key
    await pilot.press(".", "j")
    await paste(pilot, make_token({**CLAIMS, "company": "Lamp Works"}, key, NOON.timestamp()), "enter")
    await until(pilot, shows="the site signed it")


SCREENS = [
    redirects,
    share_links,
    visitor_sign_in,
    look_colors,
    color_form,
    visitor_schema,
    audiences,
    view_as,
    history_changes,
]

SMALL = [
    findings,
    token_test,
]
"""Screens similar to those above, so one size and theme is enough."""


@pytest.mark.parametrize("drive", SMALL, ids=lambda drive: drive.__name__)
def test_it_looks_in_small_as_it_did(
    drive: Callable[[Any], Awaitable[None]],
    service: RunningService,
    tmp_path: Path,
    snap_compare: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    app = app_on(service, tmp_path, theme="paper")
    try:
        assert snap_compare(app, terminal_size=(80, 24), run_before=lambda pilot: rested(pilot, drive(pilot)))
    finally:
        asyncio.run(unpublished(service, DRAFT))  # the other pictures show it as a draft


async def unpublished(service: RunningService, title: str) -> None:
    """Unpublish a site, if it is live."""
    async with Client(service.base_url, service.token) as client:
        for one in (await client.send(ListSites(organization_id=ORG))).items:
            if one.title == title and one.published:
                await client.send(UnpublishSite(organization_id=ORG, site_id=one.id))


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
