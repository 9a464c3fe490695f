"""Forecasts the conflicts of a merge or an update by merging both sides locally, page by page.

The service has no dry run, and a merge with conflicts cannot be undone. It also compares a revision only with its
parents, so the changes between any two revisions are computed here. Reads go through the cache, so that a forecast also
works offline if the pages are cached.
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
from presscheck.engine.shared_calls import page_in

if TYPE_CHECKING:
    from presscheck.documents.merge.revisions import Conflict

Side = dict[str, Any]
"""A revision as JSON."""


@dataclass(frozen=True)
class Forecast:
    """The conflicts between both sides; empty if they can be merged without any."""

    conflicts: tuple[Conflict, ...] = ()


async def forecast(engine: Reader, request: ChangeRequest, priority: Priority = PREFETCH) -> Forecast | None:
    """Forecast the result of a merge; None if that is not possible.

    Raises:
        PresscheckError: a revision or a page cannot be read.
    """
    from presscheck.documents.merge.revisions import merge_pages  # 11 ms: it loads merge3

    if not request.outdated:
        return Forecast()
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
        return None  # no operation returns the text, as for reusable content
    return Forecast(tuple(merged.conflicts))


def both_changed(base: Side, ours: Side, theirs: Side) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The pages whose text both sides changed, as (revision id, page) for each revision that has the page."""
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
    """The text of a page without its title, which the service puts before the text."""
    return markdown.partition("\n\n")[2] if markdown.startswith("# ") else markdown


async def changes_between(reader: Reader, space: str, before: str, after: str) -> SemanticChanges:
    """The changes between two revisions, in the form of the changes of a change request.

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
    """A revision as JSON with the API's field names, without fields that were not sent."""
    return revision.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _changes_of(before: Revision, after: Revision) -> SemanticChanges:
    changes = semantic_changes(to_json(before), to_json(after))
    return SemanticChanges.model_validate({"changes": changes})
