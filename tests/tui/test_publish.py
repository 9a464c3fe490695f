"""The publish screen on the sample workspace: every action is checked at the service."""

import re
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.engine.failing_service import answer
from tests.running_service import RunningService
from tests.service_plans import limit_site
from tests.service_users import page_of
from tests.stalling_proxy import holding_back
from tests.tui.app_driver import app_on, pick, running, shown, until

from presscheck.api.change_requests import (
    CreateChangeRequest,
    ListChangeRequests,
    MergeChangeRequest,
    UpdateChangeRequest,
)
from presscheck.api.comments import Document
from presscheck.api.content_changes import EditChangeRequestContent, InsertPage
from presscheck.api.site_settings import CreateRedirect, CreateShareLink, ListShareLinks, RedirectDestination
from presscheck.api.site_structure import GetSiteStructure
from presscheck.api.sites import CreateSite, GetSite, ListSites, PublishSite, Site
from presscheck.api.spaces import GetSpace, Space
from presscheck.client.client import Client
from presscheck.engine.publish.site_structure import site_spaces
from presscheck.tui.places import Place
from presscheck.tui.screens.browse.screen import BrowseScreen
from presscheck.tui.screens.review.screen import ReviewScreen

ORG = "tallowick"


async def sites(client: Client) -> dict[str, Site]:
    page = await client.send(ListSites(organization_id=ORG))
    return {site.title: site for site in page.items}


async def titles(client: Client, site: Site) -> list[str]:
    found = await client.send(GetSiteStructure(organization_id=ORG, site_id=site.id))
    return [item.title for item in found.structure]


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
async def test_sites_or_a_structure_that_cannot_be_loaded_show_the_reason(
    service: RunningService, tmp_path: Path, path: str, message: str
) -> None:
    failure = answer(400, {"error": {"code": 400, "message": "not today"}})
    with holding_back(service, tmp_path, path, answer=failure) as address:
        async with running(app_on(service, tmp_path / "home", base_url=address)) as pilot:
            await until(pilot, shows="live")
            await pilot.press("g", "p")
            await until(pilot, shows=message)


async def chosen(pilot: Any, site: Site) -> None:
    """Put the cursor on a site."""
    await opened(pilot)
    await pilot.app.go(Place.site(site.id))
    await until(pilot, holds=lambda: pilot.app.screen.current and pilot.app.screen.current.id == site.id)


@pytest.mark.slow
async def test_a_site_goes_live_and_comes_back(service: RunningService, client: Client, tmp_path: Path) -> None:
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
        assert "This machine has no record of an earlier publish" in shown(pilot.app)
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
        assert "Live at" in shown(pilot.app)
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
        assert "This site has no spaces to publish" in shown(pilot.app)
        now = await sites(client)
        assert (now[draft.title].published, now[empty.title].published) == (True, False)


@pytest.mark.slow
async def test_its_checks_are_listed_and_lead_to_the_page(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    site = next(site for site in (await sites(client)).values() if site.published)
    page = await page_of(client, {"space_id": "guides", "change_request_id": "3"}, "Customs")
    async with running(app_on(service, tmp_path)) as pilot:
        await opened(pilot)
        await until(pilot, holds=lambda: pilot.app.screen.current.id == site.id)
        await until(pilot, shows="notes · W lists them")
        await pilot.press("W")
        await until(pilot, shows=f"Checks of {site.title}")
        await until(pilot, holds=lambda: re.search(r"Guides: Customs +no description", shown(pilot.app)))
        await pilot.press("/", *"Customs", "enter", "enter")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, BrowseScreen))
        await until(pilot, holds=lambda: pilot.app.screen.item and pilot.app.screen.item.title == page.title)


