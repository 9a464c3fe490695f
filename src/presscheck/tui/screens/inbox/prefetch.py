"""Reads details of change requests for rows and preview: first those under the cursor, then its neighbours.

The other visible rows follow at background priority. A stored answer is read again only if the change request was
updated since.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from presscheck.api.change_requests import ChangeRequest, ListOrganizationChangeRequests
from presscheck.api.operation import Operation
from presscheck.client.request_priority import Priority
from presscheck.engine.reads.scheduler import BACKGROUND, PREFETCH
from presscheck.engine.review.merge_forecast import forecast, was_updated
from presscheck.engine.shared_calls import changes_in, comments_on, reviewers_of, reviews_of
from presscheck.errors import NetworkError, ServiceError
from presscheck.text.phrases import now, parse_time
from presscheck.tui.screens.inbox.context import InboxContext

COUNTED = 50
"""Items up to which a view is counted if the service does not send its total."""
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

    def start(self) -> None:
        """Subscribe to the details of the row under the cursor, and read those of the other visible rows."""
        request = self._screen.current()
        if request is None:
            return
        for number, operation_of in enumerate(DETAILS):
            answers = self._engine.watch(operation_of(request))
            self._screen.subscribe(answers, lambda _: self._update(request), group=f"current {number}")
        self._screen.run(self._read_visible_rows, group="fill", exclusive=True)

    def stop(self) -> None:
        """Read no further rows."""
        self._screen.unsubscribe("fill")

    async def count_views(self) -> None:
        """Count the views that were not opened yet; those with a query are read whole, to be counted here."""
        model = self._screen.model
        for view in model.views:
            listing = model.listing(view)
            if listing is None or view is model.view:
                continue
            if model.is_arranged(view):
                await self._read_listing(listing)
                await model.arrange(view)
            elif self._engine.window(listing, 0, 0).age is None:
                model.counts[view.id] = await self._count(listing)
        self._screen.show_tabs()

    async def _count(self, listing: ListOrganizationChangeRequests) -> tuple[int, bool]:
        """The number of items of a listing, and whether there are no more.

        A service that does not send the total is asked for a few items.
        """
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
        """Read a listing to its end, unless it is complete in the store."""
        if not self._engine.window(listing, 0, 0).complete:
            async for result in self._engine.watch_listing(listing, priority=BACKGROUND):
                if result.error or self._engine.window(listing, 0, 0).complete:
                    return

    def _is_stale(self, call: Operation[Any], request: ChangeRequest) -> bool:
        """Whether an answer is not known, or older than the last update of the change request."""
        known, updated = self._engine.known(call), parse_time(request.updated_at)
        return known is None or (updated is not None and known.age > (now() - updated).total_seconds())

    def _update(self, request: ChangeRequest) -> None:
        if self._screen.model.reload_details(request):
            self._screen.show_row_details()
