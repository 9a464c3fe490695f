"""A server on a loopback address, to which the service redirects the browser after a sign-in (RFC 8252)."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from types import TracebackType
from typing import Self
from urllib.parse import parse_qsl, urlsplit

from presscheck.errors import ConfigurationError, NotSignedIn

HOST, PATH = "127.0.0.1", "/callback"
LONGEST_WAIT = 600.0
"""Maximum seconds to wait for the user."""
LONGEST_REQUEST = 10.0
LARGEST_REQUEST = 16_384
_PAGE = (
    "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {length}\r\n"
    "Content-Security-Policy: default-src 'none'\r\nReferrer-Policy: no-referrer\r\nCache-Control: no-store\r\n"
    "Connection: close\r\n\r\n{text}"
)
"""The policies keep the code in the URL from other websites."""


class Loopback:
    """A server that receives a single answer: the parameters of the redirect.

    Args:
        port: the port; 0 for any.
    """

    def __init__(self, port: int = 0) -> None:
        self._port = port
        self._server: asyncio.Server | None = None
        self._answer: asyncio.Future[dict[str, str]] = asyncio.get_running_loop().create_future()

    async def __aenter__(self) -> Self:
        """Start the server.

        Raises:
            ConfigurationError: the port cannot be used.
        """
        try:
            self._server = await asyncio.start_server(self._respond, HOST, self._port, limit=LARGEST_REQUEST)
        except OSError:
            raise ConfigurationError(
                f"port {self._port} of this machine is in use: choose another with --port, or leave it out"
            ) from None
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._server:
            self._server.close()

    @property
    def redirect_uri(self) -> str:
        """The URL to which the service redirects."""
        return f"http://{HOST}:{self._port}{PATH}"

    async def wait(self) -> dict[str, str]:
        """Return the parameters of the answer.

        Raises:
            NotSignedIn: no answer arrived in time.
        """
        try:
            async with asyncio.timeout(LONGEST_WAIT):
                return await self._answer
        except TimeoutError:
            raise NotSignedIn(
                "Nobody signed in within 10 minutes: start the sign-in again", request=f"GET {PATH}", status=401
            ) from None

    async def _respond(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, TimeoutError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            async with asyncio.timeout(LONGEST_REQUEST):
                head = await reader.readuntil(b"\r\n\r\n")
                status, text = self._take(head.decode("latin-1"))
                page = f"<!doctype html><title>presscheck</title><p>{text}</p>"
                writer.write(_PAGE.format(status=status, length=len(page), text=page).encode())
                await writer.drain()
        writer.close()

    def _take(self, head: str) -> tuple[str, str]:
        """Take the answer from the head of a request, and return status and text of the response."""
        request_line, *headers = head.split("\r\n")
        method, target, _ = request_line.split(" ", 2)
        url = urlsplit(target)
        hosts = [line.partition(":")[2].strip() for line in headers if line.lower().startswith("host:")]
        if hosts != [f"{HOST}:{self._port}"] or method != "GET" or url.path != PATH:
            return "404 Not Found", "Not found."
        if not self._answer.done():
            self._answer.set_result(dict(parse_qsl(url.query)))
        return "200 OK", "You can close this window, and continue in your terminal."
