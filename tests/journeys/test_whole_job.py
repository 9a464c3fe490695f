"""A complete workflow with keys in a real terminal, from an open change request to a published site."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.generated_docs.documentation import Documentation
from tests.terminal import Terminal

from presscheck.api.change_requests import GetChangeRequest, ListReviews
from presscheck.api.comments import ListComments
from presscheck.api.content import GetPage, ListPages, RevisionPage
from presscheck.api.organizations import ListOrganizations
from presscheck.api.sites import ListSites
from presscheck.api.spaces import ListSpaces
from presscheck.client.client import Client
from presscheck.demo import demo_service
from presscheck.paths import Places

PRESSCHECK = [sys.executable, "-m", "presscheck"]
MARK = "A sentence that was typed by keys."


async def test_triage_comment_approve_merge_publish(tmp_path: Path) -> None:
    terminal = Terminal([*PRESSCHECK, "demo"], env={"PRESSCHECK_HOME": str(tmp_path)})
    terminal.wait("Fix typos in quickstart")
    terminal.press("l")
    terminal.wait(r"You have no open change request|by Oskar|Mine \d")
    terminal.press("h", "j", "j", "j", "j")
    terminal.wait("▌     3 Fix typos in quickstart")
    terminal.press("enter")
    terminal.wait("Can merge")
    terminal.press("C")
    terminal.wait("the draft is kept")
    terminal.press(MARK, "ctrl+s")
    terminal.gone("the draft is kept")
    terminal.press("v", "a")
    terminal.wait("the draft is kept")
    terminal.press("ctrl+s")
    terminal.gone("the draft is kept")
    terminal.wait("✓3")
    terminal.wait(r"2 open comments")
    terminal.gone("pending")
    terminal.press("m")
    terminal.wait("Merge into the live content")
    terminal.press("y")
    terminal.wait("merged")
    terminal.press("q")
    terminal.wait("Needs me 6")
    terminal.press("g", "p")
    terminal.wait("Inside Tallowick")
    terminal.press("j")
    terminal.wait("draft: P publishes it")
    terminal.press("P")
    terminal.wait("Publish Inside Tallowick")
    terminal.press("y")
    terminal.wait("is live")
    terminal.press("q", "q")
    assert terminal.end() == 0
    assert terminal.left_on() == []
    terminal.close()
    where = Places(tmp_path / "config", tmp_path / "cache", tmp_path / "state", tmp_path / "data")
    with demo_service(where=where) as profile:
        await it_is_all_so(Client(profile.base_url, profile.token or ""))


async def it_is_all_so(client: Client) -> None:
    path = {"space_id": "guides", "change_request_id": "3"}
    request = await client.send(GetChangeRequest(**path))
    assert request.status == "merged"
    comments = await client.send(ListComments(**path, format="markdown"))
    assert sum((one.body.markdown or "").strip() == MARK for one in comments.items) == 1
    reviews = await client.send(ListReviews(**path))
    assert [one.status for one in reviews.items].count("approved") == 3
    sites = await client.send(ListSites(organization_id="tallowick"))
    assert all(site.published for site in sites.items)
    await client.aclose()


@pytest.fixture
def served(documentation: Documentation, tmp_path: Path) -> Iterator[dict[str, str]]:
    """A service with one imported repository; yields the environment to reach it."""
    docs = str(documentation.directory)
    command = [*PRESSCHECK, "serve", "--port", "0", "--data", str(tmp_path / "data"), "--docs", docs]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as service:
        assert service.stdout
        address, token = service.stdout.readline().strip(), service.stdout.readline().removeprefix("token: ").strip()
        yield {"PRESSCHECK_BASE_URL": address, "PRESSCHECK_TOKEN": token, "PRESSCHECK_HOME": str(tmp_path / "home")}
        service.terminate()


def editor(directory: Path) -> str:
    """An editor that adds a sentence."""
    script = directory / "editor"
    script.write_text(f'#!/bin/sh\nprintf "\\n{MARK}\\n" >> "$1"\n')
    script.chmod(0o700)
    return str(script)


@pytest.mark.documentation("handbook")
async def test_browse_edit_merge_and_publish_an_imported_repository(served: dict[str, str], tmp_path: Path) -> None:
    client = Client(served["PRESSCHECK_BASE_URL"], served["PRESSCHECK_TOKEN"])
    [organization] = (await client.send(ListOrganizations())).items
    [space] = (await client.send(ListSpaces(organization_id=organization.id))).items
    titles = [page.title for page in every((await client.send(ListPages(space_id=space.id))).pages)]
    assert len(titles) > 40
    terminal = Terminal(PRESSCHECK, env=served | {"EDITOR": editor(tmp_path), "VISUAL": ""})
    terminal.wait("live")
    terminal.press("g", "o")
    terminal.wait(space.title[:20])
    terminal.press("enter")
    terminal.wait(titles[0][:20])
    terminal.press(*"jjjjjjjjjjjj")
    terminal.gone("Asking the service")
    terminal.press(*"kkkkkkkkkkk")
    terminal.wait(rf"›.*› {titles[0][:20]}")
    terminal.press("e")
    terminal.wait(": subject")
    terminal.press("Say one thing more", "enter")
    terminal.wait("Save to the change request")
    terminal.press("y")
    terminal.gone("Save to the change request")
    # the page is taken in just now, and a machine with too much to do has been seen to miss the first key after it
    terminal.insist("a", "Title of the new page")
    terminal.press("A page by keys", "enter")
    terminal.gone("Title of the new page")
    terminal.wait("  A page by keys")
    terminal.press("g", "r")
    terminal.wait("Can merge")
    terminal.wait("A page by keys")
    terminal.wait("2/2 changes")
    terminal.press("m")
    terminal.wait("Merge into the live content")
    terminal.press("y")
    terminal.wait("merged")
    terminal.press("g", "p")
    terminal.wait("There is no site yet")
    terminal.press("a")
    terminal.wait("Title of the new site")
    terminal.press("Site by keys", "enter")
    terminal.wait("Spaces of the new site")
    terminal.press("tab", "enter")
    terminal.wait("created as a draft")
    terminal.wait("○ draft")
    terminal.press("P")
    terminal.wait("Publish Site by keys")
    terminal.press("y")
    terminal.wait("is live")
    terminal.press("ctrl+q")
    assert terminal.end() == 0
    assert terminal.left_on() == []
    terminal.close()
    pages = every((await client.send(ListPages(space_id=space.id))).pages)
    assert sorted(page.title for page in pages) == sorted([*titles, "A page by keys"])
    assert MARK in await text_of(client, space.id, pages[0])
    [site] = (await client.send(ListSites(organization_id=organization.id))).items
    assert (site.title, site.published, site.site_spaces) == ("Site by keys", True, 1)
    await client.aclose()


def every(pages: tuple[RevisionPage, ...]) -> list[RevisionPage]:
    return [one for page in pages for one in (page, *every(page.pages))]


async def text_of(client: Client, space_id: str, page: RevisionPage) -> str:
    found = await client.send(GetPage(space_id=space_id, page_id=page.id, format="markdown"))
    return found.markdown or ""
