"""The history screen of a site: publishes and changes with their time, user and source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from typing_extensions import override

from presscheck.text.styled_text import Line
from presscheck.tui.screens.sites.history.rows import HistoryList
from presscheck.tui.screens.sites.history.session import HistorySession
from presscheck.tui.screens.sites.title import site_title
from presscheck.tui.ui.tabs import Tabs, TabScreen

if TYPE_CHECKING:
    from presscheck.api.sites import Site


class SiteHistoryScreen(TabScreen):
    """The history of a site, newest first.

    Args:
        organization_id: the organization of the site.
        site: the site.
    """

    SCOPE = "site"
    FOOTER_TITLES: ClassVar[Mapping[str, str]] = {"open": "changes since", "act_on_marked": "compare"}

    def __init__(self, organization_id: str, site: Site) -> None:
        super().__init__()
        self.session = HistorySession(self, organization_id, site)
        self.list = HistoryList(self.session)
        self.lists = Tabs(self, [self.list])

    @override
    def title_line(self) -> Line:
        return site_title(self.session.site, "History")

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self.redraw()
        self.session.load()

    @override
    def command_refresh(self) -> None:
        super().command_refresh()
        self.session.load()

    def command_back(self) -> None:
        """Remove all marks; without marks, close the screen."""
        if not self.list.rows.marks.clear():
            self.app_context.close_screen()
