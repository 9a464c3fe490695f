"""The session of the inbox, which reads the rows of the current view, and the details of visible rows.

Details are read first for the row under the cursor, then for the rows next to it. The other visible rows follow at
background priority. Stored details are read again only if the change request was updated since.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from presscheck.api.change_requests import REVIEWS
from presscheck.api.organizations import ListOrganizations
from presscheck.api.spaces import ListSpaces
from presscheck.api.users import GetCurrentUser
from presscheck.config.saved_views import same_name
from presscheck.engine.inbox.preview import read_preview
from presscheck.engine.inbox.views import is_older, missing_reviews
from presscheck.engine.profiles import store_needs_me
from presscheck.engine.reads.scheduler import BACKGROUND, PREFETCH
from presscheck.engine.review.merge_forecast import forecast, was_updated
from presscheck.engine.shared_calls import changes_in, comments_on, reviewers_of, reviews_of
from presscheck.errors import ConfigurationError, NetworkError, ServiceError
from presscheck.text.sanitize import sanitize
from presscheck.tui.commands import key_for
from presscheck.tui.screens.inbox.model import InboxModel
from presscheck.tui.screens.inbox.panes import InboxPanes
from presscheck.tui.screens.inbox.user_choice import choose_user_once
from presscheck.tui.screens.inbox.view_counts import read_counts
from presscheck.tui.screens.organization import choose_organization

if TYPE_CHECKING:
    from textual.timer import Timer

    from presscheck.api.change_requests import ChangeRequest
    from presscheck.api.operation import Operation, Page
    from presscheck.api.organizations import Organization
    from presscheck.api.users import User
    from presscheck.client.request_priority import Priority
    from presscheck.engine.inbox.views import View
    from presscheck.engine.results import Result
    from presscheck.tui.screens.review.drafts import ReviewDrafts
    from presscheck.tui.ui.screen import BaseScreen

REST = 0.12
"""Seconds that the cursor rests on a row before its details are read."""
PAUSE = 0.02
"""Seconds between two reads of reviews, so that they do not delay keys."""
LAST_PLACE = "inbox place"
"""The key of the stored ids of the change request and the view that were shown last."""
STAY = 0.6
"""Seconds from reading the visible rows to forecasting their conflicts, which reads both sides of each row.

