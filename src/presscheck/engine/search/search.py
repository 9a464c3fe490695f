"""Searching what the cache holds, and then what the service has.

The index is read up a little at a time, where it keeps nobody waiting; everything here is done off the thread of the
screen.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from presscheck.api.organizations import ListOrganizations, SearchOrganization
from presscheck.api.search_results import SearchPageResult, SearchSpaceResult
from presscheck.client.responses import read_answer
from presscheck.documents.markdown.plain_text import excerpt
from presscheck.documents.markdown.search_terms import query_phrases
from presscheck.engine.reads.service_reads import ServiceReads
from presscheck.engine.results import Result
from presscheck.engine.search.index_updates import IndexUpdates, InStore
from presscheck.errors import NetworkError, PresscheckError
from presscheck.store.search_index import SearchIndex

if TYPE_CHECKING:
    from presscheck.engine.search.backlinks import LinksHere

LONG = 60.0
"""Seconds in which what came lately is read up before links are told."""
LONGEST = 512
"""Characters of a query that the service takes."""


@dataclass(frozen=True)
class Hit:
    """Something that was found.

    Attributes:
        kind: page, change-request or comment.
        change_request: the id of the one that it is in; empty for a page that is live.
        page: its id, or that of the page that a comment is on.
        path: of a page; of a comment, the id of the one that its thread begins with.
        title: of a comment, who said it.
        excerpt: the text around the match.
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


class Searching:
    """Searches the store first, then the service.

    Args:
        reads: asks the service.
        in_store: runs work on the thread that writes the cache.
        index: brings the index up to date before it is asked.
    """

    def __init__(self, reads: ServiceReads, in_store: InStore, index: IndexUpdates) -> None:
        self._reads, self._in_store, self._index = reads, in_store, index

    async def search(
        self, text: str, most: int, organization: str | None, patience: float, *, here_only: bool
    ) -> AsyncIterator[Result[tuple[Hit, ...]]]:
        """See `Engine.search`."""
        here = await self._here(text, most, organization, patience)
        yield Result(here, "cached", 0.0)
        if here_only or not text.strip():
            return
        try:
            there = await self._there(text, organization)
        except PresscheckError as error:
            yield Result(here, "offline" if isinstance(error, NetworkError) else "failed", 0.0, error)
            return
        known = {(hit.space, hit.id) for hit in here if hit.kind == "page" and not hit.change_request}
        news = [hit for hit in there if (hit.space, hit.id) not in known]
        # what is seen already stays where it is, whatever the service would put first
        yield Result((*here, *news)[:most], "fresh" if news else "unchanged", 0.0)

    async def links(self, space: str, change_request: str | None) -> LinksHere | None:
        """See `Engine.links_here`."""
        from presscheck.engine.search.backlinks import links_in  # 20 ms, only for backlinks

        await self._index.catch_up(LONG)
        return await self._in_store(lambda cache: links_in(cache, space, change_request))

    async def _here(self, text: str, most: int, organization: str | None, patience: float) -> tuple[Hit, ...]:
        asked = query_phrases(text)
        if not asked:
            return ()
        await self._index.catch_up(patience)
        return await self._in_store(lambda cache: _look(cache.search, asked, most, organization))

    async def _there(self, text: str, organization: str | None) -> list[Hit]:
        names = [organization]
        if organization is None:
            known = self._reads.stored.known(ListOrganizations())
            names = [one.id for one in (known.value if known else await self._reads.read(ListOrganizations())).items]
        calls = [SearchOrganization(organization_id=name or "", query=text[:LONGEST]) for name in names]
        bodies = await asyncio.gather(*(self._reads.fetch(call) for call in calls))
        answers = [read_answer(call, body, None) for call, body in zip(calls, bodies, strict=True)]
        return [_told(space, page) for answer in answers for space in answer.items for page in space.pages]


def _look(index: SearchIndex, asked: list[tuple[str, bool]], most: int, organization: str | None) -> tuple[Hit, ...]:
    query = " AND ".join(f'"{words}"{" *" if goes_on else ""}' for words, goes_on in asked)
    phrases = [words for words, _ in asked]
    spaces = None if organization is None else index.spaces_of(organization)
    found = index.find(query, most, spaces)
    titles = {space: _title(index, space) for space in {entry.space for entry in found}}
    return tuple(
        Hit(
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
        for entry in found
    )


def _told(space: SearchSpaceResult, page: SearchPageResult) -> Hit:
    """What the service found."""
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
