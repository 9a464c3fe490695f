"""The browse screen: collections, spaces and pages in one tree, with the page under its cursor on the right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal

from presscheck.api.change_requests import ChangeRequest, GetChangeRequest
from presscheck.api.collections import ListCollections
from presscheck.api.content import ListChangeRequestPages, ListPages, Pages
from presscheck.api.operation import Operation, Page
from presscheck.api.organizations import ListOrganizations, Organization
from presscheck.api.spaces import ListSpaces, Space
from presscheck.engine.reads.unsupported_calls import lacking
from presscheck.engine.results import Result
from presscheck.engine.review.nearest_request import nearest_request
from presscheck.errors import NotSupported, PresscheckError
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.screens.base_screen import BaseScreen
from presscheck.tui.screens.browse.edit_actions import EditActions
from presscheck.tui.screens.browse.page_pane import PagePane
from presscheck.tui.screens.browse.page_tree import Item, Library, page_key
from presscheck.tui.screens.organization import choose_organization
from presscheck.tui.widgets.page_view import PageView
from presscheck.tui.widgets.tree import Node, Tree

MANY = 10_000
NO_SPACES = "There are no spaces yet. `presscheck serve --docs DIR` imports one."


class BrowseScreen(BaseScreen):
    """The tree on the left, the page under its cursor on the right."""

    FOOTER = ("open", "labels", "edit", "new_request", "find_anything", "close")

    def __init__(self) -> None:
        super().__init__()
        self.library = Library()
        self.page_pane = PagePane(self)
        self.edit_actions = EditActions(self)
        self._organization = ""
        self._target = ""
        """The key of the item that the cursor goes to as soon as it is known."""
        self._is_new = True

    def command_handlers(self) -> Iterable[object]:
        """The screen, its page pane and its edit actions."""
        return (self, self.page_pane, self.edit_actions)

    def title_line(self) -> Line:
        """The path to what is under the cursor."""
        item = self.item
        request = self.library.requests.get(item.space.id) if item and item.space else None
        path = [sanitize(self._organization), *self.library.path_titles(item.key if item else None)]
        line: Line = (Span(" " + " › ".join(part for part in path if part), "quiet"), Span(self.page_pane.age, "quiet"))
        if request is None:
            return line
        subject = sanitize(request.subject) or "(no subject)"
        return (Span(f" #{request.number} {subject} ", "accent strong"), Span("›", "quiet"), *line)

    def body(self) -> ComposeResult:
        """Tree and page."""
        with Horizontal():
            yield Tree(self._children, self.style_for, id="tree")
            yield PageView(self.style_for, id="page")

    def on_mount(self) -> None:
        """Show what is stored, then subscribe to what is new."""
        super().on_mount()
        self.tree_view.focus()
        self.page_pane.show_text("Loading …")
        self.subscribe(self.engine.watch(ListOrganizations()), self._take_organizations, group="organizations")

    @property
    def tree_view(self) -> Tree:
        """The tree."""
        return self.query_one(Tree)

    @property
    def page_view(self) -> PageView:
        """The widget that shows a page."""
        return self.query_one(PageView)

    @property
    def item(self) -> Item | None:
        """What is under the cursor of the tree."""
        return self.library.item(self.tree_view.key) if self.is_mounted else None

    def open_page(self, space_id: str, page_id: str | None, change_request_id: str | None = None) -> None:
        """Go to a space or a page as soon as it is known, in a change request if one is given."""
        self._target = page_key(space_id, page_id) if page_id else f"space {space_id}"
        if change_request_id:
            call = GetChangeRequest(space_id=space_id, change_request_id=change_request_id)
            self.subscribe(
                self.engine.watch(call), lambda result: self._take_request(space_id, result), group="request"
            )
        self.tree_view.expanded.add(f"space {space_id}")
        self._subscribe_pages(space_id)
        self._move_to_target()

    def go_to(self, key: str) -> None:
        """Put the cursor on an item as soon as it is known."""
        self._target = key
        self._move_to_target()

    def browse_in(self, space: Space, request: ChangeRequest | None) -> None:
        """Show a space in a change request from now on, or (None) on main."""
        if request:
            self.library.requests[space.id] = request
            self.app_context.remember_review(space.id, request.id)
            self.notify(f"editing #{request.number}: g r opens its review, to merge it")
        else:
            self.library.requests.pop(space.id, None)
            self.notify("showing main again")
        self.tree_view.expanded.add(f"space {space.id}")
        self._subscribe_pages(space.id)
        self.page_pane.show_page()

    def command_back(self) -> None:
        """Go from the page to the tree."""
        self.tree_view.focus()

    @on(Tree.NodeHighlighted)
    def node_highlighted(self) -> None:
        """Show the page of another row."""
        self.page_pane.show_page()

    @on(Tree.NodeSelected)
    def node_selected(self) -> None:
        """Expand or collapse; go into a page; open a link."""
        item = self.item
        if item and item.kind in ("document", "computed"):
            self.page_view.focus()
        elif item and item.kind == "link":
            self.page_pane.follow_link(item.page.href or "" if item.page else "")
        else:
            self.tree_view.toggle()

    @on(Tree.NodeExpanded)
    def node_expanded(self, event: Tree.NodeExpanded) -> None:
        """Load the pages of a space."""
        item = self.library.item(event.key)
        if item and item.kind == "space" and item.space:
            self._subscribe_pages(item.space.id)

    @on(PageView.LinkChosen)
    def link_chosen(self, event: PageView.LinkChosen) -> None:
        """Follow a link on the page."""
        self.page_pane.follow_link(event.target)

    def _children(self, key: str | None) -> Sequence[Node]:
        return self.library.nodes(key)

    def _take_organizations(self, result: Result[Page[Organization] | None]) -> None:
        organizations = result.value.items if result.value else ()
        organization = choose_organization(organizations, self.app_context.profile.organization)
        if organization is None:
            self.page_pane.show_text(
                "You are not a member of an organization yet." if result.value else "Not loaded yet."
            )
        if organization is None or self._organization == organization.title:
            return
        self._organization = organization.title
        collections = ListCollections(organization_id=organization.id, nested=True)
        spaces = ListSpaces(organization_id=organization.id)
        for listing in (collections, spaces):
            answers = self.engine.watch_listing(listing)
            self.subscribe(answers, lambda _: self._take_spaces(collections, spaces), group=type(listing).__name__)

    def _take_spaces(self, collections: ListCollections, spaces: ListSpaces) -> None:
        known_collections = self.engine.window(collections, 0, MANY)
        known_spaces = self.engine.window(spaces, 0, MANY)
        if known_collections.age is None or known_spaces.age is None:
            return
        self.library.set_spaces(known_collections.items, known_spaces.items)
        if not known_spaces.items:
            missing = self.engine.missing_reason(ListSpaces)
            empty = f"{missing}, and none is in a collection, a change request or a site." if missing else NO_SPACES
            self.page_pane.show_text(empty)
        if self._is_new:
            self._is_new = False
            self.tree_view.expanded |= self.library.collections()
        self._redraw()

    def _redraw(self) -> None:
        self.tree_view.show()
        self._move_to_target()
        self.page_pane.show_page()

    def _move_to_target(self) -> None:
        item = self.library.item(self._target)
        if item is None:
            return
        self._target = ""
        self.tree_view.move_to_key(item.key, ancestors=self.library.ancestors(item.key))
        if item.kind == "document":
            self.page_view.focus()

    def _subscribe_pages(self, space_id: str) -> None:
        request = self.library.requests.get(space_id)
        call: Operation[Pages] = (
            ListChangeRequestPages(space_id=space_id, change_request_id=request.id)
            if request
            else ListPages(space_id=space_id)
        )
        self.subscribe(
            self.engine.watch(call),
            lambda result: self._take_pages(space_id, result),
            group=f"pages-{space_id}",
            shows_errors=False,
        )

    def _take_pages(self, space_id: str, result: Result[Pages | None]) -> None:
        if result.error and result.state == "failed":
            if isinstance(result.error, NotSupported) and space_id not in self.library.requests:
                self.run(partial(self._show_some_request, space_id, result.error), group=f"request-{space_id}")
            else:
                self.app_context.show_error(result.error)
        is_first = self.library.pages(space_id) is None
        if result.value is not None:
            self.library.set_pages(space_id, result.value)
            if is_first:
                self.tree_view.expanded |= self.library.groups(space_id)
        self._redraw()

    async def _show_some_request(self, space_id: str, error: PresscheckError) -> None:
        """Show a space in a change request, because the service does not show its content outside of one."""
        request = await nearest_request(self.engine, space_id)
        item = self.item
        if request is None:
            if item and item.space and item.space.id == space_id:
                self.page_pane.show_text(f"{sanitize(error.message)}. O starts a change request.")
        elif space_id not in self.library.requests:
            self.library.requests[space_id] = request
            self.notify(f"{sanitize(lacking(ListPages.feature or ''))}: shown as in #{request.number}")
            self._subscribe_pages(space_id)
            self._redraw()

    def _take_request(self, space_id: str, result: Result[ChangeRequest | None]) -> None:
        item = self.library.item(f"space {space_id}")
        if result.value and item and item.space and space_id not in self.library.requests:
            self.browse_in(item.space, result.value)
