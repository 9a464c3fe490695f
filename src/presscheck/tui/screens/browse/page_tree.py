"""The tree of the browse screen: collections, spaces, their pages on main or in a change request, and sites."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.collections import Collection
from presscheck.api.content import Pages, RevisionPage
from presscheck.api.sites import Site
from presscheck.api.spaces import Space
from presscheck.documents.markdown.emoji import icon_sign, with_emoji
from presscheck.documents.pages.page_order import Move, rearranged
from presscheck.engine.shortcuts import Shortcut
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.screens.browse.space_facts import COLLECTION, SITE, emblem, signs, site_state
from presscheck.tui.screens.emoji import emoji_character
from presscheck.tui.screens.sites.writes import mark_of
from presscheck.tui.widgets.tree import Node

READABLE = ("document", "computed")
"""The types of pages that have a text."""
Placed = TypeVar("Placed", Collection, Space)
BOOKMARKED, OPENED = "shortcuts bookmarks", "shortcuts recent"
"""The keys of the groups of shortcuts at the top of the tree."""
SITES = "sites"
"""The key, and the kind, of the group of sites below collections and spaces."""
STYLES = {
    "shortcuts": "quiet strong",
    SITES: "quiet strong",
    "collection": "strong",
    "space": "strong",
    "site": "strong",
    "group": "quiet strong",
    "link": "link",
}


class Item(NamedTuple):
    """An item of the tree.

    The kind is `collection`, `space`, `site`, `shortcut` or the type of a page. The groups of bookmarks and of recent
    items have the kind `shortcuts`, the group of sites has the kind `sites`.
    """

    key: str
    kind: str
    title: str
    parent: str | None
    space: Space | None = None
    page: RevisionPage | None = None
    collection: Collection | None = None
    shortcut: Shortcut | None = None
    site: Site | None = None


def page_key(space_id: str, page_id: str) -> str:
    """Return the key of a page in the tree."""
    return f"page {space_id} {page_id}"


class Library:
    """The loaded collections, spaces, pages and sites of an organization.

    `requests` maps ids of spaces to the change requests in which they are shown.

    Args:
        notifications: returns whether a space is `muted` or `followed`, by id.
        is_bookmarked: returns whether an item is bookmarked, by key.
    """

    def __init__(
        self,
        notifications: Callable[[str], str] = lambda _: "",
        is_bookmarked: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._notifications, self._is_bookmarked = notifications, is_bookmarked
        self.requests: dict[str, ChangeRequest] = {}
        self._collections: tuple[Collection, ...] = ()
        self._spaces: tuple[Space, ...] = ()
        self._pages: dict[str, Pages] = {}
        self._is_loaded = False
        self._shortcuts: dict[str, tuple[Shortcut, ...]] = {}
        self._sites: tuple[Site, ...] | None = None
        """The sites; None until they are loaded."""
        self._moves: dict[str, tuple[str, tuple[Move, ...]]] = {}
        self._items: dict[str, Item] = {}
        self._children: dict[str | None, list[Item]] = {}
        self._text = ""
        self._visible: set[str] | None = None
        """The keys of the items that match the filter; None without a filter."""

    def set_spaces(self, collections: Sequence[Collection], spaces: Sequence[Space]) -> None:
        """Replace the collections and spaces."""
        self._collections, self._spaces = tuple(collections), tuple(spaces)
        self._is_loaded = True
        self._index()

    def set_sites(self, sites: Sequence[Site]) -> bool:
        """Replace the sites. Returns True if the displayed tree changes. Sites are displayed once spaces are loaded."""
        if self._sites == tuple(sites):
            return False
        self._sites = tuple(sites)
        self._index()
        return self._is_loaded

    def set_pages(self, space_id: str, pages: Pages | None) -> None:
        """Replace the pages of a space; None removes them."""
        if pages is None:
            self._pages.pop(space_id, None)
        else:
            self._pages[space_id] = pages
        self._index()

    def set_shortcuts(self, bookmarks: Sequence[Shortcut], recent: Sequence[Shortcut]) -> bool:
        """Replace the bookmarks, in order, and the recent items, newest first. Returns True if any changed."""
        shortcuts = {BOOKMARKED: tuple(bookmarks), OPENED: tuple(recent)}
        if shortcuts == self._shortcuts:
            return False
        self._shortcuts = shortcuts
        self._index()
        return True

    def set_moves(self, space_id: str, request_id: str, moves: Sequence[Move]) -> None:
        """Replace the unsent moves of pages, which are applied while the space is shown in this change request."""
        if moves:
            self._moves[space_id] = request_id, tuple(moves)
        else:
            self._moves.pop(space_id, None)
        self._index()

    def add_pages(self, pages: Mapping[str, Pages]) -> None:
        """Add the pages of several spaces, by ids of the spaces."""
        if pages:
            self._pages |= pages
            self._index()

    def filter(self, text: str) -> set[str]:
        """Keep only the items whose titles contain a text, their contents, and their ancestors.

        An empty text ends the filter. Returns the keys of the ancestors.
        """
        self._text = text.lower()
        return self._filter()

    def item(self, key: str | None) -> Item | None:
        """Return the item with a key, or None."""
        return self._items.get(key or "")

    def target(self, key: str | None) -> Item | None:
        """Return the item with a key. For a shortcut, return its target if the target is loaded."""
        item = self._items.get(key or "")
        return (self._items.get(item.shortcut.target) or item) if item and item.shortcut else item

    def is_gone(self, shortcut: Shortcut) -> bool:
        """Return whether the target of a shortcut no longer exists. Returns False until that can be determined."""
        if not self._is_loaded or shortcut.target in self._items:
            return False
        if shortcut.kind == "site":
            return self._sites is not None
        is_in_space = shortcut.kind == "page" and f"space {shortcut.ids[0]}" in self._items
        return not is_in_space or self.pages(shortcut.ids[0]) is not None

    @property
    def first_key(self) -> str | None:
        """The key of the first collection, space or group of sites, after the shortcuts."""
        return next((item.key for item in self._children.get(None, ()) if item.kind != "shortcuts"), None)

    def collections(self) -> set[str]:
        """Return the keys of all collections."""
        return {item.key for item in self._items.values() if item.kind == "collection"}

    def groups(self, space_id: str) -> set[str]:
        """Return the keys of the groups of a space that have pages."""
        return {
            item.key
            for item in self._items.values()
            if item.page and item.page.pages and item.space and item.space.id == space_id and item.kind == "group"
        }

    def pages(self, space_id: str) -> Pages | None:
        """Return the pages of a space, with the unsent moves applied; None if they are not loaded."""
        pages, request = self._pages.get(space_id), self.requests.get(space_id)
        moved_in, moves = self._moves.get(space_id, ("", ()))
        if pages is None or request is None or request.id != moved_in:
            return pages
        return pages.model_copy(update={"pages": rearranged(pages.pages, moves)})

    def ancestors(self, key: str) -> list[str]:
        """Return the keys of the ancestors of an item, outermost first."""
        keys: list[str] = []
        item = self.item(key)
        while item and item.parent:
            keys.insert(0, item.parent)
            item = self.item(item.parent)
        return keys

    def siblings(self, item: Item) -> list[Item]:
        """Return the items of the same kind in the same parent, in order, including the item."""
        return [other for other in self._children.get(item.parent, ()) if other.kind == item.kind]

    def inside(self, item: Item) -> list[Item]:
        """Return the items directly in an item."""
        return list(self._children.get(item.key, ()))

    def below(self, item: Item) -> list[Item]:
        """Return the items in an item, at any depth, in the order of the tree."""
        return list(self._in_order(item.key))

    @property
    def spaces(self) -> tuple[Space, ...]:
        """All spaces."""
        return self._spaces

    def has(self, collections: Sequence[Collection], spaces: Sequence[Space]) -> bool:
        """Return whether these are the current collections and spaces."""
        return (tuple(collections), tuple(spaces)) == (self._collections, self._spaces)

    def with_other_content(self, spaces: Sequence[Space]) -> list[str]:
        """Return the ids of the spaces whose pages are loaded and whose revision differs in `spaces`."""
        before = {space.id: space.revision for space in self._spaces if space.id in self._pages}
        return [space.id for space in spaces if before.get(space.id, space.revision) != space.revision]

    def all_collections(self) -> list[Item]:
        """Return all collections, in the order of the tree."""
        return [item for item in self._in_order(None) if item.kind == "collection"]

    def swap(self, one: str, other: str) -> None:
        """Swap two sibling spaces, or two sibling collections, by key."""
        first, second = self.item(one), self.item(other)
        if first is None or second is None:
            return
        if first.space and second.space:
            self._spaces = _swapped(self._spaces, first.space.id, second.space.id)
        elif first.collection and second.collection:
            self._collections = _swapped(self._collections, first.collection.id, second.collection.id)
        self._index()

    def _in_order(self, key: str | None) -> Iterator[Item]:
        for item in self._children.get(key, ()):
            yield item
            yield from self._in_order(item.key)

    def path(self, key: str | None) -> list[Item]:
        """Return the ancestors of an item and the item itself, outermost first, without collections."""
        items = [self.item(part) for part in (*self.ancestors(key or ""), key)]
        return [item for item in items if item and item.kind != "collection"]

    def nodes(self, key: str | None) -> list[Node]:
        """Return the nodes of an item's children that match the filter. The key None is the root of the tree."""
        visible, items = self._visible, self._children.get(key, ())
        return [self._node(item) for item in items if visible is None or item.key in visible]

    def _node(self, item: Item) -> Node:
        line = label(item)
        if self._is_bookmarked(item.key):
            line = (*line, Span(" ★", "accent"))
        if item.kind == "space" and item.space:
            request = self.requests.get(item.space.id)
            count = f"{item.space.change_requests_open} " if item.space.change_requests_open else ""
            state = self._notifications(item.space.id)
            marks = (*((Span(f"{state} ", "quiet"),) if state else ()), *signs(item.space))
            if request is None:
                return Node(item.key, line, (*marks, Span(count, "quiet")), expandable=True)
            brief = (*marks, Span(f"in #{request.number} ", "accent"))
            note = (*brief, Span(f"· {count}", "quiet")) if count else brief
            return Node(item.key, line, note, expandable=True, brief_note=brief)
        if item.shortcut:
            return self._shortcut_node(item, item.shortcut)
        if item.site:
            waiting, style = mark_of(item.site)
            return Node(item.key, line, (*((Span(waiting, style),) if waiting else ()), *site_state(item.site)))
        is_group = item.kind in ("collection", "shortcuts", SITES)
        return Node(item.key, line, expandable=is_group or bool(item.page and item.page.pages))

    def _shortcut_node(self, item: Item, shortcut: Shortcut) -> Node:
        """Return the node of a shortcut: the label and the place of its target, or a note that the target is gone."""
        target = self.item(shortcut.target)
        if self.is_gone(shortcut):
            return Node(item.key, (Span(sanitize(item.title) or "(no title)", "quiet"),), (Span("gone ", "waiting"),))
        parent = self.item(f"space {shortcut.ids[0]}") if shortcut.kind == "page" else None
        where = parent.title if parent else shortcut.where
        note = where if shortcut.kind == "page" else shortcut.kind
        return Node(item.key, label(target or item), (Span(f"{sanitize(note)} ", "quiet"),))

    def _index(self) -> None:
        self._items, self._children = {}, {}
        for group, title in ((BOOKMARKED, "Bookmarks"), (OPENED, "Recent")):
            shortcuts = self._shortcuts.get(group, ())
            if shortcuts:
                self._add(Item(group, "shortcuts", title, None))
            for shortcut in shortcuts:
                key = f"{group} {shortcut.target}"
                self._add(Item(key, "shortcut", shortcut.title, group, shortcut=shortcut))
        parents = _parents(self._collections)

        def parent_key(parent: str | None) -> str | None:
            return f"collection {parent}" if parent in parents else None

        for collection in self._collections:
            parent = parent_key(parents[collection.id])
            key = f"collection {collection.id}"
            self._add(Item(key, "collection", collection.title, parent, collection=collection))
        for space in self._spaces:
            key = f"space {space.id}"
            self._add(Item(key, "space", space.title, parent_key(space.parent), space))
            pages = self.pages(space.id)
            self._add_pages(pages.pages if pages else (), space, key)
        sites = (self._sites or ()) if self._is_loaded else ()
        if sites:
            self._add(Item(SITES, SITES, "Sites", None))
        for site in sites:
            self._add(Item(f"site {site.id}", "site", site.title, SITES, site=site))
        self._filter()

    def _filter(self) -> set[str]:
        ancestors = set[str]()
        self._visible = None
        if self._text:
            matches = [item for item in self._items.values() if self._text in item.title.lower()]
            ancestors.update(key for item in matches for key in self.ancestors(item.key))
            inside = (below.key for item in matches for below in self._in_order(item.key))
            self._visible = {*ancestors, *inside, *(item.key for item in matches)}
        return ancestors

    def _add_pages(self, pages: Iterable[RevisionPage], space: Space, parent: str) -> None:
        for page in pages:
            key = page_key(space.id, page.id)
            if self._add(Item(key, page.type, page.link_title or page.title, parent, space, page)):
                self._add_pages(page.pages, space, key)

    def _add(self, item: Item) -> bool:
        """Add an item below its parent. Returns False if the tree has the key already, as for a page inside itself."""
        if item.key in self._items:
            return False
        self._items[item.key] = item
        self._children.setdefault(item.parent, []).append(item)
        return True