async def spaces_of(client: Client, site: Site) -> AsyncIterator[Space]:
    """The spaces of a site."""
    structure = await client.send(GetSiteStructure(organization_id=ORG, site_id=site.id))
    for space in {item.space.id for item, _ in site_spaces(structure.structure)}:
        yield await client.send(GetSpace(space_id=space))


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_what_the_plan_of_a_site_limits_is_shown(
    service: RunningService, client: Client, tmp_path: Path, size: tuple[int, int]
) -> None:
    site = next(site for site in (await sites(client)).values() if site.published)
    limit_site(service, site.id, "ultimate", "basic")
    async with running(app_on(service, tmp_path), size) as pilot:
        await opened(pilot)
        await until(pilot, holds=lambda: pilot.app.screen.current.id == site.id)
        await until(pilot, shows="⚠ Type: ultimate was chosen")
        await until(pilot, shows="⚠ Frozen by the plan: custom domain")
        await until(pilot, shows="notes · W lists them")
        facts = pilot.app.screen.query_one("#facts")
        text = " ".join(" ".join(span.text for span in line) for line in facts.lines)
        spaces = [one async for one in spaces_of(client, site)]
        waiting = sum(one.change_requests_open for one in spaces)
        assert f"{len(spaces)} spaces · {waiting} open change requests" in text
        assert "visitor sign-in (from ultimate on)" in " ".join(text.split())
        assert facts.size.height > len(facts.lines), "nothing is cut"
        listed = pilot.app.screen.session.sites.items
        await pilot.app.go(Place.site(next(one.id for one in listed if one.id != site.id)))
        await until(pilot, shows="draft: P publishes it")
        await until(pilot, holds=lambda: "the plan" not in shown(pilot.app))
        assert facts.size.height > len(facts.lines)
        assert facts.size.height < 10, "the lines of the limits are given back"


@pytest.mark.slow
async def test_enter_on_an_outdated_change_request_opens_its_review(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    await merges_a_page(client, "guides", "Ahead of the others", "A page.\n")
    listing = await client.send(ListChangeRequests(space_id="guides", status="open"))
    outdated = listing.items[0]
    assert outdated.outdated
    async with running(app_on(service, tmp_path)) as pilot:
        await opened(pilot)
        await until(pilot, shows="notes · W lists them")
        await pilot.press("W")
        where = f"#{outdated.number} {outdated.subject}"
        await until(pilot, holds=lambda: re.search(rf"Guides: {where} +is outdated", shown(pilot.app)))
        await pilot.press("/", *where, "enter", "enter")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, ReviewScreen))
        model = pilot.app.screen.session.model
        await until(pilot, holds=lambda: model.request and model.request.id == outdated.id)
        await pilot.press("q")
        await until(pilot, shows="W lists them")


async def has_a_broken_link(client: Client, space: str) -> None:
    """A page with a broken link is merged into a space."""
    await merges_a_page(client, space, "Nowhere", "See [gone](gone.md).\n")


async def merges_a_page(client: Client, space: str, title: str, text: str) -> None:
    """A new page is merged into a space."""
    made = await client.send(CreateChangeRequest(space_id=space, subject=title))
    at = {"space_id": space, "change_request_id": made.id}
    page = InsertPage(title=title, document=Document(markdown=text))
    await client.send(EditChangeRequestContent(**at, changes=(page,), compat=False))
    await client.send(UpdateChangeRequest(**at, status="open"))
    await client.send(MergeChangeRequest(**at))


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


def is_before(text: str, first: str, second: str) -> bool:
    return text.index(f" {first}") < text.rindex(f" {second}")


