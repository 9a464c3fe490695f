"""The style guide of a site in the app: created from a template, opened in Browse, or the reason why not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService, running_service
from tests.service_users import token_of
from tests.tui.app_driver import app_on, noon, running, until
from tests.tui.keyboard import burst
from tests.tui.site_access import ORG, comes, sites_open

from presscheck.api.sites import ListSites, Site
from presscheck.api.style_guides import CreateStyleGuide, ListStyleGuides
from presscheck.client.client import Client
from presscheck.tui.screens.browse.screen import BrowseScreen

GUIDE = "› Style guide of Tallowick Docs"


async def live(client: Client) -> Site:
    return next(site for site in (await client.send(ListSites(organization_id=ORG))).items if site.published)


async def guides(client: Client) -> list[str]:
    """The sites of each style guide."""
    found = (await client.send(ListStyleGuides(organization_id=ORG))).styleguides
    return [site.title for guide in found for site in guide.sites]


async def in_browse(pilot: Any, text: str) -> None:
    await until(pilot, shows=GUIDE, holds=lambda: isinstance(pilot.app.screen, BrowseScreen))
    await until(pilot, shows=text)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_a_site_gets_a_style_guide_once_and_then_it_is_opened(
    service: RunningService, client: Client, tmp_path: Path, size: tuple[int, int]
) -> None:
    async with running(app_on(service, tmp_path), size) as pilot:
        await sites_open(pilot)
        await pilot.press("g", "k")
        await until(pilot, shows="New style guide of Tallowick Docs")
        await pilot.press("escape")
        await pilot.pause(0.1)
        assert await guides(client) == []
        burst(pilot, "g", "k", "down", "enter")
        await in_browse(pilot, "Reference")
        assert await guides(client) == ["Tallowick Docs"]
        await sites_open(pilot)
        await comes(pilot, lambda: _knows_guide(pilot))
        await pilot.press("g", "k")
        await in_browse(pilot, "Reference")


async def _knows_guide(pilot: Any) -> bool:
    return any(site.styleguide for site in pilot.app.screen.session.sites.items)


@pytest.mark.slow
async def test_a_style_guide_can_begin_with_an_empty_page(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await sites_open(pilot)
        await pilot.press("g", "k")
        await until(pilot, shows="Without a template")
        await pilot.press("down", "down", "enter")
        await in_browse(pilot, "  Style guide ")
        assert await guides(client) == ["Tallowick Docs"]


@pytest.mark.slow
async def test_without_a_style_guide_the_message_has_the_reason_why_none_is_created(tmp_path: Path) -> None:
    (tmp_path / "service").mkdir()
    with running_service(tmp_path / "service", sample=True, clock=noon) as service:
        async with running(app_on(service, tmp_path / "reader", read_only=True)) as pilot:
            await sites_open(pilot)
            await pilot.press("g", "k")
            await until(pilot, shows="this profile is read-only")
        async with running(app_on(service, tmp_path / "ada", token=token_of(service, "ada"))) as pilot:
            await sites_open(pilot)
            await pilot.press("g", "k")
            await until(pilot, shows="you need the role create in the organization")
        async with running(app_on(service, tmp_path / "robin")) as pilot:
            await sites_open(pilot)
            service.stop()
            await until(pilot, shows="offline")
            await pilot.press("g", "k")
            await until(pilot, shows="you are offline, and this cannot be queued")


@pytest.mark.slow
async def test_a_read_only_profile_opens_a_style_guide(service: RunningService, client: Client, tmp_path: Path) -> None:
    await client.send(CreateStyleGuide(organization_id=ORG, site_id=(await live(client)).id, template="plain"))
    async with running(app_on(service, tmp_path, read_only=True)) as pilot:
        await sites_open(pilot)
        await pilot.press("g", "k")
        await in_browse(pilot, "Plain language")


@pytest.mark.slow
async def test_a_service_without_style_guides_gives_this_reason(tmp_path: Path) -> None:
    (tmp_path / "service").mkdir()
    with running_service(tmp_path / "service", sample=True, clock=noon, release="document") as service:
        async with running(app_on(service, tmp_path, user="robin")) as pilot:
            await sites_open(pilot)
            await pilot.press("g", "k")
            await until(pilot, shows="his service has no style guides")
