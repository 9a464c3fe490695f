"""Builds a static copy of a published site: what the service serves to visitors, with links that need no service.

Every page, file and redirect is requested from the service as a visitor would, so that the copy never shows more. A
preview of the site lists the paths to request; it also knows hidden pages and redirects. The same content gives the
same bytes.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Awaitable, Callable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from urllib.parse import quote, unquote, urljoin, urlsplit

from presscheck.api.published_sites import GetPublishedSite
from presscheck.api.sites import Site
from presscheck.engine.publish.previews import preview_url
from presscheck.engine.publish.shown_addresses import key_in
from presscheck.engine.site_build.build_folder import BuildFolder
from presscheck.engine.site_build.redirect_files import FILES as REDIRECT_FILES
from presscheck.engine.site_build.redirect_files import StaticRedirect, redirect_files, redirect_page
from presscheck.engine.site_build.references import (
    Reference,
    SiteUrls,
    replace_in_html,
    replace_in_styles,
    replace_in_text,
    replace_structured_data,
    without_service_parts,
)
from presscheck.engine.site_build.safe_names import SafeNames
from presscheck.engine.site_build.search_index import IndexedPage, index_files
from presscheck.engine.site_build.site_copy import (
    ASSETS,
    MISSING,
    OK,
    SEARCH,
    STYLES,
    CopiedFile,
    SiteCopy,
    SiteReader,
)
from presscheck.errors import ChangedSince, ChecksFailed, NotSupported

if TYPE_CHECKING:
    from presscheck.client.responses import Reply
    from presscheck.engine.engine import Engine

TEXTS = frozenset(("text/markdown", "text/plain", "application/json", "application/xml", "application/rss+xml"))
"""Media types of files of the service in which URLs of the site are replaced."""
PATHS = "paths.json"
MCP = "~gitbook/mcp"
"""The path of the endpoint for agents, which a copy does not have."""
NOT_FOUND_PAGE = "404.html"
SCRIPT = "static.js"
"""The script of the copy, which searches without the service."""
RESERVED = ("index.html", NOT_FOUND_PAGE, *REDIRECT_FILES)


class BuildResult(NamedTuple):
    """The result of a build.

    Attributes:
        files: the number of all files.
        size: the size of all files in bytes.
        changed: the number of files that are new or changed since the earlier build.
        removed_scripts: whether scripts of integrations were left out, because they need the service.
    """

    pages: int
    redirects: int
    files: int
    size: int
    changed: int
    removed_scripts: bool


async def build_site(
    engine: Engine,
    site: Site,
    organization_id: str,
    folder: BuildFolder,
    base_url: str | None,
    on_progress: Callable[[int, int], None],
) -> BuildResult:
    """Build a site into a folder.

    Args:
        engine: reads the site.
        site: the site, which is published.
        organization_id: the id of the site's organization.
        folder: the folder of the build.
        base_url: the URL of the copy, which ends with a slash; None if it is unknown.
        on_progress: called with the number of files that were read, and the number of files that were found so far.

    Raises:
        NotSupported: the service does not serve sites itself.
        ChecksFailed: visitors cannot read the site.
        ChangedSince: the site was changed during the build.
        RequestError: a page cannot be read.
        InvalidArgument: the build would replace a file that is not from an earlier build, or another process builds in
            the folder.
    """
    call = GetPublishedSite(organization_id=organization_id, site_id=site.id)

    async def read(url: str) -> Reply:
        return await engine.read_page(call, url)

    preview = await preview_url(engine, organization_id, site.id)
    paths = await _paths(read, preview, str(call))
    urls = await _urls(read, preview, site)
    with folder.temporary() as temporary:
        raw, built = temporary / "raw", temporary / "built"
        raw.mkdir()
        built.mkdir()
        copy = await SiteReader(urls, read, raw, on_progress).copy(paths)
        await _require_unchanged(read, copy)
        writer = _SiteWriter(copy, built, base_url)
        pages = writer.write()
        files = [path for path in built.rglob("*") if path.is_file()]
        return BuildResult(
            pages=pages,
            redirects=len(writer.redirects),
            files=len(files),
            size=sum(path.stat().st_size for path in files),
            removed_scripts=writer.has_removed_scripts,
            changed=folder.install(built),
        )


async def _paths(read: Callable[[str], Awaitable[Reply]], preview: str, request: str) -> list[str]:
    """Return the paths of a site.

    Raises:
        NotSupported: the service does not list the paths.
    """
    reply = await read(preview + PATHS)
    if reply.status == OK and reply.headers.get("content-type", "").startswith("application/json"):
        return [str(path) for path in json.loads(reply.body)["paths"]]
    raise NotSupported(
        "Only sites of the local service can be built: the platform of this profile serves its sites itself",
        status=reply.status,
        request=request,
    )


async def _urls(read: Callable[[str], Awaitable[Reply]], preview: str, site: Site) -> SiteUrls:
    """Return the URLs at which the service serves a site to visitors.

    Raises:
        ChecksFailed: visitors get no page there.
    """
    origin = f"{urlsplit(preview).scheme}://{urlsplit(preview).netloc}"
    key = f"{key_in(site.urls.published)}/" if site.visibility == "share-link" else ""
    url = f"{origin}/docs/{quote(site.id)}/{key}"
    reply = await read(url)
    location = reply.headers.get("location")
    if location:
        url = urljoin(url, location)
        reply = await read(url)
    if reply.status != OK or not url.startswith(f"{origin}/docs/"):
        raise ChecksFailed(f"{site.title} has no page for visitors (status {reply.status})")
    return SiteUrls(origin, unquote(urlsplit(url).path))


async def _require_unchanged(read: Callable[[str], Awaitable[Reply]], copy: SiteCopy) -> None:
    name = "index.json"
    index = copy.files.get(copy.urls.base + name)
    reply = await read(copy.urls.origin + quote(copy.urls.base) + name)
    if index and index.content and index.content.read_bytes() != reply.body:
        raise ChangedSince("The site was changed during the build. Run it again")


class _SiteWriter:
    """A writer of the files of a copy.

    Attributes:
        redirects: the redirects of the site, with targets from the top of the copy.
        has_removed_scripts: whether scripts of integrations were left out.
    """

    def __init__(self, copy: SiteCopy, folder: Path, base_url: str | None) -> None:
        self._copy, self._urls, self._folder, self._base_url = copy, copy.urls, folder, base_url
        self._top = urlsplit(base_url).path if base_url else "/"
        self._names = SafeNames()
        self._outputs: dict[str, str] = {}
        self.redirects: list[StaticRedirect] = []
        self.has_removed_scripts = False

    def write(self) -> int:
        """Write all files. Returns the number of pages."""
        self._name_files()
        pages = 0
        for path, file in sorted(self._copy.files.items()):
            if file.content is None or path not in self._outputs:
                continue
            output = self._outputs[path]
            body = file.content.read_bytes()
            if file.is_page:
                pages += self._inside(path) not in (SEARCH, MISSING)
                body = self._page(body.decode(), output).encode()
            elif file.media_type == STYLES:
                body = self._styles(body.decode(), path, output).encode()
            elif file.media_type in TEXTS:
                body = self._text(body.decode(), output).encode()
            self._write(output, body)
        self._write_search()
        self._write_redirects()
        self._write(".nojekyll", b"")
        return pages

    def _write(self, output: str, body: bytes) -> None:
        target = self._folder / output
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(body)

    def _name_files(self) -> None:
        """Choose the name of each file. Fixed names come first, then pages, then other files."""
        base = self._urls.base
        for name in RESERVED:
            self._names.file(name)
        self._outputs[base] = "index.html"
        self._outputs[base + MISSING] = NOT_FOUND_PAGE
        files = sorted((path, file) for path, file in self._copy.files.items() if file.content)
        for path, _ in (pair for pair in files if pair[1].is_page and pair[0] not in self._outputs):
            self._outputs[path] = f"{self._names.folder(self._inside(path).strip('/'))}/index.html"
        for path, _ in (pair for pair in files if pair[0] not in self._outputs):
            if self._base_url or path != f"{base}sitemap.xml":  # a sitemap needs absolute URLs
                self._outputs[path] = self._names.file(self._inside(path))

    def _inside(self, path: str) -> str:
        """Return the path in the copy for a path of the service. A file outside of the site keeps its whole path."""
        return path.removeprefix(self._urls.base).lstrip("/")

    def _page(self, html: str, output: str) -> str:
        def replaced(reference: Reference) -> str | None:
            if reference.tag == "form" and self._urls.path_of(reference.url) == (self._urls.base, ""):
                return self._link(self._urls.base + SEARCH, "", output)
            if not reference.is_about_page:
                return self._url(reference.url, output, is_loaded=reference.is_loaded)
            place = self._urls.path_of(reference.url)
            if place is None:
                return reference.url
            return self._absolute(*place) if self._base_url else None

        own = without_service_parts(html, self._urls, lambda url: url.startswith(ASSETS))
        self.has_removed_scripts = self.has_removed_scripts or own.count("<script") < html.count("<script")
        start = self._urls.origin + quote(self._urls.base)

        def data(text: str) -> str:
            return replace_in_text(text, start, lambda url: self._text_url(url, output))

        # structured data needs absolute URLs
        own = replace_structured_data(own, data if self._base_url else None)
        script = escape(self._relative(f"{SEARCH}/{SCRIPT}", output))
        # without `defer`, so that the first frame has the chosen theme
        return replace_in_html(own, replaced).replace("</title>", f'</title>\n<script src="{script}"></script>', 1)

    def _styles(self, css: str, path: str, output: str) -> str:
        return replace_in_styles(css, lambda url: self._url(urljoin(quote(path), url), output, is_loaded=True))

    def _text(self, text: str, output: str) -> str:
        start = self._urls.origin + quote(self._urls.base)
        if output == "index.json":
            text = _without_mcp(text)
        elif output in ("robots.txt", "llms.txt"):
            omitted = f"{start}{MCP}" if self._base_url or output == "llms.txt" else "Sitemap:"
            text = "".join(line for line in text.splitlines(keepends=True) if omitted not in line)
        return replace_in_text(text, start, lambda url: self._text_url(url, output))

    def _text_url(self, url: str, output: str) -> str:
        place = self._urls.path_of(url)
        if place is None:
            return url
        return self._absolute(*place) if self._base_url else self._link(*place, output)

    def _url(self, url: str, output: str, *, is_loaded: bool) -> str:
        """Return the URL in a page of the copy for a URL in a page of the service."""
        place = self._urls.path_of(url)
        if place is None:
            return url
        path, suffix = place
        if path.startswith(self._urls.base) or (is_loaded and path in self._outputs):
            return self._link(path, suffix, output)
        return self._urls.origin + quote(path) + suffix

    def _link(self, path: str, suffix: str, output: str) -> str:
        """Return the URL that leads from the file `output` to a path of the site, after the redirects of the path."""
        target, fragment = self._resolved(path)
        if target is None:
            return fragment
        return self._relative(self._output_of(target), output) + (suffix or fragment)

    def _absolute(self, path: str, suffix: str) -> str:
        target, fragment = self._resolved(path)
        if target is None:
            return fragment
        return f"{self._base_url}{_shown(self._output_of(target))}{suffix or fragment}"

    def _resolved(self, path: str) -> tuple[str | None, str]:
        """Follow the redirects of a path. Returns the path and the fragment, or None and a URL outside of the site."""
        fragment = ""
        for _ in range(10):
            file = self._copy.files.get(path)
            if file is None or not file.target:
                break
            place = self._urls.path_of(file.target)
            if place is None or not place[0].startswith(self._urls.base):
                return None, file.target
            path, fragment = place
        return path, fragment

    def _output_of(self, path: str) -> str:
        """Return the file of a path; if the path does not exist on the service, the file that it would have."""
        return self._outputs.get(path) or f"{self._inside(path).strip('/')}/index.html"

    def _relative(self, target: str, output: str) -> str:
        """Return the URL of the file `target` for links in the file `output`."""
        if output == NOT_FOUND_PAGE:  # shown for any path
            return self._top + _shown(target)
        folder = posixpath.relpath(posixpath.dirname(target) or ".", posixpath.dirname(output) or ".")
        name = posixpath.basename(target)
        path = "" if folder == "." else f"{folder}/"
        return quote(path) + ("" if name == "index.html" else quote(name)) or "./"

    def _write_search(self) -> None:
        script = Path(__file__).with_name(SCRIPT).read_bytes()
        self._write(f"{SEARCH}/{SCRIPT}", script)
        for name, text in index_files(self._indexed()).items():
            self._write(f"{SEARCH}/{name}", text.encode())

    def _indexed(self) -> list[IndexedPage]:
        """Return the pages that readers can find, as the index of the site lists them."""
        index: dict[str, Any] = json.loads(self._body("index.json") or '{"pages": []}')
        pages: list[IndexedPage] = []
        for page in index["pages"]:
            place, text = self._urls.path_of(page["url"]), self._urls.path_of(page["markdown"])
            if place is None or text is None:
                continue
            title, description = str(page["title"]), str(page["description"])
            markdown = self._body(self._inside(text[0])).removeprefix(f"# {title}\n\n")
            pages.append(
                IndexedPage(
                    title=title,
                    url=_shown(self._output_of(place[0])),
                    description=description,
                    section=str(page["space"]),
                    above=tuple(cast("list[str]", page["path"])),
                    updated=str(page["updated"]),
                    markdown=markdown.removeprefix(f"> {description}\n\n"),
                )
            )
        return pages

    def _body(self, name: str) -> str:
        file: CopiedFile | None = self._copy.files.get(self._urls.base + name)
        return file.content.read_text("utf-8") if file and file.content else ""

    def _write_redirects(self) -> None:
        sources = sorted(path for path in self._copy.files if self._is_moved(path))
        self.redirects = [StaticRedirect(self._inside(path), self._link(path, "", NOT_FOUND_PAGE)) for path in sources]
        for name, text in redirect_files(self.redirects, self._top).items():
            self._write(name, text.encode())
        for path in sources:
            output = f"{self._names.folder(self._inside(path).strip('/'))}/index.html"
            if not (self._folder / output).exists():
                self._write(output, redirect_page(self._link(path, "", output)).encode())

    def _is_moved(self, path: str) -> bool:
        """Return whether a path of the service leads to another path in the copy."""
        source, file = self._inside(path).strip("/"), self._copy.files[path]
        if not source or source in (SEARCH, MISSING) or not path.startswith(self._urls.base):
            return False
        return bool(file.target) or (
            path in self._outputs and unquote(_shown(self._outputs[path])).strip("/") != source
        )


def _without_mcp(index: str) -> str:
    """Return an index of pages without the endpoint for agents."""
    return json.dumps({key: value for key, value in json.loads(index).items() if key != "mcp"}, ensure_ascii=False)


def _shown(output: str) -> str:
    """Return the URL of a file from the top of the copy: a page has the URL of its folder."""
    return quote(output.removesuffix("index.html") if output.rpartition("/")[2] == "index.html" else output)
