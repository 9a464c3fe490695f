"""Live updates of an open review: changes by other people arrive within seconds.

While the review is visible, the change request is requested every five seconds; the service answers 304 if it is
unchanged. Comments, reviews and content are fetched only after the change request has changed. A hidden review and a
review without a connection send no requests. While a write is pending, up to `MAX_POSTPONED` polls are skipped: the
engine refreshes whatever the write changes once the write has arrived.
"""

from __future__ import annotations

from asyncio import sleep
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from presscheck.api.change_requests import ListRequestedReviewers, ListReviews
from presscheck.api.comments import ListComments
from presscheck.api.organizations import GetOrganization
from presscheck.errors import PresscheckError

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest
    from presscheck.api.operation import Operation
    from presscheck.engine.connection import Status
    from presscheck.engine.review.model import ReviewModel

T = TypeVar("T")
INTERVAL = 5.0
"""Seconds between two polls."""
MAX_INTERVAL = 60.0
"""Maximum number of seconds between two polls while polls fail."""
MAX_POSTPONED = 2
"""Maximum number of consecutive polls skipped for a pending write.

The limit exists because a write can stay in the outbox, for example if it belongs to another user.
"""
_TALK = (ListComments, ListReviews, ListRequestedReviewers)
"""Calls whose responses can change without a new revision."""


class PollingEngine(Protocol):
    """The parts of the engine that live updates need."""

    @property
    def status(self) -> Status:
        """The connection status."""
        ...

    async def poll(self, call: Operation[T]) -> T:
        """Read a response from the service with background priority."""
        ...

    def refresh(self, call: Operation[Any] | None = None) -> None:
        """Fetch a subscribed call again."""
        ...


class LiveUpdates:
    """A poller of a change request, which refreshes the calls whose responses may have changed with it.

    Args:
        engine: sends the polls and refreshes calls.
        model: the change request.
        is_shown: returns whether the review is visible.
    """

    def __init__(self, engine: PollingEngine, model: ReviewModel, is_shown: Callable[[], bool]) -> None:
        self._engine, self._model, self._is_shown = engine, model, is_shown
        self._last: ChangeRequest | None = None

    async def run(self) -> None:
        """Poll until cancelled. Failing polls double the interval, up to `MAX_INTERVAL`."""
        self._last = self._model.request
        wait, postponed = INTERVAL, 0
        while True:
            await sleep(wait)
            status = self._engine.status
            if not self._is_shown() or not status.online:
                continue
            if status.waiting and postponed < MAX_POSTPONED:
                postponed += 1
                continue
            postponed = 0
            try:
                await self._poll()
                wait = INTERVAL
            except PresscheckError:
                wait = min(wait * 2, max(MAX_INTERVAL, INTERVAL))

    async def _poll(self) -> None:
        before = self._last or self._model.request
        after = self._last = await self._engine.poll(self._model.first_call())
        if before is not None and before != after:
            for call in self._affected_calls(before, after):
                self._engine.refresh(call)

    def _affected_calls(self, before: ChangeRequest, after: ChangeRequest) -> Iterator[Operation[Any]]:
        """Yield the calls to refresh: the discussion, and the content if `revision` or `outdated` changed."""
        has_new_content = (before.revision, before.outdated) != (after.revision, after.outdated)
        for call in self._model.calls():
            if isinstance(call, ListComments):
                yield from self._model.discussion.pages_of(call)
            elif isinstance(call, _TALK) or (has_new_content and not isinstance(call, GetOrganization)):
                yield call
