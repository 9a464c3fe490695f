"""The part of the screen of a site's history that its actions use, as a protocol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from presscheck.tui.ui.screen_context import ScreenContext

if TYPE_CHECKING:
    from presscheck.api.sites import Site
    from presscheck.engine.site_config.site_history import HistoryRow
    from presscheck.engine.site_config.snapshots import Snapshot


class HistoryContext(ScreenContext, Protocol):
    """The screen of a site's history as its actions see it."""

    @property
    def organization_id(self) -> str:
        """The organization of the site."""
        ...

    @property
    def site(self) -> Site:
        """The site."""
        ...

    @property
    def row(self) -> HistoryRow | None:
        """The row under the cursor."""
        ...

    @property
    def marked(self) -> Sequence[Snapshot]:
        """The snapshots of the marked rows, newest first."""
        ...

    async def reload(self) -> None:
        """Read the history again."""
        ...
