"""The HTTP protocol of the service: uvicorn's, with limits on what one connection or one address can hold.

A client that sends nothing or reads nothing costs a connection for some seconds, and a bounded part of the memory.
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
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from typing_extensions import override
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_DEADLINE = 10.0
"""Seconds from accepting a connection, or from the first byte of a later request, to the end of the headers."""
PIECE = 64 * 1024
"""Bytes of a response that are written at once."""
SEND_DEADLINE = 20.0
"""Seconds in which a client must take a piece: at least 3 KB a second."""
UNSENT_IN_KERNEL = 2 * PIECE
"""Bytes that the kernel takes ahead of the client. By default it takes megabytes, and asks for more after a third."""
MAX_CONNECTIONS = 400
"""Most connections of a process: a usual limit of open files is 1024, and the database needs some, too."""
MAX_CONNECTIONS_OF_ADDRESS = 100
"""Most connections from one address: an office behind one address has a few for each browser."""
MAX_UNSENT = 128 * 1024 * 1024
"""Most bytes of responses that wait for their clients, in a process."""
SILENCE = 60
"""Seconds between two lines of the log about refused connections: each is one of very many."""


class Deadline:
    """Calls a function after some seconds, unless it is stopped before."""

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float, expire: Callable[[], None]) -> None:
        self._loop, self._seconds, self._expire = loop, seconds, expire
        self._timer: asyncio.TimerHandle | None = None

    @property
    def time(self) -> float:
        """When it ends, by the clock of the loop; infinity if it does not run."""
        return self._timer.when() if self._timer else inf

    def start(self) -> None:
        """Start it, unless it runs already."""
        if self._timer is None:
            self._timer = self._loop.call_later(self._seconds, self._expire)

    def stop(self) -> None:
        """Stop it; it can be started again."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class LimitedProtocol(H11Protocol):
    """Closes connections that hold too much for too long.

    Headers must arrive within a deadline, which also covers the rest of a body that nothing reads after its response.
    Each piece of a response must leave within another, and a pipelined request waits until the response before it has
    left. A connection over a limit takes the place of the one whose piece has waited longest; if all pieces have left,
    it is refused with 503. If too many bytes wait, the largest response is given up.
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
        self._is_next_deferred = False
        self.unsent = 0
        """Bytes of the response that are not written yet."""
        self.network: str | None = None
        """What the connections of an address are counted by; None for a proxy and for a Unix socket."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Starts the deadline for headers, unless there are too many connections."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)  # so writing is paused while anything is left of a piece
        connection = transport.get_extra_info("socket")
        if connection is not None and connection.family != socket.AF_UNIX and hasattr(socket, "TCP_NOTSENT_LOWAT"):
            with suppress(OSError):  # the client is gone
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT_IN_KERNEL)
        host = self.client[0] if self.client else None
        self.network = network_of(host) if host and host not in self._proxies else None
        if self._has_place():
            self._headers_due.start()

    @override
    def data_received(self, data: bytes) -> None:
        """Reads a part of a request; the deadline ends with its headers."""
        before: Any = self.cycle
        if before is not None and before.response_complete:
            self._headers_due.start()
        super().data_received(data)
        if self.cycle is not before:
            self._headers_due.stop()

    @override
    def pause_writing(self) -> None:
        """Starts the deadline for a piece that has not left."""
        super().pause_writing()
        self.piece_due.start()
        waiting = [other for other in self._connections() if other.flow.write_paused]
        if sum(other.unsent for other in waiting) > self.max_unsent:
            max(waiting, key=lambda other: other.unsent).give_up()

    @override
    def resume_writing(self) -> None:
        """Ends the deadline: all that was written has left."""
        self.piece_due.stop()
        super().resume_writing()
        if self._is_next_deferred:
            self._is_next_deferred = False
            super().on_response_complete()

    @override
    def on_response_complete(self) -> None:
        """Goes on with the next request when this response has left."""
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
        """Closes the connection at once, without what is left to send."""
        self.connections.discard(self)
        if (connection := self.transport.get_extra_info("socket")) is not None:
            with suppress(OSError):  # without the option the kernel would keep what it has for minutes
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    async def _send_in_pieces(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """uvicorn waits before it writes, so a whole response would be copied before the client has taken any of it."""

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

    def _has_place(self) -> bool:
        limits = [(self.max_connections_of_address, " from one address")] if self.network else []
        for limit, where in (*limits, (self.max_connections, "")):
            counted = [other for other in self._connections() if not where or other.network == self.network]
            if len(counted) > limit:
                stuck = min(counted, key=lambda other: other.piece_due.time)
                if stuck.piece_due.time == inf:
                    self._refuse(f"more than {limit} connections{where}")
                    return False
                stuck.give_up()
        return True

    def _refuse(self, excess: str) -> None:
        now = self.loop.time()
        if now > LimitedProtocol._silent_until:
            LimitedProtocol._silent_until = now + SILENCE
            address = self.client[0] if self.client else "a Unix socket"
            logging.getLogger("presscheck.service").warning("connection from %s refused: %s", address, excess)
        self.transport.write(_refusal(excess))
        self.transport.close()


def network_of(host: str) -> str:
    """The address, or of IPv6 the network of 64 bits: one client has all addresses in it."""
    return str(ip_network((host.partition("%")[0], 64), strict=False)) if ":" in host else host


def _refusal(reason: str) -> bytes:
    content = json.dumps({"error": {"code": 503, "message": f"The service is busy: {reason}. Try again later."}})
    head = "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 5\r\nconnection: close"
    return f"{head}\r\ncontent-length: {len(content)}\r\n\r\n{content}".encode()
