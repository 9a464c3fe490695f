"""What is set by keys on a site is read by its visitors: over HTTP, with each visibility, and in a browser."""

import asyncio
import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import jwt
import pytest
from tests.running_service import RunningService
from tests.service.browser import browse
from tests.tui.app_driver import app_on, pick, running, shown, until, write
from tests.tui.change_request_factory import begun
from tests.tui.site_access import access_open, comes, paste, redirects
from textual.widgets import Input

from presscheck.api.change_requests import CreateChangeRequest, MergeChangeRequest, UpdateChangeRequest
from presscheck.api.content import ListPages, RevisionPage
from presscheck.api.content_changes import EditChangeRequestContent, UpdatePage
from presscheck.api.site_settings import (
    CreateRedirect,
    GetAdaptiveSchema,
    GetCustomization,
    GetPublishingAuth,
    RedirectDestination,
    UpdateAdaptiveSchema,
    UpdateCustomization,
)
from presscheck.api.site_structure import (
    GetSiteStructure,
    SiteSection,
    SortSiteStructure,
    StructureItemPointer,
    StructurePosition,
)
from presscheck.api.sites import CreateSite, GetSite, ListSites, PublishSite, Site
from presscheck.client.client import Client
from presscheck.documents.visitors.claim_schema import empty_schema
from presscheck.tui.places import Place
from presscheck.tui.screens.publish.screen import PublishScreen
from presscheck.tui.screens.sites.adaptive.screen import AdaptiveContentScreen
from presscheck.tui.screens.sites.history.screen import SiteHistoryScreen

pytestmark = pytest.mark.needs("chromium")
ORG = "tallowick"
MANY = min(10_000, 200 * int(os.environ.get("PRESSCHECK_CASES", "1")))
"""Redirects that are imported; with `PRESSCHECK_CASES=50` 10,000, the most that one table may have."""
SECONDS = 20 + 0.1 * MANY
"""The longest that their import may take."""


async def a_site(client: Client, *, published: bool) -> tuple[Site, dict[str, Any]]:
    """A site of the sample, and the arguments that name it."""
    found = (await client.send(ListSites(organization_id=ORG))).items
    site = next(site for site in found if site.published is published)
    return site, {"organization_id": ORG, "site_id": site.id}


async def on_site(pilot: Any, site: Site) -> None:
    """Among the sites, with the cursor on one."""
    await until(pilot, shows="live")
    await pilot.press("g", "p")
    await until(pilot, shows="● live", holds=lambda: isinstance(pilot.app.screen, PublishScreen))
    pilot.app.screen.go_to(Place.site(site.id))
    await until(pilot, holds=lambda: pilot.app.screen.current.id == site.id)


async def set_visibility(pilot: Any, visibility: str) -> None:
    await pilot.press("E")
    await pick(pilot, "Visibility")
    await pick(pilot, visibility)
    await until(pilot, shows=f"Change the visibility to {visibility}?")
    await pilot.press("y")
    await until(pilot, holds=lambda: pilot.app.screen.current.visibility == visibility)
    await until(pilot, holds=lambda: not pilot.app.engine.waiting())


async def visit(address: str, **given: Any) -> httpx.Response:
    """What a visitor without an account gets at an address; redirects are not followed."""
    async with httpx.AsyncClient() as visitor:
        return await visitor.get(address, **given)


async def seen(tmp_path: Path, address: str) -> str:
    """The page at an address as a browser has it, after all redirects."""
    return await asyncio.to_thread(browse, tmp_path / "browser", address, "--dump-dom")


def address_here(service: RunningService, site: Site) -> str:
    """Where this machine serves a site that has a host name of its own."""
    return f"{service.base_url}/docs/{site.basename or site.id}/"


