"""Reads what the checks of a site need: the site, its structure and settings, and the pages and links of its spaces.

What cannot be read is named, so that a check that lacks it is reported as not done. Page texts come from the cache
where they are current there, and are read by the service otherwise; unchanged pages are examined only once.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeVar

from presscheck.api.content import ListPages, RevisionPage
from presscheck.api.links import Link
from presscheck.api.operation import Operation, Page
from presscheck.api.site_settings import (
    AdaptiveSchema,
    GetAdaptiveSchema,
    GetPublishingAuth,
    ListRedirects,
    ListShareLinks,
    PublishingAuth,
    Redirect,
    ShareLink,
)
from presscheck.api.site_structure import (
    GetSiteStructure,
    SiteSection,
    SiteSectionGroup,
    SiteSpace,
    SiteStructure,
    StructureItem,
)
from presscheck.api.sites import GetSite, Site
from presscheck.api.spaces import GetSpace, Space
from presscheck.client.request_priority import Priority
from presscheck.documents.markdown.links import find_links
from presscheck.documents.merge.conflict_blocks import unresolved_conflicts
from presscheck.documents.pages.tree import flatten
from presscheck.engine.protocols import StoreWorker
from presscheck.engine.reads.listing_guard import ListingGuard
from presscheck.engine.reads.scheduler import REQUESTED
from presscheck.engine.search.backlinks import LinkReader, links_of_space
from presscheck.engine.shared_calls import ALL, live_page
from presscheck.errors import NotFound, NotSupported, PresscheckError
from presscheck.store.cache import Cache
from presscheck.text.phrases import count

T = TypeVar("T")
BATCH = 50
"""Pages that are looked up in the cache at a time, so that the screens' own writes come between."""
AT_ONCE = 8
"""Pages that are read at the same time."""


class SiteReading(LinkReader, StoreWorker, Protocol):
    """What this module needs of the engine."""


class PageFacts(NamedTuple):
    """What checks need of the text of a page; lines count from 1.

    Attributes:
        is_empty: whether there is no text.
        conflicts: the lines at which unresolved conflict markers begin.
        unnamed_images: the lines of images without alternative text.
    """

    is_empty: bool = False
    conflicts: tuple[int, ...] = ()
    unnamed_images: tuple[int, ...] = ()


@dataclass(frozen=True)
class SpaceContent:
    """A space of a site.

    Attributes:
        item: the space in the structure of the site.
        section: the section that it is in.
        space: the space as it is now; as in the structure, if it cannot be read.
        pages: the live page tree.
        facts: about the texts of pages, by page id, as far as they could be read.
        links: the links in the live pages.
    """

    item: SiteSpace
    section: SiteSection | None
    space: Space
    pages: tuple[RevisionPage, ...] = ()
    facts: Mapping[str, PageFacts] = field(default_factory=dict[str, PageFacts])
    links: tuple[Link, ...] = ()

    @property
    def title(self) -> str:
        """Its title in the site."""
        return self.item.title or self.space.title or self.item.space.title


class Unread(NamedTuple):
    """A part of a site that could not be read completely: `name` as in the checks that need it."""

    name: str
    where: str
    reason: str


