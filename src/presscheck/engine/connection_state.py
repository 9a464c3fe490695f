"""The connection state, and its listeners."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from presscheck.engine.results import OutboxEntry, Status


class ConnectionState:
    """Holds the connection status and notifies its listeners.

    Args:
        waiting: what is not sent.
    """

    def __init__(self, waiting: Callable[[], tuple[OutboxEntry, ...]], *, read_only: bool) -> None:
        self._waiting, self._now = waiting, Status(read_only=read_only)
        self._listeners: list[Callable[[Status], None]] = []

    @property
    def status(self) -> Status:
        """The current status: online, pending and failed writes."""
        rows = [row for row in self._waiting() if row.state != "collected"]  # those wait for nobody but their author
        refused = sum(row.state in ("refused", "parked") for row in rows)
        return replace(self._now, waiting=len(rows) - refused, refused=refused)

    def connected(self, *, online: bool) -> None:
        """Set whether the service can be reached."""
        if online != self._now.online:
            self._now = replace(self._now, online=online, offline_since=None if online else time.time())
        self.tell()

    def working(self, on: str | None) -> None:
        """Set the description of the work in progress; None when it ends."""
        self._now = replace(self._now, running=on)
        self.tell()

    def listen(self, listener: Callable[[Status], None]) -> Callable[[], None]:
        """Call the listener with each new status; returns a function that stops it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def tell(self) -> None:
        """Notify the listeners."""
        status = self.status
        for listener in tuple(self._listeners):
            listener(status)
