"""Downloads everything that a visitor can reach on a published site, beginning with the lists of its pages."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, urljoin

from presscheck.engine.site_build.references import SiteUrls, references_in_html, urls_in_styles

if TYPE_CHECKING:
    from presscheck.client.responses import Reply

AT_ONCE = 8
"""Maximum number of concurrent requests."""
OK, NOT_FOUND = 200, 404
REDIRECTS = frozenset((301, 302, 303, 307, 308))
HTML, STYLES = "text/html", "text/css"
MACHINE_FILES = ("index.json", "llms.txt", "llms-full.txt", "robots.txt", "sitemap.xml")
FILES = "~files/"
"""The start of the paths of uploaded files, in which no links are followed."""
SEARCH, MISSING = "~search", "~404"
"""Paths for the page of search results, and for a page that does not exist."""
ASSETS = "/assets/"
"""The start of the paths of style sheets and scripts of the service."""


class CopiedFile(NamedTuple):
    """A response of the service.

    Attributes:
        media_type: the media type without parameters; empty for redirects.
        content: the file with the body; None for redirects.
        target: the absolute URL to which a redirect leads.
    """

    media_type: str
    content: Path | None
    target: str = ""

    @property
    def is_page(self) -> bool:
        """Whether the body is HTML."""
        return self.media_type == HTML


@dataclass
class SiteCopy:
    """The copy of a site: its files by path on the service, without paths that do not exist."""

    urls: SiteUrls
    files: dict[str, CopiedFile]


class SiteReader:
    """A reader of all files of a site that a visitor can reach.

    Args:
        urls: the URLs of the site.
        read: returns the response to a request for a URL.
        folder: an empty folder for the responses.
        on_progress: called with the number of files that were read, and the number of files that were found so far.
    """

    def __init__(
        self,
        urls: SiteUrls,
        read: Callable[[str], Awaitable[Reply]],
        folder: Path,
        on_progress: Callable[[int, int], None],
    ) -> None:
        self._urls, self._read, self._folder, self._on_progress = urls, read, folder, on_progress
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._seen: set[str] = set()
        self._done = 0

    async def copy(self, paths: Iterable[str]) -> SiteCopy:
        """Read the files at these paths within the site, and all files of the site that they lead to.

        Raises:
            RequestError: a file cannot be read.
        """
        base = self._urls.base
        files: dict[str, CopiedFile] = {}
        wanted = [base, *(base + path for path in (*MACHINE_FILES, SEARCH, MISSING, *paths))]
        while wanted := [path for path in dict.fromkeys(wanted) if path not in self._seen]:
            self._seen.update(wanted)
            found = await asyncio.gather(*(self._file(path) for path in wanted))
            new = {path: file for path, (file, _) in zip(wanted, found, strict=True) if file}
            files.update(new)
            wanted = [path for _, references in found for path in references]
        return SiteCopy(self._urls, files)

    async def _file(self, path: str) -> tuple[CopiedFile | None, list[str]]:
        """Read a file. Return the file, or None if it is not part of the copy, and the paths that it leads to."""
        async with self._turns:
            reply = await self._read(self._urls.origin + self._request_path(path))
            self._done += 1
            self._on_progress(self._done, len(self._seen))
            media_type = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
            location = reply.headers.get("location")
            if reply.status in REDIRECTS and location:
                target = urljoin(self._urls.origin + quote(path), location)
                within = self._within(target)
                # other pages of the service, such as exports, may need a signature that expires
                is_copied = within or not self._urls.path_of(target)
                return CopiedFile("", None, target) if is_copied else None, within
            is_wanted = reply.status == (NOT_FOUND if path == self._urls.base + MISSING else OK)
            if not is_wanted:
                return None, []
            is_file = path.startswith(self._urls.base + FILES)
            content = self._folder / str(self._done)
            content.write_bytes(reply.body)
            if is_file:
                return CopiedFile("application/octet-stream", content), []
            links = self._links(path, media_type, reply.body.decode("utf-8", "replace"))
            return CopiedFile(media_type, content), links

    def _request_path(self, path: str) -> str:
        return quote(self._urls.base) + "?q=" if path == self._urls.base + SEARCH else quote(path)

    def _links(self, path: str, media_type: str, text: str) -> list[str]:
        """Return the paths of the pages and files that a page or a style sheet leads to."""
        if media_type == STYLES:
            urls = [urljoin(quote(path), url) for url in urls_in_styles(text)]
            return [place[0] for url in urls if (place := self._urls.path_of(url))]
        paths: list[str] = []
        for reference in references_in_html(text) if media_type == HTML else ():
            place = self._urls.path_of(reference.url)
            if place and (place[0].startswith(self._urls.base) or reference.is_loaded):
                paths.append(place[0])
        return paths

    def _within(self, url: str) -> list[str]:
        place = self._urls.path_of(url)
        return [place[0]] if place and place[0].startswith(self._urls.base) else []
