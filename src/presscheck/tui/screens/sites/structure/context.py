"""The part of a screen with the structure of a site that the actions on it use, as a protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from presscheck.tui.ui.screen_context import ScreenContext

if TYPE_CHECKING:
    from presscheck.api.site_structure import StructureItem
    from presscheck.tui.screens.sites.structure.model import SiteTree
    from presscheck.tui.widgets.tree import Tree


class StructureContext(ScreenContext, Protocol):
    """A screen with the structure of a site as the actions see it."""

    @property
    def model(self) -> SiteTree:
        """The structure of the site."""
        ...

    @property
    def structure_tree(self) -> Tree:
        """The tree that shows it."""
        ...

    @property
    def item(self) -> StructureItem | None:
        """The item under the cursor."""
        ...

    def redraw(self) -> None:
        """Draw the structure again."""
        ...
