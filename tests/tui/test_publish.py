"""The publish screen on the sample workspace: every action is checked at the service."""

import threading
from pathlib import Path
from typing import Any

import pytest
from tests.engine.failing_service import answer
from tests.running_service import RunningService
from tests.stalling_proxy import holding_back
from tests.tui.app_driver import app_on, pick, running, shown, until

from presscheck.api.change_requests import (
    CreateChangeRequest,
    MergeChangeRequest,
    UpdateChangeRequest,
)
from presscheck.api.comments import Document
from presscheck.api.content_changes import EditChangeRequestContent, InsertPage
from presscheck.api.site_settings import CreateRedirect, ListShareLinks, RedirectDestination
from presscheck.api.sites import CreateSite, GetSite, ListSites, Site
from presscheck.client.client import Client
from presscheck.tui.places import Place

ORG = "tallowick"


async def sites(client: Client) -> dict[str, Site]:
    page = await client.send(ListSites(organization_id=ORG))
    return {site.title: site for site in page.items}


async def opened(pilot: Any) -> None:
    await until(pilot, shows="live")
    await pilot.press("g", "p")
    await until(pilot, shows="● live")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/sites?", "Could not load the sites: Invalid request"),
        ("/structure", "Could not load the structure: Invalid request"),
    ],
)
async def test_failed_loads_of_sites_or_a_structure_show_the_reason(
    service: RunningService, tmp_path: Path, path: str, message: str
) -> None:
    failure = answer(400, {"error": {"code": 400, "message": "not today"}})
    with holding_back(service, tmp_path, path, answer=failure) as address:
        async with running(app_on(service, tmp_path / "home", base_url=address)) as pilot:
            await until(pilot, shows="live")
            await pilot.press("g", "p")
            await until(pilot, shows=message)


async def chosen(pilot: Any, site: Site) -> None:
    """Open the publish screen and move the cursor to a site."""
    await opened(pilot)
    await pilot.app.go(Place.site(site.id))
    await until(pilot, holds=lambda: pilot.app.screen.current and pilot.app.screen.current.id == site.id)


@pytest.mark.slow
async def test_a_site_is_published_and_unpublished(service: RunningService, client: Client, tmp_path: Path) -> None:
    drafts = [site for site in (await sites(client)).values() if not site.published]
    assert len(drafts) == 1
    title = drafts[0].title
    call = GetSite(organization_id=ORG, site_id=drafts[0].id)
    async with running(app_on(service, tmp_path)) as pilot:
        await chosen(pilot, drafts[0])
        await pilot.press("P")
        await until(pilot, shows=f"Publish {title}?")
        await pilot.press("enter")
        await until(pilot, holds=lambda: f"Publish {title}?" not in shown(pilot.app))
        assert not (await client.send(call)).published, "the answer is No until Yes is chosen"
        await pilot.press("P")
        await until(pilot, shows="Visible to ")
        await until(pilot, shows="y  n")
        await until(pilot, shows="This machine has no record of an earlier publish")
        await pilot.press("y")
        await until(pilot, shows="No active share link: 1 site")
        await pilot.press("p")
        await until(pilot, shows="The site is live, but has no active share link")
        now = await client.send(call)
        assert now.published
        assert now.urls.published
        key = now.urls.published.rstrip("/").rpartition("/")[2]
        assert now.visibility == "share-link"
        assert now.urls.published.replace(key, "…") in shown(pilot.app), "the key is copied, never shown"
        await pilot.press("y")
        await until(pilot, shows="copied")
        assert pilot.app.clipboard == now.urls.published
        await pilot.press("q")
        await until(pilot, shows="● live")
        await until(pilot, holds=lambda: pilot.app.screen.current.published)
        await until(pilot, shows="published here just now · g h more")

        await has_a_broken_link(client, "runbook")
        redirect = RedirectDestination(kind="external", url="https://example.org/")
        await client.send(CreateRedirect(organization_id=ORG, site_id=now.id, source="/old", destination=redirect))
        await pilot.press("P")
        await until(pilot, shows=f"type: {title}")
        await until(pilot, shows="Live at")
        await pilot.press("enter")
        await until(pilot, holds=lambda: "type: " not in shown(pilot.app))
        assert (await client.send(call)).published
        await pilot.press("P")
        await until(pilot, shows=f"type: {title}")
        await pilot.press(*title, "enter")
        await until(pilot, shows="Unpublished, and its address no longer answers (status 404).")
        assert not (await client.send(call)).published
        await pilot.press("q")
        await until(pilot, holds=lambda: pilot.app.screen.current and not pilot.app.screen.current.published)

        await pilot.press("P")
        await until(pilot, shows=f"type: {title}")
        await until(pilot, shows="redirects: 1 added")
        text = shown(pilot.app)
        assert "Since it was published here just now:" in text
        assert "pages: 1 added" in text
        assert "+ Runbook: Nowhere" in text
        assert "redirects: 1 added" in text
        assert "structure:" not in text
        assert "customization:" not in text


