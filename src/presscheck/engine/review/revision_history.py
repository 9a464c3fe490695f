"""The history of a change request: its revisions, newest first, each with its changes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from presscheck.api.change_requests import ChangeRequest, Contributor
from presscheck.api.content import GetRevision, Revision
from presscheck.api.content_changes import GetRevisionChanges, SemanticChanges
from presscheck.api.operation import Operation
from presscheck.api.users import User
from presscheck.engine.protocols import CachedReader
from presscheck.engine.reads.scheduler import PREFETCH

T = TypeVar("T")
SECONDS = len("2026-03-14T12:00:00")
"""The length of a time up to its seconds."""
LIMIT = 100
"""Maximum number of revisions, and of changes in each revision."""


@dataclass(frozen=True)
class Step:
    """A revision and its changes from its parent."""

    revision: Revision
    changes: SemanticChanges


def author_of(revision: Revision, contributors: Sequence[Contributor]) -> User | None:
    """Return the author of a revision, or None if unknown. The service reports no authors of revisions.

    The author of a merge is the user who merged the change request. The author of an edit is the only editor of the
    change request, the only editor whose last edit was at the time of the revision, or else the only editor who made
    an edit after it.
    """
    if revision.merged_from:
        return revision.merged_from.merged_by
    is_edit = revision.type == "edits"
    editors = [contributor for contributor in contributors if is_edit and contributor.action_type == "edit"]
    if len(editors) > 1 and revision.created_at:
        second = revision.created_at[:SECONDS]
        same = [editor for editor in editors if (editor.updated_at or "")[:SECONDS] == second]
        editors = same or [editor for editor in editors if not editor.updated_at or editor.updated_at > second]
    return editors[0].user if len(editors) == 1 else None


async def history(reader: CachedReader, request: ChangeRequest) -> AsyncIterator[Step]:
    """Yield the revisions of a change request, newest first, along the first parents, at most `LIMIT`.

    Raises:
        PresscheckError: a revision cannot be read.
    """
    at = revisions(reader, request.space, request.revision, request.revision_initial)
    for _ in range(LIMIT):
        step = await anext(at, None)
        if step is None:
            return
        yield step


async def revisions(reader: CachedReader, space: str, newest: str, initial: str = "") -> AsyncIterator[Step]:
    """Yield the revisions of a space from `newest` back to `initial` (exclusive), along the first parents.

    Without `initial`, the revisions end with the first revision of the space. `space`, `newest` and `initial` are ids.

    Raises:
        PresscheckError: a revision cannot be read.
    """
    at: str | None = newest
    while at and at != initial:
        revision = await _read_once(reader, GetRevision(space_id=space, revision_id=at, computed=False))
        changes = await _read_once(reader, GetRevisionChanges(space_id=space, revision_id=at, limit=LIMIT))
        yield Step(revision, changes)
        at = revision.parents[0] if revision.parents else None


async def _read_once(reader: CachedReader, call: Operation[T]) -> T:
    """Return the cached response, however old, or read it from the service: revisions never change."""
    known = reader.known(call)
    return known.value if known else await reader.read(call, priority=PREFETCH)
