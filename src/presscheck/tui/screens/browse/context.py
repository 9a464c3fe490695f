"""The part of the browse screen that its components use, as a protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from presscheck.tui.ui.screen_context import ScreenContext

if TYPE_CHECKING:
    from textual.geometry import Size
    from textual.widget import Widget

    from presscheck.api.change_requests import ChangeRequest
    from presscheck.tui.screens.browse.page_tree import Item, Library
    from presscheck.tui.ui.content_place import ContentPlace
    from presscheck.tui.widgets.outline import OutlineList
    from presscheck.tui.widgets.page_view import PageView
    from presscheck.tui.widgets.tree import Tree


class BrowseContext(ScreenContext, Protocol):
    """The browse screen as its components see it."""

    @property
    def library(self) -> Library:
        """Collections, spaces and pages."""
        ...

    @property
    def tree_view(self) -> Tree:
        """The tree."""
        ...

    @property
    def item(self) -> Item | None:
        """What is under the cursor of the tree."""
        ...

    def content_place(self) -> ContentPlace | None:
        """The space under the cursor, in the change request that it is browsed in."""
        ...

    @property
    def page_view(self) -> PageView:
        """The widget that shows a page."""
        ...

    @property
    def outline(self) -> OutlineList:
        """The headings of the page, beside it."""
        ...

    def set_focus(self, widget: Widget | None) -> None:
        """Give a widget the focus."""
        ...

    @property
    def size(self) -> Size:
        """The size of the screen."""
        ...

    def show_zoom(self, *, is_zoomed: bool) -> None:
        """Give the page the whole width, or show the tree beside it."""
        ...

    def visit_page(self, space_id: str, page_id: str) -> None:
        """Go to a page of a space, and remember the current item in the history."""
        ...

    @property
    def organization_id(self) -> str:
        """The id of the organization; empty until it is known."""
        ...

    def redraw(self) -> None:
        """Draw the tree and the page again."""
        ...

    def reload_spaces(self) -> None:
        """Show collections and spaces as they are stored."""
        ...

    def go_to(self, key: str) -> None:
        """Put the cursor on an item as soon as it is known."""
        ...

    def browse_in(self, space_id: str, request: ChangeRequest | None) -> None:
        """Show a space in a change request from now on, or (None) on main."""
        ...
