"""The browse screen: collections, spaces, pages and sites in one tree, with the page under its cursor on the right."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Sequence
from functools import partial
from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from typing_extensions import override

from presscheck.api.change_requests import ChangeRequest, GetChangeRequest
from presscheck.api.collections import ListCollections
from presscheck.api.content import ListChangeRequestPages, ListPages, Pages
from presscheck.api.operation import Operation, Page
from presscheck.api.organizations import ListOrganizations, Organization
from presscheck.api.spaces import ListSpaces
from presscheck.engine.inbox.notification_settings import NotificationTarget
from presscheck.engine.reads.cached_reads import lacking
from presscheck.engine.results import Result
from presscheck.engine.review.nearest_request import nearest_request
from presscheck.errors import NotSupported, PresscheckError
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.screens.browse.comment_actions import PageCommentActions
from presscheck.tui.screens.browse.content_actions import ContentActions, ReplaceActions
from presscheck.tui.screens.browse.edit_actions import BrowsedRequests, EditActions
from presscheck.tui.screens.browse.item_commands import ItemCommands
from presscheck.tui.screens.browse.live_tree import LiveTree
from presscheck.tui.screens.browse.move_actions import MoveActions
from presscheck.tui.screens.browse.page_pane import PagePane
from presscheck.tui.screens.browse.page_tree import BOOKMARKED, SITES, Item, Library, page_key
from presscheck.tui.screens.browse.revisions import RevisionActions
from presscheck.tui.screens.browse.shortcut_actions import ShortcutActions
from presscheck.tui.screens.browse.site_actions import TreeSites
from presscheck.tui.screens.browse.space_actions import DeletedSpaces, SpaceActions
from presscheck.tui.screens.browse.space_facts import LEGEND, site_words, words
from presscheck.tui.screens.browse.tree_filter import TreeFilter
from presscheck.tui.screens.notification_actions import NotificationActions, Selection
from presscheck.tui.screens.organization import choose_organization
from presscheck.tui.screens.spell_check import SpellingActions
from presscheck.tui.spell_checker import DoubtfulWord
from presscheck.tui.status_bar import ClickableLines
from presscheck.tui.ui.content_place import ContentPlace
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.widgets.line_view import LineView
from presscheck.tui.widgets.outline import OutlineList
from presscheck.tui.widgets.page_view import PageView
from presscheck.tui.widgets.pane_border import PaneBorder
from presscheck.tui.widgets.row_list import RowList
from presscheck.tui.widgets.tree import Node, Tree

MANY = 10_000
NO_SPACES = "There are no spaces yet: a creates one. `presscheck serve --docs DIR` imports one."
ON_SPACES = ("open", "add", "rename", "move_change", "find_anything", "close")
"""What the footer shows on a space or collection."""
ON_SITES = ("open", "publish", "rename", "why", "find_anything", "close")
"""What the footer shows on a site."""
NO_PAGES = ("space", "collection", "shortcuts", "shortcut", "sites", "site")
"""The kinds of items on which commands are about spaces and collections, not about pages."""


class BrowseScreen(BaseScreen):
    """The tree on the left, the page under its cursor on the right."""

    SCOPE = "browse"
    FOOTER = ("open", "labels", "edit", "comment", "new_request", "find_anything", "close")
    LEGEND = LEGEND

    def __init__(self) -> None:
        super().__init__()
        self.library = Library(
            lambda space: self.engine.notification_settings.state(NotificationTarget(space)),
            lambda key: self.engine.shortcuts.is_bookmarked(key),
        )
        self.shortcuts = ShortcutActions(self, self.open_page, self._subscribe_pages)
        self.sites = TreeSites(self)
        self.page_pane = PagePane(self, self.shortcuts.text, self.sites.lines)
        self._spelling = SpellingActions(self, lambda: self.page_pane.page_text, self._show_word)
        self._browsed_requests = BrowsedRequests(self)
        self.edit_actions = EditActions(self, self._browsed_requests)
        self.move_actions = MoveActions(self, self.edit_actions)
        self.space_actions = SpaceActions(self, self.edit_actions)
        self.comments = PageCommentActions(self)
        self.tree_filter = TreeFilter(self, lambda text: self.find.typed(text))
        self.item_commands = ItemCommands(
            lambda: self.item, self.shortcuts, self.space_actions, self.sites, self.edit_actions, self.move_actions
        )
        self.notifications = NotificationActions(self.engine, self.notify, self._selected_space, self.redraw)
        self._organization = ""
        self.organization_id = ""
        self._listings: tuple[ListCollections, ListSpaces] | None = None
        self._has_failed = False
        self._target = ""
        """The key of the item that the cursor goes to as soon as it is known."""
        self._opens = ""
        """The same key, if it counts as opened then."""
        self._target_space = ""
        """The id of the space that is browsed in a change request as soon as that is loaded."""
        self._is_new = True

    @override
    def command_handlers(self) -> Iterable[object]:
        """The screen, the page pane, what is read there, the actions on pages and on spaces, mute and follow."""
        return (
            self,
            self.page_pane,
            self.page_pane.navigation,
            RevisionActions(self),
            ReplaceActions(self),
            self._spelling,
            self.item_commands,
            self.edit_actions,
            self.move_actions,
            self.shortcuts,
            self.space_actions,
            self.sites,
            self.notifications,
            self.comments,
            ContentActions(self),
        )

    @override
    @property
    def footer_commands(self) -> tuple[str, ...]:
        item = self.item
        if item and item.site:
            return ON_SITES
        return ON_SPACES if item is None or item.kind in NO_PAGES else self.FOOTER

    @override
    def title_line(self) -> Line:
        item = self.item
        request = self.library.requests.get(item.space.id) if item and item.space else None
        items = self.library.path(item.key if item else None)
        parts = [Span(sanitize(part.title), "quiet", part.key) for part in items]
        if self._organization:
            parts.insert(0, Span(sanitize(self._organization), "quiet"))
        path = [span for part in parts for span in (Span(" › ", "quiet"), part)][1:]
        facts = words(item.space) if item and item.kind == "space" and item.space else ""
        if item and item.site:
            facts = site_words(item.site)
        line: Line = (Span(" ", "quiet"), *path, Span(f"   {facts}" if facts else "", "quiet"))
        line = (*line, Span(self.page_pane.age, "quiet"))
        if request is None:
            return line
        subject = sanitize(request.subject) or "(no subject)"
        return (Span(f" #{request.number} {subject} ", "accent strong"), Span("›", "quiet"), *line)

    @override
    def body(self) -> ComposeResult:
        with Horizontal(id="browse"):
            tree = Tree(
                self._children,
                on_highlight=self._show_item,
                can_mark=lambda key: key.startswith("page "),
                id="tree",
            )
            yield tree
            yield PaneBorder(tree)
            page = PageView(id="page")
            yield page
            yield OutlineList(page, id="outline")

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self.tree_view.focus()
        self.page_pane.show_text("Loading …")
        self.page_pane.navigation.outline.arrange()
        self.subscribe(self.engine.watch(ListOrganizations()), self._take_organizations, group="organizations")
        live = LiveTree(
            self.engine, self._live_listings, self._live_pages, lambda: self.is_shown, lambda: self._has_failed
        )
        self.run(live.run, group="live tree")

    @override
    def on_resize(self) -> None:
        super().on_resize()
        if self.page_view.is_mounted:
            self.page_pane.navigation.outline.arrange()

    @override
    def on_screen_resume(self) -> None:
        super().on_screen_resume()
        if not self._is_new and self.shortcuts.read():
            self.redraw()

    @property
    def tree_view(self) -> Tree:
        """The tree."""
        return self.query_one(Tree)

    @property
    def page_view(self) -> PageView:
        """The widget that shows a page."""
        return self.query_one(PageView)

    @property
    def outline(self) -> OutlineList:
        """The headings of the page, beside it."""
        return self.query_one(OutlineList)

    @override
    @property
    def text_pane(self) -> LineView:
        return self.page_view

    @property
    def item(self) -> Item | None:
        """What is under the cursor of the tree; on a shortcut, what that leads to, as far as it is loaded."""
        return self.library.target(self.tree_view.key) if self.is_mounted else None

    @override
    def content_place(self) -> ContentPlace | None:
        """The space under the cursor, in the change request that it is browsed in."""
        item = self.item
        if item is None or item.space is None:
            return None
        space = item.space.id
        request = self.library.requests.get(space)
        choose, show = partial(self._choose_request, space), partial(self.browse_in, space)
        return ContentPlace(space, request.id if request else None, choose, show)

    async def _choose_request(self, space_id: str) -> str | None:
        """Ask for the change request to browse a space in; the id of the one that it is browsed in then."""
        if choosing := self.edit_actions.command_new_request():
            await choosing
        request = self.library.requests.get(space_id)
        return request.id if request else None

    def open_page(
        self,
        space_id: str,
        page_id: str | None,
        change_request_id: str | None = None,
        link: str = "",
        quote: str = "",
        line: int = 0,
    ) -> None:
        """Go to a space or a page as soon as it is known, in a change request if one is given.

        Args:
            space_id: the id of the space.
            page_id: the id of the page; None for the space.
            change_request_id: the change request that the space is browsed in; None for main.
            link: a link of the page to go to, as it is written.
            quote: words of the page to go to, such as those that a comment is about.
            line: a line of its Markdown to go to, from 1.
        """
        item = self.item
        is_shown = bool(item and item.page and item.key == page_key(space_id, page_id or ""))
        self.page_view.seek(link, is_shown=is_shown)
        self._target = page_key(space_id, page_id) if page_id else f"space {space_id}"
        if page_id and quote:
            self.page_pane.navigation.go_to_quote(self._target, quote)
        elif page_id and line:
            self.page_pane.navigation.go_to_line(self._target, line)
        self._opens = self._target
        self.tree_view.expanded.add(f"space {space_id}")
        self._target_space = space_id if change_request_id else ""
        if change_request_id:
            call = GetChangeRequest(space_id=space_id, change_request_id=change_request_id)
            self.subscribe(self.engine.watch(call), self._take_request, group="request")
            return
        self._subscribe_pages(space_id)
        self._move_to_target()

    def go_to(self, key: str) -> None:
        """Put the cursor on an item as soon as it is known."""
        self._target = key
        self._move_to_target()
        self.refresh_status_bars()

    def browse_in(self, space_id: str, request: ChangeRequest | None) -> None:
        """Show a space in a change request from now on, or (None) on main."""
        self._target_space = ""
        if request:
            self.library.requests[space_id] = request
            self.app_context.remember_review(space_id, request.id)
            self.notify(f"editing #{request.number}: g r opens its review, to merge it")
        else:
            self.library.requests.pop(space_id, None)
            self.notify("showing main again")
        self._browsed_requests.watch(space_id, request)
        self.tree_view.expanded.add(f"space {space_id}")
        self._subscribe_pages(space_id)
        self.page_pane.show_page()

    def visit_page(self, space_id: str, page_id: str) -> None:
        """Go to a page of a space, and remember the current item in the history."""
        self.page_pane.visit(page_key(space_id, page_id))
        self.open_page(space_id, page_id)

    def _show_word(self, word: DoubtfulWord) -> None:
        """Go to a word on the page."""
        self.page_view.focus()
        self.find.show(self.page_view, word.word)

    def show_zoom(self, *, is_zoomed: bool) -> None:
        """Give the page the whole width, or show the tree beside it."""
        if is_zoomed:
            self.set_focus(self.page_view)  # at once: a hidden tree would lose the focus
        self.query_one("#browse").set_class(is_zoomed, "zoomed")

    async def command_find_here(self) -> None:
        """Filter the tree by a text, or find it in the page."""
        if self.tree_view.has_focus:
            await self.find.open(self.tree_filter, self.tree_view)
        else:
            await self.find.command_find_here()

    def command_back(self) -> None:
        """Go from the page to the tree; there, remove all marks."""
        if self.page_pane.navigation.is_zoomed:
            self.page_pane.navigation.command_zoom()
        if not (self.tree_view.has_focus and self.tree_view.clear_marks()):
            self.tree_view.focus()

    def reason_unsend(self) -> str | None:
        """Why nothing can be undone."""
        can_undo = self.notifications.can_undo or self.comments.can_undo
        return None if can_undo or self._is_on_spaces else self.edit_actions.undo_reason()

    def command_unsend(self) -> Awaitable[None] | None:
        """Undo the last mute, follow or unsent comment; else offer the last sent change of the tree or the space."""
        if self.comments.can_undo:
            self.comments.undo()
            return None
        if not self.notifications.can_undo and self.sites.site:
            return self.sites.undo()
        if not self.notifications.can_undo:
            return (self.space_actions if self._is_on_spaces else self.edit_actions).undo_last_sent()
        self.notifications.undo()
        return None

    @property
    def _is_on_spaces(self) -> bool:
        item = self.item
        return item is None or item.kind in NO_PAGES

    def _selected_space(self) -> Selection | str:
        item = self.item
        if item is None or item.kind != "space" or item.space is None:
            return "go to a space first"
        return Selection([NotificationTarget(item.space.id)], sanitize(item.space.title), "space")

    def _show_item(self) -> None:
        """Show the page of another row; with the focus in the page, it is opened."""
        item = self.page_pane.show_page()
        if item and item.shortcut:
            self.shortcuts.rested(item.shortcut)
        if self.page_view.has_focus:
            self.shortcuts.opened(item)

    def command_open(self) -> None:
        """Expand or collapse; go into a page; open a link; go to a heading."""
        if self.outline.has_focus:
            self.page_pane.navigation.outline.open()
            return
        item = self.library.item(self.tree_view.key)  # a shortcut opens what it leads to
        if not self.tree_view.has_focus:
            self.page_pane.navigation.open_links()
            return
        if item and item.shortcut:
            self.shortcuts.open(item.shortcut)
        elif item and item.site:
            self.shortcuts.opened(item)
            self.sites.open(item.site)
        elif item and item.kind in ("document", "computed"):
            self.page_view.focus()
            self.shortcuts.opened(item)
        elif item and item.kind == "link":
            self.page_pane.follow_link(item.page.href or "" if item.page else "")
        else:
            self.tree_view.toggle()
            if item and item.kind == "space" and item.key in self.tree_view.expanded:
                self.shortcuts.opened(item)

    @on(RowList.RowSelected)
    def heading_chosen(self, event: RowList.RowSelected) -> None:
        """Go to a heading of the outline."""
        if event.rows is self.outline:
            self.page_pane.navigation.outline.open()

    @on(Tree.NodeExpanded)
    def node_expanded(self, event: Tree.NodeExpanded) -> None:
        """Load the pages of a space."""
        item = self.library.item(event.key)
        if item and item.kind == "space" and item.space:
            self._subscribe_pages(item.space.id)

    @on(ClickableLines.TargetClicked)
    def target_clicked(self, event: ClickableLines.TargetClicked) -> None:
        """Go to a part of the path."""
        self.go_to(event.target)

    @on(PageView.PicturesNear)
    def pictures_near(self, event: PageView.PicturesNear) -> None:
        """Read the pictures of the page that are visible, or soon will be."""
        self.page_pane.pictures.load(event.names)

    @on(LineView.LinkChosen)
    def link_chosen(self, event: LineView.LinkChosen) -> None:
        """Follow a link on the page."""
        self.page_pane.follow_link(event.target)

    def _children(self, key: str | None) -> Sequence[Node]:
        return self.library.nodes(key)

    def _take_organizations(self, result: Result[Page[Organization] | None]) -> None:
        organizations = result.value.items if result.value else ()
        organization = choose_organization(organizations, self.app_context.profile.organization)
        if organization is None:
            why = f": {sanitize(result.error.message)}" if result.error else "."
            self.page_pane.show_text(
                "You are not a member of an organization yet." if result.value else f"Not loaded yet{why}"
            )
        if organization is None or self._organization == organization.title:
            return
        self._organization, self.organization_id = organization.title, organization.id
        self.page_pane.home.begin(organization.id)
        collections = ListCollections(organization_id=organization.id, nested=True)
        spaces = ListSpaces(organization_id=organization.id)
        self._listings = (collections, spaces)
        for listing, kind in ((collections, "collection"), (spaces, "space")):
            take = partial(self._take_spaces, kind)
            self.subscribe(self.engine.watch_listing(listing), take, group=type(listing).__name__)
        self.sites.begin(organization.id)

    def _live_listings(self) -> Sequence[Operation[Any]]:
        """What is requested again while the tree is shown: also the state of the change request under the cursor."""
        path = self._request_path()
        state = (GetChangeRequest(**path),) if path else ()
        return (*(self._listings or ()), *((self.sites.listing,) if self.sites.listing else ()), *state)

    def _live_pages(self) -> Sequence[Operation[Any]]:
        """The pages of the change request under the cursor; the listing of spaces tells when those of main change."""
        path = self._request_path()
        return (ListChangeRequestPages(**path),) if path else ()

    def _request_path(self) -> dict[str, Any]:
        """The ids of the space under the cursor and of the change request that it is browsed in; empty on main."""
        item = self.item
        request = self.library.requests.get(item.space.id) if item and item.space else None
        if item is None or item.space is None or request is None:
            return {}
        return {"space_id": item.space.id, "change_request_id": request.id}

    def _take_spaces(self, kind: str, result: Result[int]) -> None:
        self._has_failed = result.error is not None
        if not self.space_actions.holds_back(result, kind):
            self.reload_spaces()

    def reload_spaces(self) -> None:
        """Show collections and spaces as they are stored."""
        if self._listings is None:
            return
        collections, spaces = self._listings
        known_collections, known_spaces = self.engine.window(collections, 0, MANY), self.engine.window(spaces, 0, MANY)
        if known_collections.age is None or known_spaces.age is None:
            return
        if self.library.has(known_collections.items, known_spaces.items) and not self._is_new:
            return
        now = {space.id for space in known_spaces.items}
        gone = [space for space in self.library.spaces if space.id not in now]
        if gone:
            DeletedSpaces(self.engine).remember(self.organization_id, gone)
        changed = self.library.with_other_content(known_spaces.items)
        self.library.set_spaces(known_collections.items, known_spaces.items)
        for space in changed:
            self.engine.refresh(ListPages(space_id=space))
        if not known_spaces.items:
            missing = self.engine.missing_reason(ListSpaces)
            empty = f"{missing}, and none is in a collection, a change request or a site." if missing else NO_SPACES
            self.page_pane.show_text(empty)
        if self._is_new:
            self._is_new = False
            self.tree_view.expanded |= {*self.library.collections(), BOOKMARKED, SITES}
            self.shortcuts.read()
            self.tree_view.show(cursor=self.tree_view.key or self.library.first_key)
        self.redraw()

    @override
    def redraw(self) -> None:
        self.tree_view.show()
        self._move_to_target()
        self.page_pane.show_page()
        self.refresh_status_bars()

    def _move_to_target(self) -> None:
        item = self.library.item(self._target)
        if item is None:
            return
        self._target = ""
        self.tree_view.move_to_key(item.key, ancestors=self.library.ancestors(item.key))
        if item.kind == "document":
            self.page_view.focus()
        if item.kind == "document" or self._opens == item.key:
            self.shortcuts.opened(item)
        self._opens = ""

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
            if result.state in ("fresh", "unchanged") and space_id not in self.library.requests:
                self._give_up_target(space_id)
        self.redraw()

    def _give_up_target(self, space_id: str) -> None:
        """Say that the page to go to is not there, once the pages of its space are loaded."""
        kind, _, ids = self._target.partition(" ")
        is_page_here = kind == "page" and ids.startswith(f"{space_id} ")
        if is_page_here and self.library.item(f"space {space_id}") and self.library.item(self._target) is None:
            self._target = self._opens = ""
            self.notify("that page is gone: it was deleted, or you can no longer see it")

    async def _show_some_request(self, space_id: str, error: PresscheckError) -> None:
        """Show a space in a change request, because the service does not show its content outside of one."""
        request = await nearest_request(self.engine, space_id)
        if request is None:
            self.page_pane.home.explain(space_id, f"{sanitize(error.message)}. O starts a change request.")
        elif space_id not in self.library.requests:
            self.library.requests[space_id] = request
            self.notify(f"{sanitize(lacking(ListPages.feature or ''))}: shown as in #{request.number}")
            self._subscribe_pages(space_id)
            self.redraw()

    def _take_request(self, result: Result[ChangeRequest | None]) -> None:
        if self._target_space and result.value:
            self.browse_in(self._target_space, result.value)
        elif self._target_space and result.error:
            if result.state == "offline":
                self.notify("showing main: the change request is not in the cache")
            self._subscribe_pages(self._target_space)
