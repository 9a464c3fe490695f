"""Draws the pages of visited sites in the background, so that the first visit of a page is as fast as later visits.

After the first visit of a site, and whenever its content changes afterwards, a thread draws its pages, the most
recently changed ones first, and adds them to the page cache. This is not a job of the queue, because each process has
its own cache, and because the commit at the end of a job would make the drawn pages stale.

A page is cached under the version that the database had before the drawing, as for readers, so a commit during the
drawing makes it stale. The thread does nothing else and pauses most of the time, so readers do not wait for it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import unquote

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.types import Scope

from presscheck.service.db.engine import Database
from presscheck.service.db.version import Version
from presscheck.service.http.middleware import ORIGIN
from presscheck.service.web.cached_response import CachedResponse
from presscheck.service.web.page_cache import PageCache

PAUSE = 1.0
"""Seconds between two checks of the version of the database."""
LONGEST_BURST = 10
"""Maximum number of consecutive pauses with commits; then pages are drawn although commits continue."""
REST = 4
"""Pause after a page, as a multiple of its rendering time, at most `PAUSE`. Uses a fifth of a processor."""
REMEMBERED = 3600.0
"""Seconds after its last visit until a site is forgotten, and no longer drawn when its content changes."""
MOST_SITES = 8
"""Maximum number of remembered sites; a site that is read under two host names counts twice."""

_log = logging.getLogger("presscheck.service")


@dataclass
class VisitedSite:
    """A site that was visited, as readers see it under one host name.

    Attributes:
        name: the name in its URL.
        origin: the start of its URL.
        visited: the time of the last visit, of the monotonic clock.
        version: the version of the database when the content of the site was last checked.
        digest: the hash of the content that was drawn last.
    """

    name: str
    origin: str
    visited: float
    version: Version | None = None
    digest: bytes = b""

    def request(self, path: str) -> Request:
        """Return the request of a reader without cookies for a path within the site."""
        scope: Scope = {
            "type": "http",
            "method": "GET",
            "path": f"/docs/{self.name}/{path}",
            "query_string": b"",
            "headers": [],
            "path_params": {"site": self.name, "path": path},
            ORIGIN: self.origin,
        }
        return Request(scope)


class PageDrawer:
    """The background task of a process. It starts with the first visit of a site.

    Args:
        pages: the cache into which pages are drawn.
        database: the database; closing it ends the task.
    """

    def __init__(self, pages: PageCache, database: Database) -> None:
        self._pages = pages
        self._sites: dict[tuple[str, str], VisitedSite] = {}
        self._limiter = CapacityLimiter(1)
        self._task: asyncio.Task[None] | None = None
        self._is_closed = False
        database.closing.callback(self.close)

    def note_visit(self, scope: Scope) -> None:
        """Remember the site of a request with a public response."""
        key, now = (scope["path_params"]["site"], scope[ORIGIN]), time.monotonic()
        site = self._sites.pop(key, None) or VisitedSite(*key, now)
        site.visited = now
        self._sites[key] = site  # the most recently visited site is last
        if len(self._sites) > MOST_SITES:
            del self._sites[next(iter(self._sites))]
        if self._task is None or self._task.done():
            self._task = None if self._is_closed else asyncio.create_task(self._work())

    def close(self) -> None:
        """End the task."""
        self._is_closed = True
        if self._task is not None:
            with suppress(RuntimeError):  # its event loop has ended
                self._task.cancel()

    async def _work(self) -> None:
        previous, burst = None, 0
        while self._sites:
            await asyncio.sleep(PAUSE)
            version = await self._pages.current_version()
            if version is None:
                continue
            burst = burst + 1 if version != previous else 0
            previous = version
            if 0 < burst < LONGEST_BURST:
                continue
            burst = 0
            room = self._pages.capacity * 3 // 4  # the rest is for pages that readers visit in the meantime
            for key, site in [*self._sites.items()]:
                if time.monotonic() - site.visited > REMEMBERED:
                    self._sites.pop(key, None)
                elif site.version != version:
                    room -= await self._draw(site, version, room)

    async def _draw(self, site: VisitedSite, version: Version, room: int) -> int:
        """Draw the pages of a site if its content has changed. Return the size of the drawn pages in bytes."""
        size, site.version = 0, version
        try:
            digest, paths = await run_sync(self._paths, site, version, limiter=self._limiter)
            if digest == site.digest:
                return 0
            site.digest = digest
            for path in paths:
                request, current = site.request(path), await self._pages.current_version()
                if current is None or self._pages.cached(request.scope, current):
                    continue
                began = time.monotonic()
                size += await run_sync(self._draw_page, request, current, limiter=self._limiter)
                if size > room:
                    break
                await asyncio.sleep(min(REST * (time.monotonic() - began), PAUSE))
        except Exception:  # pages are still rendered, or fail, when readers request them
            _log.exception("The pages of a site could not be drawn in advance")
        return size

    def _draw_page(self, request: Request, version: Version) -> int:
        page = self._pages.respond(request, version, None, is_zipped=True)
        return page.weight() if isinstance(page, CachedResponse) else 0

    def _paths(self, site: VisitedSite, version: Version) -> tuple[bytes, list[str]]:
        """Return a hash of the content of a site, and the paths of its pages, the most recently changed page first.

        There are no paths if visitors have to sign in or the site has been unpublished.
        """
        # 22 ms with what they import, which the first visit of a site has imported
        from presscheck.service.web.access import OPEN, Reader, reading_address
        from presscheck.service.web.published_site import PublishedSite

        with self._pages.reading(site.request(""), version) as (context, sites):
            row = sites.named(context, site.name)
            if row is None or not row.published or row.visibility not in OPEN:
                return b"", []
            record = sites.record(context, row)
            published = PublishedSite(context, Reader(row, reading_address(context, row), "", {}), record)
            places = [
                (str(place.page.get("updatedAt") or ""), published.address(site_space, place))
                for site_space in published.site_spaces
                for place in published.content(site_space.space_id).listed
            ]
            places.sort(key=lambda entry: entry[0], reverse=True)
            return record.digest, [unquote(url).removeprefix(published.base) for _, url in places]
