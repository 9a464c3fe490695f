"""The response with a page or a style sheet of a site, as it is kept and sent: plain, gzipped, with its `ETag`."""

from __future__ import annotations

import gzip
from dataclasses import dataclass

from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse
from starlette.types import Scope, Send

from presscheck.service.http.operations import is_known

THEME = "theme"
"""The cookie with the theme that a reader chose."""
THEMES = ("light", "dark")
LEVEL = 6
"""Of gzip: a higher one takes longer than it saves on a page."""
_SMALL = 500
"""Bytes below which a page is not compressed."""
_EACH = 2_000
"""Bytes that a page takes besides its text."""


class SitePage(HTMLResponse):
    """A page of a published site that may be sent again."""


@dataclass
class CachedResponse:
    """A response as it is sent.

    Attributes:
        zipped: the page compressed; None before it was asked for, empty if that is not smaller.
    """

    body: bytes
    tag: str
    headers: tuple[tuple[bytes, bytes], ...]
    zipped: bytes | None = None

    def weight(self) -> int:
        """About how many bytes it takes in memory, compressed as well."""
        return 2 * len(self.body) + _EACH


async def send_cached_response(page: CachedResponse, scope: Scope, send: Send, *, may_zip: bool) -> None:
    """Sends a page as the client takes it: compressed, or only that it is still the same.

    Args:
        page: the page.
        scope: the request.
        send: sends a message.
        may_zip: whether it may be compressed; never if it has both a secret and words of the request, whose length
            together would tell something about the secret.
    """
    known, is_zipped = "", False
    for name, value in scope["headers"]:
        if name == b"if-none-match":
            known = f"{known},{value.decode('latin-1')}" if known else value.decode("latin-1")
        elif name == b"accept-encoding":
            is_zipped = is_zipped or takes_gzip(value.decode("latin-1"))
    tag = page.tag
    body, headers = page.body, [*page.headers]  # a list of its own: middleware adds headers to it
    if is_zipped and may_zip and len(body) > _SMALL:
        tag = f'{tag[:-1]}-gzip"'
        if known and is_known(tag, known):
            body = b""
        elif page.zipped is None:
            page.zipped = body = await run_in_threadpool(gzip.compress, page.body, LEVEL, mtime=0)
        else:
            body = page.zipped
        named = {b"etag": tag.encode(), b"content-length": str(len(body)).encode()}
        headers = [(name, named.get(name, value)) for name, value in headers]
        headers.append((b"content-encoding", b"gzip"))
    if known and is_known(tag, known):
        left_out = (b"content-length", b"content-type", b"content-encoding")
        headers = [(name, value) for name, value in headers if name not in left_out]
        await send({"type": "http.response.start", "status": 304, "headers": headers})
        await send({"type": "http.response.body", "body": b""})
        return
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def takes_gzip(accepted: str) -> bool:
    """Whether a header `Accept-Encoding` has gzip, and does not refuse it with ``q=0``."""
    for part in accepted.split(","):
        name, _, weight = part.partition(";")
        if name.strip().lower() in ("gzip", "*"):
            return weight.replace(" ", "").lower() not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
