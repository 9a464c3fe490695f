"""The inbox: change requests of an organization in views, with a preview of the one under the cursor.

The rows and the facts of the preview are drawn at once; description, pages and threads a moment after the cursor rests.
"""

from __future__ import annotations

from asyncio import Event
from collections.abc import Awaitable, Iterable

from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.strip import Strip
from textual.timer import Timer
from typing_extensions import override

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.operation import Page
from presscheck.api.organizations import ListOrganizations, Organization
from presscheck.api.spaces import ListSpaces
from presscheck.api.users import GetCurrentUser, User
from presscheck.engine.inbox.preview import Preview, read_preview
from presscheck.engine.inbox.views import View
from presscheck.engine.results import Result
from presscheck.text.phrases import now
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, width, wrap
from presscheck.tui.external_programs import open_address
from presscheck.tui.places import Place
from presscheck.tui.screens.inbox.bulk_actions import BulkActions
from presscheck.tui.screens.inbox.layout import InboxLayout
from presscheck.tui.screens.inbox.model import InboxModel
from presscheck.tui.screens.inbox.prefetch import InboxPrefetch
from presscheck.tui.screens.inbox.preview_renderer import preview_lines
from presscheck.tui.screens.inbox.row_renderer import (
    LEGEND,
    Columns,
    columns_for,
    heading_line,
    heading_row,
    request_row,
    tabs,
)
from presscheck.tui.screens.inbox.triage import TriageActions
from presscheck.tui.screens.inbox.user_choice import UserChoice
from presscheck.tui.screens.inbox.views import ViewActions
from presscheck.tui.screens.organization import choose_organization
from presscheck.tui.screens.startup_snapshot import KEY, snapshot_text
from presscheck.tui.status_bar import ClickableLines, StatusLine
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.widgets.line_view import TextView, render_strip
from presscheck.tui.widgets.pane_border import PaneBorder
from presscheck.tui.widgets.row_list import RowList

REST = 0.12
"""Seconds that the cursor stays on a row before its details are read."""
OTHER_LINES = 4
"""The lines that the screen has beside headings, rows and preview: status bar, tabs, filter, footer."""


