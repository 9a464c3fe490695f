"""API references on published pages: their specifications, generated pages, and requests from the page."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from tests.documents.api_pages import PETS, REQUESTS
from tests.service.browser import Browser
from tests.service.factories import World, plant_world, rewrite
from tests.service.jobs import processed
from tests.service.web_pages import customize

from presscheck.api.change_requests import MergeChangeRequest
from presscheck.api.content import GetRevision
from presscheck.api.openapi import SpecSource
from presscheck.api.sites import CreateSite, PublishSite
from presscheck.api.spaces import GetSpace
from presscheck.documents.openapi.code_samples import javascript
from presscheck.service.content.revisions import add_document, add_revision, new_page
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import moment_text, system_clock
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.web import reference_texts

LIST = '{% openapi-operation spec="lamps" path="/pets" method="get" %}\n{% endopenapi-operation %}\n'


async def site(world: World, text: str) -> str:
    """Publish a site with a page with this text. Returns the URL of the page."""
    change = await world.draft()
    await world.edit(change, rewrite("guide", f"# Guide\n\n{text}"))
    await world.admin.send(MergeChangeRequest(space_id=world.space, change_request_id=change.id))
    at = {"organization_id": world.organization}
    made = await world.admin.send(CreateSite(**at, title="Pets", spaces=(world.space,)))
    live = await world.admin.send(PublishSite(**at, site_id=made.id))
    return f"{live.urls.published}guide"


async def specify(world: World, text: str) -> None:
    spec = await processed(world, SpecSource(text=text))
    assert not spec.last_processed_errors, spec.last_processed_errors


async def test_page_shows_the_newest_version_of_a_specification(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    url = await site(world, f"{LIST}\n## After\n")
    async with httpx.AsyncClient() as reader:
        before = (await reader.get(url)).text
        assert "Described in lamps" in before and 'id="list-pets"' not in before
        home = url.removesuffix("guide")
        assert await results(reader, home, "X-Total") == []
        await specify(world, PETS.read_text("utf-8"))
        page = await reader.get(url)
        assert 'id="list-pets"' in page.text and '<a href="#list-pets">List pets</a>' in page.text
        assert await results(reader, home, "X-Total") == ["guide", "guide#list-pets"]
        policy = page.headers["content-security-policy"]
        assert "connect-src 'self' https://eu.example.org https://sandbox.example.org" in policy
        assert "script-src http" in policy and "unsafe" not in policy.replace("style-src-attr 'unsafe-inline'", "")
        markdown = (await reader.get(f"{url}.md")).text
        assert "## List pets" in markdown and "- `limit` (integer (int32), required)" in markdown
        assert "{%" not in markdown and "## After" in markdown
        monkeypatch.setattr(reference_texts, "MOST_BLOCKS", 0)
        await specify(world, PETS.read_text("utf-8").replace("summary: List pets", "summary: All pets"))
        assert 'id="all-pets"' in (await reader.get(url)).text
        assert await results(reader, home, "X-Total") == [], "of further blocks only path and name are found"


async def test_pages_without_references_may_send_requests_only_to_the_site(world: World) -> None:
    url = await site(world, "Text.")
    async with httpx.AsyncClient() as reader:
        assert "connect-src 'self'" in (await reader.get(url)).headers["content-security-policy"].split("; ")


async def test_specifications_of_other_organizations_are_not_shown(world: World) -> None:
    other = plant_world(world.database_url, world.base_url)
    await specify(other, PETS.read_text("utf-8"))
    for client in other.clients.values():
        await client.aclose()
    async with httpx.AsyncClient() as reader:
        assert "Described in lamps" in (await reader.get(await site(world, LIST))).text


def place_pages(world: World, **props: Any) -> None:
    """Add a placeholder for generated pages to the space, as an import of a repository does."""
    source = {"type": "builtin:openapi", "props": props, "dependencies": {"spec": {"ref": SPEC}}}
    database = Database(world.database_url)
    with database.writing.begin() as session:
        start = new_page("Start", slug="start", document=add_document(session, "Welcome."), page_id="start")
        place = new_page("lamps", slug="", kind="computed", computed=source)
        now = moment_text(system_clock())
        by = world.users["admin"]
        revision = add_revision(session, world.space, [start, place], created_at=now, created_by=by)
        session.get_one(SpaceRow, world.space).revision_id = revision
    database.close()


SPEC = {"kind": "openapi", "spec": "lamps"}


async def test_pages_are_generated_from_a_specification(world: World) -> None:
    place_pages(world, models=True)
    at = {"organization_id": world.organization}
    made = await world.admin.send(CreateSite(**at, title="Pets", spaces=(world.space,)))
    url = (await world.admin.send(PublishSite(**at, site_id=made.id))).urls.published
    link = re.compile(r'<li><a href="[^"]*/([^"/]*)"(?: aria-current="[^"]*")?>([^<]*)</a>')

    def links(html: str) -> list[tuple[str, str]]:
        return link.findall(html.partition('<nav class="pages"')[2].partition("</nav>")[0])

    async with httpx.AsyncClient(follow_redirects=True) as reader:
        assert links((await reader.get(f"{url}")).text) == [("", "Start")], "no specification yet"
        await specify(world, PETS.read_text("utf-8"))
        start = (await reader.get(f"{url}")).text
        titles = ["Start", "Pets", "Owners", "Other", "Models"]
        assert [title for _, title in links(start)] == titles
        pets = (await reader.get(f"{url}pets")).text
        assert re.findall(r'<h2 id="([^"]*)"', pets) == ["list-pets", "add-a-pet", "remove-a-pet", "upload-a-picture"]
        assert 'id="pet"' in (await reader.get(f"{url}models")).text
        assert "## Add a pet" in (await reader.get(f"{url}pets.md")).text
        assert f"{url}owners.md" in (await reader.get(f"{url}llms.txt")).text
        assert "<mark>Owners</mark>" in (await reader.get(f"{url}?q=owners")).text
        await specify(world, PETS.read_text("utf-8").replace("Owners", "People"))
        assert [title for _, title in links((await reader.get(f"{url}")).text)][2] == "People"
        await customize(world, at | {"site_id": made.id}, pageActions={"items": ["pdf"]})
        assert "Download PDF" in (await reader.get(url)).text
        assert "Download PDF" not in (await reader.get(f"{url}pets")).text, "a PDF has stored pages alone"
        assert (await reader.get(f"{url}pets.pdf")).status_code == 404
    revision = (await world.admin.send(GetSpace(space_id=world.space))).revision
    stored = await world.admin.send(GetRevision(space_id=world.space, revision_id=revision))
    assert [(page.type, page.computed and page.computed["type"]) for page in stored.pages] == [
        ("document", None),
        ("computed", "builtin:openapi"),
    ]


async def results(reader: httpx.AsyncClient, url: str, query: str) -> list[str]:
    """Search a site. Returns the URLs of pages and sections in the results, relative to the site."""
    page = await reader.get(url, params={"q": query})
    found = page.text.partition("<ol")[2].partition("</ol>")[0]
    return [href.removeprefix(urlsplit(url).path) for href in re.findall(r'<a href="([^"]*)"', found)]


class _Api:
    """A small API that allows requests from other sites; `asked` are the requests that it got."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_OPTIONS(self) -> None:
                self._respond(204, b"")

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                outer.asked.append({"path": self.path, "headers": dict(self.headers), "body": body.decode()})
                self._respond(201, json.dumps({"name": "<b>Tom</b>"}).encode())

            def _respond(self, status: int, body: bytes) -> None:
                self.send_response(status)
                self.send_header("access-control-allow-origin", "*")
                self.send_header("access-control-allow-headers", "*, authorization")
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"


