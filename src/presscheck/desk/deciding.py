"""What the author of a write can decide over it while it is not sent: change it, send it, keep it, give it up."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from presscheck.api.operation import Operation

if TYPE_CHECKING:
    from presscheck.desk.seen import Waiting
    from presscheck.desk.writing import Writing
    from presscheck.store.outbox import Outbox


class Deciding:
    """A desk's outbox; the desk fills these in."""

    outbox: Outbox
    _writing: Writing

    def waiting(self) -> tuple[Waiting, ...]:
        """Everything that is not sent, the oldest first."""
        return self._writing.waiting()

    def may_wait(self, call: type[Operation[Any]]) -> bool:
        """Whether a write may wait in the outbox while there is no connection."""
        from presscheck.desk.effects import SAID

        return call in SAID and SAID[call].waits

    def unsend(self, number: int) -> Operation[Any] | None:
        """Take back a write that has not left; the call, so that its text can be edited."""
        return self._writing.unsend(number)

    def retry(self, number: int) -> None:
        """Send a refused write again."""
        self.outbox.retry(number)
        self._writing.changed()

    def rewrite(self, number: int, call: Operation[Any]) -> bool:
        """Send this in the place of a write that waits or was refused; False where it has left meanwhile."""
        is_taken = self.outbox.rewrite(number, call.given())
        self._writing.changed()
        return is_taken

    def release(self, numbers: Collection[int], *, hold: float = 0) -> None:
        """Send what was collected, all of it or nothing, in the order in which it was written.

        Args:
            numbers: of the writes.
            hold: seconds in which they can still be unsent.
        """
        self.outbox.release(numbers, time.time() + hold)
        self._writing.changed()

    def drop(self, number: int) -> None:
        """Give a write up."""
        self.outbox.drop(number)
        self._writing.changed()
