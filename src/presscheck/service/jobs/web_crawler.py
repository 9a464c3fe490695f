"""Website crawler: one origin, one page at a time, obeying robots.txt. `html_conversion` converts HTML to Markdown."""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urldefrag, urlsplit
from urllib.robotparser import RobotFileParser

from presscheck.documents.markdown.headings import leading_title
from presscheck.documents.markdown.links import written_targets
from presscheck.documents.markdown.page_size import size_problem
from presscheck.documents.pages.tree import slugify
from presscheck.service.content.file_urls import require_signature
from presscheck.service.html_conversion import NotConverted, convert_html
from presscheck.service.http.operations import ApiError
from presscheck.service.integrations.outbound_http import AGENT, Fetched, OutgoingError, web_address
from presscheck.service.jobs.queue import JobContext, LimitReached, PermanentFailure

MOST_PAGES = 200
MOST_URLS = 5000
"""Maximum number of URLs that are requested, including URLs that are not pages."""
LONGEST_ROBOTS = 500 * 1024
"""Number of bytes of a robots.txt that are read; Google has the same limit."""
PAUSE = 0.2
"""Seconds between two requests."""
LONGEST_PAUSE = 5.0
"""Maximum crawl delay that a robots.txt may require, in seconds."""

_OWN_FILE = re.compile(r"/files/([0-9a-f]{64})/([^/]+)$")


@dataclass
class CrawledPage:
    """A crawled page; `above` is the URL of its parent page."""

    url: str
    title: str
    slug: str
    text: str
    above: str | None = None

    def markdown(self, addresses: Mapping[str, str]) -> str:
        """Return the Markdown with links to other imported pages rewritten.

        Args:
            addresses: the new link targets by URL.
        """
        parts: list[str] = []
        end = 0
        for link in written_targets(self.text):
            url, fragment = urldefrag(link.target)
            address = addresses.get(_plain(url)) if web_address(url) else None
            # a URL that is not a link target remains text
            if address is None or not self.text.endswith("](", 0, link.start):
                continue
            parts += (self.text[end : link.start], f"{address}#{fragment}" if fragment else address)
            end = link.end
        return "".join((*parts, self.text[end:]))


class Crawl:
    """A crawl of the pages of one origin, starting at a URL."""

    def __init__(self, work: JobContext, start: str) -> None:
        self._work = work
        self._start = _plain(start)
        self._origin = _origin(self._start)
        # created without a URL and never `read`, which would bypass the limits on outgoing requests
        self._robots = RobotFileParser()
        self._pause = PAUSE
        self._pages: dict[str, CrawledPage] = {}
        self._skipped: list[str] = []
        self._limit: LimitReached | None = None

    def pages(self) -> list[CrawledPage]:
        """Fetch as many pages as the limits allow. Parent pages come first.

        Raises:
            LimitReached: not even one page could be fetched.
            PermanentFailure: the start page cannot be read, or robots.txt disallows crawling it.
        """
        try:
            self._follow_links()
        except LimitReached as limit:
            if not self._pages:
                raise
            self._limit = limit
        return self._in_order()

    def note(self) -> str | None:
        """Return a message about missing pages, or None if no page is missing."""
        left_out = f"{len(self._skipped)} left out, such as {self._skipped[0]}" if self._skipped else None
        return "; ".join(str(part) for part in (self._limit, left_out) if part) or None

    def _follow_links(self) -> None:
        self._read_robots()
        waiting, seen = deque([self._start]), {self._start}
        while waiting and len(self._pages) < MOST_PAGES:
            self._work.require_running()
            url = waiting.popleft()
            for linked in self._read(url):
                if linked not in seen and len(seen) < MOST_URLS and _origin(linked) == self._origin:
                    seen.add(linked)
                    waiting.append(linked)
            time.sleep(self._pause)

    def _read_robots(self) -> None:
        try:
            response = self._work.fetch(f"{self._origin}/robots.txt")
        except OutgoingError as error:
            raise PermanentFailure(str(error)) from None
        rules = response.body[:LONGEST_ROBOTS].decode("utf-8", "replace") if response.status == 200 else ""
        try:
            self._robots.parse(rules.splitlines())
        except ValueError:  # a number with thousands of digits
            raise PermanentFailure(f"{self._origin}/robots.txt is invalid") from None
        self._pause = max(PAUSE, min(int(self._robots.crawl_delay(AGENT) or 0), LONGEST_PAUSE))

    def _read(self, url: str) -> list[str]:
        """Fetch and convert one page, and return the URLs that it links to; none if the page cannot be read.

        Raises:
            PermanentFailure: the start page cannot be read.
        """
        if not self._robots.can_fetch(AGENT, url):
            if url == self._start:
                raise PermanentFailure(f"{url}: robots.txt disallows crawling")
            return []
        try:
            answer = self._work.fetch(url, accept="text/html")
        except OutgoingError as error:
            if url == self._start:
                raise PermanentFailure(str(error)) from None
            return []
        address = _plain(answer.url)
        if url == self._start:  # after a redirect, the origin is the redirect's target
            self._origin = _origin(address)
        if answer.status != 200 or answer.content_type not in ("text/html", "application/xhtml+xml"):
            if url == self._start:
                raise PermanentFailure(f"{url} responded with {answer.status} {answer.content_type}, not with a page")
            return []
        if _origin(address) != self._origin or address in self._pages:
            return []
        try:
            page = convert_html(answer.body, answer.url)
        except NotConverted as error:
            self._skip(url, str(error))
            return []
        if problem := size_problem(page.markdown):
            self._skip(url, problem)
        else:
            self._pages[address] = CrawledPage(address, page.title, _slug(address), page.markdown)
        return [_plain(link) for link in page.links]

    def _skip(self, url: str, reason: str) -> None:
        if url == self._start:
            raise PermanentFailure(f"{url}: {reason}") from None
        self._skipped.append(f"{url}: {reason}")

    def _in_order(self) -> list[CrawledPage]:
        pages = sorted(self._pages.values(), key=lambda page: (urlsplit(page.url).path.rstrip("/"), page.url))
        for page in pages:
            path = page.url
            while "/" in path.removeprefix(self._origin).strip("/") and page.above is None:
                path = path.rstrip("/").rpartition("/")[0]
                page.above = next((candidate for candidate in (path, f"{path}/") if candidate in self._pages), None)
        return pages


