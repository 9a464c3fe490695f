"""Search for a text or a file in all pages of a space, on main or in a change request; lists unreadable pages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Protocol

from presscheck.api.content import (
    GetChangeRequestRevision,
    GetCurrentRevision,
    ListChangeRequestPages,
    ListPages,
    Pages,
    Revision,
    RevisionPage,
)
from presscheck.api.operation import Operation
from presscheck.documents.pages.replacement import Field, Hit, Match, PageText, Query, hits_of, searched_fields
from presscheck.documents.pages.tree import flatten
from presscheck.engine.connection import Status
from presscheck.engine.protocols import Reader, StoredReader
from presscheck.engine.reads.scheduler import REQUESTED
from presscheck.engine.replacement.file_search import FilePlaces, FileQuery, KeptPlace
from presscheck.engine.replacement.pattern_search import PatternSearch, started
from presscheck.engine.shared_calls import changed_page, live_page
from presscheck.errors import NetworkError, RequestError

AT_ONCE = 6
"""Maximum number of pages read concurrently."""
SHOW_EVERY = 8
"""Number of pages after which the progress is reported and, while pages are read, other tasks can run."""
Report = Callable[[str], None]
"""A function that is called with the progress in words."""


class PageReader(Reader, StoredReader, Protocol):
    """A reader from the service and from the cache, which reports whether the service can be reached."""

    @property
    def status(self) -> Status:
        """The state of the connection."""
        ...


@dataclass(frozen=True)
class Place:
    """A space, or a change request in it, whose pages are searched. `request` is None for main."""

    space: str
    request: str | None = None

    def tree(self) -> Operation[Pages]:
        """Return the call that lists the pages."""
        if self.request:
            return ListChangeRequestPages(space_id=self.space, change_request_id=self.request)
        return ListPages(space_id=self.space)

    def revision(self) -> Operation[Revision]:
        """Return the call that reads pages, files and reusable content."""
        if self.request:
            return GetChangeRequestRevision(space_id=self.space, change_request_id=self.request)
        return GetCurrentRevision(space_id=self.space)

    def page(self, page: str) -> Operation[RevisionPage]:
        """Return the call that reads the page with an id."""
        return changed_page(self.space, self.request, page) if self.request else live_page(self.space, page)


@dataclass(frozen=True)
class PageHits:
    """A page at the time of the search, and its hits.

    Attributes:
        page: the page, without its child pages.
        text: the searched text.
        hits: the hits in order.
        is_edited: whether somebody else edited the page after its hits were first shown.
    """

    page: RevisionPage
    text: PageText
    hits: tuple[Hit, ...]
    is_edited: bool = False


@dataclass(frozen=True)
class UnreadPage:
    """A page that was not searched, and the reason."""

    page: RevisionPage
    reason: str


@dataclass(frozen=True)
class SpaceHits:
    """The result of a search.

    Attributes:
        query: the query.
        pages: the pages with hits, in the order of the tree.
        unread: the pages that were not searched.
        searched: the number of searched pages.
        is_offline: whether only cached pages were searched.
        kept: the places that show the file but cannot be edited.
    """

    query: Query | FileQuery
    pages: tuple[PageHits, ...]
    unread: tuple[UnreadPage, ...]
    searched: int
    is_offline: bool
    kept: tuple[KeptPlace, ...] = ()

    @property
    def count(self) -> int:
        """The number of hits."""
        return sum(len(page.hits) for page in self.pages)


async def search_space(reader: PageReader, place: Place, query: Query | FileQuery, report: Report) -> SpaceHits:
    """Search all pages of a space.

    Args:
        reader: reads the pages.
        place: the space or change request.
        query: the text or file to find.
        report: called with the progress.

    Raises:
        InvalidArgument: the query is invalid, takes too long, or has too many matches.
        PresscheckError: the pages cannot be listed.
    """
    async with _started(reader, place, query) as search:
        texts, unread = await read_pages(reader, place, list(flatten(search.pages)), report)
        found = await _search(search, texts, report)
        kept = await search.kept(reader, place.space)
    is_offline = not reader.status.online
    return SpaceHits(query, tuple(found), tuple(unread), len(texts), is_offline, kept)


async def search_again(reader: PageReader, place: Place, hits: SpaceHits, edited: Iterable[str]) -> SpaceHits:
    """Search the pages with the ids `edited` again, and keep the results of all other pages.

    Raises:
        InvalidArgument: the query takes too long or has too many matches.
        PresscheckError: the pages cannot be listed.
    """
    ids = frozenset(edited)
    async with _started(reader, place, hits.query) as search:
        tree = list(flatten(search.pages))
        texts, unread = await read_pages(reader, place, [page for page in tree if page.id in ids], _no_report)
        found = await _search(search, texts, _no_report)
    new = {page.page.id: replace(page, is_edited=True) for page in found}
    kept = {page.page.id: page for page in hits.pages if page.page.id not in ids}
    pages = tuple((kept | new)[page.id] for page in tree if page.id in kept | new)
    others = tuple(page for page in hits.unread if page.page.id not in ids)
    return replace(hits, pages=pages, unread=(*others, *unread))


class _Search(Protocol):
    """A started search: the pages of a space, and the hits on each page."""

    @property
    def pages(self) -> tuple[RevisionPage, ...]:
        """The tree of pages."""
        ...

    async def hits(self, page: RevisionPage, text: PageText) -> tuple[Hit, ...]:
        """Return the hits on a page in order."""
        ...

    async def kept(self, reader: Reader, space_id: str) -> tuple[KeptPlace, ...]:
        """Return the places with the searched file that cannot be edited."""
        ...


@asynccontextmanager
async def _started(reader: PageReader, place: Place, query: Query | FileQuery) -> AsyncGenerator[_Search]:
    if isinstance(query, FileQuery):
        yield FilePlaces(query, await reader.read(place.revision(), priority=REQUESTED))
        return
    async with started(query) as patterns:
        yield _TextSearch(query, patterns, (await reader.read(place.tree(), priority=REQUESTED)).pages)


class _TextSearch:
    """A search for a text.

    Args:
        query: the text.
        patterns: the process that searches texts.
        pages: the tree of pages.
    """

    def __init__(self, query: Query, patterns: PatternSearch, pages: tuple[RevisionPage, ...]) -> None:
        self._query, self._patterns, self.pages = query, patterns, pages

    async def hits(self, page: RevisionPage, text: PageText) -> tuple[Hit, ...]:
        """Return the hits in title, description and Markdown."""
        matches: dict[Field, list[Match]] = {}
        for field, content in searched_fields(text).items():
            matches[field] = await self._patterns.matches(content, text.title or page.id)
        if not any(matches.values()):
            return ()
        # in a thread, because a long page takes a while
        return await asyncio.to_thread(hits_of, text, matches, in_code=self._query.in_code)

    async def kept(self, reader: Reader, space_id: str) -> tuple[KeptPlace, ...]:
        """Return no places: texts are searched only in pages."""
        return ()


async def read_pages(
    reader: PageReader, place: Place, pages: Sequence[RevisionPage], report: Report
) -> tuple[list[tuple[RevisionPage, PageText]], list[UnreadPage]]:
    """Read the texts of pages.

    Args:
        reader: reads the pages.
        place: the space or change request of the pages.
        pages: the pages as listed in the tree.
        report: called with the progress.

    Returns:
        The read pages with their texts, and the unreadable pages, both in the order of `pages`.
    """
    results: dict[str, tuple[RevisionPage, PageText] | UnreadPage] = {}
    queue = iter(pages)

    async def work() -> None:
        for page in queue:
            results[page.id] = await _read_page(reader, place, page)
            if len(results) % SHOW_EVERY == 0:
                report(f"Reading page {len(results):,} of {len(pages):,} …")
                await asyncio.sleep(0)

    report(f"Reading {len(pages):,} pages …")
    await asyncio.gather(*(work() for _ in range(AT_ONCE)))
    ordered = [results[page.id] for page in pages]
    unread = [result for result in ordered if isinstance(result, UnreadPage)]
    return [result for result in ordered if isinstance(result, tuple)], unread


async def _read_page(
    reader: PageReader, place: Place, page: RevisionPage
) -> tuple[RevisionPage, PageText] | UnreadPage:
    if page.type == "computed":
        return UnreadPage(page, "its content is computed")
    if page.type != "document":
        return _without_children(page), PageText(page.title)
    read = _known(reader, place, page)
    if read is None:
        try:
            read = await reader.read(place.page(page.id), priority=REQUESTED)
        except NetworkError:
            reason = "could not be reached" if reader.status.online else "not in the cache"
            return UnreadPage(page, reason)
        except RequestError as error:
            return UnreadPage(page, error.message)
    if read.markdown is None:
        return UnreadPage(page, "the service has no Markdown of it")
    return _without_children(read), PageText(read.title, read.description or "", read.markdown)


def _known(reader: PageReader, place: Place, page: RevisionPage) -> RevisionPage | None:
    """Return the cached page if it is current, or None.

    A cached page is current if it has the document, title and description from the tree: a document with the same id
    never changes.
    """
    if page.document_id is None:
        return None
    for call in (place.page(page.id), live_page(place.space, page.id)):
        known = reader.known(call)
        same = known and (known.value.document_id, known.value.title) == (page.document_id, page.title)
        if known and same and known.value.description == page.description:
            return known.value
    return None


def _without_children(page: RevisionPage) -> RevisionPage:
    return page.model_copy(update={"pages": (), "markdown": None, "document": None})


async def _search(search: _Search, texts: Sequence[tuple[RevisionPage, PageText]], report: Report) -> list[PageHits]:
    found: list[PageHits] = []
    for number, (page, text) in enumerate(texts, 1):
        if number % SHOW_EVERY == 1:
            report(f"Searching page {number:,} of {len(texts):,} …")
        if hits := await search.hits(page, text):
            found.append(PageHits(page, text, hits))
    return found


def _no_report(_: str) -> None:
    """Ignore the progress."""


def page_names(pages: Iterable[UnreadPage]) -> str:
    """Join the titles of pages that were not searched, grouped by reason."""
    by_reason: dict[str, list[str]] = {}
    for unread in pages:
        by_reason.setdefault(unread.reason, []).append(unread.page.title or unread.page.id)
    return "; ".join(f"{', '.join(titles)} ({reason})" for reason, titles in by_reason.items())
