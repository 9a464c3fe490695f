"""Publish: the sites of the organization, what each is made of, and the sheet that puts one live or takes it away."""

from __future__ import annotations

from collections.abc import Awaitable

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal

from presscheck.api.operation import Page
from presscheck.api.organizations import ListOrganizations, Organization
from presscheck.api.site_structure import GetSiteStructure, SiteStructure
from presscheck.api.sites import ListSites, Site
from presscheck.api.spaces import ListSpaces
from presscheck.desk.seen import Seen
from presscheck.documents.display_text import display_text
from presscheck.documents.spans import Line, Span, cut, pad
from presscheck.tui.outside import open_address
from presscheck.tui.screens import publish_acts as acts
from presscheck.tui.screens.base_screen import BaseScreen
from presscheck.tui.screens.organization import chosen
from presscheck.tui.screens.publish_site import SitePane
from presscheck.tui.widgets.rows import Rows

MANY = 1000


class Publish(BaseScreen):
    """Sites on the left, the structure of the one under the cursor on the right."""

    FOOTER = ("publish", "add", "next_pane", "move_down", "web", "close")

    def __init__(self) -> None:
        super().__init__()
        self.organization: Organization | None = None
        self.sites: tuple[Site, ...] = ()
        self._wanted = ""
        self._words = "Asking the service …"

    def title_line(self) -> Line:
        """The organization and the site."""
        site = self.current
        way = [self.organization.title if self.organization else "", "Sites", site.title if site else ""]
        return (Span(" " + " › ".join(display_text(part) for part in way if part), "quiet"),)

    def body(self) -> ComposeResult:
        """Sites, and what one is and is made of."""
        with Horizontal():
            yield Rows(self._row, self.style_for, id="tree")
            yield SitePane(self.style_for, id="site")

    def on_mount(self) -> None:
        """Show what is known, then follow what is new."""
        super().on_mount()
        self.query_one(Rows).focus()
        self.subscribe(self.desk.watch(ListOrganizations()), self._organized, group="organizations")

    @property
    def organization_id(self) -> str:
        """Whose sites these are."""
        return self.organization.id if self.organization else ""

    @property
    def current(self) -> Site | None:
        """The site under the cursor."""
        at = self.query_one(Rows).cursor if self.is_mounted else 0
        return self.sites[at] if at < len(self.sites) else None

    def open_site(self, site_id: str) -> None:
        """Point at a site, now or when it is known."""
        self._wanted = site_id
        self._redraw()

    @property
    def site(self) -> SitePane:
        """The site under the cursor."""
        return self.query_one(SitePane)

    def reason_publish(self) -> str | None:
        """It needs a site and the service."""
        if self.current is None:
            return "there is no site to publish: a makes one"
        return None if self.desk.status.online else "offline: publishing cannot wait in a queue"

    def reason_move_down(self) -> str | None:
        """It needs an item."""
        return None if self.site.item else "tab goes to the structure; J and K move what is under the cursor there"

    reason_move_up = reason_move_down

    def command_publish(self) -> Awaitable[None] | None:
        """Put the site live, or take it away, after asking."""
        return acts.publish(self, self.current) if self.current else None

    def command_add(self) -> Awaitable[None] | None:
        """Among sites a site, in a structure a space."""
        site = self.current
        return acts.add_space(self, site) if site and self.site.parts.has_focus else acts.add_site(self)

    def command_rename(self) -> Awaitable[None] | None:
        """Another title, or another path."""
        site, item = self.current, self.site.item
        if site is None:
            return None
        return acts.rename_item(self, site, item) if item else acts.rename_site(self, site)

    def command_delete(self) -> Awaitable[None] | None:
        """Throw the site away, or take the item out of it, after asking."""
        site, item = self.current, self.site.item
        if site is None:
            return None
        return acts.remove_item(self, site, item) if item else acts.delete_site(self, site)

    def command_move_down(self) -> Awaitable[None] | None:
        """Below the next sibling."""
        site, item = self.current, self.site.item
        return acts.move(self, site, item, 1) if site and item else None

    def command_move_up(self) -> Awaitable[None] | None:
        """Above the sibling before."""
        site, item = self.current, self.site.item
        return acts.move(self, site, item, -1) if site and item else None

    def command_open(self) -> None:
        """From a site to its structure; there, fold and unfold."""
        tree = self.site.parts
        if tree.has_focus:
            tree.toggle()
        elif self.site.items:
            tree.focus()

    def command_copy(self) -> None:
        """Copy where the site is published."""
        site = self.current
        if site and (site.urls.published or site.urls.app):
            self.app_context.copy_to_clipboard(display_text(site.urls.published or site.urls.app or ""))
            self.notify("copied")

    def command_web(self) -> None:
        """Open the site in the browser."""
        site = self.current
        if site:
            where = site.urls.published or site.urls.app
            if where:
                open_address(self.app_context, where)
            else:
                self.notify("it has no web address")

    @on(Rows.RowPointed)
    def row_pointed(self) -> None:
        """Another site."""
        self._follow_structure()

    def _organized(self, seen: Seen[Page[Organization] | None]) -> None:
        found = seen.value.items if seen.value else ()
        organization = chosen(found, self.app_context.profile.organization)
        if organization is None or (self.organization and self.organization.id == organization.id):
            return
        self.organization = organization
        listing = ListSites(organization_id=organization.id, limit=MANY)
        self.subscribe(self.desk.watch(listing), self._listed, group="sites")
        spaces = ListSpaces(organization_id=organization.id)
        self.subscribe(self.desk.watch_listing(spaces), lambda _: None, group="spaces")

    def _listed(self, seen: Seen[Page[Site] | None]) -> None:
        if seen.value:
            self.sites = seen.value.items
            self._words = "There is no site yet: a makes one."
        elif seen.error:
            self._words = f"The sites cannot be shown: {display_text(seen.error.message)}"
        self._redraw()

    def _redraw(self) -> None:
        rows = self.query_one(Rows)
        at = next((at for at, site in enumerate(self.sites) if site.id == self._wanted), None)
        rows.show(len(self.sites), cursor=rows.cursor if at is None else at)
        if at is not None:
            self._wanted = ""
        self._follow_structure()

    def _follow_structure(self) -> None:
        site = self.current
        self.refresh_status_bars()
        if site is None:
            self.site.show_words(self._words)
            return
        self.site.show_site(site)
        ask = GetSiteStructure(organization_id=self.organization_id, site_id=site.id)
        answers = self.desk.watch(ask)
        self.subscribe(answers, lambda seen: self._structured(site, seen), group="structure", complains=False)

    def _structured(self, site: Site, seen: Seen[SiteStructure | None]) -> None:
        if self.site.has_own_order:
            return
        why = seen.error.message if seen.error and seen.value is None else ""
        self.site.show_site(site, f"Its structure cannot be shown: {display_text(why)}" if why else "")
        self.site.show_items(site, seen.value.structure if seen.value else ())

    def _row(self, index: int, columns: int) -> Line:
        site = self.sites[index]
        state = Span("● live", "added") if site.published else Span("○ draft", "quiet")
        name = pad(cut((Span(display_text(site.title), "strong"),), columns - 10), columns - 10)
        return (*name, Span(" "), *pad((state,), 8), Span("│", "quiet"))
