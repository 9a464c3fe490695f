"""Loads the content of a space and its links; where the service cannot list the links, from the texts of its pages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from presscheck.api.change_requests import ChangeRequest, GetChangeRequest
from presscheck.api.content import GetChangeRequestRevision, GetCurrentRevision, ListPages, Revision, RevisionPage
from presscheck.api.links import (
    Link,
    Links,
    ListChangeRequestFileBacklinks,
    ListChangeRequestPageLinks,
    ListPageLinks,
)
from presscheck.api.operation import Operation
from presscheck.api.spaces import GetSpace, Space
from presscheck.documents.pages.tree import flatten
from presscheck.engine.reads.scheduler import BACKGROUND
from presscheck.engine.results import Result
from presscheck.engine.search.backlinks import Linked, links_of_space
from presscheck.engine.shared_calls import ALL, changed_page, live_page
from presscheck.errors import NetworkError, NotSupported, PresscheckError, RequestError

if TYPE_CHECKING:
    from presscheck.api.content import RevisionFile
    from presscheck.engine.protocols import Reader
    from presscheck.tui.screens.space_content.model import SpaceContent
    from presscheck.tui.ui.screen_context import ScreenContext

MOST_PAGES = 500
"""Pages whose texts are read for their links; in a larger space the others are counted as not read."""
MOST_PARTS = 50
"""Parts of the list of links of one page that are read."""
AT_ONCE = 8
"""Pages that are read at the same time."""
T = TypeVar("T")


class ContentLoader:
    """Subscribes to the content of a space, and lists its links after each change.

    Args:
        screen: the screen that shows them.
        model: what is loaded.
        on_change: called after the model has changed.
    """

    def __init__(self, screen: ScreenContext, model: SpaceContent, on_change: Callable[[], None]) -> None:
        self._screen, self._model, self._on_change = screen, model, on_change
        self._read: dict[str, str | None] = {}
        """The documents whose text was requested, by the id of their page."""
        self.progress = ""
        """How many texts of pages are read, while they are."""

    def start(self) -> None:
        """Show what is cached, then subscribe to what is new."""
        space, request = self._model.space_id, self._model.change_request_id
        self._subscribe(GetSpace(space_id=space), self._take_space, "space")
        content: Operation[Revision] = GetCurrentRevision(space_id=space)
        if request:
            path: dict[str, Any] = {"space_id": space, "change_request_id": request}
            self._subscribe(GetChangeRequest(**path), self._take_request, "request")
            content = GetChangeRequestRevision(**path)
        self._subscribe(content, self._take_content, "content")

    def _subscribe(self, call: Operation[T], take: Callable[[Result[T | None]], None], group: str) -> None:
        self._screen.subscribe(self._screen.engine.watch(call), take, group=group, shows_errors=False)

    def _take_space(self, result: Result[Space | None]) -> None:
        self._model.space = result.value or self._model.space
        self._on_change()

    def _take_request(self, result: Result[ChangeRequest | None]) -> None:
        self._model.request = result.value or self._model.request
        self._on_change()

    def _take_content(self, result: Result[Revision | None]) -> None:
        model = self._model
        model.revision = result.value or model.revision
        model.error = result.error
        model.age = result.age if result.state == "offline" and result.value else None
        if result.state != "cached":
            model.is_loaded = True
        self._on_change()
        if result.state != "cached" or model.linked is None:
            self._screen.run(self._load_links, group="links", exclusive=True)

    async def _load_links(self) -> None:
        try:
            async for linked in self._links():
                self._model.set_links(linked)
                self._on_change()
        except RequestError as error:
            self._model.links_error = error
        finally:
            self.progress = ""
        self._on_change()

    async def _links(self) -> AsyncIterator[Linked[Link]]:
        """The links as the service lists them; else those of the cached pages, and again after all pages are read."""
        model, engine = self._model, self._screen.engine
        if model.change_request_id is None:
            linked = await links_of_space(engine, model.space_id)
            yield linked
            if linked.is_from_service or not engine.status.online:
                return
        if model.revision is None:
            if model.change_request_id and model.error:
                raise model.error
            return
        yield await self._cached_links()
        if engine.status.online and model.is_loaded and await self._read_pages(await self._outdated(model.revision)):
            yield await self._cached_links()

    async def _cached_links(self) -> Linked[Link]:
        model = self._model
        local = await self._screen.engine.local_links(model.space_id, model.change_request_id)
        if local is None:
            return Linked((), is_from_service=False)
        items = tuple(local.links.as_links(local.links.usages))
        return Linked(items, is_from_service=False, unread=len(local.unread))

    async def _outdated(self, revision: Revision) -> list[RevisionPage]:
        """The pages whose text is not cached, and those that the change request changes: theirs may be an older one."""
        pages = [page for page in flatten(revision.pages) if page.type == "document" and page.document_id]
        local = await self._screen.engine.local_links(self._model.space_id, self._model.change_request_id)
        unread = set(local.unread) if local else {page.id for page in pages}
        live = await self._live_documents() if self._model.change_request_id else None
        return [
            page
            for page in pages
            if self._read.get(page.id) != page.document_id
            and (page.id in unread or (live is not None and live.get(page.id) != page.document_id))
        ]

    async def _live_documents(self) -> dict[str, str | None]:
        try:
            live = await self._screen.engine.read(ListPages(space_id=self._model.space_id), priority=BACKGROUND)
        except PresscheckError:
            return {}  # then all pages are read
        return {page.id: page.document_id for page in flatten(live.pages)}

    async def _read_pages(self, pages: list[RevisionPage]) -> bool:
        """Read the texts of pages into the cache; returns whether any was read."""
        pages, done = pages[:MOST_PAGES], 0
        for first in range(0, len(pages), AT_ONCE):
            self.progress = f"reading the links of page {first + 1} of {len(pages)} …"
            self._on_change()
            part = pages[first : first + AT_ONCE]
            done += sum(await asyncio.gather(*(self._read_page(page) for page in part)))
        return bool(done)

    async def _read_page(self, page: RevisionPage) -> bool:
        space, request = self._model.space_id, self._model.change_request_id
        call: Operation[Any] = changed_page(space, request, page.id) if request else live_page(space, page.id)
        try:
            await self._screen.engine.read(call, priority=BACKGROUND)
        except NetworkError:
            raise
        except RequestError:
            return False  # it stays in the number of pages that are not read
        self._read[page.id] = page.document_id
        return True


async def links_of_page(engine: Reader, model: SpaceContent, page_id: str) -> list[Link]:
    """The links of one page as the service lists them now.

    Raises:
        PresscheckError: it cannot list them.
    """
    request, found = model.change_request_id, list[Link]()
    call: Operation[Links] = (
        ListChangeRequestPageLinks(space_id=model.space_id, change_request_id=request, page_id=page_id, limit=ALL)
        if request
        else ListPageLinks(space_id=model.space_id, page_id=page_id, limit=ALL)
    )
    for _ in range(MOST_PARTS):
        answer = await engine.read(call)
        found += answer.items
        if answer.next is None:
            break
        call = call.model_copy(update={"page": answer.next.page})
    return found


async def pages_with_file(engine: Reader, model: SpaceContent, file: RevisionFile) -> list[RevisionPage]:
    """The pages that name a file: those that are known, and in a change request those that the service lists."""
    known = {page.id: page for page in model.pages_with_file(file)}
    if model.change_request_id:
        path = {"space_id": model.space_id, "change_request_id": model.change_request_id}
        call = ListChangeRequestFileBacklinks(**path, file_id=file.id, limit=ALL)
        with suppress(NotSupported, NetworkError):
            places = (await engine.read(call)).items
            known |= {place.page.id: place.page for place in places if place.page}
    return list(known.values())


def pages_by_title(pages: Iterable[RevisionPage]) -> list[RevisionPage]:
    """Pages in the order of their titles."""
    return sorted(pages, key=lambda page: page.title.casefold())
