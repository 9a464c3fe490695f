"""Full-text search, first in the cached content, then in the service.

Cached content is searched in the cache's writer thread, so that the user interface is not blocked.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from presscheck.api.organizations import ListOrganizations, SearchOrganization
from presscheck.api.search_results import SearchPageResult, SearchSpaceResult
from presscheck.client.responses import read_answer
from presscheck.engine.reads.cached_reads import IndexUpdates, InStore, ServiceReads
from presscheck.engine.results import Result
from presscheck.errors import NetworkError, PresscheckError
from presscheck.store.search_index import SearchIndex

if TYPE_CHECKING:
    from presscheck.engine.search.backlinks import LocalLinks, OtherUses

LINKS_INDEX_TIMEOUT = 60.0
"""Maximum number of seconds to update the index before links are read from the index."""
MAX_QUERY_LENGTH = 512
"""Maximum number of characters of a query that the service accepts."""


@dataclass(frozen=True)
class Hit:
    """A search result.

    Attributes:
        kind: `page`, `change-request` or `comment`.
        change_request: the id of the change request that contains the page or comment; empty for live content.
        page: the id of the page, or of the page that a comment is on.
        path: the path of a page; for a comment, the id of the first comment of its thread.
        title: the title; for a comment, the name of its author.
        excerpt: the text around the match.
        address: the URL in the service's own app.
    """

    kind: str
    id: str
    space: str
    space_title: str
    change_request: str
    page: str
    title: str
    path: str
    excerpt: str
    address: str


class Search:
    """A search in the cached content first, then in the service.

    Args:
        reads: reads from the service.
        in_store: runs a function on the cache in its writer thread.
        index: updates the index before a search.
    """

    def __init__(self, reads: ServiceReads, in_store: InStore, index: IndexUpdates) -> None:
        self._reads, self._in_store, self._index = reads, in_store, index

    async def search(
        self, text: str, limit: int, organization: str | None, index_timeout: float, *, local_only: bool
    ) -> AsyncIterator[Result[tuple[Hit, ...]]]:
        """See `Engine.search`."""
        local = await self._search_local(text, limit, organization, index_timeout)
        yield Result(local, "cached", 0.0)
        if local_only or not text.strip():
            return
        try:
            remote = await self._search_service(text, organization)
        except PresscheckError as error:
            yield Result(local, "offline" if isinstance(error, NetworkError) else "failed", 0.0, error)
            return
        known = {(hit.space, hit.id) for hit in local if hit.kind == "page" and not hit.change_request}
        new = [hit for hit in remote if (hit.space, hit.id) not in known]
        # visible hits keep their positions, whatever the order of the service
        yield Result((*local, *new)[:limit], "fresh" if new else "unchanged", 0.0)

    async def links(self, space: str, change_request: str | None) -> LocalLinks | None:
        """See `Engine.local_links`."""
        from presscheck.engine.search.backlinks import links_in  # 20 ms, only for backlinks

        await self._index.catch_up(LINKS_INDEX_TIMEOUT)
        local = await self._in_store(lambda cache: links_in(cache, space, change_request))
        if local:
            await asyncio.to_thread(lambda: local.links.usages)  # parses pages
        return local

    async def uses_elsewhere(self, space: str, addresses: frozenset[str]) -> OtherUses:
        """See `Engine.uses_elsewhere`."""
        from presscheck.engine.search.backlinks import uses_elsewhere  # 20 ms, only for backlinks

        await self._index.catch_up(LINKS_INDEX_TIMEOUT)
        return await self._in_store(lambda cache: uses_elsewhere(cache, space, addresses))

    async def specification_uses(self, organization: str, names: frozenset[str]) -> OtherUses:
        """See `Engine.specification_uses`."""
        from presscheck.engine.search.backlinks import specification_uses  # 20 ms, only for backlinks

        return await self._in_store(lambda cache: specification_uses(cache, organization, names))

    async def _search_local(
        self, text: str, limit: int, organization: str | None, index_timeout: float
    ) -> tuple[Hit, ...]:
        from presscheck.documents.markdown.search_terms import query_phrases  # 3 ms, only for a search

        terms = query_phrases(text)
        if not terms:
            return ()
        await self._index.catch_up(index_timeout)
        return await self._in_store(lambda cache: _find(cache.search, terms, limit, organization))

    async def _search_service(self, text: str, organization: str | None) -> list[Hit]:
        names = [organization]
        if organization is None:
            known = self._reads.stored.known(ListOrganizations())
            organizations = known.value if known else await self._reads.read(ListOrganizations())
            names = [item.id for item in organizations.items]
        calls = [SearchOrganization(organization_id=name or "", query=text[:MAX_QUERY_LENGTH]) for name in names]
        bodies = await asyncio.gather(*(self._reads.fetch(call) for call in calls))
        answers = [read_answer(call, body, None) for call, body in zip(calls, bodies, strict=True)]
        return [_service_hit(space, page) for answer in answers for space in answer.items for page in space.pages]


def _find(index: SearchIndex, terms: list[tuple[str, bool]], limit: int, organization: str | None) -> tuple[Hit, ...]:
    from presscheck.documents.markdown.plain_text import excerpt  # 12 ms, only for a search

    query = " AND ".join(f'"{words}"{" *" if is_prefix else ""}' for words, is_prefix in terms)
    phrases = [words for words, _ in terms]
    spaces = None if organization is None else index.spaces_of(organization)
    found = index.find(query, limit, spaces)
    titles = {space: _title(index, space) for space in {entry.space for entry in found}}
    live = {(entry.space, entry.id) for entry in found if entry.kind == "page" and not entry.change_request}
    hits: list[Hit] = []
    for entry in found:
        hit = Hit(
            kind=entry.kind,
            id=entry.id,
            space=entry.space,
            space_title=titles[entry.space],
            change_request=entry.change_request,
            page=entry.page,
            title=entry.title,
            path=entry.path,
            excerpt=excerpt(entry.body or "", entry.words[2], phrases),
            address=entry.address,
        )
        if entry.kind != "document":
            hits.append(hit)
            continue
        for page in _including(index, hit):
            if (page.space, page.id) not in live:
                live.add((page.space, page.id))
                hits.append(page)
    return tuple(hits[:limit])


def _including(index: SearchIndex, hit: Hit) -> list[Hit]:
    """Return the pages that include the document of a hit as reusable content."""
    from presscheck.engine.search.backlinks import pages_including  # 20 ms, only for hits in reusable content

    return [
        replace(
            hit,
            kind="page",
            id=page.id,
            page=page.id,
            title=page.title,
            path=page.path or "",
            address=page.urls.app or "" if page.urls else "",
        )
        for page in pages_including(index, hit.space, hit.id)
    ]


def _service_hit(space: SearchSpaceResult, page: SearchPageResult) -> Hit:
    bodies = [section.body for section in page.sections or () if section.body]
    return Hit(
        kind="page",
        id=page.id,
        space=space.id,
        space_title=space.title,
        change_request="",
        page=page.id,
        title=page.title,
        path=page.path,
        excerpt=" ".join((bodies[0] if bodies else page.description or "").split()),
        address=page.urls.app or "",
    )


def _title(index: SearchIndex, space: str) -> str:
    text = index.thing("space", space)
    found: dict[str, Any] = json.loads(text) if text else {}
    return found.get("title") or ""
