"""The inboxes of several profiles in one list. Opening a change request of another profile switches to that profile."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.app import ComposeResult
from typing_extensions import override

from presscheck.api.change_requests import GetChangeRequest
from presscheck.engine.inbox.profile_inboxes import SHOWN_VIEWS, ProfileInbox, ProfileRow
from presscheck.engine.inbox.views import name_of
from presscheck.engine.profiles import inbox_profiles
from presscheck.errors import ConfigurationError, PresscheckError
from presscheck.text.phrases import MINUTE, ago, now, span
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, width, wrap
from presscheck.tui.places import Place
from presscheck.tui.screens.inbox.row_renderer import reviews_cell
from presscheck.tui.screens.web_address import open_address
from presscheck.tui.ui.list import Column, List
from presscheck.tui.ui.loaded import Loaded
from presscheck.tui.ui.signs import legend
from presscheck.tui.ui.tabs import Tabs, TabScreen
from presscheck.tui.widgets.empty_state import Message
from presscheck.tui.widgets.line_view import TextView

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from presscheck.engine.inbox.views import View

WIDEST_PROFILE, WIDEST_SPACE = 20, 18
"""Maximum widths in cells of the columns of profiles and spaces."""
WIDE = 100
"""Minimum width in cells that shows authors, comments and reviews."""
NOTE_LINES = 2
"""Maximum number of lines of the note about a profile."""


class ProfileRows(List[ProfileRow]):
    """The change requests of a view in all profiles.

    Args:
        screen: the screen of the list.
        view: the view.
    """

    nouns = "change requests"
    footer = ("open", "copy", "web", "find_here", "refresh", "close")

    def __init__(self, screen: AllProfilesScreen, view: View) -> None:
        super().__init__(())
        self.name, self._view, self._screen = view.title, view, screen
        self._loaded = Loaded[Sequence[ProfileRow]]()

    @override
    @property
    def loaded(self) -> Loaded[Sequence[ProfileRow]]:
        return self._loaded

    @override
    def key_of(self, item: ProfileRow) -> Hashable:
        return item.profile, item.request.id

    @override
    def empty(self) -> Message:
        return Message(self._view.empty)

    @override
    def summary(self) -> Line:
        numbers = Counter(row.profile for row in self._loaded.value or ())
        inboxes = self._screen.app_context.profile_inboxes.inboxes
        return (Span("   ".join(f"{sanitize(inbox.name)} {numbers[inbox.name]}" for inbox in inboxes), "quiet"),)

    def take(self, rows: Sequence[ProfileRow] | None, error: PresscheckError | None) -> None:
        """Replace the rows, and fit the columns to them. `error` explains why there are no rows."""
        self._loaded = Loaded(rows, error)
        self.columns = self._columns(rows or ())

    def reason_open(self) -> str | None:
        """Return why the change request cannot be opened: it was never loaded, and its profile is offline."""
        row = self.current
        inbox = self._screen.app_context.profile_inboxes.inbox(row.profile) if row else None
        if row is None or inbox is None or inbox.engine is None or inbox.engine.status.online:
            return None
        call = GetChangeRequest(space_id=row.request.space, change_request_id=row.request.id)
        is_stored = inbox.engine.known(call) is not None
        return None if is_stored else f"{sanitize(row.profile)} is offline, and this change request was never loaded"

    def command_open(self) -> Awaitable[object] | None:
        """Open the change request; if it belongs to another profile, switch to that profile."""
        if self.current is None:
            return None
        place = Place.review(self.current.request.space, self.current.request.id)
        return self._screen.app_context.go_to_profile(replace(place, profile=self.current.profile))

    def command_copy(self) -> None:
        """Copy the web address of the change request, or its id if it has no address."""
        if self.current:
            request = self.current.request
            self._screen.app_context.copy_to_clipboard(sanitize(request.urls.app or request.id))
            self._screen.notify("copied")

    def command_web(self) -> None:
        """Open the change request in the web browser."""
        if self.current:
            open_address(self._screen.app_context, self.current.request.urls.app or "")

    def _columns(self, rows: Sequence[ProfileRow]) -> tuple[Column[ProfileRow], ...]:
        """Return the columns, as wide as the texts of these rows need."""
        profile = _width("Profile", (width(self._profile(row)) for row in rows), WIDEST_PROFILE)
        space = _width("Space", (cell_len(sanitize(row.space)) for row in rows), WIDEST_SPACE)
        number = _width("#", (len(f"#{row.request.number}") for row in rows))
        return (
            Column("Profile", self._profile, profile, gap=2),
            Column("#", lambda row: (Span(f"#{row.request.number}".rjust(number - 2), "quiet"),), number),
            Column("Change request", lambda row: sanitize(row.request.subject) or "(no subject)", gap=2),
            Column("Space", lambda row: (Span(sanitize(row.space), "quiet"),), space, gap=2),
            Column("Author", _author, 12, gap=2, from_width=WIDE),
            Column("Updated", lambda row: (Span(ago(row.request.updated_at, now()), "quiet"),), 10, gap=2),
            Column("Comments", _comments, 10, gap=2, from_width=WIDE),
            Column("Reviews", lambda row: reviews_cell(row.details, has_names=False), 12, from_width=WIDE),
        )

    def _profile(self, row: ProfileRow) -> Line:
        """Format the sign and the name of a row's profile. The current profile has a sign of its own."""
        is_own = row.profile == self._screen.app_context.profile.name
        organization = f" · {sanitize(row.organization)}" if row.organization else ""
        sign, style = ("●", "accent") if is_own else ("○", "")
        return (Span(f"{sign} {sanitize(row.profile)}{organization}", style),)