class InboxScreen(BaseScreen):
    """Views as tabs, their rows from the store, a preview below or on the right."""

    SCOPE = "inbox"
    LEGEND = LEGEND
    FOOTER = ("open", "mark", "done", "snooze", "find_anything", "go_browse", "close")

    def __init__(self) -> None:
        super().__init__()
        self.model = InboxModel(self.engine)
        self.views = ViewActions(self)
        self.triage = TriageActions(self)
        self.bulk_actions = BulkActions(self, self.triage)
        self.prefetch = InboxPrefetch(self)
        self.user_choice = UserChoice(self)
        self.arrangement = InboxLayout(self)
        self._widths = self.model.widths
        self._contents: tuple[str, Preview] | None = None
        self._has_headings = False
        self._preview_width = 0
        """The width of a preview on the right; 0 if it stands below."""
        self._preview_size = 0, 0
        self._organization: Organization | None = None
        self._is_answered = self._prefetches = self._is_measuring = False
        self.answered = Event()
        """Set once the rows that the service answered first are shown."""
        self._error = ""
        self._rest: Timer | None = None
        self._reading: Timer | None = None

    @override
    def command_handlers(self) -> Iterable[object]:
        """The screen, its views, triage, mute and follow, bulk actions, layout, and the choice of the user."""
        own_parts = (self.views, self.triage, self.triage.notifications, self.bulk_actions)
        return (self, *own_parts, self.arrangement, self.user_choice)

    @override
    def title_line(self) -> Line:
        name = sanitize(self._organization.title) if self._organization else ""
        return (Span(" presscheck  ", "strong"), *self.clickable("go_browse", Span(name, "quiet")))

    @override
    def body(self) -> ComposeResult:
        """Tabs, the filter, why the user is unknown, headings, rows, preview."""
        yield StatusLine(id="tabs")
        yield StatusLine(id="filter")
        unknown_user = StatusLine(id="unknown-user")
        unknown_user.display = False
        yield unknown_user
        headings = TextView(id="headings")
        headings.can_focus = False
        with Container(id="panes"):
            with Vertical(id="list") as pane:
                yield headings
                yield RowList(
                    self._row,
                    key=self._key,
                    find=self.model.index,
                    is_heading=self._is_heading,
                    id="rows",
                )
            yield PaneBorder(pane, is_horizontal=True, on_drag=self._drag_height)
            beside = PaneBorder(pane, on_drag=self._drag_width)
            beside.display = False
            yield beside
            yield TextView(id="preview")

    @override
    def on_mount(self) -> None:
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

    @override
    def on_resize(self) -> None:
        super().on_resize()
        self.fit()

    def on_screen_suspend(self) -> None:
        """Store the snapshot for the next start; behind another screen read no further rows."""
        self.save_snapshot()
        if not self.is_shown:
            self.prefetch.stop()

    @override
    def on_screen_resume(self) -> None:
        super().on_screen_resume()
        if self._is_answered and self.model.has_no_reviews:
            self.show_preview()  # another space may be the last one that was opened
        self.bulk_actions.unmark_done()
        self.prefetch.start()

    def save_snapshot(self) -> None:
        """Store what is shown for the next start."""
        strips = {0: render_strip(self.title_line(), self.size.width, self.app_context.style_for)}
        for widget in self.query("#tabs, #filter, #unknown-user, #headings, #rows, PaneBorder, #preview"):
            for y in range(widget.region.height):
                at = widget.region.y + y
                strip = widget.render_line(y)
                strips[at] = Strip.join([strips[at], strip]) if at in strips else strip  # the preview may be beside
        strips[self.size.height - 1] = render_strip(self.footer_hints(), self.size.width, self.app_context.style_for)
        self.engine.remember(KEY, snapshot_text(self.app_context.theme, *self.size, strips))

    @property
    def columns(self) -> int:
        """The width of the screen, in cells."""
        return self.size.width

    @property
    def rows(self) -> RowList:
        """The list of rows."""
        return self.query_one(RowList)

    def current(self) -> ChangeRequest | None:
        """The change request under the cursor."""
        return self.model.request(self.rows.cursor) if self.rows.count else None

    def command_open(self) -> Awaitable[None] | None:
        """Review the change request under the cursor; without any, open the home of a space."""
        request = self.current()
        if request:
            self.app_context.open_review(request.space, request.id)
            return None
        is_offered = self.model.has_no_reviews and bool(self.model.offered_space)
        return self.app_context.open_item(f"space {self.model.offered_space}") if is_offered else None

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

    @override
    def place(self) -> Place:
        view = self.model.view
        return Place("inbox", f"Inbox · {sanitize(view.title)}", (view.id,))

    def show_view(self, view_id: str) -> None:
        """Show the view of a place again, if it is another one and was not removed."""
        view = next((view for view in self.model.views if view.id == view_id), self.model.view)
        if view is not self.model.view:
            self.choose(view)

    def choose(self, view: View) -> None:
        """Show a view."""
        is_other = view.id != self.model.view.id
        self.model.view, self._is_answered = view, False
        self.rows.clear_marks()
        listing = self.model.listing()
        if listing is None:
            return
        if is_other and self.model.is_arranged(view) and self.model.is_ready:
            # until they are arranged again, so that no key acts on a row that is not drawn
            self.model.forget()
            self._show_rows()
        self._read_rows()
        self.rows.move_to(0)
        self.subscribe(self.engine.watch_listing(listing), self._take_listing, group="listing")

    def reload_rows(self) -> None:
        """Draw the rows again, because the user hid some, brought some back, or changed the filter."""
        if self.model.is_arranged(self.model.view) and self.model.is_ready:
            self.model.forget_hidden()
            self._show_rows()
        self._read_rows()
        self.prefetch.start()

    def show_changed_rows(self) -> None:
        """Read all rows from the store again, because more is known of some that are not visible."""
        self._read_rows()
        self._refresh_views(reads=False)

    def show_tabs(self) -> None:
        """Draw the views with their counts, the number of marked rows, and below them the filter."""
        marked = len(self.rows.marked)
        model = self.model
        totals = [model.total_text(view) for view in model.views]
        right: Line = (Span(f" {marked} marked ", "accent"),) if marked else ()
        room = self.size.width - width(right) - 4
        self.query_one("#tabs", StatusLine).show(tabs(model.views, model.view, totals, room), right)
        query = model.queries.get(model.view.id, "")
        parts = (Span(" filtered: ", "quiet"), Span(sanitize(query), "waiting"), Span(" · F", "quiet"))
        self.query_one("#filter", StatusLine).show(parts if query else ())
        if not self.rows.count:
            self.show_preview()  # what it says of an empty view depends on another one

    def fit(self) -> None:
        """Lay out rows, headings and preview again."""
        self._lay_out(self.rows.count)
        self.rows.redraw()
        self.show_preview()

    def _lay_out(self, count: int) -> None:
        """Set the sizes of headings and preview for this number of rows, and draw the headings."""
        layout, columns = self.arrangement, self.size.width
        self._has_headings = layout.has_headings(columns)
        self._preview_width = layout.preview_width(columns)
        lines = self._lines
        height = lines if self._preview_width else layout.preview_height(lines, count)
        preview = self.query_one("#preview", TextView)
        if (self._preview_width, height) != self._preview_size:
            self._preview_size = self._preview_width, height
            self.set_class(self._preview_width > 0, "side-preview")
            preview.styles.height = height if self._preview_width else "1fr"
            preview.styles.width = self._preview_width - 1 if self._preview_width else "100%"
            for border in self.query(PaneBorder):
                border.display = border.is_horizontal != (self._preview_width > 0)
        # of list and preview it is the preview that makes room for the line of the tour: no row is hidden by it
        self.query_one("#list").styles.height = "1fr" if self._preview_width else lines - height + self._has_headings
        self.query_one("#headings").display = self._has_headings
        self._show_headings()

    @property
    def _lines(self) -> int:
        """The lines that rows and preview have together."""
        return self.size.height - OTHER_LINES - self._has_headings - self.query_one("#unknown-user").display

    def _drag_height(self, lines: int, is_over: bool) -> None:
        """Give the list this number of lines, and the preview below it the others."""
        total = self._lines
        size = total - lines + self._has_headings
        self.arrangement.set_preview_size(size, total, is_beside=False, is_kept=is_over)

    def _drag_width(self, columns: int, is_over: bool) -> None:
        """Give the list this number of columns, and the preview on its right the others."""
        total = self.size.width
        self.arrangement.set_preview_size(total - columns, total, is_beside=True, is_kept=is_over)

    def show_row_details(self) -> None:
        """Draw rows and preview again, because more is known about a row."""
        self.rows.redraw()
        self.show_preview()

    def show_contents(self) -> None:
        """Read description, pages and threads of the row under the cursor from the store again, and draw them."""
        request = self.current()
        if request:
            self._contents = request.id, read_preview(self.engine, request)
            self.show_preview()

    def show_preview(self) -> None:
        """Draw the preview of the row under the cursor."""
        is_beside, height = self._preview_width > 0, self._preview_size[1]
        columns = self._preview_width - 1 if is_beside else self.size.width
        request = self.current()
        if request:
            contents = self._contents[1] if self._contents and self._contents[0] == request.id else None
            room = height if is_beside else height - 1
            known, me = self.model.details(request), self.model.me
            lines = preview_lines(request, known, contents, columns, room, now(), me=me)
        elif self._error:
            lines = [(Span(" "), *line) for line in wrap([Span(self._error, "waiting")], columns - 2)]
        elif self._is_answered or not self.engine.status.online:
            lines = [(Span(f" {self.model.empty}", "quiet"),)]
        else:
            lines = [(Span(" Loading …", "quiet"),)]
        self.query_one("#preview", TextView).show(lines)

    @on(ClickableLines.TargetClicked)
    def tab_clicked(self, event: ClickableLines.TargetClicked) -> None:
        """Show the view of a tab."""
        self.choose(self.model.views[int(event.target)])

    @on(RowList.RowHighlighted)
    def row_highlighted(self) -> None:
        """Show the facts of another row, and read its details when the cursor stays there."""
        self.show_preview()
        if self._rest:
            self._rest.stop()
        self._rest = self.set_timer(REST, self._rested)

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
        elif result.error:  # also offline: an inbox that was never loaded is not an empty one
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
        self._show_headings()
        self.show_preview()  # what it says of an empty view names a space
        self.rows.redraw()

    def _take_listing(self, result: Result[int]) -> None:
        self._is_answered = self._is_answered or result.state != "cached"
        is_new = result.state in ("fresh", "unchanged")
        self._prefetches = self._prefetches or is_new
        self._read_rows()
        self._refresh_views(reads=is_new)

    def _refresh_views(self, *, reads: bool) -> None:
        """Count the other views; a count that asks the service is not cancelled by one that does not."""
        group = "counts" if reads else "stored counts"
        self.run(lambda: self.prefetch.refresh_views(reads=reads), group=group, exclusive=True)

    def _read_rows(self) -> None:
        """Read the rows from the store; those of a filtered view change when the new ones are there."""
        model = self.model
        if model.is_arranged(model.view):
            if not model.is_ready:
                model.forget()
                model.arrange_first()
                self._show_rows()
            self.run(self._arrange, group="arrange", exclusive=True)
        else:
            model.forget()
            self._show_rows()
            self._prefetch()

    async def _arrange(self) -> None:
        await self.model.arrange(self.model.view)
        self._show_rows()
        self._prefetch()

    def _prefetch(self) -> None:
        """Read the details of the rows, if the listing was answered since they were read."""
        if self._prefetches:
            self._prefetches = False
            self.prefetch.start()

    def _show_rows(self) -> None:
        count, rows = self.model.count(), self.rows
        for index in range(rows.top, min(count, rows.top + rows.size.height)):
            request = self.model.request(index)
            if request:
                self.model.details(request)  # measured before the rows are drawn
        self.show_tabs()
        self._lay_out(count)
        rows.show(count)
        self.show_preview()
        if self._is_answered:
            self.answered.set()
        if self._reading:
            self._reading.stop()
        self._reading = self.set_timer(REST, self.show_contents)

    def _rested(self) -> None:
        self.show_contents()
        self.prefetch.start()

    def _show_headings(self) -> None:
        self._widths = self.model.widths
        margin = self.rows.bar_width
        columns = self._columns(self.size.width - self._preview_width - margin)
        self.query_one("#headings", TextView).show([(Span(" " * margin), *heading_line(columns))])

    def _columns(self, total: int) -> Columns:
        return columns_for(total, self._widths, has_headings=self._has_headings)

    def _row(self, index: int, columns: int) -> Line:
        heading = self.model.heading(index)
        if heading:
            return heading_row(*heading, columns)
        request = self.model.request(index)
        if request is None:
            return (Span("…", "quiet"),)
        space = self.model.spaces.get(request.space, "")
        details, sign = self.model.details(request), self.triage.sign(request)
        if self._widths is not self.model.widths and not self._is_measuring:
            self._is_measuring = True
            self.call_later(self._measured)  # not now: the rows of one picture have the same columns
        return request_row(request, details, space, self._columns(columns), now(), sign=sign)

    def _measured(self) -> None:
        """Fit the columns to rows that were read while drawing."""
        self._is_measuring = False
        if self._widths is not self.model.widths:
            self._show_headings()
            self.rows.redraw()

    def _key(self, index: int) -> str | None:
        """The id of a row, whatever its position."""
        request = self.model.request(index)
        return request.id if request else None

    def _is_heading(self, index: int) -> bool:
        return self.model.heading(index) is not None
