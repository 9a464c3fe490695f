"""The model of the inbox: the rows of a view, read from the store in chunks and cached until something changes."""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from presscheck.api.change_requests import ChangeRequest, ListOrganizationChangeRequests
from presscheck.api.spaces import ListSpaces
from presscheck.engine.inbox.query_language import is_local
from presscheck.engine.inbox.views import (
    VIEWS,
    Group,
    RowDetails,
    View,
    arrange_rows,
    first_rows,
    hidden_positions,
    listing_of,
    row_details,
)
from presscheck.errors import NotSupported
from presscheck.text.phrases import now
from presscheck.text.sanitize import sanitize
from presscheck.tui.commands import key_for, tab_label, with_keys
from presscheck.tui.screens.inbox.row_renderer import NaturalWidths

if TYPE_CHECKING:
    from presscheck.engine.engine import Engine
    from presscheck.engine.inbox.preview import Preview
    from presscheck.errors import PresscheckError

CHUNK = 100
"""Number of rows that are read from the store at a time."""
FORECAST_SECONDS = 300.0
"""Seconds until a merge forecast is repeated."""
CONFLICTS = "conflicts"
"""The storage key of the forecasts."""
MOST_CONFLICTS = 500
"""Maximum number of stored forecasts; the oldest are dropped."""
NOTHING_TO_REVIEW = "Nothing to review. {go_browse} opens your spaces."
"""Text of an empty inbox for a user who sees no space."""
HEADING = -1
"""The position of a row that is a heading, in place of a position in the listing."""


class Heading(NamedTuple):
    """The heading above the rows of a space: its title and the number of rows."""

    title: str
    size: int


@dataclass
class ArrangedRows:
    """The rows of a filtered, sorted or grouped view.

    Attributes:
        positions: for each row its position in the listing, or `HEADING`.
        headings: headings by row.
    """

    positions: array[int] = field(default_factory=lambda: array("q"))
    headings: dict[int, Heading] = field(default_factory=dict[int, Heading])


