"""The endpoint of published sites: pages, files, searches, and messages of MCP clients."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from presscheck.service.db.version import Version
from presscheck.service.http.operations import ApiError
from presscheck.service.http.request_body import read_body
from presscheck.service.http.turns import Threads
from presscheck.service.web.cached_response import CachedResponse, send_cached_response
from presscheck.service.web.integration_blocks import BlockDrawer
from presscheck.service.web.json_rpc import INVALID_REQUEST, error_response
from presscheck.service.web.page_cache import PageCache
from presscheck.service.web.page_drawer import PageDrawer

MOST_PAGES, MOST_WAITING = 16, 400
"""Maximum number of pages rendered at the same time, and of requests that wait."""

LARGEST_MESSAGE = 64 * 1024
"""Maximum size of a message of an MCP client, in bytes."""


class PublishedPages:
    """The endpoint of published sites.

    Args:
        pages: the page cache.
        drawer: draws the other pages of a visited site, or None.
        blocks: draws the blocks of integrations.
    """

    def __init__(self, pages: PageCache, drawer: PageDrawer | None, blocks: BlockDrawer) -> None:
        self._pages, self._drawer, self._blocks = pages, drawer, blocks
        self._threads = Threads(MOST_PAGES, waiting=MOST_WAITING, what="Pages of sites")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        version = await self._pages.current_version()
        response: CachedResponse | Response | None = self._pages.cached(scope, version)
        if response is None:
            response = await self._threads.run(self._pages.respond, Request(scope, receive), version, self._blocks)
        if isinstance(response, Response):
            await response(scope, receive, send)
            return
        if response.is_public and self._drawer:
            self._drawer.note_visit(scope)
        await send_cached_response(response, scope, send, may_zip=response.is_public or not scope["query_string"])

    async def respond_to_message(self, request: Request) -> Response:
        """Respond to a message of an MCP client, which is a POST request to a site."""
        try:
            if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
                raise ApiError(415, "The message must be sent as application/json.")
            body = await read_body(request, LARGEST_MESSAGE)
            version = await self._pages.current_version()
            return await self._threads.run(self._read_message, request, body, version)
        except ApiError as error:
            return error_response(error.status, INVALID_REQUEST, error.message)

    def _read_message(self, request: Request, body: bytes, version: Version | None) -> Response:
        from presscheck.service.web.mcp import respond_to_message  # takes 125 ms to import, so only for agents

        with self._pages.reading(request, version) as (context, sites):
            return respond_to_message(context, request, body, sites)