@pytest.mark.slow
async def test_each_visibility_admits_the_visitors_that_it_names(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    site, path = await a_site(client, published=False)
    docs, _ = await a_site(client, published=True)
    sign_in = address_here(service, docs)
    async with running(app_on(service, tmp_path), (140, 40)) as pilot:
        copied: list[str] = []
        pilot.app.copy_to_clipboard = copied.append  # type: ignore[method-assign]
        await on_site(pilot, site)
        await pilot.press("P")
        await until(pilot, shows="y  n")
        await pilot.press("y")
        await pick(pilot, "Publish without")
        await until(pilot, shows="The site is live, but has no active share link")
        await pilot.press("q")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, PublishScreen))
        await until(pilot, holds=lambda: pilot.app.screen.current.published)

        # public and unlisted: anyone; search engines only one of them
        await set_visibility(pilot, "public")
        address = str((await client.send(GetSite(**path))).urls.published)
        page = await visit(address)
        assert (page.status_code, "x-robots-tag" in page.headers) == (200, False)
        first = page.text.partition("<title>")[2].partition("<")[0]
        assert site.title in first
        assert first in await seen(tmp_path, address)
        await set_visibility(pilot, "unlisted")
        page = await visit(address)
        assert (page.status_code, page.headers["x-robots-tag"]) == (200, "noindex")

        # share links: only who has one that is on; the keys are on no screen
        await set_visibility(pilot, "share-link")
        assert (await visit(address)).status_code == 404
        own = str((await client.send(GetSite(**path))).urls.published)
        key = own.rstrip("/").rpartition("/")[2]
        assert (await visit(own)).status_code == 200
        await until(pilot, shows=f"/docs/{site.basename or site.id}/…")
        assert key not in shown(pilot.app)
        await pilot.press("y")
        await until(pilot, holds=lambda: copied[-1:] == [own])
        await pilot.press(".", "g")
        await until(pilot, shows="secret: y on the site copies it")
        await until(pilot, shows="The site is live, but has no active share link")
        assert key not in shown(pilot.app)
        await pilot.press("q")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, PublishScreen))
        await pilot.press("g", "v", "2")
        await until(pilot, shows="No share links yet.")
        await pilot.press("a")
        await paste(pilot, "partners", "enter")
        await until(pilot, shows="secret: y copies it")
        await pilot.press("y")
        await until(pilot, shows="copied the address of partners")
        link = copied[-1]
        assert first in await seen(tmp_path, link)
        await pilot.press("E")
        await pick(pilot, "Turn off")
        await until(pilot, shows="○ off", holds=lambda: not pilot.app.engine.waiting())
        assert ((await visit(link)).status_code, (await visit(own)).status_code) == (404, 200)
        await pilot.press("E")
        await pick(pilot, "Turn on")
        await until(pilot, shows="● on", holds=lambda: not pilot.app.engine.waiting())
        assert (await visit(link)).status_code == 200
        await pilot.press("-")
        await until(pilot, shows="Revoke partners?")
        await pilot.press("y")
        await until(pilot, shows="No share links yet.", holds=lambda: not pilot.app.engine.waiting())
        assert (await visit(link)).status_code == 404
        assert first not in await seen(tmp_path, link)

        # visitors who sign in: nobody, then who has a token of the key; another key ends that
        await pilot.press("q")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, PublishScreen))
        await set_visibility(pilot, "visitor-auth")
        assert [(await visit(one)).status_code for one in (address, own)] == [401, 401]
        await pilot.press("g", "v", "3")
        await until(pilot, shows="custom: your own server signs visitors in")
        await pilot.press("j", "E")
        await paste(pilot, sign_in, "enter")
        await until(pilot, shows=sign_in, holds=lambda: not pilot.app.engine.waiting())
        away = await comes(pilot, lambda: redirected(address))
        assert away == f"{sign_in}?location=%2F"
        assert docs.title in await seen(tmp_path, address), "a browser ends on the page that signs visitors in"
        await pilot.press("y")
        await until(pilot, shows="copied the key")
        token = jwt.encode({"plan": "pro"}, copied[-1], "HS256")
        assert (await visit(address, params={"jwt_token": token})).status_code == 303
        assert first in await seen(tmp_path, f"{address}?jwt_token={token}")
        await pilot.press(".", "k")
        await until(pilot, shows=f"type: {site.title}")
        await paste(pilot, site.title, "enter")
        await until(pilot, shows="the key is replaced", holds=lambda: not pilot.app.engine.waiting())
        assert (await visit(address, params={"jwt_token": token})).status_code == 401
        await pilot.press("y")
        await until(pilot, holds=lambda: len(set(copied[-2:])) == 2)
        token = jwt.encode({}, copied[-1], "HS256")
        assert (await visit(address, params={"jwt_token": token})).status_code == 303

        # the address after signing out, and who signs visitors in
        await pilot.press("j", "E")
        await paste(pilot, "https://tallowick.example/bye", "enter")
        await until(pilot, shows="https://tallowick.example/bye")
        await pilot.press("g", "g", "E")
        await pick(pilot, "integration")
        await until(pilot, shows="integration: an integration signs visitors in")
        assert await comes(pilot, lambda: signs_in(client, path, "integration", "https://tallowick.example/bye"))

        # nobody
        await pilot.press("q")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, PublishScreen))
        await pilot.press("P")
        await until(pilot, shows=f"type: {site.title}")
        await pilot.press(*site.title, "enter")
        await until(pilot, shows="Unpublished, and its address no longer answers")
        assert (await visit(address, params={"jwt_token": token})).status_code == 404
        assert first not in await seen(tmp_path, f"{address}?jwt_token={token}")


