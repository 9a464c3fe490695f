"""Customization of published sites: page actions, fonts, social accounts, texts by language, variants."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from tests.service.browser import Browser
from tests.service.factories import World, insert
from tests.service.web_pages import add_variant, changed, customize, inside, plant, published, set_columns

from presscheck.api.content_changes import DeletePage
from presscheck.api.site_settings import GetPreview
from presscheck.api.sites import AdaptiveContentChange, UpdateSite
from presscheck.api.spaces import UpdateSpace
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.web.fonts import font_stack
from presscheck.service.web.languages import language_name
from presscheck.service.web.social_accounts import social_links


@pytest.fixture
async def browser() -> AsyncIterator[httpx.AsyncClient]:
    """A browser of a visitor; it does not follow redirects."""
    async with httpx.AsyncClient() as client:
        yield client


async def test_customization_selects_the_actions_of_pages(world: World, browser: httpx.AsyncClient) -> None:
    address, at = await published(world)
    home = inside(address)
    page = (await browser.get(f"{address}guide")).text
    assert f'<li><a href="{home}guide.md">View as Markdown</a></li>' in page
    assert f'<li hidden><button type="button" data-copies="{home}guide.md"' in page
    assert "Download PDF" not in page and "Edit this page" not in page
    assert (await browser.get(f"{address}guide.pdf")).status_code == 404
    await customize(world, at, pageActions={"markdown": False})
    assert 'class="actions"' not in (await browser.get(f"{address}guide")).text
    await customize(world, at, pageActions={"items": ["pdf", "mcp"]})
    page = (await browser.get(f"{address}guide")).text
    assert f'<li><a href="{home}guide.pdf">Download PDF</a></li>' in page and "View as Markdown" not in page
    assert f'<li class="url">{address}~gitbook/mcp</li>' in page


async def test_pages_of_a_repository_have_an_edit_link(world: World, browser: httpx.AsyncClient) -> None:
    address, at = await published(world)
    await customize(world, at, git={"showEditLink": True})
    plant(world, "Text.\n", git={"oid": "0", "path": "a b/start.md"})
    assert "Edit this page" not in (await browser.get(address)).text
    set_columns(world, SpaceRow, world.space, repository_url="https://github.com/acme/docs/tree/main/en/")
    edit = '<a href="https://github.com/acme/docs/edit/main/en/a%20b/start.md">Edit this page</a>'
    assert (await browser.get(address)).text.count(edit) == 2, "in the menu, and at the end"
    assert "Edit this page" not in (await browser.get(f"{address}guide")).text, "the page is not in the repository"
    await customize(world, at, git={"showEditLink": False})
    assert "Edit this page" not in (await browser.get(address)).text


async def test_pages_with_a_condition_have_no_pdf(world: World, browser: httpx.AsyncClient) -> None:
    _, at = await published(world)
    await customize(world, at, pdf={"enabled": True})
    await world.admin.send(UpdateSite(**at, adaptive_content=AdaptiveContentChange(enabled=True)))
    plant(world, "Text.\n", condition='visitor.claims.plan == "pro"')
    url = (await world.admin.send(GetPreview(**at, claims="(plan:pro)"))).url
    guide = await browser.get(f"{url}guide")
    start = (await browser.get(url)).text
    assert ">Start</a>" in start and "Download PDF" not in start
    assert (await browser.get(f"{url}start.pdf")).status_code == 404
    pdf = await browser.get(f"{url}guide.pdf")
    assert 'guide.pdf">' in guide.text and pdf.status_code == 307
    assert pdf.headers["cache-control"] == "no-store", "the address expires"


async def test_styles_fonts_and_accounts_are_on_the_page(world: World, browser: httpx.AsyncClient) -> None:
    address, at = await published(world)
    plain = (await browser.get(address)).text
    assert not any(f"data-{name}" in plain for name in ("side", "list", "search", "look", "header", "corners"))
    display = {"header": False, "footer": True}
    await customize(
        world,
        at,
        styling={
            "sidebar": {"background": "filled", "list": "pill"},
            "search": "prominent",
            "corners": "straight",
            "headingFont": "RobotoSlab",
        },
        socialAccounts=[
            {"platform": "github", "handle": "acme", "display": display},
            {"platform": "bluesky", "handle": "acme.example", "display": {"header": True, "footer": False}},
        ],
        header={"primaryLink": {"kind": "page", "page": "guide", "space": world.space}},
    )
    page = (await browser.get(address)).text
    for wanted in (
        'data-side="filled"',
        'data-list="pill"',
        'data-search="prominent"',
        'data-corners="straight"',
        "--heading-font:'RobotoSlab', 'Roboto Slab', Rockwell",
        '<ul class="accounts"><li><a rel="me" href="https://github.com/acme">GitHub</a></li></ul>',
        '<a class="plain" rel="me" href="https://bsky.app/profile/acme.example">Bluesky</a></nav>',
        f'<a class="home" href="{inside(address)}guide">Docs</a>',
    ):
        assert wanted in page


def test_accounts_with_unusual_names_are_left_out() -> None:
    def url(platform: str, handle: Any) -> list[str]:
        account = {"platform": platform, "handle": handle, "display": {"footer": True}}
        return [link.url for link in social_links([account], "footer")]

    assert url("mastodon", "@ann@example.social") == ["https://example.social/@ann"]
    assert url("linkedin", "acme") == ["https://www.linkedin.com/company/acme"]
    assert url("linkedin", "in/ann") == ["https://www.linkedin.com/in/ann"]
    assert url("slack", "acme") == ["https://acme.slack.com/"]
    assert url("github", 'a"onclick=') == url("mastodon", "ann") == url("myspace", "ann") == url("github", None) == []
    assert url("mastodon", "ann@evil.example/path") == []
    assert social_links("no list", "footer") == social_links([1], "footer") == []


async def test_custom_fonts_are_loaded_only_from_the_service(world: World, browser: httpx.AsyncClient) -> None:
    address, at = await published(world)
    own = f"{address}~files/space/file/lamp.woff2"
    faces = [
        {"weight": 400, "sources": [{"url": own, "format": "woff2"}, {"url": "https://cdn.example/l.woff2"}]},
        {"weight": 700, "sources": [{"url": "https://cdn.example/b.woff2"}]},
        {"weight": "x", "sources": [{"url": own}]},
    ]
    font = {"id": "1", "custom": True, "fontFamily": "Lamp Sans", "fontFaces": faces}
    await customize(world, at, styling={"font": font})
    answer = await browser.get(address)
    assert f'<link rel="stylesheet" href="{inside(address)}~fonts.css">' in answer.text
    assert f"font-src {world.base_url}" in answer.headers["content-security-policy"]
    sheet = await browser.get(f"{address}~fonts.css")
    assert sheet.headers["content-type"] == "text/css; charset=utf-8"
    assert sheet.text == (
        "@font-face{font-family:'Lamp Sans';font-weight:400;font-display:swap;"
        f'src:url("{inside(own)}") format("woff2")}}\n'
    )
    await customize(world, at, styling={"font": font | {"fontFaces": faces[1:2]}})
    answer = await browser.get(address)
    assert "~fonts.css" not in answer.text and "font-src" not in answer.headers["content-security-policy"]
    hostile = font | {"fontFamily": "x'}body{display:none}"}
    await customize(world, at, styling={"font": hostile})
    assert "display" not in (await browser.get(f"{address}~fonts.css")).text


def test_missing_fonts_have_similar_fallbacks() -> None:
    assert font_stack("Inter", "sans-serif") == "'Inter', sans-serif"
    assert font_stack("IBMPlexSerif", "sans-serif").startswith("'IBMPlexSerif', 'IBM Plex Serif', Charter")
    assert font_stack(None, "sans-serif") == font_stack("a;b", "sans-serif") == "sans-serif"


async def test_texts_are_in_the_language_of_the_page(world: World, browser: httpx.AsyncClient) -> None:
    address, at = await published(world)
    target = {"kind": "url", "url": "https://example.org/"}
    names = {"localizedTitle": {"de": "Über uns", "pt-BR": "Sobre"}}
    await customize(
        world,
        at,
        title="Lamps",
        localizedTitle={"de": "Lampen"},
        announcement={"enabled": True, "message": "New!", "localizedMessage": {"de": "Neu!"}, "style": "info"},
        header={"links": [{"title": "About", "to": target, "links": []} | names]},
        footer={"groups": [{"title": "Company", "links": [{"title": "About", "to": target} | names]} | names]},
    )
    english = (await browser.get(address)).text
    assert "<title>Start | Lamps</title>" in english and "New!" in english and english.count(">About</a>") == 2
    await world.admin.send(UpdateSpace(space_id=world.space, language="de"))
    german = (await browser.get(address)).text
    assert "<title>Start | Lampen</title>" in german and "Neu!" in german
    assert german.count(">Über uns</a>") == 2 and "<p>Über uns</p>" in german


async def test_switching_the_version_keeps_the_page_where_it_exists(world: World, browser: httpx.AsyncClient) -> None:
    address, at = await published(world)
    former = await add_variant(world, at, "Former")
    await changed(world, insert("New", "Only in this version.\n"))
    home = inside(address)
    guide = (await browser.get(f"{address}guide")).text
    assert f'<li><a href="{home}former/guide">Former</a></li>' in guide
    assert 'class="version"' not in guide, "the default version has no banner"
    new = (await browser.get(f"{address}new")).text
    assert f'<li><a href="{home}former/">Former</a></li>' in new
    old = (await browser.get(f"{address}former/guide")).text
    assert (
        '<div class="version" role="note"><p>You are reading Former, which is not the default version. '
        f'<a href="{home}guide">Read this page in Manual</a></p></div>'
    ) in old
    await changed(world, DeletePage(page="guide"))
    old = (await browser.get(f"{address}former/guide")).text
    assert f'<a href="{home}">Go to Manual</a></p></div>' in old
    await world.admin.send(UpdateSpace(space_id=former, language="de"))
    assert 'class="version"' not in (await browser.get(f"{address}former/guide")).text, "a language is no version"


async def test_languages_are_listed_by_their_native_names(world: World, browser: httpx.AsyncClient) -> None:
    address, at = await published(world)
    await world.admin.send(UpdateSpace(space_id=world.space, language="en"))
    await add_variant(world, at, "Copy", language="ar")
    page = (await browser.get(f"{address}guide")).text
    assert '<span lang="ar">العربية</span>' in page and '<span lang="en">English</span>' in page
    for language, url in (("en", f"{address}guide"), ("ar", f"{address}copy/guide")):
        link = f'<link rel="alternate" hreflang="{language}" href="{url}">'
        assert link in page, "search engines ignore relative URLs"
    second = await add_variant(world, at, "Second", language="ar")
    page = (await browser.get(f"{address}guide")).text
    assert "العربية" not in page and ">Copy</a>" in page and ">Second</a>" in page, "both would have the same name"
    assert second
    assert (language_name("pt-BR"), language_name("de_AT"), language_name("tlh")) == (
        "Português (Brasil)",
        "Deutsch",
        "",
    )


async def test_the_layout_of_a_page_hides_its_actions_and_its_date(world: World, browser: httpx.AsyncClient) -> None:
    address, _ = await published(world)
    plant(world, "Text.\n", updatedAt="2026-05-20T09:30:00.000Z")
    page = (await browser.get(address)).text
    assert 'class="actions"' in page and ">20 May 2026</time>" in page
    plant(world, "Text.\n", updatedAt="2026-05-20T09:30:00.000Z", layout={"actions": False, "metadata": False})
    page = (await browser.get(address)).text
    assert 'class="actions"' not in page and "20 May 2026" not in page


@pytest.mark.slow
@pytest.mark.needs("chromium")
async def test_menu_and_feedback_form_work_by_keyboard(world: World, chromium: Browser) -> None:
    address, at = await published(world)
    styling = {"headingFont": "RobotoSlab", "sidebar": {"background": "filled", "list": "line"}, "search": "prominent"}
    await customize(world, at, feedback={"enabled": True}, pdf={"enabled": True}, styling=styling)
    chromium.open(f"{address}guide")
    assert "RobotoSlab" in chromium.value("getComputedStyle(document.querySelector('h1')).fontFamily")
    chromium.value("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    focused = "document.activeElement.innerText"
    while chromium.value(focused) != "Page actions":
        chromium.press("Tab", 9)
    chromium.type_key("Enter", 13)
    assert chromium.value("document.querySelector('.actions .menu').matches(':popover-open')")
    chromium.press("Tab", 9)
    assert chromium.value(focused) == "Copy as Markdown"
    chromium.type_key("Enter", 13)
    chromium.wait("window.copied")
    assert chromium.value("window.copied").startswith("# Guide\n\nFirst.")
    while chromium.value(focused) != "Partly":
        chromium.press("Tab", 9)
    chromium.type_key("Enter", 13)
    chromium.wait("document.querySelector('.thanks')?.checkVisibility()")
    assert chromium.value("getComputedStyle(document.querySelector('.feedback fieldset')).display") == "none"
    assert chromium.value("location.hash") == ""

    await world.admin.send(UpdateSpace(space_id=world.space, language="ar"))
    chromium.open(f"{address}guide", 1280)
    boxes = "['.side', '.opens-actions'].map(name => document.querySelector(name).getBoundingClientRect().x)"
    side, actions = chromium.value(boxes)
    assert actions < 400 < 900 < side, "it reads from the right"
    chromium.open(f"{address}guide", 390, 844)
    assert chromium.value("document.documentElement.scrollWidth") == 390