@contextmanager
def small_api() -> Iterator[_Api]:
    api = _Api()
    thread = threading.Thread(target=api.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield api
    finally:
        api.server.shutdown()
        thread.join()
        api.server.server_close()


def feeding(url: str) -> str:
    """Return a specification whose operation has every kind of input."""
    body = {"type": "object", "properties": {"name": {"type": "string", "example": "Tom"}}}
    operation = {
        "summary": "Feed",
        "parameters": [
            {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}},
            {"name": "q", "in": "query", "schema": {"type": "string"}},
            {"name": "kind", "in": "query", "schema": {"enum": ["cat", "dog"]}},
            {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
        ],
        "security": [{"token": []}],
        "requestBody": {"content": {"application/json": {"schema": body}}},
        "responses": {"201": {"description": "Fed"}},
    }
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Pets", "version": "1"},
        "servers": [{"url": url}],
        "paths": {"/pets/{id}/feed": {"post": operation}},
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }
    return json.dumps(document)


FEED = '{% openapi-operation spec="lamps" path="/pets/{id}/feed" method="post" %}\n'
FILL = """
for (const [name, value] of Object.entries({id: 'a/b', q: 'x y', kind: 'dog', 'X-Trace': 't', Authorization: 'secret'}))
  document.querySelector(`.try [name="${name}"]`).value = value;
"""
SEND = ".try button"


def click(browser: Browser, selector: str) -> None:
    browser.value(f"document.querySelector({selector!r}).scrollIntoView({{block: 'center'}})")
    browser.click(selector)


@pytest.mark.slow
@pytest.mark.needs("chromium")
async def test_a_request_is_sent_from_the_page(world: World, chromium: Browser) -> None:
    codes = json.dumps([javascript(request) for request in REQUESTS])
    made = "Object.getPrototypeOf(async function () {}).constructor(code)"
    chromium.value(f"void {codes}.forEach((code) => {made})")  # fails if one is not valid JavaScript
    with small_api() as api:
        await specify(world, feeding(api.url))
        chromium.open(await site(world, FEED))
        chromium.value("document.querySelector('.try').open = true")
        chromium.value(FILL)
        click(chromium, SEND)
        chromium.wait("document.querySelector('.try output pre')")
        assert chromium.value("document.querySelector('.try output pre').textContent") == '{\n  "name": "<b>Tom</b>"\n}'
        assert chromium.value("document.querySelector('.try output p').textContent").startswith("201 Created · ")
    (asked,) = api.asked
    assert asked["path"] == "/pets/a%2Fb/feed?q=x+y&kind=dog"
    headers = {name.lower(): value for name, value in asked["headers"].items()}
    assert headers["authorization"] == "Bearer secret" and headers["x-trace"] == "t"
    assert headers["content-type"] == "application/json" and json.loads(asked["body"]) == {"name": "Tom"}
    assert "cookie" not in headers
    click(chromium, SEND)
    chromium.wait("document.querySelector('.try output').textContent.startsWith('No response.')")
