"""The panes of the inbox: tabs, filter, column headings, rows and preview, with their positions and sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Container, Vertical
from textual.geometry import clamp

from presscheck.engine.inbox.notification_settings import request_target
from presscheck.text.phrases import now
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, width, wrap
from presscheck.tui.commands import key_for
from presscheck.tui.screens.inbox.preview_renderer import preview_lines
from presscheck.tui.screens.inbox.row_renderer import (
    WIDE,
    Columns,
    columns_for,
    heading_line,
    heading_row,
    request_row,
    tabs,
)
from presscheck.tui.screens.notification_actions import SIGNS
from presscheck.tui.ui.stored_choice import StoredChoice
from presscheck.tui.widgets.line_view import TextView
from presscheck.tui.widgets.pane_border import MIN_COLUMNS, PaneBorder
from presscheck.tui.widgets.row_list import RowList
from presscheck.tui.widgets.status_bar import StatusLine

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from presscheck.api.change_requests import ChangeRequest
    from presscheck.tui.screens.inbox.model import InboxModel
    from presscheck.tui.ui.screen import BaseScreen

HEADINGS, SIDE = "inbox headings", "inbox preview"
"""The storage keys of two choices: whether headings are shown, and on which side the preview is."""
SHARES = {False: "inbox preview height", True: "inbox preview width"}
"""The storage keys of the preview's size, by whether it is on the right of the rows."""
WHOLE = 1000
"""Sizes are stored as thousandths of all lines or columns, so that they fit terminals of any size."""
MIN_PREVIEW = 7
"""Minimum lines of a preview below the rows. If there are few rows, it takes all free lines."""
MIN_ROWS = 8
"""Minimum lines of the rows, so that the preview does not move when a few rows are added."""
LEAST_LINES = 3
"""Minimum lines of rows and of preview when the user drags the border."""
OTHER_LINES = 4
"""Lines outside of headings, rows and preview: status bar, tabs, filter, footer."""


