"""Cached responses with pages and style sheets of sites: plain and compressed with gzip, with `ETag`."""

from __future__ import annotations

import gzip
from dataclasses import dataclass

from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, Response
from starlette.types import Scope, Send

from presscheck.service.http.operations import is_known

THEME = "theme"
"""The cookie with the theme that a reader chose."""
THEMES = ("auto", "light", "dark")
"""Values of the cookie; `auto` follows the system of the reader."""
LEVEL = 6
"""Compression level of gzip; higher levels cost more time than the smaller pages save."""
_SMALL = 500
"""Number of bytes below which a page is not compressed."""
_EACH = 2_000
"""Size of a cached page besides its text, in bytes."""


class SitePage(Response):
    """A page or a file of a published site that may be cached."""

    media_type = "text/html"


@dataclass
class CachedResponse:
    """A cached response, ready to be sent.

    Attributes:
        is_public: whether the page contains no secret; see `is_public`.
        zipped: the compressed page; None until the first request for it.
    """

    body: bytes
    tag: str
    headers: tuple[tuple[bytes, bytes], ...]
    is_public: bool = False
    zipped: bytes | None = None

    def weight(self) -> int:
        """Estimate the size in memory in bytes, including the compressed page."""
        return len(self.body) + len(self.zipped or self.body) + _EACH

    def compress(self) -> bytes:
        """Compress the page with gzip, keep the result and return it."""
        self.zipped = gzip.compress(self.body, LEVEL, mtime=0)
        return self.zipped


async def send_cached_response(page: CachedResponse, scope: Scope, send: Send, *, may_zip: bool) -> None:
    """Send a page, compressed if the client accepts it, or a 304 if the client has the same version.

    Args:
        page: the page.
        scope: the request.
        send: sends an ASGI message.
        may_zip: whether the page may be compressed. Never compress a page that contains both a secret and text of the
            request: the compressed size would leak parts of the secret (BREACH).
    """
    if_none_match, is_zipped = "", False
    for name, value in scope["headers"]:
        if name == b"if-none-match":
            if_none_match = f"{if_none_match},{value.decode('latin-1')}" if if_none_match else value.decode("latin-1")
        elif name == b"accept-encoding":
            is_zipped = is_zipped or takes_gzip(value.decode("latin-1"))
    tag = page.tag
    body, headers = page.body, [*page.headers]  # a new list, because outer middleware adds headers to it
    if is_zipped and may_zip and len(body) > _SMALL:
        tag = f'{tag[:-1]}-gzip"'
        if if_none_match and is_known(tag, if_none_match):
            body = b""
        else:
            body = page.zipped or await run_in_threadpool(page.compress)
        replaced = {b"etag": tag.encode(), b"content-length": str(len(body)).encode()}
        headers = [(name, replaced.get(name, value)) for name, value in headers]
        headers.append((b"content-encoding", b"gzip"))
    if if_none_match and is_known(tag, if_none_match):
        omitted = (b"content-length", b"content-type", b"content-encoding")
        headers = [(name, value) for name, value in headers if name not in omitted]
        await send({"type": "http.response.start", "status": 304, "headers": headers})
        await send({"type": "http.response.body", "body": b""})
        return
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def is_public(response: Response) -> bool:
    """Return whether everyone may see a response.

    Such a response may be compressed even if it repeats text of the request, because its size cannot leak a secret.
    """
    return response.headers.get("cache-control") == "no-cache"


def compress_response(response: Response, accepted: str) -> Response:
    """Compress a public page that is not cached, such as search results, if an `Accept-Encoding` header allows it."""
    is_page = isinstance(response, HTMLResponse) and is_public(response)
    if is_page and takes_gzip(accepted) and len(response.body) > _SMALL:
        response.body = gzip.compress(response.body, LEVEL, mtime=0)
        response.headers["content-encoding"] = "gzip"
        response.headers["content-length"] = str(len(response.body))
    return response


def wants_markdown(accepted: str) -> bool:
    """Return whether an `Accept` header prefers Markdown to HTML. Agents send such headers."""
    names = [part.partition(";")[0].strip().lower() for part in accepted.split(",")]
    return "text/markdown" in names and "text/html" not in names[: names.index("text/markdown")]


def takes_gzip(accepted: str) -> bool:
    """Return whether an `Accept-Encoding` header allows gzip. An entry with ``q=0`` forbids it."""
    for part in accepted.split(","):
        name, _, weight = part.partition(";")
        if name.strip().lower() in ("gzip", "*"):
            return weight.replace(" ", "").lower() not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
