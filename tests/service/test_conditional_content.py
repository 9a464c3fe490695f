"""Content with a condition is in no response to visitors who do not meet it; a crawler reads all that visitors can."""

from __future__ import annotations

import html
import io
import json
import re
from collections.abc import AsyncIterator
from copy import deepcopy
from pathlib import Path
from urllib.parse import unquote, urljoin

import httpx
import jwt
import pypdf
import pytest
from starlette.routing import Route
from tests.service.factories import World, rewrite
from tests.service.pdf import download, draft_pdf, space_pdf
from tests.service.web_pages import published, signing

from presscheck import errors
from presscheck.api.published_sites import GetPublishedSite
from presscheck.api.site_settings import GetCustomization, GetPreview, UpdateCustomization
from presscheck.api.site_structure import AddSection, AddSectionGroup, AddSiteSpace, UpdateSection
from presscheck.api.sites import AdaptiveContentChange, GetSite, UpdateSite
from presscheck.api.spaces import CreateSpace, GetSpace
from presscheck.service.app import Adapter, build
from presscheck.service.content.revisions import add_document, add_revision, new_page
from presscheck.service.db.engine import Database
from presscheck.service.models.spaces import SpaceRow

WALKED = {"/docs/{site}", "/docs/{site}/{path:path}", "/preview/{preview}/{path:path}", "/pdf/{signed}/{name}"}
"""The routes that show pages without an API token."""
WITHOUT_PAGES = {
    "/",
    "/robots.txt",
    "/favicon.ico",
    "/app/{path:path}",
    "/docs",
    "/docs/",
    "/assets/site.css",
    "/assets/site-{digest}.css",
    "/assets/site-{digest}.js",
    "/openapi.json",
    "/healthz",
    "/readyz",
    "/files/{content_id}/{name}",
    "/openapi/{organization_id}/{slug}.json",
    "/integrations/{path:path}",
    "/integrations/{name}/assets/{file}",
    "/scripts/{site_id}/{installation_id}/{signature}.js",
    "/.well-known/oauth-authorization-server",
    "/device",
    "/oauth/authorize",
    "/oauth/device",
    "/oauth/revoke",
    "/oauth/token",
}
"""Other routes without an API token, which do not show the text of a page."""
WORD = "zorb"
PLACES = ["uppercase"]


def hidden(place: str) -> str:
    """Return a word, unique for a place, that only visitors with the claim `pro` may see."""
    if place not in PLACES:
        PLACES.append(place)
    return f"{{%if visitor.claims.pro%}}{WORD}{place}{{%endif%}}"


TEXT = f"""\
Open words. {hidden("paragraph")} **{hidden("strong")}** ~~{hidden("struck")}~~

{{% if visitor.claims.pro %}}
{hidden("block")}
{{% endif %}}

{{% IF visitor.claims.pro %}}
{WORD}uppercase
{{% EndIf %}}

## Open {hidden("heading")}

| {hidden("head")} | b |
|---|---|
| {hidden("cell")} | c |

<table data-view="cards"><thead><tr><th></th><th data-hidden data-card-target data-type="content-ref"></th></tr></thead>
<tbody><tr><td>Open {hidden("card")}</td><td><a href="guide.md">guide.md</a></td></tr></tbody></table>

![Alt {hidden("alternative")}](https://example.org/a.png "Caption {hidden("caption")}")

<figure><img src="https://example.org/b.png" alt="{hidden("figure")}"><figcaption>{hidden("legend")}</figcaption>
</figure>

[Open {hidden("link")}](guide.md "Title {hidden("hover")}") <a title="{hidden("attribute")}" href="guide.md">a</a>

- {hidden("item")}

> {hidden("quotation")}

{{% tabs %}}
{{% tab title="Tab {hidden("tab")}" %}}
{hidden("inatab")}
{{% endtab %}}
{{% endtabs %}}

{{% code title="{hidden("codetitle")}" %}}
```text
Code.
```
{{% endcode %}}

<details><summary>{hidden("summary")}</summary>Details {hidden("details")}</details>

{{% embed url="https://example.org/e" %}}
{hidden("embed")}
{{% endembed %}}

{{% content-ref url="guide.md" %}}
[guide.md](guide.md)
{{% endcontent-ref %}}

{{% file src="plan.txt" %}}
{hidden("file")}
{{% endfile %}}

{{% swagger method="get" path="/x" summary="{hidden("operation")}" %}}
{{% endswagger %}}

{{% include "both.md" %}}

<code class="expression">space.vars.version</code>

Note.[^1]

[^1]: {hidden("footnote")}
"""


