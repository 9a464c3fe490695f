"""The style sheet and the script of published sites. Their URLs have a hash of the content, so browsers can cache them
for a year.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from starlette.types import Receive, Scope, Send

from presscheck.service.http.operations import entity_tag
from presscheck.service.web.cached_response import CachedResponse, send_cached_response

TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}
"""Media types by extension; the files are named `site`."""
_DIGITS = 16


@cache
def _asset(extension: str, cache_control: str) -> CachedResponse:
    body = Path(__file__).with_name(f"site.{extension}").read_bytes()
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
def asset_path(extension: str) -> str:
    """Return the URL path of the style sheet (`css`) or of the script (`js`)."""
    return f"/assets/site-{_asset(extension, '').tag[1 : 1 + _DIGITS]}.{extension}"


class Asset:
    """The endpoint of the style sheet or of the script.

    URLs with another hash, of pages of other releases, get the file without cache lifetime.

    Args:
        extension: `css` or `js`.
    """

    def __init__(self, extension: str) -> None:
        self._extension = extension

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        is_this = scope["path"] == asset_path(self._extension)
        asset = _asset(self._extension, "public, max-age=31536000, immutable" if is_this else "no-cache")
        await send_cached_response(asset, scope, send, may_zip=True)
