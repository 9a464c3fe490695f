"""The history of a change request: its revisions, the newest first, and what each of them changed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol, TypeVar

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.content import GetRevision, Revision
from presscheck.api.content_changes import GetRevisionChanges, SemanticChanges
from presscheck.api.operation import Operation
from presscheck.engine.protocols import Reader, StoredReader
from presscheck.engine.reads.scheduler import PREFETCH

T = TypeVar("T")
MOST = 100
"""Revisions that are told, and changes that are told of each."""


class RevisionReader(Reader, StoredReader, Protocol):
    """Reads revisions from the store, else from the service."""


@dataclass(frozen=True)
class Step:
    """A revision, and what it changed against the one before."""

    revision: Revision
    changes: SemanticChanges


async def history(reader: RevisionReader, request: ChangeRequest) -> AsyncIterator[Step]:
    """Each revision back to the one that the change request began with, along the first parents.

    Raises:
        PresscheckError: a revision cannot be read.
    """
    at: str | None = request.revision
    for _ in range(MOST):
        if not at or at == request.revision_initial:
            return
        revision = await _lasting(reader, GetRevision(space_id=request.space, revision_id=at, computed=False))
        changes = await _lasting(reader, GetRevisionChanges(space_id=request.space, revision_id=at, limit=MOST))
        yield Step(revision, changes)
        at = revision.parents[0] if revision.parents else None


async def _lasting(reader: RevisionReader, call: Operation[T]) -> T:
    """The answer about a revision, which never changes: what is known is not asked for again."""
    known = reader.known(call)
    return known.value if known else await reader.read(call, priority=PREFETCH)
