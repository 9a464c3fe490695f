"""Calls of integration scripts to the API of this service, in the same process and without the network."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import suppress
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

from starlette.types import ASGIApp, Message, Scope

from presscheck.service.integrations.outbound_http import Fetched, OutgoingError, OutgoingTimeout


class InProcessApi:
    """A client for the API of this process, usable after `open`."""

    def __init__(self) -> None:
        self._app: ASGIApp | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def open(self, app: ASGIApp, loop: asyncio.AbstractEventLoop) -> None:
        """Set the application and its event loop, so that other threads can call the API."""
        self._app, self._loop = app, loop

    def request(self, method: str, url: str, headers: Mapping[str, str], body: bytes, seconds: float) -> Fetched:
        """Send a request to the API and wait for the response. Must not be called in the thread of the event loop.

        Args:
            method: the method, in upper case.
            url: the URL, with the host of the service.
            headers: the headers.
            body: the body.
            seconds: timeout.

        Raises:
            OutgoingError: the service is starting or shutting down, or does not respond in time.
        """
        if self._app is None or self._loop is None:
            raise OutgoingError(f"{url}: the service is not ready")
        try:
            call = asyncio.run_coroutine_threadsafe(_responded(self._app, method, url, headers, body), self._loop)
        except RuntimeError:  # the loop is closed
            raise OutgoingError(f"{url}: the service is shutting down") from None
        try:
            return call.result(seconds)
        except FutureTimeoutError:
            call.cancel()
            raise OutgoingTimeout(f"{url}: no response in time") from None


async def _responded(app: ASGIApp, method: str, url: str, headers: Mapping[str, str], body: bytes) -> Fetched:
    messages: list[Message] = [{"type": "http.request", "body": body}]
    start: dict[str, Any] = {"status": 500, "headers": []}
    content = bytearray()

    async def receive() -> Message:
        if messages:
            return messages.pop()
        await asyncio.Event().wait()  # the connection stays open until the response
        raise AssertionError

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            start.update(message)
        else:
            content.extend(message.get("body", b""))

    with suppress(Exception):  # the application has logged it, and has responded with 500
        await app(_scope(method, urlsplit(url), headers, body), receive, send)
    sent = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in start["headers"]}
    return Fetched(url, start["status"], sent, bytes(content))


def _scope(method: str, parts: SplitResult, headers: Mapping[str, str], body: bytes) -> Scope:
    given = {name.lower(): value for name, value in headers.items()}
    given |= {"host": parts.netloc, **({"content-length": str(len(body))} if body else {})}
    path = "/v1/" + parts.path.partition("/v1/")[2]  # a proxy may serve the service below a path
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": parts.scheme,
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": parts.query.encode(),
        "root_path": "",
        "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in given.items()],
        "client": None,
        "server": ("integration scripts", None),  # like a Unix socket
    }
