"""The inbox: change requests of an organization in views, with a preview of the one under the cursor."""

from __future__ import annotations

from collections.abc import Iterable

from textual import on
from textual.app import ComposeResult
from textual.timer import Timer

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.operation import Page
from presscheck.api.organizations import ListOrganizations, Organization
from presscheck.api.spaces import ListSpaces
from presscheck.api.users import GetCurrentUser, User
from presscheck.engine.inbox.views import View
from presscheck.engine.results import Result
from presscheck.text.phrases import now
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, width
from presscheck.tui.external_programs import open_address
from presscheck.tui.screens.base_screen import BaseScreen
from presscheck.tui.screens.inbox.bulk_actions import BulkActions
from presscheck.tui.screens.inbox.model import InboxModel
from presscheck.tui.screens.inbox.prefetch import InboxPrefetch
from presscheck.tui.screens.inbox.row_renderer import heading_row, preview, request_row, tabs
from presscheck.tui.screens.inbox.triage import TriageActions
from presscheck.tui.screens.inbox.user_choice import UserChoice
from presscheck.tui.screens.inbox.views import ViewActions
from presscheck.tui.screens.organization import choose_organization
from presscheck.tui.screens.startup_snapshot import KEY, snapshot_text
from presscheck.tui.status_bar import StatusLine
from presscheck.tui.widgets.line_view import TextView, render_strip
from presscheck.tui.widgets.row_list import RowList

REST = 0.12
"""Seconds that the cursor stays on a row before its details are read."""