class InboxModel:
    """The views of the inbox, and the rows of the current view.

    Attributes:
        organization: the id of the organization; empty until it is loaded.
        me: the id of the signed-in user; empty if unknown.
        views: all views, in tab order.
        view: the current view.
        spaces: titles of spaces by id, as display text.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.organization = self.me = ""
        self.user_error: PresscheckError | None = None
        """The error of the last attempt to read the user, or None."""
        self.views: tuple[View, ...] = VIEWS
        self.view: View = VIEWS[0]
        self.spaces: dict[str, str] = {}
        self.held = engine.held_texts()
        """The numbers of drafts and held comments by change request id; other drafts have an empty id."""
        self._chunks: dict[int, tuple[ChangeRequest, ...]] = {}
        self._arranged_requests: dict[int, ChangeRequest] = {}
        self._details: dict[str, RowDetails] = {}
        self._conflicts = _stored_conflicts(engine.outbox.recall(CONFLICTS))
        self._forecast_at: dict[tuple[str, str], float] = {}
        self._hidden: dict[str, list[int]] = {}
        self.queries: dict[str, str] = {}
        """The filters of views, by id of the view."""
        self._groups: dict[str, tuple[Group, ...]] = {}
        self._arranged: dict[str, ArrangedRows] = {}
        self.contents: tuple[str, Preview] | None = None
        """The id of the change request of the preview, and its description, pages and threads."""
        self.is_answered = False
        """Whether the request for the listing of the current view has ended, even with an error."""
        self.error = ""
        """The reason why there is no organization, as display text; empty if it is loaded or still loading."""
        self.counts: dict[str, tuple[int, bool]] = {}
        """Counts of other views by id, and whether each count is exact."""
        self.widths = NaturalWidths()
        """Column widths for the rows loaded so far."""

    @property
    def is_user_unknown(self) -> bool:
        """Whether neither service nor settings identify the user, so that views contain everyone's change requests."""
        return isinstance(self.user_error, NotSupported)

    def listing(self, view: View | None = None) -> ListOrganizationChangeRequests | None:
        """Return the listing of a view, by default the current view.

        Return None until organization and user are loaded.
        """
        view = view or self.view
        if not (self.organization and (self.me or self.is_user_unknown)):
            return None
        return listing_of(view, self.queries.get(view.id, ""), self.organization, self.me)

    def is_arranged(self, view: View) -> bool:
        """Return whether a view is filtered, sorted or grouped in the store."""
        return view.is_grouped or is_local(self._text(view))

    def _text(self, view: View) -> str:
        """Return the query of a view, extended by the filter that the user has set."""
        more = self.queries.get(view.id)
        return f"{view.query} {more}" if more else view.query

    def total(self, view: View | None = None) -> int:
        """Return how many change requests of a view are counted so far, without hidden change requests."""
        view = view or self.view
        listing = self.listing(view)
        if listing is None:
            return 0
        if self.is_arranged(view):
            rows = self._arranged_rows(view)
            return len(rows.positions) - len(rows.headings)
        counted = self.counts.get(view.id)
        known = self._engine.window(listing, 0, 0)
        number = counted[0] if counted and (view is not self.view or known.age is None) else known.total
        return max(0, number - len(self._hidden_positions(view)))

    def total_text(self, view: View) -> str:
        """Return the number of change requests as text, such as `50+` if there may be more; empty for none."""
        total, listing = self.total(view), self.listing(view)
        if listing is None or not total:
            return ""
        known, counted = self._engine.window(listing, 0, 0), self.counts.get(view.id)
        is_counted = counted is not None and (view is not self.view or known.age is None) and not self.is_arranged(view)
        is_exact = counted[1] if counted and is_counted else known.is_total_known
        return f"{total}" if is_exact else f"{total}+"

    def count(self) -> int:
        """Return the number of rows in the current view, including headings."""
        return self.total() + (len(self._arranged_rows(self.view).headings) if self.is_arranged(self.view) else 0)

    @property
    def empty(self) -> str:
        """The text of the current view when it has no rows."""
        if self.view.id in self.queries:
            return f"Nothing matches the filter. {key_for('edit_view')} changes or clears it."
        if not self.has_no_reviews:
            edits = f" {key_for('change_view')} edits it." if self.view.saved else ""
            return f"{self.view.empty}{edits}"
        space = self.spaces.get(self.offered_space, "")
        if not space:
            return with_keys(NOTHING_TO_REVIEW)
        mine = next((number for number, view in enumerate(self.views, 1) if view.id == "mine" and self.total(view)), 0)
        own = f"{tab_label(mine)} Mine, " if mine else ""
        return f"Nothing to review. {key_for('open')} opens {space}, {own}{key_for('go_browse')} all your spaces."

    @property
    def has_no_reviews(self) -> bool:
        """Whether the current view is *Needs me* without a filter, and no change request awaits the user's review."""
        return self.view.id == "needs-me" and self.view.id not in self.queries and self._has_none("needs-me")

    @property
    def offered_space(self) -> str:
        """The id of the space whose home an empty inbox offers: the space that was opened last.

        If none was opened, this is the first space of the organization; empty if there are no spaces.
        """
        recent = self._engine.shortcuts.recent(self.organization)
        opened = (shortcut.ids[0] for shortcut in recent if shortcut.kind in ("space", "page"))
        return next((space for space in opened if space in self.spaces), next(iter(self.spaces), ""))

    def _has_none(self, view_id: str) -> bool:
        """Return whether a view is loaded and has no rows."""
        view = next((view for view in self.views if view.id == view_id), None)
        listing = self.listing(view) if view else None
        if view is None or listing is None:
            return False
        is_counted = view.id in self.counts or self._engine.window(listing, 0, 0).age is not None
        return (view.id in self._groups if self.is_arranged(view) else is_counted) and not self.total(view)

    def name(self, request: ChangeRequest) -> str:
        """Return the name of a change request, such as `API docs #5`: numbers are unique only within a space."""
        return f"{self.spaces.get(request.space, '')} #{request.number}".strip()

    def read_spaces(self, spaces: ListSpaces) -> None:
        """Load the titles of the spaces from the store, and measure the rows again."""
        self.spaces = {space.id: sanitize(space.title) for space in self._engine.window(spaces, 0, 10_000).items}
        self._measure_all()

    def read_held(self) -> bool:
        """Count the drafts and held comments again. Return True if a number has changed."""
        before, self.held = self.held, self._engine.held_texts()
        if self.held == before:
            return False
        self._measure_all()
        return True

    def held_in(self, request: ChangeRequest) -> int:
        """Return the number of drafts and held comments of a change request."""
        return sum(self.held.get(request.id, ()))

    def _measure_all(self) -> None:
        self.widths = NaturalWidths()
        for known in self._details.values():
            self.widths = self.widths.with_details(known)
        for requests in (*self._chunks.values(), self._arranged_requests.values()):
            self._measure(requests)

    def forget(self) -> None:
        """Drop all cached rows, because any of them may have changed."""
        self._chunks.clear()
        self._arranged_requests.clear()
        self._details.clear()
        self.forget_hidden()

    def forget_hidden(self) -> None:
        """Drop the cached positions of hidden rows, because the user has hidden or restored some."""
        self._hidden.clear()
        self._arranged.clear()

    def heading(self, index: int) -> Heading | None:
        """Return the heading at a row, or None."""
        return self._arranged_rows(self.view).headings.get(index) if self.view.is_grouped else None

    def request(self, index: int) -> ChangeRequest | None:
        """Return the change request of a row; None for headings and for rows that are not loaded."""
        if self.is_arranged(self.view):
            return self._arranged_at(index)
        for position in self._hidden_positions(self.view):
            if position > index:
                break
            index += 1
        return self._at(index)

    def index(self, request_id: object) -> int | None:
        """Return the current row of a change request; None if it is not in this view."""
        listing = self.listing()
        position = self._loaded_position(str(request_id))
        if position is None and listing:
            position = self._engine.positions(listing, [str(request_id)]).get(str(request_id))
        if position is None:
            return None
        if self.is_arranged(self.view):
            positions = self._arranged_rows(self.view).positions
            return positions.index(position) if position in positions else None
        hidden = self._hidden_positions(self.view)
        return None if position in hidden else position - bisect_left(hidden, position)

    def _loaded_position(self, request_id: str) -> int | None:
        """Return the position of a change request in the cached rows, which may be older than the listing."""
        if self.is_arranged(self.view):
            loaded = self._arranged_requests.items()
        else:
            loaded = (
                (start + at, request) for start, chunk in self._chunks.items() for at, request in enumerate(chunk)
            )
        return next((position for position, request in loaded if request.id == request_id), None)

    @property
    def is_ready(self) -> bool:
        """Whether the current view was arranged before; its previous rows are shown until it is arranged again."""
        return self.view.id in self._groups

    def arrange_first(self) -> None:
        """Filter the first rows of the current view immediately and without sorting, to have something to show."""
        view, listing = self.view, self.listing()
        if listing is None or view.is_grouped or self._engine.window(listing, 0, 0).age is None:
            return
        self._groups[view.id] = first_rows(self._engine, listing, self._text(view), self.spaces, now(), self.me, CHUNK)

    async def arrange(self, view: View) -> None:
        """Filter, sort and group the rows of a view. In the current view, cached rows are dropped: they may move."""
        listing = self.listing(view)
        if listing is None or not self.is_arranged(view):
            return
        text = self._text(view)
        groups = await arrange_rows(self._engine, view, listing, text, self.spaces, now(), self.me)
        self._groups[view.id] = groups
        self._arranged.pop(view.id, None)
        self._hidden.pop(view.id, None)
        if view is self.view:
            self.forget()

    def _arranged_rows(self, view: View) -> ArrangedRows:
        if view.id not in self._arranged:
            hidden, arranged_rows = {*self._hidden_positions(view)}, ArrangedRows()
            for group in self._groups.get(view.id, ()):
                shown = (position for position in group.places if position not in hidden)
                visible = array("q", shown) if hidden else group.places
                if visible and group.title is not None:
                    arranged_rows.headings[len(arranged_rows.positions)] = Heading(group.title, len(visible))
                    arranged_rows.positions.append(HEADING)
                arranged_rows.positions.extend(visible)
            self._arranged[view.id] = arranged_rows
        return self._arranged[view.id]

    def _arranged_at(self, index: int) -> ChangeRequest | None:
        positions, listing = self._arranged_rows(self.view).positions, self.listing()
        if listing is None or index >= len(positions) or positions[index] == HEADING:
            return None
        if positions[index] not in self._arranged_requests:
            start = index - index % CHUNK
            near = [position for position in positions[start : start + CHUNK] if position != HEADING]
            requests = self._engine.rows(listing, near)
            self._arranged_requests |= requests
            self._measure(requests.values())
        return self._arranged_requests.get(positions[index])

    def _at(self, index: int) -> ChangeRequest | None:
        """Return the change request at a position of the listing, or None."""
        listing = self.listing()
        if listing is None:
            return None
        start = index - index % CHUNK
        if start not in self._chunks:
            self._chunks[start] = self._engine.window(listing, start, CHUNK).items
            self._measure(self._chunks[start])
        chunk = self._chunks[start]
        return chunk[index - start] if index - start < len(chunk) else None

    def _measure(self, requests: Iterable[ChangeRequest]) -> None:
        for request in requests:
            self.widths = self.widths.including(
                request, self.spaces.get(request.space, ""), now(), self.held_in(request)
            )

    def _hidden_positions(self, view: View) -> list[int]:
        """Return the positions of hidden (done or snoozed) rows in a listing, sorted."""
        listing = self.listing(view)
        if listing is None:
            return []
        if view.id not in self._hidden:
            self._hidden[view.id] = hidden_positions(self._engine, view, listing)
        return self._hidden[view.id]

    def details(self, request: ChangeRequest) -> RowDetails:
        """Return the stored reviews, pages and comments of a row."""
        if request.id not in self._details:
            known = replace(row_details(self._engine, request, self.me), has_conflict=self._has_conflict(request))
            self._details[request.id] = known
            self.widths = self.widths.with_details(known)
        return self._details[request.id]

    def _has_conflict(self, request: ChangeRequest) -> bool | None:
        """Return whether the last forecast expects conflicts; None without a forecast for the shown revisions.

        The forecast may be from an earlier session.
        """
        revisions, has_conflicts = self._conflicts.get(request.id, ("", None))
        return has_conflicts if revisions == _revisions(request) else None

    def is_forecast_old(self, request: ChangeRequest) -> bool:
        """Return whether the last forecast for a change request is at least `FORECAST_SECONDS` old, or missing."""
        made = self._forecast_at.get((request.id, _revisions(request)), -FORECAST_SECONDS)
        return monotonic() - made >= FORECAST_SECONDS

    def keep_forecast(self, request: ChangeRequest) -> None:
        """Postpone the next forecast for a change request by `FORECAST_SECONDS`."""
        self._forecast_at[request.id, _revisions(request)] = monotonic()

    def set_forecast(self, request: ChangeRequest, *, has_conflicts: bool | None) -> None:
        """Store whether a merge would have conflicts. `has_conflicts` is None if that could not be determined."""
        self.keep_forecast(request)
        before = self._conflicts.pop(request.id, None)
        self._conflicts[request.id] = _revisions(request), has_conflicts
        if before != self._conflicts[request.id]:
            newest = dict(list(self._conflicts.items())[-MOST_CONFLICTS:])
            self._engine.outbox.remember_if_possible(CONFLICTS, json.dumps(newest))

    def reload_details(self, request: ChangeRequest) -> bool:
        """Read the details of a row again. Return True if they have changed."""
        before = self._details.pop(request.id, None)
        return self.details(request) != before


def _revisions(request: ChangeRequest) -> str:
    """Return the revisions for which a forecast holds: the newest revision, and the last merged revision of main."""
    return f"{request.revision} {request.revision_merged_ancestor or ''}"


def _stored_conflicts(text: str | None) -> dict[str, tuple[str, bool | None]]:
    """Return the stored forecasts by change request; empty if the text cannot be read."""
    try:
        stored = cast("dict[str, Any]", json.loads(text or "{}"))
        return {name: (str(revisions), has_conflicts) for name, (revisions, has_conflicts) in stored.items()}
    except (ValueError, TypeError, AttributeError):
        return {}
