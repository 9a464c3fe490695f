"""Changes of the page tree that wait in the outbox: added, moved and deleted pages, and details of pages.

The base of such a write has an entry for each of its changes, with the values that the change replaces. Before the
write is sent, each change is compared with the present tree. A change that is already made is left out, which also
settles writes of unknown delivery. A change that conflicts with changes by others is not sent.

A new page has the id `waiting:N` until row N of the outbox is sent; the outbox then inserts the id from the service.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from presscheck.api import change_requests, content, content_changes
from presscheck.api.change_requests import ChangeRequest
from presscheck.api.content import RevisionPage
from presscheck.documents.pages.page_order import Move, PageOrder
from presscheck.documents.pages.tree import flatten
from presscheck.engine.shared_calls import at, changed_page
from presscheck.engine.writes.page_merge import Call, MergedEdit, Read, letters_of
from presscheck.engine.writes.pending_writes import PendingWrite
from presscheck.errors import ChangedSince, NotNow, PresscheckError
from presscheck.store.outbox import TREE, Outbox, Row

PLACE = frozenset(("operation", "page", "into", "at"))
"""The fields of a change that name a page and its place; all others are details."""
EDITED = "An edit of this page is not sent yet, so it cannot be deleted: the outbox shows it"

TITLED = "A page with this title was added since, perhaps this one: check, then retry or discard"


class WriteEngine(Protocol):
    """The parts of the engine that send or queue a change of the page tree."""

    outbox: Outbox

    @property
    def status(self) -> Any:
        """Whether the service can be reached."""
        ...

    def write(self, call: Any, *, base: dict[str, Any] | None = None) -> PendingWrite[Any]:
        """Send or queue a write."""
        ...

    async def read(self, call: Any) -> Any:
        """Return the response to a call with the pending writes applied."""
        ...


def must_queue(engine: WriteEngine, path: Mapping[str, Any]) -> bool:
    """Return whether a change of the page tree must be queued: while offline, or behind an earlier queued change."""
    rows = engine.outbox.rows()
    request = path["change_request_id"]
    return not engine.status.online or any(
        row.is_tree_change and row.given.get("change_request_id") == request for row in rows
    )


async def change_tree(
    engine: WriteEngine, path: Mapping[str, Any], changes: Sequence[Any]
) -> content_changes.ContentUpdate | None:
    """Send changes of the page tree, or queue them. Returns None if they are queued.

    Raises:
        NotNow: a page to delete has a pending edit.
        PresscheckError: the service rejected the changes.
    """
    call = content_changes.EditChangeRequestContent(**path, changes=tuple(changes), compat=False)
    if not must_queue(engine, path):
        return await engine.write(call).landed()
    pages = (await engine.read(content.ListChangeRequestPages(**path))).pages
    base = tree_base(pages, changes)
    if reason := pending_edit_reason(engine, path, base):
        raise NotNow(reason)
    engine.write(call, base=base)
    return None


def pending_edit_reason(engine: WriteEngine, path: Mapping[str, Any], base: Mapping[str, Any]) -> str | None:
    """Return why pages cannot be deleted: a pending edit of one of them would be lost. None if they can."""
    deleted = {page for entry in base[TREE] for page in entry.get("pages", ())}
    for row in engine.outbox.rows():
        if row.base is None or row.given.get("change_request_id") != path["change_request_id"]:
            continue
        edited = {change.get("page") for change in row.given.get("changes", ())} | {f"waiting:{row.id}"}
        if deleted & edited:
            return EDITED
    return None


def tree_base(pages: Sequence[RevisionPage], changes: Sequence[Any]) -> dict[str, Any]:
    """Return the base of a write: for each of its changes, the values that it replaces in a page tree."""
    return base_of(PageOrder.of(pages), {page.id: page for page in flatten(pages)}, changes)


def base_of(order: PageOrder, by_id: Mapping[str, RevisionPage], changes: Sequence[Any]) -> dict[str, Any]:
    """Return the base of a write, and apply its moves to `order`. If all changes are moves, `by_id` can be empty."""
    entries: list[dict[str, Any]] = []
    for change in changes:
        if change.operation == "insert_page":
            siblings = order.below(change.into)
            entries.append({"before": siblings[: change.at] if change.at is not None else siblings})
        elif change.operation == "delete_page":
            entries.append({"pages": _state(by_id[change.page])})
        else:
            details = change.model_fields_set - PLACE
            entry: dict[str, Any] = {"details": {name: getattr(by_id[change.page], name) for name in details}}
            if _is_move(change):
                entry["from"] = [order.parent(change.page), [*order.siblings(change.page)]]
                order.insert(change.page, change.into, change.at)
                siblings = order.siblings(change.page)
                entry["before"] = siblings[: siblings.index(change.page)]
            entries.append(entry)
    return {TREE: entries}


async def merged_tree(read: Read, row: Row, call: Call, settle: float) -> MergedEdit | content_changes.ContentUpdate:
    """Compare a queued change with the present page tree.

    Args:
        read: reads from the service.
        row: the row of the outbox.
        call: the write of the row.
        settle: seconds between two searches for a page that was perhaps added.

    Returns:
        The changes that are left to send, with their base, or the result if nothing is left.

    Raises:
        ChangedSince: others changed the same pages in the meantime.
        PresscheckError: the tree cannot be read.
    """
    entries: list[dict[str, Any]] = (row.base or {})[TREE]
    if "existing" in entries[0] and (page := await _arrived(read, row, call, settle)):
        return added(await read(at(change_requests.GetChangeRequest, call)), page)
    pages = (await read(at(content.ListChangeRequestPages, call))).pages
    order, by_id = PageOrder.of(pages), {page.id: page for page in flatten(pages)}
    left: list[tuple[Any, dict[str, Any]]] = []
    for change, entry in zip(call.changes, entries, strict=True):
        merged = _merged(change, entry, order, by_id)
        if merged is not None:
            # the first search was before the write was sent: pages that appeared later may be its result
            known = {"existing": sorted(by_id)} if merged.operation == "insert_page" and "existing" not in entry else {}
            left.append((merged, entry | known))
    if not left:
        return content_changes.ContentUpdate(change_request=await read(at(change_requests.GetChangeRequest, call)))
    changes = tuple(change for change, _ in left)
    merged_call = at(content_changes.EditChangeRequestContent, call, changes=changes, compat=False)
    return MergedEdit(merged_call, {TREE: [entry for _, entry in left]})


def added(request: ChangeRequest, page: str) -> content_changes.ContentUpdate:
    """Build the response that the insertion of a page should have had, for one that is missing or has no id."""
    ref = content_changes.PageRef(id=page)
    written = content_changes.PageWritten(object="created_page", page=ref)
    return content_changes.ContentUpdate(change_request=request, changes=(written,))


def added_page(answer: Any) -> str | None:
    """Return the id of the page that a write added, or None."""
    changes = answer.changes if isinstance(answer, content_changes.ContentUpdate) else ()
    return next((change.page_id for change in changes if change.object == "created_page"), None)


async def find_added(read: Read, row: Row, call: Call) -> str | None:
    """Return the page that an insertion added, for a service that returns no ids; None if it is not found."""
    if call.changes[0].operation != "insert_page":
        return None
    try:
        titled = await _titled(read, row, call)
    except PresscheckError:  # the page is there already, and must not be added again
        return None
    return next((page for page, is_same in titled.items() if is_same), next(iter(titled), None))


async def _arrived(read: Read, row: Row, call: Call, settle: float) -> str | None:
    """Return the page that an earlier attempt added, or None if two searches do not find it.

    Raises:
        ChangedSince: the delivery is unknown, and a new page has the title but another text: perhaps it was edited
            since.
    """
    for pause in (0, settle):
        await asyncio.sleep(pause)
        titled = await _titled(read, row, call)
        for page, is_same in titled.items():
            if is_same:
                return page
        if titled and row.state == "sending":
            raise ChangedSince(TITLED)
    return None


async def _titled(read: Read, row: Row, call: Call) -> dict[str, bool]:
    """Return the new pages with the title of an insertion, and whether each has the text of the insertion."""
    [change], [entry] = call.changes, (row.base or {})[TREE]
    pages = (await read(at(content.ListChangeRequestPages, call))).pages
    titled = [
        page.id for page in flatten(pages) if page.id not in entry.get("existing", ()) and page.title == change.title
    ]
    text = change.document.markdown or ""
    texts = (letters_of(text), letters_of(change.title + text))  # a service may return the title as a heading
    found: dict[str, bool] = {}
    for page in titled:
        present = await read(changed_page(call.space_id, call.change_request_id, page))
        found[page] = letters_of(present.markdown or "") in texts
    return found


def _merged(change: Any, entry: Mapping[str, Any], order: PageOrder, by_id: Mapping[str, RevisionPage]) -> Any | None:
    """Adapt a change to the present tree, and apply its move to `order`. Returns None if the change is already made.

    Raises:
        ChangedSince: others changed the same page in the meantime.
    """
    if change.operation == "insert_page":
        if change.into is not None and change.into not in order:
            raise ChangedSince("Not added: the page to add it in was deleted")
        place = _index(order.below(change.into), entry["before"])
        return change.model_copy(update={"at": place})
    if change.operation == "delete_page":
        if change.page not in order:
            return None
        if any(entry["pages"].get(page) != state for page, state in _state(by_id[change.page]).items()):
            raise ChangedSince("Not deleted: somebody else edited it or added a page below it")
        return change
    if change.page not in order:
        raise ChangedSince("Not changed: somebody else deleted the page")
    given = {name: value for name, value in change if name in change.model_fields_set - PLACE}
    for name, wanted in [*given.items()]:
        present = getattr(by_id[change.page], name) or None
        if present == (wanted or None):
            del given[name]
        elif present != (entry["details"][name] or None):
            raise ChangedSince(f"Not changed: somebody else changed the {name.replace('_', ' ')}")
    if _is_move(change) and (place := _moved(change, entry, order)) is not None:
        given |= {"into": change.into, "at": place}
    return content_changes.UpdatePage(page=change.page, **given) if given else None


def _moved(change: Any, entry: Mapping[str, Any], order: PageOrder) -> int | None:
    """Return the new index of a moved page; None if it is there already. The move is applied to `order`."""
    page, into = change.page, change.into
    parent, siblings = entry["from"]
    if into is not None and (into not in order or order.is_within(into, page)):
        raise ChangedSince("Not moved: the page to move it into was moved or deleted")
    others = [other for other in order.below(into) if other != page]
    place = _index(others, entry["before"])
    now = order.siblings(page).index(page) if order.parent(page) == into else None
    if now == place:
        return None
    if not order.has_same_place(page, PageOrder({None: [], parent: siblings})):
        raise ChangedSince("Not moved: somebody else moved it, or the pages around it")
    order.move(Move(page, into, others[place - 1] if place else None))
    return place


def _index(siblings: Sequence[str], before: Sequence[str]) -> int:
    """Return the index after the last page of `before` that is still among the siblings; 0 if there is none."""
    return next((siblings.index(page) + 1 for page in reversed(before) if page in siblings), 0)


def _is_move(change: Any) -> bool:
    return bool(change.model_fields_set & {"into", "at"})


def _state(page: RevisionPage) -> dict[str, list[str | None]]:
    """Return the title and the id of the text of a page and of each page below it, by page id."""
    return {inner.id: [inner.title, inner.document_id] for inner in flatten((page,))}
