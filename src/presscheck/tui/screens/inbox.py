"""The inbox: what needs you, across all spaces of an organization, with what is known of the row under the cursor."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.timer import Timer

from presscheck.api.operation import Page
from presscheck.api.organizations import ListOrganizations, Organization
from presscheck.api.spaces import ListSpaces
from presscheck.api.users import GetCurrentUser, User
from presscheck.desk.inbox import View
from presscheck.desk.seen import Seen
from presscheck.documents.display_text import display_text
from presscheck.documents.moments import now
from presscheck.documents.spans import Line, Span, width
from presscheck.tui.outside import open_address
from presscheck.tui.screens.base_screen import BaseScreen
from presscheck.tui.screens.inbox_lines import heading_row, preview, request_row, tabs
from presscheck.tui.screens.inbox_rows import KnownRows
from presscheck.tui.screens.inbox_views import Viewing
from presscheck.tui.screens.organization import chosen
from presscheck.tui.still import KEY, taken
from presscheck.tui.widgets.bar import Bar
from presscheck.tui.widgets.lines import Lines
from presscheck.tui.widgets.rows import Rows
from presscheck.tui.widgets.strips import drawn

REST = 0.12
"""Seconds that the cursor stands on a row before the service is asked about it."""


class Inbox(Viewing):
    """Views as tabs, rows from the store by window, a preview below."""

    FOOTER = ("open", "mark", "done", "snooze", "find_anything", "go_browse", "close")

    def __init__(self) -> None:
        super().__init__()
        self.organization: Organization | None = None
        self.known_rows = KnownRows(self.desk)
        self._answered = False
        self._trouble = ""
        self._rest: Timer | None = None

    def title_line(self) -> Line:
        """The organization."""
        name = display_text(self.organization.title) if self.organization else ""
        return (Span(" presscheck  ", "strong"), Span(name, "quiet"))

    def body(self) -> ComposeResult:
        """Tabs, rows, the preview."""
        yield Bar(self.style_for, id="tabs")
        yield Rows(self._row, self.style_for, key=self.key_at, is_heading=self.is_heading, id="rows")
        yield Lines(self.style_for, id="preview")

    def on_mount(self) -> None:
        """Show what is known, then follow what is new."""
        super().on_mount()
        self.query_one(Rows).focus()
        self.subscribe(self.desk.watch(GetCurrentUser()), self._signed_in, group="me")
        self.read_views()
        self.recall_queries()
        me = self.desk.known(GetCurrentUser())
        self.known_rows.me = me.value.id if me else ""
        organizations = self.desk.watch(ListOrganizations())
        self.subscribe(organizations, self._organized, group="organizations", complains=False)

    def on_resize(self) -> None:
        """The preview is as wide as the screen."""
        super().on_resize()
        self.show_preview()

    def on_screen_suspend(self) -> None:
        """Another place is gone to: this may be the last that is seen of the inbox, and nobody waits for its rows."""
        self.remember_still()
        if isinstance(self.app_context.screen, BaseScreen):  # beside a sheet they are still seen
            self.unsubscribe("fill")

    def on_screen_resume(self) -> None:
        """What was left to be asked for the rows is asked now."""
        super().on_screen_resume()
        self.follow_current()

    def remember_still(self) -> None:
        """Keep what is shown for the next start."""
        strips = {0: drawn(self.title_line(), self.size.width, self.style_for)}
        for seen in self.query("#tabs, #rows, #preview"):
            strips |= {seen.region.y + y: seen.render_line(y) for y in range(seen.region.height)}
        strips[self.size.height - 1] = drawn(self.footer_hints(), self.size.width, self.style_for)
        self.desk.remember(KEY, taken(self.app_context.theme, *self.size, strips))

    def command_open(self) -> None:
        """Review the request under the cursor."""
        request = self.current()
        if request:
            self.app_context.open_review(request.space, request.id)

    def command_copy(self) -> None:
        """Copy the web address of the request under the cursor."""
        request = self.current()
        if request:
            self.app_context.copy_to_clipboard(display_text(request.urls.app or request.id))
            self.notify("copied")

    def command_web(self) -> None:
        """Open the request under the cursor in the browser."""
        request = self.current()
        if request:
            open_address(self.app_context, request.urls.app or "")

    @on(Rows.RowPointed)
    def row_pointed(self) -> None:
        """Another request is under the cursor."""
        self.show_preview()
        if self._rest:
            self._rest.stop()
        self._rest = self.set_timer(REST, self.follow_current)

    def _signed_in(self, seen: Seen[User | None]) -> None:
        """Who we are decides what needs us; it is the store that says so from the second start on."""
        if seen.value is not None and seen.value.id != self.known_rows.me:
            self.known_rows.me = seen.value.id
            self.choose(self.known_rows.view)

    def _organized(self, seen: Seen[Page[Organization] | None]) -> None:
        if seen.value is not None:
            self._trouble = "" if seen.value.items else "You are in no organization yet."
            self._organizations(seen.value.items)
        elif seen.state == "failed" and seen.error:
            self._trouble = f"{display_text(seen.error.message)}. ctrl+r asks again."
        self.show_preview()

    def _organizations(self, found: tuple[Organization, ...]) -> None:
        organization = chosen(found, self.app_context.profile.organization)
        if organization is None or (self.organization and self.organization.id == organization.id):
            return
        self.organization = organization
        self.known_rows.organization = self.organization_id = organization.id
        self.refresh_status_bars()
        spaces = ListSpaces(organization_id=organization.id)
        self.subscribe(self.desk.watch_listing(spaces), lambda _: self._spaced(spaces), group="spaces")
        self.choose(self.known_rows.view)

    def _spaced(self, spaces: ListSpaces) -> None:
        self.known_rows.learn_spaces(spaces)
        self.query_one(Rows).redraw()

    def choose(self, view: View) -> None:
        """Show a view."""
        self.known_rows.view, self._answered = view, False
        self.query_one(Rows).unmark()
        listing = self.known_rows.listing()
        if listing is None:
            return
        self._redraw()
        self.query_one(Rows).point(0)
        self.subscribe(self.desk.watch_listing(listing), self._listed, group="listing")

    def _listed(self, seen: Seen[int]) -> None:
        self._answered = self._answered or seen.state != "cached"
        self._redraw()
        if seen.state in ("fresh", "unchanged"):
            self.follow_current()
            self.run(self.count_views, group="counts", exclusive=True)

    def _redraw(self) -> None:
        """Draw all rows anew, from the store."""
        self.known_rows.forget()
        self._show_rows()
        if self.known_rows.is_arranged(self.known_rows.view):
            self.run(self._arrange, group="arrange", exclusive=True)

    async def _arrange(self) -> None:
        await self.known_rows.arrange(self.known_rows.view)
        self._show_rows()

    def _show_rows(self) -> None:
        self.show_tabs()
        self.query_one(Rows).show(self.known_rows.count())
        self.show_preview()

    def show_tabs(self) -> None:
        """Draw the views, how many each has, and how many rows are marked."""
        marked = len(self.query_one(Rows).marked)
        views = self.known_rows.views
        totals = [self.known_rows.total(view) for view in views]
        query = self.known_rows.queries.get(self.known_rows.view.id, "")
        said = (Span(f"{display_text(query)} ", "waiting"), Span(f" {marked} marked " if marked else "", "accent"))
        right = said if query or marked else ()
        room = self.size.width - min(width(right), self.size.width * 2 // 3) - 4
        self.query_one("#tabs", Bar).show(tabs(views, self.known_rows.view, totals, room), right)

    def _row(self, index: int, columns: int) -> Line:
        heading = self.known_rows.heading(index)
        if heading:
            return heading_row(*heading, columns)
        request = self.known_rows.request(index)
        if request is None:
            return (Span("…", "quiet"),)
        space = self.known_rows.spaces.get(request.space, "")
        return request_row(request, self.known_rows.facts(request), space, columns, now(), sign=self.sign(request))

    def rearrange(self) -> None:
        """Rows came or went."""
        self._redraw()
        self.follow_current()

    @on(Rows.MarksChanged)
    def marks_changed(self) -> None:
        """Say how many are marked."""
        self.show_tabs()

    def show_preview(self) -> None:
        """Draw what is known of the row under the cursor."""
        request = self.current()
        if request:
            lines = preview(request, self.known_rows.facts(request), self.size.width, now())
        elif self._trouble:
            lines = [(Span(f" {self._trouble}", "waiting"),)]
        elif self._answered or not self.desk.status.online:
            lines = [(Span(f" {self.known_rows.empty}", "quiet"),)]
        else:
            lines = [(Span(" Asking the service …", "quiet"),)]
        hairline = (Span(f" {'─' * (self.size.width - 2)}", "quiet"),)
        self.query_one("#preview", Lines).show([hairline, *lines])
