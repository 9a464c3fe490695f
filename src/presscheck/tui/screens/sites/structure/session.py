"""The structure of a site on a screen, and as the service has it now: it is read before a write, so that no work of
others is overwritten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from presscheck.api.site_structure import GetSiteStructure, StructureItem
from presscheck.engine.publish.site_structure import key_of, kind_of, title_of
from presscheck.errors import ChecksFailed
from presscheck.text.sanitize import sanitize
from presscheck.tui.screens.sites.writes import lacks_role, write_reason
from presscheck.tui.widgets.tree import Tree

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.tui.screens.sites.structure.model import SiteTree
    from presscheck.tui.ui.screen import BaseScreen

T = TypeVar("T", bound=StructureItem)
NO_ITEM = "nothing is here yet: a adds a space or a section"


class StructureSession:
    """The structure of a site that a screen shows.

    Args:
        screen: the screen; it shows the structure in a `Tree` with the id `structure`.
        model: the structure.
    """

    def __init__(self, screen: BaseScreen, model: SiteTree) -> None:
        self.screen, self.model = screen, model

    @property
    def tree(self) -> Tree:
        """The tree that shows the structure."""
        return self.screen.query_one("#structure", Tree)

    @property
    def item(self) -> StructureItem | None:
        """The item under the cursor."""
        return self.model.items.get(self.tree.key or "") if self.screen.is_mounted else None

    async def read_again(self, model: SiteTree) -> None:
        """Read the structure of a site again, and show it.

        Raises:
            PresscheckError: it cannot be read.
        """
        model.take(await self.screen.engine.read(GetSiteStructure(**model.path)))
        self.screen.redraw()

    async def present(self, model: SiteTree, item: T, verb: str) -> T:
        """Return an item as the service has it now.

        Args:
            model: the structure of the site, which is shown as it is now.
            item: the item as it was shown.
            verb: what was to be done, such as `removed`, for the error.

        Raises:
            ChecksFailed: the item is not there any more.
            PresscheckError: the structure cannot be read.
        """
        await self.read_again(model)
        now = model.items.get(key_of(item))
        if not isinstance(now, type(item)):
            raise ChecksFailed(f"Not {verb}: somebody else removed the {kind_of(item)} {title_of(item)}")
        return now

    def reason(self, operation: type[Operation[Any]], *, shows_more: bool = False) -> str | None:
        """Why the structure cannot be changed now; None if it can.

        Args:
            operation: the change.
            shows_more: whether visitors of a live site see more after it, which is like publishing.
        """
        site = self.model.site
        if reason := write_reason(self.screen, operation, site, "create"):
            return reason
        if shows_more and site.published and (reason := lacks_role(site, "admin")):
            return f"{reason}: the site is live"
        if self.model.is_loaded:
            return None
        error = self.model.error
        return sanitize(error.message) if error else "the structure is not loaded yet"