def read_file(work: JobContext, address: str) -> CrawledPage:
    """Read a file of Markdown, HTML or plain text, from the web or from the files of this service.

    Raises:
        PermanentFailure: the file cannot be fetched or converted, or has another type.
    """
    answer = _own_file(work, address) or _fetched(work, address)
    name = unquote(urlsplit(address).path).lower()
    if answer.content_type == "text/html" or name.endswith((".html", ".htm")):
        try:
            page = convert_html(answer.body, answer.url)
        except NotConverted as error:
            raise PermanentFailure(f"{address}: {error}") from None
        return CrawledPage(_plain(answer.url), page.title, _slug(answer.url), page.markdown)
    if answer.content_type not in ("text/markdown", "text/plain", "") and not name.endswith(
        (".md", ".markdown", ".txt")
    ):
        raise PermanentFailure(f"{address}: cannot import {answer.content_type}; use Markdown, HTML or plain text")
    text = answer.body.decode("utf-8", "replace")
    heading = leading_title(text)
    slug = _slug(address.rsplit(".", 1)[0])
    return CrawledPage(address, heading.title if heading else slug, slug, text)


def _own_file(work: JobContext, address: str) -> Fetched | None:
    parts = urlsplit(address)
    match = _OWN_FILE.search(parts.path)
    content = work.files.read(match[1]) if match else None
    if match is None or content is None:
        return None
    try:
        with work.database.snapshot() as session:
            require_signature(session, match[1], dict(parse_qsl(parts.query)), work.clock())
    except ApiError as error:
        raise PermanentFailure(f"{address}: {error.message}") from None
    work.budget.add_bytes(len(content))
    return Fetched(address, 200, {}, content)


def _fetched(work: JobContext, address: str) -> Fetched:
    try:
        answer = work.fetch(address)
    except OutgoingError as error:
        raise PermanentFailure(str(error)) from None
    if answer.status != 200:
        raise PermanentFailure(f"{address} responded with {answer.status}")
    return answer


def _plain(url: str) -> str:
    """Return the URL without fragment and query, with at least the path ``/``."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path or '/'}"


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.lower()}"


def _slug(url: str) -> str:
    last = unquote(urlsplit(url).path).rstrip("/").rpartition("/")[2]
    return slugify(re.sub(r"\.(?:html?|md|markdown|txt)$", "", last)) or "home"
