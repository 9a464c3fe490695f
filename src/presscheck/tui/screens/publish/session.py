"""The state of the publish screen: the list of sites, and the structure of the site under the cursor."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from presscheck.api.sites import Site
from presscheck.tui.commands import key_for
from presscheck.tui.screens.publish.site_list import SiteList
from presscheck.tui.screens.publish.site_pane import SitePane
from presscheck.tui.screens.sites.structure.model import SiteTree
from presscheck.tui.screens.sites.structure.session import StructureSession

if TYPE_CHECKING:
    from presscheck.api.organizations import Organization
    from presscheck.tui.ui.screen import BaseScreen


class PublishSession(StructureSession):
    """The sites of an organization, and the structure of the site under the cursor.

    Args:
        screen: the publish screen.

    Attributes:
        organization: the organization; None until it is loaded.
        sites: the list of sites.
        answered: set when the sites have loaded or failed to load.
    """

    def __init__(self, screen: BaseScreen) -> None:
        super().__init__(screen, SiteTree("", Site(id="")))
        self.organization: Organization | None = None
        self.sites = SiteList(screen)
        self.answered = asyncio.Event()
        self._structures: dict[str, SiteTree] = {}
        """Structures of visited sites by site id."""

    @property
    def organization_id(self) -> str:
        """The id of the organization; empty until it is loaded."""
        return self.organization.id if self.organization else ""

    @property
    def pane(self) -> SitePane:
        """The pane of the site under the cursor."""
        return self.screen.query_one(SitePane)

    @property
    def current(self) -> Site | None:
        """The site under the cursor; None without sites."""
        return self.sites.current

    def site_reason(self) -> str | None:
        """Return why no command can act on a site: there is no site under the cursor."""
        return None if self.current else f"there is no site: {key_for('add')} creates one"

    def look_at(self, site: Site | None) -> None:
        """Set the model to the structure of a site, or to an empty structure for None."""
        if site is None:
            self.model = SiteTree(self.organization_id, Site(id=""))
        else:
            self.model = self._structures.setdefault(site.id, SiteTree(self.organization_id, site))
            self.model.site = site

    def open_site(self, site_id: str) -> None:
        """Select a site as soon as it is in the list."""
        self.sites.target = site_id
        self.screen.redraw()
