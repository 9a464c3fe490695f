"""The data of the history screen: the history of a site, and its snapshots."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from presscheck.engine.site_config.site_history import SiteHistory, read_history
from presscheck.engine.site_config.site_state import StateReader
from presscheck.tui.ui.loaded import Loaded

if TYPE_CHECKING:
    from presscheck.api.sites import Site
    from presscheck.engine.site_config.document import SiteConfig
    from presscheck.engine.site_config.snapshots import Snapshot
    from presscheck.tui.ui.screen import BaseScreen


class HistorySession:
    """The history of a site, loaded in the background.

    Args:
        screen: the history screen.
        organization_id: the organization of the site.
        site: the site.
    """

    def __init__(self, screen: BaseScreen, organization_id: str, site: Site) -> None:
        self.screen, self.organization_id, self.site = screen, organization_id, site
        self.history = Loaded[SiteHistory]()

    @property
    def reader(self) -> StateReader:
        """A reader of the current state of the site."""
        return StateReader(self.screen.engine, self.organization_id, self.site.id)

    def load(self) -> None:
        """Load the history in the background."""
        self.screen.run(self.reload, group="history", exclusive=True)

    async def reload(self) -> None:
        """Load the history."""
        self.history = Loaded(await read_history(self.screen.engine, self.organization_id, self.site.id))
        self.screen.redraw()

    async def config(self, snapshot: Snapshot) -> SiteConfig:
        """Read the configuration of a snapshot."""
        return await asyncio.to_thread(self.screen.engine.site_snapshots.of(self.site.id).config, snapshot)
