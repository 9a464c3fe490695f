"""The pool of connections to one service, and the token on each request: HTTP/2 where it is offered, else HTTP/1.1."""

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
    """How long to wait, in seconds: for a connection, for each piece, for a free connection, for all of it."""

    connect: float = 10.0
    read: float = 30.0
    write: float = 30.0
    pool: float = 60.0
    whole: float = 180.0
    """For one attempt."""
    pause: float = 0.25
    """Before a second attempt; twice as long before the third."""
    longest_pause: float = 30.0
    """That a service may ask us to wait; beyond it, whoever asked is told instead."""


class Bearer(httpx.Auth):
    """Writes the token onto each request; shows it to nobody.

    Raises:
        ConfigurationError: no token looks like that.
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
    # httpcore looks for it five times in each request, along the whole path, unless it is told that there is none
    sys.modules["sniffio"] = cast("ModuleType", None)


def connect(address: Address, bearer: Bearer, timeouts: Timeouts, connections: int) -> httpx.AsyncClient:
    """The pool; nothing is connected yet."""
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
        http2=needs_tls,  # offered in the handshake; without one nobody can offer it
        verify=_trusted() if needs_tls else False,
        trust_env=not address.is_local,
        follow_redirects=False,
    )


def _trusted() -> ssl.SSLContext:
    """The authorities that are trusted, ``SSL_CERT_FILE`` included; only for TLS, for loading them takes its time."""
    logging.getLogger("hpack").setLevel(logging.INFO)  # below it, every header is told, and one of them is the token
    return httpx.create_ssl_context()
