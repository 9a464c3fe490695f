"""References of the page in the browse screen: titles of pages, files, reusable content, variables, API descriptions.

The tree of pages is loaded before any page is shown. Everything else is read only for pages that refer to it, and drawn
when it arrives. A page is shown without waiting for its references.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from presscheck.api.content import (
    GetChangeRequestRevision,
    GetCurrentRevision,
    Pages,
    Revision,
    RevisionFile,
)
from presscheck.api.openapi import GetLatestOpenAPISpecContent, OpenAPISpecContent
from presscheck.documents.markdown.links import LinkTarget, source_path
from presscheck.documents.terminal.openapi import description_in
from presscheck.documents.terminal.references import Included, Picture
from presscheck.engine.members import people_in
from presscheck.errors import PresscheckError
from presscheck.text.sanitize import sanitize
from presscheck.tui.screens.references.file_contents import FilePlace, file_content
from presscheck.tui.screens.references.included_texts import LOADING, NOT_CACHED, IncludedTexts, Piece
from presscheck.tui.screens.references.integration_blocks import IntegrationBlocks
from presscheck.tui.screens.references.revision_references import (
    INCLUDE,
    SpaceLinks,
    file_by_id,
    on_page,
    page_target,
    value_of,
)

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.engine.results import Result
    from presscheck.text.styled_text import Line
    from presscheck.tui.screens.browse.page_tree import Item
    from presscheck.tui.screens.browse.session import ContentTree
    from presscheck.tui.screens.references.page_pictures import PagePictures

MOST_SPECIFICATIONS = 5
"""Maximum number of published API descriptions that are read for a page, and of those in files."""
LARGEST_DESCRIPTION = 1 << 20
"""Maximum size, in bytes, of a file with an API description."""
NOT_HERE = "This space has no such reusable content."
_SIGNS = ("{% include", "{% file", "{% openapi ", "{% swagger ", 'class="expression"', "<img", "![")
"""Strings that occur only in texts that refer to files, reusable content or variables."""
_PEOPLE = "/~/users/"
"""The start of links to users."""
_linked = re.compile(r"(?:\]\(|href=\")([^)\"\s]{1,500}+)").finditer
_specifications = re.compile(r"\{%-?\s*openapi-[a-z]+[^%]*?\bspec=\"([a-z0-9-]{1,100})\"").findall
_described = re.compile(r"\{%-?\s*(?:openapi|swagger)\s[^%\n]*?\bsrc=\"([^\"\n]{1,500})\"").findall
"""Finds the addresses of files with API descriptions."""
_thing = re.compile(r"/~/(users|collections)/([\w-]+)$").match
_in_space = re.compile(r"/~/spaces/([\w-]+)$").match


class PageReferences:
    """The references of a page, resolved with the data loaded so far.

    Args:
        loader: provides content besides the pages of the tree.
        item: the page.
        links: the pages of the space and, once loaded, its files and reusable content.
        specifications: API descriptions by name of the specification or key of the file.
    """

    def __init__(
        self,
        loader: ReferenceLoader,
        item: Item,
        links: SpaceLinks,
        specifications: Mapping[str, Mapping[str, Any]],
    ) -> None:
        self._loader, self._library, self._item = loader, loader.session.library, item
        self._links, self._specifications = links, specifications
        self._revision = links.revision
        self._targets: dict[str, LinkTarget | None] = {}

    @cached_property
    def _source(self) -> str:
        return source_path(self._item.page) if self._item.page else ""

    def target(self, address: str) -> LinkTarget | None:
        """Return the target of a link; None for web addresses and for targets that are not loaded."""
        if address not in self._targets:
            self._targets[address] = self._find(address)
        return self._targets[address]

    def _find(self, address: str) -> LinkTarget | None:
        if not self._links.pages or address.startswith("#"):
            return None
        if address.startswith("/~"):
            return self._by_id(address)
        found = self._links.resolver.resolve(address, self._source)
        if found.kind == "page":
            return LinkTarget(self._links.titles.get(found.id, ""))
        if found.kind == "broken":
            path = address.partition("#")[0].partition("?")[0].rstrip("/")
            is_page = path.endswith(".md") or "." not in path.rpartition("/")[2]
            return LinkTarget(is_broken=True) if is_page or self._revision else None
        return None

    def _by_id(self, address: str) -> LinkTarget | None:
        page, space = on_page(address), _in_space(address)
        if page and (not page[1] or (self._item.space and page[1] == self._item.space.id)):
            return page_target(self._links.titles.get(page[2]))
        if file_by_id(address):
            return LinkTarget(is_broken=True) if self._revision and not self._links.file(address, "") else None
        other = _thing(address)
        if other and other[1] == "users":
            name = self._loader.people.get(other[2])
            return LinkTarget(f"@{name}") if name else None
        key = f"space {space[1]}" if space else f"collection {other[2]}" if other else ""
        item = self._library.item(key)
        return LinkTarget(item.title) if item else None

    def included(self, address: str) -> Included | None:
        """Return the reusable content at an address. If it cannot be shown, the result has a note with the reason."""
        found = self._loader.texts.included(address, self.piece)
        if found is None:
            return Included("", note=self._loader.problem() if self._revision is None else NOT_HERE)
        return found

    def piece(self, address: str) -> Piece | None:
        """Return reusable content of this space by its address; None if it does not exist or is not loaded."""
        if self._revision is None or self._item.space is None:
            return None
        found = self._links.resolver.resolve(address, self._source)
        piece = self._links.pieces.get(found.id) or self._links.pieces.get(address.rpartition("/")[2])
        return Piece(self._item.space.id, piece) if piece else None

    def variable(self, expression: str) -> str | None:
        """Return the value of a variable of the page or the space; None if the variable is unknown."""
        page = self._item.page
        of_space = self._revision.variables if self._revision else None
        return value_of(expression, of_space, page.variables if page else None)

    def specification(self, name: str) -> Mapping[str, Any] | None:
        """Return an API description by the name of its specification or the address of a file; None if not loaded."""
        known = self._specifications.get(name)
        file = self._links.file(name, self._source) if known is None else None
        return self._specifications.get(_file_key(file)) if file else known

    def picture(self, address: str, columns: int) -> Picture | None:
        """Return the picture of an image, blank lines until it is loaded, or a note why it is not drawn.

        Return None if only the caption is shown: pictures are off, or no file is known at this address.
        """
        if self._revision is None or self._item.space is None:
            return None
        request = self._library.requests.get(self._item.space.id)
        place = FilePlace(self._item.space.id, request.id if request else "")
        return self._loader.pictures.picture(place, self._links.file(address, self._source), address, columns)

    def shows(self, condition: str) -> bool | None:
        """Return None: authors see content with any condition."""
        return None

    def component(self, tag: str, columns: int) -> list[Line] | None:
        """Return the block of an integration; None until it is rendered, or if it cannot be rendered."""
        return self._loader.blocks.lines(self._item.space.id, tag, columns) if self._item.space else None


class ReferenceLoader:
    """A loader of the content that the current page refers to, besides the tree of pages.

    Args:
        session: the tree.
        pictures: reads and draws images.
        on_change: called when more content for the current page has arrived.
    """

    def __init__(self, session: ContentTree, pictures: PagePictures, on_change: Callable[[], None]) -> None:
        self.session, self._screen = session, session.screen
        self.pictures, self._on_change = pictures, on_change
        self._content: tuple[tuple[str, str], Revision] | None = None
        """The space and change request that were read last, and their content."""
        self._links = SpaceLinks((), None)
        self._watched: tuple[str, str] | None = None
        """The space and change request whose content is subscribed to."""
        self._names: frozenset[str] = frozenset()
        """The names of the specifications that are subscribed to."""
        self._descriptions: dict[str, Mapping[str, Any]] = {}
        """API descriptions by the name of the specification or the key of the file."""
        self._files_read: set[str] = set()
        """The keys of the files with API descriptions that were read or are being read."""
        self.people: dict[str, str] = {}
        """The names of the members of the organization, loaded when a page first mentions a user."""
        self.texts = IncludedTexts(session.screen, self._texts_changed)
        self.blocks = IntegrationBlocks(session.screen, on_change)
        self._problem = ""
        """The reason why the content of the space could not be loaded."""
        self._shown: tuple[Item, tuple[str, str], str] | None = None
        """The current page, its space and change request, and its Markdown."""
        self._has_included = False
        """Whether the current page or the previous one includes reusable content."""

    def of(self, item: Item, listed: Pages | None) -> PageReferences:
        """Return the references of a page.

        Args:
            item: the page.
            listed: the pages of its space; None until they are loaded.
        """
        known = self._content
        revision = known[1] if known is not None and known[0] == self._place(item) else None
        pages = listed.pages if listed else ()
        if self._links.pages is not pages or self._links.revision is not revision:
            self._links = SpaceLinks(pages, revision)
        descriptions = dict(self._descriptions)
        return PageReferences(self, item, self._links, descriptions)

    def problem(self) -> str:
        """Return why the content of the space is not loaded, as display text."""
        return self._problem or (LOADING if self._screen.engine.status.online else NOT_CACHED)

    def load(self, item: Item, markdown: str) -> None:
        """Read the content that a page refers to, and unsubscribe from specifications that the page does not use."""
        place = self._place(item)
        if self._shown == (item, place, markdown):
            return  # the service has confirmed the cached page
        self._shown = item, place, markdown
        if refers_beyond_pages(markdown) and place != self._watched:
            self._watched, self._problem = place, ""
            space, request = place
            call: Operation[Revision] = (
                GetChangeRequestRevision(space_id=space, change_request_id=request)
                if request
                else GetCurrentRevision(space_id=space)
            )
            take = partial(self._take_content, place)
            self._screen.subscribe(self._screen.engine.watch(call), take, group="content", shows_errors=False)
        self.blocks.load(place[0], markdown)
        if _PEOPLE in markdown and not self.people:
            self._screen.run(self._read_people, group="people", exclusive=True)
        found = list(dict.fromkeys(_specifications(markdown)))[:MOST_SPECIFICATIONS]
        names = frozenset(found if self.session.organization_id else ())
        for name in self._names - names:
            self._screen.unsubscribe(f"specification {name}")
        for name in names - self._names:
            spec = GetLatestOpenAPISpecContent(organization_id=self.session.organization_id, spec_slug=name)
            take_spec = partial(self._take_description, name)
            answers = self._screen.engine.watch(spec)
            self._screen.subscribe(answers, take_spec, group=f"specification {name}", shows_errors=False)
        self._names = names
        self._load_texts()
        self._load_files()

    def leave(self) -> None:
        """End the subscriptions, because no page is shown any more."""
        if self._watched:
            self._screen.unsubscribe("content")
        for name in self._names:
            self._screen.unsubscribe(f"specification {name}")
        self.texts.leave()
        self._has_included = False
        self._watched, self._names, self._shown = None, frozenset(), None

    def _place(self, item: Item) -> tuple[str, str]:
        space = item.space.id if item.space else ""
        request = self.session.library.requests.get(space)
        return space, request.id if request else ""

    def _take_content(self, place: tuple[str, str], result: Result[Revision | None]) -> None:
        if result.value is not None and self._content != (place, result.value):
            self._content, self._problem = (place, result.value), ""
            self._load_files()
            self._texts_changed()
        elif result.value is None and result.error:
            is_offline = result.state == "offline"
            self._problem = NOT_CACHED if is_offline else f"Not shown: {sanitize(result.error.message)}"
            self._on_change()

    def _load_texts(self) -> None:
        """Read the texts of the reusable content that the current page includes."""
        if self._shown is None:
            return
        item, _, markdown = self._shown
        includes = INCLUDE in markdown
        if includes or self._has_included:
            self._has_included = includes
            pages = self.session.library.pages(item.space.id) if item.space else None
            self.texts.load(markdown, self.of(item, pages).piece)

    def _load_files(self) -> None:
        """Read the API descriptions in files that the current page refers to, once the files are listed."""
        item, place, markdown = self._shown or (None, ("", ""), "")
        sources = list(dict.fromkeys(_described(markdown)))[:MOST_SPECIFICATIONS]
        if item is None or item.page is None or item.space is None or not sources:
            return
        self.of(item, self.session.library.pages(item.space.id))
        for source in sources:
            file = self._links.file(source, source_path(item.page))
            if file and file.size <= LARGEST_DESCRIPTION and _file_key(file) not in self._files_read:
                self._files_read.add(_file_key(file))
                read = partial(self._read_file, FilePlace(*place), file)
                self._screen.run(read, group=_file_key(file), exclusive=True)

    async def _read_file(self, place: FilePlace, file: RevisionFile) -> None:
        # 10 ms of imports, only for a page with such a block
        from presscheck.engine.openapi.description_file import parse_description

        key = _file_key(file)
        try:
            content = await file_content(self._screen.engine, place, file.id, LARGEST_DESCRIPTION)
            self._descriptions[key] = await asyncio.to_thread(parse_description, content, "file")
        except PresscheckError:
            self._files_read.discard(key)  # the block names the file; it is read again with the next page
        else:
            self._on_change()

    def _texts_changed(self) -> None:
        """Read the content that newly loaded texts include, and redraw the page."""
        self._load_texts()
        self._on_change()

    async def _read_people(self) -> None:
        """Read the names of users for mentions. If that fails, mentions stay as written."""
        organization = self.session.organization_id
        if organization:
            with suppress(PresscheckError):
                people = await people_in(self._screen.engine, organization, ())
                self.people = {person.user.id: person.user.display_name for person in people}
                self._on_change()

    def _take_description(self, name: str, result: Result[OpenAPISpecContent | None]) -> None:
        description = description_in(result.value.filesystem) if result.value else None
        if description is not None and self._descriptions.get(name) != description:
            self._descriptions[name] = description
            self._on_change()


def refers_to_content(markdown: str) -> bool:
    """Return whether a text refers to pages, files, reusable content or variables."""
    return refers_beyond_pages(markdown) or next(_linked(markdown), None) is not None


def refers_beyond_pages(markdown: str) -> bool:
    """Return whether a text refers to files, reusable content or variables."""
    return any(sign in markdown for sign in _SIGNS) or any(_is_file(match[1]) for match in _linked(markdown))


def _file_key(file: RevisionFile) -> str:
    return f"file {file.id}"


def _is_file(target: str) -> bool:
    path = target.partition("#")[0].partition("?")[0]
    is_named = ":" not in path and "." in path.rpartition("/")[2] and not path.endswith(".md")
    return is_named or file_by_id(path) is not None
