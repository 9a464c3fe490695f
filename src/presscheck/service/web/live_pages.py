"""Server-sent events that make the pages of a preview reload when their space changes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

LIVE_PATH = "/~live"
"""The URL path of the events, which `site.js` requests."""
PAUSE = 0.1
"""Seconds between two checks of the revision."""
LONGEST_SILENCE = 15
"""Seconds after which a comment is sent, so that proxies keep the connection open."""


class LivePages:
    """The endpoint of the events. It sends the id of the live revision at once and after each change.

    Attributes:
        revision: the id of the revision that pages show.
        is_closing: returns whether the server is shutting down. Responses end then, so that it need not wait.
    """

    def __init__(self, revision: str) -> None:
        self.revision = revision
        self.is_closing: Callable[[], bool] = lambda: False

    async def answer(self, _request: Request) -> Response:
        """Handle a request."""
        headers = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
        return StreamingResponse(self._events(), 200, headers, "text/event-stream")

    async def _events(self) -> AsyncIterator[str]:
        sent, silence = "", 0.0
        while not self.is_closing():
            if sent != self.revision:
                sent, silence = self.revision, 0.0
                yield f"data: {sent}\n\n"
            elif silence > LONGEST_SILENCE:
                silence = 0.0
                yield ":\n\n"
            await asyncio.sleep(PAUSE)
            silence += PAUSE
