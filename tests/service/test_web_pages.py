"""Published sites as web pages, read over a socket without an account."""

from __future__ import annotations

import base64
import hmac
import html
import json
import re
import shlex
from collections.abc import AsyncIterator
from contextlib import closing
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import httpx
import jwt
import pytest
from tests.service.factories import World, insert, rewrite
from tests.service.markup import markup_mistakes
from tests.service.web_pages import changed, inside, plant, published, set_columns, signing, write

from presscheck.api.change_requests import MergeChangeRequest
from presscheck.api.content import GetCurrentRevision
from presscheck.api.content_changes import InsertFiles, NewFile, UpdatePage
from presscheck.api.links import ListSpaceLinks
from presscheck.api.site_settings import (
    CreateRedirect,
    CreateShareLink,
    GetCustomization,
    GetPreview,
    RedirectDestination,
    RegeneratePublishingAuth,
    UpdateCustomization,
    UpdatePublishingAuth,
    UpdateShareLink,
)
from presscheck.api.site_structure import AddSection, AddSiteSpace, ListSiteSpaces, UpdateSection
from presscheck.api.sites import AdaptiveContentChange, CreateSite, PublishSite, UnpublishSite, UpdateSite
from presscheck.api.spaces import CreateSpace, DuplicateSpace, ListSpaces
from presscheck.errors import RequestError as InvalidRequest
from presscheck.service.blobs.store import DiskBlobStore
from presscheck.service.content.revisions import add_revision, new_page
from presscheck.service.db.engine import Database
from presscheck.service.git_import.importer import import_repository
from presscheck.service.models.content import RevisionRow
from presscheck.service.models.organizations import OrganizationRow, UserRow
from presscheck.service.models.sites import SiteRow, SiteSettingsRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.web.access import LONGEST_VISIT
from presscheck.service.web.assets import asset_path
from presscheck.service.web.theme import contrast

HOSTILE = """\
<script>alert(1)</script><img src=x onerror=alert(1)><svg onload=alert(1)><iframe src="javascript:alert(1)"></iframe>

[a](javascript:alert(1)) [b](<java\tscript:alert(1)>) [c](data:text/html,x) <a href="javascript:alert(1)">d</a>
<a href="&#106;avascript:alert(1)">e</a> <a href="vbscript:x" onclick="alert(1)">f</a> <b style="position:fixed">g</b>

</article></main></div><form action="https://evil.example"><input name="password"><button>Send</button></form>

<table data-view="cards"><thead><tr><th></th><th data-hidden data-card-target></th></tr></thead><tbody>
<tr><td><img src=x onerror=alert(1)>K</td><td><a href="javascript:alert(1)">x</a></td></tr></tbody></table>

<details><summary><img src=x onerror=alert(1)>S</summary>in</details>

{% embed url="javascript:alert(1)" %}

{% tabs %}
{% tab title="<script>alert(1)</script>" %}
```"><script>alert(1)</script>
</code></pre><script>alert(1)</script>
```
{% endtab %}
{% endtabs %}

{% hint style="\\" onmouseover=alert(1) x=\\"" %}
h
{% endhint %}

{% swagger method="<script>" path="</code><script>alert(1)</script>" summary="<script>" %}
{% endswagger %}

<style>body { display: none }</style><base href="https://evil.example/"><meta http-equiv="refresh" content="0">
"""


@pytest.fixture
async def browser(world: World) -> AsyncIterator[httpx.AsyncClient]:
    """A browser of a visitor; it does not follow redirects."""
    async with httpx.AsyncClient() as client:
        yield client


async def test_a_page_has_navigation_outline_and_links(world: World, browser: httpx.AsyncClient) -> None:
    address, _ = await published(world)
    await write(world, "Welcome.\n\n## First things\n\nSee [the guide](guide.md#second) and [none](none.md).\n")
    answer = await browser.get(address)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    script, *others = re.findall(r'<script src="([^"]*)" defer></script>', answer.text)
    assert not others and f"script-src {world.base_url}{script};" in answer.headers["content-security-policy"]
    page = answer.text
    assert "<title>Start | Docs</title>" in page
    assert '<h2 id="first-things">First things' in page
    assert '<a href="#first-things">First things</a>' in page, "missing from the outline"
    assert f'<a href="{inside(address)}guide#second">the guide</a>' in page
    assert '<span class="broken">none</span>' in page
    assert f'<a href="{inside(address)}" aria-current="page">Start</a>' in page
    assert f'<a rel="next" href="{inside(address)}guide"><small>Next</small>Guide</a>' in page
    assert "noindex" not in page
    assert page.count("<script src=") == 1
    guide = (await browser.get(f"{address}guide")).text
    assert f'<a rel="prev" href="{inside(address)}">' in guide
    assert "Second." in guide
    assert (await browser.head(address)).status_code == 200
    style = await browser.get(f"{world.base_url}/assets/site.css")
    assert (style.status_code, style.headers["content-type"]) == (200, "text/css; charset=utf-8")


