"""The httpx connection pool for one service, with time-outs, TLS and the token: HTTP/2 if offered, else HTTP/1.1."""

from __future__ import annotations

import logging
import ssl
import sys
from collections.abc import Generator
from dataclasses import dataclass
from importlib.util import find_spec
from types import ModuleType
from typing import cast

import httpx

from presscheck import __version__
from presscheck.client.base_url import Address
from presscheck.errors import ConfigurationError


@dataclass(frozen=True)
class Timeouts:
    """Time-outs in seconds: to connect, for each read and write, for a free connection, for the whole request."""

    connect: float = 10.0
    read: float = 30.0
    write: float = 30.0
    pool: float = 60.0
    whole: float = 180.0
    """For one attempt, with its response body."""
    pause: float = 0.25
    """The pause before the second attempt; it doubles before the third."""
    longest_pause: float = 30.0
    """The maximum time to wait for the rate limit; a longer wait raises an error instead."""


class Bearer(httpx.Auth):
    """Adds the token to each request, and hides it in `repr`.

    Raises:
        ConfigurationError: the token contains invalid characters.
    """

    def __init__(self, token: str | None) -> None:
        token = (token or "").strip()
        if not token.isascii() or not token.isprintable() or " " in token:
            raise ConfigurationError("the token contains invalid characters: copy it again")
        self._header = f"Bearer {token}" if token else ""

    def __repr__(self) -> str:
        return "Bearer(…)"

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Add the header."""
        if self._header:
            request.headers["authorization"] = self._header
        yield request


if find_spec("sniffio") is None:
    # otherwise httpcore searches the whole import path for it five times in each request
    sys.modules["sniffio"] = cast("ModuleType", None)


def connect(address: Address, bearer: Bearer, timeouts: Timeouts, connections: int) -> httpx.AsyncClient:
    """Create the connection pool; it connects with the first request."""
    limits = httpx.Limits(max_connections=connections, max_keepalive_connections=connections, keepalive_expiry=30.0)
    needs_tls = address.url.startswith("https:")
    transport = httpx.AsyncHTTPTransport(uds=address.socket, limits=limits, verify=False) if address.socket else None
    return httpx.AsyncClient(
        auth=bearer,
        headers={
            "accept": "application/json",
            "accept-encoding": "gzip",
            "user-agent": f"presscheck/{__version__}",
        },
        timeout=httpx.Timeout(connect=timeouts.connect, read=timeouts.read, write=timeouts.write, pool=timeouts.pool),
        transport=transport,
        limits=limits,
        http2=needs_tls,  # negotiated in the TLS handshake
        verify=_tls_context() if needs_tls else False,
        trust_env=not address.is_local,
        follow_redirects=False,
    )


def _tls_context() -> ssl.SSLContext:
    """The TLS context with the trusted certificate authorities, including ``SSL_CERT_FILE``; slow to create."""
    logging.getLogger("hpack").setLevel(logging.INFO)  # at DEBUG it logs all headers, including the token
    return httpx.create_ssl_context()
