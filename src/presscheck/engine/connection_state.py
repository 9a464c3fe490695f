"""The connection status (online, offline, pending writes) and its listeners."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from presscheck.engine.writes.pending_writes import OutboxEntry


@dataclass(frozen=True)
class Status:
    """The connection status and the numbers of pending (`waiting`) and failed (`refused`) writes.

    Attributes:
        offline_since: seconds since the epoch; None while online.
        running: a description of the task in progress.
    """

    online: bool = True
    offline_since: float | None = None
    waiting: int = 0
    refused: int = 0
    running: str | None = None
    read_only: bool = False


class ConnectionState:
    """Holds the connection status and notifies its listeners.

    Args:
        pending: returns the writes that are not sent yet.
        read_only: whether the profile rejects all writes.
    """

    def __init__(self, pending: Callable[[], tuple[OutboxEntry, ...]], *, read_only: bool) -> None:
        self._pending, self._status = pending, Status(read_only=read_only)
        self._listeners: list[Callable[[Status], None]] = []

    @cached_property
    def status(self) -> Status:
        """The current status, with the numbers of pending and failed writes, which are counted after each change."""
        rows = [row for row in self._pending() if row.state != "collected"]  # these wait for a review to be submitted
        refused = sum(row.state in ("refused", "parked") for row in rows)
        return replace(self._status, waiting=len(rows) - refused, refused=refused)

    def set_online(self, *, online: bool) -> None:
        """Set whether the service can be reached."""
        if online != self._status.online:
            self._status = replace(self._status, online=online, offline_since=None if online else time.time())
        self.notify()

    def set_running(self, task: str | None) -> None:
        """Set the description of the task in progress; None when it ends."""
        self._status = replace(self._status, running=task)
        self.notify()

    def listen(self, listener: Callable[[Status], None]) -> Callable[[], None]:
        """Call the listener with each new status; returns a function that removes the listener."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def notify(self) -> None:
        """Call all listeners with the current status, after a change of it or of the pending writes."""
        self.__dict__.pop("status", None)
        status = self.status
        for listener in tuple(self._listeners):
            listener(status)
