"""What the rows and the preview of the inbox show beside a change request: asked for when the eye reaches it.

What the cursor rests on comes first, then its neighbours, which are likely to be looked at next; the other rows on the
screen are filled when there is nothing else to do. What is known is asked again only where something happened since.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from presscheck.api.change_requests import ChangeRequest, ListOrganizationChangeRequests
from presscheck.api.operation import Operation
from presscheck.client.errand import Priority
from presscheck.desk.asking import BACKGROUND, NEXT
from presscheck.desk.questions import changes_in, comments_on, reviewers_of, reviews_of
from presscheck.documents.moments import now, read
from presscheck.errors import NetworkError, ServiceError
from presscheck.tui.screens.inbox_bulk import Acting
from presscheck.tui.widgets.rows import Rows

Question = Callable[[ChangeRequest], Operation[Any]]
QUESTIONS: tuple[Question, ...] = (reviews_of, reviewers_of, changes_in, comments_on)
"""What a row and its preview show beside the change request."""
ROW_QUESTIONS: tuple[Question, ...] = (reviews_of, changes_in)
"""What a row alone shows of that."""


class Filling(Acting):
    """Rows as the store has them, and what is asked about them."""

    @abstractmethod
    def show_preview(self) -> None:
        """Draw what is known of the row under the cursor."""

    @abstractmethod
    def show_tabs(self) -> None:
        """Draw the views, and how many each has."""

    def key_at(self, index: int) -> str | None:
        """What a row is, whatever its number."""
        request = self.known_rows.request(index)
        return request.id if request else None

    def request_at(self, index: int) -> ChangeRequest | None:
        """The change request of a row; None where it is not known."""
        return self.known_rows.request(index)

    def current(self) -> ChangeRequest | None:
        """What the cursor stands on."""
        rows = self.query_one(Rows)
        return self.known_rows.request(rows.cursor) if rows.count else None

    def follow_current(self) -> None:
        """Ask for what the eye sees of the row under the cursor."""
        request = self.current()
        if request is None:
            return
        for number, question in enumerate(QUESTIONS):
            answers = self.desk.watch(question(request))
            self.subscribe(answers, lambda _: self._learned(request), group=f"current {number}")
        self.run(self._fill, group="fill", exclusive=True)

    async def _fill(self) -> None:
        """Ask for what the neighbours of the cursor show, and then the other rows on the screen."""
        rows = self.query_one(Rows)
        with suppress(NetworkError):  # nobody asked for it: that there is no connection is told above
            for index in (rows.cursor + 1, rows.cursor - 1):
                if index in rows.seen:
                    await self._fill_row(index, QUESTIONS, NEXT)
            for index in rows.seen:
                await self._fill_row(index, ROW_QUESTIONS, BACKGROUND)
            for index in rows.seen:
                await self._foresee_row(index)

    async def _fill_row(self, index: int, questions: tuple[Question, ...], priority: Priority) -> None:
        request = self.known_rows.request(index)
        calls = [question(request) for question in questions] if request else []
        for call in calls:
            if request and self._is_old(call, request):
                await self.desk.read(call, priority=priority)
                self._learned(request)

    async def _foresee_row(self, index: int) -> None:
        """Find out whether what is outdated collides with what changed in main; kept for a while."""
        request = self.known_rows.request(index)
        if request is None or not request.outdated or not self.known_rows.is_forecast_old(request):
            return
        from presscheck.desk.forecast import forecast  # late: it joins pages

        found = None
        with suppress(ServiceError):  # a side that may not be read: nothing is said of it
            found = await forecast(self.desk, request, BACKGROUND)
        self.known_rows.foresaw(request, collides=None if found is None else bool(found.conflicts))
        self._learned(request)

    async def count_views(self) -> None:
        """Ask how many the views have that nobody looked at yet; what only the store can count is brought in."""
        for view in self.known_rows.views:
            listing = self.known_rows.listing(view)
            if listing is None or view is self.known_rows.view:
                continue
            if self.known_rows.is_arranged(view):
                await self._bring_in(listing)
                await self.known_rows.arrange(view)
            elif self.desk.window(listing, 0, 0).age is None:
                first = await self.desk.read(listing.model_copy(update={"limit": 1}), priority=BACKGROUND)
                self.known_rows.counts[view.id] = first.count or 0
        self.show_tabs()

    async def _bring_in(self, listing: ListOrganizationChangeRequests) -> None:
        """Bring a listing into the store that is not all there."""
        if not self.desk.window(listing, 0, 0).complete:
            async for seen in self.desk.watch_listing(listing, priority=BACKGROUND):
                if seen.error or self.desk.window(listing, 0, 0).complete:
                    return

    def _is_old(self, call: Operation[Any], request: ChangeRequest) -> bool:
        """Whether nothing is known, or something happened to the change request since."""
        known, changed = self.desk.known(call), read(request.updated_at)
        return known is None or (changed is not None and known.age > (now() - changed).total_seconds())

    def _learned(self, request: ChangeRequest) -> None:
        if self.known_rows.learn(request):
            self.query_one(Rows).redraw()
            self.show_preview()
