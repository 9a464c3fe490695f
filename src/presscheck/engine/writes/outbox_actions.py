"""What the author of a write can decide over it while it is not sent: change it, send it, keep it, give it up."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from typing import Any

from presscheck.api.operation import Operation
from presscheck.engine.writes.pending_writes import pending_entry
from presscheck.store.outbox import Outbox


class OutboxActions:
    """What an author does with entries of the outbox.

    Args:
        outbox: where they stand.
        changed: called after each change.
    """

    def __init__(self, outbox: Outbox, changed: Callable[[], None]) -> None:
        self._outbox, self._changed = outbox, changed

    def unsend(self, number: int) -> Operation[Any] | None:
        """Undo an unsent write. Returns its call, so that its text can be edited."""
        row = self._outbox.row(number)
        if row is None or not self._outbox.drop(number, unless_sending=True):
            return None
        self._changed()
        return pending_entry(row).call

    def retry(self, number: int) -> None:
        """Send a refused write again."""
        self._outbox.retry(number)
        self._changed()

    def rewrite(self, number: int, call: Operation[Any]) -> bool:
        """Send this in the place of a write that waits or was refused; False where it has left meanwhile."""
        is_taken = self._outbox.rewrite(number, call.given())
        self._changed()
        return is_taken

    def release(self, numbers: Collection[int], *, hold: float = 0) -> None:
        """Send what was collected, all of it or nothing, in the order in which it was written.

        Args:
            numbers: of the writes.
            hold: seconds in which they can still be unsent.
        """
        self._outbox.release(numbers, time.time() + hold)
        self._changed()

    def drop(self, number: int) -> None:
        """Give a write up."""
        self._outbox.drop(number)
        self._changed()
