"""Pending writes: the unsent calls of the outbox and their author.

Pending writes are applied to cached responses at each read, so undoing a pending write needs no changes in the cache.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar, cast

from presscheck.api.operation import Operation, revive
from presscheck.api.users import User
from presscheck.errors import NotNow, PresscheckError
from presscheck.store.outbox import NEW, Outbox, Row

ME = "me"
"""The storage key of the user."""
HELD_UP = "An earlier change is not sent yet: retry or discard it in the outbox"
"""The message for a write behind a failed write."""
T = TypeVar("T")


@dataclass(frozen=True)
class OutboxEntry:
    """A write that is not sent yet.

    Attributes:
        call: the operation; None if this version cannot read it (state `parked`).
        state: `waiting`, `collected`, `sending`, `refused` or `parked`; see `store.outbox.Row`.
        error: why the write failed.
        created_at: seconds since the epoch.
        has_base: whether it is an edit of a page that is merged with edits of others when it is sent.
        agent: the name of the agent that wrote it, as display text; empty if the user wrote it.
        base: the page before the edit, if `has_base`; see `page_merge.page_base`.
        target: the names of what it changes; empty if unknown. See `target_names.target_names`.
    """

    id: int
    call: Operation[Any] | None
    name: str
    state: str
    error: str | None
    created_at: float
    has_base: bool = False
    agent: str = ""
    base: dict[str, Any] | None = None
    target: str = ""

    @cached_property
    def changed_line(self) -> str:
        """The first line that an edit of a page changes; empty for other writes."""
        # 20 ms, only for an edit of a page
        from presscheck.engine.writes.typed_texts import first_changed_line, typed_text_in

        typed_text = typed_text_in(self.call) if self.base else None
        return first_changed_line((self.base or {}).get("markdown", ""), typed_text[1]) if typed_text else ""


class PendingWrite(Generic[T]):
    """A write that the engine accepted.

    Attributes:
        id: the outbox row, or 0 if the write is sent immediately.
        call: the operation.
        outcome: a future with the response or the error.
        held_up: set while the write waits behind a failed write, until the user retries or discards that write.
    """

    def __init__(self, number: int, call: Operation[T], outcome: asyncio.Future[T | None]) -> None:
        self.id, self.call, self.outcome = number, call, outcome
        self.held_up = asyncio.Event()

    async def landed(self) -> T | None:
        """Wait until the write is sent. Returns the response, or None if another instance sent the write.

        Raises:
            NotNow: the write stays in the outbox, behind a failed write.
            PresscheckError: the service rejected the write, or the request failed.
        """
        while not self.outcome.done():
            if self.held_up.is_set():
                raise NotNow(HELD_UP)
            held_up = asyncio.ensure_future(self.held_up.wait())
            try:
                await asyncio.wait((self.outcome, held_up), return_when=asyncio.FIRST_COMPLETED)
            finally:
                held_up.cancel()
        return await asyncio.shield(self.outcome)


class SignedInUser:
    """The stored user, cached in memory until `remember` or `forget` is called.

    Args:
        outbox: the file that stores the user.
    """

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self._user: User | None = None

    @property
    def user(self) -> User:
        """The user; a placeholder with the id `me` if unknown."""
        if self._user is None:
            text = self._outbox.recall(ME)
            self._user = User.model_validate_json(text) if text else User(id="me", display_name="you")
        return self._user

    def remember(self, user: User) -> None:
        """Store the user that the service returned."""
        self._outbox.remember(ME, user.model_dump_json(by_alias=True, exclude_unset=True))
        self._user = user

    def forget(self) -> None:
        """Read the user from disk at the next use, because another instance may have changed it."""
        self._user = None


def apply_pending(read: Operation[Any], answer: Any, pending: Collection[OutboxEntry], me: User) -> Any:
    """Return the response of a read with all pending writes applied, oldest first. `me` is their author."""
    if not pending:
        return answer
    from presscheck.engine.writes.overlays import with_writes  # 9 ms, only while writes are unsent

    return with_writes(read, answer, pending, me)


class PendingWrites:
    """The entries of the outbox, cached until `reload` is called.

    Args:
        outbox: the outbox.
        author: the author of the writes.
    """

    def __init__(self, outbox: Outbox, author: SignedInUser) -> None:
        self._outbox, self._author = outbox, author
        self._entries: tuple[OutboxEntry, ...] | None = None
        self._made: dict[int, tuple[Row, OutboxEntry]] = {}
        """The latest row with its entry, by number. Unchanged rows keep their entries."""

    def entries(self) -> tuple[OutboxEntry, ...]:
        """Return all unsent writes, oldest first, without writes that an instance is sending immediately."""
        if self._entries is None:
            made = self._made
            self._made = {
                row.id: made[row.id] if row.id in made and made[row.id][0] is row else (row, pending_entry(row))
                for row in self._outbox.rows()
                if row.state != "now"
            }
            self._entries = tuple(entry for _, entry in self._made.values())
        return self._entries

    def reload(self) -> tuple[Operation[object], ...]:
        """Read the outbox again. Returns the calls of all entries that were added, removed or changed."""
        before, self._entries = {entry.id: entry for entry in self._entries or ()}, None
        after = {entry.id: entry for entry in self.entries()}
        changed = [
            number
            for number in before | after
            if before.get(number) is not after.get(number) and before.get(number) != after.get(number)
        ]
        entries = [side[number] for number in changed for side in (before, after) if number in side]
        return tuple(entry.call for entry in entries if entry.call is not None)

    def resolved(self, read: Operation[T]) -> Operation[T]:
        """Replace the temporary id in a read of an added page by the id from the service, once the page is added."""
        page: str = getattr(read, "page_id", "")
        added = self._outbox.added_page(page) if page.startswith(NEW) else page
        return read if added == page else read.model_copy(update={"page_id": added})

    def new_page(self, read: Operation[T]) -> T | None:
        """Return a page that only the outbox has, with all unsent writes applied. Returns None for other reads."""
        page: str = getattr(read, "page_id", "")
        entries = self.entries() if page.startswith(NEW) else ()
        entry = next((entry for entry in entries if f"{NEW}{entry.id}" == page), None)
        if entry is None:
            return None
        from presscheck.engine.writes.overlays import new_page  # 9 ms, only while writes are unsent

        page_added = cast("T | None", new_page(read, entry))
        return None if page_added is None else self.apply(read, page_added)

    def apply(self, read: Operation[T], answer: T) -> T:
        """Return a response with all unsent writes applied."""
        entries = self.entries()
        return cast("T", apply_pending(read, answer, entries, self._author.user)) if entries else answer


def pending_entry(row: Row) -> OutboxEntry:
    """Return a row of the outbox as an entry, without a call if this version cannot read it."""
    try:
        call = revive(row.name, row.given)
    except PresscheckError:
        call = None
    name, has_base = call.stored_name() if call else row.name, call is not None and row.is_edit
    base = row.base if has_base else None
    return OutboxEntry(
        row.id,
        call,
        name,
        row.state,
        row.error,
        row.created_at,
        has_base,
        row.agent or "",
        base,
        row.target or "",
    )
