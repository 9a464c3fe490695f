"""Rate limit per minute: of API calls per token, of published sites and of calls without a valid token per address.

The limit is announced in the headers that clients use to slow down.
"""

from __future__ import annotations

import time
from ipaddress import IPv6Address, ip_address

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from presscheck.service.db.engine import Database
from presscheck.service.db.ids import Clock, hash_token, moment_text
from presscheck.service.http.authentication import bearer_token, is_valid
from presscheck.service.http.problem_response import problem_response

WINDOW = 60
"""Length of the window, in seconds."""
SITES = ("/docs/", "/preview/", "/pdf/")
"""Paths that visitors of published sites read without a token."""


class RateLimitMiddleware:
    """Responds with 429 after `limit` requests in this minute.

    Each process counts for itself, so a service with several processes allows up to that many times the limit.
    """

    def __init__(self, app: ASGIApp, limit: int, database: Database, clock: Clock) -> None:
        self.app, self._limit = app, limit
        self._database, self._clock = database, clock
        self._window = 0
        self._counts: dict[str, int] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request."""
        counted = await self._counted(scope) if scope["type"] == "http" else None
        if counted is None:
            await self.app(scope, receive, send)
            return
        left, reset = self._take(counted)
        headers = {
            "x-ratelimit-limit": str(self._limit),
            "x-ratelimit-remaining": str(max(0, left)),
            "x-ratelimit-reset": str(reset),
        }
        if left < 0:
            whose = counted.partition(" ")[0]
            refusal = problem_response(
                429,
                f"Rate limit exceeded: {self._limit} requests per minute for this {whose}.",
                {**headers, "retry-after": str(max(1, reset - int(time.time())))},
            )
            await refusal(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(headers)
            await send(message)

        await self.app(scope, receive, send_with_headers)

    async def _counted(self, scope: Scope) -> str | None:
        """What the request counts for, such as ``token HASH``; None if it is not limited."""
        if f"{scope['path']}/".startswith(SITES):
            return f"address {_network(scope)} reading sites"
        if not scope["path"].startswith("/v1/"):
            return None
        token = bearer_token(Headers(scope=scope).get("authorization", ""))
        token_hash = hash_token(token) if token else ""
        if token and (f"token {token_hash}" in self._counts or await run_in_threadpool(self._is_valid, token_hash)):
            return f"token {token_hash}"
        return f"address {_network(scope)}"

    def _is_valid(self, token_hash: str) -> bool:
        with self._database.reading.begin() as session:
            return is_valid(session, token_hash, moment_text(self._clock()))

    def _take(self, counted: str) -> tuple[int, int]:
        """How many requests are left, and the time at which the window resets, in seconds."""
        window = int(time.time()) // WINDOW
        if window != self._window:
            self._window, self._counts = window, {}
        self._counts[counted] = self._counts.get(counted, 0) + 1
        return self._limit - self._counts[counted], (window + 1) * WINDOW


def _network(scope: Scope) -> str:
    """The peer's address; of an IPv6 address its /64, which belongs to one subscriber. Empty for a Unix socket."""
    host = str((scope.get("client") or ("",))[0])
    try:
        address = ip_address(host)
    except ValueError:
        return host
    return address.exploded[:19] if isinstance(address, IPv6Address) and not address.ipv4_mapped else host
