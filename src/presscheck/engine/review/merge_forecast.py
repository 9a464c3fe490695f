"""Forecast of the conflicts of a merge or an update, made by merging both sides locally, page by page.

The forecast also lists pages with unresolved conflict markers of an earlier update.

The service has no dry run, and a merge with conflicts cannot be undone. The service compares a revision only with its
parents, so the changes between any two revisions are computed here. Reads go through the cache: a forecast works
offline if the pages are cached.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.content import GetChangeRequestRevision, GetCurrentRevision, GetRevision, Revision
from presscheck.api.content_changes import SemanticChanges
from presscheck.client.request_priority import Priority
from presscheck.documents.pages.tree import flatten, semantic_changes
from presscheck.engine.protocols import Reader
from presscheck.engine.reads.scheduler import PREFETCH
from presscheck.engine.review.changes import NOT_COMPARED, changed_items
from presscheck.engine.shared_calls import changed_page, changes_in, live_page, page_in
from presscheck.errors import NotFound, NotSupported

if TYPE_CHECKING:
    from presscheck.api.content import RevisionPage
    from presscheck.api.operation import Operation
    from presscheck.documents.merge.revisions import Conflict

Side = dict[str, Any]
"""A revision as JSON."""


@dataclass(frozen=True)
class UnresolvedPage:
    """A page of a change request with conflict markers."""

    id: str
    title: str


@dataclass(frozen=True)
class Forecast:
    """The problems that a merge would have."""

    conflicts: tuple[Conflict, ...] = ()
    """Conflicts between the change request and main."""
    unresolved: tuple[UnresolvedPage, ...] = ()
    """Pages with conflict markers, which would be visible to readers."""

    @property
    def is_clean(self) -> bool:
        """Whether there are no conflicts and no unresolved pages."""
        return not self.conflicts and not self.unresolved


def was_updated(request: ChangeRequest) -> bool:
    """Return whether a change request was updated from main, which may have left conflict markers."""
    return request.revision_merged_ancestor not in (None, request.revision_initial)


async def forecast(
    engine: Reader, request: ChangeRequest, priority: Priority = PREFETCH, *, reads_all: bool = False
) -> Forecast | None:
    """Forecast the conflicts of a merge.

    Args:
        engine: reads revisions and pages.
        request: the change request.
        priority: the priority of the reads.
        reads_all: search the changed pages for conflict markers even if the change request was never updated from main.

    Returns:
        The forecast, or None if the merge cannot be computed locally.

    Raises:
        PresscheckError: a revision or a page cannot be read.
    """
    unresolved: tuple[UnresolvedPage, ...] = ()
    if reads_all or was_updated(request):
        unresolved = await unresolved_pages(engine, request, priority)
    if not request.outdated:
        return Forecast(unresolved=unresolved)
    conflicts = await _conflicts(engine, request, priority)
    return None if conflicts is None else Forecast(conflicts, unresolved)


async def unresolved_pages(engine: Reader, request: ChangeRequest, priority: Priority) -> tuple[UnresolvedPage, ...]:
    """Find the changed pages with conflict markers.

    Raises:
        PresscheckError: a page cannot be read.
    """
    # 2 ms, only for change requests that were updated from main
    from presscheck.documents.merge.conflict_blocks import unresolved_conflicts

    changes = await engine.read(changes_in(request), priority=priority)
    if changes.more:
        changes = await engine.read(changes_in(request, len(changes.changes) + changes.more), priority=priority)
    found: list[UnresolvedPage] = []
    for item in changed_items(changes.changes):
        if item.has_text and not {"added", "edited", NOT_COMPARED}.isdisjoint(item.kinds):
            text = await _text(engine, changed_page(request.space, request.id, item.id), priority)
            unresolved = unresolved_conflicts(text)
            if unresolved and all(block.in_code for block in unresolved):  # may be an example on the live page
                live = await _text(engine, live_page(request.space, item.id), priority)
                unresolved = unresolved_conflicts(text, live)
            if unresolved:
                found.append(UnresolvedPage(item.id, item.title))
    return tuple(found)


async def _text(engine: Reader, call: Operation[RevisionPage], priority: Priority) -> str:
    """Return the Markdown of a page, or an empty text if the page is missing or the service does not return it."""
    try:
        return (await engine.read(call, priority=priority)).markdown or ""
    except (NotFound, NotSupported):
        return ""


async def _conflicts(engine: Reader, request: ChangeRequest, priority: Priority) -> tuple[Conflict, ...] | None:
    from presscheck.documents.merge.revisions import merge_pages  # 11 ms: it loads merge3

    space: dict[str, Any] = {"space_id": request.space}
    base_id = request.revision_merged_ancestor or request.revision_initial
    if not base_id:
        return None
    base = await engine.read(GetRevision(**space, revision_id=base_id), priority=priority)
    ours = await engine.read(GetChangeRequestRevision(**space, change_request_id=request.id), priority=priority)
    theirs = await engine.read(GetCurrentRevision(**space), priority=priority)
    texts: dict[str, str] = {}
    base_json, our_json, their_json = to_json(base), to_json(ours), to_json(theirs)
    for revision, page in both_changed(base_json, our_json, their_json):
        call = page_in(request.space, revision, page["id"])
        text = (await engine.read(call, priority=priority)).markdown or ""
        texts[page["documentId"]] = _body(text)
    try:
        merged = merge_pages(base_json, our_json, their_json, texts.__getitem__, lambda _: "merged")
    except LookupError:
        return None  # a text that no operation returns, such as reusable content
    return tuple(merged.conflicts)


def both_changed(base: Side, ours: Side, theirs: Side) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield pages whose text both sides changed, as (revision id, page) for each revision that has the page."""
    sides = [
        (side["id"], {page["id"]: page for page in flatten(side.get("pages") or [])}) for side in (base, ours, theirs)
    ]
    (_, base_pages), (_, our_pages), (_, their_pages) = sides
    for page_id in our_pages.keys() & their_pages.keys():
        documents = [pages.get(page_id, {}).get("documentId") for pages in (base_pages, our_pages, their_pages)]
        if documents[1] != documents[2] and documents[0] not in documents[1:]:
            for revision, pages in sides:
                if pages.get(page_id, {}).get("documentId"):
                    yield revision, pages[page_id]


def _body(markdown: str) -> str:
    """Remove the title, which the service puts before the text of a page."""
    return markdown.partition("\n\n")[2] if markdown.startswith("# ") else markdown


async def changes_between(reader: Reader, space: str, before: str, after: str) -> SemanticChanges:
    """Compute the changes between two revisions, in the format of a change request's changes.

    Args:
        reader: reads the revisions.
        space: the id of the space.
        before: the id of the older revision.
        after: the id of the newer revision.

    Raises:
        PresscheckError: a revision cannot be read.
    """
    calls = [GetRevision(space_id=space, revision_id=revision) for revision in (before, after)]
    sides = [await reader.read(call, priority=PREFETCH) for call in calls]
    return await asyncio.to_thread(_changes_of, *sides)


def to_json(revision: Revision) -> dict[str, Any]:
    """Return a revision as JSON with the API's field names, without fields missing from the response."""
    return revision.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _changes_of(before: Revision, after: Revision) -> SemanticChanges:
    changes = semantic_changes(to_json(before), to_json(after))
    return SemanticChanges.model_validate({"changes": changes})
