"""What can be browsed, as a tree: collections, spaces, and the pages of each, live or in a change request."""

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
    """What a node of the tree stands for; `kind` is collection, space, or the type of a page."""

    key: str
    kind: str
    title: str
    parent: str | None
    space: Space | None = None
    page: RevisionPage | None = None


def page_key(space_id: str, page_id: str) -> str:
    """The key of a page."""
    return f"page {space_id} {page_id}"


class Library:
    """What is known of an organization; any part may come later, or come anew.

    `requests` are the change requests that spaces are browsed in, by the id of the space.
    """

    def __init__(self) -> None:
        self.requests: dict[str, ChangeRequest] = {}
        self._collections: tuple[Collection, ...] = ()
        self._spaces: tuple[Space, ...] = ()
        self._pages: dict[str, Pages] = {}
        self._items: dict[str, Item] = {}
        self._below: dict[str | None, list[Item]] = {}

    def take(self, collections: Sequence[Collection], spaces: Sequence[Space]) -> None:
        """These are the collections and the spaces."""
        self._collections, self._spaces = tuple(collections), tuple(spaces)
        self._index()

    def take_pages(self, space_id: str, pages: Pages | None) -> None:
        """These are the pages of a space; None forgets them."""
        if pages is None:
            self._pages.pop(space_id, None)
        else:
            self._pages[space_id] = pages
        self._index()

    def item(self, key: str | None) -> Item | None:
        """What a node stands for."""
        return self._items.get(key or "")

    def collections(self) -> set[str]:
        """The keys of all collections."""
        return {item.key for item in self._items.values() if item.kind == "collection"}

    def groups(self, space_id: str) -> set[str]:
        """The keys of the groups of a space, and of the pages at its root that hold others."""
        return {
            item.key
            for item in self._items.values()
            if item.page and item.page.pages and item.space and item.space.id == space_id and item.kind == "group"
        }

    def pages(self, space_id: str) -> Pages | None:
        """The pages of a space, where they are known."""
        return self._pages.get(space_id)

    def above(self, key: str) -> list[str]:
        """The nodes that a node is below, the outermost first."""
        found: list[str] = []
        item = self.item(key)
        while item and item.parent:
            found.insert(0, item.parent)
            item = self.item(item.parent)
        return found

    def way(self, key: str | None) -> list[str]:
        """What the nodes down to this one are called, as display text."""
        items = [self.item(one) for one in (*self.above(key or ""), key)]
        return [sanitize(item.title) for item in items if item and item.kind != "collection"]

    def nodes(self, key: str | None) -> list[Node]:
        """The nodes below one."""
        return [self._node(item) for item in self._below.get(key, ())]

    def _node(self, item: Item) -> Node:
        line = _label(item)
        if item.kind == "space" and item.space:
            request = self.requests.get(item.space.id)
            count = f"{item.space.change_requests_open} " if item.space.change_requests_open else ""
            note: Line = (Span(f"in #{request.number} ", "accent"),) if request else (Span(count, "quiet"),)
            return Node(item.key, line, note, expandable=True)
        return Node(item.key, line, expandable=item.kind == "collection" or bool(item.page and item.page.pages))

    def _index(self) -> None:
        self._items, self._below = {}, {}
        known = {one.id for one in self._collections}

        def under(parent: str | None) -> str | None:
            return f"collection {parent}" if parent in known else None

        for one in self._collections:
            self._add(Item(f"collection {one.id}", "collection", one.title, under(one.parent)))
        for space in self._spaces:
            key = f"space {space.id}"
            self._add(Item(key, "space", space.title, under(space.parent), space))
            found = self._pages.get(space.id)
            self._add_pages(found.pages if found else (), space, key)

    def _add_pages(self, pages: Iterable[RevisionPage], space: Space, parent: str) -> None:
        for page in pages:
            key = page_key(space.id, page.id)
            self._add(Item(key, page.type, page.link_title or page.title, parent, space, page))
            self._add_pages(page.pages, space, key)

    def _add(self, item: Item) -> None:
        self._items[item.key] = item
        self._below.setdefault(item.parent, []).append(item)


def count_below(page: RevisionPage) -> int:
    """How many pages are below one."""
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
