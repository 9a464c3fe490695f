"""The state of the world, and who wants to hear of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from presscheck.engine.results import OutboxEntry, Status


class ConnectionState:
    """One status that changes, and its listeners.

    Args:
        waiting: what is not sent.
    """

    def __init__(self, waiting: Callable[[], tuple[OutboxEntry, ...]], *, read_only: bool) -> None:
        self._waiting, self._now = waiting, Status(read_only=read_only)
        self._listeners: list[Callable[[Status], None]] = []

    @property
    def status(self) -> Status:
        """The state of the world."""
        rows = [row for row in self._waiting() if row.state != "collected"]  # those wait for nobody but their author
        refused = sum(row.state in ("refused", "parked") for row in rows)
        return replace(self._now, waiting=len(rows) - refused, refused=refused)

    def connected(self, *, online: bool) -> None:
        """The service can be reached now, or not."""
        if online != self._now.online:
            self._now = replace(self._now, online=online, offline_since=None if online else time.time())
        self.tell()

    def working(self, on: str | None) -> None:
        """Long work is under way, in a few words, or ended."""
        self._now = replace(self._now, running=on)
        self.tell()

    def listen(self, listener: Callable[[Status], None]) -> Callable[[], None]:
        """Call this with each new state; returns what ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def tell(self) -> None:
        """Let the listeners know."""
        status = self.status
        for listener in tuple(self._listeners):
            listener(status)