class AllProfilesScreen(TabScreen):
    """The change requests of several profiles that are about the user, in a tab for each view.

    Notes above the tabs name the profiles that are still loading, failed to load or are offline.
    """

    DEFAULT_CSS = "AllProfilesScreen #notes { max-height: 40%; }"
    SCOPE = "inbox"
    LEGEND = legend("●○✓✗⚠◷")

    def __init__(self) -> None:
        super().__init__()
        self._views = {view.id: ProfileRows(self, view) for view in SHOWN_VIEWS}
        self.lists = Tabs(self, [*self._views.values()])
        self._notes = TextView(id="notes")
        self._notes.can_focus = False

    @override
    def title_line(self) -> Line:
        return (Span(" All profiles", "strong"),)

    @override
    def body(self) -> ComposeResult:
        yield self._notes
        yield from super().body()

    @override
    def on_resize(self) -> None:
        super().on_resize()
        self._show_notes()

    def on_screen_suspend(self) -> None:
        """Stop reading while another screen covers this one."""
        if not self.is_shown:
            self.unsubscribe("profiles")

    @override
    def on_screen_resume(self) -> None:
        super().on_screen_resume()
        self._keep_fresh()

    @override
    def place(self) -> Place:
        row = self.lists.tab.current
        ids = (row.profile, row.request.id) if isinstance(row, ProfileRow) else ()
        return Place("profiles", f"All profiles · {self.lists.tab.name}", (self.lists.tab.name, *ids))

    @override
    def go_to(self, place: Place) -> None:
        tab = next((tab for tab in self.lists.tabs if (tab.name,) == place.ids[:1]), None)
        if tab:
            tab.target = place.ids[1:] or None
            self.lists.show_tab(tab)

    @override
    def command_refresh(self) -> None:
        self.app_context.clear_notice()
        self.app_context.profile_inboxes.wake()
        self._keep_fresh()

    def _keep_fresh(self) -> None:
        self.run(self._read_profiles, group="profiles", exclusive=True)

    async def _read_profiles(self) -> None:
        """Read the settings for the chosen profiles, and keep their inboxes up to date until the screen is left."""
        app = self.app_context
        try:
            names = await asyncio.to_thread(inbox_profiles, app.where, app.begun_with.name)
        except ConfigurationError as error:
            for tab in self._views.values():
                tab.take(None, error)
            self.redraw()
            return
        await app.profile_inboxes.choose(names)
        self._show()
        await app.profile_inboxes.keep_fresh(self._show)

    def _show(self) -> None:
        """Show the rows of all profiles, or the error if no profile could be loaded."""
        inboxes = self.app_context.profile_inboxes
        is_loaded = any(inbox.is_answered and not inbox.error for inbox in inboxes.inboxes)
        all_answered = all(inbox.is_answered for inbox in inboxes.inboxes)
        error = next((inbox.error for inbox in inboxes.inboxes if all_answered), None)
        for view in SHOWN_VIEWS:
            rows = inboxes.rows(view)
            self._views[view.id].take(rows if rows or is_loaded else None, error)
        self._show_notes()
        self.redraw()

    def _show_notes(self) -> None:
        """Show the notes about profiles that are still loading, failed to load or are offline."""
        columns = max(20, self.size.width)
        lines = [line for inbox in self.app_context.profile_inboxes.inboxes for line in _note_lines(inbox, columns - 2)]
        self._notes.styles.height = len(lines)
        self._notes.show(lines)
        self._notes.display = bool(lines)


def _width(title: str, cells: Iterable[int], most: int = 100) -> int:
    """Return the width of a column with its gap of two cells."""
    return max(cell_len(title), min(most, max(cells, default=0))) + 2


def _note_lines(inbox: ProfileInbox, columns: int) -> list[Line]:
    """Return the note about a profile: sign, name and state; no lines if the profile is loaded and online."""
    status = inbox.engine.status if inbox.engine else None
    if inbox.engine and status and not status.online:
        seconds = now().timestamp() - (status.offline_since or now().timestamp())
        since = f" for {span(seconds)}" if seconds >= MINUTE else ""
        sign, text = Span("⚠ ", "waiting"), f"offline{since}. {inbox.engine.offline_reason}"
    elif inbox.error:
        sign, text = Span("✗ ", "removed"), inbox.error.message
    elif not inbox.is_answered:
        sign, text = Span("◷ ", "waiting"), "loading …"
    else:
        return []
    lines = wrap((sign, Span(sanitize(inbox.name), "strong"), Span(f": {sanitize(text)}", "quiet")), columns)
    if len(lines) > NOTE_LINES:
        lines = [*lines[: NOTE_LINES - 1], cut((*lines[NOTE_LINES - 1], Span(" …")), columns)]
    return [(Span(" "), *line) for line in lines]


def _author(row: ProfileRow) -> Line:
    author = row.request.created_by
    return (Span(sanitize(name_of("", author.display_name, "-")) if author else ""),)


def _comments(row: ProfileRow) -> Line:
    open_comments = row.details.open_comments
    number = row.request.comments if open_comments is None else open_comments
    return (Span(f"{number} open") if number else Span("–", "quiet"),)
