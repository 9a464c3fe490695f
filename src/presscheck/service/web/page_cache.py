"""Cache of pages of published sites: plain, compressed with gzip, and with `ETag`.

Pages are cached until the next commit to the database, like the responses in `http/middleware.py`. Only pages that
depend on nothing but the database, the path and the chosen theme are cached: no pages for signed-in visitors, which
depend on the time, no previews, searches or errors.
"""

from __future__ import annotations

from datetime import datetime
from hashlib import blake2b

from sqlalchemy.orm import Session
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from presscheck.service.db.blob_store import BlobStore
from presscheck.service.db.bounded_cache import BoundedCache
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import Clock
from presscheck.service.db.signing import TIMED
from presscheck.service.db.version import CurrentVersion, Version
from presscheck.service.http.middleware import ORIGIN, origin_of
from presscheck.service.http.operations import ApiError, Caller, Context, StagedFiles, entity_tag
from presscheck.service.http.request_body import read_body
from presscheck.service.http.turns import Threads
from presscheck.service.web.cached_response import (
    THEME,
    THEMES,
    CachedResponse,
    SitePage,
    compress_response,
    is_public,
    send_cached_response,
    wants_markdown,
)
from presscheck.service.web.integration_blocks import BlockDrawer
from presscheck.service.web.json_rpc import INVALID_REQUEST, error_response
from presscheck.service.web.site_record import SiteRecords

MOST_PAGES, MOST_WAITING = 16, 400
"""Maximum number of pages rendered at the same time, and of requests that wait."""

LARGEST_MESSAGE = 64 * 1024
"""Maximum size of a message of an MCP client, in bytes."""


class PublishedPages:
    """The endpoint of published sites.

    Args:
        database: the database of the service.
        versions: the version of the database.
        files: the stored files.
        clock: returns the current time.
        blocks: draws the blocks of integrations.
        is_live: whether pages are loaded again when their space changes.
        diagram_script: the URL path of the script that draws diagrams, or an empty string.
    """

    def __init__(
        self,
        database: Database,
        versions: CurrentVersion,
        files: BlobStore,
        clock: Clock,
        blocks: BlockDrawer,
        *,
        is_live: bool = False,
        diagram_script: str = "",
    ) -> None:
        self._blocks, self._is_live, self._diagram_script = blocks, is_live, diagram_script
        self._sessions = database.reading
        self._files, self._clock, self._versions = files, clock, versions
        self._version: Version | None = None
        self._pages = BoundedCache(database.caches.pages)
        self._sites = BoundedCache(database.caches.sites)
        self._threads = Threads(MOST_PAGES, waiting=MOST_WAITING, what="Pages of sites")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        key = _key(scope)
        version = await self._current_version()
        response: CachedResponse | Response | None = self._pages.get((version, key)) if version and key else None
        if response is None:
            response = await self._threads.run(self._read, Request(scope, receive), key, version)
        if isinstance(response, Response):
            await response(scope, receive, send)
        else:
            await send_cached_response(response, scope, send, may_zip=response.is_public or not scope["query_string"])

    async def respond_to_message(self, request: Request) -> Response:
        """Respond to a message of an MCP client, which is a POST request to a site."""
        try:
            if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
                raise ApiError(415, "The message must be sent as application/json.")
            body = await read_body(request, LARGEST_MESSAGE)
            return await self._threads.run(self._read_message, request, body, await self._current_version())
        except ApiError as error:
            return error_response(error.status, INVALID_REQUEST, error.message)

    async def _current_version(self) -> Version | None:
        """Return the version of the database, and clear the caches if it has changed.

        The version is read before a page is rendered, so that a commit during its rendering makes the page stale.
        """
        version = await self._versions.current()
        if version != self._version:
            self._version = version
            self._pages.clear()  # pages that threads add later have the old version in their key
            self._sites.clear()
        return version

    def _read_message(self, request: Request, body: bytes, version: Version | None) -> Response:
        from presscheck.service.web.mcp import respond_to_message  # takes 125 ms to import, so only for agents

        with self._sessions.begin() as session:
            sites = SiteRecords(self._sites, version)
            return respond_to_message(self._context(session, request), request, body, sites)

    def _read(self, request: Request, key: bytes | None, version: Version | None) -> CachedResponse | Response:
        """Render a page, and cache it if its content depends on nothing but the key."""
        from presscheck.service.web.views import answered  # takes 106 ms to import, so only for published pages

        with self._sessions.begin() as session:
            sites = SiteRecords(self._sites, version)
            response = answered(self._context(session, request), request, self._files, sites, self._blocks)
            if not isinstance(response, SitePage):
                return compress_response(response, request.headers.get("accept-encoding", ""))
            tag = entity_tag(bytes(response.body))
            headers = ((b"etag", tag.encode()), *response.raw_headers)
            page = CachedResponse(bytes(response.body), tag, headers, is_public(response))
            if version and key and not session.info.get(TIMED):
                self._pages.put((version, key), page, page.weight())
            return page

    def _context(self, session: Session, request: Request) -> Context:
        def clock() -> datetime:
            session.info[TIMED] = True
            return self._clock()

        files = StagedFiles(self._files, may_wait=True)
        return Context(
            session,
            Caller("", "", None, None),
            origin_of(request),
            clock,
            files,
            is_live=self._is_live,
            diagram_script=self._diagram_script,
        )


def _key(scope: Scope) -> bytes | None:
    """Return the cache key of a page, or None if the response must not be cached.

    The key is a hash, so that no share key of a URL stays in memory. It does not cover the tokens of visitors in
    cookies: pages that need such a token depend on the time and are not cached.
    """
    if scope["query_string"] or wants_markdown(Headers(scope=scope).get("accept", "")):
        return None
    theme = Request(scope).cookies.get(THEME, "") if any(name == b"cookie" for name, _ in scope["headers"]) else ""
    origin, path = scope[ORIGIN].encode(), scope["path"].encode("utf-8", "surrogatepass")
    theme = theme if theme in THEMES else ""
    return blake2b(b"%d %s %s " % (len(origin), origin, theme.encode()) + path, digest_size=32).digest()
