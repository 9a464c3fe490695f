"""The HTTP protocol of the service: uvicorn's, with a deadline for the headers of each request."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_DEADLINE = 10.0
"""Seconds from accepting a connection, or from the first byte of a later request, to the end of the headers."""


class DeadlineProtocol(H11Protocol):
    """Closes a connection whose headers do not arrive in time: half-sent requests would stay open for ever.

    The deadline also covers the rest of a body that nothing reads any more, after its response.
    """

    deadline = HEADER_DEADLINE
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Starts the deadline."""
        super().connection_made(transport)
        self._start()

    def data_received(self, data: bytes) -> None:
        """Reads a part of a request; the deadline ends with its headers."""
        before: Any = self.cycle
        if before is not None and before.response_complete:
            self._start()
        super().data_received(data)
        if self.cycle is not before:
            self._stop()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forgets the deadline."""
        self._stop()
        super().connection_lost(exc)

    def _start(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(self.deadline, self._expire)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _expire(self) -> None:
        self._timer = None
        self.transport.abort()
