"""The tree of the browse screen: collections, spaces, and their pages on main or in a change request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.collections import Collection
from presscheck.api.content import Pages, RevisionPage
from presscheck.api.spaces import Space
from presscheck.documents.pages.tree import flatten
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.widgets.tree import Node

STYLES = {"collection": "strong", "space": "strong", "group": "quiet strong", "link": "link"}


class Item(NamedTuple):
    """An item of the tree; `kind` is `collection`, `space` or the type of a page."""

    key: str
    kind: str
    title: str
    parent: str | None
    space: Space | None = None
    page: RevisionPage | None = None


def page_key(space_id: str, page_id: str) -> str:
    """The key of a page in the tree."""
    return f"page {space_id} {page_id}"


class Library:
    """The collections, spaces and pages of an organization; each part is set when it is loaded.

    `requests` are the change requests that spaces are browsed in, by the id of the space.
    """

    def __init__(self) -> None:
        self.requests: dict[str, ChangeRequest] = {}
        self._collections: tuple[Collection, ...] = ()
        self._spaces: tuple[Space, ...] = ()
        self._pages: dict[str, Pages] = {}
        self._items: dict[str, Item] = {}
        self._children: dict[str | None, list[Item]] = {}

    def set_spaces(self, collections: Sequence[Collection], spaces: Sequence[Space]) -> None:
        """Replace collections and spaces."""
        self._collections, self._spaces = tuple(collections), tuple(spaces)
        self._index()

    def set_pages(self, space_id: str, pages: Pages | None) -> None:
        """Replace the pages of a space; None removes them."""
        if pages is None:
            self._pages.pop(space_id, None)
        else:
            self._pages[space_id] = pages
        self._index()

    def item(self, key: str | None) -> Item | None:
        """The item with a key; None if it is unknown."""
        return self._items.get(key or "")

    def collections(self) -> set[str]:
        """The keys of all collections."""
        return {item.key for item in self._items.values() if item.kind == "collection"}

    def groups(self, space_id: str) -> set[str]:
        """The keys of the groups of a space that have pages."""
        return {
            item.key
            for item in self._items.values()
            if item.page and item.page.pages and item.space and item.space.id == space_id and item.kind == "group"
        }

    def pages(self, space_id: str) -> Pages | None:
        """The pages of a space; None if they are not loaded."""
        return self._pages.get(space_id)

    def ancestors(self, key: str) -> list[str]:
        """The keys of the ancestors of an item, outermost first."""
        keys: list[str] = []
        item = self.item(key)
        while item and item.parent:
            keys.insert(0, item.parent)
            item = self.item(item.parent)
        return keys

    def path_titles(self, key: str | None) -> list[str]:
        """The titles from the space down to an item, as display text."""
        items = [self.item(part) for part in (*self.ancestors(key or ""), key)]
        return [sanitize(item.title) for item in items if item and item.kind != "collection"]

    def nodes(self, key: str | None) -> list[Node]:
        """The child nodes of an item; None is the root."""
        return [self._node(item) for item in self._children.get(key, ())]

    def _node(self, item: Item) -> Node:
        line = _label(item)
        if item.kind == "space" and item.space:
            request = self.requests.get(item.space.id)
            count = f"{item.space.change_requests_open} " if item.space.change_requests_open else ""
            note: Line = (Span(f"in #{request.number} ", "accent"),) if request else (Span(count, "quiet"),)
            return Node(item.key, line, note, expandable=True)
        return Node(item.key, line, expandable=item.kind == "collection" or bool(item.page and item.page.pages))

    def _index(self) -> None:
        self._items, self._children = {}, {}
        parents = _parents(self._collections)

        def parent_key(parent: str | None) -> str | None:
            return f"collection {parent}" if parent in parents else None

        for collection in self._collections:
            parent = parent_key(parents[collection.id])
            self._add(Item(f"collection {collection.id}", "collection", collection.title, parent))
        for space in self._spaces:
            key = f"space {space.id}"
            self._add(Item(key, "space", space.title, parent_key(space.parent), space))
            pages = self._pages.get(space.id)
            self._add_pages(pages.pages if pages else (), space, key)

    def _add_pages(self, pages: Iterable[RevisionPage], space: Space, parent: str) -> None:
        for page in pages:
            key = page_key(space.id, page.id)
            if self._add(Item(key, page.type, page.link_title or page.title, parent, space, page)):
                self._add_pages(page.pages, space, key)

    def _add(self, item: Item) -> bool:
        """Add an item below its parent; False if there is one with this key, which may be the parent itself."""
        if item.key in self._items:
            return False
        self._items[item.key] = item
        self._children.setdefault(item.parent, []).append(item)
        return True


def _parents(collections: Iterable[Collection]) -> dict[str, str | None]:
    """The id of the parent of each collection, by id; None at the top, and where collections contain each other."""
    parents = {collection.id: collection.parent for collection in collections}
    for collection in list(parents):
        seen, parent = {collection}, parents[collection]
        while parent in parents and parent not in seen:
            seen.add(parent)
            parent = parents[parent]
        if parent in seen:
            parents[collection] = None
    return parents


def count_below(page: RevisionPage) -> int:
    """The number of pages below a page."""
    return sum(1 for _ in flatten(page.pages))


def _label(item: Item) -> Line:
    page = item.page
    style = STYLES.get(item.kind, "quiet" if page and page.hidden else "")
    emoji = (Span(f"{_emoji(page)} "),) if _emoji(page) else ()
    hidden = (Span("  hidden", "quiet"),) if page and page.hidden else ()
    outside = (Span(" ↗", "quiet"),) if item.kind == "link" else ()
    return (*emoji, Span(sanitize(item.title) or "(no title)", style), *outside, *hidden)


def _emoji(page: RevisionPage | None) -> str:
    """The emoji of a page that is given as one code point in hexadecimal, as the service does."""
    try:
        code = int(page.emoji or "", 16) if page else 0
    except ValueError:
        return ""
    return chr(code) if 0x1F000 <= code <= 0x1FBFF else ""
