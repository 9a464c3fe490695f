"""The unsent writes of the outbox as calls, applied to the responses that are read in the meantime."""

from __future__ import annotations

from typing import TypeVar, cast

from presscheck.api.operation import Operation, revive
from presscheck.engine.results import OutboxEntry
from presscheck.engine.signed_in_user import SignedInUser
from presscheck.engine.writes.optimistic_overlays import apply_pending
from presscheck.errors import PresscheckError
from presscheck.store.outbox import Outbox, Row

T = TypeVar("T")


class PendingWrites:
    """The entries of the outbox, cached until `reload` is called.

    Args:
        outbox: the outbox.
        author: the author of the writes.
    """

    def __init__(self, outbox: Outbox, author: SignedInUser) -> None:
        self._outbox, self._author = outbox, author
        self._entries: tuple[OutboxEntry, ...] | None = None

    def entries(self) -> tuple[OutboxEntry, ...]:
        """All unsent writes, oldest first, without those that an instance is sending immediately."""
        if self._entries is None:
            self._entries = tuple(pending_entry(row) for row in self._outbox.rows() if row.state != "now")
        return self._entries

    def reload(self) -> tuple[Operation[object], ...]:
        """Read the outbox again; returns the calls of all entries that were added, removed or changed."""
        before, self._entries = {entry.id: entry for entry in self._entries or ()}, None
        after = {entry.id: entry for entry in self.entries()}
        changed = [number for number in before | after if before.get(number) != after.get(number)]
        entries = [side[number] for number in changed for side in (before, after) if number in side]
        return tuple(entry.call for entry in entries if entry.call is not None)

    def apply(self, read: Operation[T], answer: T) -> T:
        """A response with all unsent writes applied."""
        entries = self.entries()
        return cast("T", apply_pending(read, answer, entries, self._author.user)) if entries else answer


def pending_entry(row: Row) -> OutboxEntry:
    """A row of the outbox as an entry; without a call if this version cannot read it."""
    try:
        call = revive(row.name, row.given)
    except PresscheckError:
        call = None
    return OutboxEntry(row.id, call, call.stored_name() if call else row.name, row.state, row.error, row.created_at)
