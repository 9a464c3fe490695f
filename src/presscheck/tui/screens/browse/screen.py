"""The browse screen: a tree of collections, spaces, pages and sites, and the page under its cursor."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Mapping, Sequence
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from typing_extensions import override

from presscheck.api.spaces import Space
from presscheck.engine.inbox.notification_settings import NotificationTarget
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.places import Place
from presscheck.tui.screens.browse.comment_actions import PageCommentActions
from presscheck.tui.screens.browse.content_actions import ContentActions, ReplaceActions
from presscheck.tui.screens.browse.edit_actions import EditActions
from presscheck.tui.screens.browse.live_tree import keep_current
from presscheck.tui.screens.browse.move_actions import MoveActions
from presscheck.tui.screens.browse.page_pane import PagePane
from presscheck.tui.screens.browse.page_tree import Item
from presscheck.tui.screens.browse.revisions import RevisionActions
from presscheck.tui.screens.browse.session import ContentTree
from presscheck.tui.screens.browse.shortcut_actions import ShortcutActions
from presscheck.tui.screens.browse.site_actions import TreeSites
from presscheck.tui.screens.browse.space_actions import SpaceActions
from presscheck.tui.screens.browse.space_facts import LEGEND, site_words, words
from presscheck.tui.screens.browse.tree_filter import TreeFilter
from presscheck.tui.screens.notification_actions import NotificationActions, Selection
from presscheck.tui.screens.spell_check import SpellingActions
from presscheck.tui.spell_checker import DoubtfulWord
from presscheck.tui.ui.content_place import ContentPlace
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.widgets.line_view import LineView
from presscheck.tui.widgets.page_view import PageView
from presscheck.tui.widgets.pane_border import PaneBorder
from presscheck.tui.widgets.row_list import RowList
from presscheck.tui.widgets.status_bar import ClickableLines
from presscheck.tui.widgets.tree import Node, Tree

MANY = 10_000
ON_SPACES = ("open", "add", "rename", "move_change", "find_anything", "close")
"""Footer commands on a space or collection."""
ON_SITES = ("open", "publish", "rename", "why", "find_anything", "close")
"""Footer commands on a site."""
NO_PAGES = ("space", "collection", "shortcuts", "shortcut", "sites", "site")
"""The kinds of items on which commands act on spaces and collections instead of pages."""


class BrowseScreen(BaseScreen):
    """The browse screen: the tree on the left, and the page under the cursor of the tree on the right."""

    SCOPE = "browse"
    FOOTER = ("open", "labels", "edit", "comment", "new_request", "find_anything", "close")
    FOOTER_TITLES: ClassVar[Mapping[str, str]] = {"next_pane": "tree"}
    LEGEND = LEGEND

    def __init__(self) -> None:
        super().__init__()
        tree = Tree(
            self._children,
            on_highlight=self._show_item,
            can_mark=lambda key: key.startswith("page "),
            can_drop=lambda key, drop: self.move_actions.can_drop(key, drop),
            id="tree",
        )
        session = self.session = ContentTree(self, tree)
        self.library, self.tree_view = session.library, session.tree_view
        self.page_view, self.outline = session.page_view, session.outline
        self.shortcuts, self.sites = ShortcutActions(session), TreeSites(session)
        self.page_pane = PagePane(session)
        self._spelling = SpellingActions(self, lambda: self.page_pane.page_text, self._show_word)
        self.edit_actions = EditActions(session)
        self.move_actions = MoveActions(session, self.edit_actions)
        self.space_actions = SpaceActions(session, self.edit_actions)
        self.comments = PageCommentActions(session)
        self.tree_filter = TreeFilter(session)
        self.notifications = NotificationActions(self, self._selected_space, self.redraw)

    @override
    def command_handlers(self) -> Iterable[object]:
        return (
            self,
            self.session,
            self.page_pane,
            self.page_pane.navigation,
            RevisionActions(self.session),
            ReplaceActions(self.session),
            self._spelling,
            self.space_actions,
            self.edit_actions,
            self.move_actions,
            self.shortcuts,
            self.sites,
            self.notifications,
            self.comments,
            ContentActions(self.session),
        )

    @override
    def parts(self) -> Mapping[str, object]:
        return {
            "shortcuts": self.shortcuts.rows,
            "sites": self.sites,
            "pages": self.edit_actions,
            "moves": self.move_actions,
        }

    @override
    def shown_parts(self) -> Iterable[object]:
        """Return the parts for the item under the cursor. Commands on spaces and collections are always available."""
        item = self.item
        row = (self.shortcuts.rows,) if self.shortcuts.rows.shortcut else ()
        if item is None or item.kind in ("space", "collection"):
            return row
        return (*row, self.sites) if item.kind in ("sites", "site") else (*row, self.edit_actions, self.move_actions)

    @property
    def item(self) -> Item | None:
        """The item under the cursor. On a shortcut, its target if the target is loaded."""
        return self.session.item

    @override
    def draw(self) -> None:
        self.refresh_status_bars()

    @override
    @property
    def footer_commands(self) -> tuple[str, ...]:
        item = self.item
        if item and item.site:
            return ON_SITES
        if item is None or item.kind in NO_PAGES:
            return ON_SPACES
        is_tree_folded = self.has_class("folded") and not self.tree_view.has_focus
        return ("next_pane", *self.FOOTER) if is_tree_folded else self.FOOTER

    @override
    def title_line(self) -> Line:
        session, item = self.session, self.item
        request = session.request_of(item)
        items = session.library.path(item.key if item else None)
        parts = [Span(sanitize(part.title), "quiet", part.key) for part in items]
        if session.organization:
            parts.insert(0, Span(sanitize(session.organization.title), "quiet"))
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
    @property
    def pane_width(self) -> int | None:
        return self.app_context.profile.tree_width

    @override
    def body(self) -> ComposeResult:
        with Horizontal(id="browse"):
            yield self.tree_view
            yield PaneBorder(self.tree_view)
            yield self.page_view
            yield self.outline

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self.tree_view.focus()
        self.page_pane.show_page()
        self.page_pane.navigation.outline.arrange()
        self.session.load()
        self.run(lambda: keep_current(self.session), group="live tree")

    @override
    def on_resize(self) -> None:
        super().on_resize()
        if self.page_view.is_mounted:
            self.page_pane.navigation.outline.arrange()

    def on_descendant_focus(self) -> None:
        """In a narrow terminal, cover the page with the tree only while the tree is used."""
        if self.tree_view.has_focus or self.page_view.has_focus:
            self.query_one("#browse").set_class(self.page_view.has_focus, "at-page")
        self.refresh_status_bars()

    @override
    def on_screen_resume(self) -> None:
        super().on_screen_resume()
        if self.session.read_shortcuts():
            self.redraw()

    @override
    @property
    def text_pane(self) -> LineView:
        return self.page_view

    @override
    def content_place(self) -> ContentPlace | None:
        """Return the space under the cursor, with the change request in which it is shown."""
        item = self.item
        if item is None or item.space is None:
            return None
        space, request = item.space, self.session.request_of(item)
        choose, show = partial(self._choose_request, space), partial(self.session.browse_in, space.id)
        return ContentPlace(space.id, request.id if request else None, choose, show)

    async def _choose_request(self, space: Space) -> str | None:
        """Ask for the change request in which to show a space. Return its id, or None if the space is shown on main."""
        await self.edit_actions.choose_request(space)
        request = self.library.requests.get(space.id)
        return request.id if request else None

    @override
    def field(self, name: str) -> str:
        item = self.item
        if item is None:
            return ""
        request, line = self.session.request_of(item), self.page_view.source_line if name == "line" else None
        values = {
            "number": str(request.number) if request else "",
            "title": item.title,
            "url": self.page_pane.address,
            "page": item.page.id if item.page else "",
            "path": item.page.path or "" if item.page else "",
            "line": str(line + 1) if item.page and line is not None else "",
        }
        return values[name] if name in values else super().field(name)

    @override
    def place(self) -> Place:
        item = self.item
        if item is None:
            return Place("browse", "Organization")
        title, space, request = sanitize(item.title) or "(no title)", item.space, self.session.request_of(item)
        where = f" · {sanitize(space.title)}" if space and item.page else ""
        where += f" in #{request.number}" if request else ""
        ids = (item.key, space.id if space else "", item.page.id if item.page else "", request.id if request else "")
        return Place("browse", title + where, ids, "page" if item.page else item.kind)

    @override
    def has_arrived(self, place: Place) -> bool:
        return not place.ids or (self.item is not None and self.item.key == place.ids[0])

    @override
    def go_to(self, place: Place) -> None:
        key, space, page, request = place.ids or ("", "", "", "")
        if page and place.quote:
            self.page_pane.navigation.go_to_quote(key, place.quote)
        elif page and place.line:
            self.page_pane.navigation.go_to_line(key, place.line)
        if space:
            self.session.open_page(space, page or None, request or None, place.link)
        elif key:
            self.session.go_to(key)

    def _show_word(self, word: DoubtfulWord) -> None:
        self.page_view.focus()
        self.find.show(self.page_view, word.word)

    async def command_find_here(self) -> None:
        """Filter the tree by a text if the tree has the focus; otherwise find a text in the page."""
        if self.tree_view.has_focus:
            await self.find.open(self.tree_filter, self.tree_view)
        else:
            await self.find.command_find_here()

    def command_back(self) -> None:
        """Focus the tree, and end the zoom. If the tree has the focus, remove all marks."""
        if self.page_pane.navigation.is_zoomed:
            self.page_pane.navigation.command_zoom()
        if not (self.tree_view.has_focus and self.tree_view.marks.clear()):
            self.tree_view.focus()

    def reason_unsend(self) -> str | None:
        """Return why nothing can be undone: there is no unsent comment, mute or follow, and the item has no space."""
        can_undo = self.notifications.can_undo or self.comments.can_undo
        return None if can_undo or self._is_on_spaces else self.edit_actions.undo_reason()

    def command_unsend(self) -> Awaitable[None] | None:
        """Undo the last mute, follow or unsent comment, or else offer to undo the last sent change."""
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
        """Show the page under the cursor. If the page has the focus, it counts as opened."""
        item = self.page_pane.show_page()
        if item and item.shortcut:
            self.shortcuts.rested(item.shortcut)
        if self.page_view.has_focus:
            self.session.note_opened(item)

    def command_open(self) -> None:
        """Open the item at the cursor: expand or collapse it, focus the page, follow a link, or go to a heading."""
        if self.outline.has_focus:
            self.page_pane.navigation.outline.open()
            return
        item = self.library.item(self.tree_view.key)  # the shortcut itself, not its target
        if not self.tree_view.has_focus:
            self.page_pane.navigation.open_links()
            return
        if item and item.shortcut:
            self.shortcuts.open(item.shortcut)
        elif item and item.site:
            self.session.note_opened(item)
            self.sites.open(item.site)
        elif item and item.kind in ("document", "computed"):
            self.page_view.focus()
            self.session.note_opened(item)
        elif item and item.kind == "link":
            self.page_pane.follow_link(item.page.href or "" if item.page else "")
        else:
            self.tree_view.toggle()
            if item and item.kind == "space" and item.key in self.tree_view.expanded:
                self.session.note_opened(item)

    @on(RowList.RowSelected)
    def heading_chosen(self, event: RowList.RowSelected) -> None:
        """Go to the heading that was selected in the outline."""
        if event.rows is self.outline:
            self.page_pane.navigation.outline.open()

    @on(Tree.NodeExpanded)
    def node_expanded(self, event: Tree.NodeExpanded) -> None:
        """Load the pages of a space that was expanded."""
        item = self.library.item(event.key)
        if item and item.kind == "space" and item.space:
            self.session.load_pages(item.space.id)

    @on(Tree.NodeDropped)
    def node_dropped(self, event: Tree.NodeDropped) -> None:
        """Move the page that was dragged to another place."""
        self.invoke(lambda: self.move_actions.drop(event.key, event.drop))

    @on(ClickableLines.TargetClicked)
    def target_clicked(self, event: ClickableLines.TargetClicked) -> None:
        """Go to the item that was clicked in the title line."""
        self.session.go_to(event.target)

    @on(PageView.PicturesNear)
    def pictures_near(self, event: PageView.PicturesNear) -> None:
        """Load the pictures that are visible or close to the visible lines."""
        self.page_pane.pictures.load(event.names)

    @on(LineView.LinkChosen)
    def link_chosen(self, event: LineView.LinkChosen) -> None:
        """Follow a link on the page."""
        self.page_pane.follow_link(event.target)

    def _children(self, key: str | None) -> Sequence[Node]:
        return self.library.nodes(key)

    @override
    def redraw(self) -> None:
        self.tree_view.show()
        self.session.move_to_target()
        self.page_pane.show_page()
        self.refresh_status_bars()
