"""Sites in the tree: their details, and the commands that open them in the publish screen."""

from __future__ import annotations

from collections.abc import Awaitable
from functools import partialmethod
from typing import TYPE_CHECKING

from presscheck.api.sites import CreateSite, DeleteSite, Site, UpdateSite
from presscheck.engine.publish.shown_addresses import shown_address
from presscheck.text.phrases import count
from presscheck.text.sanitize import display_url, sanitize
from presscheck.text.styled_text import Span, wrap
from presscheck.tui.commands import key_for
from presscheck.tui.places import Place
from presscheck.tui.screens.browse.page_tree import SITES
from presscheck.tui.screens.browse.space_facts import site_words
from presscheck.tui.screens.browse.static_layout import StaticLayout
from presscheck.tui.screens.sites.details import SiteDetails, visibility_of
from presscheck.tui.screens.sites.writes import undo_here, write_reason

if TYPE_CHECKING:
    from presscheck.tui.screens.browse.session import ContentTree


class TreeSites:
    """The commands on the sites in the tree.

    Args:
        session: the tree and the page pane.
    """

    def __init__(self, session: ContentTree) -> None:
        self._session, self._screen = session, session.screen

    @property
    def _details(self) -> SiteDetails:
        return SiteDetails(self._screen, self._session.organization_id)

    @property
    def site(self) -> Site | None:
        """The site under the cursor; None on other items."""
        item = self._session.item
        return item.site if item else None

    def open(self, site: Site, command: str = "") -> None:
        """Open a site in the publish screen, and run a command on it unless `command` is empty."""
        app = self._screen.app_context
        self._screen.run(lambda: app.go(Place.site(site.id, command)))

    def reason_move_down(self) -> str | None:
        """Return the same reason for every site: sites cannot be moved or copied."""
        return "go to a space or a collection first"

    reason_move_up = reason_copy_change = reason_move_change = reason_move_down

    def reason_publish(self) -> str | None:
        """Return why the commands on a site are disabled: no site is under the cursor."""
        return None if self.site else "go to a site first"

    reason_why = reason_view_as = reason_preview_site = reason_publish

    def _open_with(self, command: str) -> None:
        """Open the site under the cursor in the publish screen, and run a command on it."""
        site = self.site
        if site:
            self.open(site, command)

    command_publish = partialmethod(_open_with, "publish")
    command_why = partialmethod(_open_with, "why")
    command_view_as = partialmethod(_open_with, "view_as")
    command_preview_site = partialmethod(_open_with, "preview_site")

    def reason_add(self) -> str | None:
        """Return why no site can be created: writes are disabled, or the service cannot create sites."""
        return self._screen.engine.write_reason(CreateSite)

    async def command_add(self) -> None:
        """Create a site, and move the cursor to it."""
        site = await self._details.create()
        if site is not None:
            self._session.tree_view.expanded.add(SITES)
            self._session.go_to(f"site {site.id}")
            self._screen.notify(f"{sanitize(site.title)} created as a draft: {key_for('publish')} publishes it")

    def reason_rename(self) -> str | None:
        """Return why the details of the site cannot be changed."""
        return self.reason_publish() or write_reason(self._screen, UpdateSite, self.site, "create")

    def command_rename(self) -> Awaitable[None] | None:
        """Change title, visibility, base path or proxy."""
        site = self.site
        return self._details.change(site) if site else None

    def reason_delete(self) -> str | None:
        """Return why the site cannot be deleted."""
        return self.reason_publish() or write_reason(self._screen, DeleteSite, self.site, "admin")

    def command_delete(self) -> Awaitable[None] | None:
        """Delete the site after the user has typed its title."""
        site = self.site
        return self._details.delete(site) if site else None

    def undo(self) -> Awaitable[None] | None:
        """Undo the last change of the site under the cursor. Asks first if the change was sent."""
        site = self.site
        return undo_here(self._screen, site.id) if site else None


def site_lines(site: Site, width: int) -> StaticLayout:
    """Return the page pane of a site: facts, address and a hint."""
    page = StaticLayout(width)
    page.title(" ".join(sanitize(site.title).split()) or "(no title)")
    facts = [site_words(site), count(site.site_spaces, "space")]
    if site.type:
        facts.append(sanitize(site.type))
    page.lines += wrap((Span(" · ".join(facts), "quiet"),), page.width)
    if site.published and site.urls.published:
        shown = display_url(shown_address(site, site.urls.published))
        page.lines += wrap((Span(shown, "link", site.urls.published),), page.width)
    if site.published:
        page.lines += wrap((Span(f"Visible to {visibility_of(site)}."),), page.width)
    hint = (
        f"{key_for('open')} opens it in Sites: its structure, its checks, and everything "
        f"else. {key_for('rename')} edits its details."
    )
    page.lines += [(), *wrap((Span(hint, "quiet"),), page.width)]
    return page
