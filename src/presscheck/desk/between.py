"""What changed from one revision of a space to another: compared here, for the service compares with parents alone."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from presscheck.api.changes import SemanticChanges
from presscheck.api.content import GetRevision, Revision
from presscheck.desk.asking import NEXT
from presscheck.documents.pages.tree import semantic_changes

if TYPE_CHECKING:
    from presscheck.desk.desk import Desk


async def changes_between(desk: Desk, space: str, before: str, after: str) -> SemanticChanges:
    """All that changed, in the words in which the service tells the changes of a change request.

    Args:
        desk: where to ask.
        space: the id of the space.
        before: the id of a revision.
        after: the id of a later one.

    Raises:
        PresscheckError: a revision cannot be read.
    """
    calls = [GetRevision(space_id=space, revision_id=one) for one in (before, after)]
    sides = [await desk.read(call, priority=NEXT) for call in calls]
    return await asyncio.to_thread(_compared, *sides)


def as_on_the_wire(revision: Revision) -> dict[str, Any]:
    """A revision by the names of the wire, with what was sent and nothing more."""
    return revision.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _compared(before: Revision, after: Revision) -> SemanticChanges:
    found = semantic_changes(as_on_the_wire(before), as_on_the_wire(after))
    return SemanticChanges.model_validate({"changes": found})
