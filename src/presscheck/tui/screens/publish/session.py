"""The sites of an organization while the publish screen shows them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from presscheck.api.sites import Site
from presscheck.tui.screens.publish.site_pane import SitePane
from presscheck.tui.screens.sites.structure.model import SiteTree
from presscheck.tui.screens.sites.structure.session import StructureSession
from presscheck.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from presscheck.api.organizations import Organization
    from presscheck.tui.ui.screen import BaseScreen


class PublishSession(StructureSession):
    """The sites of an organization, and the structure of the one under the cursor.

    Args:
        screen: the publish screen.

    Attributes:
        organization: the organization; None until it is loaded.
        sites: the sites that are listed.
        answered: set once the sites are loaded, or cannot be.
        target: the id of the site that the cursor goes to as soon as it is listed; empty for none.
        target_command: the name of the command that runs then; empty for none.
    """

    def __init__(self, screen: BaseScreen) -> None:
        super().__init__(screen, SiteTree("", Site(id="")))
        self.organization: Organization | None = None
        self.sites: tuple[Site, ...] = ()
        self.answered = asyncio.Event()
        self.target = self.target_command = ""
        self._structures: dict[str, SiteTree] = {}
        """The structures of the sites that were looked at, by the ids of the sites."""

    @property
    def organization_id(self) -> str:
        """The organization of the sites."""
        return self.organization.id if self.organization else ""

    @property
    def rows(self) -> RowList:
        """The list of sites."""
        return self.screen.query_one(RowList)

    @property
    def pane(self) -> SitePane:
        """The pane of the site under the cursor."""
        return self.screen.query_one(SitePane)

    @property
    def current(self) -> Site | None:
        """The site under the cursor."""
        at = self.rows.cursor if self.screen.is_mounted else 0
        return self.sites[at] if at < len(self.sites) else None

    def site_reason(self) -> str | None:
        """Why nothing can be done with the site under the cursor: there is none."""
        return None if self.current else "there is no site: a creates one"

    def look_at(self, site: Site | None) -> None:
        """Make the structure of a site the shown one; without a site, an empty structure."""
        if site is None:
            self.model = SiteTree(self.organization_id, Site(id=""))
        else:
            self.model = self._structures.setdefault(site.id, SiteTree(self.organization_id, site))
            self.model.site = site

    def open_site(self, site_id: str, command: str = "") -> None:
        """Put the cursor on a site as soon as it is listed, and run a command there if one is given."""
        self.target, self.target_command = site_id, command
        if command:
            self.rows.focus()  # in the structure it would be about an item of it
        self.screen.redraw()
