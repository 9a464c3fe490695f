"""The inverse of page edits in a change request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from typing_extensions import override

from presscheck.api import change_requests, content, content_changes
from presscheck.api.operation import Operation
from presscheck.documents.pages.page_order import Move, PageOrder
from presscheck.engine.review.page_edits import content_of, places_of
from presscheck.engine.shared_calls import at, page_in
from presscheck.engine.writes.inverse import (
    NO_FORMER,
    NO_RESULT,
    Call,
    Comparison,
    Inverse,
    Json,
    Read,
    SentWrite,
    sentence,
)
from presscheck.errors import NotFound
from presscheck.text.phrases import count


class PageEdits(Inverse):
    """The inverse of page edits: restores the former contents and places of pages, and deletes new pages.

    The revision before the edit is recorded. To detect later changes, the pages of the edit's own revision are compared
    with the present pages.
    """

    @override
    async def former(self, read: Read, call: Call, me: str) -> Json | None:
        request = await read(at(change_requests.GetChangeRequest, call))
        moved = [change.page for change in call.changes if _is_move(change)]
        pages = (await read(at(content.ListChangeRequestPages, call))).pages if moved else ()
        places, order = dict(places_of(pages)), PageOrder.of(pages)
        parents = {order.parent(page) for page in moved if page in order}
        parents |= {change.into for change in call.changes if _is_move(change) and "into" in change.model_fields_set}
        return {
            "revision": request.revision,
            "places": {page: [places[page].parent, places[page].index] for page in moved if page in places},
            "orders": [[parent, order.below(parent)] for parent in sorted(parents, key=str)] if moved else [],
        }

    @override
    def result(self, answer: Any) -> Json | None:
        if answer is None:
            return None
        return {"revision": answer.change_request.revision, "pages": [change.page_id for change in answer.changes]}

    @override
    def reason(self, sent: SentWrite) -> str | None:
        if sent.former is None:
            return NO_FORMER
        operations = [change.operation for change in sent.call.changes]
        if "insert_files" in operations:
            return "added files cannot be removed"
        if sent.result is None or ("insert_page" in operations and len(sent.result["pages"]) != len(operations)):
            return NO_RESULT
        return None if self.calls(sent) else NO_FORMER

    @override
    def calls(self, sent: SentWrite) -> tuple[Operation[Any], ...]:
        changes = tuple(self._changes(sent))
        return (at(content_changes.EditChangeRequestContent, sent.call, changes=changes),) if changes else ()

    @override
    def words(self, sent: SentWrite) -> str:
        inverse = [*self._changes(sent)]
        if inverse and all(map(_is_only_move, inverse)):
            pages = len({change.page for change in inverse})
            place = "to its former place" if pages == 1 else "to their former places"
            return sentence([f"moves {'the page' if pages == 1 else count(pages, 'page')} back {place}"])
        deleted = sum(change.operation == "delete_page" for change in inverse)
        restored = len({change.page for change in inverse}) - deleted
        parts = [f"deletes {count(deleted, 'new page')}"] if deleted else []
        parts += [f"restores {count(restored, 'page')} as before the edit"] if restored else []
        return sentence(parts)

    @override
    async def compare(self, read: Read, sent: SentWrite) -> Comparison:
        call, former = sent.call, sent.before["revision"]
        now = await read(at(content.GetChangeRequestRevision, call))
        after = await self._revision(read, call, sent.response["revision"])
        touched = [*dict.fromkeys(change.page for change in self._changes(sent))]
        moved = [change.page for change in call.changes if _is_move(change)]

        def is_same(first: content.Revision, second: content.Revision) -> bool:
            if _signatures(first.pages, touched) != _signatures(second.pages, touched):
                return False
            order, other = PageOrder.of(first.pages), PageOrder.of(second.pages)
            return all(order.has_same_place(page, other) for page in moved)

        if is_same(after, now):
            if former in after.parents or not after.parents:
                return Comparison("unchanged")
            # another edit came between the recorded revision and this edit, and may have changed the same pages
            parent, noted = [await self._revision(read, call, revision) for revision in (after.parents[0], former)]
            if is_same(parent, noted):
                return Comparison("unchanged")
            return Comparison("changed", "(edited)", "(edited by others just before)")
        if is_same(await self._revision(read, call, former), now):
            return Comparison("undone")
        pages, present = _signatures(after.pages, touched), _signatures(now.pages, touched)
        different = next((page for page in touched if pages.get(page) != present.get(page)), None)
        if different is None:
            return Comparison("changed", "(moved)", "(moved again)")
        texts = [await self._text(read, sent, revision.id, different) for revision in (after, now)]
        return Comparison("changed", *texts)

    async def _revision(self, read: Read, call: Call, revision: str) -> content.Revision:
        return await read(content.GetRevision(space_id=call.space_id, revision_id=revision))

    def _changes(self, sent: SentWrite) -> Iterator[Any]:
        """Yield the changes that undo an edit, in reverse order.

        Two kinds of edits differ: moves are undone by `_moves_back`, and deleted pages are restored in the original
        order, so that each page returns to its former index below its parent.
        """
        former, pages = sent.before, cast("list[str | None]", sent.response.get("pages", []))
        revision, places = former["revision"], former["places"]
        changes: list[Any] = [*sent.call.changes]
        if former.get("orders") and all(map(_is_only_move, changes)):
            yield from _moves_back(former, changes)
            return
        if all(change.operation == "delete_page" for change in changes):
            yield from (content_changes.RevertPage(page=change.page, revision=revision) for change in changes)
            return
        created = dict(enumerate(pages)) if len(pages) == len(changes) else {}
        reverted: set[str] = set()
        for number, change in reversed([*enumerate(changes)]):
            if change.operation == "insert_page":
                if page := created.get(number):
                    yield content_changes.DeletePage(page=page)
                continue
            if _is_edit(change) and change.page not in reverted:
                reverted.add(change.page)
                yield content_changes.RevertPage(page=change.page, revision=revision)
            if _is_move(change) and change.page in places:
                parent, index = places[change.page]
                yield content_changes.UpdatePage(page=change.page, into=parent, at=index)

    async def _text(self, read: Read, sent: SentWrite, revision: str, page: str) -> str:
        try:
            version = await read(page_in(sent.call.space_id, revision, page))
        except NotFound:
            return "(deleted)"
        return f"{version.title}\n\n{version.markdown or ''}".strip()


def _signatures(pages: Sequence[content.RevisionPage], touched: Iterable[str]) -> Mapping[str, Any]:
    """Return content, parent and subpages of each touched page that exists."""
    places = dict(places_of(pages))
    return {
        page: (content_of(place.page), place.parent, [child.id for child in place.page.pages])
        for page in touched
        if (place := places.get(page))
    }


def _is_move(change: Any) -> bool:
    return change.operation == "update_page" and bool(change.model_fields_set & {"into", "at"})


def _is_only_move(change: Any) -> bool:
    return _is_move(change) and not _is_edit(change)


def _moves_back(former: Json, changes: Sequence[Any]) -> Iterator[content_changes.UpdatePage]:
    """Yield the moves that bring pages back to their former places.

    The moves of the edit are replayed on the former order. Then each page moves behind its former predecessor, in the
    order of the former indexes, so that the predecessor is in place already; the index of each move follows from the
    replayed order at that point.
    """
    before: dict[str | None, list[str]] = dict(former["orders"])
    order = PageOrder(before)
    for change in changes:
        if change.page in order:
            parent = change.into if "into" in change.model_fields_set else order.parent(change.page)
            order.insert(change.page, parent, change.at)
    places: dict[str, tuple[str | None, int]] = former["places"]
    for page, (parent, index) in sorted(places.items(), key=lambda place: place[1][1]):
        after = before[parent][index - 1] if index else None
        yield content_changes.UpdatePage(page=page, into=parent, at=order.move(Move(page, parent, after)))


def _is_edit(change: Any) -> bool:
    """Return whether a change of an existing page affects its content, not only its place."""
    return change.operation != "update_page" or bool(change.model_fields_set - {"operation", "page", "into", "at"})
