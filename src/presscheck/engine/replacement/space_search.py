"""Searches all pages of a space, on main or in a change request. Pages that cannot be read are named."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from presscheck.api.content import ListChangeRequestPages, ListPages, Pages, RevisionPage
from presscheck.api.operation import Operation
from presscheck.documents.pages.replacement import Field, Hit, Match, PageText, Query, hits_of, searched_fields
from presscheck.documents.pages.tree import flatten
from presscheck.engine.connection_state import Status
from presscheck.engine.protocols import Reader, StoredReader
from presscheck.engine.reads.scheduler import REQUESTED
from presscheck.engine.replacement.pattern_search import PatternSearch, started
from presscheck.engine.shared_calls import changed_page, live_page
from presscheck.errors import NetworkError, RequestError

AT_ONCE = 6
"""Pages that are read at the same time."""
SHOW_EVERY = 8
"""Pages after which other tasks run, also if all of them are in the cache."""
Report = Callable[[str], None]
"""Takes the progress, in words."""


class PageReader(Reader, StoredReader, Protocol):
    """Reads from the service and from the cache, and knows whether it is online."""

    @property
    def status(self) -> Status:
        """The state of the connection."""
        ...


@dataclass(frozen=True)
class Place:
    """A space, on main or in a change request; both are ids."""

    space: str
    request: str | None = None

    def tree(self) -> Operation[Pages]:
        """The call that lists its pages."""
        if self.request:
            return ListChangeRequestPages(space_id=self.space, change_request_id=self.request)
        return ListPages(space_id=self.space)

    def page(self, page: str) -> Operation[RevisionPage]:
        """The call that reads a page, by its id."""
        return changed_page(self.space, self.request, page) if self.request else live_page(self.space, page)


@dataclass(frozen=True)
class PageHits:
    """A page as it was read, and its hits.

    Attributes:
        page: the page, without the pages below it.
        text: what was searched.
        hits: the hits in order.
        is_edited: whether somebody else edited the page after its hits were shown first.
    """

    page: RevisionPage
    text: PageText
    hits: tuple[Hit, ...]
    is_edited: bool = False


@dataclass(frozen=True)
class UnreadPage:
    """A page that was not searched, and why."""

    page: RevisionPage
    reason: str


@dataclass(frozen=True)
class SpaceHits:
    """The result of a search.

    Attributes:
        query: what was searched.
        pages: the pages with hits, in the order of the tree.
        unread: the pages that were not searched.
        searched: how many pages were searched.
        is_offline: whether only the cache was searched.
    """

    query: Query
    pages: tuple[PageHits, ...]
    unread: tuple[UnreadPage, ...]
    searched: int
    is_offline: bool

    @property
    def count(self) -> int:
        """The number of hits."""
        return sum(len(page.hits) for page in self.pages)


async def search_space(reader: PageReader, place: Place, query: Query, report: Report) -> SpaceHits:
    """Search all pages.

    Args:
        reader: reads the pages.
        place: the space.
        query: what to find.
        report: shows the progress.

    Raises:
        InvalidArgument: the query is invalid, takes too long, or finds too much.
        PresscheckError: the pages cannot be listed.
    """
    async with started(query) as search:
        pages = list(flatten((await reader.read(place.tree(), priority=REQUESTED)).pages))
        texts, unread = await read_pages(reader, place, pages, report)
        found = await _search(search, query, texts, report)
    is_offline = not reader.status.online
    return SpaceHits(query, tuple(found), tuple(unread), len(texts), is_offline)


async def search_again(reader: PageReader, place: Place, hits: SpaceHits, edited: Iterable[str]) -> SpaceHits:
    """Search the pages again that others edited, by their ids; the other pages stay as they are.

    Raises:
        InvalidArgument: the query takes too long, or finds too much.
        PresscheckError: the pages cannot be listed.
    """
    ids = frozenset(edited)
    async with started(hits.query) as search:
        tree = list(flatten((await reader.read(place.tree(), priority=REQUESTED)).pages))
        texts, unread = await read_pages(reader, place, [page for page in tree if page.id in ids], _no_report)
        found = await _search(search, hits.query, texts, _no_report)
    new = {page.page.id: replace(page, is_edited=True) for page in found}
    kept = {page.page.id: page for page in hits.pages if page.page.id not in ids}
    pages = tuple((kept | new)[page.id] for page in tree if page.id in kept | new)
    others = tuple(page for page in hits.unread if page.page.id not in ids)
    return replace(hits, pages=pages, unread=(*others, *unread))


async def read_pages(
    reader: PageReader, place: Place, pages: Sequence[RevisionPage], report: Report
) -> tuple[list[tuple[RevisionPage, PageText]], list[UnreadPage]]:
    """Read the texts of pages: those that can be read, and those that cannot, each in the order of the pages.

    Args:
        reader: reads the pages.
        place: the space that they are in.
        pages: the pages as the tree lists them.
        report: shows the progress.
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
    found = [results[page.id] for page in pages]
    return [one for one in found if isinstance(one, tuple)], [one for one in found if isinstance(one, UnreadPage)]


async def _read_page(
    reader: PageReader, place: Place, page: RevisionPage
) -> tuple[RevisionPage, PageText] | UnreadPage:
    if page.type == "computed":
        return UnreadPage(page, "its content is computed")
    if page.type != "document":
        return _alone(page), PageText(page.title)
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
    return _alone(read), PageText(read.title, read.description or "", read.markdown)


def _known(reader: PageReader, place: Place, page: RevisionPage) -> RevisionPage | None:
    """The page in the cache, if the tree shows that it has not changed since: documents never change."""
    if page.document_id is None:
        return None
    for call in (place.page(page.id), live_page(place.space, page.id)):
        known = reader.known(call)
        same = known and (known.value.document_id, known.value.title) == (page.document_id, page.title)
        if known and same and known.value.description == page.description:
            return known.value
    return None


def _alone(page: RevisionPage) -> RevisionPage:
    return page.model_copy(update={"pages": (), "markdown": None, "document": None})


async def _search(
    search: PatternSearch, query: Query, texts: Sequence[tuple[RevisionPage, PageText]], report: Report
) -> list[PageHits]:
    found: list[PageHits] = []
    for number, (page, text) in enumerate(texts, 1):
        if number % SHOW_EVERY == 1:
            report(f"Searching page {number:,} of {len(texts):,} …")
        matches: dict[Field, list[Match]] = {}
        for field, content in searched_fields(text).items():
            matches[field] = await search.matches(content, text.title or page.id)
        hits = await _hits(text, matches, in_code=query.in_code)
        if hits:
            found.append(PageHits(page, text, hits))
    return found


async def _hits(text: PageText, matches: Mapping[Field, Sequence[Match]], *, in_code: bool) -> tuple[Hit, ...]:
    if not any(matches.values()):
        return ()
    return await asyncio.to_thread(hits_of, text, matches, in_code=in_code)  # a long page takes a while


def _no_report(_: str) -> None:
    """Show no progress."""


def page_names(pages: Iterable[UnreadPage]) -> str:
    """The titles of pages that were not searched, with the reason of each."""
    by_reason: dict[str, list[str]] = {}
    for unread in pages:
        by_reason.setdefault(unread.reason, []).append(unread.page.title or unread.page.id)
    return "; ".join(f"{', '.join(titles)} ({reason})" for reason, titles in by_reason.items())
