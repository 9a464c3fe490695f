"""The screen of the access to a site in three tabs: redirects, share links, visitor sign-in."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult
from typing_extensions import override

from presscheck.api.operation import Page
from presscheck.api.site_settings import (
    GetPublishingAuth,
    ListRedirects,
    ListShareLinks,
    PublishingAuth,
    Redirect,
    ShareLink,
)
from presscheck.api.sites import GetSite
from presscheck.engine.publish.redirects import RedirectMap, read_paths
from presscheck.engine.reads.scheduler import REQUESTED
from presscheck.engine.shared_calls import ALL
from presscheck.engine.writes.pending_writes import apply_pending
from presscheck.errors import PresscheckError
from presscheck.text.styled_text import Line
from presscheck.tui.screens.base_screen import BaseScreen
from presscheck.tui.screens.row_filter import filter_tab
from presscheck.tui.screens.site.published_profile import published_reason, show_published
from presscheck.tui.screens.site.title import site_title
from presscheck.tui.screens.site.writes import undo_here, write_reason
from presscheck.tui.screens.site_access.model import SiteAccess
from presscheck.tui.screens.site_access.redirects_tab import RedirectsTab
from presscheck.tui.screens.site_access.share_links_tab import ShareLinksTab
from presscheck.tui.screens.site_access.sign_in_tab import SignInTab
from presscheck.tui.screens.tabbed_lists import TabbedLists
from presscheck.tui.widgets.empty_state import EmptyState
from presscheck.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.api.sites import Site
    from presscheck.engine.results import Result
    from presscheck.tui.screens.site_access.context import Tab


class SiteAccessScreen(BaseScreen):
    """Redirects, share links and visitor sign-in of a site.

    Args:
        organization_id: the organization of the site.
        site: the site.
        tab: the number of the tab that is shown first, from 0.
        redirect: the id of the redirect that the cursor goes to.
    """

    SCOPE = "site"

    def __init__(self, organization_id: str, site: Site, *, tab: int = 0, redirect: str = "") -> None:
        super().__init__()
        self.model = SiteAccess(organization_id, site)
        self.redirects_tab, self.sign_in_tab = RedirectsTab(self), SignInTab(self)
        self.share_links_tab = ShareLinksTab(self)
        tabs: tuple[Tab, ...] = (self.redirects_tab, self.share_links_tab, self.sign_in_tab)
        self.lists = TabbedLists(self, tabs, self._show_empty)
        self._first, self._target = tabs[tab], redirect

    @override
    def title_line(self) -> Line:
        return site_title(self.model.site, "Access")

    @override
    def body(self) -> ComposeResult:
        yield self.lists

    @override
    def command_handlers(self) -> Iterable[object]:
        return (self, self.lists)

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self.subscribe(self.engine.watch(GetSite(**self.model.path)), self._take_site, group="site", shows_errors=False)
        self.watch_redirects()
        links = self.engine.watch(ListShareLinks(**self.model.path, limit=ALL))
        self.subscribe(links, self._take_links, group="links", shows_errors=False)
        sign_in = self.engine.watch(GetPublishingAuth(**self.model.path))
        self.subscribe(sign_in, self._take_sign_in, group="sign-in", shows_errors=False)
        self.run(self._read_paths, group="paths", exclusive=True)
        self.lists.show_tab(self._first)

    def watch_redirects(self) -> None:
        """Read the redirects now, and after each write."""
        listing = ListRedirects(**self.model.path)
        answers = self.engine.watch_listing(listing, priority=REQUESTED)
        self.subscribe(answers, self._take_redirects, group="redirects", shows_errors=False)

    def pause_redirects(self) -> None:
        """Stop reading the redirects again after each write."""
        self.unsubscribe("redirects")

    async def _read_paths(self) -> None:
        try:
            self.model.paths = await read_paths(self.engine, self.model.organization_id, self.model.site)
        finally:
            self._examine()

    def _take_site(self, result: Result[Site | None]) -> None:
        if result.value:
            self.model.site = result.value
            self.redraw()

    def _take_redirects(self, result: Result[int]) -> None:
        listing = ListRedirects(**self.model.path)
        if result.error:
            self.model.errors["redirects"] = result.error
        window = self.engine.window(listing, 0, result.value or 0)
        if window.complete:
            page = Page[Redirect].model_construct(items=window.items, next=None, count=None, total=None)
            shown = apply_pending(listing, page, self.engine.waiting(), self.engine.me)
            self.model.redirects = tuple(sorted(shown.items, key=lambda redirect: redirect.source))
            self.model.errors.pop("redirects", None)
        self._examine()
        self._go_to_target()

    def _go_to_target(self) -> None:
        """Put the cursor on the redirect that the screen was opened for, once it is listed."""
        shown = self.redirects_tab.shown
        at = next((at for at, redirect in enumerate(shown) if redirect.id == self._target), None)
        if at is not None:
            self._target = ""
            self.lists.rows_of(self.redirects_tab).show(len(shown), cursor=at)

    def _examine(self) -> None:
        """Draw the rows, and find out what is wrong with them off the thread of the screen."""
        self.redraw()
        redirects = self.model.map
        if redirects is None:
            return

        async def examine() -> None:
            self.model.problems = await asyncio.to_thread(_problems, redirects)
            self.redraw()

        self.run(examine, group="problems", exclusive=True)

    def _take_links(self, result: Result[Page[ShareLink] | None]) -> None:
        if result.value:
            self.model.links = result.value.items
        self._note_error("share links", result.error, is_known=result.value is not None)

    def _take_sign_in(self, result: Result[PublishingAuth | None]) -> None:
        if result.value:
            self.model.sign_in = result.value
        self._note_error("settings", result.error, is_known=result.value is not None)

    def _note_error(self, noun: str, error: PresscheckError | None, *, is_known: bool) -> None:
        if error and not is_known:
            self.model.errors[noun] = error
        else:
            self.model.errors.pop(noun, None)
        self.redraw()

    @property
    def tab(self) -> Tab:
        """The tab that is shown."""
        return self.lists.tab

    @property
    def rows(self) -> RowList:
        """Its rows."""
        return self.lists.rows

    @override
    @property
    def footer_commands(self) -> tuple[str, ...]:
        return self.tab.footer

    def redraw(self) -> None:
        """Draw the tab again."""
        self.lists.redraw()

    def _show_empty(self, empty: EmptyState) -> None:
        tab = self.tab
        error = self.model.errors.get(tab.noun)
        if tab.total is not None:
            title, hint = ("No row has this text.", "") if tab.total else tab.empty()
            empty.show_empty(title, hint)
        elif not self.engine.status.online:
            empty.show_offline(f"The {tab.noun} of this site are not in the cache.")
        elif error:
            empty.show_failed(f"Could not load the {tab.noun}", error.message)
        else:
            empty.show_loading(f"Loading the {tab.noun} …")

    @on(RowList.RowHighlighted)
    def row_highlighted(self) -> None:
        """Show the keys of another row."""
        self.refresh_status_bars()

    def change_reason(self, operation: type[Operation[Any]], role: str = "create") -> str | None:
        """Why nothing can be changed here now; None if it can."""
        return write_reason(self, operation, self.model.site, role)

    async def command_find_here(self) -> None:
        """Filter the rows by a text."""
        await filter_tab(self.find, self.tab, self.rows, self.redraw)

    @override
    def command_refresh(self) -> None:
        """Request everything again, with the pages to which redirects lead."""
        super().command_refresh()
        self.run(self._read_paths, group="paths", exclusive=True)

    def command_unsend(self) -> Awaitable[None]:
        """Undo the last change of the site; asks first if it was sent."""
        return undo_here(self, self.model.site.id)

    def command_mark(self) -> None:
        """Mark the row, or remove its mark."""
        self.rows.mark()

    def command_mark_range(self) -> None:
        """Start or end a range of marks."""
        if self.rows.mark_range():
            self.notify("range started: V ends it")

    def command_mark_visible(self) -> None:
        """Mark all visible rows."""
        self.rows.mark_visible()

    def reason_mark(self) -> str | None:
        """Only redirects are marked."""
        return None if self.tab is self.redirects_tab else "only redirects can be marked: 1 shows them"

    reason_mark_range = reason_mark_visible = reason_mark

    def command_back(self) -> None:
        """Remove all marks; without marks, close."""
        if not self.rows.clear_marks():
            self.app_context.pop_screen()

    def reason_open(self) -> str | None:
        """As the tab says."""
        return self.tab.reason("open")

    def command_open(self) -> Awaitable[None] | None:
        """Show where the redirect leads; change the share link or the setting."""
        return self.tab.run("open")

    def reason_add(self) -> str | None:
        """As the tab says."""
        return self.tab.reason("add")

    def command_add(self) -> Awaitable[None] | None:
        """Add a redirect or a share link."""
        return self.tab.run("add")

    def reason_rename(self) -> str | None:
        """As the tab says."""
        return self.tab.reason("rename")

    def command_rename(self) -> Awaitable[None] | None:
        """Change the redirect, the share link or the setting."""
        return self.tab.run("rename")

    def reason_delete(self) -> str | None:
        """As the tab says."""
        return self.tab.reason("delete")

    def command_delete(self) -> Awaitable[None] | None:
        """Delete the redirect or the marked ones; revoke the share link."""
        return self.tab.run("delete")

    def reason_act_on_marked(self) -> str | None:
        """Disabled without marks."""
        if self.tab is self.redirects_tab and self.rows.marked:
            return self.tab.reason("act_on_marked")
        return "nothing is marked: space marks a redirect, * all visible rows"

    def command_act_on_marked(self) -> Awaitable[None] | None:
        """Change or delete the marked redirects."""
        return self.tab.run("act_on_marked")

    def reason_copy(self) -> str | None:
        """As the tab says."""
        return self.tab.reason("copy")

    def command_copy(self) -> Awaitable[None] | None:
        """Copy the path of the redirect, the address of the share link, or the key."""
        return self.tab.run("copy")

    def reason_import_rows(self) -> str | None:
        """As the tab of redirects says."""
        return self.redirects_tab.reason("import_rows")

    def command_import_rows(self) -> Awaitable[None] | None:
        """Import redirects from a CSV file."""
        self.lists.show_tab(self.redirects_tab)
        return self.tab.run("import_rows")

    def reason_export_rows(self) -> str | None:
        """As the tab of redirects says."""
        return self.redirects_tab.reason("export_rows")

    def command_export_rows(self) -> Awaitable[None] | None:
        """Export the redirects to a CSV file."""
        return self.redirects_tab.run("export_rows")

    def reason_test_path(self) -> str | None:
        """As the tab of redirects says."""
        return self.redirects_tab.reason("test_path")

    def command_test_path(self) -> Awaitable[None] | None:
        """Ask for a path, and show where it leads."""
        return self.redirects_tab.run("test_path")

    def reason_suggest_rows(self) -> str | None:
        """As the tab of redirects says."""
        return self.redirects_tab.reason("suggest_rows")

    def command_suggest_rows(self) -> Awaitable[None] | None:
        """List redirects for moved and deleted pages, and add the chosen ones."""
        self.lists.show_tab(self.redirects_tab)
        return self.tab.run("suggest_rows")

    def reason_go_published(self) -> str | None:
        """Disabled for a site that is not live, for a share link without an address, and offline."""
        link = self.share_links_tab.current if self.tab is self.share_links_tab else None
        if self.tab is self.share_links_tab and (link is None or not link.urls.published):
            return self.share_links_tab.reason("copy")
        return published_reason(self, self.model.site)

    async def command_go_published(self) -> None:
        """Show what visitors get, on the tab of share links those who come by the one under the cursor."""
        link = self.share_links_tab.current if self.tab is self.share_links_tab else None
        await show_published(self, self.model.organization_id, self.model.site, link)

    def reason_rotate_key(self) -> str | None:
        """As the tab of sign-in says."""
        return self.sign_in_tab.reason("rotate_key")

    def command_rotate_key(self) -> Awaitable[None] | None:
        """Replace the key that signs visitors in, after the title of the site was typed."""
        self.lists.show_tab(self.sign_in_tab)
        return self.tab.run("rotate_key")


def _problems(redirects: RedirectMap) -> dict[str, str]:
    found = ((redirect.id, redirects.problem(redirect)) for redirect in redirects.by_source.values())
    return {identity: problem for identity, problem in found if problem}