async def has_a_broken_link(client: Client, space: str) -> None:
    """Merge a page with a broken link into a space."""
    await merges_a_page(client, space, "Nowhere", "See [gone](gone.md).\n")


async def merges_a_page(client: Client, space: str, title: str, text: str) -> None:
    """Merge a new page into a space."""
    made = await client.send(CreateChangeRequest(space_id=space, subject=title))
    at = {"space_id": space, "change_request_id": made.id}
    page = InsertPage(title=title, document=Document(markdown=text))
    await client.send(EditChangeRequestContent(**at, changes=(page,), compat=False))
    await client.send(UpdateChangeRequest(**at, status="open"))
    await client.send(MergeChangeRequest(**at))


@pytest.mark.slow
async def test_publishing_waits_for_the_checks(service: RunningService, client: Client, tmp_path: Path) -> None:
    site = next(site for site in (await sites(client)).values() if not site.published)
    answered = threading.Event()
    with holding_back(service, tmp_path, "/redirects", until=answered) as address:
        async with running(app_on(service, tmp_path, base_url=address)) as pilot:
            await opened(pilot)
            await pilot.app.go(Place.site(site.id))
            await until(pilot, shows="Checking …")
            await pilot.press("P")
            await until(pilot, shows="checking …")
            await pilot.press("y")
            await pilot.pause(0.1)
            assert not (await client.send(GetSite(organization_id=ORG, site_id=site.id))).published
            answered.set()
            await until(pilot, shows="y  n")
            await pilot.press("y")
            await pick(pilot, "Publish without")
            await until(pilot, shows="The site is live, but has no active share link")


@pytest.mark.slow
async def test_marked_sites_are_published_with_a_receipt_for_each(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    empty = await client.send(CreateSite(organization_id=ORG, title="Nothing in it"))
    draft = next(site for site in (await sites(client)).values() if not site.published and site.id != empty.id)
    async with running(app_on(service, tmp_path)) as pilot:
        await opened(pilot)
        await until(pilot, shows=empty.title)
        await pilot.press("A")
        await until(pilot, shows="nothing is marked")
        await pilot.press("*", "A")
        await pick(pilot, "Publish")
        await until(pilot, shows="type: 2 sites")
        await pilot.press(*"2 sites", "enter")
        await pick(pilot, "Publish without")
        await until(pilot, shows="1 failed")
        await until(pilot, shows="1 done")
        await until(pilot, shows="This site has no spaces to publish")
        now = await sites(client)
        assert (now[draft.title].published, now[empty.title].published) == (True, False)


@pytest.mark.slow
async def test_a_site_with_errors_is_published_only_after_its_title_was_typed(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    await has_a_broken_link(client, "runbook")
    site = next(site for site in (await sites(client)).values() if not site.published)
    async with running(app_on(service, tmp_path)) as pilot:
        await opened(pilot)
        await pilot.app.go(Place.site(site.id))
        await until(pilot, shows="✗ 1 error, ")
        await pilot.press("P")
        await until(pilot, shows="Runbook: Nowhere broken link: gone.md")
        await until(pilot, shows=f"type: {site.title}")
        await pilot.press("y", "enter")
        await until(pilot, holds=lambda: f"type: {site.title}" not in shown(pilot.app))
        assert not (await client.send(GetSite(organization_id=ORG, site_id=site.id))).published
        await pilot.press("P")
        await until(pilot, shows=f"type: {site.title}")
        await pilot.press(*site.title, "enter")
        await pick(pilot, "Publish, and create")
        await until(pilot, shows="The site is live, and the page answers.")
        (link,) = (await client.send(ListShareLinks(organization_id=ORG, site_id=site.id))).items
        await pilot.press("y")
        await until(pilot, shows="copied")
        assert pilot.app.clipboard == link.urls.published
