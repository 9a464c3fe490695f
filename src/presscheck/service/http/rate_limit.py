"""Rate limit per token and minute, announced in the headers that clients use to slow down."""

from __future__ import annotations

import time

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from presscheck.service.db.ids import hash_token
from presscheck.service.http.public_routes import problem_response

WINDOW = 60
"""Length of the window, in seconds."""


class RateLimitMiddleware:
    """Responds with 429 when a token made `limit` requests in this minute; without a token, the IP address counts.

    Each process counts for itself, so a service with several processes allows up to that many times the limit.
    """

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self.app, self._limit = app, limit
        self._window = 0
        self._counts: dict[str, int] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request."""
        if scope["type"] != "http" or not scope["path"].startswith("/v1/"):
            await self.app(scope, receive, send)
            return
        left, reset = self._take(_who(scope))
        told = {
            "x-ratelimit-limit": str(self._limit),
            "x-ratelimit-remaining": str(max(0, left)),
            "x-ratelimit-reset": str(reset),
        }
        if left < 0:
            headers = {**told, "retry-after": str(max(1, reset - int(time.time())))}
            refusal = problem_response(
                429, f"Rate limit exceeded: {self._limit} requests per minute for this token.", headers
            )
            await refusal(scope, receive, send)
            return

        async def telling(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(told)
            await send(message)

        await self.app(scope, receive, telling)

    def _take(self, who: str) -> tuple[int, int]:
        """How many requests are left, and the time at which the window resets, in seconds."""
        window = int(time.time()) // WINDOW
        if window != self._window:
            self._window, self._counts = window, {}
        self._counts[who] = self._counts.get(who, 0) + 1
        return self._limit - self._counts[who], (window + 1) * WINDOW


def _who(scope: Scope) -> str:
    given = Headers(scope=scope).get("authorization", "")
    return hash_token(given) if given else str((scope.get("client") or ("",))[0])
