"""The session of the browse screen: collections, spaces, pages and sites, and the target of the cursor."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from presscheck.api.change_requests import GetChangeRequest
from presscheck.api.collections import ListCollections
from presscheck.api.content import ListChangeRequestPages, ListPages, Pages
from presscheck.api.operation import ALL
from presscheck.api.organizations import ListOrganizations
from presscheck.api.sites import ListSites
from presscheck.api.spaces import ListSpaces
from presscheck.engine.inbox.notification_settings import NotificationTarget
from presscheck.engine.reads.cached_reads import lacking
from presscheck.engine.review.nearest_request import nearest_request
from presscheck.engine.shared_calls import home_requests
from presscheck.engine.shortcuts import Shortcut
from presscheck.errors import NotSupported
from presscheck.text.sanitize import sanitize
from presscheck.tui.commands import key_for, with_keys
from presscheck.tui.screens.browse.deleted_spaces import DeletedSpaces
from presscheck.tui.screens.browse.page_tree import BOOKMARKED, OPENED, SITES, Item, Library, page_key
from presscheck.tui.screens.organization import choose_organization
from presscheck.tui.widgets.outline import OutlineList
from presscheck.tui.widgets.page_view import PageView

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest
    from presscheck.api.operation import Operation, Page
    from presscheck.api.organizations import Organization
    from presscheck.api.sites import Site
    from presscheck.engine.results import Result
    from presscheck.errors import PresscheckError
    from presscheck.tui.ui.screen import BaseScreen
    from presscheck.tui.widgets.tree import Tree

MANY = 10_000
NO_SPACES = "There are no spaces yet: {add} creates one. `presscheck serve --docs DIR` imports one."
ENDED = ("merged", "archived")
"""The states in which a change request cannot be edited."""


class ContentTree:
    """The loaded tree, its cursor, and the change request in which each space is shown.

    A space goes back to main when its change request is merged or archived. A change request that was merged or
    archived before it was opened stays open, so that it can be read.

    Args:
        screen: the browse screen.
        tree_view: the widget of the tree.
    Attributes:
        library: the collections, spaces, pages and sites loaded so far.
        page_view: the widget that shows the page under the cursor.
        outline: the headings of the page.
        organization: the organization; None until it is loaded.
        listings: the listings of collections, spaces and sites; empty until the organization is loaded.
        message: the text that is shown while no item is under the cursor.
        hints: hints for spaces without readable pages, by id of the space.
        has_failed: whether the last request of a listing failed.
        moves: the number of unsent moves of spaces and collections.
        unsettled: the kinds of items that were moved, until the service returns the new order.
    """

    def __init__(self, screen: BaseScreen, tree_view: Tree) -> None:
        engine = screen.engine
        self.screen, self.tree_view, self._engine = screen, tree_view, engine
        self.page_view = PageView(id="page")
        self.outline = OutlineList(self.page_view, id="outline")
        self.library = Library(
            lambda space: engine.notification_settings.state(NotificationTarget(space)),
            engine.shortcuts.is_bookmarked,
        )
        self.organization: Organization | None = None
        self.listings: tuple[ListCollections, ListSpaces, ListSites] | tuple[()] = ()
        self.message = "Loading …"
        self.hints: dict[str, str] = {}
        self.has_failed = False
        self.moves = 0
        self.unsettled: set[str] = set()
        self._target = ""
        """The key of the item that the cursor goes to once it is loaded."""
        self._opens = ""
        """The key `_target` if the item counts as opened when the cursor reaches it; else empty."""
        self._target_space = ""
        """The id of a space that will be shown in a change request once the change request is loaded."""
        self._is_new = True
        self._back: list[str] = []
        self._forward: list[str] = []

    @property
    def item(self) -> Item | None:
        """The item under the cursor. On a shortcut, its target if the target is loaded."""
        return self.library.target(self.tree_view.key) if self.screen.is_mounted else None

    @property
    def organization_id(self) -> str:
        """The id of the organization; empty until it is loaded."""
        return self.organization.id if self.organization else ""

    def request_of(self, item: Item | None) -> ChangeRequest | None:
        """Return the change request in which the space of an item is shown; None on main or without a space."""
        return self.library.requests.get(item.space.id) if item and item.space else None

    # loading

    def load(self) -> None:
        """Load the organization and its contents."""
        answers = self._engine.watch(ListOrganizations())
        self.screen.subscribe(answers, self._take_organizations, group="organizations")

    def _take_organizations(self, result: Result[Page[Organization] | None]) -> None:
        screen, engine = self.screen, self._engine
        organizations = result.value.items if result.value else ()
        organization = choose_organization(organizations, screen.app_context.profile.organization)
        if organization is None:
            why = f": {sanitize(result.error.message)}" if result.error else "."
            self.message = "You are not a member of an organization yet." if result.value else f"Not loaded yet{why}"
            screen.redraw()
        if organization is None or (self.organization and self.organization.title == organization.title):
            return
        self.organization = organization
        collections = ListCollections(organization_id=organization.id, nested=True)
        spaces = ListSpaces(organization_id=organization.id)
        sites = ListSites(organization_id=organization.id, limit=ALL)
        self.listings = (collections, spaces, sites)
        for listing, kind in ((collections, "collection"), (spaces, "space")):
            take = partial(self._take_spaces, kind)
            screen.subscribe(engine.watch_listing(listing), take, group=type(listing).__name__)
        screen.subscribe(engine.watch(sites), self._take_sites, group="sites", shows_errors=False)

    def _take_spaces(self, kind: str, result: Result[int]) -> None:
        self.has_failed = result.error is not None
        if result.state != "cached" and not self.moves:
            self.unsettled.discard(kind)
        if not (self.moves or self.unsettled):  # until then, results are older than the displayed order
            self.reload_spaces()

    def _take_sites(self, result: Result[Page[Site] | None]) -> None:
        """Show the sites. After an error the tree stays as it is: the service may have no sites or hide them."""
        if result.value is not None and self.library.set_sites(result.value.items):
            self.screen.redraw()

    def reload_spaces(self) -> None:
        """Show the stored collections and spaces, and refresh pages of spaces that have changed."""
        if not self.listings:
            return
        engine, library = self._engine, self.library
        listed_collections, listed_spaces, _ = self.listings
        collections, spaces = engine.window(listed_collections, 0, MANY), engine.window(listed_spaces, 0, MANY)
        if collections.age is None or spaces.age is None:
            return
        if library.has(collections.items, spaces.items) and not self._is_new:
            return
        now = {space.id for space in spaces.items}
        gone = [space for space in library.spaces if space.id not in now]
        if gone:
            DeletedSpaces(engine).remember(self.organization_id, gone)
        changed = library.with_other_content(spaces.items)
        library.set_spaces(collections.items, spaces.items)
        for space in changed:
            engine.refresh(ListPages(space_id=space))
        if not spaces.items:
            missing = engine.missing_reason(ListSpaces)
            empty = (
                f"{missing}, and none is in a collection, a change request or a site."
                if missing
                else with_keys(NO_SPACES)
            )
            self.message = empty
        if self._is_new:
            self._is_new = False
            self.tree_view.expanded |= {*library.collections(), BOOKMARKED, SITES}
            self.read_shortcuts()
            first = self._project_key() or library.first_key
            self.tree_view.show(cursor=self.tree_view.key or first)
        self.screen.redraw()

    def _project_key(self) -> str | None:
        """Return the key of the project's space; None if no space has its id or title."""
        project = self.screen.app_context.profile.project
        name = project.space if project else None
        return next((f"space {space.id}" for space in self.library.spaces if name in (space.id, space.title)), None)

    def load_pages(self, space_id: str) -> None:
        """Load the pages of a space, on main or in the change request in which it is shown."""
        request = self.library.requests.get(space_id)
        call: Operation[Pages] = (
            ListChangeRequestPages(space_id=space_id, change_request_id=request.id)
            if request
            else ListPages(space_id=space_id)
        )
        take = partial(self._take_pages, space_id)
        self.screen.subscribe(self._engine.watch(call), take, group=f"pages-{space_id}", shows_errors=False)

    def _take_pages(self, space_id: str, result: Result[Pages | None]) -> None:
        screen, library = self.screen, self.library
        if result.error and result.state == "failed":
            if isinstance(result.error, NotSupported) and space_id not in library.requests:
                screen.run(partial(self._show_some_request, space_id, result.error), group=f"request-{space_id}")
            else:
                screen.app_context.show_error(result.error)
        is_first = library.pages(space_id) is None
        if result.value is not None:
            library.set_pages(space_id, result.value)
            if is_first:
                self.tree_view.expanded |= library.groups(space_id)
            if result.state in ("fresh", "unchanged") and space_id not in library.requests:
                self._give_up_target(space_id)
        screen.redraw()

    async def _show_some_request(self, space_id: str, error: PresscheckError) -> None:
        """Show a space in a change request, because the service does not return its content on main.

        If the space has no change request, store a hint.
        """
        request = await nearest_request(self._engine, space_id)
        if request is None:
            self.hints[space_id] = f"{sanitize(error.message)}. {key_for('new_request')} starts a change request."
            self.screen.redraw()
        elif space_id not in self.library.requests:
            self.library.requests[space_id] = request
            self.screen.notify(f"{sanitize(lacking(ListPages.feature or ''))}: shown as in #{request.number}")
            self.load_pages(space_id)
            self.screen.redraw()

    # the target of the cursor

    def open_page(
        self, space_id: str, page_id: str | None, change_request_id: str | None = None, link: str = ""
    ) -> None:
        """Go to a space or page once it is loaded.

        Args:
            space_id: the id of the space.
            page_id: the id of the page; None for the space.
            change_request_id: the id of the change request in which to show the space; None keeps the current one.
            link: the target of a link, as written, to which the cursor moves on the page; empty for none.
        """
        item = self.item
        is_shown = bool(item and item.page and item.key == page_key(space_id, page_id or ""))
        self.page_view.seek(link, is_shown=is_shown)
        self._target = self._opens = page_key(space_id, page_id) if page_id else f"space {space_id}"
        self.tree_view.expanded.add(f"space {space_id}")
        self._target_space = space_id if change_request_id else ""
        if change_request_id:
            call = GetChangeRequest(space_id=space_id, change_request_id=change_request_id)
            self.screen.subscribe(self._engine.watch(call), self._take_request, group="request")
            return
        self.load_pages(space_id)
        self.move_to_target()

    def visit_page(self, space_id: str, page_id: str) -> None:
        """Go to a page of a space, and add the current item to the history."""
        self._remember(page_key(space_id, page_id))
        self.open_page(space_id, page_id)

    def visit(self, key: str) -> None:
        """Go to an item, and add the current item to the history."""
        self._remember(key)
        self.go_to(key)

    def _remember(self, key: str) -> None:
        item = self.item
        if item and item.key != key:
            self._back.append(item.key)
            self._forward.clear()

    def reason_history_back(self) -> str | None:
        """Return why the cursor cannot go back: the history has no previous page."""
        return None if self._back else "no previous page"

    def command_history_back(self) -> None:
        """Go back in the history."""
        self._step(self._back, self._forward)

    def reason_history_forward(self) -> str | None:
        """Return why the cursor cannot go forward: the history has no next page."""
        return None if self._forward else "no next page"

    def command_history_forward(self) -> None:
        """Go forward in the history."""
        self._step(self._forward, self._back)

    def _step(self, source: list[str], target: list[str]) -> None:
        item = self.item
        if item:
            target.append(item.key)
        self.go_to(source.pop())

    def go_to(self, key: str) -> None:
        """Move the cursor to an item once it is loaded."""
        self._target = key
        self.move_to_target()
        self.screen.refresh_status_bars()

    def move_to_target(self) -> None:
        """Move the cursor to its target if the target is loaded. If the target is a page, focus the page."""
        item = self.library.item(self._target)
        if item is None:
            return
        self._target = ""
        self.tree_view.move_to_key(item.key, ancestors=self.library.ancestors(item.key))
        if item.kind == "document":
            self.page_view.focus()
        if item.kind == "document" or self._opens == item.key:
            self.note_opened(item)
        self._opens = ""

    def _give_up_target(self, space_id: str) -> None:
        """Drop the target page with a message if it is missing after the pages of its space are loaded."""
        kind, _, ids = self._target.partition(" ")
        is_page_here = kind == "page" and ids.startswith(f"{space_id} ")
        if is_page_here and self.library.item(f"space {space_id}") and self.library.item(self._target) is None:
            self._target = self._opens = ""
            self.screen.notify("that page is gone: it was deleted, or you can no longer see it")

    # the change requests in which spaces are shown

    def browse_in(self, space_id: str, request: ChangeRequest | None) -> None:
        """Show a space in a change request, or on main if `request` is None."""
        screen = self.screen
        self._target_space = ""
        if request:
            self.library.requests[space_id] = request
            screen.app_context.remember_review(space_id, request.id)
            screen.notify(f"editing #{request.number}: {key_for('go_review')} opens its review, to merge it")
        else:
            self.library.requests.pop(space_id, None)
            screen.notify("showing main again")
        self._watch_request(space_id, request)
        self.tree_view.expanded.add(f"space {space_id}")
        self.load_pages(space_id)
        screen.redraw()

    def _watch_request(self, space_id: str, request: ChangeRequest | None) -> None:
        group = f"browsed-{space_id}"
        if request is None or request.status in ENDED:
            self.screen.unsubscribe(group)
            return
        call = GetChangeRequest(space_id=space_id, change_request_id=request.id)
        take = partial(self._take_browsed, space_id, request.id)
        self.screen.subscribe(self._engine.watch(call), take, group=group, shows_errors=False)

    def _take_request(self, result: Result[ChangeRequest | None]) -> None:
        if self._target_space and result.value:
            self.browse_in(self._target_space, result.value)
        elif self._target_space and result.error:
            if result.state == "offline":
                self.screen.notify("showing main: the change request is not in the cache")
            self.load_pages(self._target_space)

    def _take_browsed(self, space_id: str, request_id: str, result: Result[ChangeRequest | None]) -> None:
        if result.value and result.value.id == request_id:
            self._leave_if_ended(space_id, result.value)

    async def has_ended(self, space_id: str) -> bool:
        """Return whether the change request of a space is merged or archived, according to the service.

        If it has ended since it was opened, the space goes back to main.

        Raises:
            PresscheckError: the change request cannot be read.
        """
        browsed = self.library.requests.get(space_id)
        if browsed is None:
            return False
        now = await self._engine.read(GetChangeRequest(space_id=space_id, change_request_id=browsed.id))
        self._leave_if_ended(space_id, now)
        return now.status in ENDED

    def ended_reason(self, item: Item | None) -> str | None:
        """Return why the change request of an item's space cannot be edited; None on main, or if it can."""
        browsed = self.request_of(item)
        if browsed is None or browsed.status not in ENDED:
            return None
        return (
            f"#{browsed.number} is {sanitize(browsed.status)}: {key_for('new_request')} "
            "leaves it, or chooses another one"
        )

    def _leave_if_ended(self, space_id: str, now: ChangeRequest) -> None:
        browsed = self.library.requests.get(space_id)
        if browsed is None or browsed.id != now.id:
            return
        if now.status not in ENDED:
            self.library.requests[space_id] = now
            self.screen.refresh_status_bars()
        elif browsed.status not in ENDED:
            self.browse_in(space_id, None)
            for call in home_requests(space_id).values():
                self._engine.refresh(call)
            self.screen.notify(f"#{now.number} is {sanitize(now.status)}: showing main again")

    # shortcuts

    def read_shortcuts(self) -> bool:
        """Load the shortcuts from the store into the tree. Returns True if any changed."""
        organization, shortcuts = self.organization_id, self._engine.shortcuts
        if not organization or self._is_new:
            return False
        return self.library.set_shortcuts(shortcuts.bookmarks(organization), shortcuts.recent(organization))

    def note_opened(self, item: Item | None) -> None:
        """Record that a page, space, collection or site was opened.

        The recent list in the tree is updated only while it is collapsed, or when the screen is shown again: rows must
        not move while somebody is reading them.
        """
        shortcut = self.shortcut_to(item)
        if shortcut is None or item is None or item.shortcut:
            return
        self._engine.shortcuts.opened(shortcut)
        if self.library.item(OPENED) and OPENED not in self.tree_view.expanded and self.read_shortcuts():
            self.tree_view.show()

    def shortcut_to(self, item: Item | None) -> Shortcut | None:
        """Return a shortcut to an item, or the shortcut that the item is; None if the item cannot have a shortcut."""
        if item is None or item.shortcut or item.kind == "shortcuts":
            return item.shortcut if item else None
        parent = self.library.item(item.parent)
        if item.kind == SITES:
            return None
        is_in_other = parent is not None and parent.key != SITES
        where = item.space.title if item.page and item.space else parent.title if parent and is_in_other else ""
        return Shortcut(item.key, item.title, where, self.organization_id)
