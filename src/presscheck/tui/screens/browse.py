"""Browse: collections, spaces and their pages in one tree, and the page beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal

from presscheck.api.collections import Collection, ListCollections
from presscheck.api.content import GetPage, ListPages, Pages, RevisionPage
from presscheck.api.operation import Page
from presscheck.api.organizations import ListOrganizations, Organization
from presscheck.api.spaces import ListSpaces, Space
from presscheck.desk.seen import Seen
from presscheck.documents.display_text import display_text
from presscheck.documents.lines import PageLines
from presscheck.documents.moments import span
from presscheck.documents.spans import Line, Span, cut, pad
from presscheck.tui.screens.place import Place
from presscheck.tui.widgets.page_view import PageView
from presscheck.tui.widgets.rows import Rows

MANY = 10_000
WIDEST = 96
"""Columns of text that the eye still follows."""


@dataclass(frozen=True)
class Node:
    """One row of the tree."""

    key: str
    title: str
    level: int
    kind: str
    """collection, space, document, group or link."""
    space: str = ""
    count: int = 0


class Browse(Place):
    """The tree on the left, the page under its cursor on the right."""

    FOOTER = ("open", "right", "left", "go_inbox", "refresh", "close")

    def __init__(self) -> None:
        super().__init__()
        self.organization = ""
        self.nodes: list[Node] = []
        self.opened: set[str] = set()
        self._collections: tuple[Collection, ...] = ()
        self._spaces: tuple[Space, ...] = ()
        self._pages: dict[str, Pages] = {}
        self._seen = ""
        self._shown = ("", "", "")

    def title_line(self) -> Line:
        """The way to what is under the cursor."""
        node = self._current()
        way = [self.organization]
        if node:
            space = next((one.title for one in self._spaces if one.id == node.space), "")
            way += [space, node.title] if node.kind not in ("space", "collection") else [node.title]
        return (Span(" " + " › ".join(display_text(part) for part in way if part), "quiet"), Span(self._seen, "quiet"))

    def body(self) -> ComposeResult:
        """Tree and page."""
        with Horizontal():
            yield Rows(self._row, self.home.look, id="tree")
            yield PageView(self.home.look, id="page")

    def on_mount(self) -> None:
        """Show what is known, then follow what is new."""
        super().on_mount()
        self.query_one("#tree", Rows).focus()
        self.follow(self.desk.watch(ListOrganizations()), self._organized, group="organizations")

    def command_right(self) -> None:
        """Unfold; on a page, into the page."""
        node = self._current()
        if self.focused is self.query_one(PageView) or node is None:
            return
        if self._can_open(node) and node.key not in self.opened:
            self._open(node)
        elif node.kind == "document":
            self.query_one(PageView).focus()

    def command_left(self) -> None:
        """Out of the page, or fold."""
        node, tree = self._current(), self.query_one("#tree", Rows)
        if self.focused is self.query_one(PageView):
            tree.focus()
        elif node and node.key in self.opened:
            self.opened.discard(node.key)
            self._redraw()
        elif node:
            above = [at for at in range(tree.cursor) if self.nodes[at].level < node.level]
            tree.point(above[-1] if above else 0)

    def command_open(self) -> None:
        """Unfold or fold; into a page."""
        node = self._current()
        if node and node.kind in ("collection", "space") and node.key in self.opened:
            self.command_left()
        else:
            self.command_right()

    def command_back(self) -> None:
        """Out of the page."""
        self.query_one("#tree", Rows).focus()

    @on(Rows.RowPointed)
    def row_pointed(self) -> None:
        """Another row: its page is shown."""
        self._show_page()

    def _organized(self, seen: Seen[Page[Organization] | None]) -> None:
        wanted = self.home.profile.organization
        found = seen.value.items if seen.value else ()
        chosen = next((one for one in found if wanted in (one.id, one.title)), found[0] if found else None)
        if chosen is None or self.organization == chosen.title:
            return
        self.organization = chosen.title
        collections = ListCollections(organization_id=chosen.id, nested=True)
        spaces = ListSpaces(organization_id=chosen.id)
        self.follow(self.desk.watch_listing(collections), lambda _: self._gathered(collections, spaces), group="tree")
        self.follow(self.desk.watch_listing(spaces), lambda _: self._gathered(collections, spaces), group="spaces")

    def _gathered(self, collections: ListCollections, spaces: ListSpaces) -> None:
        if self.desk.window(collections, 0, 0).age is None:
            return
        if not self.opened:
            self.opened = {one.id for one in self.desk.window(collections, 0, MANY).items}
        self._collections = self.desk.window(collections, 0, MANY).items
        self._spaces = self.desk.window(spaces, 0, MANY).items
        self._redraw()

    def _redraw(self) -> None:
        before, tree = self._current(), self.query_one("#tree", Rows)
        self.nodes = list(self._rows_below(None, 0))
        at = next((at for at, node in enumerate(self.nodes) if before and node.key == before.key), tree.cursor)
        tree.show(len(self.nodes), cursor=at)
        self._show_page()

    def _rows_below(self, parent: str | None, level: int) -> Iterator[Node]:
        known = {one.id for one in self._collections}
        for one in self._collections:
            if one.parent == parent or (parent is None and one.parent not in known):
                yield Node(one.id, one.title, level, "collection")
                if one.id in self.opened:
                    yield from self._rows_below(one.id, level + 1)
        for space in self._spaces:
            if space.parent == parent or (parent is None and space.parent not in known):
                yield Node(space.id, space.title, level, "space", space.id, space.change_requests_open)
                if space.id in self.opened and space.id in self._pages:
                    yield from self._page_rows(self._pages[space.id].pages, space.id, level + 1)

    def _page_rows(self, pages: tuple[RevisionPage, ...], space: str, level: int) -> Iterator[Node]:
        for page in pages:
            yield Node(page.id, page.title, level, page.type, space)
            if page.pages:
                yield from self._page_rows(page.pages, space, level + 1)

    def _row(self, index: int, columns: int) -> Line:
        node = self.nodes[index]
        sign = ("▾ " if node.key in self.opened else "▸ ") if self._can_open(node) else "  "
        style = {"collection": "strong", "space": "strong", "group": "quiet", "link": "link"}.get(node.kind, "")
        name = (Span("  " * node.level + sign, "quiet"), Span(display_text(node.title), style))
        count = f"{node.count}" if node.count else ""
        return (*pad(cut(name, columns - 5), columns - 5), Span(f"{count:>3} ", "quiet"), Span("│", "quiet"))

    def _can_open(self, node: Node) -> bool:
        return node.kind in ("collection", "space")

    def _open(self, node: Node) -> None:
        self.opened.add(node.key)
        if node.kind == "space":
            pages = ListPages(space_id=node.space)
            self.follow(self.desk.watch(pages), lambda seen: self._paged(node.space, seen), group=f"pages-{node.space}")
        self._redraw()

    def _paged(self, space: str, seen: Seen[Pages | None]) -> None:
        if seen.value is not None:
            self._pages[space] = seen.value
        self._redraw()

    def _current(self) -> Node | None:
        tree = self.query_one("#tree", Rows) if self.is_mounted else None
        return self.nodes[tree.cursor] if tree and tree.cursor < len(self.nodes) else None

    def _show_page(self) -> None:
        node = self._current()
        self._seen = ""
        self.show_world()
        if node is None:
            self._say("Nothing is known of this organization yet.")
        elif node.kind == "document":
            ask = GetPage(space_id=node.space, page_id=node.key, format="markdown")
            self.follow(self.desk.watch(ask), lambda seen: self._page_seen(node, seen), group="page")
        else:
            hints = {"space": "enter shows its pages.", "collection": "enter folds and unfolds.", "link": "A link."}
            self._say(hints.get(node.kind, "A group of pages."))

    def _page_seen(self, node: Node, seen: Seen[RevisionPage | None]) -> None:
        if node != self._current():
            return
        if seen.value is None:
            why = seen.error.message if seen.error else "nothing is known of it"
            self._say(f"This page cannot be shown: {display_text(why)}")
            return
        self._seen = f"   {span(seen.age)} old" if seen.state == "offline" else ""
        self.show_world()
        self._open_page(node.key, seen.value.markdown or "", seen.value.title)

    def _open_page(self, key: str, markdown: str, title: str) -> None:
        """Show a page; the same page with the same words stays where the eye is."""
        if self._shown == (key, markdown, title):
            return
        is_other, self._shown = self._shown[0] != key, (key, markdown, title)
        self.query_one(PageView).show(
            lambda columns: PageLines(markdown, min(columns, WIDEST), title=title), line=0 if is_other else None
        )

    def _say(self, words: str) -> None:
        """Show a sentence instead of a page."""
        self._open_page("", words, "")
