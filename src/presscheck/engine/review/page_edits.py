"""Helpers for edits that are computed from revisions: the places and contents of pages, and sending the edits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.content import RevisionPage
from presscheck.api.content_changes import ContentChange, EditChangeRequestContent
from presscheck.api.operation import Operation
from presscheck.engine.protocols import Reader
from presscheck.engine.writes.pending_writes import PendingWrite

T = TypeVar("T")
MOST_CHANGES = 50
"""Maximum number of changes in one request."""
CLEARED: Mapping[str, Any] = {"hidden": False, "no_index": False, "no_robots_index": False}
"""Values that remove a detail of a page; all other details are removed by an empty text."""
_NOT_CONTENT = frozenset(("pages", "created_at", "updated_at", "path", "git", "urls", "markdown", "document"))
"""Fields that are not part of a page's content."""


class Writer(Reader, Protocol):
    """A reader from the service that also sends writes."""

    def write(self, call: Operation[T]) -> PendingWrite[T]:
        """Send a write."""
        ...


@dataclass
class Place:
    """The place of a page in the page tree: its parent (None at the root) and its index among its siblings."""

    page: RevisionPage
    parent: str | None
    index: int


def places_of(pages: Sequence[RevisionPage], parent: str | None = None) -> Iterator[tuple[str, Place]]:
    """Yield the pages of a tree with their ids, each page before its descendants."""
    for index, page in enumerate(pages):
        yield page.id, Place(page, parent, index)
        yield from places_of(page.pages, page.id)


def content_of(page: RevisionPage) -> Mapping[str, Any]:
    """Return the content of a page, without its place; the `document_id` stands for the text."""
    return page.model_dump(exclude=set(_NOT_CONTENT))


def detail_to_send(page: RevisionPage, name: str) -> Any:
    """Return the value of a page's detail for an edit; for a missing detail, the value that removes it."""
    value = getattr(page, name)
    return CLEARED.get(name, "") if value is None else value


async def send_edits(engine: Writer, request: ChangeRequest, changes: Sequence[ContentChange]) -> None:
    """Send edits in requests of at most `MOST_CHANGES` changes.

    Raises:
        PresscheckError: the service refused a request; the effects of earlier requests stay.
    """
    for at in range(0, len(changes), MOST_CHANGES):
        part = tuple(changes[at : at + MOST_CHANGES])
        edit = EditChangeRequestContent(space_id=request.space, change_request_id=request.id, changes=part)
        await engine.write(edit).landed()
