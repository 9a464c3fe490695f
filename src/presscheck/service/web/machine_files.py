"""Files of a site for programs: `robots.txt`, `sitemap.xml`, `llms.txt`, `llms-full.txt`, `index.json`, feeds, and
pages as Markdown. They contain only content that the reader may see.

A preview also has `paths.json`: all paths that lead to a page of the site, for programs that build a copy of the site.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from html import escape
from typing import NamedTuple
from urllib.parse import unquote

from starlette.responses import Response

from presscheck.documents.block_tags import included_address
from presscheck.documents.markdown.code_ranges import without_code
from presscheck.documents.markdown.links import WrittenTarget, written_targets
from presscheck.documents.markdown.page_size import size_problem
from presscheck.documents.openapi.blocks import BlockReference, written_blocks
from presscheck.documents.openapi.markdown import specified_markdown
from presscheck.documents.pages.tree import PagePosition
from presscheck.documents.visitors.conditional_text import visible_text
from presscheck.service.content.serializers import body_of
from presscheck.service.models.sites import SiteSpaceRow
from presscheck.service.web.cached_response import SitePage
from presscheck.service.web.feeds import FEED, page_feed, site_feed
from presscheck.service.web.feeds import MEDIA_TYPE as RSS
from presscheck.service.web.json_rpc import MCP_PATH
from presscheck.service.web.links import PageLinks
from presscheck.service.web.navigation import trail
from presscheck.service.web.published_site import PublishedSite

MARKDOWN = "text/markdown"
MAX_INCLUDES = 5
"""Maximum nesting depth of included texts."""
ROOM, LOOKUP = 500_000, 500
"""Maximum number of characters of all texts that a page includes; each lookup counts as `LOOKUP` characters."""
_INCLUDE = re.compile(r"\{%-?[ \t]*include\b[^%\n]*%\}")
LONGEST = 5_000_000
"""Maximum number of characters of `llms-full.txt`; beyond it, a note refers to `llms.txt`."""


class ListedPage(NamedTuple):
    """A page that search engines may list, with its space."""

    site_space: SiteSpaceRow
    place: PagePosition


def machine_file(site: PublishedSite, headers: dict[str, str]) -> Response | None:
    """Respond with the file at the requested path, or return None if the path does not belong to a file.

    Args:
        site: the site for this reader.
        headers: headers of the response.
    """
    path = site.path
    make = _FILES.get(path) or (_PREVIEW_FILES.get(path) if site.reader.is_previewing else None)
    if make is not None:
        media_type, write = make
        return SitePage(write(site), 200, headers | {"x-robots-tag": "noindex"}, media_type=media_type)
    page = site.find(path.removesuffix(f"/{FEED}")) if path.endswith(f"/{FEED}") else None
    feed = page_feed(site, *page, _body_markdown(site, *page)) if page else None
    if feed:
        return SitePage(feed, 200, headers | {"x-robots-tag": "noindex"}, media_type=RSS)
    page = site.find(path.removesuffix(".md")) if path.endswith(".md") else None
    return markdown_page(site, *page, headers) if page else None


def markdown_page(
    site: PublishedSite, site_space: SiteSpaceRow, place: PagePosition, headers: dict[str, str]
) -> Response:
    """Respond with a page as Markdown."""
    text = page_markdown(site, site_space, place)
    canonical = f'<{site.absolute(site.address(site_space, place))}>; rel="canonical"'
    robots = {} if site.is_listed and is_indexed(place) else {"x-robots-tag": "noindex"}
    return SitePage(text, 200, headers | {"link": canonical} | robots, media_type=MARKDOWN)


def page_markdown(site: PublishedSite, site_space: SiteSpaceRow, place: PagePosition) -> str:
    """Return a page as this reader sees it, as Markdown with its title and with absolute URLs."""
    description = place.page.get("description")
    head = f"# {place.page['title']}\n\n" + (f"> {description}\n\n" if description else "")
    return f"{head}{_body_markdown(site, site_space, place)}\n"


def _body_markdown(site: PublishedSite, site_space: SiteSpaceRow, place: PagePosition) -> str:
    body = body_of(site.context, place.page)
    if problem := size_problem(body):  # older versions of the service stored larger texts
        return f"This text is {problem}."
    text = visible_text(body, site.holds)
    return _MarkdownWriter(site, PageLinks(site, site_space, place)).page(text).strip()


class _MarkdownWriter:
    """Writes the Markdown of one page with absolute URLs and included texts."""

    def __init__(self, site: PublishedSite, links: PageLinks) -> None:
        self._site, self._links = site, links
        self._room = ROOM

    def page(self, text: str) -> str:
        return self._text(text, self._links.source, MAX_INCLUDES)

    def _text(self, text: str, source: str, depth: int) -> str:
        plain = without_code(text)
        parts: list[str] = []
        end = 0
        edits = [*written_targets(text), *(_include(match) for match in _INCLUDE.finditer(plain))]
        blocks = {block.start: block for block in written_blocks(plain)}
        edits += [WrittenTarget(block.start, block.end, "") for block in blocks.values()]
        for edit in sorted(edits, key=lambda edit: (edit.start, -edit.end)):
            if edit.start >= end:
                is_include = plain.startswith("{%", edit.start)
                if edit.start in blocks:
                    new = self._described(blocks[edit.start].reference, source)
                else:
                    new = self._included(edit, source, depth) if is_include else self._url(edit, source)
                parts += (text[end : edit.start], text[edit.start : edit.end] if new is None else new)
                end = edit.end
        return "".join((*parts, text[end:]))

    def _included(self, edit: WrittenTarget, source: str, depth: int) -> str:
        included = self._links.included(edit.target, source) if depth and self._room > 0 else None
        if included is None:
            return ""
        self._room -= LOOKUP + len(included.markdown)
        return self._text(visible_text(included.markdown, self._site.holds), included.source, depth - 1)

    def _described(self, block: BlockReference, source: str) -> str | None:
        """Return the part of a specification that a block shows, or None if it cannot be read."""
        reader = self._links.specification(block.origin, source, is_file=block.is_file) if self._room > 0 else None
        text = specified_markdown(reader, block) if reader else ""
        self._room -= len(text) // 5  # references may be five times as long as included texts
        return text or None

    def _url(self, edit: WrittenTarget, source: str) -> str | None:
        link = self._links.leads(edit.target, source)
        return self._site.absolute(link.url) if link else None


def _include(match: re.Match[str]) -> WrittenTarget:
    return WrittenTarget(match.start(), match.end(), included_address(match[0]))


def markdown_address(site: PublishedSite, site_space: SiteSpaceRow, place: PagePosition) -> str:
    """Return the URL of the Markdown of a page."""
    return site.own_address(site_space, place) + ".md"


def listed_pages(site: PublishedSite) -> Iterator[ListedPage]:
    """Yield the pages that search engines may list, space by space in reading order."""
    for site_space in site.site_spaces:
        for place in site.content(site_space.space_id).listed:
            if is_indexed(place):
                yield ListedPage(site_space, place)


def is_indexed(place: PagePosition) -> bool:
    """Return whether search engines may list a page."""
    return not (place.page.get("noIndex") or place.page.get("noRobotsIndex"))


def _robots(site: PublishedSite) -> str:
    if not site.is_listed:
        return "User-agent: *\nDisallow: /\n"
    return f"User-agent: *\nAllow: /\nSitemap: {site.absolute(site.base)}sitemap.xml\n"


def _sitemap(site: PublishedSite) -> str:
    pages = listed_pages(site) if site.is_listed else ()
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">']
    for site_space, place in pages:
        changed = place.page.get("updatedAt")
        modified = f"<lastmod>{escape(str(changed))}</lastmod>" if changed else ""
        lines.append(f"<url><loc>{escape(site.absolute(site.address(site_space, place)))}</loc>{modified}</url>")
    return "\n".join((*lines, "</urlset>\n"))


def _llms(site: PublishedSite) -> str:
    parts = [f"# {_line(site.title)}", f"\n> Search and read these pages by MCP: {site.absolute(site.base)}{MCP_PATH}"]
    last: SiteSpaceRow | None = None
    for site_space, place in listed_pages(site):
        if site_space is not last:
            parts.append(f"\n## {_line(site.space_title(site_space))}\n")
            last = site_space
        about = _line(place.page.get("description") or "")
        address = site.absolute(markdown_address(site, site_space, place))
        title = _line(place.page["title"]).replace("[", "\\[").replace("]", "\\]")
        parts.append(f"- [{title}]({address})" + (f": {about}" if about else ""))
    return "\n".join(parts) + "\n"


def _llms_full(site: PublishedSite) -> str:
    parts: list[str] = []
    length = 0
    for site_space, place in listed_pages(site):
        text = page_markdown(site, site_space, place)
        length += len(text)
        if length > LONGEST:
            parts.append(f"More pages are listed in {site.absolute(site.base)}llms.txt.\n")
            break
        parts.append(text)
    return "\n".join(parts)


def _index(site: PublishedSite) -> str:
    pages = [
        {
            "title": place.page["title"],
            "description": place.page.get("description") or "",
            "space": site.space_title(site_space),
            "path": [ancestor.page["title"] for ancestor in trail(site, site_space, place)],
            "updated": place.page.get("updatedAt") or "",
            "url": site.absolute(site.address(site_space, place)),
            "markdown": site.absolute(markdown_address(site, site_space, place)),
        }
        for site_space, place in listed_pages(site)
    ]
    index = {"title": site.title, "mcp": f"{site.absolute(site.base)}{MCP_PATH}", "pages": pages}
    return json.dumps(index, ensure_ascii=False)


def _paths(site: PublishedSite) -> str:
    paths = {source.lstrip("/") for source in site.record.redirects}
    for site_space in site.site_spaces:
        content = site.content(site_space.space_id)
        top = unquote(site.own_address(site_space, None)).removeprefix(site.base)
        paths.add(top)
        paths.update(top + former for former in content.former_paths)
        for place in content.places.values():
            if place.page["type"] in ("document", "group"):
                paths.add(unquote(site.own_address(site_space, place)).removeprefix(site.base))
    return json.dumps({"paths": sorted(paths)}, ensure_ascii=False)


def _line(words: str) -> str:
    return " ".join(words.split())


_FILES: dict[str, tuple[str, Callable[[PublishedSite], str]]] = {
    "robots.txt": ("text/plain", _robots),
    "sitemap.xml": ("application/xml", _sitemap),
    "llms.txt": ("text/plain", _llms),
    "llms-full.txt": ("text/plain", _llms_full),
    "index.json": ("application/json", _index),
    FEED: (RSS, lambda site: site_feed(site, listed_pages(site))),
}
"""The media type of each file, and the function that writes it."""
_PREVIEW_FILES: dict[str, tuple[str, Callable[[PublishedSite], str]]] = {"paths.json": ("application/json", _paths)}
"""Files that only previews have, because not every reader may see the paths of hidden pages and redirects."""
