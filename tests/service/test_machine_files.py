"""Files of published sites for programs: robots.txt, sitemap, llms.txt, index, feeds, structured data, Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from email.utils import parsedate_to_datetime
from xml.etree import ElementTree

import httpx
import pytest
from tests.service.factories import World, insert, rewrite
from tests.service.web_pages import changed, published, write

from presscheck.api.content_changes import UpdatePage
from presscheck.api.site_settings import CreateRedirect, GetPreview, RedirectDestination
from presscheck.api.sites import UpdateSite

NAMES = ["robots.txt", "sitemap.xml", "llms.txt", "llms-full.txt", "index.json", "rss.xml"]


@pytest.fixture
async def browser() -> AsyncIterator[httpx.AsyncClient]:
    """A browser that does not follow redirects."""
    async with httpx.AsyncClient() as client:
        yield client


async def test_files_list_the_pages_with_their_urls(world: World, browser: httpx.AsyncClient) -> None:
    address, _ = await published(world)
    robots = (await browser.get(f"{address}robots.txt")).text
    assert robots == f"User-agent: *\nAllow: /\nSitemap: {address}sitemap.xml\n"
    sitemap = ElementTree.fromstring((await browser.get(f"{address}sitemap.xml")).text)
    space = {"s": "http://www.sitemaps.org/schemas/sitemap/0.9"}
    assert [place.text for place in sitemap.findall("s:url/s:loc", space)] == [
        address,
        f"{address}guide",
        f"{address}reference",
    ]
    llms = (await browser.get(f"{address}llms.txt")).text
    assert llms.startswith(f"# Docs\n\n> Search and read these pages by MCP: {address}~gitbook/mcp\n\n## ")
    assert f"- [Guide]({address}guide.md)\n" in llms
    index = (await browser.get(f"{address}index.json")).json()
    assert (index["title"], index["mcp"]) == ("Docs", f"{address}~gitbook/mcp")
    assert [(page["title"], page["url"], page["markdown"]) for page in index["pages"]] == [
        ("Start", address, f"{address}start.md"),
        ("Guide", f"{address}guide", f"{address}guide.md"),
        ("Reference", f"{address}reference", f"{address}reference.md"),
    ]
    for page in index["pages"]:
        answer = await browser.get(page["markdown"])
        assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
        assert answer.text in (await browser.get(f"{address}llms-full.txt")).text
        assert answer.headers["link"] == f'<{page["url"]}>; rel="canonical"'


async def test_page_as_markdown_has_its_title_and_absolute_urls(world: World, browser: httpx.AsyncClient) -> None:
    address, _ = await published(world)
    await write(world, "See [the guide](guide.md#second), [out](https://example.org/) and `[code](guide.md)`.\n")
    text = (await browser.get(f"{address}start.md")).text
    assert text == (
        f"# Start\n\nSee [the guide]({address}guide#second), [out](https://example.org/) and `[code](guide.md)`.\n"
    )
    agent = {"accept": "text/markdown, text/html;q=0.5"}
    assert (await browser.get(address, headers=agent)).text == text
    page = await browser.get(address, headers={"accept": "text/html, text/markdown;q=0.5"})
    assert page.headers["content-type"] == "text/html; charset=utf-8" and "accept," in page.headers["vary"]
    assert f'<link rel="alternate" type="text/markdown" href="{httpx.URL(address).path}start.md">' in page.text
    assert (await browser.get(f"{address}none.md")).status_code == 404


async def test_sites_that_are_not_public_are_not_listed_for_search_engines(
    world: World, browser: httpx.AsyncClient
) -> None:
    address, at = await published(world)
    assert "x-robots-tag" not in (await browser.get(f"{address}guide.md")).headers
    await world.admin.send(UpdateSite(**at, visibility="unlisted"))
    assert (await browser.get(f"{address}guide.md")).headers["x-robots-tag"] == "noindex"
    assert (await browser.get(f"{address}robots.txt")).text == "User-agent: *\nDisallow: /\n"
    assert "<url>" not in (await browser.get(f"{address}sitemap.xml")).text
    assert "Guide" in (await browser.get(f"{address}llms.txt")).text, "readers may list it"
    await world.admin.send(UpdateSite(**at, visibility="share-link"))
    for name in NAMES:
        assert (await browser.get(f"{address}{name}")).status_code == 404, name


def items_of(feed: httpx.Response) -> list[dict[str, str]]:
    assert feed.headers["content-type"] == "application/rss+xml"
    channel = ElementTree.fromstring(feed.text).find("channel")
    assert channel is not None
    assert (channel.findtext("title"), channel.findtext("link"), channel.findtext("description")) != (None, None, None)
    link = channel.find("{http://www.w3.org/2005/Atom}link")
    assert link is not None and link.get("href") == str(feed.url)
    return [{part.tag: part.text or "" for part in item} for item in channel.findall("item")]


async def test_a_site_has_a_feed_of_its_changes(world: World, browser: httpx.AsyncClient) -> None:
    address, _ = await published(world)
    assert items_of(await browser.get(f"{address}rss.xml")) == []
    await changed(world, rewrite("start", "# Start\n\nA."), rewrite("guide", "# Guide\n\nB."))
    before = items_of(await browser.get(f"{address}rss.xml"))
    assert {item["link"] for item in before} == {address, f"{address}guide"}
    await changed(world, rewrite("guide", "# Guide <&> ]]>\n\nText."))
    await changed(world, UpdatePage(page="guide", description="A \x0b & \x1b[2J."))
    first, other = items_of(await browser.get(f"{address}rss.xml"))
    assert (first["title"], first["link"], first["description"]) == ("Guide <&> ]]>", f"{address}guide", "A  & [2J.")
    assert parsedate_to_datetime(first["pubDate"]) >= parsedate_to_datetime(other["pubDate"])
    assert first["guid"] not in {item["guid"] for item in before}, "readers show a page again when it changes"
    assert other in before
    page = (await browser.get(f"{address}guide")).text
    link = f'type="application/rss+xml" title="Docs" href="{httpx.URL(address).path}rss.xml">'
    assert link in page and page.count("application/rss+xml") == 1
    assert (await browser.get(f"{address}guide/rss.xml")).status_code == 404, "it has no update blocks"


async def test_page_with_updates_has_a_feed(world: World, browser: httpx.AsyncClient) -> None:
    address, _ = await published(world)
    updates = """\
