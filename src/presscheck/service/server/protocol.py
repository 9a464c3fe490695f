"""The HTTP protocol of the service: uvicorn's protocol with limits per connection and per address.

A client that stops sending or reading only occupies a connection for seconds, and a limited amount of memory.
"""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from ipaddress import ip_network
from math import inf
from typing import Any, cast

from httptools import HttpParserError, HttpParserUpgrade
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from typing_extensions import override
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEADER_DEADLINE = 10.0
"""Timeout for complete headers in seconds, from the start of the connection or the first byte of a later request."""
MAX_HEAD = 64 * 1024
"""Maximum number of bytes of the request line and the headers, and of the trailers of a body."""
MAX_PIPELINED = 8
"""Maximum number of requests that wait for the response to an earlier request of their connection."""
PIECE = 64 * 1024
"""Maximum number of bytes of a response in one write."""
SEND_DEADLINE = 20.0
"""Timeout for sending a piece, in seconds; this requires 3 KB a second."""
UNSENT_IN_KERNEL = 2 * PIECE
"""Maximum number of unsent bytes in the kernel per client. By default, the kernel buffers megabytes, and accepts more
as soon as a third is sent.
"""
MAX_CONNECTIONS = 400
"""Maximum number of connections of a process. The usual limit of open files is 1024, and the database uses some."""
MAX_CONNECTIONS_OF_ADDRESS = 100
"""Maximum number of connections from one address. Many browsers can share an address, and each opens several."""
MAX_UNSENT = 128 * 1024 * 1024
"""Maximum number of unsent bytes in all responses of a process."""
SILENCE = 60
"""Minimum number of seconds between two log lines about refused connections, of which there may be many."""


