"""The data for the checks of a site: its structure and settings, and the pages and links of its spaces.

Parts that cannot be read are listed, so that checks that need them are reported as not run. Page texts come from the
cache if they are current there, and from the service otherwise. A space with an unchanged revision is not read again;
in a changed space, only changed pages are examined. The facts found in a text are cached with the id of the text, so
that the next run examines only changed texts.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from pydantic_core import from_json

from presscheck.api.change_requests import ChangeRequest, ListChangeRequests
from presscheck.api.comments import Comment, CommentTarget, ListSpaceComments
from presscheck.api.content import GetPage, ListPages, ListRevisionPages, RevisionPage
from presscheck.api.links import Link
from presscheck.api.openapi import ListOpenAPISpecs, OpenAPISpec
from presscheck.api.site_settings import (
    AdaptiveSchema,
    GetAdaptiveSchema,
    GetPublishingAuth,
    ListRedirects,
    ListShareLinks,
    PublishingAuth,
    ShareLink,
)
from presscheck.api.site_structure import (
    GetSiteStructure,
    SiteSection,
    SiteSpace,
)
from presscheck.api.sites import GetSite, ListSites, Site
from presscheck.api.spaces import GetSpace, Space
from presscheck.client.request_priority import Priority
from presscheck.documents.markdown.spec_references import SpecReference
from presscheck.documents.nodes.comment_targets import CellIds, cell_words, has_block
from presscheck.documents.pages.tree import flatten
from presscheck.documents.sites.content import (
    NOTHING_FOUND,
    FormerSpace,
    IncomingLink,
    PageFacts,
    PublishedSpace,
    PublishedState,
    SiteContent,
    SpaceContent,
    Unread,
    page_facts,
    spec_addresses,
)
from presscheck.documents.visitors.conditional_text import ConditionMistake
from presscheck.engine.protocols import StoreWorker
from presscheck.engine.publish.site_structure import site_spaces
from presscheck.engine.reads.listing_guard import whole_listing
from presscheck.engine.reads.scheduler import REQUESTED
from presscheck.engine.search.backlinks import LinkReader, links_of_space
from presscheck.engine.shared_calls import live_page, live_page_keys
from presscheck.errors import NotFound, NotSupported, PresscheckError
from presscheck.store.cache import Cache
from presscheck.text.phrases import count

T = TypeVar("T")
BATCH = 125
"""Number of pages that are looked up in the cache at a time."""
SECONDS = 0.02
"""Seconds after which a lookup of pages in the cache pauses, so that the screens' own writes are not held up."""
FACTS = "facts of pages 5"
"""Prefix of the cache keys of facts. Its number must change when the result of `page_facts` changes."""
AT_ONCE = 8
"""Maximum number of pages read concurrently."""


class SiteReading(LinkReader, StoreWorker, Protocol):
    """The parts of the engine that this module needs."""


KnownFacts = dict[str, tuple[str, PageFacts]]
"""Facts by page id, each with the id of the examined text."""