def _parents(collections: Iterable[Collection]) -> dict[str, str | None]:
    """Return the parent ids of collections; None at the top. If collections contain each other, the first has None."""
    parents = {collection.id: collection.parent for collection in collections}
    for collection in list(parents):
        seen, parent = {collection}, parents[collection]
        while parent in parents and parent not in seen:
            seen.add(parent)
            parent = parents[parent]
        if parent in seen:
            parents[collection] = None
    return parents


def _swapped(items: Sequence[Placed], one: str, other: str) -> tuple[Placed, ...]:
    """Return the items after swapping the two items with these ids."""
    places = {item.id: at for at, item in enumerate(items)}
    changed = list(items)
    changed[places[one]], changed[places[other]] = items[places[other]], items[places[one]]
    return tuple(changed)


def label(item: Item) -> Line:
    """Return the title of an item, after its emoji or the sign of its kind."""
    page = item.page
    style = STYLES.get(item.kind, "quiet" if page and page.hidden else "")
    character = (emoji_character(page.emoji) or icon_sign(page.icon or "")) if page else ""
    emoji = (Span(f"{character} "),) if character else ()
    head = emblem(item.space) if item.kind == "space" and item.space else emoji
    if kind := {"collection": COLLECTION, "site": SITE}.get(item.kind):
        head = (Span(f"{kind.sign} ", "quiet"),)
    hidden = (Span("  hidden", "quiet"),) if page and page.hidden else ()
    outside = (Span(" ↗", "quiet"),) if item.kind == "link" else ()
    return (*head, Span(sanitize(with_emoji(item.title)) or "(no title)", style), *outside, *hidden)
