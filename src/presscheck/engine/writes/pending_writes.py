"""The writes that are not sent yet, and how they show in answers that are read meanwhile."""

from __future__ import annotations

from typing import TypeVar, cast

from presscheck.api.operation import Operation, revive
from presscheck.engine.results import OutboxEntry
from presscheck.engine.signed_in_user import SignedInUser
from presscheck.engine.writes.optimistic_overlays import laid_over
from presscheck.errors import PresscheckError
from presscheck.store.outbox import Outbox, Row

T = TypeVar("T")


class PendingWrites:
    """The entries of the outbox as calls, read once per change of the outbox.

    Args:
        outbox: where the writes stand.
        author: who wrote them.
    """

    def __init__(self, outbox: Outbox, author: SignedInUser) -> None:
        self._outbox, self._author = outbox, author
        self._entries: tuple[OutboxEntry, ...] | None = None

    def entries(self) -> tuple[OutboxEntry, ...]:
        """Everything that is not sent, the oldest first; without what is on its way from the window that wrote it."""
        if self._entries is None:
            self._entries = tuple(pending_entry(row) for row in self._outbox.rows() if row.state != "now")
        return self._entries

    def reload(self) -> tuple[Operation[object], ...]:
        """Read the outbox again; the calls of all entries that came, went or changed."""
        before, self._entries = {entry.id: entry for entry in self._entries or ()}, None
        after = {entry.id: entry for entry in self.entries()}
        changed = [number for number in before | after if before.get(number) != after.get(number)]
        entries = [side[number] for number in changed for side in (before, after) if number in side]
        return tuple(entry.call for entry in entries if entry.call is not None)

    def apply(self, read: Operation[T], answer: T) -> T:
        """An answer as it will be when everything that is not sent has arrived."""
        entries = self.entries()
        return cast("T", laid_over(read, answer, entries, self._author.user)) if entries else answer


def pending_entry(row: Row) -> OutboxEntry:
    """A row of the outbox as an entry; without its call where this version cannot read it."""
    try:
        call = revive(row.name, row.given)
    except PresscheckError:
        call = None
    return OutboxEntry(row.id, call, call.stored_name() if call else row.name, row.state, row.error, row.created_at)
