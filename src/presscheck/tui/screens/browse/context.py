"""The part of the browse screen that its components use, as a protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from presscheck.tui.screens.screen_context import ScreenContext

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest
    from presscheck.api.spaces import Space
    from presscheck.tui.screens.browse.page_tree import Item, Library
    from presscheck.tui.widgets.page_view import PageView


class BrowseContext(ScreenContext, Protocol):
    """The browse screen as its components see it."""

    @property
    def library(self) -> Library:
        """Collections, spaces and pages."""
        ...

    @property
    def item(self) -> Item | None:
        """What is under the cursor of the tree."""
        ...

    @property
    def page_view(self) -> PageView:
        """The widget that shows a page."""
        ...

    def go_to(self, key: str) -> None:
        """Put the cursor on an item as soon as it is known."""
        ...

    def browse_in(self, space: Space, request: ChangeRequest | None) -> None:
        """Show a space in a change request from now on, or (None) on main."""
        ...