## Setup

{% updates format="full" %}
{% update date="2025-12-25" tags="a" %}
## A brand & new update

It has *lamps* & more.

### Details

All.
{% endupdate %}

{% update date="soon" %}
## Setup

Again.
{% endupdate %}

{% update date="2025-11-01" %}
Without a heading.
{% endupdate %}
{% endupdates %}

```
{% update date="2025-10-01" %}
## In code
{% endupdate %}
```
"""
    await changed(world, rewrite("guide", f"# Guide\n\n{updates}"))
    page = (await browser.get(f"{address}guide")).text
    assert f'title="Guide" href="{httpx.URL(address).path}guide/rss.xml">' in page
    items = items_of(await browser.get(f"{address}guide/rss.xml"))
    assert [(item["title"], item["link"], item.get("pubDate")) for item in items] == [
        (
            "A brand & new update",
            f"{address}guide#a-brand-and-new-update",
            "Thu, 25 Dec 2025 00:00:00 +0000",
        ),
        ("Setup", f"{address}guide#setup-1", None),
    ]
    assert items[0]["description"] == "It has lamps & more.\nDetails\nAll."
    for item in items:
        assert f'id="{httpx.URL(item["link"]).fragment}"' in page


async def test_hostile_titles_are_escaped_in_structured_data(world: World, browser: httpx.AsyncClient) -> None:
    address, at = await published(world)
    title = "</script><script>alert(1)</script> & <!-- \" '"
    await changed(world, UpdatePage(page="guide", title=title, description=title))
    page = (await browser.get(f"{address}guide")).text
    (data,) = re.findall(r'<script type="application/ld\+json">(.*?)</script>', page)
    assert "<" not in data and "&" not in data
    article, breadcrumbs = json.loads(data)["@graph"]
    updated = re.search(r'<time datetime="([^"]+)">', page)
    assert updated and article == {
        "@type": "TechArticle",
        "headline": title,
        "description": title,
        "url": f"{address}guide",
        "inLanguage": "en",
        "isPartOf": {"@type": "WebSite", "name": "Docs", "url": address},
        "dateModified": updated[1],
    }
    steps = [(step["position"], step["name"], step["item"]) for step in breadcrumbs["itemListElement"]]
    assert steps == [(1, "Docs", address), (2, title, f"{address}guide")]
    assert '"BreadcrumbList", "itemListElement": [{' in (await browser.get(address)).text
    await world.admin.send(UpdateSite(**at, visibility="unlisted"))
    assert "ld+json" not in (await browser.get(f"{address}guide")).text, "search engines do not list it"


async def test_other_urls_of_a_page_redirect_to_one(world: World, browser: httpx.AsyncClient) -> None:
    address, _ = await published(world)
    for path in ("start", "start/", "//start"):
        answer = await browser.get(f"{address}{path}")
        assert (answer.status_code, answer.headers["location"]) == (307, address), path
    assert (await browser.get(f"{address}guide")).status_code == 200
    assert (await browser.get(f"{address}guide/")).headers["location"] == f"{address}guide"
    for path, leads in (("guide/", f"{address}guide"), ("start", address)):
        assert (await browser.get(f"{address}{path}?ref=a%26b")).headers["location"] == f"{leads}?ref=a%26b", path
    assert (await browser.get(f"{address.rstrip('/')}?q=lamp")).headers["location"] == f"{address}?q=lamp", "a search"
    await changed(world, rewrite("guide", "# Größe & 100 %\n\nText."))
    assert (await browser.get(f"{address}guide")).status_code == 200


async def test_home_page_of_the_service_lists_public_sites(world: World, browser: httpx.AsyncClient) -> None:
    address, at = await published(world)
    html = {"accept": "text/html,*/*"}
    front = await browser.get(world.base_url, headers=html)
    link = f'<a href="{httpx.URL(address).path}">Docs</a>'
    assert front.status_code == 200 and link in front.text
    assert (await browser.get(world.base_url)).status_code == 404, "programs get an error of the API"
    sitemap = f"\nSitemap: {address}sitemap.xml\n"
    robots = (await browser.get(f"{world.base_url}/robots.txt")).text
    assert robots.startswith("User-agent: *\nDisallow: /v1/\n") and sitemap in robots
    for path in ("docs", "docs/"):
        assert (await browser.get(f"{world.base_url}/{path}")).headers["location"] == "/"
    await world.admin.send(UpdateSite(**at, visibility="unlisted"))
    assert link not in (await browser.get(world.base_url, headers=html)).text
    assert sitemap not in (await browser.get(f"{world.base_url}/robots.txt")).text
    for path in ("robots.txt", "favicon.ico"):
        assert (await browser.get(f"{world.base_url}/{path}")).status_code == 200


async def test_missing_page_suggests_pages_with_similar_urls(world: World, browser: httpx.AsyncClient) -> None:
    address, _ = await published(world)
    for path in ("old/gide", "guides", "guide.html", "Guide"):
        answer = await browser.get(f"{address}{path}")
        assert answer.status_code == 404 and f'<a href="{httpx.URL(address).path}guide">Guide</a>' in answer.text, path
    assert "similar" not in (await browser.get(f"{address}zzzz")).text
    assert (await browser.get(f"{address}{'g' * 5000}")).status_code == 404


async def test_page_shows_the_time_of_its_last_update(world: World, browser: httpx.AsyncClient) -> None:
    address, _ = await published(world)
    await write(world, "Text.")
    page = (await browser.get(address)).text
    assert re.search(r'Last updated <time datetime="[^"]+">\d{1,2} [A-Z][a-z]+ 20\d\d</time>', page)
    assert f'<a href="{httpx.URL(address).path}start.md">View as Markdown</a>' in page


@pytest.mark.attack("conditional content")
async def test_only_a_preview_lists_all_paths(world: World, browser: httpx.AsyncClient) -> None:
    address, at = await published(world)
    await changed(world, insert("Unlisted", "Text.\n", hidden=True))
    away = RedirectDestination(kind="external", url="https://example.org/")
    await world.admin.send(CreateRedirect(**at, source="/away", destination=away))
    assert (await browser.get(f"{address}paths.json")).status_code == 404
    preview = (await world.admin.send(GetPreview(**at))).url
    paths = (await browser.get(f"{preview}paths.json")).json()["paths"]
    assert paths == ["", "away", "guide", "reference", "start", "unlisted"]
