"""Edits of pages that are worked out from revisions: where pages are, what their content is, and sending the edits."""

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
"""The most changes that the service takes at once."""
CLEARED: Mapping[str, Any] = {"hidden": False, "no_index": False, "no_robots_index": False}
"""What removes a detail of a page; others are removed by an empty text."""
_NOT_CONTENT = frozenset(("pages", "created_at", "updated_at", "path", "git", "urls", "markdown", "document"))
"""Fields of a page that say nothing of its content."""


class Writer(Reader, Protocol):
    """Reads from the service, and writes to it."""

    def write(self, call: Operation[T]) -> PendingWrite[T]:
        """Send a write."""
        ...


@dataclass
class Place:
    """A page in a tree of pages: its parent, None at the root, and its index among its siblings."""

    page: RevisionPage
    parent: str | None
    index: int


def places_of(pages: Sequence[RevisionPage], parent: str | None = None) -> Iterator[tuple[str, Place]]:
    """The pages of a tree by their ids, each before those below it."""
    for index, page in enumerate(pages):
        yield page.id, Place(page, parent, index)
        yield from places_of(page.pages, page.id)


def content_of(page: RevisionPage) -> Mapping[str, Any]:
    """What readers see of a page, without its place; the text is its `document_id`."""
    return page.model_dump(exclude=set(_NOT_CONTENT))


def detail_to_send(page: RevisionPage, name: str) -> Any:
    """A detail of a page as an edit sets it: what removes it, if the page does not have it."""
    value = getattr(page, name)
    return CLEARED.get(name, "") if value is None else value


async def send_edits(engine: Writer, request: ChangeRequest, changes: Sequence[ContentChange]) -> None:
    """Send edits, as many at once as the service takes.

    Raises:
        PresscheckError: the service refused; what was sent before stays.
    """
    for at in range(0, len(changes), MOST_CHANGES):
        part = tuple(changes[at : at + MOST_CHANGES])
        edit = EditChangeRequestContent(space_id=request.space, change_request_id=request.id, changes=part)
        await engine.write(edit).landed()
