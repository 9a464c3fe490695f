"""Reads details of change requests for rows and preview: first those under the cursor, then its neighbours.

The other visible rows follow at background priority. A stored answer is read again only if the change request was
updated since.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from presscheck.api.change_requests import REVIEWS, ChangeRequest, ListOrganizationChangeRequests
from presscheck.api.operation import Operation
from presscheck.client.request_priority import Priority
from presscheck.engine.inbox.views import is_older, missing_reviews, personal_listings
from presscheck.engine.reads.scheduler import BACKGROUND, PREFETCH
from presscheck.engine.results import Result
from presscheck.engine.review.merge_forecast import forecast, was_updated
from presscheck.engine.shared_calls import changes_in, comments_on, reviewers_of, reviews_of
from presscheck.errors import NetworkError, ServiceError
from presscheck.tui.screens.inbox.context import InboxContext

COUNTED = 50
"""Items up to which a view is counted if the service does not send its total."""
PAUSE = 0.02
"""Seconds between two reads of reviews, so that they delay no key."""
STAY = 0.6
"""Seconds before conflicts are forecast, which reads both sides of each row; whoever opens one at once pays nothing."""
OperationOf = Callable[[ChangeRequest], Operation[Any]]
DETAILS: tuple[OperationOf, ...] = (reviews_of, reviewers_of, changes_in, comments_on)
"""The calls whose answers a row and its preview show."""
ROW_DETAILS: tuple[OperationOf, ...] = (reviews_of, changes_in)
"""Those that a row shows."""


class InboxPrefetch:
    """Reads details of the rows of an inbox, the most visible ones first.

    Args:
        screen: the inbox.
    """

    def __init__(self, screen: InboxContext) -> None:
        self._screen, self._engine = screen, screen.engine
        self._has_read_reviews = False
        """Whether reviews were read since the views were arranged, which depend on them."""

    def start(self) -> None:
        """Subscribe to the details of the row under the cursor, and read those of the other visible rows."""
        request = self._screen.current()
        if request is None:
            return
        for number, operation_of in enumerate(DETAILS):
            answers = self._engine.watch(operation_of(request))
            take = partial(self._take_current, request, operation_of)
            self._screen.subscribe(answers, take, group=f"current {number}")
        self._screen.run(self._read_visible_rows, group="fill", exclusive=True)

    def stop(self) -> None:
        """Read no further rows."""
        self._screen.unsubscribe("fill")
        self._screen.unsubscribe("reviews")

    async def refresh_views(self, *, reads: bool) -> None:
        """Count the views that are not shown, and arrange those that are filtered in the store.

        With `reads`, the service is asked first: for the numbers, and for the listings that are not read to their end
        or have changed since.
        """
        model = self._screen.model
        if reads:
            with suppress(NetworkError):  # optional, and the status bar shows that there is no connection
                await self._read_counts()
        for view in model.views:
            if view is not model.view:
                await model.arrange(view)
        self._screen.show_tabs()
        if reads:
            self._screen.run(self._read_reviews, group="reviews", exclusive=True)

    async def _read_counts(self) -> None:
        model = self._screen.model
        shown = model.listing()
        if shown is None:
            return
        model.counts.pop(model.view.id, None)
        listings = {listing.key(): listing for listing in personal_listings(model.organization, model.me)}
        counted: list[tuple[str, ListOrganizationChangeRequests]] = []
        for view in model.views:
            listing = model.listing(view)
            if listing is None or view is model.view:
                continue
            if model.is_arranged(view):
                listings[listing.key()] = listing
            else:
                counted.append((view.id, listing))
        for key, listing in listings.items():
            if key != shown.key():
                await self._read_listing(listing)
        for name, listing in counted:
            model.counts[name] = await self._count(listing, is_read=listing.key() in listings)
            self._screen.show_tabs()

    async def _read_reviews(self) -> None:
        """Read the reviews on which *Needs me* and *Involved* depend, and then arrange the views again."""
        model = self._screen.model
        calls = () if self._engine.lacks(REVIEWS) else missing_reviews(self._engine, model.organization, model.me)
        with suppress(NetworkError):
            for call in calls:
                with suppress(ServiceError):  # one of them cannot be read
                    await self._engine.read(call, priority=BACKGROUND)
                self._has_read_reviews = True
                await asyncio.sleep(PAUSE)
        self._arrange_again()

    def _arrange_again(self) -> None:
        """Arrange the views again if reviews were read, here or for a row: the row may not belong to its view now."""
        if self._has_read_reviews:
            self._has_read_reviews = False
            self._screen.show_changed_rows()

    async def _count(self, listing: ListOrganizationChangeRequests, *, is_read: bool) -> tuple[int, bool]:
        """The number of items of a listing, and whether there are no more.

        One that was just read to its end is not asked for. A service that does not send the total is asked for a few
        items.
        """
        if is_read and (stored := self._engine.window(listing, 0, 0)).complete:
            return stored.total, True
        count = 0
        for limit in (1, COUNTED):
            page = await self._engine.read(listing.model_copy(update={"limit": limit}), priority=BACKGROUND)
            count = len(page.items)
            if page.next is None:
                return count, True
            if page.total is not None and page.total > 0:
                return page.total, True
        return count, False

    async def _read_visible_rows(self) -> None:
        rows = self._screen.rows
        with suppress(NetworkError):  # optional, and the status bar shows that there is no connection
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
        request = self._screen.model.request(index)
        if request is None:
            return
        for operation_of in details:
            call = operation_of(request)
            if self._is_stale(call, request):
                await self._engine.read(call, priority=priority)
                self._has_read_reviews |= operation_of is reviews_of
                self._update(request)

    async def _forecast_row(self, index: int) -> None:
        """Find out whether a change request has conflicts; the answer is kept for a while."""
        model = self._screen.model
        request = model.request(index)
        if request is None or not (request.outdated or was_updated(request)) or not model.is_forecast_old(request):
            return
        merge = None
        with suppress(ServiceError):  # one side cannot be read: no forecast
            merge = await forecast(self._engine, request, BACKGROUND)
        model.set_forecast(request, has_conflicts=None if merge is None else not merge.is_clean)
        self._update(request)

    async def _read_listing(self, listing: ListOrganizationChangeRequests) -> None:
        """Read a listing to its end, unless it is complete in the store and has not changed."""
        if await self._is_current(listing):
            return
        async for result in self._engine.watch_listing(listing, priority=BACKGROUND):
            if result.error or (result.state != "cached" and self._engine.window(listing, 0, 0).complete):
                return

    async def _is_current(self, listing: ListOrganizationChangeRequests) -> bool:
        """Whether a complete listing has not changed: its length, and its first item, the one updated last."""
        stored = self._engine.window(listing, 0, 1)
        if not stored.complete:
            return False
        page = await self._engine.read(listing.model_copy(update={"limit": 1}), priority=BACKGROUND)
        total = len(page.items) if page.next is None else page.total
        return total == stored.total and page.items == stored.items

    def _is_stale(self, call: Operation[Any], request: ChangeRequest) -> bool:
        """Whether an answer is not known, or older than the last update of the change request."""
        known = self._engine.known(call)
        return known is None or is_older(known.age, request)

    def _update(self, request: ChangeRequest) -> None:
        if self._screen.model.reload_details(request):
            self._screen.show_row_details()

    def _take_current(self, request: ChangeRequest, operation_of: OperationOf, result: Result[Any]) -> None:
        self._update(request)
        self._screen.show_contents()
        if operation_of is reviews_of and result.state == "fresh":
            self._has_read_reviews = True
            self._arrange_again()
