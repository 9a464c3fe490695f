"""Searching what the cache holds, and then what the service has.

The index is read up a little at a time, where it keeps nobody waiting; everything here is done off the thread of the
screen.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from presscheck.desk.seen import Seen
from presscheck.errors import NetworkError, PresscheckError

if TYPE_CHECKING:
    from presscheck.api.search_results import SearchPageResult, SearchSpaceResult
    from presscheck.desk.desk import Desk
    from presscheck.desk.linking import LinksHere
    from presscheck.store.cache import Cache
    from presscheck.store.search import SearchIndex

T = TypeVar("T")
LULL = 2.0
"""Seconds after something new came, before it is read up."""
PAUSE = 0.02
"""Seconds between two transactions, in which others have the thread."""
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


class InStore(Protocol):
    """What does something to the cache, on its writing thread."""

    def __call__(self, work: Callable[[Cache], T], /) -> Awaitable[T]:
        """Its answer."""
        ...


class Searching:
    """The index of one desk."""

    def __init__(self, desk: Desk, in_store: InStore) -> None:
        self._desk, self._in_store = desk, in_store
        self._reading: asyncio.Task[None] | None = None
        self._has_news = False

    def came(self) -> None:
        """Something new is in the cache: read it up in a while."""
        self._has_news = True
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(self._read_in_a_while())

    async def close(self) -> None:
        """Stop; what is not read up stays noted."""
        if self._reading:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    async def search(
        self, text: str, most: int, organization: str | None, patience: float, *, here_only: bool
    ) -> AsyncIterator[Seen[tuple[Hit, ...]]]:
        """See `Desk.search`."""
        here = await self._here(text, most, organization, patience)
        yield Seen(here, "cached", 0.0)
        if here_only or not text.strip():
            return
        try:
            there = await self._there(text, organization)
        except PresscheckError as error:
            yield Seen(here, "offline" if isinstance(error, NetworkError) else "failed", 0.0, error)
            return
        known = {(hit.space, hit.id) for hit in here if hit.kind == "page" and not hit.change_request}
        news = [hit for hit in there if (hit.space, hit.id) not in known]
        # what is seen already stays where it is, whatever the service would put first
        yield Seen((*here, *news)[:most], "fresh" if news else "unchanged", 0.0)

    async def links(self, space: str, change_request: str | None) -> LinksHere | None:
        """See `Desk.links_here`."""
        from presscheck.desk.linking import links_in

        await self.catch_up(LONG)
        return await self._in_store(lambda cache: links_in(cache, space, change_request))

    async def catch_up(self, patience: float) -> None:
        """Read up what is noted; the rest later, where that takes longer than so many seconds."""
        ends = time.monotonic() + patience
        while await self._in_store(_fill):
            if time.monotonic() > ends:
                self.came()
                return

    async def _here(self, text: str, most: int, organization: str | None, patience: float) -> tuple[Hit, ...]:
        from presscheck.documents.markdown.search_terms import query_phrases

        asked = query_phrases(text)
        if not asked:
            return ()
        await self.catch_up(patience)
        return await self._in_store(lambda cache: _look(cache.search, asked, most, organization))

    async def _there(self, text: str, organization: str | None) -> list[Hit]:
        from presscheck.api.organizations import ListOrganizations, SearchOrganization
        from presscheck.client.answers import read_answer

        names = [organization]
        if organization is None:
            known = self._desk.known(ListOrganizations())
            names = [one.id for one in (known.value if known else await self._desk.read(ListOrganizations())).items]
        calls = [SearchOrganization(organization_id=name or "", query=text[:LONGEST]) for name in names]
        bodies = await asyncio.gather(*(self._desk.fetch(call) for call in calls))
        answers = [read_answer(call, body, None) for call, body in zip(calls, bodies, strict=True)]
        return [_told(space, page) for answer in answers for space in answer.items for page in space.pages]

    async def _read_in_a_while(self) -> None:
        while self._has_news:
            self._has_news = False
            await asyncio.sleep(LULL)
            while await self._in_store(_fill):  # noqa: ASYNC110  # it is work, not a condition
                await asyncio.sleep(PAUSE)


def _fill(cache: Cache) -> int:
    index = cache.search
    if not index.waiting():
        return 0  # and nothing is imported for it
    from presscheck.desk.searchable import read_source

    return index.fill(read_source)


def _look(index: SearchIndex, asked: list[tuple[str, bool]], most: int, organization: str | None) -> tuple[Hit, ...]:
    from presscheck.documents.markdown.plain_text import excerpt

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
