"""Searching what the cache holds: the index is read up a little at a time, where it keeps nobody waiting."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from presscheck.desk.desk import Desk
    from presscheck.store.cache import Cache
    from presscheck.store.search import Entry

AT_ONCE = 8
"""Answers that are read up in one transaction."""
LULL = 2.0
"""Seconds after something new came, before it is read up."""
PAUSE = 0.02
"""Seconds between two transactions, in which others have the thread."""


@dataclass(frozen=True)
class Hit:
    """Something that was found in the cache.

    Attributes:
        kind: page, change-request or comment.
        change_request: the id of the one that it is in; empty for a page that is live.
        title: of a comment, who said it.
        excerpt: the text around the match.
    """

    kind: str
    id: str
    space: str
    space_title: str
    change_request: str
    title: str
    path: str
    excerpt: str
    address: str


class Searching:
    """The index of one desk."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._reading: asyncio.Task[None] | None = None

    def came(self) -> None:
        """Something new is in the cache: read it up in a while."""
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(self._read_in_a_while())

    async def close(self) -> None:
        """Stop; what is not read up stays noted."""
        if self._reading:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    async def catch_up(self, patience: float) -> bool:
        """Read up what is noted; False where that would take longer than so many seconds."""
        ends = time.monotonic() + patience
        while await self._desk.in_store(_fill):
            if time.monotonic() > ends:
                return False
        return True

    async def search(self, text: str, most: int, spaces: Sequence[str] | None, patience: float) -> tuple[Hit, ...]:
        """See `Desk.search`."""
        from presscheck.documents.search_words import asked_phrases

        asked = asked_phrases(text)
        if not asked:
            return ()
        if not await self.catch_up(patience):
            self.came()
        query = " AND ".join(f'"{words}"{" *" if goes_on else ""}' for words, goes_on in asked)
        found = await self._desk.in_store(lambda cache: _find(cache, query, most, spaces))
        titles = {space: _title(self._desk, space) for space in {entry.space for entry, _ in found}}
        return tuple(_hits(found, titles, [words for words, _ in asked]))

    async def _read_in_a_while(self) -> None:
        await asyncio.sleep(LULL)
        while await self._desk.in_store(_fill):
            await asyncio.sleep(PAUSE)


def _fill(cache: Cache) -> int:
    from presscheck.desk.searchable import read_source

    return cache.search.fill(read_source, AT_ONCE)


def _find(cache: Cache, query: str, most: int, spaces: Sequence[str] | None) -> list[tuple[Entry, str]]:
    return _without_twins(cache.search.find(query, 2 * most, spaces))[:most]


def _without_twins(found: list[tuple[Entry, str]]) -> list[tuple[Entry, str]]:
    """A page is shown once: as it is live, where that fits too, or as it is in the change request that fits best."""
    live = {(entry.space, entry.id) for entry, _ in found if entry.kind == "page" and not entry.change_request}
    kept: list[tuple[Entry, str]] = []
    seen: set[tuple[str, str, str]] = set()
    for entry, words in found:
        name = (entry.kind, entry.space, entry.id)
        is_twin = entry.kind == "page" and entry.change_request and name[1:] in live
        if not is_twin and name not in seen:
            seen.add(name)
            kept.append((entry, words))
    return kept


def _hits(found: list[tuple[Entry, str]], titles: dict[str, str], phrases: list[str]) -> Iterable[Hit]:
    from presscheck.documents.page_words import excerpt

    for entry, words in found:
        yield Hit(
            kind=entry.kind,
            id=entry.id,
            space=entry.space,
            space_title=titles[entry.space],
            change_request=entry.change_request,
            title=entry.title,
            path=entry.path,
            excerpt=excerpt(entry.body or "", words, phrases),
            address=entry.address,
        )


def _title(desk: Desk, space: str) -> str:
    text = desk.resource("space", space)
    found: dict[str, Any] = json.loads(text) if text else {}
    return found.get("title") or ""
