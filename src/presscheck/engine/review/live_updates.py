"""Live updates of an open review: what other people write arrives within seconds.

While the user sees the review, one small request every five seconds asks whether the change request has moved; the
service answers 304 if it has not. What hangs on it is requested only after it has moved. A review that is hidden, and
one without a connection, requests nothing. A poll or two are left out while a write is on its way: what it changes is
requested again as soon as it has arrived.
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
"""The maximum number of seconds between two polls that fail."""
MAX_POSTPONED = 2
"""Polls in a row that are left out while a write is on its way: it may stay there, as one of another user does."""
_TALK = (ListComments, ListReviews, ListRequestedReviewers)
"""What can move without a new revision."""


class PollingEngine(Protocol):
    """The parts of the engine that polls and requests again."""

    @property
    def status(self) -> Status:
        """The connection status."""
        ...

    async def poll(self, call: Operation[T]) -> T:
        """The response of the service, read in the background."""
        ...

    def refresh(self, call: Operation[Any] | None = None) -> None:
        """Fetch a subscribed call again."""
        ...


class LiveUpdates:
    """Polls one change request, and requests again what may have changed with it.

    Args:
        engine: polls and requests again.
        model: the change request.
        is_shown: whether the user sees the review.
    """

    def __init__(self, engine: PollingEngine, model: ReviewModel, is_shown: Callable[[], bool]) -> None:
        self._engine, self._model, self._is_shown = engine, model, is_shown
        self._last: ChangeRequest | None = None

    async def run(self) -> None:
        """Poll until it is cancelled; less often while polls fail."""
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
            for call in self._moved_calls(before, after):
                self._engine.refresh(call)

    def _moved_calls(self, before: ChangeRequest, after: ChangeRequest) -> Iterator[Operation[Any]]:
        """The calls whose responses may have changed: the discussion always, the content only with its revisions."""
        has_new_content = (before.revision, before.outdated) != (after.revision, after.outdated)
        for call in self._model.calls():
            if isinstance(call, ListComments):
                yield from self._model.discussion.pages_of(call)
            elif isinstance(call, _TALK) or (has_new_content and not isinstance(call, GetOrganization)):
                yield call