class SiteReader:
    """A reader of sites for their checks, which reuses results for unchanged spaces and pages.

    Args:
        engine: reads from the service and from the cache.
    """

    def __init__(self, engine: SiteReading) -> None:
        self._engine = engine
        self._facts: dict[str, KnownFacts] = {}
        """Facts about pages, by space id."""
        self._trees: dict[str, tuple[str, SpaceContent]] = {}
        """The revision and the content of completely read spaces, by space id."""
        self._linked: dict[str, tuple[tuple[str, ...], tuple[Link, ...]]] = {}
        """The completely read links of spaces and the revisions that they depend on, by space id."""
        self._revisions: tuple[str, ...] = ()
        """The revisions of all spaces of the site: a change in one space can break links in another."""
        self._former: dict[tuple[str, str], tuple[RevisionPage, ...]] = {}
        """The pages of old revisions, by space id and revision id."""
        self._gone: dict[tuple[str, str], bool] = {}
        """Whether a commented block or cell is gone, by the id of the page's text and the block or cell."""

    async def read(
        self,
        organization_id: str,
        site_id: str,
        *,
        priority: Priority = REQUESTED,
        published: PublishedState | None = None,
    ) -> SiteContent:
        """Read the data for the checks of a site.

        Args:
            organization_id: the id of the site's organization.
            site_id: the id of the site.
            priority: the priority for reading page texts, of which there may be thousands.
            published: the last published state, if it is known.

        Raises:
            PresscheckError: the site or its structure cannot be read.
        """
        path: dict[str, Any] = {"organization_id": organization_id, "site_id": site_id}
        site, structure = await asyncio.gather(
            self._engine.read(GetSite(**path)), self._engine.read(GetSiteStructure(**path))
        )
        unread: list[Unread] = []

        async def part(name: str, work: Awaitable[T], default: T, *, where: str = site.title) -> T:
            try:
                return await work
            except PresscheckError as error:
                unread.append(Unread(name, where, error.message))
                return default

        async def schema() -> AdaptiveSchema | None:
            try:
                return await self._engine.read(GetAdaptiveSchema(**path))
            except NotFound:  # a site without adaptive content
                return None

        contained = {item.id: (item, section) for item, section in site_spaces(structure.structure)}
        self._revisions = tuple(sorted(f"{item.space.id} {item.space.revision}" for item, _ in contained.values()))
        spaces = await asyncio.gather(
            *(self._space(item, section, unread, priority) for item, section in contained.values())
        )
        shared: tuple[ShareLink, ...] = ()
        if site.visibility == "share-link":
            shared = await part("share links", whole_listing(self._engine, ListShareLinks(**path)), ())
        authentication: PublishingAuth | None = None
        if site.visibility == "visitor-auth":
            authentication = await part("visitors", self._engine.read(GetPublishingAuth(**path)), None)  # pyrefly: ignore[bad-argument-type]
        specs: tuple[OpenAPISpec, ...] | None = ()
        if any(facts.specs for space in spaces for facts in space.facts.values()):
            specs = await part(
                "specifications", whole_listing(self._engine, ListOpenAPISpecs(organization_id=organization_id)), None
            )
            unread += _outside_specs(spaces, specs or ())
        redirects, claims, incoming = await asyncio.gather(
            part("redirects", whole_listing(self._engine, ListRedirects(**path)), ()),
            part("schema", schema(), None),
            part("links of other sites", self._incoming(organization_id, site, spaces, unread), ()),
        )
        former = [
            FormerSpace(space, await part("published pages", self._pages_then(space, spaces), (), where=space.title))
            for space in (published.spaces if published else ())
        ]
        return SiteContent(
            site,
            structure,
            tuple(spaces),
            redirects,
            shared,
            authentication,
            claims,
            tuple(unread),
            published,
            tuple(former),
            specs,
            incoming,
        )

    async def _space(
        self, item: SiteSpace, section: SiteSection | None, unread: list[Unread], priority: Priority
    ) -> SpaceContent:
        space, where = item.space, item.title or item.space.title
        revision, known = self._trees.get(space.id, ("", None))
        # the structure, which was read just now, has the current revision
        if known and revision and revision == space.revision:
            links = await self._links(space.id, space.revision, where, unread)
            content = replace(known, item=item, section=section, space=space, links=links)
            return await self._with_reviews(content, where, unread)
        try:
            space = await self._engine.read(GetSpace(space_id=space.id))
        except NotSupported:  # use the space in the structure
            pass
        except PresscheckError as error:
            unread.append(Unread("space", where, error.message))
        own: list[Unread] = []
        content = await self._tree(SpaceContent(item, section, space), where, own, priority)
        unread += own
        if space.revision and not own:
            self._trees[space.id] = (space.revision, content)
        return await self._with_reviews(content, where, unread)

    async def _with_reviews(self, content: SpaceContent, where: str, unread: list[Unread]) -> SpaceContent:
        """Add the parts of a space that change without a new revision: comments and change requests."""
        outdated, requests = await asyncio.gather(
            self._outdated(content, where, unread), self._requests(content.space, where, unread)
        )
        return replace(content, outdated=outdated, requests=requests)

    async def _requests(self, space: Space, where: str, unread: list[Unread]) -> tuple[ChangeRequest, ...]:
        """Read the open change requests of a space; an error is added to `unread`."""
        if "change_requests_open" in space.model_fields_set and not space.change_requests_open:
            return ()
        try:
            return await whole_listing(self._engine, ListChangeRequests(space_id=space.id, status="open"))
        except PresscheckError as error:
            unread.append(Unread("change requests", where, error.message))
            return ()

    async def _tree(self, content: SpaceContent, where: str, unread: list[Unread], priority: Priority) -> SpaceContent:
        """Add the pages of a space, the facts about them, and the links; errors are added to `unread`."""
        space = content.space
        try:
            pages = (await self._engine.read(ListPages(space_id=space.id))).pages
            facts, missing = await self._texts(space.id, pages, priority)
        except PresscheckError as error:
            unread.append(Unread("pages", where, error.message))
            return content
        if missing:
            unread.append(Unread("texts", where, f"{count(missing, 'page')} could not be read"))
        links = await self._links(space.id, space.revision, where, unread)
        return replace(content, pages=pages, facts=facts, links=links)

    async def _links(
        self, space: str, revision: str, where: str, unread: list[Unread], part: str = "links"
    ) -> tuple[Link, ...]:
        """Read the links of a space. If links are missing, the reason is added to `unread`."""
        depends_on = (revision, *self._revisions)
        known_of, known = self._linked.get(space, ((), ()))
        if revision and known_of == depends_on:
            return known
        try:
            linked = await links_of_space(self._engine, space)
        except PresscheckError as error:
            unread.append(Unread(part, where, error.message))
            return ()
        if linked.problem or linked.unread:
            reason = linked.problem.message if linked.problem else f"{count(linked.unread, 'page')} not in the cache"
            unread.append(Unread(part, where, reason))
        elif revision:
            self._linked[space] = (depends_on, linked.items)
        return linked.items

    async def _incoming(
        self, organization_id: str, site: Site, own: Iterable[SpaceContent], unread: list[Unread]
    ) -> tuple[IncomingLink, ...]:
        """Read the links to the site from other published sites.

        Raises:
            PresscheckError: the sites cannot be listed.
        """
        spaces = {space.space.id: space.by_id for space in own}
        address = (site.urls.published or "").rstrip("/")
        found: dict[str, tuple[str, Space]] = {}
        for other in await whole_listing(self._engine, ListSites(organization_id=organization_id)):
            if other.id == site.id or not other.published:
                continue
            call = GetSiteStructure(organization_id=organization_id, site_id=other.id)
            try:
                structure = await self._engine.read(call)
            except PresscheckError as error:
                unread.append(Unread("links of other sites", other.title, error.message))
                continue
            for item, _ in site_spaces(structure.structure):
                if item.space.id not in spaces:
                    found.setdefault(item.space.id, (f"{other.title}: {item.title or item.space.title}", item.space))
        incoming: list[IncomingLink] = []
        for where, space in found.values():
            links = await self._links(space.id, space.revision, where, unread, "links of other sites")
            for link in links:
                target = link.target_reference
                url = (target.url or "") if target else ""
                in_space = target.space.id if target and target.space else ""
                is_page = bool(target and target.kind == "page" and target.page and in_space in spaces)
                if not is_page and not (address and (url == address or url.startswith((f"{address}/", f"{address}#")))):
                    continue
                page_id = target.page.id if is_page and target and target.page else ""
                incoming += [
                    IncomingLink(f"{where}: {place.page.title}", space.id, place.page.id, page_id, url)
                    for place in link.location_references
                    if place.page
                ]
        return tuple(incoming)

    async def _pages_then(self, then: PublishedSpace, now: Iterable[SpaceContent]) -> tuple[RevisionPage, ...]:
        """Read the pages of a space as it was published.

        Raises:
            PresscheckError: the pages cannot be read.
        """
        same = next((space for space in now if space.space.id == then.space), None)
        if same and same.pages and same.space.revision == then.revision:
            return same.pages
        key = (then.space, then.revision)
        if key not in self._former:
            call = ListRevisionPages(space_id=then.space, revision_id=then.revision)
            self._former[key] = (await self._engine.read(call)).pages
        return self._former[key]

    async def _outdated(self, content: SpaceContent, where: str, unread: list[Unread]) -> tuple[str, ...]:
        """Return the page id of each open comment whose text is gone; an empty id if the page is gone, too.

        An error is added to `unread`.
        """
        space = content.space
        if not space.comments:
            return ()
        call = ListSpaceComments(space_id=space.id, status="open", format="markdown")
        try:
            comments = await whole_listing(self._engine, call)
            return tuple([page async for page in self._pages_of_outdated(content, comments)])
        except PresscheckError as error:
            unread.append(Unread("comments", where, error.message))
            return ()

    async def _pages_of_outdated(self, content: SpaceContent, comments: Iterable[Comment]) -> AsyncIterator[str]:
        for comment in comments:
            about = comment.target
            page_id = about.page.id if about.page else None
            if page_id and page_id not in content.by_id:
                yield ""
            elif page_id and await self._is_gone(content.space.id, content.by_id[page_id], about):
                yield page_id

    async def _is_gone(self, space: str, page: RevisionPage, about: CommentTarget) -> bool:
        """Return whether the commented block or cell is no longer on the page. False for a comment on a whole page."""
        cell, node = about.table_cell, (about.node and about.node.id) or ""
        if not (cell or node):
            return False
        key = (page.document_id or "", f"{cell.record} {cell.definition}" if cell else node)
        if key not in self._gone:
            call = GetPage(space_id=space, page_id=page.id, format="document")
            document = (await self._engine.read(call)).document or {}
            is_there = (
                bool(cell_words(document, CellIds(cell.record, cell.definition))) if cell else has_block(document, node)
            )
            self._gone[key] = not is_there
        return self._gone[key]

    async def _texts(
        self, space: str, pages: Iterable[RevisionPage], priority: Priority
    ) -> tuple[dict[str, PageFacts], int]:
        """Return the facts about the documents of a tree by page id, and the number of unreadable documents."""
        documents = [page for page in flatten(pages) if page.type == "document"]
        if space in self._facts:
            rest = _unknown(self._facts[space], documents)
        else:
            self._facts[space], rest = await self._engine.in_store(lambda cache: _first_facts(cache, space, documents))
        known, is_new = self._facts[space], bool(rest)
        while rest:
            found, rest = await self._engine.in_store(lambda cache, rest=rest: _stored_facts(cache, space, rest))
            known |= found
        limit = asyncio.Semaphore(AT_ONCE)
        unread = _unknown(known, documents)
        await asyncio.gather(*(self._fetch(space, page, known, limit, priority) for page in unread))
        missing = {page.id for page in _unknown(known, unread)}
        if is_new or len(missing) < len(unread):
            current = _current(known, documents)
            await self._engine.in_store(lambda cache: _keep_facts(cache, space, current))
        facts = {
            page.id: known[page.id][1] if page.document_id else PageFacts(is_empty=True)
            for page in documents
            if page.id not in missing
        }
        return facts, len(missing)

    async def _fetch(
        self, space: str, page: RevisionPage, known: KnownFacts, limit: asyncio.Semaphore, priority: Priority
    ) -> None:
        async with limit:
            try:
                fetched = await self._engine.read(live_page(space, page.id), priority=priority)
            except PresscheckError:
                return  # counted by the caller
        if page.document_id:
            known[page.id] = (page.document_id, await asyncio.to_thread(page_facts, fetched.markdown or ""))