class InboxPanes:
    """The widgets of the inbox, and the commands that change their layout.

    Args:
        screen: the inbox.
        model: the views, and the rows of the current view.

    Attributes:
        rows: the list of rows.
    """

    def __init__(self, screen: BaseScreen, model: InboxModel) -> None:
        self._screen, self._model, self._outbox = screen, model, screen.engine.outbox
        self.rows = RowList(self._row, key=self._key, find=model.index, is_heading=self._is_heading, id="rows")
        self._tabs, self._filter = StatusLine(id="tabs"), StatusLine(id="filter")
        self._unknown_user = StatusLine(id="unknown-user")
        self._unknown_user.display = False
        self._headings, self._preview = TextView(id="headings"), TextView(id="preview")
        self._headings.can_focus = False
        self._list = Vertical(id="list")
        self._choice = self._outbox.recall(HEADINGS)
        profile = screen.app_context.profile
        self._stored_side = StoredChoice(self._outbox, SIDE, profile.preview_side)
        self._side = self._stored_side.value
        share = profile.preview_size and profile.preview_size * WHOLE // 100
        self._stored_shares = {is_beside: StoredChoice(self._outbox, key, share) for is_beside, key in SHARES.items()}
        self._shares = {is_beside: _share(choice.value) for is_beside, choice in self._stored_shares.items()}
        self._widths = model.widths
        self._has_headings = self._is_measuring = False
        self._preview_width = 0
        """Columns of a preview on the right, including its border; 0 if the preview is below the rows."""
        self._preview_size = 0, 0

    def compose(self) -> ComposeResult:
        """Yield tabs, filter, the note about an unknown user, headings, rows and preview."""
        yield self._tabs
        yield self._filter
        yield self._unknown_user
        with Container(id="panes"):
            with self._list:
                yield self._headings
                yield self.rows
            yield PaneBorder(self._list, is_horizontal=True, on_drag=self._drag_height)
            beside = PaneBorder(self._list, on_drag=self._drag_width)
            beside.display = False
            yield beside
            yield self._preview

    def command_column_headings(self) -> None:
        """Show or hide the column headings."""
        self._choice = "off" if self._wants_headings else "on"
        self._outbox.remember(HEADINGS, self._choice)
        self.fit()

    def reason_preview_side(self) -> str | None:
        """Return why the preview cannot be moved: the terminal is too narrow."""
        is_wide = self._screen.size.width >= WIDE
        return None if is_wide else f"the preview stands on the right from {WIDE} columns on"

    def command_preview_side(self) -> None:
        """Move the preview to the right of the rows, or below them."""
        self._side = "below" if self._side == "right" else "right"
        self._stored_side.store(self._side)
        self.fit()

    def fit(self) -> None:
        """Update the layout of tabs, rows, headings and preview."""
        self.show_tabs()
        self._lay_out(self.rows.count)
        self.show_row_details()

    def show_tabs(self) -> None:
        """Draw the tabs with counts, the number of marked rows, and the filter."""
        model, marked = self._model, len(self.rows.marks.keys)
        totals = [model.total_text(view) for view in model.views]
        right: Line = (Span(f" {marked} marked ", "accent"),) if marked else ()
        room = self._screen.size.width - width(right) - 4
        self._tabs.show(tabs(model.views, model.view, totals, room), right)
        query = model.queries.get(model.view.id, "")
        parts = (
            Span(" filtered: ", "quiet"),
            Span(sanitize(query), "waiting"),
            Span(f" · {key_for('edit_view')}", "quiet"),
        )
        self._filter.show(parts if query else ())
        if not self.rows.count:
            self.show_preview()  # the text of an empty view depends on counts of other views

    def show_unknown_user(self) -> None:
        """Show why the views contain everyone's change requests if the user is unknown; else hide the line."""
        error, line = self._model.user_error, self._unknown_user
        line.display = self._model.is_user_unknown
        if not (error and line.display):
            line.show(())
        elif self._screen.app_context.profile.user:
            line.show((Span(f" {sanitize(error.message)} · all are shown", "waiting"),))
        else:
            name = f"{key_for('choose_user')}: your name"
            line.show((Span(f" This service does not tell who you are: all are shown. {name}", "waiting"),))

    def show_rows(self) -> None:
        """Draw all panes for the current rows of the model."""
        count, rows = self._model.count(), self.rows
        for index in range(rows.top, min(count, rows.top + rows.size.height)):
            request = self._model.request(index)
            if request:
                self._model.details(request)  # loads the details so that columns are measured before rows are drawn
        self.show_tabs()
        self._lay_out(count)
        rows.show(count)
        self.show_preview()

    def show_headings(self) -> None:
        """Fit the columns to the loaded rows, and draw the column headings."""
        self._widths = self._model.widths
        margin = self.rows.bar_width
        columns = self._columns(self._screen.size.width - self._preview_width - margin)
        self._headings.show([(Span(" " * margin), *heading_line(columns))])

    def show_row_details(self) -> None:
        """Redraw rows and preview, because details of a row have arrived."""
        self.rows.redraw()
        self.show_preview()

    def show_preview(self) -> None:
        """Draw the preview of the row under the cursor. Without rows, draw why there are none."""
        model, screen = self._model, self._screen
        is_beside, height = self._preview_width > 0, self._preview_size[1]
        columns = self._preview_width - 1 if is_beside else screen.size.width
        request = model.request(self.rows.cursor) if self.rows.count else None
        if request:
            contents = model.contents[1] if model.contents and model.contents[0] == request.id else None
            room = height if is_beside else height - 1
            lines = preview_lines(request, model.details(request), contents, columns, room, now(), me=model.me)
        elif model.error:
            lines = [(Span(" "), *line) for line in wrap([Span(model.error, "waiting")], columns - 2)]
        elif model.is_answered or not screen.engine.status.online:
            lines = [(Span(f" {model.empty}", "quiet"),)]
        else:
            lines = [(Span(" Loading …", "quiet"),)]
        self._preview.show(lines)

    def _lay_out(self, count: int) -> None:
        """Set the sizes of headings and preview for a number of rows, and draw the headings."""
        columns = self._screen.size.width
        self._has_headings = self._wants_headings
        self._preview_width = self._width_beside(columns)
        lines = self._lines
        height = lines if self._preview_width else self._height_below(lines, count)
        if (self._preview_width, height) != self._preview_size:
            self._preview_size = self._preview_width, height
            self._screen.set_class(self._preview_width > 0, "side-preview")
            self._preview.styles.height = height if self._preview_width else "1fr"
            self._preview.styles.width = self._preview_width - 1 if self._preview_width else "100%"
            for border in self._screen.query(PaneBorder):
                border.display = border.is_horizontal != (self._preview_width > 0)
        # the preview, not the list, makes room for the line of the tour, so that it hides no row
        self._list.styles.height = "1fr" if self._preview_width else lines - height + self._has_headings
        self._headings.display = self._has_headings
        self.show_headings()

    @property
    def _wants_headings(self) -> bool:
        """Whether column headings are switched on: by the user or, by default, on a wide screen."""
        return self._choice == "on" if self._choice else self._screen.size.width >= WIDE

    @property
    def _lines(self) -> int:
        """The number of lines for rows and preview together."""
        return self._screen.size.height - OTHER_LINES - self._has_headings - self._unknown_user.display

    def _height_below(self, lines: int, rows: int) -> int:
        """Return the height of a preview below the rows, in lines.

        Args:
            lines: the lines for rows and preview together.
            rows: the lines that the rows need.
        """
        if lines < LEAST_LINES + MIN_PREVIEW:
            return max(0, lines - rows)
        share = self._shares[False]
        if share is not None:
            return clamp(round(lines * share / WHOLE), LEAST_LINES, max(LEAST_LINES, lines - LEAST_LINES))
        return max(MIN_PREVIEW, lines - max(rows, MIN_ROWS))

    def _width_beside(self, columns: int) -> int:
        """Return the columns of a preview on the right, including its border; 0 if the preview is below the rows."""
        if self._side != "right" or columns < WIDE:
            return 0
        share = self._shares[True]
        if share is None:
            return columns * 9 // 20
        return clamp(round(columns * share / WHOLE), MIN_COLUMNS + 1, columns - MIN_COLUMNS)

    def _drag_height(self, lines: int, is_over: bool) -> None:
        """Resize the list to this number of lines. The preview below takes the remaining lines."""
        total = self._lines
        self._set_share(total - lines + self._has_headings, total, is_beside=False, is_kept=is_over)

    def _drag_width(self, columns: int, is_over: bool) -> None:
        """Resize the list to this number of columns. The preview on the right takes the remaining columns."""
        total = self._screen.size.width
        self._set_share(total - columns, total, is_beside=True, is_kept=is_over)

    def _set_share(self, size: int, total: int, *, is_beside: bool, is_kept: bool) -> None:
        """Set the preview's size to `size` of `total` lines or columns, and store it if `is_kept`."""
        self._shares[is_beside] = share = clamp(round(size * WHOLE / max(1, total)), 0, WHOLE)
        if is_kept:
            self._stored_shares[is_beside].store(str(share))
        self.fit()

    def _columns(self, total: int) -> Columns:
        return columns_for(total, self._widths, has_headings=self._has_headings)

    def _row(self, index: int, columns: int) -> Line:
        model = self._model
        heading = model.heading(index)
        if heading:
            return heading_row(*heading, columns)
        request = model.request(index)
        if request is None:
            return (Span("…", "quiet"),)
        details, space = model.details(request), model.spaces.get(request.space, "")
        if self._widths is not model.widths and not self._is_measuring:
            self._is_measuring = True
            self._screen.call_later(self._measured)  # later, because all rows of a frame need the same columns
        held, sign = model.held_in(request), self._sign(request)
        return request_row(request, details, space, self._columns(columns), now(), sign=sign, held=held)

    def _measured(self) -> None:
        """Fit the columns to rows that were loaded while drawing."""
        self._is_measuring = False
        if self._widths is not self._model.widths:
            self.show_headings()
            self.rows.redraw()

    def _sign(self, request: ChangeRequest) -> Span:
        """Return the sign before a row: done, snoozed, new activity, bookmarked, or its notification state."""
        engine = self._screen.engine
        hidden = engine.triage.hidden_state(request)
        if hidden:
            return Span("□" if hidden.is_done else "◔", "quiet")
        state = engine.notification_settings.state(request_target(request))
        if request.id in engine.events.unread and state != "muted":
            return Span("◆", "accent strong")
        if engine.triage.is_bookmarked(request.id) and state != "muted":
            return Span("★", "accent")
        return Span(*SIGNS[state]) if state in SIGNS else Span(" ")

    def _key(self, index: int) -> str | None:
        """Return the id of a row's change request, which identifies the row when it moves."""
        request = self._model.request(index)
        return request.id if request else None

    def _is_heading(self, index: int) -> bool:
        return self._model.heading(index) is not None


def _share(text: str) -> int | None:
    """Return the share of the preview, in thousandths; None if the user has not chosen one."""
    return int(text) if text.isdecimal() else None