async def test_missing_pages_and_sites_are_not_found(world: World, browser: httpx.AsyncClient) -> None:
    address, at = await published(world)
    missing = await browser.get(f"{address}gone")
    assert missing.status_code == 404
    assert f'href="{inside(address)}guide"' in missing.text, "no navigation on the error page"
    assert (await browser.get(f"{world.base_url}/docs/none/")).status_code == 404
    bare = await browser.get(address.rstrip("/"))
    await world.admin.send(UpdateSite(**at, visibility="unlisted"))
    unlisted = await browser.get(address)
    assert (unlisted.status_code, unlisted.headers["x-robots-tag"]) == (200, "noindex")
    assert '<meta name="robots" content="noindex">' in unlisted.text
    assert (bare.status_code, bare.headers["location"]) == (307, address)
    await world.admin.send(UnpublishSite(**at))
    closed = await browser.get(address)
    assert closed.status_code == 404
    assert "Docs" not in closed.text
    await world.admin.send(PublishSite(**at))
    await world.admin.send(UpdateSite(**at, basename="manual-of-the-world"))
    moved = await browser.get(f"{address}guide?q=x")
    assert moved.status_code == 307, "the old URL must redirect once there is a basename"
    assert moved.headers["location"] == f"{world.base_url}/docs/manual-of-the-world/guide?q=x"
    assert (await browser.get(f"{world.base_url}/docs/manual-of-the-world/guide")).status_code == 200


async def test_app_url_shows_the_command_that_opens_it(world: World, browser: httpx.AsyncClient) -> None:
    answer = await browser.get(f"{world.base_url}/app/spaces/x;rm%20-rf%20'/%3Cscript%3E")
    assert answer.status_code == 200
    assert "no web app" in answer.text
    words = shlex.split(html.unescape(re.findall(r"<code>(.*?)</code>", answer.text)[0]))
    assert words[:2] == ["presscheck", "open"]
    assert unquote(words[2]) == unquote(str(answer.request.url)), "one argument, whatever is in the path"
    assert len(words) == 3
    assert " " not in words[2]
    assert "<script>" not in answer.text
    assert answer.headers["x-robots-tag"] == "noindex"


async def test_share_key_in_the_url_opens_a_site(world: World, browser: httpx.AsyncClient) -> None:
    address, at = await published(world, visibility="share-link")
    answer = await browser.get(f"{address}guide")
    assert answer.status_code == 200
    assert answer.headers["x-robots-tag"] == "noindex"
    assert "private" in answer.headers["cache-control"]
    assert f'href="{inside(address)}reference"' in answer.text
    link = await world.admin.send(CreateShareLink(**at, name="For Mia"))
    assert link.urls.published
    other = await browser.get(link.urls.published)
    assert other.status_code == 200
    assert f'href="{inside(str(link.urls.published))}guide"' in other.text, "links must keep the key of the visitor"
    assert address not in other.text
    top = f"{world.base_url}/docs/{at['site_id']}/"
    for wrong in (top, f"{top}guide", f"{top}wrong/guide", address[:-2] + "/"):
        closed = await browser.get(wrong)
        assert closed.status_code == 404
        assert "Guide" not in closed.text
    await world.admin.send(UpdateShareLink(**at, share_link_id=link.id, active=False))
    assert (await browser.get(link.urls.published)).status_code == 404


def age_of(cookie: str) -> int:
    """Return the lifetime of a cookie in seconds, or 0 for a session cookie."""
    return int(found[1]) if (found := re.search(r"max-age=(\d+)", cookie)) else 0


async def test_visitors_are_redirected_to_sign_in(world: World, browser: httpx.AsyncClient) -> None:
    address, at = await published(world, visibility="visitor-auth")
    assert (await browser.get(address)).status_code == 401
    await world.admin.send(UpdatePublishingAuth(**at, backend="custom", fallback_url="https://example.org/in?a=b"))
    away = await browser.get(f"{address}guide")
    assert away.status_code == 307
    assert away.headers["location"] == "https://example.org/in?a=b&location=%2Fguide"
    token = jwt.encode({"exp": datetime.now(UTC) + timedelta(hours=1)}, await signing(world, at), "HS256")
    welcome = await browser.get(f"{address}guide", params={"jwt_token": token, "x": "y"})
    assert (welcome.status_code, welcome.headers["location"]) == (303, f"{address}guide?x=y")
    cookie = welcome.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert f"path=/docs/{at['site_id']}" in cookie
    assert 3500 < age_of(cookie) <= 3600, "as long as the token is valid"
    for exp, age in (({}, 0), ({"exp": datetime.now(UTC) + timedelta(days=5000)}, LONGEST_VISIT)):
        token = jwt.encode(exp, await signing(world, at), "HS256")
        welcome = await browser.get(f"{address}guide", params={"jwt_token": token})
        assert age_of(welcome.headers["set-cookie"].lower()) == age
    answer = await browser.get(f"{address}guide")
    assert answer.status_code == 200
    assert "Second." in answer.text
    assert "private" in answer.headers["cache-control"]
    await world.admin.send(RegeneratePublishingAuth(**at))
    assert (await browser.get(address)).status_code == 307, "visitors who signed in with the old key must be signed out"