def _outside_specs(spaces: Iterable[SpaceContent], specs: Iterable[OpenAPISpec]) -> Iterator[Unread]:
    """Yield an unread part for each space that names specifications at URLs outside the organization.

    The files of a space are not outside: the check of links finds missing ones.
    """
    known = spec_addresses(specs)
    for space in spaces:
        names = {name for facts in space.facts.values() for name in facts.specs}
        outside = sorted({spec.name for spec in names if spec.is_url and spec.name not in known})
        if outside:
            yield Unread("specifications", space.title, f"outside the service: {', '.join(outside)}")


def _unknown(known: KnownFacts, pages: Iterable[RevisionPage]) -> list[RevisionPage]:
    """Return the pages whose current text was not examined yet."""
    nothing = ("", None)
    return [page for page in pages if page.document_id and known.get(page.id, nothing)[0] != page.document_id]


def _current(known: KnownFacts, documents: Iterable[RevisionPage]) -> KnownFacts:
    """Return the known facts about the given pages, without facts about deleted pages."""
    return {page.id: known[page.id] for page in documents if page.id in known}


def _first_facts(
    cache: Cache, space: str, documents: Sequence[RevisionPage]
) -> tuple[KnownFacts, Sequence[RevisionPage]]:
    """Return the stored facts about the pages of a space, and the pages that were not looked up in time.

    Runs in the cache's writer thread.
    """
    kept = _kept_facts(cache, space)
    found, rest = _stored_facts(cache, space, _unknown(kept, documents))
    known = kept | found
    if found and not rest:
        _keep_facts(cache, space, _current(known, documents))
    return known, rest