@pytest.mark.slow
async def test_items_are_moved(service: RunningService, client: Client, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await opened(pilot)
        site = next(site for site in (await sites(client)).values() if site.title in shown(pilot.app).split("\n")[0])
        before = await titles(client, site)
        assert len(before) > 1
        await until(pilot, shows=before[0])
        await pilot.press("J")
        await until(pilot, shows="press tab to go to the structure")
        await pilot.press("tab", "J")
        swapped = [before[1], before[0], *before[2:]]

        async def told() -> bool:
            return await titles(client, site) == swapped

        while not await told():
            await pilot.pause(0.02)
        await until(pilot, holds=lambda: is_before(shown(pilot.app), before[1], before[0]))
        await pilot.press("K")
        while await told():
            await pilot.pause(0.02)
        assert await titles(client, site) == before
        await until(pilot, holds=lambda: is_before(shown(pilot.app), before[0], before[1]))
        await pilot.press("K")
        await until(pilot, shows="this is the first item here")


@pytest.mark.slow
async def test_a_site_is_created_filled_renamed_and_deleted(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await opened(pilot)
        await pilot.press("a")
        await until(pilot, shows="Title of the new site")
        await pilot.press("x")
        await until(pilot, shows="at least 2 characters")
        await pilot.press("enter", *" [b]y")
        await pilot.press("enter")
        await until(pilot, shows="Spaces of the new site")
        await pilot.press(*"Runbook", "tab", "enter")
        await until(pilot, shows="x [b]y created")
        made = (await sites(client))["x [b]y"]
        assert made.site_spaces == 1
        await until(pilot, shows="› x [b]y")
        await until(pilot, shows="/runbook")
        await pilot.press("tab", "a")
        await until(pilot, shows="Add to x [b]y")
        await pick(pilot, "Space")
        await until(pilot, shows="Add a space to x [b]y")
        assert "Runbook" not in shown(pilot.app).split("Add a space to")[1].split("esc")[0], "it is there already"
        await pick(pilot, "Guides")
        await until(pilot, shows="/guides")
        assert await titles(client, made) == ["Runbook", "Guides"]
        await until(pilot, shows="added the space Guides")
        await pilot.press("E")
        await pick(pilot, "Path")
        await until(pilot, shows="Path of Guides")
        await pilot.press("s", "enter")
        await until(pilot, shows="/guidess")
        await pilot.press("-")
        await until(pilot, shows="Remove the space Guides?")
        await pilot.press("y")
        await until(pilot, holds=lambda: "/guidess" not in shown(pilot.app))
        await pilot.press("shift+tab", "E")
        await pick(pilot, "Title")
        await until(pilot, shows="Title of x [b]y")
        await pilot.press("!", "enter")
        await until(pilot, shows="› x [b]y!")
        await pilot.press("delete")
        await until(pilot, shows="type: x [b]y!")
        await pilot.press(*"x [b]y!", "enter")
        await until(pilot, holds=lambda: "x [b]y!" not in shown(pilot.app))
        assert "x [b]y!" not in await sites(client)


@pytest.mark.slow
async def test_the_spaces_of_a_new_site_are_offered_once_they_are_known(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    answered = threading.Event()
    with holding_back(service, tmp_path, f"/orgs/{ORG}/spaces", until=answered) as address:
        async with running(app_on(service, tmp_path, base_url=address)) as pilot:
            await opened(pilot)
            await pilot.press("a", *"New", "enter")
            await until(pilot, holds=lambda: "Title of the new site" not in shown(pilot.app))
            await pilot.pause(0.1)
            assert "Spaces of the new site" not in shown(pilot.app), "nobody can choose from spaces that are not known"
            answered.set()
            await until(pilot, shows="Spaces of the new site")
            await pilot.press(*"Runbook", "tab", "enter")
            await until(pilot, shows="New created")
    assert (await sites(client))["New"].site_spaces == 1


@pytest.mark.slow
async def test_offline_it_shows_cached_data_and_cannot_publish(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await opened(pilot)
        await pilot.press("tab", "shift+tab")
        await until(pilot, holds=lambda: "Checking" not in shown(pilot.app))
        service.stop()
        await pilot.press("ctrl+r")
        await until(pilot, shows="offline")
        await until(pilot, holds=lambda: "Checking" not in shown(pilot.app))
        before = shown(pilot.app)
        await pilot.press("P")
        await until(pilot, shows="you are offline, and publishing cannot be queued")
        await pilot.press("a")
        await until(pilot, shows="you are offline, and a new site cannot be queued")
        assert before.split("\n")[1:-1] == shown(pilot.app).split("\n")[1:-1]


@pytest.mark.slow
async def test_a_read_only_profile_changes_nothing(service: RunningService, client: Client, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path, read_only=True)) as pilot:
        await opened(pilot)
        first = shown(pilot.app).split("\n")[0]
        site = next(site for site in (await sites(client)).values() if site.title in first)
        before = await titles(client, site)
        await until(pilot, shows=before[0])
        await pilot.press("tab", "J")
        await until(pilot, shows="read-only")
        assert await titles(client, site) == before
        text = shown(pilot.app)
        assert text.rindex(f" {before[0]}") < text.rindex(f" {before[1]}"), "the order is shown as it is"


@pytest.mark.slow
async def test_a_site_is_previewed_with_a_change_request(
    service: RunningService, tmp_path: Path, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the sites and from the review: over SSH the address is copied, and it answers without an account."""
    monkeypatch.setenv("SSH_CONNECTION", "10.0.0.1 5000 10.0.0.2 22")
    docs = (await sites(client))["Tallowick Docs"]
    async with running(app_on(service, tmp_path)) as pilot:
        await chosen(pilot, docs)
        await pilot.press(".", "v")
        await until(pilot, shows="Preview the site with")
        await pilot.press("enter")
        await until(pilot, holds=lambda: "/preview/" in pilot.app.clipboard)
        now = pilot.app.clipboard
        await until(pilot, shows="Address, copied")
        await pilot.press("q")
        await until(pilot, shows=docs.title)
        await pilot.press(".", "v")
        await until(pilot, shows="Preview the site with")
        await pick(pilot, "#4 Limits per workspace")
        await until(pilot, holds=lambda: "/~/changes/" in pilot.app.clipboard)
        url = pilot.app.clipboard
        await pilot.app.go(Place.review("api", "5"))
        await until(pilot, shows="Can merge?")
        pilot.app.copy_to_clipboard("")
        await pilot.press(".", "v")
        await until(pilot, holds=lambda: "/~/changes/5/" in pilot.app.clipboard)
        from_review = pilot.app.clipboard
    async with httpx.AsyncClient(follow_redirects=True) as visitor:
        assert (await visitor.get(now)).status_code == 200
        assert "Preview of change request #4: Limits per workspace" in (await visitor.get(url)).text
        assert "Preview of change request #5" in (await visitor.get(from_review)).text


@pytest.mark.slow
async def test_what_visitors_get_is_shown_for_a_site_and_for_a_share_link(
    service: RunningService, tmp_path: Path, client: Client
) -> None:
    listed = await sites(client)
    docs, inside = listed["Tallowick Docs"], listed["Inside Tallowick"]
    at: Any = {"organization_id": ORG, "site_id": inside.id}
    await client.send(PublishSite(**at))
    link = await client.send(CreateShareLink(**at, name="for partners"))
    async with running(app_on(service, tmp_path)) as pilot:
        await chosen(pilot, docs)
        await pilot.press(".", "g")
        await until(pilot, shows="What visitors get: Tallowick Docs")
        await until(pilot, shows="API docs")
        # its hostname is that of a real company's site, which this machine does not serve
        await until(pilot, shows="Published, but not reachable")
        await pilot.press("q")
        await chosen(pilot, inside)
        await pilot.press("g", "v", "2")
        await until(pilot, shows="for partners")
        await until(pilot, holds=lambda: pilot.app.screen.reason_go_published() is None)
        row = next(at for at, one in enumerate(pilot.app.screen.share_links.items) if one.name == "for partners")
        await pilot.press(*"j" * row, ".", "g")
        await until(pilot, shows="What visitors get: Inside Tallowick, by for partners")
        await until(pilot, shows="The site is live, and the page answers.")
        assert str(link.urls.published).rstrip("/").rpartition("/")[2] not in shown(pilot.app), "the key is a secret"
        await pilot.press("q")
        service.stop()
        await pilot.press("ctrl+r")
        await until(pilot, shows="offline")
        await pilot.press(".", "g")
        await until(pilot, shows="the service knows what visitors get")
