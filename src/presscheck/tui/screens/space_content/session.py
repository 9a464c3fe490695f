"""The session of the content screen: links, files and reusable content, on main or in a change request.

If the service cannot list the links, they are collected from the texts of the pages.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from presscheck.api.change_requests import ChangeRequest, CreateChangeRequest, GetChangeRequest
from presscheck.api.content import (
    GetChangeRequestRevision,
    GetCurrentRevision,
    ListPages,
    ReusableContent,
    Revision,
    RevisionFile,
    RevisionPage,
)
from presscheck.api.content_changes import EditChangeRequestContent
from presscheck.api.links import (
    Link,
    Links,
    ListChangeRequestFileBacklinks,
    ListChangeRequestPageLinks,
    ListPageLinks,
)
from presscheck.api.operation import ALL, Operation
from presscheck.api.spaces import GetSpace, Space
from presscheck.documents.markdown.links import LinkResolver, find_links, source_path
from presscheck.documents.pages.file_urls import unsigned_url
from presscheck.documents.pages.tree import flatten
from presscheck.engine.reads.scheduler import BACKGROUND
from presscheck.engine.results import Result
from presscheck.engine.search.backlinks import Linked, links_of_space
from presscheck.engine.shared_calls import changed_page, live_page
from presscheck.errors import NetworkError, NotSupported, PresscheckError, RequestError
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.places import Place
from presscheck.tui.screens.page.editor import stays_locked
from presscheck.tui.screens.page.uses import choose_use
from presscheck.tui.screens.space_content.link_rows import (
    LinkRow,
    State,
    addresses_elsewhere,
    rows_of,
    target_key,
)
from presscheck.tui.ui.ask import choose
from presscheck.tui.ui.loaded import Loaded
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.api.links import ContentLocation
    from presscheck.tui.ui.content_place import ContentPlace
    from presscheck.tui.ui.tabs import TabScreen

MOST_PAGES = 500
"""Maximum number of pages whose texts are read to collect links; other pages count as not read."""
MOST_PARTS = 50
"""Maximum number of chunks of a page's links that are read."""
AT_ONCE = 8
"""Maximum number of pages that are read in parallel."""
T = TypeVar("T")