def unsigned(claims: dict[str, Any]) -> str:
    return jwt.encode(claims, None, "none")


@pytest.mark.attack("other organizations")
async def test_invalid_visitor_tokens_are_refused(world: World, browser: httpx.AsyncClient) -> None:
    address, at = await published(world, visibility="visitor-auth")
    key = await signing(world, at)
    now = datetime.now(UTC)
    wrong = [
        "",
        "x",
        "a.b.c",
        unsigned({}),
        jwt.encode({}, "another key of thirty-two bytes or more", "HS256"),
        jwt.encode({}, key * 2, "HS512"),
        jwt.encode({}, key * 2, "HS256"),
        jwt.encode({"exp": now - timedelta(seconds=1)}, key, "HS256"),
        jwt.encode({"nbf": now + timedelta(hours=1)}, key, "HS256"),
        jwt.encode({"exp": True}, key, "HS256"),
        jwt.encode({"x": "y" * 5000}, key, "HS256"),
    ]
    for token in wrong:
        answer = await browser.get(address, params={"jwt_token": token})
        assert answer.status_code == 401, token[:40]
        assert "set-cookie" not in answer.headers
        kept = await browser.get(address, headers={"cookie": f"visitor-{at['site_id']}={token}"})
        assert kept.status_code == 401
    set_columns(world, SiteSettingsRow, at["site_id"], auth_key="")
    head, _, _ = jwt.encode({}, key, "HS256").rpartition(".")
    signature = hmac.digest(b"", head.encode(), "sha256")
    empty = f"{head}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}"
    assert (await browser.get(address, params={"jwt_token": empty})).status_code == 401, (
        "an empty key must not grant access"
    )


ACTING = {"script", "iframe", "svg", "math", "object", "embed", "base", "style", "template"}


