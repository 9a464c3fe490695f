"""The history of writes: sent, undone, refused and unsent writes, and which of them can be undone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from presscheck.api.change_requests import GetChangeRequest
from presscheck.api.operation import Operation
from presscheck.engine.protocols import StoredResources
from presscheck.engine.shared_calls import changed_page
from presscheck.engine.writes.delivery import UndoGuard, sent_write
from presscheck.engine.writes.descriptions import Place, describe, describe_name, place_of
from presscheck.engine.writes.inverse import SentWrite
from presscheck.engine.writes.inverses import inverse_of, reason_against
from presscheck.errors import PresscheckError
from presscheck.store.outbox import EndedRow, Outbox

UNREADABLE = "this version of presscheck cannot read it"
OTHER_USER = "another user wrote it"
UNKNOWN_REQUEST = "a change request"
NOT_SENT = {
    "undone": "it is undone",
    "refused": "it was not saved",
    "unsent": "it was never sent",
}
"""Why a write that is not in the state `sent` cannot be undone."""


@dataclass(frozen=True)
class HistoryEntry:
    """A write of the history.

    Attributes:
        call: the operation; None if this version cannot read it.
        description: the action in a few words.
        place: the place that the write changed.
        place_name: the name of the place; ids where no names are cached.
        state: `sent`, `undone`, `refused` or `unsent`; see `store.outbox.EndedRow`.
        error: why the write failed.
        ended_at: when the write was sent or failed, in seconds since the epoch.
        undoes: the number of the write that this write undoes.
        reason: why the write cannot be undone; None if no reason is known without a request.
        inverse: the effect of undoing the write, as a sentence; empty if it cannot be undone.
        is_being_undone: whether the undo of the write is in the outbox.
        agent: the name of the agent that wrote it, as display text; empty if the user wrote it.
    """

    id: int
    call: Operation[Any] | None
    name: str
    description: str
    place: Place
    place_name: str
    state: str
    error: str | None
    created_at: float
    ended_at: float
    undoes: int | None
    reason: str | None
    inverse: str
    is_being_undone: bool
    agent: str = ""


class WriteHistory:
    """The history of an outbox.

    Args:
        outbox: stores the writes.
        guard: compares values before an undo.
        stored: finds the names of places.
        missing_reason: returns why the service cannot do an operation; None if it may be available.
        me: returns the id of the signed-in user; None if unknown.
    """

    def __init__(
        self,
        outbox: Outbox,
        guard: UndoGuard,
        stored: StoredResources,
        missing_reason: Callable[[type[Operation[Any]]], str | None],
        me: Callable[[], str | None],
    ) -> None:
        self._outbox, self._guard, self._stored, self._missing_reason = outbox, guard, stored, missing_reason
        self._me = me

    def entries(self) -> tuple[HistoryEntry, ...]:
        """Return all writes of the history, newest first."""
        pending = {row.undoes for row in self._outbox.rows()}
        names: dict[Place, str] = {}
        return tuple(self._entry(row, pending, names) for row in self._outbox.history())

    def place_name(self, call: Operation[Any]) -> str:
        """Return the name of the place that a write changes; ids where no names are cached."""
        return self._place_name(place_of(call))

    def entry(self, number: int) -> HistoryEntry | None:
        """Return a write of the history, or None if the history does not have it."""
        row = self._outbox.ended(number)
        return self._entry(row, {row.undoes for row in self._outbox.rows()}, {}) if row else None

    async def check(self, number: int) -> None:
        """Check that a sent write can be undone now.

        Raises:
            ChangedSince: the written values were changed since.
            PresscheckError: the write cannot be undone for another reason, or the present values cannot be read.
        """
        row, reason = self._outbox.ended(number), self._reason_of(number)
        if row is None or reason:
            raise PresscheckError(f"Not undone: {reason}")
        comparison = await self._guard.compare(row, self._me() or "")
        if comparison.state == "undone":
            raise PresscheckError("Not undone: it is already as it was before")

    def calls(self, number: int) -> tuple[Operation[Any], ...]:
        """Return the writes that undo a sent write.

        Raises:
            PresscheckError: the write cannot be undone.
        """
        row, reason = self._outbox.ended(number), self._reason_of(number)
        sent = sent_write(row, self._me() or "") if row else None
        inverse = inverse_of(sent.call) if sent else None
        if sent is None or inverse is None or reason:
            raise PresscheckError(f"Not undone: {reason}")
        return inverse.calls(sent)

    def _reason_of(self, number: int) -> str | None:
        entry = self.entry(number)
        return entry.reason if entry else "the history does not have it"

    def _entry(self, row: EndedRow, pending: set[int | None], names: dict[Place, str]) -> HistoryEntry:
        sent = sent_write(row, self._me() or "")
        if sent is None:
            place, description, reason = Place(), describe_name(row.name), UNREADABLE
        else:
            place, description = place_of(sent.call, row.result), describe(sent.call, row.target or "")
            reason = "its undo is in the outbox" if row.id in pending else self._reason(row, sent)
        if place not in names:
            names[place] = self._place_name(place)
        inverse = inverse_of(sent.call) if sent and reason is None else None
        return HistoryEntry(
            row.id,
            sent.call if sent else None,
            row.name,
            description,
            place,
            names[place],
            row.state,
            row.error,
            row.created_at,
            row.ended_at,
            row.undoes,
            reason,
            inverse.words(sent) if inverse and sent else "",
            row.id in pending,
            row.agent or "",
        )

    def _reason(self, row: EndedRow, sent: SentWrite) -> str | None:
        me = self._me()
        if row.state != "sent":
            return NOT_SENT[row.state]
        if row.author and me and row.author != me:
            return OTHER_USER
        if reason := reason_against(sent):
            return reason
        inverse = inverse_of(sent.call)
        try:
            calls = inverse.calls(sent) if inverse else ()
        except PresscheckError as error:  # a former value that this version does not accept
            return error.message
        return next((reason for call in calls if (reason := self._missing_reason(type(call)))), None)

    def _place_name(self, place: Place) -> str:
        """Return the name of a place, such as `#5 Rewrite the auth guide › Tokens`, or ids if no names are cached."""
        if place.space and place.request:
            path = {"space_id": place.space, "change_request_id": place.request}
            request = self._stored.known(GetChangeRequest(**path))
            found = self._stored.resource("change-request", place.request)
            if request:
                found = {"number": request.value.number, "subject": request.value.subject}
            name = f"#{found['number']} {found.get('subject', '')}" if "number" in found else UNKNOWN_REQUEST
            page = self._stored.known(changed_page(place.space, place.request, place.page)) if place.page else None
            return f"{name} › {page.value.title}" if page else name
        if place.site and place.organization:
            return str(self._stored.resource("site", place.site).get("title") or f"site {place.site}")
        if place.space:
            return str(self._stored.resource("space", place.space).get("title") or f"space {place.space}")
        if place.collection:
            title = self._stored.resource("collection", place.collection).get("title")
            return str(title or f"collection {place.collection}")
        return ""
