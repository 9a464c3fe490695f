"""What a merge or an update would come to, before it is sent: both sides joined here, page by page.

The service offers no dry run, and what it merged with conflicts stays merged. It compares a revision with its parents
alone, so what changed between any two is compared here too. What is asked goes through the store, so that a forecast
can be made without a connection where the pages were seen before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.content import GetChangeRequestRevision, GetCurrentRevision, GetRevision, Revision
from presscheck.api.content_changes import SemanticChanges
from presscheck.client.request_context import Priority
from presscheck.documents.pages.tree import flatten, semantic_changes
from presscheck.engine.protocols import Reader
from presscheck.engine.reads.scheduler import PREFETCH
from presscheck.engine.shared_calls import page_in

if TYPE_CHECKING:
    from presscheck.documents.merge.revisions import Conflict

Side = dict[str, Any]
"""A revision as on the wire."""


@dataclass(frozen=True)
class Forecast:
    """What both sides changed in the same places; nothing where they fit together."""

    conflicts: tuple[Conflict, ...] = ()


async def forecast(engine: Reader, request: ChangeRequest, priority: Priority = PREFETCH) -> Forecast | None:
    """What a merge would come to; None where that cannot be told.

    Raises:
        PresscheckError: a side cannot be read.
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
    was, here, there = as_on_the_wire(base), as_on_the_wire(ours), as_on_the_wire(theirs)
    for revision, page in both_changed(was, here, there):
        call = page_in(request.space, revision, page["id"])
        text = (await engine.read(call, priority=priority)).markdown or ""
        texts[page["documentId"]] = _body(text)
    try:
        merged = merge_pages(was, here, there, texts.__getitem__, _kept)
    except LookupError:
        return None  # something that no call gives the text of, such as a piece of content that pages share
    return Forecast(tuple(merged.conflicts))


def both_changed(base: Side, ours: Side, theirs: Side) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The pages whose texts both sides changed, and the id of each revision that has them."""
    was, here, there = ({page["id"]: page for page in flatten(one.get("pages") or [])} for one in (base, ours, theirs))
    for page_id in here.keys() & there.keys():
        documents = [side.get(page_id, {}).get("documentId") for side in (was, here, there)]
        if documents[1] != documents[2] and documents[0] not in documents[1:]:
            for revision, side in ((base, was), (ours, here), (theirs, there)):
                if side.get(page_id, {}).get("documentId"):
                    yield revision["id"], side[page_id]


def _kept(_: str) -> str:
    """Where the joined text would be: nobody reads it."""
    return "joined"


def _body(markdown: str) -> str:
    """A page's text without the title, which the service puts before it and which is told apart from it."""
    return markdown.partition("\n\n")[2] if markdown.startswith("# ") else markdown


async def changes_between(reader: Reader, space: str, before: str, after: str) -> SemanticChanges:
    """All that changed, in the words in which the service tells the changes of a change request.

    Args:
        reader: asks for the revisions.
        space: the id of the space.
        before: the id of a revision.
        after: the id of a later one.

    Raises:
        PresscheckError: a revision cannot be read.
    """
    calls = [GetRevision(space_id=space, revision_id=one) for one in (before, after)]
    sides = [await reader.read(call, priority=PREFETCH) for call in calls]
    return await asyncio.to_thread(_changes_of, *sides)


def as_on_the_wire(revision: Revision) -> dict[str, Any]:
    """A revision by the names of the wire, with what was sent and nothing more."""
    return revision.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _changes_of(before: Revision, after: Revision) -> SemanticChanges:
    found = semantic_changes(as_on_the_wire(before), as_on_the_wire(after))
    return SemanticChanges.model_validate({"changes": found})
