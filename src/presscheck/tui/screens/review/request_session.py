"""A change request with the data that its actions need, in an open review or on a row of the inbox."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from presscheck.api.comments import ListComments
from presscheck.errors import NetworkError, PresscheckError
from presscheck.tui.screens.review.page_owners import PageOwners

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.engine.review.model import ReviewModel
    from presscheck.text.styled_text import Line
    from presscheck.tui.screens.review.drafts import ReviewDrafts

MAX_WAIT = 4.0
"""Maximum seconds to wait for responses; less than the time for which typed keys are held."""
NOTICE_DELAY = 0.4
"""Seconds until a message shows that the change request is being loaded."""


class RequestSession:
    """A change request on which actions are performed.

    Args:
        model: the responses of the service.
        drafts: composes and sends comments and reviews.

    Attributes:
        screen: the screen that shows dialogs and messages.
        owners: the owners of the changed pages.
    """

    def __init__(self, model: ReviewModel, drafts: ReviewDrafts) -> None:
        self.model, self.drafts, self.screen = model, drafts, drafts.screen
        self.owners = PageOwners(model, drafts.screen)

    def prose_lines(self) -> list[Line]:
        """Return a line about the prose of the changed pages, for a merge; empty if it was never checked."""
        return []

    async def load(self) -> None:
        """Load the model once, without subscriptions.

        All responses are read again, in parallel, because other users may have changed the content since they were
        stored. If a request fails, or the load takes longer than `MAX_WAIT`, the model has the stored response, or none
        if no response is stored. Keys typed during the load wait for the dialog.

        Raises:
            PresscheckError: the service returned an error for the change request. A failed connection is ignored.
        """
        engine = self.screen.engine
        for call in self.model.calls():
            known = engine.known(call)
            self.model.take(call, known.value if known else None)
        self.screen.app_context.type_ahead.hold_longer()
        notice = self.screen.set_timer(NOTICE_DELAY, lambda: self.screen.notify(self.drafts.named("loading …")))
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(MAX_WAIT):
                    await asyncio.gather(self._read_request(), self._read_contents())
        finally:
            notice.stop()

    async def _read_request(self) -> None:
        with suppress(NetworkError):
            self.model.set_request(await self.screen.engine.read(self.model.first_call()))

    async def _read_contents(self) -> None:
        read = set[str]()
        while calls := [call for call in self.model.calls() if call.key() not in read]:  # responses lead to more calls
            read |= {call.key() for call in calls}
            await asyncio.gather(*map(self._take, calls))

    async def _take(self, call: Operation[Any]) -> None:
        """Read the response to a call into the model. Comments are read to the last page. Errors are ignored."""
        with suppress(PresscheckError):
            answer = await self.screen.engine.read(call)
            self.model.take(call, answer)
            following = self.model.discussion.next_comments(call, answer) if isinstance(call, ListComments) else None
            if following:
                await self._take(following)
