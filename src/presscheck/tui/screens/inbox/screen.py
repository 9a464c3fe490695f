"""The inbox: change requests of an organization in views, with a preview of the change request under the cursor.

Rows and facts are drawn at once. Description, pages and threads follow when the cursor has rested for a moment.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Mapping
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.strip import Strip
from typing_extensions import override

from presscheck.api.users import GetCurrentUser
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.places import Place
from presscheck.tui.screens.inbox.bulk_actions import BulkActions
from presscheck.tui.screens.inbox.row_actions import RowActions
from presscheck.tui.screens.inbox.session import Inbox
from presscheck.tui.screens.inbox.triage import TriageActions
from presscheck.tui.screens.inbox.user_choice import choose_user
from presscheck.tui.screens.inbox.views import ViewActions
from presscheck.tui.screens.startup_snapshot import KEY, snapshot_text
from presscheck.tui.screens.web_address import open_address
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.ui.signs import legend
from presscheck.tui.widgets.line_view import render_strip
from presscheck.tui.widgets.marks import Marks
from presscheck.tui.widgets.row_list import RowList
from presscheck.tui.widgets.status_bar import ClickableLines


class InboxScreen(BaseScreen):
    """The screen of the inbox: the views as tabs, the rows of the current view, and the preview of a row."""

    SCOPE = "inbox"
    LEGEND = legend("✓✗◷↻↓!◆•✎★⊘◉□◔")
    FOOTER = ("open", "mark", "approve", "merge", "done", "go_browse")
    FOOTER_WITH_MARKS = ("act_on_marked", "approve", "merge", "reviewers", "done", "mark")
    TITLES_WITH_MARKS: ClassVar[Mapping[str, str]] = {
        "approve": "approve marked",
        "request_changes": "request changes on marked",
        "merge": "merge marked",
        "reviewers": "reviewers of marked",
        "done": "marked done",
    }

    def __init__(self) -> None:
        super().__init__()
        self.session = Inbox(self)
        self.views, self.triage = ViewActions(self.session), TriageActions(self.session)
        self.bulk_actions = BulkActions(self.session)

    @override
    def command_handlers(self) -> Iterable[object]:
        return (
            self,
            self.views,
            self.triage,
            self.session.rows.marks,
            self.triage.notifications,
            self.bulk_actions,
            RowActions(self.session, self.bulk_actions),
            self.session.panes,
        )

    @override
    def title_line(self) -> Line:
        organization = self.session.organization
        name = sanitize(organization.title) if organization else ""
        return (Span(" presscheck  ", "strong"), *self.clickable("go_browse", Span(name, "quiet")))

    @override
    def body(self) -> ComposeResult:
        yield from self.session.panes.compose()

    @override
    @property
    def footer_commands(self) -> tuple[str, ...]:
        return self.FOOTER_WITH_MARKS if self.session.rows.marks.keys else self.FOOTER

    @override
    @property
    def footer_titles(self) -> Mapping[str, str]:
        return self.TITLES_WITH_MARKS if self.session.rows.marks.keys else self.FOOTER_TITLES

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self.bulk_actions.announce_stopped_train()
        self.session.rows.focus()
        self.views.read_views()
        self.views.recall_filters()
        self.session.load()

    @override
    def on_resize(self) -> None:
        super().on_resize()
        self.session.panes.fit()

    def on_screen_suspend(self) -> None:
        """Store the snapshot for the next start, and stop reading details if another screen covers the inbox."""
        self.save_snapshot()
        if not self.is_shown:
            self.session.stop_reading()

    @override
    def on_screen_resume(self) -> None:
        super().on_screen_resume()
        if self.session.model.is_answered and self.session.model.has_no_reviews:
            self.session.panes.show_preview()  # it names the space opened last
        self.bulk_actions.unmark_done()
        self.session.read_held()
        self.session.read_details()

    @override
    def status_changed(self) -> None:
        super().status_changed()
        self.session.read_held()  # a program may have added a comment to a pending review

    def save_snapshot(self) -> None:
        """Store the screen for the next start, which shows it before any data is loaded; do nothing without rows."""
        if not (self.session.model.is_answered or self.session.rows.count):
            return
        strips = {0: render_strip(self.title_line(), self.size.width, self.app_context.style_for)}
        for widget in self.query("#tabs, #filter, #unknown-user, #headings, #rows, PaneBorder, #preview"):
            for y in range(widget.region.height):
                at = widget.region.y + y
                strip = widget.render_line(y)
                strips[at] = Strip.join([strips[at], strip]) if at in strips else strip  # may be the preview
        strips[self.size.height - 1] = render_strip(self.footer_hints(), self.size.width, self.app_context.style_for)
        view = self.session.model.view
        names = (view.id, view.title)
        self.engine.remember(KEY, snapshot_text(self.app_context.theme, *self.size, strips, names))
        self.session.store_place()

    @override
    def place(self) -> Place:
        view = self.session.model.view
        return Place("inbox", f"Inbox · {sanitize(view.title)}", (view.id,))

    @override
    def go_to(self, place: Place) -> None:
        """Show the view of a place, unless it was removed."""
        model = self.session.model
        view = next((view for view in model.views if (view.id,) == place.ids), model.view)
        if view is not model.view:
            self.session.choose(view)

    def reason_open(self) -> str | None:
        """Return why the change request cannot be opened: it was never loaded, and the app is offline."""
        request = self.session.current()
        return self.app_context.place_reason(Place.review(request.space, request.id)) if request else None

    def command_open(self) -> Awaitable[object] | None:
        """Open the change request under the cursor or, if there is none, the home of the offered space."""
        request, model = self.session.current(), self.session.model
        if request:
            return self.app_context.go(Place.review(request.space, request.id))
        is_offered = model.has_no_reviews and bool(model.offered_space)
        return self.app_context.go(Place.item(f"space {model.offered_space}")) if is_offered else None

    @override
    def field(self, name: str) -> str:
        request = self.session.current()
        if request is None:
            return ""
        values = {"space": request.space, "number": str(request.number), "title": request.subject}
        return request.urls.app or "" if name == "url" else values.get(name, "")

    def command_copy(self) -> None:
        """Copy the web address of the change request under the cursor, or its id if it has no address."""
        request = self.session.current()
        if request:
            self.app_context.copy_to_clipboard(sanitize(request.urls.app or request.id))
            self.notify("copied")

    def command_web(self) -> None:
        """Open the change request under the cursor in the browser."""
        request = self.session.current()
        if request:
            open_address(self.app_context, request.urls.app or "")

    def reason_choose_user(self) -> str | None:
        """Return why the user cannot choose their name: the service identifies the user."""
        is_missing = self.engine.missing_reason(GetCurrentUser) is not None
        return None if is_missing else "the service tells who you are"

    def command_choose_user(self) -> Awaitable[None]:
        """Choose the user's name from the people that the service lists, and save it in the settings."""
        return choose_user(self, self.session.model.organization)

    @on(ClickableLines.TargetClicked)
    def tab_clicked(self, event: ClickableLines.TargetClicked) -> None:
        """Show the view of the clicked tab."""
        self.session.choose(self.session.model.views[int(event.target)])

    @on(RowList.RowHighlighted)
    def row_highlighted(self) -> None:
        """Show the change request under the cursor in the preview."""
        self.session.follow_cursor()

    @on(Marks.Changed)
    def marks_changed(self) -> None:
        """Show the number of marked rows, and the keys that act on them."""
        self.session.panes.show_tabs()
        self.refresh_status_bars()
