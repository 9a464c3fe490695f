"""Applies chosen hits to the pages of a change request, unless a page was edited since the search."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from presscheck.api.change_requests import ChangeRequest, CreateChangeRequest
from presscheck.api.comments import Document
from presscheck.api.content_changes import UpdatePage
from presscheck.documents.pages.replacement import Hit, PageText, apply_hits, title_range
from presscheck.documents.pages.tree import flatten
from presscheck.engine.reads.scheduler import REQUESTED
from presscheck.engine.replacement.file_search import FileQuery, hits_with_address, upload
from presscheck.engine.replacement.space_search import PageHits, PageReader, Place, read_pages
from presscheck.engine.review.page_edits import MOST_CHANGES, Writer, send_edits
from presscheck.errors import ChecksFailed, PresscheckError
from presscheck.text.phrases import count

LONGEST_TITLE = 256
"""Maximum number of characters of a page title."""
LARGEST_WRITE = 8 << 20
"""Maximum number of characters of all texts in one write."""


class Editor(PageReader, Writer, Protocol):
    """The parts of the engine that read and write pages."""


@dataclass(frozen=True)
class PageEdit:
    """A page and the hits to replace in it."""

    page: PageHits
    hits: tuple[Hit, ...]


@dataclass(frozen=True)
class Applied:
    """The result of applying hits.

    Attributes:
        request: the change request; None if none was created.
        edited: the ids of pages that were edited since the search; if there are any, no edit was sent.
    """

    request: ChangeRequest | None
    edited: frozenset[str] = frozenset()


def edits_of(pages: Iterable[PageHits], chosen: Mapping[str, Sequence[Hit]]) -> list[PageEdit]:
    """Return the edits for chosen hits, given by page id.

    Raises:
        ChecksFailed: a title would be empty, too long, or have two lines.
    """
    edits = [PageEdit(page, tuple(chosen[page.page.id])) for page in pages if chosen.get(page.page.id)]
    for edit in edits:
        before, title = edit.page.text.title, apply_hits(edit.page.text, edit.hits).title
        if title != before and (problem := _title_problem(title)):
            raise ChecksFailed(f"Nothing was changed: the title of {before} would {problem}")
    return edits


def _title_problem(title: str) -> str:
    if not title.strip():
        return "be empty"
    if "\n" in title:
        return "have two lines"
    return "be too long" if len(title) > LONGEST_TITLE else ""


async def apply_edits(
    engine: Editor,
    place: Place,
    request: ChangeRequest | None,
    edits: Sequence[PageEdit],
    subject: str = "",
    *,
    file: FileQuery | None = None,
) -> Applied:
    """Send the edits in as few writes as possible, unless a page was edited since the search.

    Args:
        engine: reads and writes.
        place: the place where the pages were read.
        request: the change request; None creates a change request from main.
        edits: the edits.
        subject: the subject of the new change request.
        file: the new file to upload first, if the edits replace a file.

    Raises:
        IncompleteApplication: the service refused after some edits were sent or a change request was created.
        PresscheckError: the service refused before any page was changed.
    """
    edited = await edited_pages(engine, place, edits)
    if edited:
        return Applied(request, edited)
    is_new = request is None
    if request is None:
        request = await engine.write(CreateChangeRequest(space_id=place.space, subject=subject)).landed()
        if request is None:
            raise PresscheckError("The service does not tell which change request it created")
        edited = await edited_pages(engine, Place(place.space, request.id), edits)
        if edited:
            return Applied(request, edited)
    sent = 0
    try:
        if file:
            uploaded = await upload(engine, request, file)
            edits = [replace(edit, hits=hits_with_address(edit.hits, uploaded)) for edit in edits]
        for part in _parts([_change(edit) for edit in edits]):
            await send_edits(engine, request, part)
            sent += len(part)
    except PresscheckError as error:
        if not sent and not is_new:
            raise
        raise IncompleteApplication(request, sent, len(edits), error) from error
    return Applied(request)


class IncompleteApplication(ChecksFailed):
    """Only some pages were edited, or no page of a new change request.

    Attributes:
        request: the change request.
    """

    def __init__(self, request: ChangeRequest, sent: int, total: int, error: PresscheckError) -> None:
        self.request = request
        done = f"{sent:,} of {count(total, 'page')}" if sent else "no page"
        super().__init__(f"#{request.number} is not complete, {done} changed: {error.message}")


async def edited_pages(reader: PageReader, place: Place, edits: Sequence[PageEdit]) -> frozenset[str]:
    """Return the ids of pages that were edited or deleted since the search.

    Raises:
        PresscheckError: the pages cannot be read.
    """
    tree = (await reader.read(place.tree(), priority=REQUESTED)).pages
    now = {page.id: page for page in flatten(tree)}
    gone = {edit.page.page.id for edit in edits if edit.page.page.id not in now}
    listed = [now[edit.page.page.id] for edit in edits if edit.page.page.id not in gone]
    texts, unread = await read_pages(reader, place, listed, lambda _: None)
    if unread:
        raise PresscheckError(f"{unread[0].page.title} cannot be read: {unread[0].reason}")
    current: dict[str, PageText] = {page.id: text for page, text in texts}
    return frozenset(gone | {edit.page.page.id for edit in edits if current.get(edit.page.page.id) != edit.page.text})


def _change(edit: PageEdit) -> UpdatePage:
    before = edit.page.text
    after = apply_hits(before, edit.hits)
    given: dict[str, Any] = {}
    if after.markdown is not None and after.markdown != before.markdown:
        given["document"] = Document(markdown=after.markdown)
    # a heading that repeats the title loses its formatting when sent, which would change the title: send the title, too
    if after.title != before.title or ("document" in given and title_range(before)):
        given["title"] = after.title
    if after.description != before.description:
        given["description"] = after.description
    return UpdatePage(page=edit.page.page.id, **given)


def _parts(changes: Sequence[UpdatePage]) -> list[list[UpdatePage]]:
    """Split changes into as few writes as the service accepts."""
    parts: list[list[UpdatePage]] = []
    size = 0
    for change in changes:
        length = len(change.document.markdown or "") if change.document else 0
        if not parts or len(parts[-1]) == MOST_CHANGES or size + length > LARGEST_WRITE:
            parts.append([])
            size = 0
        parts[-1].append(change)
        size += length
    return parts
