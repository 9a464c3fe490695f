"""The publish screen: the sites of an organization, and the structure of the one under the cursor."""

from __future__ import annotations

import time
from collections.abc import Iterable
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
from presscheck.engine.publish.checks import Part
from presscheck.engine.publish.published_state import PublishedStates
from presscheck.engine.publish.shown_addresses import shown_address
from presscheck.engine.results import Result
from presscheck.engine.shortcuts import Shortcut, change_text
from presscheck.errors import NotSupported
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, pad
from presscheck.tui.external_programs import open_address
from presscheck.tui.places import Place
from presscheck.tui.screens.organization import choose_organization
from presscheck.tui.screens.publish.actions import PublishActions, SiteActions, last_publish
from presscheck.tui.screens.publish.checklist import AFTER_A_SCREEN, CURRENT, Checklist
from presscheck.tui.screens.publish.site_pane import SitePane
from presscheck.tui.screens.sites.adaptive.audience_view import view_as
from presscheck.tui.screens.sites.previews import SitePreviews
from presscheck.tui.screens.sites.published_profile import published_reason, show_published
from presscheck.tui.screens.sites.structure.model import SiteTree
from presscheck.tui.screens.sites.writes import mark_of
from presscheck.tui.ui.row_filter import RowFilter
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.widgets.pane_border import PaneBorder
from presscheck.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from presscheck.api.site_structure import StructureItem
    from presscheck.tui.widgets.tree import Tree

MANY = 1000
NO_PLACE = Place("publish", "Sites")
ACCESS_TABS: tuple[Part, ...] = ("redirects", "share links", "sign-in")
"""The tabs of the screen of access, in their order."""


