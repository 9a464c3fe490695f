"""The undo guard: notes what a write replaces before it is sent, and never lets an undo overwrite later changes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from presscheck.api.operation import Operation, revive
from presscheck.errors import ChangedSince, NetworkError, PresscheckError, TooManyRequests
from presscheck.store.outbox import EndedRow, Outbox, Row

if TYPE_CHECKING:
    from presscheck.engine.writes.inverses import Comparison, Inverse, SentWrite

QUOTED = 200
"""Characters of each text in the message about a change."""
GONE = "Not undone: the history does not have this change any more"


class UndoGuard:
    """Reads the values that writes replace, and compares them before a write is undone.

    Args:
        outbox: stores the writes and their history.
        read: returns the response of the service to a read, not cached.
        keep: keeps what a site has before a write changes it, given the write and its number.
    """

    def __init__(
        self,
        outbox: Outbox,
        read: Callable[[Operation[Any]], Awaitable[Any]],
        keep: Callable[[Operation[Any], int], Awaitable[None]],
    ) -> None:
        self._outbox, self._read, self._keep = outbox, read, keep

    async def prepare(self, row: Row, call: Operation[Any], me: str) -> bool:
        """Before a write is sent: check what it undoes, and note what it replaces; False if it is undone already.

        Raises:
            ChangedSince: it would overwrite a later change.
            NetworkError: the service cannot be reached.
            TooManyRequests: the rate limit is reached.
            PresscheckError: the write undoes another one whose result cannot be read.
        """
        if row.undoes is not None and not await self._may_undo(row, row.undoes, me):
            return False
        if row.state != "sending":
            await self._keep(call, row.id)
        inverse = _inverse_of(call)
        if inverse and row.state != "sending":
            try:
                former = await inverse.former(self._read, call, me)
            except (NetworkError, TooManyRequests):
                raise
            except PresscheckError:  # the write is worth more than its undo
                former = None
            if former is not None:
                self._outbox.note_former(row.id, former)
        return True

    async def compare(self, ended: EndedRow, me: str) -> Comparison:
        """Compare what a sent write left with what is there now.

        Raises:
            ChangedSince: it was changed since.
            PresscheckError: the present values cannot be read.
        """
        sent = sent_write(ended, me)
        inverse = _inverse_of(sent.call) if sent else None
        if sent is None or inverse is None:
            raise ChangedSince(GONE)
        comparison = await inverse.compare(self._read, sent)
        if comparison.state == "changed":
            message = self._message(ended, sent, comparison)
            raise ChangedSince(message, written=comparison.written, present=comparison.present)
        return comparison

    async def _may_undo(self, row: Row, undoes: int, me: str) -> bool:
        ended = self._outbox.ended(undoes)
        if ended is None:
            raise ChangedSince(GONE)
        batch = (other for other in self._outbox.history() if other.undoes == undoes and other.state == "sent")
        if any(other.created_at == row.created_at for other in batch):
            return True  # a part of the same undo is sent already: what it changed is its own work
        return (await self.compare(ended, me)).state == "unchanged"

    def _message(self, ended: EndedRow, sent: SentWrite, comparison: Comparison) -> str:
        later = self._own_later_change(ended, sent)
        cause = f"you changed it again since ({later}): undo that first" if later else "changed by others since"
        texts = [_quoted(text) for text in (comparison.written, comparison.present)]
        return f"Not undone: {cause}. You wrote “{texts[0]}”; now it is “{texts[1]}”"

    def _own_later_change(self, ended: EndedRow, sent: SentWrite) -> str | None:
        """The newest later write of the same user to the same thing, in words; None if there is none."""
        identity = (sent.result or {}).get("id")
        paths = {sent.call.wire_path(), f"{sent.call.wire_path()}/{identity}"}
        for row in self._outbox.history():
            later = sent_write(row, sent.me) if row.id > ended.id and row.state == "sent" else None
            is_own = later is not None and later.me == sent.me and later.call.wire_path() in paths
            if later and is_own and _is_about_same(later.call, sent.call):
                from presscheck.engine.writes.descriptions import describe  # 20 ms, only for an undo

                return describe(later.call)
        return None


def sent_write(ended: EndedRow, me: str) -> SentWrite | None:
    """A row of the history as a sent write; None if this version cannot read it."""
    try:
        call = revive(ended.name, ended.given)
    except PresscheckError:
        return None
    from presscheck.engine.writes.inverses import SentWrite  # 57 ms, only for an undo

    return SentWrite(call, ended.former, ended.result, ended.author or me)


def _inverse_of(call: Operation[Any]) -> Inverse | None:
    from presscheck.engine.writes.inverses import inverse_of  # 57 ms, only for a write

    return inverse_of(call)


def _is_about_same(later: Any, call: Any) -> bool:
    """Whether two writes to the same path set a common field or page."""
    if type(later) is not type(call):
        return True
    if hasattr(call, "changes"):
        pages = [{getattr(change, "page", None) for change in one.changes} - {None} for one in (later, call)]
        return bool(pages[0] & pages[1])
    own = set(call.path_fields())
    return bool((later.model_fields_set - own) & (call.model_fields_set - own))


def _quoted(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= QUOTED else f"{flat[: QUOTED - 1].rstrip()}…"
