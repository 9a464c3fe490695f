"""The style guide of a site in the app: created from a template, and opened in Browse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, running, until
from tests.tui.keyboard import burst
from tests.tui.site_access import ORG, comes, sites_open

from presscheck.api.style_guides import ListStyleGuides
from presscheck.client.client import Client
from presscheck.tui.screens.browse.screen import BrowseScreen

GUIDE = "› Style guide of Tallowick Docs"


async def guides(client: Client) -> list[str]:
    """Return the titles of the sites of all style guides."""
    found = (await client.send(ListStyleGuides(organization_id=ORG))).styleguides
    return [site.title for guide in found for site in guide.sites]


async def in_browse(pilot: Any, text: str) -> None:
    await until(pilot, shows=GUIDE, holds=lambda: isinstance(pilot.app.screen, BrowseScreen))
    await until(pilot, shows=text)


@pytest.mark.slow
async def test_a_site_gets_a_style_guide_once_and_then_it_is_opened(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path), (80, 24)) as pilot:
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
