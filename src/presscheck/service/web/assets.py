"""The style sheet and the scripts of published sites. Their URLs contain a hash, so browsers cache them for a year."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from starlette.types import Receive, Scope, Send

from presscheck.service.http.operations import entity_tag
from presscheck.service.web.cached_response import CachedResponse, send_cached_response

TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}
"""Media types by extension; the files are named `site`."""
LARGEST_SCRIPT = 10_000_000
"""Maximum size of the script that draws diagrams, in bytes; version 11 of Mermaid has 3.6 million."""
IMMUTABLE = "public, max-age=31536000, immutable"
_DIGITS = 16


def _response(body: bytes, extension: str, cache_control: str) -> CachedResponse:
    tag = entity_tag(body)
    headers = {
        "etag": tag,
        "content-length": str(len(body)),
        "content-type": TYPES[extension],
        "cache-control": cache_control,
        "vary": "accept-encoding",
        "x-content-type-options": "nosniff",
    }
    return CachedResponse(body, tag, tuple((name.encode(), value.encode()) for name, value in headers.items()))


@cache
def _asset(extension: str, cache_control: str) -> CachedResponse:
    body = Path(__file__).with_name(f"site.{extension}").read_bytes()
    return _response(body, extension, cache_control)


@cache
def asset_path(extension: str) -> str:
    """Return the URL path of the style sheet (`css`) or of the script (`js`)."""
    return f"/assets/site-{_asset(extension, '').tag[1 : 1 + _DIGITS]}.{extension}"


class Asset:
    """The endpoint of the style sheet or of the script.

    URLs with another hash, from pages of other releases, also get the present file, but browsers do not cache it.

    Args:
        extension: `css` or `js`.
    """

    def __init__(self, extension: str) -> None:
        self._extension = extension

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        is_this = scope["path"] == asset_path(self._extension)
        asset = _asset(self._extension, IMMUTABLE if is_this else "no-cache")
        await send_cached_response(asset, scope, send, may_zip=True)


class DiagramScript:
    """The endpoint of the script that draws diagrams.

    Args:
        body: the file `mermaid.min.js`.

    Attributes:
        path: its URL path.
    """

    def __init__(self, body: bytes) -> None:
        self._response = _response(body, "js", IMMUTABLE)
        self.path = f"/assets/mermaid-{self._response.tag[1 : 1 + _DIGITS]}.js"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        await send_cached_response(self._response, scope, send, may_zip=True)
