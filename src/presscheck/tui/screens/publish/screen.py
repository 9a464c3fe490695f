"""The publish screen: the sites of an organization, and the structure of the site under the cursor."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from typing_extensions import override

from presscheck.api.operation import Page
from presscheck.api.organizations import ListOrganizations, Organization
from presscheck.api.site_structure import GetSiteStructure, SiteStructure
from presscheck.api.sites import ListSites, Site
from presscheck.api.spaces import ListSpaces
from presscheck.engine.publish.publish_summary import last_publish
from presscheck.engine.publish.published_state import PublishedStates
from presscheck.engine.results import Result
from presscheck.engine.shortcuts import Shortcut, change_text
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.places import Place
from presscheck.tui.screens.organization import choose_organization
from presscheck.tui.screens.publish.actions import PublishActions
from presscheck.tui.screens.publish.checklist import AFTER_A_SCREEN, CURRENT, Checklist
from presscheck.tui.screens.publish.session import PublishSession
from presscheck.tui.screens.publish.site_actions import SiteActions
from presscheck.tui.screens.publish.site_pane import SitePane
from presscheck.tui.screens.publish.site_screens import SiteScreens
from presscheck.tui.screens.web_address import open_address
from presscheck.tui.ui.loaded import Loaded, message_for
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.ui.signs import legend
from presscheck.tui.widgets.pane_border import PaneBorder
from presscheck.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from presscheck.tui.commands import Command

MANY = 1000
NO_PLACE = Place("publish", "Sites")


class PublishScreen(BaseScreen):
    """The publish screen: sites on the left, the structure of the site under the cursor on the right."""

    SCOPE = "site"
    LEGEND = legend("•●○★◷✓✗⚠?")
    FOOTER = ("publish", "why", "add", "next_pane", "move_down", "web", "close")

    def __init__(self) -> None:
        super().__init__()
        self.session = PublishSession(self)
        self.actions = SiteActions(self.session)
        self._site_screens = SiteScreens(self.session, self.actions)
        self.checklist = Checklist(self.session, self._site_screens)
        self.publish_actions = PublishActions(self.session, self.checklist)
        self._is_new = True
        """True until sites are shown for the first time."""

    @override
    def command_handlers(self) -> Iterable[object]:
        return (self, self.session.sites, self.actions, self.publish_actions, self.checklist, self._site_screens)

    @override
    def title_line(self) -> Line:
        site = self.current
        organization = self.session.organization.title if self.session.organization else ""
        head = self.clickable("go_browse", Span(sanitize(organization), "quiet")) if organization else ()
        path = ["" if organization else None, "Sites", site.title if site else None]
        rest = " › ".join(sanitize(part) for part in path if part is not None)
        return (Span(" ", "quiet"), *head, Span(rest, "quiet"))

    @override
    def body(self) -> ComposeResult:
        with Horizontal():
            yield self.session.sites.rows
            yield PaneBorder(self.session.sites.rows)
            yield SitePane(self._published, id="site")

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self.session.sites.rows.focus()
        self.subscribe(self.engine.watch(ListOrganizations()), self._take_organizations, group="organizations")
        self.set_interval(CURRENT, self._check_again)

    @override
    def on_screen_resume(self) -> None:
        """Check the site again: the user may have fixed problems on another screen."""
        super().on_screen_resume()
        self._check_again(AFTER_A_SCREEN)

    def _check_again(self, current: float = CURRENT) -> None:
        site = self.current
        # a check of a large site may take longer than the interval, and would never finish if it were restarted
        if site and self.is_current and self.engine.status.online and not self.checklist.is_running(site):
            self.checklist.check_soon(site, current=current)

    @property
    def current(self) -> Site | None:
        """The site under the cursor; None without sites."""
        return self.session.current

    @override
    def place(self) -> Place:
        site = self.current
        return Place("publish", sanitize(site.title) or "(no title)", (site.id,), "site") if site else NO_PLACE

    @override
    def go_to(self, place: Place) -> None:
        if place.ids:
            self.session.open_site(place.ids[0])
            if place.command:
                self.session.sites.rows.focus()  # with the focus in the structure, the command would act on an item

    @override
    def run_command(self, command: Command) -> None:
        """Run a command. If it is disabled until the sites are loaded, wait; another key press cancels it."""
        if self.session.answered.is_set() or self.disabled_reason(command.name) is None:
            super().run_command(command)
            return
        pressed = self.last_key

        async def run_later() -> None:
            await self.session.answered.wait()
            if self.last_key == pressed:
                super(PublishScreen, self).run_command(command)

        self.run(self.app_context.type_ahead.command(run_later()), group="first command", exclusive=True)

    @override
    def draw(self) -> None:
        if self.is_leaving:
            return
        if self.session.sites.target:
            self._show_sites()
        self._draw_structure()

    def _draw_structure(self) -> None:
        if self.current and not self.is_leaving:
            self.session.pane.show_structure(self.session.model)
            self.refresh_status_bars()

    def command_open(self) -> None:
        """Focus the structure of the site; in the structure, expand or collapse the item."""
        tree = self.session.tree
        if tree.has_focus:
            tree.toggle()
        elif self.session.model.items:
            tree.focus()
            if self.current:
                self.engine.shortcuts.opened(self._shortcut(self.current))

    async def command_find_here(self) -> None:
        """Filter the sites by title, type, visibility or address; in the structure, search for text."""
        sites = self.session.sites
        if sites.rows.has_focus:
            await self.find.open(sites.row_filter(self._show_sites), sites.rows)
        else:
            await self.find.command_find_here()

    def reason_bookmark(self) -> str | None:
        """Return why nothing can be bookmarked: there is no site."""
        return self.session.site_reason()

    def command_bookmark(self) -> None:
        """Bookmark the site, or remove its bookmark."""
        site = self.current
        if site:
            shortcut = self._shortcut(site)
            self.notify(change_text(shortcut, self.engine.shortcuts.toggle_bookmark(shortcut)))
            self.session.sites.rows.redraw()

    def _shortcut(self, site: Site) -> Shortcut:
        return Shortcut(f"site {site.id}", site.title, organization=self.session.organization_id)

    @override
    def field(self, name: str) -> str:
        site = self.current
        if name == "title":
            return site.title if site else ""
        return self._address if name == "url" else super().field(name)

    @property
    def _address(self) -> str:
        """The published address of the site under the cursor, else its address in the web app; empty without both."""
        site = self.current
        return site.urls.published or site.urls.app or "" if site else ""

    def command_copy(self) -> None:
        """Copy the web address of the site."""
        if self._address:
            self.app_context.copy_to_clipboard(sanitize(self._address))
            self.notify("copied")

    def command_web(self) -> None:
        """Open the published site in the browser or, if it has no address, the site in the web app."""
        if self._address:
            open_address(self.app_context, self._address)
        elif self.current:
            self.notify("it has no web address")

    @on(RowList.RowHighlighted)
    def row_highlighted(self) -> None:
        """Show the site under the cursor."""
        self._subscribe_structure()

    def _take_organizations(self, result: Result[Page[Organization] | None]) -> None:
        organizations = result.value.items if result.value else ()
        organization = choose_organization(organizations, self.app_context.profile.organization)
        if organization is None and (result.value or result.error):
            self._take_loaded(Loaded(() if result.value else None, result.error))
        if organization is None or (self.session.organization and self.session.organization.id == organization.id):
            return
        self.session.organization = organization
        listing = ListSites(organization_id=organization.id, limit=MANY)
        self.subscribe(self.engine.watch(listing), self._take_sites, group="sites")
        spaces = ListSpaces(organization_id=organization.id)
        self.subscribe(self.engine.watch_listing(spaces), lambda _: None, group="spaces")

    def _take_sites(self, result: Result[Page[Site] | None]) -> None:
        self._take_loaded(Loaded(result.value.items if result.value else self.session.sites.loaded.value, result.error))

    def _take_loaded(self, sites: Loaded[Sequence[Site]]) -> None:
        self.session.sites.loaded = sites
        self.session.answered.set()
        self._begin_with_project()
        self._show_sites()

    def _begin_with_project(self) -> None:
        """Select the project's site when sites are first shown, unless another site is about to be selected."""
        project, sites = self.app_context.profile.project, self.session.sites
        if not self._is_new or not sites.loaded.value:
            return
        self._is_new = False
        name = project.site if project else None
        site = next((site for site in sites.loaded.value if name in (site.id, site.title)), None)
        if site and not sites.target:
            sites.target = site.id

    def _show_sites(self) -> None:
        self.session.sites.show()
        self._subscribe_structure()

    def _subscribe_structure(self) -> None:
        site = self.current
        self.session.look_at(site)
        self.refresh_status_bars()
        if site is None:
            explanation = self.session.sites.explanation(online=self.engine.status.online)
            self.session.pane.show_message(sanitize(explanation.line))
            return
        self.session.pane.show_site(site, self.session.model, self.checklist.line(site))
        self.checklist.check_if_changed(site, None)
        self.checklist.check_soon(site)
        call = GetSiteStructure(organization_id=self.session.organization_id, site_id=site.id)
        answers = self.engine.watch(call)
        self.subscribe(
            answers, lambda result: self._take_structure(site, result), group="structure", shows_errors=False
        )

    def _take_structure(self, site: Site, result: Result[SiteStructure | None]) -> None:
        self.session.model.take_result(result)
        loaded, online = self.session.model.loaded, self.engine.status.online
        why = "" if loaded.value else message_for(loaded, "structure", " of this site", online=online, verb="is").line
        self.session.pane.show_site(site, self.session.model, self.checklist.line(site), sanitize(why))
        if result.value:
            self.checklist.check_if_changed(site, result.value)
        if not self.is_leaving:
            self.refresh_status_bars()

    def _published(self, site: Site) -> str:
        return last_publish(PublishedStates(self.engine.outbox).of(site.id), time.time())
