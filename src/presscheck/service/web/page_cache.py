"""Cache of pages of published sites: plain, compressed with gzip, and with `ETag`.

Pages are cached until the next commit to the database, like the responses in `http/middleware.py`. Only pages that
depend on nothing but the database, the path and the chosen theme are cached. Pages for signed-in visitors depend on the
time and are not cached. Previews, searches and errors are not cached either.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime
from hashlib import blake2b

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from presscheck.service.blobs.staged_files import StagedFiles
from presscheck.service.blobs.store import BlobStore
from presscheck.service.db.bounded_cache import BoundedCache
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import Clock
from presscheck.service.db.signing import TIMED
from presscheck.service.db.version import CurrentVersion, Version
from presscheck.service.http.middleware import ORIGIN, origin_of
from presscheck.service.http.operations import Caller, Context, entity_tag
from presscheck.service.web.cached_response import (
    THEME,
    THEMES,
    CachedResponse,
    SitePage,
    compress_response,
    is_public,
    wants_markdown,
)
from presscheck.service.web.integration_blocks import BlockDrawer
from presscheck.service.web.site_record import SiteRecords


class PageCache:
    """Renders the pages of published sites and caches them.

    Args:
        database: the database of the service.
        versions: the version of the database.
        files: the stored files.
        clock: returns the current time.
        is_live: whether pages reload when their space changes.
        diagram_script: the URL path of the script that draws diagrams, or an empty string.
    """

    def __init__(
        self,
        database: Database,
        versions: CurrentVersion,
        files: BlobStore,
        clock: Clock,
        *,
        is_live: bool = False,
        diagram_script: str = "",
    ) -> None:
        self.capacity = database.caches.pages
        self._is_live, self._diagram_script = is_live, diagram_script
        self._database = database
        self._files, self._clock, self._versions = files, clock, versions
        self._version: Version | None = None
        self._pages = BoundedCache(self.capacity)
        self._sites = BoundedCache(database.caches.sites)

    async def current_version(self) -> Version | None:
        """Return the version of the database, and clear the caches if it has changed.

        Call this before rendering a page, so that a commit during the rendering makes the page stale.
        """
        version = await self._versions.current()
        if version != self._version:
            self._version = version
            self._pages.clear()  # pages that threads add later have the old version in their key
            self._sites.clear()
        return version

    def cached(self, scope: Scope, version: Version | None) -> CachedResponse | None:
        """Return the cached response to a request, or None."""
        key = _key(scope) if version else None
        return self._pages.get((version, key)) if key else None

    def respond(
        self, request: Request, version: Version | None, blocks: BlockDrawer | None, *, is_zipped: bool = False
    ) -> CachedResponse | Response:
        """Render a response. A page is cached if it depends only on the database and the key of the request.

        Args:
            request: the request.
            version: the version of the database before this call.
            blocks: draws the blocks of integrations; without it, pages with such blocks are not cached.
            is_zipped: whether to compress the page now, instead of for the first reader who accepts gzip.
        """
        from presscheck.service.web.views import site_response  # takes 106 ms to import, so only for published pages

        with self.reading(request, version) as (context, sites):
            response = site_response(context, request, self._files, sites, blocks)
            if not isinstance(response, SitePage):
                return compress_response(response, request.headers.get("accept-encoding", ""))
            tag = entity_tag(bytes(response.body))
            headers = ((b"etag", tag.encode()), *response.raw_headers)
            page = CachedResponse(bytes(response.body), tag, headers, is_public(response))
            if is_zipped:
                page.compress()
            key = _key(request.scope)
            if version and key and not context.session.info.get(TIMED):
                self._pages.put((version, key), page, page.weight())
            return page

    @contextmanager
    def reading(self, request: Request, version: Version | None) -> Generator[tuple[Context, SiteRecords]]:
        """Open a transaction for a request, with the cached sites of a version of the database."""
        with self._database.snapshot() as session:

            def clock() -> datetime:
                session.info[TIMED] = True
                return self._clock()

            context = Context(
                session,
                Caller("", "", None, None),
                origin_of(request),
                clock,
                StagedFiles(self._files, may_wait=True),
                is_live=self._is_live,
                diagram_script=self._diagram_script,
            )
            yield context, SiteRecords(self._sites, version)


def _key(scope: Scope) -> bytes | None:
    """Return the cache key of a page, or None if the response must not be cached.

    The key is a hash, so that no share key of a URL stays in memory. It does not cover visitor tokens in cookies,
    because pages that need such a token depend on the time and are not cached.
    """
    if scope["query_string"] or wants_markdown(Headers(scope=scope).get("accept", "")):
        return None
    theme = Request(scope).cookies.get(THEME, "") if any(name == b"cookie" for name, _ in scope["headers"]) else ""
    origin, path = scope[ORIGIN].encode(), scope["path"].encode("utf-8", "surrogatepass")
    theme = theme if theme in THEMES else ""
    return blake2b(b"%d %s %s " % (len(origin), origin, theme.encode()) + path, digest_size=32).digest()