def plant(world: World) -> None:
    """Add a live revision with hidden words in every field that visitors read."""
    database = Database(world.database_url)
    with database.writing.begin() as session:
        snippet = add_document(session, f"Open. {hidden('snippet')}\n")
        below = add_document(session, f"{WORD}belowtext\n")
        tree = [
            new_page(
                f"Start {hidden('title')}",
                slug="start",
                page_id="start",
                document=add_document(session, TEXT),
                description=f"Open {hidden('description')}",
                linkTitle=f"Start {hidden('navigation')}",
            ),
            new_page(f"Guide {hidden('reference')}", slug="guide", document=add_document(session, "Open guide.\n")),
            new_page(
                f"Group {hidden('group')}",
                slug="group",
                kind="group",
                pages=[new_page("Inner", slug="inner", document=add_document(session, "Open inside.\n"))],
            ),
            new_page(
                f"Link {hidden('external')}",
                slug="",
                kind="link",
                target={"kind": "url", "url": "https://example.org/"},
            ),
            new_page(
                f"Only some {WORD}page",
                slug="some",
                page_id="some",
                document=add_document(session, f"{WORD}pagetext\n"),
                condition="visitor.claims.pro",
                pages=[
                    new_page(
                        f"{WORD}below",
                        slug="below",
                        page_id="below",
                        document=below,
                    )
                ],
            ),
        ]
        file = {"id": "plan", "name": f"plan{hidden('attached')}.txt", "contentType": "text/plain", "size": 1}
        revision = add_revision(
            session,
            world.space,
            tree,
            created_at="2026-05-20T09:30:00.000Z",
            created_by=None,
            files=[file | {"content": "0" * 64, "git": {"oid": "0", "path": "plan.txt"}}],
            reusable_contents=[
                {"id": "both", "title": "Both", "document": snippet, "git": {"oid": "0", "path": "both.md"}}
            ],
            variables={"version": f"2 {hidden('variable')}"},
        )
        space = session.get_one(SpaceRow, world.space)
        space.revision_id, space.title = revision, f"Manual {hidden('space')}"
    database.close()


async def site_with_the_word(world: World) -> tuple[str, dict[str, str]]:
    """Publish a site with adaptive content and with hidden words also in its structure and customization."""
    address, at = await published(world, visibility="visitor-auth")
    plant(world)
    other = await world.admin.send(CreateSpace(organization_id=world.organization, title=f"Other {hidden('other')}"))
    here = await world.admin.send(AddSection(**at, space_id=world.space, title=f"Here {hidden('section')}"))
    await world.admin.send(AddSiteSpace(**at, space_id=other.id, section_id=here.id))
    third = await world.admin.send(CreateSpace(organization_id=world.organization, title="There"))
    there = await world.admin.send(AddSection(**at, space_id=third.id, title="There"))
    await world.admin.send(AddSectionGroup(**at, title=f"More {hidden('menu')}", sections=(there.id,)))
    looks = deepcopy(await world.admin.send(GetCustomization(**at)))
    target = {"kind": "url", "url": "https://example.org/"}
    looks |= {"title": f"Docs {hidden('site')}"}
    looks["header"]["links"] = [{"title": f"Sign up {hidden('header')}", "to": target, "links": []}]
    looks["footer"] = {
        "groups": [{"title": f"Us {hidden('footer')}", "links": [{"title": f"Read {hidden('bottom')}", "to": target}]}],
        "copyright": f"Acme {hidden('copyright')}",
    }
    looks["announcement"] = {"enabled": True, "message": f"New {hidden('announcement')}", "style": "info"}
    await world.admin.send(UpdateCustomization(**at, settings=looks))
    await world.admin.send(UpdateSite(**at, adaptive_content=AdaptiveContentChange(enabled=True)))
    return address, at


@pytest.fixture
async def browser() -> AsyncIterator[httpx.AsyncClient]:
    """A browser of a visitor; it does not follow redirects."""
    async with httpx.AsyncClient() as client:
        yield client


async def walk(browser: httpx.AsyncClient, start: str) -> str:
    """Crawl a site. Returns all responses in lower case: URLs, headers, pages, search results, MCP messages."""
    files = ("robots.txt", "sitemap.xml", "llms.txt", "llms-full.txt", "index.json", "rss.xml", "start.md", "some.md")
    waiting = [start, f"{start}none", f"{start}?q=open", f"{start}?q=guide", f"{start}?q=start", f"{start}some"]
    waiting += [f"{start}{file}" for file in files]
    said: dict[str, str] = {}
    while waiting:
        url = waiting.pop().partition("#")[0]
        if url in said or not url.startswith(start):
            continue
        answer = await browser.get(url)
        said[url] = f"{url}\n{answer.headers}\n{answer.text}"
        links = re.findall(r'(?:href|src)="([^"]+)"', answer.text)
        waiting += [urljoin(url, html.unescape(link)) for link in (*links, answer.headers.get("location", ""))]
    said["tools"] = await told(browser, start) if "/docs/" in start else ""
    assert len(said) > 8, "the walk must reach the pages"
    return unquote(html.unescape("\n".join(said.values()))).casefold()


async def told(browser: httpx.AsyncClient, start: str) -> str:
    """Return the responses of a site to MCP messages."""
    calls = [("searchDocumentation", {"query": query}) for query in ("open", "guide", "start", WORD)]
    calls += [("getPage", {"url": page}) for page in ("start", "some", "some/below")]
    messages = [("tools/call", {"name": name, "arguments": arguments}) for name, arguments in calls]
    answers: list[str] = []
    for method, params in (("initialize", {}), ("tools/list", {}), *messages):
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answers.append((await browser.post(f"{start}~gitbook/mcp", json=message)).text)
    assert "Open words." in answers[-3]
    return json.dumps(answers)