class Deadline:
    """A timer that calls a function after a number of seconds unless it is stopped first."""

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float, expire: Callable[[], None]) -> None:
        self._loop, self._seconds, self._expire = loop, seconds, expire
        self._timer: asyncio.TimerHandle | None = None

    @property
    def time(self) -> float:
        """The time of the loop at which the function will be called; infinity if the deadline is not running."""
        return self._timer.when() if self._timer else inf

    def start(self) -> None:
        """Start the deadline. Do nothing if it is running already."""
        if self._timer is None:
            self._timer = self._loop.call_later(self._seconds, self._expire)

    def stop(self) -> None:
        """Stop the deadline. It can be started again."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class LimitedProtocol(HttpToolsProtocol):
    """A protocol that closes connections of clients that are too slow, and refuses connections above a limit.

    - The head of a request must not be too large. If too many requests wait for earlier responses, the connection is
      closed after the responses to those that wait.
    - The headers of a request must arrive before a deadline. The same deadline applies to the rest of a request body
      that is still arriving after its response.
    - Each piece of a response must be sent before a deadline. A pipelined request waits until the previous response
      was sent.
    - A connection above a limit replaces the connection whose piece has waited longest, or else the connection that has
    been idle longest. If there is neither, the new connection is refused with status 503.
    - If too many bytes are unsent, the connection with the most unsent bytes is closed.
    """

    header_deadline = HEADER_DEADLINE
    send_deadline = SEND_DEADLINE
    max_connections = MAX_CONNECTIONS
    max_connections_of_address = MAX_CONNECTIONS_OF_ADDRESS
    max_unsent = MAX_UNSENT
    _silent_until = 0.0

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        app: Any = self.app
        self._proxies = app.trusted_hosts if isinstance(app, ProxyHeadersMiddleware) else ()
        self.app = partial(self._send_in_pieces, app)
        self._headers_due = Deadline(self.loop, self.header_deadline, self.give_up)
        self.piece_due = Deadline(self.loop, self.send_deadline, self.give_up)
        self._is_in_head = False
        self._head_size = 0
        """Size in bytes of the headers of the request so far, or of the trailers after its body."""
        self._body_left = 0
        """Number of missing bytes of a body that the parser does not read, because of an `Upgrade` header."""
        self._unparsed = 0
        """Number of bytes since the parser last reported anything. It buffers incomplete headers without a limit."""
        self._is_next_deferred = False
        self.unsent = 0
        """Bytes of the response that are not written yet."""
        self._idle_since = 0.0
        """The time of the loop when the connection began or its last response ended."""
        self.network: str | None = None
        """The address or network for the limit of connections; None for a trusted proxy or a Unix socket."""

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvicorn's annotation is narrower than asyncio's; uvloop's transports are not subclasses, so it is not checked
        super().connection_made(cast("asyncio.Transport", transport))
        self.transport.set_write_buffer_limits(high=0)  # pauses writing while any byte of a piece is left
        connection = transport.get_extra_info("socket")
        if connection is not None and connection.family != socket.AF_UNIX and hasattr(socket, "TCP_NOTSENT_LOWAT"):
            with suppress(OSError):  # the client has disconnected
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT_IN_KERNEL)
        host = self.client[0] if self.client else None
        self.network = network_of(host) if host and host not in self._proxies else None
        self._idle_since = self.loop.time()
        if self._make_room():
            self._headers_due.start()

    @override
    def data_received(self, data: bytes) -> None:
        before: Any = self.cycle
        self._unset_keepalive_if_required()
        self._unparsed += len(data)
        try:
            self._parse(data)
        except HttpParserError:
            self.send_400_response("Invalid HTTP request received.")
        if self.cycle is not before:
            self._headers_due.stop()
        elif before is not None and before.response_complete:
            self._headers_due.start()  # most requests arrive at once, and start no deadline
        if self._unparsed > MAX_HEAD:
            self.send_400_response("The headers are too large.")

    def _parse(self, data: bytes) -> None:
        while data:
            if self._body_left:
                part, data = data[: self._body_left], data[self._body_left :]
                self._body_left -= len(part)
                self.on_body(part)
                if not self._body_left:
                    self.on_message_complete()
                continue
            try:
                self.parser.feed_data(data)
            except HttpParserUpgrade as ended:  # the request offers another protocol, but remains a request
                data = data[ended.args[0] :]
            else:
                return

    @override
    def on_message_begin(self) -> None:
        """Begin the head of a request."""
        super().on_message_begin()
        self._is_in_head, self._head_size, self._unparsed = True, 0, 0

    @override
    def on_url(self, url: bytes) -> None:
        """Append a part of the URL of the request.

        Raises:
            ValueError: the URL is too large.
        """
        self._count_head(len(url))
        super().on_url(url)

    @override
    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header; trailers after a body are dropped.

        Raises:
            ValueError: the headers are too large.
        """
        self._unparsed = 0
        self._count_head(len(name) + len(value) + len(": \r\n"))
        if self._is_in_head:
            super().on_header(name, value)

    @override
    def on_headers_complete(self) -> None:
        """Start the request, or queue it until the earlier requests of the connection have their responses.

        Raises:
            ValueError: too many requests wait, or the headers are invalid.
        """
        self._is_in_head, self._head_size, self._unparsed = False, 0, 0
        if len(self.pipeline) >= MAX_PIPELINED:
            raise ValueError("too many requests wait")
        hosts, lengths, encodings = (
            [value.lower() for name, value in self.headers if name == wanted]
            for wanted in (b"host", b"content-length", b"transfer-encoding")
        )
        if len(hosts) > 1 or (not hosts and self.parser.get_http_version() == "1.1"):
            raise ValueError("a request has one host")
        if encodings and (encodings != [b"chunked"] or self.parser.should_upgrade()):
            raise ValueError("a body is at most chunked")
        if self.parser.should_upgrade():
            self._body_left = int(lengths[0]) if lengths else 0
        super().on_headers_complete()

    @override
    def on_message_complete(self) -> None:
        """Mark a request as complete; with an `Upgrade` header, only once its body has arrived too."""
        if not self._body_left:
            super().on_message_complete()

    @override
    def on_body(self, body: bytes) -> None:
        """Add a part of the body."""
        self._unparsed = 0
        super().on_body(body)

    def _count_head(self, size: int) -> None:
        self._head_size += size
        if self._head_size > MAX_HEAD:
            raise ValueError("the headers are too large")

    @override
    def send_400_response(self, msg: str) -> None:
        """Refuse what arrived: with status 400, or by closing the connection after responses to earlier requests."""
        cycle: Any = self.cycle
        if self.transport.is_closing():
            return
        if self.is_idle() or (cycle.more_body and not cycle.response_started and not self.pipeline):
            super().send_400_response(msg)
        else:
            self.flow.pause_reading()
            cycle.keep_alive = False

    @override
    def pause_writing(self) -> None:
        """Start the deadline for the piece that was written, because a part of it is unsent.

        If too many bytes are unsent on all connections, close the connection with the most.
        """
        super().pause_writing()
        self.piece_due.start()
        waiting = [other for other in self._connections() if other.flow.write_paused]
        if sum(other.unsent for other in waiting) > self.max_unsent:
            max(waiting, key=lambda other: other.unsent).give_up()

    @override
    def resume_writing(self) -> None:
        """Stop the deadline, because the piece was sent."""
        self.piece_due.stop()
        super().resume_writing()
        if self._is_next_deferred:
            self._is_next_deferred = False
            super().on_response_complete()

    @override
    def on_response_complete(self) -> None:
        """Start the next request of the connection as soon as the whole response is sent."""
        self._idle_since = self.loop.time()
        if self.flow.write_paused and not self.transport.is_closing():
            self._is_next_deferred = True
            self.flow.pause_reading()
        else:
            super().on_response_complete()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._headers_due.stop()
        self.piece_due.stop()
        super().connection_lost(exc)

    def give_up(self) -> None:
        """Close the connection immediately and discard its unsent bytes."""
        self.connections.discard(self)
        if (connection := self.transport.get_extra_info("socket")) is not None:
            with suppress(OSError):  # otherwise the kernel keeps its part of the bytes for minutes
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    async def _send_in_pieces(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the app, and split the bodies that it sends into pieces.

        uvicorn waits for a slow client before a write, not after it, so the first write of a response never waits. A
        response in a single write would be copied into the buffer as a whole, before the client has read any of it.
        """

        async def send_pieces(message: Message) -> None:
            body = message.get("body", b"")
            self.unsent = len(body)
            while self.unsent > PIECE:
                sent = len(body) - self.unsent
                await send({**message, "body": memoryview(body)[sent : sent + PIECE], "more_body": True})
                self.unsent -= PIECE
            await send({**message, "body": memoryview(body)[-self.unsent :]} if body else message)
            self.unsent = 0

        await app(scope, receive, send_pieces)

    def _connections(self) -> list[LimitedProtocol]:
        return [other for other in self.connections if isinstance(other, LimitedProtocol)]

    def _make_room(self) -> bool:
        """Close a stuck or idle connection for each limit that is exceeded.

        If there is none, refuse this connection and return False.
        """
        limits = [(self.max_connections_of_address, " from one address")] if self.network else []
        for limit, source in (*limits, (self.max_connections, "")):
            counted = [other for other in self._connections() if not source or other.network == self.network]
            if len(counted) > limit:
                stuck = min(counted, key=lambda other: other.piece_due.time)
                idle = [other for other in counted if other is not self and other.is_idle()]
                if stuck.piece_due.time < inf:
                    stuck.give_up()
                elif idle:
                    min(idle, key=lambda other: other._idle_since).give_up()
                else:
                    self._refuse(f"more than {limit} connections{source}")
                    return False
        return True

    def is_idle(self) -> bool:
        """Return whether the connection has no request, or its response is complete."""
        cycle: Any = self.cycle
        return cycle is None or cycle.response_complete

    def _refuse(self, excess: str) -> None:
        now = self.loop.time()
        if now > LimitedProtocol._silent_until:
            LimitedProtocol._silent_until = now + SILENCE
            address = self.client[0] if self.client else "a Unix socket"
            logging.getLogger("presscheck.service").warning("connection from %s refused: %s", address, excess)
        self.transport.write(_refusal(excess))
        self.transport.close()


def network_of(host: str) -> str:
    """Return an IPv4 address unchanged, or the /64 network of an IPv6 address, because a client may own all of it."""
    return str(ip_network((host.partition("%")[0], 64), strict=False)) if ":" in host else host


def _refusal(reason: str) -> bytes:
    content = json.dumps({"error": {"code": 503, "message": f"The service is busy: {reason}. Try again later."}})
    head = "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 5\r\nconnection: close"
    return f"{head}\r\ncontent-length: {len(content)}\r\n\r\n{content}".encode()
