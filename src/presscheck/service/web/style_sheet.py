"""The style sheet of published sites. Its URL has a hash of the content, so browsers can cache it for a year."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from starlette.types import Receive, Scope, Send

from presscheck.service.http.operations import entity_tag
from presscheck.service.web.cached_response import CachedResponse, send_cached_response

_FILE = Path(__file__).with_name("site.css")
_DIGITS = 16


@cache
def _sheet(cache_control: str) -> CachedResponse:
    body = _FILE.read_bytes()
    tag = entity_tag(body)
    headers = {
        "etag": tag,
        "content-length": str(len(body)),
        "content-type": "text/css; charset=utf-8",
        "cache-control": cache_control,
        "vary": "accept-encoding",
        "x-content-type-options": "nosniff",
    }
    return CachedResponse(body, tag, tuple((name.encode(), value.encode()) for name, value in headers.items()))


@cache
def style_sheet_path() -> str:
    """Return the URL path of the style sheet."""
    return f"/assets/site-{_sheet('').tag[1 : 1 + _DIGITS]}.css"


class StyleSheet:
    """The endpoint of the style sheet. URLs with another hash, of pages of other releases, get it without cache
    lifetime.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        is_this = scope["path"] == style_sheet_path()
        sheet = _sheet("public, max-age=31536000, immutable" if is_this else "no-cache")
        await send_cached_response(sheet, scope, send, may_zip=True)