def tags_of(page: str) -> list[tuple[str, dict[str, str]]]:
    """Return all start tags of a page with their attributes, as an HTML parser reads them."""
    found: list[tuple[str, dict[str, str]]] = []

    class Reading(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found.append((tag, {name: value or "" for name, value in attrs}))

    Reading().feed(page)
    return found


def style_of(page: str) -> str:
    """Return the CSS in the first style element of a page."""
    return page.partition("<style>")[2].partition("</style>")[0]


@pytest.mark.slow
@pytest.mark.attack("scripts in content")
async def test_content_of_authors_cannot_run_scripts(world: World, browser: httpx.AsyncClient) -> None:
    address, at = await published(world)
    looks = deepcopy(await world.admin.send(GetCustomization(**at)))
    evil = {"kind": "url", "url": "javascript:alert(1)"}
    looks |= {"title": "</title><script>alert(1)</script>", "favicon": {"emoji": "'/><script>"}}
    looks["header"] |= {"links": [{"title": "<script>", "to": evil, "links": []}, 7, {"to": []}]}
    looks["header"]["logo"] = {"light": "javascript:alert(1)", "dark": '"><script>'}
    looks["styling"] |= {"font": "x;} body{", "theme": '"><script>'}
    looks["announcement"] = {
        "enabled": True,
        "message": "<script>",
        "style": "info",
        "link": {"title": "x", "to": evil},
    }
    looks["footer"] = {"groups": [{"title": "<script>", "links": [{"title": "y", "to": evil}]}, None], "copyright": 7}
    looks["privacyPolicy"] = {"url": "javascript:alert(1)"}
    await world.admin.send(UpdateCustomization(**at, settings=looks))
    await changed(world, rewrite("start", f"# S</h1><script>\n\n{HOSTILE}"), insert("<script>x</script>"))
    for path in ("", "?q=<script>", "?q=%22%3E%3Cscript%3E", "<script>", "?theme=<script>"):
        answer = await browser.get(f"{address}{path}")
        page = answer.text
        assert answer.status_code in (200, 404)
        for tag, attributes in tags_of(page):
            if (tag, attributes) in (
                ("script", {"src": asset_path("js"), "defer": ""}),
                ("script", {"type": "application/ld+json"}),
                ("style", {}),
            ):
                continue
            assert tag not in ACTING, (tag, attributes)
            for name, value in attributes.items():
                assert not name.startswith("on"), (tag, attributes)
                assert not re.match(r"\s*(?:javascript|vbscript|data:text)", value, re.IGNORECASE), (tag, attributes)
                assert "evil.example" not in value
                assert "position" not in value
        of_data = page.count('<script type="application/ld+json">')
        assert page.lower().count("<script") == 1 + of_data, "only the script of all sites"
        assert page.lower().count("<style") == 1 and re.fullmatch(r":root{(?:[^{}<>]*)}", style_of(page))
        assert not markup_mistakes(page)
        assert page.count("<form") == page.count("</main>") == page.count("<html") == 1
        assert "font:x" not in page


BLOCKS = """\
- [x] done
- [ ] open

| Name | Size |
|:--|--:|
| one | 1 |

```python
def f(): return "<b>"
```

{% hint style="warning" %}
Mind *this*.
{% endhint %}

{% tabs %}
{% tab title="Shell" %}
In a shell.
{% endtab %}
{% tab title="Python" %}
In Python.
{% endtab %}
{% endtabs %}

{% stepper %}
{% step %}
### Begin

So.
{% endstep %}
{% endstepper %}

<details><summary>More</summary>

Unfolded **words**.

</details>

{% columns %}
{% column width="40%" %}
Left.
{% endcolumn %}
{% endcolumns %}

<table data-view="cards"><thead><tr><th></th><th data-hidden data-card-target></th></tr></thead><tbody>
<tr><td><strong>Card</strong></td><td><a href="guide.md">guide.md</a></td></tr></tbody></table>

<table><thead><tr><th>Seen</th><th data-hidden>Unseen</th></tr></thead><tbody>
<tr><td>shown</td><td>secret column</td></tr></tbody></table>

{% content-ref url="guide.md" %}
[guide.md](guide.md)
{% endcontent-ref %}

{% embed url="https://example.org/film" %}
A film
{% endembed %}

{% file src=".gitbook/assets/plan.pdf" %}
The plan
{% endfile %}

<figure><img src=".gitbook/assets/sky.png" alt="Sky"><figcaption><p>The sky</p></figcaption></figure>

The ![ink &amp; *paper*](.gitbook/assets/sky.png) of it

![Sky](.gitbook/assets/sky.png "Above")

$$
a_1 < b_2
$$

Inline $$x_y$$ too. Version <code class="expression">space.vars.version</code>.

> Quoted.

{% include ".gitbook/includes/both.md" %}

{% openapi-operation spec="shop" path="/pets" method="get" %}
[shop](https://example.org/openapi.yaml)
{% endopenapi-operation %}

Said[^1].

[^1]: In a note.
"""
EXPECTED = (
    'alt="ink &amp; paper"',
    '<li class="task"><input type="checkbox" disabled checked aria-label="Done"> done',
    '<th scope="col" class="right">Size</th>',
    '<code class="language-python"><span class="keyword">def</span>',
    '<span class="string">&quot;&lt;b&gt;&quot;</span>',
    '<div class="hint hint-warning" role="note" aria-label="Warning"><p>Mind <em>this</em>.</p></div>',
    '<details name="tabs-1"><summary>Python</summary><div class="tab" id="python">',
    '<ol class="stepper"><li><h3 id="begin" aria-level="2">Begin',
    '<details class="unfolds" id="more"><summary>More</summary><div><p>Unfolded <strong>words</strong>.</p></div>',
    '<div class="column" style="flex-grow:40"><p>Left.</p></div>',
    '<li class="card"><div><strong>Card</strong></div><a class="over" href="{}guide" aria-label="Card"></a></li>',
    "<tr><td>shown</td></tr>",
    '<p class="box content-ref"><a href="{}guide">Guide</a></p>',
    '<p class="box embed"><a href="https://example.org/film">A film</a> <span class="quiet">example.org</span></p>',
    '">The plan</a> <span class="quiet">plan.pdf</span></p>',
    "<figcaption><p>The sky</p></figcaption></figure>",
    "<figcaption>Above</figcaption></figure>",
    '<math display="block"><mrow><msub><mi>a</mi><mn>1</mn></msub><mo>&lt;</mo><msub><mi>b</mi><mn>2</mn></msub>',
    'Inline <math display="inline"><mrow><msub><mi>x</mi><mi>y</mi></msub></mrow></math> too. Version 2.1.',
    "<blockquote><p>Quoted.</p></blockquote>",
    "<p>Said twice, once.</p>",
    '<strong class="method get">GET</strong> <code>/pets</code>',
    '<sup class="footnote-mark"><a href="#user-content-fn-1">1</a></sup>',
    '<div class="footnote" id="user-content-fn-1">',
)


@pytest.mark.attack("scripts in content")
async def test_every_block_is_rendered(world: World, browser: httpx.AsyncClient) -> None:
    address, _ = await published(world)
    plant(world, BLOCKS, emoji="1f511", description="All of them")
    page = (await browser.get(address)).text
    for wanted in EXPECTED:
        assert wanted.replace("{}", inside(address)) in page
    assert re.search(rf'<img src="{re.escape(inside(address))}~files/\w+/[^"/]+/sky\.png" alt="Sky"', page)
    assert "secret column" not in page
    assert "\U0001f511" in page
    assert '<meta name="description" content="All of them">' in page
    assert page.count("Said twice, once.") == 1, "a recursive include must end"


async def test_first_paragraph_is_the_description_for_search_engines(world: World, browser: httpx.AsyncClient) -> None:
    address, _ = await published(world)
    await write(world, '## Lamps\n\nLight "the" **lamp** & `<b>` ' + "wait " * 40)
    page = (await browser.get(address)).text
    words = "Light &#34;the&#34; lamp &amp; &lt;b&gt; " + "wait " * 27 + "…"
    for name in ('name="description"', 'property="og:description"'):
        assert f'<meta {name} content="{words}">' in page
    assert 'class="description"' not in page


async def test_breadcrumbs_show_groups_without_a_link(world: World, browser: httpx.AsyncClient) -> None:
    address, _ = await published(world)
    parent = new_page("Parent", slug="parent", pages=[new_page("Inner", slug="inner")])
    group = new_page("A & B", slug="group", kind="group", pages=[parent])
    with closing(Database(world.database_url)) as database, database.writing.begin() as session:
        row = session.get_one(SpaceRow, world.space)
        first = session.get_one(RevisionRow, row.revision_id).tree[0]
        now = "2026-05-20T09:30:00.000Z"
        row.revision_id = add_revision(session, world.space, [first, group], created_at=now, created_by=None)
    page = (await browser.get(f"{address}group/parent/inner")).text
    link = f'<a href="{inside(address)}group/parent">Parent</a>'
    assert f'aria-label="Breadcrumbs"><span>A &amp; B</span>{link}</nav>' in page
    (data,) = re.findall(r'<script type="application/ld\+json">(.*?)</script>', page)
    steps = json.loads(data)["@graph"][1]["itemListElement"]
    assert [step["name"] for step in steps] == ["Docs", "Parent", "Inner"], "search engines expect a URL for each"


async def test_emoji_icons_and_links_to_other_programs_are_rendered(world: World, browser: httpx.AsyncClient) -> None:
    address, _ = await published(world)
    text = """:house: at home <i class="fa-rocket">:rocket:</i> <i class="fa-github" style="color:red">:github:</i>

[call](tel:+15550100) [text](sms:+15550100) [no](ssh://a.example) https://a.example/wiki/Fork_(software)

## Done :white_check_mark:
"""
    plant(world, text, title="Go :rocket:", icon="star", description="To the :moon:")
    page = (await browser.get(address)).text
    for wanted in (
        "<title>Go 🚀 |",
        '<h1><span class="emoji">★</span> Go 🚀</h1>',
        'aria-current="page"><span class="emoji">★</span> Go 🚀</a>',
        "<p>🏠 at home 🚀 [github]</p>",
        '<a href="tel:+15550100">call</a> <a href="sms:+15550100">text</a> <span class="broken">no</span>',
        '<a href="https://a.example/wiki/Fork_(software)">https://a.example/wiki/Fork_(software)</a>',
        ">Done ✅</a>",
    ):
        assert wanted in page
    report = await world.admin.send(ListSpaceLinks(space_id=world.space))
    broken = [link.target_reference for link in report.items if link.status == "broken"]
    assert [reference.url for reference in broken if reference] == ["ssh://a.example"], "as on the page"


@pytest.mark.slow
async def test_sections_and_spaces_have_urls(world: World, browser: httpx.AsyncClient) -> None:
    address, at = await published(world)
    second = await world.admin.send(CreateSpace(organization_id=world.organization, title="Second"))
    third = await world.admin.send(CreateSpace(organization_id=world.organization, title="Third"))
    await world.admin.send(AddSiteSpace(**at, space_id=second.id))
    assert f'href="{inside(address)}second/">Second</a>' in (await browser.get(address)).text, (
        "missing from the space menu"
    )
    first = await world.admin.send(AddSection(**at, space_id=world.space, title="Here"))
    await world.admin.send(AddSection(**at, space_id=third.id, title="Third"))
    await world.admin.send(UpdateSection(**at, site_section_id=first.id, condition="false"))
    for item in (await world.admin.send(ListSiteSpaces(**at))).items:
        set_columns(world, SpaceRow, item.space.id, revision_id=live_revision(world))
        assert item.urls.published
        answer = await browser.get(f"{item.urls.published}guide")
        assert answer.status_code == 200
        assert f'<link rel="canonical" href="{item.urls.published}guide">' in answer.text
        assert f'href="{inside(address)}third/"' in answer.text, "missing from the section tabs"
    await world.admin.send(UpdateSite(**at, adaptive_content=AdaptiveContentChange(enabled=True)))
    assert "Here" not in (await browser.get(f"{address}third/")).text
    assert (await browser.get(f"{address}second/guide")).status_code == 404


def live_revision(world: World) -> str:
    database = Database(world.database_url)
    with database.snapshot() as session:
        found = session.get_one(SpaceRow, world.space).revision_id
    database.close()
    return found


async def test_site_with_a_custom_host_is_also_served_on_the_service_host(
    world: World, browser: httpx.AsyncClient
) -> None:
    _, at = await published(world)
    set_columns(world, SiteRow, at["site_id"], hostname="docs.acme.example")
    await write(world, "See [it](https://docs.acme.example/guide#x).\n")
    here = f"{world.base_url}/docs/{at['site_id']}/"
    page = (await browser.get(here)).text
    assert f'<a href="{inside(here)}guide#x">it</a>' in page


async def test_redirects_are_followed(world: World, browser: httpx.AsyncClient) -> None:
    address, at = await published(world)
    [site_space] = (await world.admin.send(ListSiteSpaces(**at))).items
    targets = {
        "/old/page": ({"kind": "site-page", "site_space_id": site_space.id, "page_id": "guide"}, f"{address}guide"),
        "/old%20space": ({"kind": "site-space", "site_space_id": site_space.id}, address),
        "/away": ({"kind": "external", "url": "https://example.org/x"}, "https://example.org/x"),
    }
    for source, (destination, leads) in targets.items():
        made = RedirectDestination.model_validate(destination)
        await world.admin.send(CreateRedirect(**at, source=source, destination=made))
        answer = await browser.get(f"{address}{source[1:]}")
        assert (answer.status_code, answer.headers["location"]) == (307, leads)
    itself = RedirectDestination(kind="site-page", site_space_id=site_space.id, page_id="guide")
    await world.admin.send(CreateRedirect(**at, source="/guide", destination=itself))
    assert (await browser.get(f"{address}guide")).status_code == 200


async def test_redirects_of_an_imported_repository_are_followed(
    world: World, browser: httpx.AsyncClient, tmp_path: Path
) -> None:
    repository = tmp_path / "docs"
    (repository / "group").mkdir(parents=True)
    for name, text in {
        ".gitbook.yaml": "redirects:\n  old/page: new.md\n  older.md: /group/deep.md#part\n  new: group/deep.md\n",
        "README.md": "# Home\n",
        "new.md": "# New\n",
        "group/deep.md": "# Deep\n",
    }.items():
        (repository / name).write_text(text)
    database = Database(world.database_url)
    with closing(database), database.writing.begin() as session:
        organization = session.get_one(OrganizationRow, world.organization)
        owner = session.get_one(UserRow, world.users["admin"])
        import_repository(session, organization, owner, repository, store=DiskBlobStore(tmp_path))
    spaces = (await world.admin.send(ListSpaces(organization_id=world.organization))).items
    imported = next(space.id for space in spaces if space.title == "docs")
    address, at = await published(world)
    await world.admin.send(AddSiteSpace(**at, space_id=imported))
    copied = await world.admin.send(DuplicateSpace(space_id=imported))
    await world.admin.send(AddSiteSpace(**at, space_id=copied.id))
    paths = [one.path for one in (await world.admin.send(ListSiteSpaces(**at))).items][1:]

    async def leads(path: str) -> str:
        answer = await browser.get(f"{address}{path}")
        assert answer.status_code == 307, path
        return answer.headers["location"].removeprefix(address)

    for space in paths:
        assert await leads(f"{space}/old/page") == f"{space}/new"
        assert await leads(f"{space}/older/") == f"{space}/group/deep#part"
        assert await leads(f"{space}/older?ref=a") == f"{space}/group/deep?ref=a#part"
        assert (await browser.get(f"{address}{space}/new")).status_code == 200, "pages come before redirects"
    assert (await browser.get(f"{address}old/page")).status_code == 404, "redirects are those of their space"
    revision = await world.admin.send(GetCurrentRevision(space_id=imported))
    assert "old/page" not in revision.model_dump_json(), "the API has no field for redirects of pages"
    new = next(page for page in revision.pages if page.path == "new")
    world.space = imported
    await changed(world, UpdatePage(page=new.id, slug="newer"))
    assert await leads(f"{paths[0]}/old/page") == f"{paths[0]}/newer"
    assert await leads(f"{paths[0]}/new") == f"{paths[0]}/group/deep"
    site_space = (await world.admin.send(ListSiteSpaces(**at))).items[0]
    itself = RedirectDestination(kind="site-space", site_space_id=site_space.id)
    await world.admin.send(CreateRedirect(**at, source=f"/{paths[0]}/old/page", destination=itself))
    assert await leads(f"{paths[0]}/old/page") == "", "a redirect of the site comes first"


async def test_adaptive_content_depends_on_the_visitor(world: World, browser: httpx.AsyncClient) -> None:
    address, at = await published(world, visibility="visitor-auth")
    text = 'Shown.\n\n{% if visitor.claims.plan == "pro" %}\nGolden.\n{% endif %}\n'
    plant(world, text)
    await world.admin.send(UpdateSite(**at, adaptive_content=AdaptiveContentChange(enabled=True)))
    key = await signing(world, at)
    for plan, is_golden in (("pro", True), ("free", False)):
        await browser.get(address, params={"jwt_token": jwt.encode({"plan": plan}, key, "HS256")})
        assert ("Golden." in (await browser.get(address)).text) is is_golden
        assert "No results for" in (await browser.get(address, params={"q": "golden"})).text
    await browser.get(address, params={"jwt_token": jwt.encode({"plan": "free"}, key, "HS256")})
    for text in (
        'Shown {% if visitor.claims.plan == "pro" %}Golden{% endif %}.\n',
        'Shown.\n\n| a |\n| - |\n| {%- IF visitor.claims.plan == "pro" -%}Golden{% EndIf %} |\n',
        'Shown.\n\n{% if visitor.claims.plan == "pro" %}\nGolden.\n',
    ):
        plant(world, text)
        shown = (await browser.get(address)).text
        assert "Shown" in shown and "Golden" not in shown, text
        assert "No results for" in (await browser.get(address, params={"q": "golden"})).text, text
    plant(world, "Only some.\n", condition="visitor.claims.beta")
    assert (await browser.get(f"{address}start")).status_code == 404
    assert "Hidden words." in (await browser.get(address)).text, "must redirect to the first visible page"


async def test_the_customization_is_applied(world: World, browser: httpx.AsyncClient) -> None:
    address, at = await published(world)
    looks = deepcopy(await world.admin.send(GetCustomization(**at)))
    page = {"kind": "page", "page": "guide", "space": world.space}
    looks |= {"title": "Manual", "favicon": {"emoji": "🔑"}}
    looks["styling"] |= {"primaryColor": {"light": "#123456", "dark": "#abc"}, "font": "SourceSansPro"}
    looks["header"]["logo"] = {"light": "https://example.org/l.png", "dark": "https://example.org/d.png"}
    looks["header"]["links"] = [
        {
            "title": "Sign up",
            "to": {"kind": "url", "url": "https://example.org/"},
            "links": [],
            "style": "button-primary",
        },
        {"title": "More", "to": None, "links": [{"title": "The guide", "to": page}]},
    ]
    looks["announcement"] = {
        "enabled": True,
        "message": "New!",
        "style": "warning",
        "link": {"title": "Go", "to": page},
    }
    looks["footer"] = {"groups": [{"title": "Us", "links": [{"title": "Read", "to": page}]}], "copyright": "© Acme"}
    looks["header"] |= {"preset": "custom", "linkColor": {"light": "#123456", "dark": "#abcdef"}}
    looks["themes"] = {"default": "dark", "toggeable": False}
    looks["pagination"] = {"enabled": False}
    looks["externalLinks"] = {"target": "blank"}
    await world.admin.send(UpdateCustomization(**at, settings=looks))
    await write(world, "[Out](https://example.org/out)\n")
    text = (await browser.get(address)).text
    for wanted in (
        "<title>Start | Manual</title>",
        "--primary-light:#123456;--primary-dark:#abc;",
        "--header-link-light:#123456;",
        "Source Sans Pro",
        'data-theme="dark"',
        '<img class="if-dark" src="https://example.org/d.png" alt="Manual">',
        '<a class="button primary" href="https://example.org/">Sign up</a>',
        f'<li><a href="{inside(address)}guide">The guide</a></li>',
        f'<aside class="notice warning">New! <a href="{inside(address)}guide">Go</a></aside>',
        "<p>Us</p>",
        "© Acme",
        '<a href="https://example.org/out" class="outside" target="_blank" rel="noopener">Out</a>',
    ):
        assert wanted in text
    assert "<small>Next</small>" not in text
    assert "?theme=" not in text


async def test_colors_keep_their_contrast_and_arabic_is_right_to_left(world: World, browser: httpx.AsyncClient) -> None:
    address, at = await published(world)
    looks = deepcopy(await world.admin.send(GetCustomization(**at)))
    looks["styling"]["primaryColor"] = {"light": "#ffee00", "dark": "#e0a458"}
    looks["internationalization"] = {"locale": "ar"}
    header = {"preset": "custom", "backgroundColor": {"light": "#ffff00", "dark": "#008"}, "linkColor": None}
    looks["header"] |= header
    await world.admin.send(UpdateCustomization(**at, settings=looks))
    page = (await browser.get(address)).text
    assert "--fill-light:#ffee00;--on-fill-light:#000000" in page and "--fill-dark" not in page
    text = re.search(r"--primary-light:(#[0-9a-f]{6})", page)
    assert text and 4.5 <= contrast(text[1], "#fffdfa") < 6
    assert '<html lang="ar" dir="rtl"' in page
    assert 'data-header="custom"' in page
    assert "--header-light:#ffff00;--header-link-light:#000000;--header-dark:#008;--header-link-dark:#ffffff;" in page


async def test_readers_can_choose_the_theme(world: World, browser: httpx.AsyncClient) -> None:
    address, _ = await published(world)
    assert 'data-theme="auto"' in (await browser.get(address)).text
    chosen = await browser.get(f"{address}guide?theme=dark")
    assert (chosen.status_code, chosen.headers["location"]) == (303, f"{address}guide")
    assert 'data-theme="dark"' in (await browser.get(address)).text
    searching = await browser.get(address, params={"q": "a & b", "theme": "auto"})
    assert searching.headers["location"] == f"{address}?q=a+%26+b", "the search must stay"
    page = (await browser.get(address, params={"q": "a & b", "in": "x", "page": "2"})).text
    assert 'data-theme="auto"' in page and 'href="?q=a+%26+b&amp;in=x&amp;page=2&amp;theme=dark"' in page


async def test_a_preview_shows_an_unpublished_site(world: World, browser: httpx.AsyncClient) -> None:
    site = await world.admin.send(
        CreateSite(organization_id=world.organization, title="Soon", spaces=(world.space,), visibility="visitor-auth")
    )
    at = {"organization_id": world.organization, "site_id": site.id}
    shown = await world.clients["read"].send(GetPreview(**at, claims="(beta:!t)"))
    page = await browser.get(str(shown.url))
    assert page.status_code == 200 and "Welcome." in page.text
    assert page.headers["x-robots-tag"] == "noindex" and page.headers["cache-control"] == "private, no-cache"
    guide = re.search(r'href="([^"]*/guide)"', page.text)
    assert guide and guide[1].startswith(inside(str(shown.url))), "links must stay in the preview"
    assert (await browser.get(f"{world.base_url}{guide[1]}")).status_code == 200
    signed = str(shown.url).rstrip("/")
    assert (await browser.get(f"{signed[:-4]}AAAA/")).status_code == 404, "a forged preview URL must be refused"
    with pytest.raises(InvalidRequest, match="Rison"):
        await world.admin.send(GetPreview(**at, claims="(("))


@pytest.mark.slow
async def test_a_preview_shows_a_change_request_before_it_is_merged(world: World, browser: httpx.AsyncClient) -> None:
    address, at = await published(world)
    draft = await world.draft()
    text = "# Start\n\nNot merged yet. [Guide](guide.md) [file](new.txt)"
    file = NewFile(name="new.txt", content_type="text/plain", base64=base64.b64encode(b"new").decode())
    await world.edit(draft, rewrite("start", text), InsertFiles(files=(file,)))
    preview = str((await world.admin.send(GetPreview(**at))).url)
    page = await browser.get(f"{preview}~/changes/{draft.number}/")
    assert page.status_code == 200 and "Not merged yet." in page.text
    assert f"Preview of change request #{draft.number}" in page.text
    assert page.headers["x-robots-tag"] == "noindex" and page.headers["cache-control"] == "private, no-cache"
    linked = set(re.findall(rf'href="({re.escape(inside(preview))}[^"]*)"', page.text))
    links = {f"{world.base_url}{link}" for link in linked}
    assert len(links) > 1 and all(f"/~/changes/{draft.number}/" in link for link in links), links
    [file_url] = [link for link in links if "~files" in link]
    assert (await browser.get(file_url)).text == "new"
    markdown_urls = {link for link in links if link.endswith(".md")}
    for link in markdown_urls:
        assert "Not merged yet." in (await browser.get(link)).text, link
    for link in links - markdown_urls - {file_url}:
        assert "Preview of change request" in (await browser.get(link)).text, link
    found = await browser.get(f"{preview}~/changes/{draft.number}/", params={"q": "guide"})
    assert found.status_code == 200 and "Preview of change request" in found.text
    assert "Not merged yet." not in (await browser.get(address)).text
    assert "Not merged yet." not in (await browser.get(preview)).text
    for path in (f"{preview}~/changes/999/", f"{address}~/changes/{draft.number}/"):
        refused = await browser.get(path)
        assert refused.status_code == 404 and "Not merged yet." not in refused.text, path


@pytest.mark.attack("other organizations")
async def test_files_of_a_site_need_the_same_access_as_its_pages(world: World, browser: httpx.AsyncClient) -> None:
    address, at = await published(world, visibility="share-link")
    file = NewFile(name="a b.txt", base64=base64.b64encode(b"lamp").decode(), content_type="text/plain")
    draft = await world.draft()
    answer = await world.edit(draft, InsertFiles(files=(file,)))
    assert answer.inserted_files
    [inserted] = answer.inserted_files
    stored = inserted.download_url.partition("?")[0]
    await world.edit(draft, rewrite("start", f"# Start\n\n[One](<a b.txt>) and [two]({stored}).\n"))
    await world.admin.send(MergeChangeRequest(space_id=world.space, change_request_id=draft.id))
    page = (await browser.get(address)).text
    first, second = re.findall(r'href="([^"]*~files[^"]*)"', page)
    assert first == second and first.startswith(inside(address))
    first = f"{world.base_url}{first}"
    sent = await browser.get(first)
    assert (sent.status_code, sent.text) == (200, "lamp")
    assert sent.headers["content-security-policy"] == "sandbox"
    assert (sent.headers["cache-control"], sent.headers["x-robots-tag"]) == ("private, no-cache", "noindex")
    key = address.rstrip("/").rpartition("/")[2]
    [site_space] = (await world.admin.send(ListSiteSpaces(**at))).items
    for wrong in (
        first.replace(key, "wrong"),
        first.replace(inserted.id, "none"),
        first.replace(site_space.id, "none"),
        f"{address}~files",
    ):
        assert (await browser.get(wrong)).status_code == 404
    preview = str((await world.admin.send(GetPreview(**at))).url)
    [in_preview, _] = re.findall(r'href="([^"]*~files[^"]*)"', (await browser.get(preview)).text)
    assert in_preview.startswith(inside(preview))
    assert (await browser.get(f"{world.base_url}{in_preview}")).text == "lamp"
    await world.admin.send(UpdateSite(**at, visibility="public"))
    sent = await browser.get(first.replace(f"{key}/", ""))
    assert sent.headers["cache-control"] == "no-cache" and "x-robots-tag" not in sent.headers
    await world.admin.send(UnpublishSite(**at))
    assert (await browser.get(first.replace(f"{key}/", ""))).status_code == 404
