"""The access screen of a site in three tabs: redirects, share links and visitor sign-in."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable
from typing import TYPE_CHECKING

from typing_extensions import override

from presscheck.text.styled_text import Line
from presscheck.tui.screens.sites.access.redirect_tables import RedirectTables
from presscheck.tui.screens.sites.access.redirects import RedirectList
from presscheck.tui.screens.sites.access.session import SiteAccess
from presscheck.tui.screens.sites.access.share_links import ShareLinkList
from presscheck.tui.screens.sites.access.sign_in import SignInSettings
from presscheck.tui.screens.sites.published_profile import published_reason, show_published
from presscheck.tui.screens.sites.title import site_title
from presscheck.tui.screens.sites.writes import undo_here
from presscheck.tui.ui.tabs import Tabs, TabScreen

if TYPE_CHECKING:
    from presscheck.api.sites import Site


class SiteAccessScreen(TabScreen):
    """The redirects, share links and visitor sign-in of a site.

    Args:
        organization_id: the organization of the site.
        site: the site.
        tab: the index of the tab to show first.
        redirect: the id of the redirect to select; empty for none.
    """

    SCOPE = "site"

    def __init__(self, organization_id: str, site: Site, *, tab: int = 0, redirect: str = "") -> None:
        super().__init__()
        self.session = SiteAccess(self, organization_id, site)
        self.redirects, self.sign_in = RedirectList(self.session, target=redirect), SignInSettings(self.session)
        self.share_links = ShareLinkList(self.session)
        self.lists = Tabs(self, (self.redirects, self.share_links, self.sign_in))
        self._first = self.lists.tabs[tab]

    @override
    def title_line(self) -> Line:
        return site_title(self.session.site, "Access")

    @override
    def command_handlers(self) -> Iterable[object]:
        return (self, self.lists, RedirectTables(self.session, self.redirects))

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self.session.load()
        self.lists.show_tab(self._first)

    @override
    def command_refresh(self) -> None:
        """Request all lists again, and the pages that redirects can lead to."""
        super().command_refresh()
        self.session.read_paths()

    def command_unsend(self) -> Awaitable[None]:
        """Undo the last change of the site, after a confirmation if it was sent."""
        return undo_here(self, self.session.site.id)

    def command_back(self) -> None:
        """Remove all marks; without marks, close the screen."""
        if not self.redirects.rows.marks.clear():
            self.app_context.pop_screen()

    def reason_go_published(self) -> str | None:
        """Return why the published site cannot be shown: it is not live, or the app cannot request it now."""
        return published_reason(self, self.session.site)

    async def command_go_published(self) -> None:
        """Show the published site as visitors see it."""
        await show_published(self, self.session.organization_id, self.session.site)

    def reason_rotate_key(self) -> str | None:
        """Return why the key cannot be rotated: the change is not allowed now, or the settings are not loaded."""
        return self.sign_in.rotate_reason()

    def command_rotate_key(self) -> Awaitable[None]:
        """Replace the key that signs visitors in, after the user has typed the title of the site."""
        self.lists.show_tab(self.sign_in)
        return self.sign_in.rotate()