async def found(browser: httpx.AsyncClient, start: str) -> set[str]:
    """Return the hidden words for which the search of a site has results."""
    words = {WORD, *(f"{WORD}{place}" for place in PLACES)}
    return {word for word in words if "No results for" not in (await browser.get(start, params={"q": word})).text}


def test_every_route_without_a_token_is_listed_here(tmp_path: Path) -> None:
    app = build(f"sqlite:///{tmp_path / 'a.sqlite'}", data_dir=tmp_path)
    routes = [route for route in app.routes if isinstance(route, Route)]
    assert {route.path for route in routes if not isinstance(route.endpoint, Adapter)} == WALKED | WITHOUT_PAGES


@pytest.mark.slow
@pytest.mark.attack("conditional content")
async def test_published_sites_hide_conditional_content_everywhere(world: World, browser: httpx.AsyncClient) -> None:
    address, at = await site_with_the_word(world)
    key = await signing(world, at)
    await browser.get(address, params={"jwt_token": jwt.encode({"pro": False}, key, "HS256")})
    assert WORD not in await walk(browser, address)
    assert not await found(browser, address)
    await browser.get(address, params={"jwt_token": jwt.encode({"pro": True}, key, "HS256")})
    shown = await walk(browser, address)
    missing = {place for place in PLACES if f"{WORD}{place}" not in shown}
    assert missing <= {"subject"}, "those who may see it must see it, or the walk does not read that place"
    await world.admin.send(UpdateSite(**at, visibility="public"))
    assert WORD not in (await browser.get(world.base_url, headers={"accept": "text/html"})).text
    assert WORD not in await walk(browser, address)
    assert WORD not in await walk(browser, address), "nor on pages that are kept"
    assert not await found(browser, address)


@pytest.mark.attack("conditional content")
async def test_previews_hide_conditional_content_everywhere(world: World, browser: httpx.AsyncClient) -> None:
    _, at = await site_with_the_word(world)
    draft = await world.draft(f"Better {hidden('subject')}")
    await world.edit(draft, rewrite("start", f"# Start {hidden('title')}\n\nOpen. {hidden('paragraph')}\n"))
    for claims, is_shown in (("(pro:!f)", False), ("(pro:!t)", True)):
        preview = str((await world.admin.send(GetPreview(**at, claims=claims))).url)
        request = f"{preview}~/changes/{draft.number}/"
        assert (WORD in await walk(browser, preview)) is is_shown
        said = (await browser.get(request)).text
        assert f"Preview of change request #{draft.number}" in said
        assert all((f"{WORD}{place}" in said) is is_shown for place in ("subject", "title", "paragraph"))


@pytest.mark.slow
@pytest.mark.attack("conditional content")
async def test_pdfs_hide_conditional_content_everywhere(world: World) -> None:
    plant(world)
    draft = await world.draft(f"Better {hidden('subject')}")
    urls = [await draft_pdf(world, draft), await space_pdf(world, page="start", only=True)]
    for url in urls:
        reader = pypdf.PdfReader(io.BytesIO((await download(url)).content))
        said = " ".join(" ".join(page.extract_text() for page in reader.pages).split())
        assert "Open words." in said
        assert "without content for visitors with claims" in said
        titles = [item.title for item in reader.outline if not isinstance(item, list)]
        everything = f"{url} {said} {titles} {reader.metadata}"
        assert WORD not in everything.replace("-\n", "").casefold()
    for page in ("some", "below"):
        with pytest.raises(errors.NotFound, match="visitors without claims"):
            await space_pdf(world, page=page)


@pytest.mark.attack("conditional content")
async def test_published_site_in_the_api_hides_conditional_content_from_guests(world: World) -> None:
    _, at = await site_with_the_word(world)
    other = await world.admin.send(CreateSpace(organization_id=world.organization, title="Only"))
    only = await world.admin.send(AddSection(**at, space_id=other.id, title=f"Only {WORD}"))
    await world.admin.send(UpdateSection(**at, site_section_id=only.id, condition="visitor.claims.pro"))
    await world.admin.send(UpdateSite(**at, visibility="public"))
    for role, is_shown in (("guest", False), ("read", True)):
        site = await world.clients[role].send(GetPublishedSite(**at))
        assert (WORD in site.model_dump_json()) is is_shown
        assert "Here" in site.model_dump_json()
    key = await share_key(world, at)
    space = await world.clients["guest"].send(GetSpace(space_id=world.space, share_key=key))
    assert space.title == "Manual "


async def share_key(world: World, at: dict[str, str]) -> str:
    await world.admin.send(UpdateSite(**at, visibility="share-link"))
    return str((await world.admin.send(GetSite(**at))).urls.published).rstrip("/").rpartition("/")[2]