async def redirected(address: str) -> str | None:
    return (await visit(address)).headers.get("location")


async def signs_in(client: Client, path: dict[str, Any], backend: str, logout: str) -> bool:
    now = await client.send(GetPublishingAuth(**path))
    return (now.backend, now.logout_url) == (backend, logout)


@pytest.mark.slow
async def test_redirects_lead_visitors_where_the_keys_set_them(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    docs, path = await a_site(client, published=True)
    root = address_here(service, docs).rstrip("/")

    async def leads(source: str) -> str:
        """Where a visitor is sent from a path; empty if nowhere."""
        return (await visit(f"{root}{source}")).headers.get("location", "").removeprefix(root)

    async with running(app_on(service, tmp_path), (140, 40)) as pilot:
        screen = await access_open(pilot)
        assert screen.session.paths is not None
        first, second = [target for target in screen.session.paths.targets if target.path.count("/") > 1][:2]

        async def sent(*sources: str) -> None:
            """Wait until the site has these redirects, and nothing is on the way."""
            wanted = set(sources)
            await until(pilot, holds=lambda: {one.source for one in screen.session.redirects.value or ()} == wanted)
            await until(pilot, holds=lambda: not pilot.app.engine.waiting())

        for source in ("/old", "/older"):
            await pilot.press("a")
            await paste(pilot, source, "enter")
            await until(pilot, shows=f"{source} redirects to")
            await paste(pilot, first.path, "enter")
            await until(pilot, shows=f"{source} ", holds=lambda: not pilot.app.engine.waiting())
        await sent("/old", "/older")
        assert [await leads(source) for source in ("/old", "/older", "/else")] == [first.path, first.path, ""]

        # where it leads, its path; enter shows the way, y copies the path
        await pilot.press("g", "g", "E")
        await pick(pilot, "Where it leads")
        await until(pilot, shows="/old redirects to")
        await paste(pilot, second.path, "enter")
        assert await comes(pilot, lambda: is_led(leads, "/old", second.path))
        await pilot.press("E")
        await pick(pilot, "Path")
        await paste(pilot, "/former", "enter")
        await sent("/former", "/older")
        assert [await leads(source) for source in ("/old", "/former")] == ["", second.path]
        await pilot.press("g", "g", "enter")
        await until(pilot, shows="Test of /former")
        await until(pilot, shows="✓ a page of the site")
        await pilot.press("q")
        await until(pilot, holds=lambda: pilot.app.screen is screen)
        await pilot.press("y")
        await until(pilot, holds=lambda: pilot.app.clipboard == "/former")

        # all marked ones to one page; a browser comes there, and marks are taken by range, too
        await pilot.press("V", "j", "V")
        await until(pilot, shows="2 marked: A acts on them")
        await pilot.press("A")
        await pick(pilot, "Redirect them all to one page")
        await until(pilot, shows="2 redirects redirect to")
        await paste(pilot, first.path, "enter")
        assert await comes(pilot, lambda: is_led(leads, "/former", first.path))
        title = first.title.rpartition(": ")[2].rpartition(" › ")[2]
        assert f"<title>{title}" in await seen(tmp_path, f"{root}/former"), first

        # a chain is told, and a loop; a table with a loop is not sent
        inside = RedirectDestination(kind="external", url=f"{str(docs.urls.published).rstrip('/')}/former")
        await client.send(CreateRedirect(**path, source="/chain", destination=inside))
        await client.send(CreateRedirect(**path, source="/loop", destination=loop_of(docs)))
        await pilot.press("ctrl+r")
        await sent("/chain", "/former", "/loop", "/older")
        await until(pilot, shows="2 with problems")
        for source, words in (("/chain", "A chain of 2 redirects"), ("/loop", "✗ redirect loop"), ("/no", "(404)")):
            await pilot.press(".", "p")
            await paste(pilot, source, "enter")
            await until(pilot, shows=words)
            await pilot.press("q")
            await until(pilot, holds=lambda: pilot.app.screen is screen)
        await pilot.press("*", "A")
        await pick(pilot, "Delete them")
        await until(pilot, shows="Delete 4 redirects?")
        await pilot.press("y")
        await sent()
        assert await leads("/former") == ""

        # suggested ones: the old address of a page that was moved leads to it
        page = await movable_page(client)
        old = next(one.path for one in screen.session.paths.targets if one.destination.page_id == page.id)
        new = f"{old.rpartition('/')[0]}/moved-there"
        assert (await visit(f"{root}{old}")).status_code == 200
        await move(client, page, "moved-there")
        assert (await visit(f"{root}{old}")).status_code == 404
        await pilot.press("ctrl+r")
        await until(pilot, holds=lambda: screen.session.paths.at(new) is not None)
        await pilot.press(".", "r")
        await until(pilot, shows="Redirects for moved and deleted pages")
        await until(pilot, shows=f"moved → {new}")
        await write(pilot, "", old, "tab", "enter")
        await sent(old)
        assert await leads(old) == new


def loop_of(site: Site) -> RedirectDestination:
    return RedirectDestination(kind="external", url=f"{str(site.urls.published).rstrip('/')}/loop")


async def is_led(leads: Any, source: str, target: str) -> bool:
    return await leads(source) == target


async def movable_page(client: Client) -> RevisionPage:
    """A page of the guides without pages below it, and not the first page, whose URL does not have its path."""
    first, *pages = (await client.send(ListPages(space_id="guides"))).pages
    assert first.type == "document"
    return next(page for page in pages if page.type == "document" and page.path and not page.pages)


async def move(client: Client, page: RevisionPage, slug: str) -> None:
    """Give a page of the guides another path on main."""
    made = await client.send(CreateChangeRequest(space_id="guides", subject="Another place"))
    at = {"space_id": "guides", "change_request_id": made.id}
    change = UpdatePage(page=page.id, slug=slug)
    await client.send(EditChangeRequestContent(**at, changes=(change,), compat=False))
    await client.send(UpdateChangeRequest(**at, status="open"))
    await client.send(MergeChangeRequest(**at))


@pytest.mark.slow
async def test_a_table_of_10_000_redirects_is_checked_before_anything_is_sent(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    docs, _ = await a_site(client, published=True)
    table = tmp_path / "many.csv"
    async with running(app_on(service, tmp_path), (120, 40)) as pilot:
        screen = await access_open(pilot)
        assert screen.session.paths is not None
        page = next(target for target in screen.session.paths.targets if target.path.count("/") > 1)
        rows = [f"/p/{number},{page.path}" for number in range(9_998)]
        for more, words in (
            (["/l,/m", "/m,/l"], "line 10,001: redirect loop: /m → /l → /m"),
            (["/p/7,/x", "/y,/p/9"], "line 10,000: /p/7 is a source at line 9 already"),
        ):
            table.write_text("\ufeffsource,destination\n" + "\n".join([*rows, *more]), encoding="utf-8")
            await pilot.press(".", "i")
            await paste(pilot, str(table), "enter")
            await until(pilot, shows=words)
            await pilot.press("q")
            await until(pilot, holds=lambda: pilot.app.screen is screen)
        table.write_text("\ufeffsource,destination\n" + "\n".join([*rows, "/y,/p/9", "/z,/y"]), encoding="utf-8")
        await pilot.press(".", "i")
        await paste(pilot, str(table), "enter")
        await until(pilot, shows="10,000 new, 0 changed, 0 unchanged.")
        await until(pilot, shows="2 chains shortened")
        await pilot.press("n")
        await until(pilot, holds=lambda: pilot.app.screen is screen)
        assert not await redirects(client, docs)


@pytest.mark.slow
@pytest.mark.timeout(SECONDS + 100)
async def test_a_table_of_many_redirects_is_sent_and_leads_visitors(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    docs, _ = await a_site(client, published=True)
    root = address_here(service, docs).rstrip("/")
    table = tmp_path / "many.csv"
    async with running(app_on(service, tmp_path), (120, 40)) as pilot:
        screen = await access_open(pilot)
        assert screen.session.paths is not None
        pages = [target.path for target in screen.session.paths.targets if target.path.count("/") > 1]
        ways = {f"/old/{number}": pages[number % len(pages)] for number in range(MANY)}
        table.write_text("source,destination\n" + "\n".join(f"{one},{to}" for one, to in ways.items()))
        await pilot.press(".", "i")
        await paste(pilot, str(table), "enter")
        await until(pilot, shows=f"{MANY:,} new, 0 changed, 0 unchanged.")
        await pilot.press("y")
        async with asyncio.timeout(SECONDS):
            while f"many.csv: {MANY:,} sent" not in shown(pilot.app):
                await pilot.pause(0.1)
        await until(pilot, holds=lambda: len(screen.session.redirects.value or ()) == MANY)
        assert not pilot.app.engine.waiting()
    for source, page in list(ways.items())[:: MANY // 20]:
        answer = await visit(f"{root}{source}")
        address = f"{root}{page}"
        own = (await visit(address)).headers.get("location", address)  # the first page of a space has a shorter one
        assert answer.status_code // 100 == 3 and answer.headers["location"] in (address, own), source
    assert (await visit(f"{root}/old/{MANY}")).status_code == 404


@pytest.mark.slow
async def test_the_look_that_was_set_by_keys_is_what_visitors_get(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    docs, _ = await a_site(client, published=True)
    root = address_here(service, docs)
    async with running(app_on(service, tmp_path), (120, 40)) as pilot:
        await on_site(pilot, docs)
        await pilot.press("g", "y")
        await until(pilot, shows="Primary color")
        screen: Any = pilot.app.screen

        async def chosen(name: str, value: str) -> None:
            screen.session.go_to(name)
            await pilot.press("enter")
            await pick(pilot, value)
            await until(pilot, holds=lambda: pilot.app.screen is screen)

        async def found(name: str, value: str) -> None:
            """Choose from a list that is too long for digits."""
            screen.session.go_to(name)
            before = screen.session.document
            await write(pilot, "enter", value, "enter")
            await until(pilot, holds=lambda: pilot.app.screen is screen and screen.session.document != before)

        async def switched(name: str) -> None:
            screen.session.go_to(name)
            before = screen.session.document
            await pilot.press("enter")
            await until(pilot, holds=lambda: screen.session.document != before)

        async def filled(name: str, *texts: str) -> None:
            """Type texts into the fields of a setting; None leaves a field as it is."""
            screen.session.go_to(name)
            await pilot.press("enter")
            await until(pilot, holds=lambda: pilot.app.screen is not screen)
            for number, text in enumerate(texts):
                await pilot.press(*(["tab"] if number else []))
                await until(pilot, holds=lambda: isinstance(pilot.app.focused, Input))
                await pilot.press("ctrl+u", *text)
            await pilot.press("ctrl+s")
            await until(pilot, holds=lambda: pilot.app.screen is screen)

        await filled("styling.primaryColor", "#123456", "#abcdef")
        await chosen("styling.corners", "straight")
        await found("styling.font", "RobotoSlab")
        await found("internationalization.locale", "fr")
        await chosen("themes.default", "dark")
        await chosen("externalLinks.target", "a new tab")
        await filled("footer.copyright", "Made in Tallowick")
        await switched("pagination.enabled")
        await switched("feedback.enabled")
        await chosen("ai.mode", "assistant")
        await filled("title", "Tallowick by keys")
        screen.session.go_to("header.links")
        await write(pilot, "a", "Status", "tab", "tab", *"https://example.org/status", "ctrl+s")
        await until(pilot, shows="Status ")
        await until(pilot, holds=lambda: pilot.app.screen is screen)
        screen.session.go_to("footer.groups")
        await write(pilot, "a", "Company", "ctrl+s")
        await until(pilot, shows="Company ", holds=lambda: pilot.app.screen is screen)
        screen.session.go_to("footer.groups.0")
        await pilot.press("a")
        await pick(pilot, "A link in Company")
        await write(pilot, "", "Jobs", "tab", *"https://example.org/jobs", "ctrl+s")
        await until(pilot, shows="Jobs ", holds=lambda: pilot.app.screen is screen)
        await pilot.press("ctrl+s")
        await until(pilot, shows="Save the customization of")
        await until(pilot, shows="The site is live: readers see it at once.")
        await pilot.press("y")
        await until(pilot, shows="saved: . b restores what it had before")
    for page in (await page_of(root), await seen(tmp_path, root)):
        for wanted in (
            "| Tallowick by keys</title>",
            "--primary-light:#123456;--primary-dark:#abcdef;",
            'data-corners="straight"',
            'data-theme="dark"',
            'lang="fr"',
            "Roboto Slab",
            'href="https://example.org/status"',
            "Company",
            'href="https://example.org/jobs"',
            "Made in Tallowick",
        ):
            assert wanted in page, wanted


async def page_of(address: str) -> str:
    return (await visit(address, follow_redirects=True)).text


@pytest.mark.slow
async def test_visitors_with_different_claims_read_different_pages(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    text = 'For all.\n\n{% if visitor.claims.plan == "pro" %}\nFor payers.\n{% endif %}\n'
    page = await begun(service, "Plans", text, title="Plans")
    await client.send(MergeChangeRequest(**page.at))
    made = await client.send(
        CreateSite(organization_id=ORG, title="For two", visibility="visitor-auth", spaces=("guides", "runbook"))
    )
    path: dict[str, Any] = {"organization_id": ORG, "site_id": made.id}
    site = await client.send(PublishSite(**path))
    assert isinstance(site, Site)
    address = str(site.urls.published)
    plan = {"type": "string", "description": "The plan", "enum": ["free", "pro"]}
    await client.send(UpdateAdaptiveSchema(**path, json_schema={**empty_schema(), "properties": {"plan": plan}}))
    tokens: dict[str, str] = {}
    async with running(app_on(service, tmp_path), (120, 40)) as pilot:
        await on_site(pilot, site)
        await pilot.press("tab", "G", "E")
        await pick(pilot, "Condition")
        await paste(pilot, 'visitor.claims.plan == "pro"', "enter")
        await until(pilot, shows="changed: z undoes it", holds=lambda: not pilot.app.engine.waiting())
        await pilot.press("g", "c")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, AdaptiveContentScreen))
        screen: Any = pilot.app.screen
        await until(pilot, holds=lambda: screen.session.schema.value and screen.session.content.value)
        await pilot.press(".", "a")
        await until(pilot, shows="Turn adaptive content of")
        await pilot.press("y")
        await until(pilot, shows="● on", holds=lambda: not pilot.app.engine.waiting())
        await pilot.press("3")
        for name in ("pro", "free"):
            await write(pilot, "a", name, "tab", "space")
            await pick(pilot, name)
            await pilot.press("ctrl+s")
            await until(pilot, holds=lambda name=name: name in [one.name for one in screen.session.audiences])
            await until(pilot, holds=lambda: pilot.app.screen is screen)
            screen.shown_tab.rows.move_to([audience.name for audience in screen.shown_tab.items].index(name))
            await pilot.press(".", "j")
            await pick(pilot, f"Make a token for {name}")
            await until(pilot, shows=f"copied a token for {name}")
            tokens[name] = pilot.app.clipboard
    read = {name: await seen(tmp_path, f"{address}plans?jwt_token={token}") for name, token in tokens.items()}
    assert all("For all." in page for page in read.values())
    assert ["For payers." in page for page in read.values()] == [True, False]
    runbook = f"{urlsplit(address).path}runbook"
    assert [f'href="{runbook}' in page for page in read.values()] == [True, False], "the navigation differs, too"
    for name, status in (("pro", 200), ("free", 404)):
        async with httpx.AsyncClient(follow_redirects=True) as visitor:
            answer = await visitor.get(f"{address}runbook", params={"jwt_token": tokens[name]})
        assert answer.status_code == status, "what is not in the navigation does not answer either"


@pytest.mark.slow
async def test_a_preview_by_keys_is_the_page_of_the_change_request_in_a_browser(
    service: RunningService, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSH_CONNECTION", "10.0.0.1 5000 10.0.0.2 22")  # the address is copied
    site, _ = await a_site(client, published=False)
    docs, _ = await a_site(client, published=True)
    async with running(app_on(service, tmp_path), (120, 40)) as pilot:
        await on_site(pilot, site)
        await pilot.press(".", "v")
        await until(pilot, holds=lambda: "/preview/" in pilot.app.clipboard or "Preview the site" in shown(pilot.app))
        if "Preview the site" in shown(pilot.app):
            await pilot.press("enter")
        await until(pilot, holds=lambda: "/preview/" in pilot.app.clipboard)
        draft = pilot.app.clipboard
        await until(pilot, shows="Address, copied")
        await pilot.press("q")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, PublishScreen))
        pilot.app.screen.go_to(Place.site(docs.id))
        await until(pilot, holds=lambda: pilot.app.screen.current.id == docs.id)
        await pilot.press(".", "v")
        await pick(pilot, "#4 Limits per workspace")
        await until(pilot, holds=lambda: "/~/changes/4/" in pilot.app.clipboard)
        request = pilot.app.clipboard
    assert site.title in await seen(tmp_path, draft), "a site that is not live"
    assert "Preview of change request #4: Limits per workspace" in await seen(tmp_path, request)
    assert "Preview of" not in await seen(tmp_path, address_here(service, docs))


@pytest.mark.slow
async def test_what_is_restored_by_keys_is_what_visitors_had(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    docs, path = await a_site(client, published=True)
    root = address_here(service, docs)
    looks = await client.send(GetCustomization(**path))
    schema = {
        **empty_schema(),
        "properties": {"plan": {"type": "string", "description": "The plan", "enum": ["free", "pro"]}},
    }
    structure = (await client.send(GetSiteStructure(**path))).structure
    sections = [item for item in structure if isinstance(item, SiteSection)]

    async def order() -> list[str]:
        found = (await client.send(GetSiteStructure(**path))).structure
        return [item.id for item in found]

    before, page = await order(), await page_of(root)
    async with running(app_on(service, tmp_path), (120, 40)) as pilot:
        await on_site(pilot, docs)
        engine = pilot.app.engine
        await engine.write(UpdateAdaptiveSchema(**path, json_schema=schema)).landed()
        other = {**schema, "properties": {}}
        await engine.write(UpdateAdaptiveSchema(**path, json_schema=other)).landed()
        changed = {**looks, "footer": {**looks["footer"], "copyright": "© somebody"}}
        await engine.write(UpdateCustomization(**path, settings=changed)).landed()
        pointers = [StructureItemPointer(type="site-section", id=one.id) for one in sections[-2:]]
        position = StructurePosition(before=pointers[0])
        await engine.write(SortSiteStructure(**path, item=pointers[1], position=position)).landed()
        assert await order() != before
        assert "© somebody" in await seen(tmp_path, root)
        await pilot.press("g", "h")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, SiteHistoryScreen))
        screen = pilot.app.screen
        for what, part in (
            ("customization changed", "customization"),
            ("structure changed", "structure"),
            ("schema changed", "visitor schema"),
        ):
            await until(pilot, holds=lambda what=what: any(row.what == what for row in screen.list.items))
            at = next(at for at, row in enumerate(screen.list.items) if row.what == what)
            await pilot.press("g", "g", *("j" * at))
            await until(pilot, holds=lambda at=at: screen.list.current is screen.list.items[at])
            await pilot.press(".", "b")
            await pick(pilot, part)
            if part == "customization":  # what was added since stays, or is removed
                await pick(pilot, "As it was: also remove 1 addition made since")
            await until(pilot, shows=f"Restore the {part} of")
            await pilot.press("y")
            await until(pilot, shows="restored: . b on the first row")
            await until(pilot, holds=lambda part=part: f"restore of {part}" in screen.list.items[0].detail)
    assert await order() == before
    assert await client.send(GetCustomization(**path)) == looks
    assert (await client.send(GetAdaptiveSchema(**path))).json_schema == schema
    assert await page_of(root) == page
