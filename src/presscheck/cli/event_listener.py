"""A server on this computer that receives the events of an integration in development."""

from __future__ import annotations

import hmac
import json
import secrets
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, cast

from presscheck.errors import InvalidArgument

HOST = "127.0.0.1"
LARGEST_EVENT = 16 << 20
"""The most bytes of an event."""
SECONDS = 30
"""Time to send an event."""


class Answer(NamedTuple):
    """The response to an event."""

    status: int
    content_type: str = "text/plain"
    text: str = ""


Respond = Callable[[dict[str, Any]], Answer]
"""Takes an event, and returns its response; called in a thread for each."""


@contextmanager
def listening(port: int, respond: Respond) -> Generator[tuple[int, str]]:
    """Listen for events.

    Args:
        port: the port; 0 for a free one.
        respond: responds to an event.

    Yields:
        The port, and the path that events are sent to; it is random, since a tunnel is public.

    Raises:
        InvalidArgument: the port is in use.
    """
    path = f"/{secrets.token_urlsafe(18)}"

    class Handler(BaseHTTPRequestHandler):
        """Receives an event for each request."""

        timeout = SECONDS
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            """Respond to an event."""
            event = self._event()
            answer = Answer(404) if event is None else respond(event)
            body = answer.text.encode("utf-8", "replace")
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.content_type or "text/plain")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(body)
            self.close_connection = True

        def _event(self) -> dict[str, Any] | None:
            """The event in the request; None if it has none, or is not sent to the path."""
            if not hmac.compare_digest(self.path.partition("?")[0].encode(), path.encode()):
                return None
            size = self.headers.get("Content-Length", "")
            if not size.isascii() or not size.isdigit() or int(size) > LARGEST_EVENT:
                return None
            try:
                read: Any = json.loads(self.rfile.read(int(size)))
            except (ValueError, RecursionError):
                return None
            return cast("dict[str, Any]", read) if isinstance(read, dict) else None

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Nothing: each event is printed by who responds to it."""

    try:
        server = ThreadingHTTPServer((HOST, port), Handler)
    except OSError as error:
        raise InvalidArgument("--port", f"cannot listen on {port}: {error.strerror}") from None
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True)
    thread.start()
    try:
        yield int(server.server_address[1]), path
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