@dataclass(frozen=True)
class SiteContent:
    """All that the checks of a site examine; parts that could not be read are empty, and in `unread`."""

    site: Site
    structure: SiteStructure
    spaces: tuple[SpaceContent, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    share_links: tuple[ShareLink, ...] = ()
    authentication: PublishingAuth | None = None
    schema: AdaptiveSchema | None = None
    unread: tuple[Unread, ...] = ()


def page_facts(markdown: str) -> PageFacts:
    """What the checks need of a text."""
    return PageFacts(
        is_empty=not markdown.strip(),
        conflicts=tuple(block.first + 1 for block in unresolved_conflicts(markdown)),
        unnamed_images=tuple(link.line for link in find_links(markdown) if link.kind == "image" and not link.text),
    )


def site_spaces(items: Iterable[StructureItem]) -> Iterator[tuple[SiteSpace, SiteSection | None]]:
    """The spaces of a structure in order, each with its section."""
    for item in items:
        if isinstance(item, SiteSpace):
            yield item, None
        elif isinstance(item, SiteSection):
            yield from ((space, item) for space in item.site_spaces)
        elif isinstance(item, SiteSectionGroup):
            yield from site_spaces(item.children)


class SiteReader:
    """Reads sites for their checks; what it found out about unchanged pages is kept for the next time.

    Args:
        engine: reads from the service and from the cache.
    """

    def __init__(self, engine: SiteReading) -> None:
        self._engine = engine
        self._facts: dict[tuple[str, str], tuple[str, PageFacts]] = {}
        """What is known of a page, by space and page, and the id of the text that it was learned from."""

    async def read(self, organization_id: str, site_id: str, *, priority: Priority = REQUESTED) -> SiteContent:
        """All that the checks of a site need.

        Args:
            organization_id: the organization of the site.
            site_id: the site.
            priority: of the reads of page texts, of which there may be thousands.

        Raises:
            PresscheckError: the site or its structure cannot be read.
        """
        path: dict[str, Any] = {"organization_id": organization_id, "site_id": site_id}
        site = await self._engine.read(GetSite(**path))
        structure = await self._engine.read(GetSiteStructure(**path))
        unread: list[Unread] = []

        async def part(name: str, work: Awaitable[T], default: T) -> T:
            try:
                return await work
            except PresscheckError as error:
                unread.append(Unread(name, site.title, error.message))
                return default

        async def schema() -> AdaptiveSchema | None:
            try:
                return await self._engine.read(GetAdaptiveSchema(**path))
            except NotFound:  # a site without adaptive content
                return None

        contained = {item.id: (item, section) for item, section in site_spaces(structure.structure)}
        spaces = [await self._space(item, section, unread, priority) for item, section in contained.values()]
        shared: tuple[ShareLink, ...] = ()
        if site.visibility == "share-link":
            shared = await part("share links", self._all(ListShareLinks(**path)), ())
        authentication: PublishingAuth | None = None
        if site.visibility == "visitor-auth":
            authentication = await part("visitors", self._engine.read(GetPublishingAuth(**path)), None)
        redirects = await part("redirects", self._all(ListRedirects(**path)), ())
        claims = await part("schema", schema(), None)
        return SiteContent(site, structure, tuple(spaces), redirects, shared, authentication, claims, tuple(unread))

    async def _space(
        self, item: SiteSpace, section: SiteSection | None, unread: list[Unread], priority: Priority
    ) -> SpaceContent:
        space, pages, links = item.space, (), ()
        where = item.title or space.title
        facts: dict[str, PageFacts] = {}
        try:
            space = await self._engine.read(GetSpace(space_id=space.id))
        except NotSupported:  # then what the structure says of it must do
            pass
        except PresscheckError as error:
            unread.append(Unread("space", where, error.message))
        try:
            pages = (await self._engine.read(ListPages(space_id=space.id))).pages
            facts, missing = await self._texts(space.id, pages, priority)
            if missing:
                unread.append(Unread("texts", where, f"{count(missing, 'page')} could not be read"))
        except PresscheckError as error:
            unread.append(Unread("pages", where, error.message))
            return SpaceContent(item, section, space)
        try:
            linked = await links_of_space(self._engine, space.id)
            links = linked.items
            if linked.problem or linked.unread:
                reason = (
                    linked.problem.message if linked.problem else f"{count(linked.unread, 'page')} not in the cache"
                )
                unread.append(Unread("links", where, reason))
        except PresscheckError as error:
            unread.append(Unread("links", where, error.message))
        return SpaceContent(item, section, space, pages, facts, links)

    async def _texts(
        self, space: str, pages: Iterable[RevisionPage], priority: Priority
    ) -> tuple[dict[str, PageFacts], int]:
        """The facts about the documents of a tree, by id, and the number of those that could not be read."""
        documents = [page for page in flatten(pages) if page.type == "document"]
        new = [page for page in documents if page.document_id and not self._is_known(space, page)]
        for start in range(0, len(new), BATCH):
            batch = new[start : start + BATCH]
            found = await self._engine.in_store(lambda cache, batch=batch: _stored_facts(cache, space, batch))
            for page in batch:
                if page.id in found and page.document_id:
                    self._facts[space, page.id] = (page.document_id, found[page.id])
        limit = asyncio.Semaphore(AT_ONCE)
        unknown = [page for page in new if not self._is_known(space, page)]
        await asyncio.gather(*(self._fetch(space, page, limit, priority) for page in unknown))
        known = {page.id: self._facts[space, page.id][1] for page in documents if self._is_known(space, page)}
        empty = {page.id: PageFacts(is_empty=True) for page in documents if not page.document_id}
        return known | empty, len(documents) - len(known) - len(empty)

    def _is_known(self, space: str, page: RevisionPage) -> bool:
        version, _ = self._facts.get((space, page.id), ("", None))
        return bool(version) and version == page.document_id

    async def _fetch(self, space: str, page: RevisionPage, limit: asyncio.Semaphore, priority: Priority) -> None:
        async with limit:
            try:
                fetched = await self._engine.read(live_page(space, page.id), priority=priority)
            except PresscheckError:
                return  # counted by the caller
        if page.document_id:
            facts = await asyncio.to_thread(page_facts, fetched.markdown or "")
            self._facts[space, page.id] = (page.document_id, facts)

    async def _all(self, listing: Operation[Page[T]]) -> tuple[T, ...]:
        """All items of a listing.

        Raises:
            PresscheckError: it cannot be read, or does not end.
        """
        guard, found = ListingGuard(listing), list[T]()
        call = listing.model_copy(update={"limit": ALL})
        while True:
            page = await self._engine.read(call)
            found += guard.new_items(page.items)
            if page.next is None:
                return tuple(found)
            problem = guard.problem(page.next.page)
            if problem:
                raise problem
            call = call.model_copy(update={"page": page.next.page})


def _stored_facts(cache: Cache, space: str, pages: Iterable[RevisionPage]) -> dict[str, PageFacts]:
    """The facts about those pages whose current text is in the cache. For the cache's writer thread."""
    found: dict[str, PageFacts] = {}
    for page in pages:
        stored = cache.search.answer(live_page(space, page.id).key())
        body: dict[str, Any] = json.loads(stored.json) if stored else {}
        if body and body.get("documentId") == page.document_id and isinstance(body.get("markdown"), str):
            found[page.id] = page_facts(body["markdown"])
    return found
