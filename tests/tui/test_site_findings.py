"""The findings of a site in the app: their places, their statuses, and the states of the list."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.engine.failing_service import answer
from tests.running_service import RunningService, running_service
from tests.service_users import token_of
from tests.stalling_proxy import holding_back
from tests.tui.app_driver import app_on, noon, pick, running, until
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
FAILED = answer(500, {"error": {"code": 500, "message": "The disk is full."}})


async def findings_open(pilot: Any) -> SiteFindingsScreen:
    await sites_open(pilot)
    await pilot.press("g", "n")
    await until(pilot, shows="› Findings", holds=lambda: isinstance(pilot.app.screen, SiteFindingsScreen))
    screen: SiteFindingsScreen = pilot.app.screen
    return screen


async def on_finding(pilot: Any, screen: SiteFindingsScreen, title: str) -> None:
    """Put the cursor on a finding of the visible tab."""
    await until(pilot, holds=lambda: screen.lists.tab.count > 0)
    titles = [finding.title for finding in screen.lists.tab.items]
    screen.lists.tab.rows.move_to(next(at for at, one in enumerate(titles) if title in one))
    await until(pilot, holds=lambda: title in getattr(screen.lists.tab.current, "title", ""))


async def statuses(client: Client) -> dict[str, str]:
    """The status of each finding of the live site, by title."""
    sites = (await client.send(ListSites(organization_id=ORG))).items
    live = next(site for site in sites if site.published)
    found = await client.send(ListSiteFindings(organization_id=ORG, site_id=live.id, limit=1000))
    return {finding.title: finding.status for finding in found.items}


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_enter_opens_the_page_or_the_change_request(
    service: RunningService, client: Client, tmp_path: Path, size: tuple[int, int]
) -> None:
    await begun(service, "Late", "A page.\n")
    await client.send(MergeChangeRequest(**(await begun(service, "Early", "A page.\n", title="First")).at))
    async with running(app_on(service, tmp_path), size) as pilot:
        screen = await findings_open(pilot)
        await on_finding(pilot, screen, PAGES[0])
        await pilot.press("enter")
        await until(pilot, shows="› Clean addresses", holds=lambda: isinstance(pilot.app.screen, BrowseScreen))
        screen = await findings_open(pilot)
        await on_finding(pilot, screen, "Late: is outdated")
        await pilot.press("enter")
        await until(pilot, shows="Late", holds=lambda: isinstance(pilot.app.screen, ReviewScreen))
        screen = await findings_open(pilot)
        await on_finding(pilot, screen, "open change requests, not merged")
        await pilot.press("enter")
        await until(pilot, shows="it is on no page: W among the sites")


@pytest.mark.slow
async def test_statuses_are_set_undone_and_kept_by_the_service(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path), (140, 40)) as pilot:
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
        await pilot.press("1")
        await on_finding(pilot, screen, PAGES[1])
        await pilot.press("E")
        await pick(pilot, "Ignored")
        await comes(pilot, lambda: _all_are(client, "canceled", PAGES[1]))
        await until(pilot, shows="3 Ignored 1")


async def _all_are(client: Client, status: str, *titles: str) -> bool:
    found = await statuses(client)
    return all(found[title] == status for title in titles)


@pytest.mark.slow
async def test_offline_a_status_waits_and_the_list_stays(tmp_path: Path) -> None:
    (tmp_path / "service").mkdir()
    with running_service(tmp_path / "service", sample=True, clock=noon) as service:
        async with running(app_on(service, tmp_path)) as pilot:
            screen = await findings_open(pilot)
            await on_finding(pilot, screen, PAGES[0])
            service.stop()
            await until(pilot, shows="offline")
            await pilot.press("x")
            await until(pilot, shows="mark finding as done: pending")
            await pilot.press("2")
            await until(pilot, shows=f"◷ {PAGES[0]}")
            await pilot.press("z")
            await until(pilot, shows="not sent: mark finding as done")
            await until(pilot, shows="No finding is done.")


@pytest.mark.slow
async def test_an_empty_list_shows_the_reason(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path / "ada", token=token_of(service, "ada"))) as pilot:
        await findings_open(pilot)
        await until(pilot, shows="You are not permitted to see the findings of this site.")
    with holding_back(service, tmp_path, "/findings") as address:
        async with running(app_on(service, tmp_path / "slow", base_url=address)) as pilot:
            await findings_open(pilot)
            await until(pilot, shows="Loading the findings …")
    with holding_back(service, tmp_path, "/findings", answer=FAILED) as address:
        async with running(app_on(service, tmp_path / "failing", base_url=address)) as pilot:
            await findings_open(pilot)
            await until(pilot, shows="Could not load the findings")
            await until(pilot, shows="The disk is full.")
            await pilot.press("3")
            await until(pilot, shows="Could not load the findings")


@pytest.mark.slow
async def test_findings_that_were_never_read_are_not_in_the_cache(tmp_path: Path) -> None:
    (tmp_path / "service").mkdir()
    with running_service(tmp_path / "service", sample=True, clock=noon) as service:
        async with running(app_on(service, tmp_path)) as pilot:
            await sites_open(pilot)
            service.stop()
            await until(pilot, shows="offline")
            await pilot.press("g", "n")
            await until(pilot, shows="The findings of this site are not in the cache.")


@pytest.mark.slow
async def test_a_service_without_findings_gives_this_reason(tmp_path: Path) -> None:
    (tmp_path / "service").mkdir()
    with running_service(tmp_path / "service", sample=True, clock=noon, release="document") as service:
        async with running(app_on(service, tmp_path, user="robin")) as pilot:
            await sites_open(pilot)
            await pilot.press("g", "n")
            await until(pilot, shows="his service has no findings of sites")
