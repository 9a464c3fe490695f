"""The structure on a screen. It is read again before each write, so that changes of others are not overwritten."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from presscheck.api.site_structure import GetSiteStructure, StructureItem
from presscheck.documents.sites.content import key_of
from presscheck.engine.publish.site_structure import kind_of, title_of
from presscheck.errors import ChecksFailed
from presscheck.text.sanitize import sanitize
from presscheck.tui.screens.sites.writes import lacks_role, write_reason
from presscheck.tui.widgets.tree import Tree

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.tui.screens.sites.structure.model import SiteTree
    from presscheck.tui.ui.screen import BaseScreen

T = TypeVar("T", bound=StructureItem)
NO_ITEM = "nothing is here yet: {add} adds a space or a section"


class StructureSession:
    """The structure of a site on a screen.

    Args:
        screen: the screen, with a `Tree` whose id is `structure`.
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
        """Read the structure of a site, and redraw the screen.

        Raises:
            PresscheckError: the structure cannot be read.
        """
        model.take(await self.screen.engine.read(GetSiteStructure(**model.path)))
        self.screen.redraw()

    async def present(self, model: SiteTree, item: T, verb: str) -> T:
        """Read the structure, and return the current version of an item.

        Args:
            model: the structure of the site, which is updated.
            item: the item as shown.
            verb: the participle of the action for errors, such as `removed`.

        Raises:
            ChecksFailed: the item no longer exists.
            PresscheckError: the structure cannot be read.
        """
        await self.read_again(model)
        now = model.items.get(key_of(item))
        if not isinstance(now, type(item)):
            raise ChecksFailed(f"Not {verb}: somebody else removed the {kind_of(item)} {title_of(item)}")
        return now

    def reason(self, operation: type[Operation[Any]], *, shows_more: bool = False) -> str | None:
        """Return why the structure cannot be changed now; None if it can.

        Args:
            operation: the change.
            shows_more: whether visitors of a live site see more after the change, which requires the role admin.
        """
        site = self.model.site
        if reason := write_reason(self.screen, operation, site, "create"):
            return reason
        if shows_more and site.published and (reason := lacks_role(site, "admin")):
            return f"{reason}: the site is live"
        loaded = self.model.loaded
        if loaded.value:
            return None
        return sanitize(loaded.error.message) if loaded.error else "the structure is not loaded yet"