class SpaceContent:
    """The content of a space, loaded from the service.

    Args:
        screen: the screen that is redrawn with each result.
        place: the space and the change request.

    Attributes:
        change_request_id: the id of the change request in which the space is shown; None for main.
        revision: the content.
        age: the age of the content in seconds while it is shown offline, or None.
        is_loaded: whether the first request of the content has ended.
        links: a row for each page of each link.
        linked: the links from the service or the cache; None until they are loaded.
        counts: the number of links in each state.
        progress: a message about the progress of reading pages; empty if none are being read.
    """

    def __init__(self, screen: TabScreen, place: ContentPlace) -> None:
        self.screen, self._place, self.space_id = screen, place, place.space_id
        self.change_request_id = place.change_request_id
        self.space: Space | None = None
        self.request: ChangeRequest | None = None
        self.revision = Loaded[Revision]()
        self.age: float | None = None
        self.is_loaded = False
        self.links = Loaded[Sequence[LinkRow]]()
        self.linked: Linked[Link] | None = None
        self.counts: Counter[State] = Counter()
        self.progress = ""
        self._users: dict[tuple[str, str], dict[str, RevisionPage]] = {}
        """The pages that link to each target, by target and id of the page."""
        self._read: dict[str, str | None] = {}
        """The document ids of pages whose texts were read, by id of the page."""

    # data

    @property
    def space_title(self) -> str:
        """The title of the space, as display text."""
        return sanitize(self.space.title) if self.space else ""

    @property
    def request_name(self) -> str:
        """Number and subject of the change request, as display text; empty on main."""
        if self.request is None:
            return ""
        return f"#{self.request.number} {sanitize(self.request.subject) or '(no subject)'}"

    @property
    def app_address(self) -> str:
        """The address of the change request in the web app or, on main, of the space; empty if unknown."""
        urls = [shown.urls.app for shown in (self.request, self.space) if shown and shown.urls.app]
        return urls[0] if urls else ""

    @property
    def files(self) -> Sequence[RevisionFile]:
        """The files of the space; empty until they are loaded."""
        return self.revision.value.files if self.revision.value else ()

    def pages_with_file(self, file: RevisionFile) -> list[RevisionPage]:
        """Return the loaded pages that refer to a file, by its path, id or download address."""
        by_address = self._users.get(("url", unsigned_url(file.download_url)), {})
        return list((self._users.get(("file", file.id), {}) | by_address).values())

    def pages_with_reusable(self, reusable: ReusableContent) -> list[RevisionPage]:
        """Return the loaded pages that include a piece of reusable content."""
        return list(self._users.get(("reusable-content", reusable.id), {}).values())

    def used_on(self, pages: int) -> Line:
        """Render the number of pages that use an item; empty until the links are loaded."""
        if self.linked is None:
            return ()
        return (Span(count(pages, "page")) if pages else Span("no page", "waiting"),)

    # loading

    def load(self) -> None:
        """Subscribe to the space, the change request and the content."""
        space, request = self.space_id, self.change_request_id
        self._subscribe(GetSpace(space_id=space), self._take_space, "space")
        content: Operation[Revision] = GetCurrentRevision(space_id=space)
        if request:
            path: dict[str, Any] = {"space_id": space, "change_request_id": request}
            self._subscribe(GetChangeRequest(**path), self._take_request, "request")
            content = GetChangeRequestRevision(**path)
        self._subscribe(content, self._take_content, "content")

    def _subscribe(self, call: Operation[T], take: Callable[[Result[T | None]], None], group: str) -> None:
        self.screen.subscribe(self.screen.engine.watch(call), take, group=group, shows_errors=False)

    def _show_request(self, request_id: str | None) -> None:
        """Show the content of a change request, or of main if `request_id` is None."""
        if request_id == self.change_request_id:
            return
        for group in ("request", "content", "links"):
            self.screen.unsubscribe(group)
        self.change_request_id = request_id
        self.request, self.age, self.linked, self.is_loaded = None, None, None, False
        self.revision, self.links = Loaded[Revision](), Loaded[Sequence[LinkRow]]()
        self.counts, self.progress = Counter(), ""
        self._users, self._read = {}, {}
        self.load()
        self.screen.redraw()

    def _take_space(self, result: Result[Space | None]) -> None:
        self.space = result.value or self.space
        self.screen.redraw()

    def _take_request(self, result: Result[ChangeRequest | None]) -> None:
        self.request = result.value or self.request
        self.screen.redraw()

    def _take_content(self, result: Result[Revision | None]) -> None:
        self.revision = self.revision.after(result)
        self.age = result.age if result.state == "offline" and result.value else None
        if result.state != "cached":
            self.is_loaded = True
        self.screen.redraw()
        if result.state != "cached" or self.linked is None:
            self.screen.run(self._load_links, group="links", exclusive=True)

    async def _load_links(self) -> None:
        try:
            async for linked in self._links():
                self._take_links(linked)
        except RequestError as error:
            self.links = Loaded(self.links.value, error)
        finally:
            self.progress = ""
        self.screen.redraw()

    def _take_links(self, linked: Linked[Link]) -> None:
        rows = rows_of(linked.items)
        self.linked, self.links = linked, Loaded[Sequence[LinkRow]](rows)
        self.counts = Counter(row.state for row in rows)
        self._users = {}
        for row in rows:
            if row.page and row.target and (key := target_key(row.target)):
                self._users.setdefault(key, {})[row.page.id] = row.page
        self.screen.redraw()

    async def _links(self) -> AsyncIterator[Linked[Link]]:
        """Yield the links of the space, if possible from the service.

        If the service cannot list the links, yield the links of cached pages, and again after missing pages are read.
        """
        engine, revision = self.screen.engine, self.revision
        if self.change_request_id is None:
            linked = await links_of_space(engine, self.space_id)
            yield linked
            if linked.is_from_service or not engine.status.online:
                return
        if revision.value is None:
            if self.change_request_id and revision.error:
                raise revision.error
            return
        yield await self._cached_links()
        if engine.status.online and self.is_loaded and await self._read_pages(await self._outdated(revision.value)):
            yield await self._cached_links()

    async def _cached_links(self) -> Linked[Link]:
        local = await self.screen.engine.local_links(self.space_id, self.change_request_id)
        if local is None:
            return Linked((), is_from_service=False)
        items = tuple(local.links.as_links(local.links.usages))
        return Linked(items, is_from_service=False, unread=len(local.unread))

    async def _outdated(self, revision: Revision) -> list[RevisionPage]:
        """Return the pages to read: pages that are not cached and, in a change request, pages that differ from main.

        The cached text of a page that differs from main may be outdated. Pages that were read before are left out.
        """
        pages = [page for page in flatten(revision.pages) if page.type == "document" and page.document_id]
        local = await self.screen.engine.local_links(self.space_id, self.change_request_id)
        unread = set(local.unread) if local else {page.id for page in pages}
        live = await self._live_documents() if self.change_request_id else None
        return [
            page
            for page in pages
            if self._read.get(page.id) != page.document_id
            and (page.id in unread or (live is not None and live.get(page.id) != page.document_id))
        ]

    async def _live_documents(self) -> dict[str, str | None]:
        try:
            live = await self.screen.engine.read(ListPages(space_id=self.space_id), priority=BACKGROUND)
        except PresscheckError:
            return {}  # all pages are read
        return {page.id: page.document_id for page in flatten(live.pages)}

    async def _read_pages(self, pages: list[RevisionPage]) -> bool:
        """Read the texts of at most `MOST_PAGES` pages into the cache. Returns True if any was read."""
        pages, done = pages[:MOST_PAGES], 0
        for first in range(0, len(pages), AT_ONCE):
            self.progress = f"reading the links of page {first + 1} of {len(pages)} …"
            self.screen.redraw()
            part = pages[first : first + AT_ONCE]
            done += sum(await asyncio.gather(*(self._read_page(page) for page in part)))
        return bool(done)

    async def _read_page(self, page: RevisionPage) -> bool:
        try:
            await self.screen.engine.read(self._page_call(page), priority=BACKGROUND)
        except NetworkError:
            raise
        except RequestError:
            return False  # it still counts as not read
        self._read[page.id] = page.document_id
        return True

    def _page_call(self, page: RevisionPage) -> Operation[Any]:
        request = self.change_request_id
        return changed_page(self.space_id, request, page.id) if request else live_page(self.space_id, page.id)

    async def links_of_page(self, page_id: str) -> list[Link]:
        """Return the links of a page from the service.

        Raises:
            PresscheckError: the links cannot be read.
        """
        request, links = self.change_request_id, list[Link]()
        call: Operation[Links] = (
            ListChangeRequestPageLinks(space_id=self.space_id, change_request_id=request, page_id=page_id, limit=ALL)
            if request
            else ListPageLinks(space_id=self.space_id, page_id=page_id, limit=ALL)
        )
        for _ in range(MOST_PARTS):
            answer = await self.screen.engine.read(call)
            links += answer.items
            if answer.next is None:
                break
            call = call.model_copy(update={"page": answer.next.page})
        return links

    async def all_pages_with_file(self, file: RevisionFile) -> list[RevisionPage]:
        """Return the pages that refer to a file: loaded pages and, in a change request, pages from the service."""
        pages = {page.id: page for page in self.pages_with_file(file)}
        if self.change_request_id:
            path = {"space_id": self.space_id, "change_request_id": self.change_request_id}
            call = ListChangeRequestFileBacklinks(**path, file_id=file.id, limit=ALL)
            with suppress(NotSupported, NetworkError):
                places = (await self.screen.engine.read(call)).items
                pages |= {place.page.id: place.page for place in places if place.page}
        return list(pages.values())

    # the change request

    def edit_reason(self) -> str | None:
        """Return why nothing can be edited: edits can be neither sent nor queued, or the change request is closed."""
        if reason := self.screen.engine.write_reason(EditChangeRequestContent, "edits"):
            return reason
        is_closed = self.request and self.request.status in ("merged", "archived")
        return f"the change request is {sanitize(self.request.status)}" if self.request and is_closed else None

    def choose_reason(self) -> str | None:
        """Return why no other change request can be chosen: a review opened the screen, or none can be created now."""
        if self._place.choose_request is None:
            return "opened from a review: its change request is shown"
        return self.screen.engine.write_reason(CreateChangeRequest, "edits")

    async def choose_request(self) -> None:
        """Choose the change request in which the space is shown."""
        if self._place.choose_request:
            self._show_request(await self._place.choose_request())

    async def request_path(self) -> dict[str, Any] | None:
        """Return the path parameters of the change request. On main, ask for a change request first.

        Returns None if the user cancels, or if the space stays locked.
        """
        if await stays_locked(self.screen, self.space_id):
            return None
        if self.change_request_id is None:
            await self.choose_request()
        request = self.change_request_id
        return {"space_id": self.space_id, "change_request_id": request} if request else None

    def show_created(self, request: ChangeRequest) -> None:
        """Show a change request that was created or edited, here and on the screen below."""
        if request.id != self.change_request_id and self._place.show_request:
            self._place.show_request(request)
        self._show_request(request.id)

    # pages

    async def open_page(self, page: RevisionPage, target: ContentLocation | None) -> None:
        """Open a page at its first link to a target."""
        link = ""
        if target:
            with suppress(PresscheckError):  # the page itself shows the error
                text = (await self.screen.engine.read(self._page_call(page))).markdown or ""
                link = self._written_target(text, page.id, target)
        await self.screen.app_context.go(Place.page(self.space_id, page.id, self.change_request_id, link=link))

    def _written_target(self, text: str, page_id: str, target: ContentLocation) -> str:
        """Return the address of the first link in a text that leads to `target`, as written; empty if there is none."""
        content = self.revision.value or Revision(id="")
        places = LinkResolver.of(content.pages, content.files, content.reusable_contents)
        page = next((page for page in flatten(content.pages) if page.id == page_id), None)
        source, wanted = source_path(page) if page else "", target_key(target)
        anchor = (target.internal_location.anchor if target.internal_location else None) or ""
        for link in find_links(text):
            to = places.resolve(link.target, source)
            kind = {"snippet": "reusable-content", "web": "url", "broken": "url"}.get(to.kind, to.kind)
            name = to.id or unsigned_url(to.url or link.target)
            is_its_file = bool(target.file) and name == unsigned_url(target.file.download_url if target.file else "")
            if is_its_file or (wanted == (kind, name) and (not anchor or to.anchor == anchor)):
                return link.target
        return ""

    async def show_uses(self, name: str, pages: list[RevisionPage], target: ContentLocation) -> None:
        """List the pages that use a target, including cached pages of other spaces, and open the chosen page."""
        screen = self.screen
        others = await screen.engine.uses_elsewhere(self.space_id, addresses_elsewhere(self.space_id, target))
        unread = self.linked.unread if self.linked else 0
        chosen = await choose_use(screen, name, others, pages, unread=unread)
        if chosen and chosen.space:
            await screen.app_context.go(Place.page(chosen.space, chosen.page))
        elif chosen:
            await self.open_page(next(page for page in pages if page.id == chosen.page), target)

    async def choose_page(self, title: str, pages: list[RevisionPage]) -> RevisionPage | None:
        """Ask for a page. Returns None if the user canceled, or if there are no pages."""
        unread = self.linked.unread if self.linked else 0
        note = f" · {count(unread, 'page')} of this space not in the cache" if unread else ""
        if not pages:
            self.screen.notify("this space has no pages with a text")
            return None
        choices = [Choice(page.id, sanitize(page.title) or "(no title)", sanitize(page.path or "")) for page in pages]
        choice = await choose(self.screen, f"{title}{note}", choices, ranked=True)
        return next((page for page in pages if choice and page.id == choice), None)


def pages_by_title(pages: Iterable[RevisionPage]) -> list[RevisionPage]:
    """Return pages sorted by title."""
    return sorted(pages, key=lambda page: page.title.casefold())
