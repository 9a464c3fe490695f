"""Publish documentation on a running service, and compare the build of a site with the served pages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin

import httpx
from sqlalchemy import select
from tests.cli.shell import Shell
from tests.running_service import RunningService

from presscheck.documents.markdown.page_sections import page_sections, section_anchors
from presscheck.service.blobs.store import DiskBlobStore
from presscheck.service.db.engine import Database
from presscheck.service.git_import.importer import import_repository
from presscheck.service.models.organizations import OrganizationRow, UserRow

BASE = "https://docs.example.org/manual/"
_LINK = re.compile(r'<(\w+)\b[^<>]*?\s(?:href|src|action)="([^"]*)"')
_URLS = re.compile(r'((?:href|src|srcset|action|content|data-copies)=)"[^"]*"')
_NOT_TEXT = re.compile(r"<(pre|code|math)\b.*?</\1>|<[^>]*>", re.DOTALL)
_RAW = re.compile(r".{0,40}(?:\{%|\$\$|\\[a-z]{3,}\{|</?(?:br|details|div|figure|img|mark|p|table)\b).{0,40}")
"""The source of platform tags, formulas and HTML, which a page must not show to readers."""
_OWN_SCRIPT = re.compile(r'<script src="[^"]*static\.js"></script>\n')


def publish_documentation(service: RunningService, shell: Shell, directory: Path, title: str = "Docs") -> str:
    """Import a repository and publish it as a site. Returns the id of the site."""
    before = {space["id"] for space in shell.json("space", "list")}
    with closing(Database(service.database_url)) as database, database.writing.begin() as session:
        organization = session.scalars(select(OrganizationRow)).first()
        assert organization
        owner = session.get_one(UserRow, service.owner_id)
        import_repository(session, organization, owner, directory, store=DiskBlobStore(service.directory))
    (space,) = {space["id"] for space in shell.json("space", "list")} - before
    site = shell.ok("site", "create", "--title", title).strip()
    shell.ok("site", "add", site, "--space-id", space)
    shell.ok("site", "publish", site, "--yes")
    return site


def contents(folder: Path) -> dict[str, bytes]:
    """Return the contents of the files below a folder, by path."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def links_of(html: str) -> list[str]:
    """Return the URLs in a page, except those of its scripts."""
    return [unescape(url) for tag, url in _LINK.findall(html) if tag != "script"]


def anchors_of(html: str) -> set[str]:
    """Return the ids of the elements of a page."""
    return {unescape(name) for name in re.findall(r'\sid="([^"]*)"', html)}


def without_urls(html: str) -> str:
    """Remove the parts of a page that a build changes: URLs, and the script for static sites."""
    in_data = re.sub(r'": "https?://[^"]*"', '": ""', html)
    return _URLS.sub(r"\1", _OWN_SCRIPT.sub("", in_data))


class BuiltSite:
    """The files of a build with the base URL `BASE`, found by URL as on a web host."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.leads = cache(self._leads)  # navigation has the same links on every page
        self._anchors = cache(lambda file: anchors_of(file.read_text()))
        self.pages = {path: body.decode() for path, body in contents(folder).items() if path.endswith(".html")}

    def _leads(self, url: str) -> bool:
        """Return True if a URL of the site leads to a file and its fragment to an element."""
        url, fragment = urldefrag(url)
        name = unquote(url.removeprefix(BASE).partition("?")[0])
        file = self.folder / name / "index.html" if not name or name.endswith("/") else self.folder / name
        if not file.is_file():
            return False
        return not fragment or unquote(fragment) in {*self._anchors(file), "Site-content"}


class ServedSite:
    """The site as the service serves it."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.leads = cache(self._leads)
        self._anchors = cache(lambda url: anchors_of(self.get(url).text))
        self._http = httpx.Client()
        self._answers: dict[str, httpx.Response] = {}

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def get(self, url: str) -> httpx.Response:
        """Return the response after redirects within the site. Each URL is requested only once."""
        if url not in self._answers:
            self._answers[url] = self._http.get(url)
        location = self._answers[url].headers.get("location", "")
        return self.get(location) if location.startswith(self.url) else self._answers[url]

    def _leads(self, url: str) -> bool:
        """Return True if a URL of the site leads to a page or file and its fragment to an element."""
        url, fragment = urldefrag(url)
        if self.get(url).status_code != 200:
            return False
        return not fragment or unquote(fragment) in {*self._anchors(url), "Site-content"}


def assert_equal(built: BuiltSite, served: ServedSite) -> int:
    """Compare every page of a build with the page that the service serves. Returns the number of pages."""
    compared = 0
    for path, html in built.pages.items():
        if "http-equiv" in html or path in ("404.html", "~search/index.html"):
            continue
        place = path.removesuffix("index.html").rstrip("/")
        answer = served.get(served.url + place)
        assert answer.status_code == 200, path
        is_equal = without_urls(html) == without_urls(answer.text)
        assert is_equal, path  # pytest would compare the texts word by word
        own = f"{BASE}{place}/" if place else BASE
        for here, there in zip(links_of(html), links_of(answer.text), strict=True):
            to, origin = urljoin(own, here), urljoin(str(answer.url), there)
            if origin.startswith(served.url) and "?" not in origin:
                outside = served.get(urldefrag(origin)[0]).headers.get("location")
                if outside:
                    assert to == outside, (path, here, there)
                else:
                    assert built.leads(to) == served.leads(origin), (path, here, there)
        compared += 1
    return compared


def raw_texts(built: BuiltSite) -> list[str]:
    """Return the parts of pages that show the source of a tag or formula outside of code."""
    return [
        f"{path}: {match[0]}"
        for path, html in built.pages.items()
        if (content := re.search(r"<main.*</main>", html, re.DOTALL))
        for match in _RAW.finditer(unescape(_NOT_TEXT.sub("", content[0])))
    ]


def lost_fragments(built: BuiltSite) -> Iterator[str]:
    """Yield the links to a heading, tab or expandable that the Markdown of a page contains but its HTML does not."""
    index = json.loads((built.folder / "index.json").read_text())
    markdown = {page["url"]: page["markdown"].removeprefix(BASE) for page in index["pages"]}
    for path, html in built.pages.items():
        for link in links_of(html):
            url, fragment = urldefrag(urljoin(BASE + path.removesuffix("index.html"), link))
            if fragment and url in markdown and not built.leads(f"{url}#{fragment}"):
                text = (built.folder / unquote(markdown[url])).read_text()
                if unquote(fragment) in section_anchors(page_sections(text)):
                    yield f"{path}: {link}"