Opening a row sooner cancels the forecasts; when the cursor rests on another row, the wait starts again.
"""
OperationOf = Callable[["ChangeRequest"], "Operation[Any]"]
DETAILS: tuple[OperationOf, ...] = (reviews_of, reviewers_of, changes_in, comments_on)
"""The calls whose results a row and its preview show."""
ROW_DETAILS: tuple[OperationOf, ...] = (reviews_of, changes_in)
"""The calls whose results a row shows."""


class Inbox:
    """The views of an organization's change requests, with cursor and marks.

    Args:
        screen: the inbox screen.

    Attributes:
        model: the views, and the rows of the current view.
        panes: the widgets that draw the model.
        rows: the list of rows.
        organization: the organization; None until it is loaded.
        answered: set once rows are shown after the first response or error of the service.
        sent: the drafts of the row that was acted on last, whose writes `unsend` undoes; None after other actions.
    """

    def __init__(self, screen: BaseScreen) -> None:
        self.screen, self._engine = screen, screen.engine
        self.model = InboxModel(self._engine)
        self.panes = InboxPanes(screen, self.model)
        self.rows = self.panes.rows
        self.organization: Organization | None = None
        self.answered = asyncio.Event()
        self.sent: ReviewDrafts | None = None
        self._reads_details = False
        """Whether a new listing has arrived since details were read."""
        self._has_read_reviews = False
        """Whether reviews were read since the views, which depend on them, were arranged."""
        self._rest: Timer | None = None
        self._reading: Timer | None = None

    def current(self) -> ChangeRequest | None:
        """Return the change request under the cursor, or None."""
        return self.model.request(self.rows.cursor) if self.rows.count else None

    def selected(self) -> list[ChangeRequest]:
        """Return the marked change requests in row order or, without marks, the change request under the cursor."""
        rows = self.rows
        if not rows.marks.keys:
            current = self.current()
            return [current] if current else []
        requests = (self.model.request(index) for index in range(rows.count))
        # a row that moves while the listing is replaced may be found at both positions
        marked = {request.id: request for request in requests if request and request.id in rows.marks.keys}
        return [*marked.values()]

    def row_was_sent(self, drafts: ReviewDrafts) -> None:
        """Remember the drafts whose write can be undone, and draw the rows again.

        If the write was to the change request under the cursor, move the cursor to the next row.
        """
        self.sent = drafts
        current = self.current()
        if current and current.id == drafts.discussion.request_id:
            self.rows.move(1)
        self.reload_rows()

    def load(self) -> None:
        """Load the user and the organization, then the rows of the first view, at the row that was shown last."""
        engine, screen = self._engine, self.screen
        request_id, _, view_id = (engine.outbox.recall(LAST_PLACE) or "").partition(" ")
        last = next((view for view in self.model.views if view.id == view_id), self.model.view)
        self.model.view = self._view_of_settings() or last
        if self.model.view is last:
            self.rows.start_at(request_id)
        known = engine.known(GetCurrentUser())
        self.model.me = known.value.id if known else ""
        screen.subscribe(engine.watch(GetCurrentUser()), self._take_user, group="me", shows_errors=False)
        organizations = engine.watch(ListOrganizations())
        screen.subscribe(organizations, self._take_organizations, group="organizations", shows_errors=False)

    def _view_of_settings(self) -> View | None:
        """Return the view that the settings name, or None. Without a view of this name, show an error."""
        context, views = self.screen.app_context, self.model.views
        name = context.profile.first_view
        if not name:
            return None
        view = next((view for view in views if same_name(name, view.title) or same_name(name, view.id)), None)
        if view is None:
            titles = ", ".join(sanitize(view.title) for view in views)
            context.show_error(ConfigurationError(f"first_view: no view is named {sanitize(name)}; there are {titles}"))
        return view

    def _store_needs_me(self) -> None:
        """Store the number of change requests that need the user, for the list of profiles."""
        view = next((view for view in self.model.views if view.id == "needs-me"), None)
        if view and not self.model.is_user_unknown:
            store_needs_me(self._engine.outbox, self.model.total(view))

    def store_place(self) -> None:
        """Store the current row and view for the next start: its snapshot must show the row on which keys will act."""
        current = self.current()
        self._engine.outbox.remember_if_possible(LAST_PLACE, f"{current.id if current else ''} {self.model.view.id}")

    def choose(self, view: View) -> None:
        """Show a view without marks, at its first row."""
        self._show_view(view)
        self.rows.move_to(0)

    def _show_view(self, view: View) -> None:
        """Show a view without marks; the cursor stays at its change request."""
        model = self.model
        is_other = view.id != model.view.id
        model.view, model.is_answered = view, False
        self.rows.marks.clear()
        listing = model.listing()
        if listing is None:
            return
        if is_other and model.is_arranged(view) and model.is_ready:
            # show the previous rows until they are arranged again, so that no key acts on a row that is not drawn
            model.forget()
            self._show_rows()
        self._read_rows()
        self.screen.subscribe(self._engine.watch_listing(listing), self._take_listing, group="listing")

    def reload_rows(self) -> None:
        """Show the rows again after the user has hidden or restored rows, or changed the filter."""
        if self.model.is_arranged(self.model.view) and self.model.is_ready:
            self.model.forget_hidden()
            self._show_rows()
        self._read_rows()
        self.read_details()

    def follow_cursor(self) -> None:
        """Show the facts of the row under the cursor, and read its details once the cursor rests there for a moment."""
        self.panes.show_preview()
        if self._rest:
            self._rest.stop()
        self._rest = self.screen.set_timer(REST, self._rested)

    def _rested(self) -> None:
        self._show_contents()
        self.read_details()

    def read_details(self) -> None:
        """Subscribe to the details of the row under the cursor, and read the details of other visible rows."""
        request = self.current()
        if request is None:
            return
        for number, operation_of in enumerate(DETAILS):
            answers = self._engine.watch(operation_of(request))
            take = partial(self._take_details, request, operation_of)
            self.screen.subscribe(answers, take, group=f"current {number}")
        self.screen.run(self._read_visible_rows, group="fill", exclusive=True)

    def stop_reading(self) -> None:
        """Stop reading reviews, and details of visible rows. The row under the cursor stays subscribed."""
        self.screen.unsubscribe("fill")
        self.screen.unsubscribe("reviews")

    def read_held(self) -> None:
        """Count the drafts and held comments again. If a number has changed, read the rows and the other views again.

        Views can filter by these numbers.
        """
        if self.model.read_held() and self.organization:
            self._read_rows()
            self._refresh_views(reads=False)

    def _take_user(self, result: Result[User | None]) -> None:
        """Store the user, and show the view again if the user differs from before, such as at the first start."""
        model = self.model
        before = model.me, model.is_user_unknown
        model.user_error = result.error
        if model.is_user_unknown:
            model.me = ""
        elif result.value:
            model.me = result.value.id
        if result.error and result.state == "failed" and not model.is_user_unknown:
            self.screen.app_context.show_error(result.error)
        if (model.me, model.is_user_unknown) != before:
            self._show_unknown_user()
            self._show_view(model.view)

    def _show_unknown_user(self) -> None:
        self.panes.show_unknown_user()
        organization = self.model.organization
        if self.model.is_user_unknown and organization:
            self.screen.run(lambda: choose_user_once(self.screen, organization), group="user", exclusive=True)

    def _take_organizations(self, result: Result[Page[Organization] | None]) -> None:
        if result.value is not None:
            self.model.error = "" if result.value.items else "You are not a member of an organization yet."
            self._show_organization(result.value.items)
        elif result.error:  # also offline: an inbox that was never loaded must not look empty
            self.model.error = f"{sanitize(result.error.message)}. {key_for('refresh')} retries."
        self.panes.show_preview()

    def _show_organization(self, organizations: tuple[Organization, ...]) -> None:
        screen = self.screen
        organization = choose_organization(organizations, screen.app_context.profile.organization)
        if organization is None or (self.organization and self.organization.id == organization.id):
            return
        self.organization, self.model.organization = organization, organization.id
        screen.refresh_status_bars()
        spaces = ListSpaces(organization_id=organization.id)
        screen.subscribe(self._engine.watch_listing(spaces), lambda _: self._take_spaces(spaces), group="spaces")
        self._show_view(self.model.view)
        self._show_unknown_user()

    def _take_spaces(self, spaces: ListSpaces) -> None:
        self.model.read_spaces(spaces)
        self.panes.show_headings()
        self.panes.show_row_details()  # the text of an empty view names a space

    def _take_listing(self, result: Result[int]) -> None:
        self.model.is_answered = self.model.is_answered or result.state != "cached"
        is_new = result.state in ("fresh", "unchanged")
        self._reads_details = self._reads_details or is_new
        self._read_rows()
        self._refresh_views(reads=is_new)

    def _read_rows(self) -> None:
        """Load the rows from the store. An arranged view keeps its previous rows until it is arranged again."""
        model = self.model
        if model.is_arranged(model.view):
            if not model.is_ready:
                model.forget()
                model.arrange_first()
                self._show_rows()
            self.screen.run(self._arrange, group="arrange", exclusive=True)
        else:
            model.forget()
            self._show_new_rows()

    async def _arrange(self) -> None:
        await self.model.arrange(self.model.view)
        self._show_new_rows()

    def _show_new_rows(self) -> None:
        """Show the rows, and read their details if a new listing has arrived since they were last shown."""
        self._show_rows()
        if self._reads_details:
            self._reads_details = False
            self.read_details()

    def _show_rows(self) -> None:
        self.panes.show_rows()
        if self.model.is_answered:
            self.answered.set()
        if self._reading:
            self._reading.stop()
        self._reading = self.screen.set_timer(REST, self._show_contents)

    def _show_contents(self) -> None:
        """Load description, pages and threads of the row under the cursor from the store, and draw them."""
        request = self.current()
        if request:
            self.model.contents = request.id, read_preview(self._engine, request)
            self.panes.show_preview()
        self.screen.refresh_status_bars()  # own commands depend on the row

    def _refresh_views(self, *, reads: bool) -> None:
        """Count the other views from the store or, with `reads`, from the service.

        A count from the store does not cancel a count from the service.
        """
        group = "counts" if reads else "stored counts"
        self.screen.run(lambda: self._count_views(reads=reads), group=group, exclusive=True)

    async def _count_views(self, *, reads: bool) -> None:
        """Count the other views, and arrange the views that are filtered in the store.

        With `reads`, first read the counts from the service, and all listings that are incomplete or have changed.
        """
        model = self.model
        if reads:
            with suppress(NetworkError):  # optional, and the status bar shows the offline state
                await read_counts(self._engine, model, self.panes)
        for view in model.views:
            if view is not model.view:
                await model.arrange(view)
        self.panes.show_tabs()
        if reads:
            self._store_needs_me()
            self.screen.run(self._read_reviews, group="reviews", exclusive=True)

    async def _read_reviews(self) -> None:
        """Read the reviews on which *Needs me* and *Involved* depend, then arrange the views again."""
        engine, model = self._engine, self.model
        calls = () if engine.lacks(REVIEWS) else missing_reviews(engine, model.organization, model.me)
        with suppress(NetworkError):
            for call in calls:
                with suppress(ServiceError):  # this review cannot be read
                    await engine.read(call, priority=BACKGROUND)
                self._has_read_reviews = True
                await asyncio.sleep(PAUSE)
        self._arrange_again()

    def _arrange_again(self) -> None:
        """Arrange the views again if reviews were read: a row may no longer belong to its view."""
        if self._has_read_reviews:
            self._has_read_reviews = False
            self._read_rows()
            self._refresh_views(reads=False)

    async def _read_visible_rows(self) -> None:
        rows = self.rows
        with suppress(NetworkError):  # optional, and the status bar shows the offline state
            for index in (rows.cursor + 1, rows.cursor - 1):
                if index in rows.visible_range:
                    await self._read_row(index, DETAILS, PREFETCH)
            for index in rows.visible_range:
                await self._read_row(index, ROW_DETAILS, BACKGROUND)
            self._arrange_again()
            await asyncio.sleep(STAY)
            for index in rows.visible_range:
                await self._forecast_row(index)

    async def _read_row(self, index: int, details: tuple[OperationOf, ...], priority: Priority) -> None:
        request = self.model.request(index)
        if request is None:
            return
        for operation_of in details:
            call = operation_of(request)
            known = self._engine.known(call)
            if known is None or is_older(known.age, request):
                await self._engine.read(call, priority=priority)
                self._has_read_reviews |= operation_of is reviews_of
                self._show_details(request)

    async def _forecast_row(self, index: int) -> None:
        """Forecast whether a change request has conflicts, unless that was done in the last `FORECAST_SECONDS`.

        Do nothing if the change request is up to date with main, and was never updated from main.
        """
        model = self.model
        request = model.request(index)
        if request is None or not (request.outdated or was_updated(request)) or not model.is_forecast_old(request):
            return
        try:
            merge = await forecast(self._engine, request, BACKGROUND)
        except ServiceError:  # one side cannot be read
            model.keep_forecast(request)
            return
        model.set_forecast(request, has_conflicts=None if merge is None else not merge.is_clean)
        self._show_details(request)

    def _take_details(self, request: ChangeRequest, operation_of: OperationOf, result: Result[Any]) -> None:
        self._show_details(request)
        self._show_contents()
        if operation_of is reviews_of and result.state == "fresh":
            self._has_read_reviews = True
            self._arrange_again()

    def _show_details(self, request: ChangeRequest) -> None:
        """Load the details of a row from the store again, and redraw if they have changed."""
        if self.model.reload_details(request):
            self.panes.show_row_details()
