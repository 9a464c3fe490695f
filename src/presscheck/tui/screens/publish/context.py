"""The part of the publish screen that its actions use, as a protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from presscheck.tui.screens.sites.structure.context import StructureContext

if TYPE_CHECKING:
    from presscheck.api.sites import Site
    from presscheck.engine.publish.checks import Part
    from presscheck.tui.screens.publish.site_pane import SitePane
    from presscheck.tui.widgets.row_list import RowList


class PublishContext(StructureContext, Protocol):
    """The publish screen as its actions see it."""

    @property
    def organization_id(self) -> str:
        """The organization of the sites."""
        ...

    @property
    def is_shown(self) -> bool:
        """Whether the user sees it: no other screen is on top of it, at most a dialog."""
        ...

    @property
    def sites(self) -> tuple[Site, ...]:
        """All sites."""
        ...

    @property
    def rows(self) -> RowList:
        """The list of sites."""
        ...

    @property
    def current(self) -> Site | None:
        """The site under the cursor."""
        ...

    @property
    def site(self) -> SitePane:
        """The pane that shows it."""
        ...

    def open_site(self, site_id: str) -> None:
        """Put the cursor on a site as soon as it is known."""
        ...

    def show_checks(self, site: Site) -> None:
        """Draw what is known of the checks of a site, if it is the one under the cursor."""
        ...

    def open_part(self, part: Part, item: str) -> None:
        """Go to where a part of the site under the cursor is changed, and there to an item of it."""
        ...
