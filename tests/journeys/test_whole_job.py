"""A complete workflow with keys in a real terminal, from an open change request to a published site."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.generated_docs.documentation import Documentation
from tests.terminal import Terminal, children_of

from presscheck.api.change_requests import GetChangeRequest, ListReviews
from presscheck.api.comments import ListComments
from presscheck.api.content import GetPage, ListPages, RevisionPage
from presscheck.api.organizations import ListOrganizations
from presscheck.api.sites import ListSites
from presscheck.api.spaces import ListSpaces
from presscheck.client.client import Client
from presscheck.demo import demo_service
from presscheck.paths import Places

pytestmark = pytest.mark.slow

PRESSCHECK = [sys.executable, "-m", "presscheck"]
MARK = "A sentence that was typed by keys."


async def test_triage_comment_approve_merge_publish(tmp_path: Path) -> None:
    terminal = Terminal([*PRESSCHECK, "demo"], env={"PRESSCHECK_HOME": str(tmp_path)})
    terminal.wait("A tour of two minutes")
    assert "Rewrite the auth guide" in terminal.text, "the invitation comes after the rows"
    terminal.wait("live")
    terminal.press("esc")
    terminal.wait("tour ended")
    terminal.wait("Fix typos in quickstart")
    terminal.press("l")
    terminal.wait(r"You have no open change request|by Oskar|Mine \d")
    terminal.press("h")
    terminal.down_to("▌   #3 Fix typos in quickstart")
    terminal.press("enter")
    terminal.wait("Can merge")
    terminal.press("C")
    terminal.wait("the draft is kept")
    terminal.press(MARK, "ctrl+s")
    terminal.gone("the draft is kept")
    terminal.press("v", "a")
    terminal.wait("longer text")
    terminal.press("enter")
    terminal.gone("longer text")
    terminal.wait("✓3")
    terminal.wait("1 open comment")
    terminal.gone("pending")
    terminal.press("m")
    terminal.wait("Merge into the live content")
    terminal.wait("y  n")  # until then it checks for conflicts
    terminal.press("y")
    terminal.wait(r"(?m)^ merged")
    terminal.press("q")
    terminal.wait("Needs me")
    terminal.gone("Fix typos in quickstart +Guides")
    terminal.press("g", "p")
    terminal.wait("Inside Tallowick")
    terminal.press("j")
    terminal.wait("draft: P publishes it")
    terminal.press("P")
    terminal.wait("Publish Inside Tallowick")
    terminal.wait("y  n")
    terminal.press("y")
    # a background job of the sample may have created the share link already
    if "create a share link" in terminal.wait("create a share link|is live"):
        terminal.press("c")
    terminal.wait("is live")
    service = children_of(terminal.pid)
    assert service
    terminal.press("q", "q", "q")
    assert terminal.end() == 0
    assert terminal.left_on() == []
    assert not [pid for pid in service if Path(f"/proc/{pid}").exists()]
    terminal.close()
    where = Places(tmp_path / "config", tmp_path / "cache", tmp_path / "state", tmp_path / "data")
    with demo_service(where=where) as profile:
        await check_results(Client(profile.base_url, profile.token or ""))


async def check_results(client: Client) -> None:
    path = {"space_id": "guides", "change_request_id": "3"}
    request = await client.send(GetChangeRequest(**path))
    assert request.status == "merged"
    comments = await client.send(ListComments(**path, format="markdown"))
    texts = [(item.body.markdown or "").strip() for item in comments.items]
    assert texts.count(MARK) == 1
    reviews = await client.send(ListReviews(**path))
    assert [item.status for item in reviews.items].count("approved") == 3
    sites = await client.send(ListSites(organization_id="tallowick"))
    assert all(site.published for site in sites.items)
    await client.aclose()


@contextmanager
def served_by(*options: str) -> Iterator[dict[str, str]]:
    """Run `presscheck serve` with `options`; yields the environment variables for connecting to it."""
    command = [*PRESSCHECK, "serve", "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as service:
        assert service.stdout
        address, token = service.stdout.readline().strip(), service.stdout.readline().removeprefix("token: ").strip()
        yield {"PRESSCHECK_BASE_URL": address, "PRESSCHECK_TOKEN": token}
        service.terminate()


@pytest.fixture
def served(documentation: Documentation, tmp_path: Path) -> Iterator[dict[str, str]]:
    """Run a service with an imported repository; yields the environment variables for connecting to it."""
    with served_by("--data", str(tmp_path / "data"), "--docs", str(documentation.directory)) as env:
        yield env | {"PRESSCHECK_HOME": str(tmp_path / "home")}


def editor(directory: Path) -> str:
    """Write an editor program that appends a sentence to its file. Returns its path."""
    script = directory / "editor"
    script.write_text(f'#!/bin/sh\nprintf "\\n{MARK}\\n" >> "$1"\n')
    script.chmod(0o700)
    return str(script)


@pytest.mark.documentation("handbook")
async def test_browse_edit_merge_and_publish_an_imported_repository(served: dict[str, str], tmp_path: Path) -> None:
    async with Client(served["PRESSCHECK_BASE_URL"], served["PRESSCHECK_TOKEN"]) as client:
        await browse_edit_merge_and_publish(client, served, tmp_path)


async def browse_edit_merge_and_publish(client: Client, served: dict[str, str], tmp_path: Path) -> None:
    [organization] = (await client.send(ListOrganizations())).items
    [space] = (await client.send(ListSpaces(organization_id=organization.id))).items
    titles = [page.title for page in every((await client.send(ListPages(space_id=space.id))).pages)]
    assert len(titles) > 40
    terminal = Terminal(PRESSCHECK, env=served | {"EDITOR": editor(tmp_path), "VISUAL": ""})
    terminal.wait("live")
    terminal.press("g", "o")
    terminal.wait(rf"▌▸.*{space.title[:20]}")  # matches in the tree only: an empty inbox names the space, too
    terminal.press("enter")
    terminal.wait(rf"(?m)^ +(\S+ )?{titles[0][:20]}")  # matches in the tree only, not in the space overview beside it
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
    # the app is taking over the edited page; on busy machines it has missed the next key
    terminal.insist("a", "Title of the new page")
    terminal.press("A page by keys", "enter")
    terminal.gone("Title of the new page")
    terminal.wait("  A page by keys")
    terminal.press("g", "r")
    terminal.wait("Can merge")
    terminal.wait("A page by keys")
    terminal.wait("2 changes")
    terminal.press("m")
    terminal.wait("Merge into the live content")
    terminal.wait("y  n")  # until then it checks for conflicts
    terminal.press("y")
    terminal.wait(r"(?m)^ merged")
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
    # with broken links the title must be typed, without them y confirms
    is_faulty = "type: Site by keys" in terminal.wait("type: Site by keys|y  n", 120)
    terminal.press(*(("Site by keys", "enter") if is_faulty else ("y",)))
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


def every(pages: tuple[RevisionPage, ...]) -> list[RevisionPage]:
    return [item for page in pages for item in (page, *every(page.pages))]


async def text_of(client: Client, space_id: str, page: RevisionPage) -> str:
    content = await client.send(GetPage(space_id=space_id, page_id=page.id, format="markdown"))
    return content.markdown or ""
