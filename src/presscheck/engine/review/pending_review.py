"""The pending review of a change request: comments that stay in the outbox until a person submits them.

A held comment is an outbox row in the state `collected`, whether the user wrote it in the app or a program on the
command line. Every process with this outbox therefore shows the same review, and no process sends it unasked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection

    from presscheck.api.operation import Operation
    from presscheck.engine.writes.pending_writes import OutboxEntry, PendingWrite
    from presscheck.store.outbox import Outbox


def draft_key(change_request_id: str, name: str) -> str:
    """Return the key of a draft in a change request; all screens use the same key."""
    return f"review {change_request_id} {name}"


class ReviewWrites(Protocol):
    """The parts of the engine that a pending review needs."""

    @property
    def outbox(self) -> Outbox:
        """The local state."""
        ...

    def waiting(self) -> tuple[OutboxEntry, ...]:
        """Return all unsent writes, oldest first."""
        ...

    def may_wait(self, call: type[Operation[Any]]) -> bool:
        """Return whether writes of this type can be queued."""
        ...

    def write(
        self, call: Operation[Any], *, hold: float = 0, collect: bool = False, agent: str | None = None
    ) -> PendingWrite[Any]:
        """Queue a write; `collect` holds it until `release`. `agent` is the name of the agent that wrote it."""
        ...

    def release(self, numbers: Collection[int], *, hold: float = 0) -> None:
        """Send held writes in their original order."""
        ...


class PendingReview:
    """The pending review of one change request.

    Args:
        engine: the engine.
        request_id: the id of the change request.
    """

    def __init__(self, engine: ReviewWrites, request_id: str) -> None:
        self._engine, self.request_id = engine, request_id
        self._pending: tuple[OutboxEntry, ...] | None = None
        self._entries: tuple[OutboxEntry, ...] = ()
        self._is_marked = False

    @property
    def is_started(self) -> bool:
        """Whether new comments are held: the review was started or already has held comments."""
        self._read()
        return bool(self._entries) or self._is_marked

    def entries(self) -> tuple[OutboxEntry, ...]:
        """Return the held comments and replies, oldest first."""
        self._read()
        return self._entries

    def start(self) -> None:
        """Hold all comments from now on."""
        self._mark("begun")

    def end(self) -> None:
        """Send new comments immediately again; held comments stay held."""
        self._mark(None)

    def _mark(self, value: str | None) -> None:
        self._engine.outbox.remember(self._key, value)
        self._pending = None

    def _read(self) -> None:
        """Read the review again if this or another process changed the outbox."""
        pending = self._engine.waiting()
        if pending is self._pending:
            return
        self._pending = pending
        self._is_marked = self._engine.outbox.recall(self._key) is not None
        self._entries = tuple(
            entry
            for entry in pending
            if entry.state == "collected"
            and not entry.has_base  # a page edit of an agent, which a person accepts in the outbox
            and getattr(entry.call, "change_request_id", None) == self.request_id
        )

    def hold(self, call: Operation[Any], agent: str | None = None) -> PendingWrite[Any]:
        """Add a comment or a reply to the pending review. `agent` is the name of the agent that wrote it."""
        return self._engine.write(call, collect=True, agent=agent)

    def submit(
        self, call: Operation[Any] | None, numbers: Collection[int], *, hold: float = 0
    ) -> PendingWrite[Any] | None:
        """Send held comments, then `call`, in one transaction.

        Args:
            call: the review or a last comment; None sends only the held comments.
            numbers: the outbox rows of the comments that the user confirmed. A comment that a program added since then
                stays held.
            hold: delay in seconds before the first write is sent.

        Returns:
            The pending write of `call`, or None without a `call`.
        """
        rows = [entry.id for entry in self.entries() if entry.id in numbers]
        ticket = None
        if call and rows:
            ticket = self._engine.write(call, collect=True)
            rows.append(ticket.id)
        elif call:
            ticket = self._engine.write(call, hold=hold if self._engine.may_wait(type(call)) else 0)
        if rows:
            self._engine.release(rows, hold=hold)
        self.end()
        return ticket

    @property
    def _key(self) -> str:
        return f"review of {self.request_id}"
