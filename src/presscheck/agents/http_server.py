"""The MCP server over HTTP on the loopback interface, for programs on this machine that have the key.

Web pages in a browser must not reach the server, not even by DNS rebinding. So the Host and Origin headers are checked,
and each request needs the key.
"""

from __future__ import annotations

import hmac
import secrets
import socket
from collections.abc import Callable

import uvicorn
from mcp.server.lowlevel.server import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from presscheck.errors import ConfigurationError

HOST = "127.0.0.1"
PATH = "/mcp"
LARGEST_MESSAGE = 1 << 20
"""Maximum number of bytes in a request."""


class KeyMiddleware:
    """Middleware that refuses requests for another host, from another origin, or without the key.

    Args:
        app: the application.
        key: the key.
        hosts: the allowed values of the header Host.
    """

    def __init__(self, app: ASGIApp, key: str, hosts: frozenset[str]) -> None:
        self._app, self._key, self._hosts = app, f"Bearer {key}".encode(), hosts
        self._origins = {f"http://{host}" for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to the application, or refuse it."""
        if scope["type"] == "http" and (refusal := self._refusal(Headers(scope=scope))):
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _refusal(self, headers: Headers) -> PlainTextResponse | None:
        if headers.getlist("host") not in [[host] for host in self._hosts]:
            return PlainTextResponse("This host is not served.", 421)
        if not self._origins.issuperset(headers.getlist("origin")):
            return PlainTextResponse("Requests of other origins are not allowed.", 403)
        given = headers.getlist("authorization")
        if len(given) != 1 or not hmac.compare_digest(given[0].encode("latin-1"), self._key):
            return PlainTextResponse("The key is missing or wrong.", 401, {"www-authenticate": "Bearer"})
        return None


async def serve_http(server: Server[object], port: int, ready: Callable[[str, str], None]) -> None:
    """Serve clients over HTTP until the process is interrupted.

    Args:
        server: the MCP server.
        port: the port; 0 for a free one.
        ready: called with the URL and the key when the port is open.

    Raises:
        ConfigurationError: the port cannot be opened.
    """
    key = secrets.token_urlsafe(32)
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
            listener.listen()
        except OSError as error:
            raise ConfigurationError(f"--http {port}: {error.strerror}. Choose another port") from None
        port = listener.getsockname()[1]
        hosts = frozenset((f"{HOST}:{port}", f"localhost:{port}"))
        security = TransportSecuritySettings(
            allowed_hosts=[*hosts], allowed_origins=[f"http://{host}" for host in hosts]
        )
        app = server.streamable_http_app(
            streamable_http_path=PATH, transport_security=security, max_request_body_size=LARGEST_MESSAGE
        )
        config = uvicorn.Config(
            KeyMiddleware(app, key, hosts), log_config=None, server_header=False, timeout_graceful_shutdown=1
        )
        ready(f"http://{HOST}:{port}{PATH}", key)
        await uvicorn.Server(config).serve([listener])
