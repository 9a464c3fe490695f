"""A change request and the things that its actions need, in an open review or on a row of the inbox."""

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
    from presscheck.tui.screens.review.drafts import ReviewDrafts


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

    async def load(self) -> None:
        """Load the model once, without subscriptions. Responses that cannot be read are missing in the model.

        Everything is read, in parallel: others may have changed it since it was stored. While the service cannot be
        reached, stored responses are used, and the model keeps the change request that it has.

        Raises:
            PresscheckError: the service does not return the change request.
        """
        await asyncio.gather(self._read_request(), self._read_contents())

    async def _read_request(self) -> None:
        with suppress(NetworkError):
            self.model.set_request(await self.screen.engine.read(self.model.first_call()))

    async def _read_contents(self) -> None:
        read = set[str]()
        while calls := [call for call in self.model.calls() if call.key() not in read]:  # responses lead to more calls
            read |= {call.key() for call in calls}
            await asyncio.gather(*map(self._take, calls))

    async def _take(self, call: Operation[Any]) -> None:
        """Read the response of a call into the model, with all pages of comments."""
        with suppress(PresscheckError):
            answer = await self.screen.engine.read(call)
            self.model.take(call, answer)
            following = self.model.discussion.next_comments(call, answer) if isinstance(call, ListComments) else None
            if following:
                await self._take(following)