class InboxScreen(BaseScreen):
    """Views as tabs, their rows from the store, a preview below."""

    FOOTER = ("open", "mark", "done", "snooze", "find_anything", "go_browse", "close")

    def __init__(self) -> None:
        super().__init__()
        self.model = InboxModel(self.engine)
        self.views = ViewActions(self)
        self.triage = TriageActions(self)
        self.bulk_actions = BulkActions(self, self.triage)
        self.prefetch = InboxPrefetch(self)
        self.user_choice = UserChoice(self)
        self._organization: Organization | None = None
        self._is_answered = False
        self._error = ""
        self._rest: Timer | None = None

    def command_handlers(self) -> Iterable[object]:
        """The screen, its views, triage, bulk actions, and the choice of the user."""
        return (self, self.views, self.triage, self.bulk_actions, self.user_choice)

    def title_line(self) -> Line:
        """The organization."""
        name = sanitize(self._organization.title) if self._organization else ""
        return (Span(" presscheck  ", "strong"), Span(name, "quiet"))

    def body(self) -> ComposeResult:
        """Tabs, why the user is unknown, rows, preview."""
        yield StatusLine(self.style_for, id="tabs")
        unknown_user = StatusLine(self.style_for, id="unknown-user")
        unknown_user.display = False
        yield unknown_user
        yield RowList(self._row, self.style_for, key=self._key, is_heading=self._is_heading, id="rows")
        yield TextView(self.style_for, id="preview")

    def on_mount(self) -> None:
        """Show what is stored, then subscribe to what is new."""
        super().on_mount()
        self.bulk_actions.announce_stopped_train()
        self.rows.focus()
        self.subscribe(self.engine.watch(GetCurrentUser()), self._take_user, group="me", shows_errors=False)
        self.views.read_views()
        self.views.recall_filters()
        me = self.engine.known(GetCurrentUser())
        self.model.me = me.value.id if me else ""
        organizations = self.engine.watch(ListOrganizations())
        self.subscribe(organizations, self._take_organizations, group="organizations", shows_errors=False)

    def on_resize(self) -> None:
        """Fit the preview to the new width."""
        super().on_resize()
        self.show_preview()

    def on_screen_suspend(self) -> None:
        """Store the snapshot for the next start; behind another screen read no further rows."""
        self.save_snapshot()
        if not self.is_shown:
            self.prefetch.stop()

    def on_screen_resume(self) -> None:
        """Go on reading rows, and unmark what a batch has done."""
        super().on_screen_resume()
        self.bulk_actions.unmark_done()
        self.prefetch.start()

    def save_snapshot(self) -> None:
        """Store what is shown for the next start."""
        strips = {0: render_strip(self.title_line(), self.size.width, self.style_for)}
        for widget in self.query("#tabs, #unknown-user, #rows, #preview"):
            strips |= {widget.region.y + y: widget.render_line(y) for y in range(widget.region.height)}
        strips[self.size.height - 1] = render_strip(self.footer_hints(), self.size.width, self.style_for)
        self.engine.remember(KEY, snapshot_text(self.app_context.theme, *self.size, strips))

    @property
    def rows(self) -> RowList:
        """The list of rows."""
        return self.query_one(RowList)

    def current(self) -> ChangeRequest | None:
        """The change request under the cursor."""
        return self.model.request(self.rows.cursor) if self.rows.count else None

    def command_open(self) -> None:
        """Review the change request under the cursor."""
        request = self.current()
        if request:
            self.app_context.open_review(request.space, request.id)

    def command_copy(self) -> None:
        """Copy the web address of the change request under the cursor."""
        request = self.current()
        if request:
            self.app_context.copy_to_clipboard(sanitize(request.urls.app or request.id))
            self.notify("copied")

    def command_web(self) -> None:
        """Open the change request under the cursor in the browser."""
        request = self.current()
        if request:
            open_address(self.app_context, request.urls.app or "")

    def choose(self, view: View) -> None:
        """Show a view."""
        self.model.view, self._is_answered = view, False
        self.rows.clear_marks()
        listing = self.model.listing()
        if listing is None:
            return
        self._read_rows()
        self.rows.move_to(0)
        self.subscribe(self.engine.watch_listing(listing), self._take_listing, group="listing")

    def reload_rows(self) -> None:
        """Read the rows from the store again, because some were added or removed."""
        self._read_rows()
        self.prefetch.start()

    def show_tabs(self) -> None:
        """Draw the views with their counts, the filter and the number of marked rows."""
        marked = len(self.rows.marked)
        model = self.model
        totals = [model.total_text(view) for view in model.views]
        query = model.queries.get(model.view.id, "")
        right: Line = ()
        if query or marked:
            right = (
                Span(f"{sanitize(query)} ", "waiting"),
                Span(f" {marked} marked " if marked else "", "accent"),
            )
        room = self.size.width - min(width(right), self.size.width * 2 // 3) - 4
        self.query_one("#tabs", StatusLine).show(tabs(model.views, model.view, totals, room), right)

    def show_row_details(self) -> None:
        """Draw rows and preview again, because more is known about a row."""
        self.rows.redraw()
        self.show_preview()

    def show_preview(self) -> None:
        """Draw the preview of the row under the cursor."""
        request = self.current()
        if request:
            lines = preview(request, self.model.details(request), self.size.width, now())
        elif self._error:
            lines = [(Span(f" {self._error}", "waiting"),)]
        elif self._is_answered or not self.engine.status.online:
            lines = [(Span(f" {self.model.empty}", "quiet"),)]
        else:
            lines = [(Span(" Loading …", "quiet"),)]
        hairline = (Span(f" {'─' * (self.size.width - 2)}", "quiet"),)
        self.query_one("#preview", TextView).show([hairline, *lines])

    @on(RowList.RowHighlighted)
    def row_highlighted(self) -> None:
        """Show the preview of another row, and read its details when the cursor stays there."""
        self.show_preview()
        if self._rest:
            self._rest.stop()
        self._rest = self.set_timer(REST, self.prefetch.start)

    @on(RowList.MarksChanged)
    def marks_changed(self) -> None:
        """Show how many rows are marked."""
        self.show_tabs()

    def _take_user(self, result: Result[User | None]) -> None:
        """Views depend on who is signed in; the store knows it from the second start on."""
        was_unknown = self.user_choice.is_unknown
        self.user_choice.error = result.error
        is_unknown = self.user_choice.is_unknown
        me = "" if is_unknown else result.value.id if result.value else self.model.me
        if result.error and result.state == "failed" and not is_unknown:
            self.app_context.show_error(result.error)
        if (me, is_unknown) != (self.model.me, was_unknown):
            self.model.me, self.model.is_user_unknown = me, is_unknown
            self._show_unknown_user()
            self.choose(self.model.view)

    def _show_unknown_user(self) -> None:
        line = self.query_one("#unknown-user", StatusLine)
        line.display = self.user_choice.is_unknown
        line.show(self.user_choice.line())
        if self.user_choice.is_unknown and self.model.organization:
            self.run(self.user_choice.ask_once, group="user", exclusive=True)

    def _take_organizations(self, result: Result[Page[Organization] | None]) -> None:
        if result.value is not None:
            self._error = "" if result.value.items else "You are not a member of an organization yet."
            self._show_organization(result.value.items)
        elif result.state == "failed" and result.error:
            self._error = f"{sanitize(result.error.message)}. ctrl+r retries."
        self.show_preview()

    def _show_organization(self, organizations: tuple[Organization, ...]) -> None:
        organization = choose_organization(organizations, self.app_context.profile.organization)
        if organization is None or (self._organization and self._organization.id == organization.id):
            return
        self._organization = organization
        self.model.organization = organization.id
        self.refresh_status_bars()
        spaces = ListSpaces(organization_id=organization.id)
        self.subscribe(self.engine.watch_listing(spaces), lambda _: self._take_spaces(spaces), group="spaces")
        self.choose(self.model.view)
        self._show_unknown_user()

    def _take_spaces(self, spaces: ListSpaces) -> None:
        self.model.read_spaces(spaces)
        self.rows.redraw()

    def _take_listing(self, result: Result[int]) -> None:
        self._is_answered = self._is_answered or result.state != "cached"
        self._read_rows()
        if result.state in ("fresh", "unchanged"):
            self.prefetch.start()
            self.run(self.prefetch.count_views, group="counts", exclusive=True)

    def _read_rows(self) -> None:
        self.model.forget()
        self._show_rows()
        if self.model.is_arranged(self.model.view):
            self.run(self._arrange, group="arrange", exclusive=True)

    async def _arrange(self) -> None:
        await self.model.arrange(self.model.view)
        self._show_rows()

    def _show_rows(self) -> None:
        self.show_tabs()
        self.rows.show(self.model.count())
        self.show_preview()

    def _row(self, index: int, columns: int) -> Line:
        heading = self.model.heading(index)
        if heading:
            return heading_row(*heading, columns)
        request = self.model.request(index)
        if request is None:
            return (Span("…", "quiet"),)
        space = self.model.spaces.get(request.space, "")
        return request_row(request, self.model.details(request), space, columns, now(), sign=self.triage.sign(request))

    def _key(self, index: int) -> str | None:
        """The id of a row, whatever its position."""
        request = self.model.request(index)
        return request.id if request else None

    def _is_heading(self, index: int) -> bool:
        return self.model.heading(index) is not None