def _stored_facts(cache: Cache, space: str, pages: Sequence[RevisionPage]) -> tuple[KnownFacts, Sequence[RevisionPage]]:
    """Return the facts about pages whose current text is cached, and the pages that were not looked up in time.

    Runs in the cache's writer thread.
    """
    found: KnownFacts = {}
    ends = time.monotonic() + SECONDS
    for start in range(0, len(pages), BATCH):
        if time.monotonic() > ends:
            return found, pages[start:]
        batch = pages[start : start + BATCH]
        texts = cached_texts(cache, space, batch)
        found |= {page.id: (page.document_id or "", page_facts(texts[page.id])) for page in batch if page.id in texts}
    return found, ()


def cached_texts(cache: Cache, space: str, pages: Sequence[RevisionPage]) -> dict[str, str]:
    """Return the current texts of live pages by page id, without pages whose current text is not cached.

    Runs in the cache's writer thread.
    """
    keys = live_page_keys(space, (page.id for page in pages))
    stored = cache.for_writing(keys.values())
    texts: dict[str, str] = {}
    for page in pages:
        entry = stored.get(keys[page.id])
        body = _body(entry.json) if entry else {}
        text = body.get("markdown")
        if page.document_id and body.get("documentId") == page.document_id and isinstance(text, str):
            texts[page.id] = text
    return texts


