"""The findings of a site in the app: what enter opens, and changes of their status."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, running, until
from tests.tui.change_request_factory import begun
from tests.tui.keyboard import burst
from tests.tui.site_access import ORG, comes, sites_open

from presscheck.api.change_requests import MergeChangeRequest
from presscheck.api.site_findings import ListSiteFindings
from presscheck.api.sites import ListSites
from presscheck.client.client import Client
from presscheck.tui.screens.browse.screen import BrowseScreen
from presscheck.tui.screens.review.screen import ReviewScreen
from presscheck.tui.screens.sites.findings import SiteFindingsScreen

PAGES = [
    "Guides: Clean addresses: no description for search engines",
    "Guides: Many parcels at once: no description for search engines",
    "Guides: Pick-up and drop-off: no description for search engines",
]


async def findings_open(pilot: Any) -> SiteFindingsScreen:
    await sites_open(pilot)
    await pilot.press("g", "n")
    await until(pilot, shows="› Findings", holds=lambda: isinstance(pilot.app.screen, SiteFindingsScreen))
    screen: SiteFindingsScreen = pilot.app.screen
    return screen


async def on_finding(pilot: Any, screen: SiteFindingsScreen, title: str) -> None:
    """Move the cursor to a finding of the visible tab."""
    await until(pilot, holds=lambda: screen.lists.tab.count > 0)
    titles = [finding.title for finding in screen.lists.tab.items]
    screen.lists.tab.rows.move_to(next(at for at, one in enumerate(titles) if title in one))
    await until(pilot, holds=lambda: title in getattr(screen.lists.tab.current, "title", ""))


async def statuses(client: Client) -> dict[str, str]:
    """Return the status of each finding of the live site, by title."""
    sites = (await client.send(ListSites(organization_id=ORG))).items
    live = next(site for site in sites if site.published)
    found = await client.send(ListSiteFindings(organization_id=ORG, site_id=live.id, limit=1000))
    return {finding.title: finding.status for finding in found.items}


@pytest.mark.slow
async def test_enter_opens_the_page_or_the_change_request_and_statuses_are_set_and_undone(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    await begun(service, "Late", "A page.\n")
    await client.send(MergeChangeRequest(**(await begun(service, "Early", "A page.\n", title="First")).at))
    async with running(app_on(service, tmp_path), (140, 40)) as pilot:
        screen = await findings_open(pilot)
        await on_finding(pilot, screen, PAGES[0])
        await pilot.press("enter")
        await until(pilot, shows="› Clean addresses", holds=lambda: isinstance(pilot.app.screen, BrowseScreen))
        screen = await findings_open(pilot)
        await on_finding(pilot, screen, "Late: is outdated")
        await pilot.press("enter")
        await until(pilot, shows="Late", holds=lambda: isinstance(pilot.app.screen, ReviewScreen))
        screen = await findings_open(pilot)
        before = await statuses(client)
        await on_finding(pilot, screen, PAGES[0])
        burst(pilot, "x", "j", "x")
        await comes(pilot, lambda: _all_are(client, "done", PAGES[0], PAGES[2]))
        assert (await statuses(client))[PAGES[1]] == "open", "the row above moved away, as with slow keys"
        await until(pilot, shows="2 Done 2")
        await pilot.press("z")
        await until(pilot, shows="Reopens it")
        await pilot.press("y")
        await comes(pilot, lambda: _all_are(client, "open", PAGES[2]))
        await pilot.press("2", "x")
        await until(pilot, shows="2 Done 0")
        assert await statuses(client) == before


async def _all_are(client: Client, status: str, *titles: str) -> bool:
    found = await statuses(client)
    return all(found[title] == status for title in titles)
