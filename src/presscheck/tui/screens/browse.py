"""Browse: collections, spaces and their pages in one tree, and the page beside it, live or in a change request."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal

from presscheck.api.change_requests import ChangeRequest, GetChangeRequest
from presscheck.api.collections import ListCollections
from presscheck.api.content import ListChangeRequestPages, ListPages, Pages
from presscheck.api.operation import Operation, Page
from presscheck.api.organizations import ListOrganizations, Organization
from presscheck.api.spaces import ListSpaces, Space
from presscheck.desk.seen import Seen
from presscheck.documents.display_text import display_text
from presscheck.documents.spans import Line, Span
from presscheck.tui.screens.browse_edits import Editing
from presscheck.tui.screens.browse_tree import Item, page_key
from presscheck.tui.screens.organization import chosen
from presscheck.tui.widgets.page_view import PageView
from presscheck.tui.widgets.tree import Node, Tree

MANY = 10_000


class Browse(Editing):
    """The tree on the left, the page under its cursor on the right."""

    FOOTER = ("open", "labels", "edit", "new_request", "find_anything", "close")

    def __init__(self) -> None:
        super().__init__()
        self.organization = ""
        self._wanted = ""
        self._is_fresh = True

    def title_line(self) -> Line:
        """The way to what is under the cursor."""
        item = self.item
        request = self.library.requests.get(item.space.id) if item and item.space else None
        way = [display_text(self.organization), *self.library.way(item.key if item else None)]
        line: Line = (Span(" " + " › ".join(part for part in way if part), "quiet"), Span(self.age, "quiet"))
        if request is None:
            return line
        subject = display_text(request.subject) or "(no subject)"
        return (Span(f" #{request.number} {subject} ", "accent strong"), Span("›", "quiet"), *line)

    def body(self) -> ComposeResult:
        """Tree and page."""
        with Horizontal():
            yield Tree(self._children, self.style_for, id="tree")
            yield PageView(self.style_for, id="page")

    def on_mount(self) -> None:
        """Show what is known, then follow what is new."""
        super().on_mount()
        self.tree_view.focus()
        self.say("Asking the service …")
        self.subscribe(self.desk.watch(ListOrganizations()), self._organized, group="organizations")

    @property
    def tree_view(self) -> Tree:
        """The tree."""
        return self.query_one(Tree)

    @property
    def item(self) -> Item | None:
        """What is under the cursor."""
        return self.library.item(self.tree_view.key) if self.is_mounted else None

    def open_page(self, space_id: str, page_id: str | None, change_request_id: str | None = None) -> None:
        """Go to a space, or to a page in it, as soon as it is known; in that change request."""
        self._wanted = page_key(space_id, page_id) if page_id else f"space {space_id}"
        if change_request_id:
            ask = GetChangeRequest(space_id=space_id, change_request_id=change_request_id)
            self.subscribe(self.desk.watch(ask), lambda seen: self._request_seen(space_id, seen), group="request")
        self.tree_view.open.add(f"space {space_id}")
        self._watch_pages(space_id)
        self._go()

    def go_to(self, key: str) -> None:
        """Put the cursor on an item, as soon as it is known."""
        self._wanted = key
        self._go()

    def browse_in(self, space: Space, request: ChangeRequest | None) -> None:
        """Browse a space in a change request from now on, or (None) live."""
        if request:
            self.library.requests[space.id] = request
            self.app_context.remember_review(space.id, request.id)
            self.notify(f"you edit in #{request.number}: g r reviews it, and merges it")
        else:
            self.library.requests.pop(space.id, None)
            self.notify("what is shown is live again")
        self.tree_view.open.add(f"space {space.id}")
        self._watch_pages(space.id)
        self.show_page()

    def command_back(self) -> None:
        """Out of the page."""
        self.tree_view.focus()

    @on(Tree.NodePointed)
    def node_pointed(self) -> None:
        """Another row: its page is shown."""
        self.show_page()

    @on(Tree.NodeChosen)
    def node_chosen(self) -> None:
        """Fold and unfold; into a page."""
        item = self.item
        if item and item.kind in ("document", "computed"):
            self.query_one(PageView).focus()
        elif item and item.kind == "link":
            self.follow_target(item.page.href or "" if item.page else "")
        else:
            self.tree_view.toggle()

    @on(Tree.NodeUnfolded)
    def node_unfolded(self, event: Tree.NodeUnfolded) -> None:
        """A space shows its pages."""
        item = self.library.item(event.key)
        if item and item.kind == "space" and item.space:
            self._watch_pages(item.space.id)

    def _children(self, key: str | None) -> Sequence[Node]:
        return self.library.nodes(key)

    def _organized(self, seen: Seen[Page[Organization] | None]) -> None:
        found = seen.value.items if seen.value else ()
        organization = chosen(found, self.app_context.profile.organization)
        if organization is None:
            self.say("You are in no organization yet." if seen.value else "Nothing is known of it yet.")
        if organization is None or self.organization == organization.title:
            return
        self.organization = organization.title
        collections = ListCollections(organization_id=organization.id, nested=True)
        spaces = ListSpaces(organization_id=organization.id)
        for listing in (collections, spaces):
            answers = self.desk.watch_listing(listing)
            self.subscribe(answers, lambda _: self._gathered(collections, spaces), group=type(listing).__name__)

    def _gathered(self, collections: ListCollections, spaces: ListSpaces) -> None:
        found = self.desk.window(collections, 0, MANY)
        if found.age is None:
            return
        known = self.desk.window(spaces, 0, MANY)
        if known.age is None:
            return
        self.library.take(found.items, known.items)
        if not known.items:
            self.say("There is no space yet. `presscheck serve --docs DIR` brings one in.")
        if self._is_fresh:
            self._is_fresh = False
            self.tree_view.open |= self.library.collections()
        self._redraw()

    def _redraw(self) -> None:
        self.tree_view.show()
        self._go()
        self.show_page()

    def _go(self) -> None:
        """Go where somebody wished to be, if that is known by now."""
        item = self.library.item(self._wanted)
        if item is None:
            return
        self._wanted = ""
        self.tree_view.point_to(item.key, below=self.library.above(item.key))
        if item.kind == "document":
            self.query_one(PageView).focus()

    def _watch_pages(self, space_id: str) -> None:
        request = self.library.requests.get(space_id)
        ask: Operation[Pages] = (
            ListChangeRequestPages(space_id=space_id, change_request_id=request.id)
            if request
            else ListPages(space_id=space_id)
        )
        self.subscribe(self.desk.watch(ask), lambda seen: self._paged(space_id, seen), group=f"pages-{space_id}")

    def _paged(self, space_id: str, seen: Seen[Pages | None]) -> None:
        is_first = self.library.pages(space_id) is None
        if seen.value is not None:
            self.library.take_pages(space_id, seen.value)
            if is_first:
                self.tree_view.open |= self.library.groups(space_id)
        self._redraw()

    def _request_seen(self, space_id: str, seen: Seen[ChangeRequest | None]) -> None:
        item = self.library.item(f"space {space_id}")
        if seen.value and item and item.space and space_id not in self.library.requests:
            self.browse_in(item.space, seen.value)
