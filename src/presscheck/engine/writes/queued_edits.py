"""Page edits that wait in the outbox. A later edit of the same page in a change request replaces the earlier edit."""

from __future__ import annotations

from typing import Any, Protocol

from presscheck.api import content_changes
from presscheck.api.operation import Operation, revive
from presscheck.engine.writes.page_merge import page_base, page_edit
from presscheck.engine.writes.pending_writes import PendingWrite
from presscheck.errors import PresscheckError
from presscheck.store.outbox import Outbox, Row


class WriteEngine(Protocol):
    """The parts of the engine that queue an edit."""

    outbox: Outbox

    def write(self, call: Any, *, base: dict[str, Any] | None = None) -> PendingWrite[Any]:
        """Queue a write."""
        ...

    def replace_edit(self, row: Row, call: Operation[Any]) -> bool:
        """Replace the text of a pending edit. Returns False if the edit has changed since `row` was read."""
        ...


def edits_of_page(outbox: Outbox, request: str, page: str) -> list[tuple[Row, content_changes.UpdatePage]]:
    """Return the outbox rows and the changes of the queued edits of a page, oldest first, without held edits."""
    queued: list[tuple[Row, content_changes.UpdatePage]] = []
    for row in outbox.rows():
        if not row.is_edit or row.state == "collected" or row.given.get("change_request_id") != request:
            continue
        try:
            change = page_edit(revive(row.name, row.given))
        except PresscheckError:  # this version cannot read it
            continue
        if change and change.page == page:
            queued.append((row, change))
    return queued


def queue_edit(
    engine: WriteEngine, path: dict[str, Any], change: content_changes.UpdatePage, base: dict[str, Any]
) -> int:
    """Queue an edit of a page, which replaces a pending edit that it is based on. Returns the outbox row.

    Args:
        engine: queues the edit.
        path: `space_id` and `change_request_id`.
        change: the edit, of the text and perhaps the title.
        base: the page before the edit, with pending edits; see `page_base`.
    """
    pending = edits_of_page(engine.outbox, path["change_request_id"], change.page)
    if pending:
        row, former = pending[-1]
        both = change.model_copy(update={"title": change.title or former.title}) if former.title else change
        call = content_changes.EditChangeRequestContent(**path, changes=(both,))
        is_shown = former.document and page_base("", former.document.markdown or "")["markdown"] == base["markdown"]
        if is_shown and row.state == "waiting" and engine.replace_edit(row, call):
            return row.id
    call = content_changes.EditChangeRequestContent(**path, changes=(change,))
    return engine.write(call, base=base).id