def _body(text: str) -> dict[str, Any]:
    """Parse a cached page. Return an empty object if that fails, so that the page is fetched again."""
    try:
        return from_json(text, cache_strings="keys")  # three times as fast as `json` for a text
    except ValueError:
        return {}


def _keep_facts(cache: Cache, space: str, known: KnownFacts) -> None:
    """Store the facts about the pages of a space for the next run. Runs in the cache's writer thread."""
    rows = {page: (text,) if facts == NOTHING_FOUND else (text, *facts) for page, (text, facts) in known.items()}
    cache.keep(f"{FACTS} {space}", json.dumps({"pages": rows}).encode(), time.time())


def _kept_facts(cache: Cache, space: str) -> KnownFacts:
    """Return the facts that an earlier run stored about the pages of a space. Runs in the cache's writer thread."""
    stored = cache.for_writing([f"{FACTS} {space}"]).get(f"{FACTS} {space}")
    rows: dict[str, list[Any]] = json.loads(stored.json)["pages"] if stored else {}
    return {page: (text, _facts(*found) if found else NOTHING_FOUND) for page, (text, *found) in rows.items()}


def _facts(
    is_empty: bool = False,  # parameters in the order of the stored row
    conflicts: Iterable[int] = (),
    images: Iterable[int] = (),
    specs: Iterable[tuple[str, int, bool]] = (),
    conditions: Iterable[tuple[int, str]] = (),
) -> PageFacts:
    return PageFacts(
        is_empty,
        tuple(conflicts),
        tuple(images),
        tuple(SpecReference(*spec) for spec in specs),
        tuple(ConditionMistake(*mistake) for mistake in conditions),
    )