class PublishScreen(BaseScreen):
    """Sites on the left, the structure of the one under the cursor on the right."""

    SCOPE = "site"
    FOOTER = ("publish", "why", "add", "next_pane", "move_down", "web", "close")

    def __init__(self) -> None:
        super().__init__()
        self.organization: Organization | None = None
        self.all_sites: tuple[Site, ...] = ()
        self.sites: tuple[Site, ...] = ()
        """The sites that are listed: all, or those with the text of the filter."""
        self.site_filter = RowFilter(lambda: self.query_one(RowList), self._show_with)
        self.checklist = Checklist(self)
        self.actions = SiteActions(self)
        self.publish_actions = PublishActions(self, self.checklist)
        self._previews = SitePreviews(self, lambda: self.organization_id, lambda: self.current)
        self._target = ""
        """The id of the site that the cursor goes to as soon as it is known."""
        self._then = ""
        """The name of the command that runs then; empty for none."""
        self._hint = "Loading …"
        self._structures: dict[str, SiteTree] = {}
        """The structures of the sites that were looked at, by the ids of the sites."""

    @override
    def command_handlers(self) -> Iterable[object]:
        """The screen, the actions on sites, publishing, the checklist, previews."""
        return (self, self.actions, self.publish_actions, self.checklist, self._previews)

    @override
    def title_line(self) -> Line:
        site = self.current
        organization = self.organization.title if self.organization else ""
        head = self.clickable("go_browse", Span(sanitize(organization), "quiet")) if organization else ()
        path = ["" if organization else None, "Sites", site.title if site else None]
        rest = " › ".join(sanitize(part) for part in path if part is not None)
        return (Span(" ", "quiet"), *head, Span(rest, "quiet"))

    @override
    def body(self) -> ComposeResult:
        with Horizontal():
            sites = RowList(
                self._row,
                second_line=self._facts_row,
                key=self._key,
                has_mark_column=False,
                id="tree",
            )
            yield sites
            yield PaneBorder(sites)
            yield SitePane(self._published, id="site")

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(RowList).focus()
        self.subscribe(self.engine.watch(ListOrganizations()), self._take_organizations, group="organizations")
        self.set_interval(CURRENT, self._check_again)

    @override
    def on_screen_resume(self) -> None:
        """Check the site again: on the other screen something may have been mended."""
        super().on_screen_resume()
        self._check_again(AFTER_A_SCREEN)

    def _check_again(self, current: float = CURRENT) -> None:
        site = self.current
        # a check of a large site may take longer than the interval: it would never end if it began again
        if site and self.is_current and self.engine.status.online and not self.checklist.is_running(site):
            self.checklist.check_soon(site, current=current)

    @property
    def rows(self) -> RowList:
        """The list of sites."""
        return self.query_one(RowList)

    @property
    def organization_id(self) -> str:
        """The organization of the sites."""
        return self.organization.id if self.organization else ""

    @property
    def current(self) -> Site | None:
        """The site under the cursor."""
        at = self.query_one(RowList).cursor if self.is_mounted else 0
        return self.sites[at] if at < len(self.sites) else None

    def open_site(self, site_id: str, command: str = "") -> None:
        """Put the cursor on a site as soon as it is known, and run a command there if one is given."""
        self._target, self._then = site_id, command
        if command:
            self.rows.focus()  # in the structure it would be about an item of it
        self._redraw()

    @override
    def place(self) -> Place:
        site = self.current
        return Place("publish", sanitize(site.title) or "(no title)", (site.id,), "site") if site else NO_PLACE

    def show_site(self, site_id: str = "") -> None:
        """Go to the site of a place again, if the cursor is on another one."""
        if site_id and (self.current is None or self.current.id != site_id):
            self.open_site(site_id)

    @property
    def site(self) -> SitePane:
        """The pane that shows it."""
        return self.query_one(SitePane)

    @property
    def model(self) -> SiteTree:
        """The structure of the site; without one an empty structure."""
        site = self.current
        if site is None:
            return SiteTree(self.organization_id, Site(id=""))
        model = self._structures.setdefault(site.id, SiteTree(self.organization_id, site))
        model.site = site
        return model

    @property
    def structure_tree(self) -> Tree:
        """The tree that shows it."""
        return self.site.structure

    @property
    def item(self) -> StructureItem | None:
        """The item of the structure under the cursor, while the structure has the focus."""
        return self.site.item if self.is_mounted else None

    @override
    def redraw(self) -> None:
        if self.is_mounted and not self.is_leaving:
            self.when_shown("redraw structure", self._draw_structure)

    def _draw_structure(self) -> None:
        if self.current and not self.is_leaving:
            self.site.show_structure(self.model)
            self.refresh_status_bars()

    def show_checks(self, site: Site) -> None:
        """Draw what is known of the checks of a site, if it is the one under the cursor."""
        if self.current and self.current.id == site.id:
            self.site.show_checks(self.checklist.line(site))

    def command_open(self) -> None:
        """Go from a site to its structure; there, expand or collapse."""
        tree = self.site.structure
        if tree.has_focus:
            tree.toggle()
        elif self.model.items:
            tree.focus()
            if self.current:
                self.engine.shortcuts.opened(self._shortcut(self.current))

    async def command_find_here(self) -> None:
        """Filter the sites by title, type, visibility or address; in the structure, find a text."""
        rows = self.query_one(RowList)
        if rows.has_focus:
            await self.find.open(self.site_filter, rows)
        else:
            await self.find.command_find_here()

    def reason_go_access(self) -> str | None:
        """Disabled without a site."""
        return None if self.current else "there is no site: a creates one"

    def command_go_access(self) -> None:
        """Show redirects, share links and visitor sign-in of the site."""
        self._open_access()

    def _open_access(self, tab: int = 0, redirect: str = "") -> None:
        from presscheck.tui.screens.sites.access.screen import SiteAccessScreen  # 6 ms, only when it is opened

        if self.current:
            screen = SiteAccessScreen(self.organization_id, self.current, tab=tab, redirect=redirect)
            self.app_context.push_screen(screen)

    def open_part(self, part: Part, item: str) -> None:
        """Go to where a part of the site under the cursor is changed, and there to an item of it."""
        if part in ACCESS_TABS:
            self._open_access(ACCESS_TABS.index(part), item)
        elif part == "schema":
            self.command_go_adaptive()
        elif part == "structure":
            self.structure_tree.focus()
            if item:
                self.structure_tree.move_to_key(item, ancestors=self.model.ancestors(item))
        elif part == "hostname":
            app = sanitize(self.current.urls.app) if self.current and self.current.urls.app else ""
            where = f": {app}" if app else ""
            self.notify(f"the API has no call for the hostname: change it in the web app{where}")
        else:
            self.rows.focus()  # the details are changed among the sites
            if asking := self.actions.change_detail(item):
                self.run(asking)

    def reason_go_published(self) -> str | None:
        """Disabled for a site that is not live, and offline."""
        return published_reason(self, self.current)

    async def command_go_published(self) -> None:
        """Show what visitors of the site get."""
        if self.current:
            await show_published(self, self.organization_id, self.current)

    reason_view_as = reason_go_access

    async def command_view_as(self) -> None:
        """Show the site as an audience reads it."""
        await view_as(self, self.organization_id, self.current)

    reason_go_permissions = reason_go_access

    def command_go_permissions(self) -> None:
        """Show who has which level in the site, and why."""
        if self.current and self.organization:
            self.app_context.open_permissions(self.organization, self.current)

    def reason_go_structure(self) -> str | None:
        """Disabled without a site."""
        return None if self.current else "there is no site: a creates one"

    def command_go_structure(self) -> None:
        """Show sections, groups and spaces of the site as a tree."""
        from presscheck.tui.screens.sites.structure.screen import SiteStructureScreen  # 2 ms, only when it is opened

        if self.current:
            self.app_context.push_screen(SiteStructureScreen(self.organization_id, self.current))

    def reason_go_adaptive(self) -> str | None:
        """Disabled without a site."""
        return None if self.current else "there is no site: a creates one"

    def command_go_adaptive(self) -> None:
        """Show visitor schema, conditions and audiences of the site."""
        # 6 ms, only when it is opened
        from presscheck.tui.screens.sites.adaptive.screen import AdaptiveContentScreen

        if self.current:
            self.app_context.push_screen(AdaptiveContentScreen(self.organization_id, self.current))

    def reason_go_customization(self) -> str | None:
        """Disabled without a site."""
        return None if self.current else "there is no site: a creates one"

    def command_go_customization(self) -> None:
        """Show the customization of the site."""
        # 9 ms, only when it is opened
        from presscheck.tui.screens.sites.customization.screen import CustomizationScreen

        if self.current:
            self.app_context.push_screen(CustomizationScreen(self.organization_id, self.current))

    def reason_history(self) -> str | None:
        """Disabled without a site."""
        return None if self.current else "there is no site: a creates one"

    def command_history(self) -> None:
        """Show what was published and changed in the site, and restore it."""
        from presscheck.tui.screens.sites.history.screen import SiteHistoryScreen  # 3 ms, only when it is opened

        if self.current:
            self.app_context.push_screen(SiteHistoryScreen(self.organization_id, self.current))

    def reason_bookmark(self) -> str | None:
        """Disabled without a site."""
        return None if self.current else "there is no site: a creates one"

    def command_bookmark(self) -> None:
        """Bookmark the site, or remove its bookmark."""
        site = self.current
        if site:
            shortcut = self._shortcut(site)
            self.notify(change_text(shortcut, self.engine.shortcuts.toggle_bookmark(shortcut)))
            self.rows.redraw()

    def _shortcut(self, site: Site) -> Shortcut:
        return Shortcut(f"site {site.id}", site.title, organization=self.organization_id)

    def command_copy(self) -> None:
        """Copy the web address of the site."""
        site = self.current
        if site and (site.urls.published or site.urls.app):
            self.app_context.copy_to_clipboard(sanitize(site.urls.published or site.urls.app or ""))
            self.notify("copied")

    def command_web(self) -> None:
        """Open the site in the browser."""
        site = self.current
        if site:
            address = site.urls.published or site.urls.app
            if address:
                open_address(self.app_context, address)
            else:
                self.notify("it has no web address")

    @on(RowList.RowHighlighted)
    def row_highlighted(self) -> None:
        """Show another site."""
        self._subscribe_structure()

    def _take_organizations(self, result: Result[Page[Organization] | None]) -> None:
        organizations = result.value.items if result.value else ()
        organization = choose_organization(organizations, self.app_context.profile.organization)
        if organization is None or (self.organization and self.organization.id == organization.id):
            return
        self.organization = organization
        listing = ListSites(organization_id=organization.id, limit=MANY)
        self.subscribe(self.engine.watch(listing), self._take_sites, group="sites")
        spaces = ListSpaces(organization_id=organization.id)
        self.subscribe(self.engine.watch_listing(spaces), lambda _: None, group="spaces")

    def _take_sites(self, result: Result[Page[Site] | None]) -> None:
        if result.value:
            self.all_sites = result.value.items
            self._hint = "There is no site yet: a creates one."
        elif result.error:
            self._hint = f"Could not load the sites: {sanitize(result.error.message)}"
        self._redraw()

    def _show_with(self, text: str) -> None:
        """List the sites with a text; without one all."""
        self._redraw()

    def _redraw(self) -> None:
        rows = self.query_one(RowList)
        text = rows.search_text
        self.sites = tuple(site for site in self.all_sites if text in _searched(site)) if text else self.all_sites
        at = next((at for at, site in enumerate(self.sites) if site.id == self._target), None)
        rows.show(len(self.sites), cursor=rows.cursor if at is None else at)
        command = self.command_table.command(self._then) if at is not None else None
        if at is not None:
            self._target = self._then = ""
        self._subscribe_structure()
        if command:
            self.run_command(command)

    def _subscribe_structure(self) -> None:
        site = self.current
        self.refresh_status_bars()
        if site is None:
            self.site.show_message("No site has this text." if self.all_sites else self._hint)
            return
        self.site.show_site(site, self.checklist.line(site))
        self.site.show_structure(self.model)
        self.checklist.check_if_changed(site, None)
        self.checklist.check_soon(site)
        call = GetSiteStructure(organization_id=self.organization_id, site_id=site.id)
        answers = self.engine.watch(call)
        self.subscribe(
            answers, lambda result: self._take_structure(site, result), group="structure", shows_errors=False
        )

    def _take_structure(self, site: Site, result: Result[SiteStructure | None]) -> None:
        reason = result.error.message if result.error and result.value is None else ""
        prefix = "" if isinstance(result.error, NotSupported) else "Could not load its structure: "
        self.site.show_site(site, self.checklist.line(site), f"{prefix}{sanitize(reason)}" if reason else "")
        if result.value:
            self.model.take(result.value)
            self.checklist.check_if_changed(site, result.value)
        self._draw_structure()

    def _published(self, site: Site) -> str:
        """When a site was published last, as far as this machine knows."""
        return last_publish(PublishedStates(self.engine.outbox).of(site.id), time.time())

    def _key(self, index: int) -> str | None:
        return self.sites[index].id if index < len(self.sites) else None

    def _row(self, index: int, columns: int) -> Line:
        site = self.sites[index]
        mark = (Span("▪ ", "accent"),) if site.id in self.rows.marked else ()
        state = Span("● live", "added") if site.published else Span("○ draft", "quiet")
        waiting, style = mark_of(site)
        star = (Span(" ★", "accent"),) if self.engine.shortcuts.is_bookmarked(f"site {site.id}") else ()
        title = (*mark, Span(waiting, style), Span(sanitize(site.title), "strong"), *star)
        name = pad(cut(title, columns - 9), columns - 9)
        return (*name, Span(" "), *pad((state,), 8))

    def _facts_row(self, index: int, columns: int) -> Line:
        return cut((Span("  "), Span(" · ".join(_facts(self.sites[index])), "quiet")), columns)


def _facts(site: Site) -> list[str]:
    """Visibility, address and type of a site, as display text."""
    address = shown_address(site, site.urls.published).partition("://")[2].rstrip("/") or site.hostname or ""
    base = f"/{site.basename}" if site.basename and not address else ""
    return [sanitize(part) for part in (site.visibility, site.type, address or base) if part]


def _searched(site: Site) -> str:
    return " ".join((site.title, "live" if site.published else "draft", *_facts(site))).lower()
