"""The model of the inbox: the rows of a view, read from the store in chunks and kept until something changes."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

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
    listing_of,
    row_details,
)
from presscheck.errors import NotSupported
from presscheck.text.phrases import now
from presscheck.text.sanitize import sanitize
from presscheck.tui.screens.inbox.row_renderer import NaturalWidths

if TYPE_CHECKING:
    from presscheck.engine.engine import Engine
    from presscheck.engine.inbox.preview import Preview
    from presscheck.errors import PresscheckError

CHUNK = 100
"""Rows that are read from the store at a time."""
FORECAST_SECONDS = 300.0
"""Seconds for which a merge forecast is kept."""
NOTHING_TO_REVIEW = "Nothing to review. g o opens your spaces."
"""The text for somebody who sees no space."""
HEADING = -1
"""Marks a heading among the positions of rows in their listing."""


class Heading(NamedTuple):
    """The heading of a space: its title and the number of its rows."""

    title: str
    size: int


@dataclass
class ArrangedRows:
    """The rows of a filtered, sorted or grouped view: a position or `HEADING` for each, and headings by row."""

    positions: array[int] = field(default_factory=lambda: array("q"))
    headings: dict[int, Heading] = field(default_factory=dict[int, Heading])


class InboxModel:
    """The rows of one view, for an organization and the signed-in user (both by id; empty without them)."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.organization = self.me = ""
        self.user_error: PresscheckError | None = None
        """Why the user is unknown; None if the user is known, or not read yet."""
        self.views: tuple[View, ...] = VIEWS
        self.view: View = VIEWS[0]
        self.spaces: dict[str, str] = {}
        self._chunks: dict[int, tuple[ChangeRequest, ...]] = {}
        self._arranged_requests: dict[int, ChangeRequest] = {}
        self._details: dict[str, RowDetails] = {}
        self._forecasts: dict[tuple[str, str], tuple[float, bool | None]] = {}
        self._hidden: dict[str, list[int]] = {}
        self.queries: dict[str, str] = {}
        """The filter of each view, by the id of the view."""
        self._groups: dict[str, tuple[Group, ...]] = {}
        self._arranged: dict[str, ArrangedRows] = {}
        self.contents: tuple[str, Preview] | None = None
        """The id of the change request that was read last for the preview, with its description, pages and threads."""
        self.is_answered = False
        """Whether the service answered the listing of the current view, or cannot."""
        self.error = ""
        """Why there is no organization, as display text; empty if there is one, or none was read yet."""
        self.counts: dict[str, tuple[int, bool]] = {}
        """The counts of views that are not shown, by the id of the view, and whether there are no more."""
        self.widths = NaturalWidths()
        """The widths that the cells of the rows need that were read so far."""

    @property
    def is_user_unknown(self) -> bool:
        """Whether neither the service nor the settings tell who the user is: then the views are those of everyone."""
        return isinstance(self.user_error, NotSupported)

    def listing(self, view: View | None = None) -> ListOrganizationChangeRequests | None:
        """The listing of a view (default: the current one).

        None before both the organization and who the user is are known.
        """
        view = view or self.view
        if not (self.organization and (self.me or self.is_user_unknown)):
            return None
        return listing_of(view, self.queries.get(view.id, ""), self.organization, self.me)

    def is_arranged(self, view: View) -> bool:
        """Whether a view filters, sorts or groups its listing in the store."""
        return view.is_grouped or is_local(self._text(view))

    def _text(self, view: View) -> str:
        """The whole filter of a view."""
        more = self.queries.get(view.id)
        return f"{view.query} {more}" if more else view.query

    def total(self, view: View | None = None) -> int:
        """The number of change requests of a view, as far as known."""
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
        """The number of change requests of a view, such as 50+ if there may be more; empty for none."""
        total, listing = self.total(view), self.listing(view)
        if listing is None or not total:
            return ""
        known, counted = self._engine.window(listing, 0, 0), self.counts.get(view.id)
        is_counted = counted is not None and (view is not self.view or known.age is None) and not self.is_arranged(view)
        is_exact = counted[1] if counted and is_counted else known.is_total_known
        return f"{total}" if is_exact else f"{total}+"

    def count(self) -> int:
        """The number of rows of this view, with headings."""
        return self.total() + (len(self._arranged_rows(self.view).headings) if self.is_arranged(self.view) else 0)

    @property
    def empty(self) -> str:
        """The text for an empty view."""
        if self.view.id in self.queries:
            return "Nothing matches the filter. F changes or clears it."
        if not self.has_no_reviews:
            return self.view.empty
        space = self.spaces.get(self.offered_space, "")
        if not space:
            return NOTHING_TO_REVIEW
        mine = next((number for number, view in enumerate(self.views, 1) if view.id == "mine" and self.total(view)), 0)
        own = f"{mine} Mine, " if mine else ""
        return f"Nothing to review. enter opens {space}, {own}g o all your spaces."

    @property
    def has_no_reviews(self) -> bool:
        """Whether the first view is shown to somebody whose review no change request needs."""
        return self.view.id == "needs-me" and self.view.id not in self.queries and self._has_none("needs-me")

    @property
    def offered_space(self) -> str:
        """The id of the space whose home is offered in place of an empty inbox: the one that was opened last.

        Without one the first of the organization; empty without a space.
        """
        recent = self._engine.shortcuts.recent(self.organization)
        opened = (shortcut.ids[0] for shortcut in recent if shortcut.kind in ("space", "page"))
        return next((space for space in opened if space in self.spaces), next(iter(self.spaces), ""))

    def _has_none(self, view_id: str) -> bool:
        """Whether a view is known to have no rows."""
        view = next((view for view in self.views if view.id == view_id), None)
        listing = self.listing(view) if view else None
        if view is None or listing is None:
            return False
        is_counted = view.id in self.counts or self._engine.window(listing, 0, 0).age is not None
        return (view.id in self._groups if self.is_arranged(view) else is_counted) and not self.total(view)

    def read_spaces(self, spaces: ListSpaces) -> None:
        """Read the titles of the spaces, as display text."""
        self.spaces = {space.id: sanitize(space.title) for space in self._engine.window(spaces, 0, 10_000).items}
        self.widths = NaturalWidths()
        for known in self._details.values():
            self.widths = self.widths.with_details(known)
        for requests in (*self._chunks.values(), self._arranged_requests.values()):
            self._measure(requests)

    def forget(self) -> None:
        """Forget all rows, because something may have changed."""
        self._chunks.clear()
        self._arranged_requests.clear()
        self._details.clear()
        self.forget_hidden()

    def forget_hidden(self) -> None:
        """Forget which rows are hidden, because the user hid some or brought some back."""
        self._hidden.clear()
        self._arranged.clear()

    def heading(self, index: int) -> Heading | None:
        """The heading at a row; None if it is no heading."""
        return self._arranged_rows(self.view).headings.get(index) if self.view.is_grouped else None

    def request(self, index: int) -> ChangeRequest | None:
        """The change request of a row; None if it is unknown or a heading."""
        if self.is_arranged(self.view):
            return self._arranged_at(index)
        for position in self._hidden_positions(self.view):
            if position > index:
                break
            index += 1
        return self._at(index)

    def index(self, request_id: object) -> int | None:
        """The row of a change request, however far it moved; None if it is not in this view."""
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
        """The position of a change request among those that are loaded, which are older than the listing at times."""
        if self.is_arranged(self.view):
            loaded = self._arranged_requests.items()
        else:
            loaded = ((start + at, one) for start, chunk in self._chunks.items() for at, one in enumerate(chunk))
        return next((position for position, request in loaded if request.id == request_id), None)

    @property
    def is_ready(self) -> bool:
        """Whether the current view was arranged before: its rows are shown until they are arranged again."""
        return self.view.id in self._groups

    def arrange_first(self) -> None:
        """Filter the first rows of the current view at once, without an order: the others follow."""
        view, listing = self.view, self.listing()
        if listing is None or view.is_grouped or self._engine.window(listing, 0, 0).age is None:
            return
        self._groups[view.id] = first_rows(self._engine, listing, self._text(view), self.spaces, now(), self.me, CHUNK)

    async def arrange(self, view: View) -> None:
        """Filter, sort and group the rows of a view; those of the current one are forgotten, as they may have moved."""
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
        """The rows of an arranged view, without hidden ones."""
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
        """The change request at a position of the listing."""
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
            self.widths = self.widths.including(request, self.spaces.get(request.space, ""), now())

    def _hidden_positions(self, view: View) -> list[int]:
        """The positions in a listing that are hidden (done or snoozed), in order."""
        listing, triage = self.listing(view), self._engine.triage
        if listing is None or not view.hides:
            return []
        if view.id not in self._hidden:
            found: list[int] = []
            for position in self._engine.positions(listing, triage.hidden_ids).values():
                [*requests] = self._engine.window(listing, position, 1).items
                found += [position for request in requests if triage.hidden_state(request)]
            self._hidden[view.id] = sorted(found)
        return self._hidden[view.id]

    def details(self, request: ChangeRequest) -> RowDetails:
        """Reviews, pages and comments of a row, as far as known."""
        if request.id not in self._details:
            _, has_conflicts = self._forecasts.get((request.id, request.revision), (0.0, None))
            known = replace(row_details(self._engine, request, self.me), has_conflict=has_conflicts)
            self._details[request.id] = known
            self.widths = self.widths.with_details(known)
        return self._details[request.id]

    def is_forecast_old(self, request: ChangeRequest) -> bool:
        """Whether there is no merge forecast, or it is too old."""
        made, _ = self._forecasts.get((request.id, request.revision), (-FORECAST_SECONDS, None))
        return monotonic() - made >= FORECAST_SECONDS

    def set_forecast(self, request: ChangeRequest, *, has_conflicts: bool | None) -> None:
        """Store whether a merge would conflict; None if unknown."""
        self._forecasts[request.id, request.revision] = monotonic(), has_conflicts

    def reload_details(self, request: ChangeRequest) -> bool:
        """Read the details of a row again; returns whether they have changed."""
        before = self._details.pop(request.id, None)
        return self.details(request) != before
