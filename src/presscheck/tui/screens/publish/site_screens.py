"""Commands that open the other screens of a site, and its published pages."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from presscheck.api.site_findings import ListSiteFindings
from presscheck.text.sanitize import sanitize
from presscheck.tui.screens.sites.adaptive.audience_view import view_as
from presscheck.tui.screens.sites.previews import preview_reason, preview_site
from presscheck.tui.screens.sites.published_profile import published_reason, show_published
from presscheck.tui.screens.sites.style_guide import open_style_guide, style_guide_reason

if TYPE_CHECKING:
    from collections.abc import Callable

    from presscheck.api.sites import Site
    from presscheck.documents.sites.checks import Part
    from presscheck.tui.screens.publish.session import PublishSession
    from presscheck.tui.screens.publish.site_actions import SiteActions
    from presscheck.tui.ui.screen import BaseScreen

ACCESS_TABS: tuple[Part, ...] = ("redirects", "share links", "sign-in")
"""Tabs of the access screen, in their order."""


class SiteScreens:
    """The commands that open the screens of a site.

    Args:
        session: the sites.
        actions: changes the details of a site.
    """

    def __init__(self, session: PublishSession, actions: SiteActions) -> None:
        self._session, self._actions = session, actions

    def open_part(self, part: Part, item: str) -> None:
        """Open the screen or dialog that changes a part of the site; for the hostname, name the web app instead.

        `item` is the id of a redirect, the key of a structure item, or the name of a detail such as `title`.
        """
        session, site = self._session, self._session.current
        if part in ACCESS_TABS:
            self._open_access(ACCESS_TABS.index(part), item)
        elif part == "schema":
            self.command_go_adaptive()
        elif part == "structure":
            session.tree.focus()
            if item:
                session.tree.move_to_key(item, ancestors=session.model.ancestors(item))
        elif part == "hostname":
            app = sanitize(site.urls.app) if site and site.urls.app else ""
            where = f": {app}" if app else ""
            session.screen.notify(f"the API has no call for the hostname: change it in the web app{where}")
        else:
            session.sites.rows.focus()
            if dialog := self._actions.change_detail(item):
                session.screen.run(dialog)

    def reason_go_access(self) -> str | None:
        """Return why no screen of a site can be opened: there is no site."""
        return self._session.site_reason()

    reason_go_permissions = reason_go_structure = reason_go_adaptive = reason_go_access
    reason_go_customization = reason_history = reason_view_as = reason_go_access

    def command_go_access(self) -> None:
        """Show redirects, share links and visitor sign-in of the site."""
        self._open_access()

    def _open_access(self, tab: int = 0, redirect: str = "") -> None:
        from presscheck.tui.screens.sites.access.screen import SiteAccessScreen  # 6 ms, so imported on first use

        self._show(partial(SiteAccessScreen, tab=tab, redirect=redirect))

    def _show(self, screen: Callable[[str, Site], BaseScreen]) -> None:
        """Show a screen of the site."""
        if site := self._session.current:
            self._session.screen.app_context.push_screen(screen(self._session.organization_id, site))

    def reason_go_published(self) -> str | None:
        """Return why the published site cannot be shown: it is not live, or the app cannot request it now."""
        return published_reason(self._session.screen, self._session.current)

    async def command_go_published(self) -> None:
        """Show the published site as visitors see it."""
        site = self._session.current
        if site:
            await show_published(self._session.screen, self._session.organization_id, site)

    async def command_view_as(self) -> None:
        """Ask for an audience, and show the site as its visitors see it."""
        await view_as(self._session.screen, self._session.organization_id, self._session.current)

    def reason_preview_site(self) -> str | None:
        """Return why no preview can be opened: there is no site, the app is offline, or the service makes none."""
        return self._session.site_reason() or preview_reason(self._session.screen)

    async def command_preview_site(self) -> None:
        """Open a preview of the site in the browser. If its spaces have open change requests, offer to include one."""
        site = self._session.current
        if site:
            await preview_site(self._session.screen, self._session.organization_id, site)

    def command_go_permissions(self) -> None:
        """Show who has which level in the site, and the reason for each level."""
        session = self._session
        if session.current and session.organization:
            session.screen.app_context.open_permissions(session.organization, session.current)

    def command_go_structure(self) -> None:
        """Show sections, groups and spaces of the site as a tree."""
        from presscheck.tui.screens.sites.structure.screen import SiteStructureScreen  # 2 ms, so imported on first use

        self._show(SiteStructureScreen)

    def command_go_adaptive(self) -> None:
        """Show visitor schema, conditions and audiences of the site."""
        # 6 ms, so imported on first use
        from presscheck.tui.screens.sites.adaptive.screen import AdaptiveContentScreen

        self._show(AdaptiveContentScreen)

    def command_go_customization(self) -> None:
        """Show the customization of the site."""
        # 9 ms, so imported on first use
        from presscheck.tui.screens.sites.customization.screen import CustomizationScreen

        self._show(CustomizationScreen)

    def reason_go_findings(self) -> str | None:
        """Return why no findings can be listed: there is no site, or the service does not support findings."""
        return self._session.site_reason() or self._session.screen.engine.missing_reason(ListSiteFindings)

    def command_go_findings(self) -> None:
        """List the problems that the service found in the site."""
        from presscheck.tui.screens.sites.findings import SiteFindingsScreen  # 2 ms, so imported on first use

        self._show(SiteFindingsScreen)

    def reason_go_style_guide(self) -> str | None:
        """Return why there is no style guide to open: the site has none, and none can be created now."""
        return style_guide_reason(self._session.screen, self._session.current)

    async def command_go_style_guide(self) -> None:
        """Open the style guide of the site in Browse, or create it."""
        session, site = self._session, self._session.current
        if site:
            await open_style_guide(session.screen, session.organization_id, site)

    def command_history(self) -> None:
        """Show the publishes and changes of the site, which can be compared and restored."""
        from presscheck.tui.screens.sites.history.screen import SiteHistoryScreen  # 3 ms, so imported on first use

        self._show(SiteHistoryScreen)
