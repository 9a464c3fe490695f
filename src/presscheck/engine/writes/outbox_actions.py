"""User actions on unsent writes: undo, retry, edit, release, discard."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from typing import Any

from presscheck.api.operation import Operation
from presscheck.engine.writes.pending_writes import pending_entry
from presscheck.store.outbox import Outbox


class OutboxActions:
    """User actions on entries of the outbox.

    Args:
        outbox: the outbox.
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
        """Replace a pending or failed write by this call; False if it is being sent or is already sent."""
        is_replaced = self._outbox.rewrite(number, call.given())
        self._changed()
        return is_replaced

    def release(self, numbers: Collection[int], *, hold: float = 0) -> None:
        """Send collected writes in their original order; all are released in one transaction.

        Args:
            numbers: the outbox rows of the writes.
            hold: seconds before they are sent, in which `unsend` can undo them.
        """
        self._outbox.release(numbers, time.time() + hold)
        self._changed()

    def drop(self, number: int) -> None:
        """Discard an unsent write."""
        self._outbox.drop(number)
        self._changed()
