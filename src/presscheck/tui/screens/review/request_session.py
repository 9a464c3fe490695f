"""A change request and the things that its actions need, in an open review or on a row of the inbox."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from presscheck.api.comments import ListComments
from presscheck.api.spaces import GetSpace
from presscheck.engine.inbox.views import is_older
from presscheck.errors import NetworkError, PresscheckError
from presscheck.tui.screens.review.page_owners import PageOwners

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest
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

    async def load(self, request: ChangeRequest) -> None:
        """Load the model once, without subscriptions.

        The change request and its space are always read. Stored responses are used for everything else, unless the
        change request was updated since. Offline, everything comes from the store.

        Args:
            request: the change request as stored.

        Raises:
            PresscheckError: the service does not return the change request.
        """
        model = self.model
        model.set_request(request)
        _, newest = await asyncio.gather(self._take(GetSpace(space_id=request.space)), self._newest(request))
        model.set_request(newest)
        taken = {GetSpace(space_id=request.space).key()}
        while calls := [call for call in model.calls() if call.key() not in taken]:
            taken |= {call.key() for call in calls}
            await asyncio.gather(*(self._take(call, newest) for call in calls))

    async def _newest(self, request: ChangeRequest) -> ChangeRequest:
        try:
            return await self.screen.engine.read(self.model.first_call())
        except NetworkError:
            return request

    async def _take(self, call: Operation[Any], request: ChangeRequest | None = None) -> None:
        """Store the response of a call in the model. The model stays without responses that cannot be read.

        Args:
            call: the call.
            request: the change request, if a stored response that is newer can be used.
        """
        engine = self.screen.engine
        known = engine.known(call)
        answer = known.value if known and request and not is_older(known.age, request) else None
        if answer is None:
            with suppress(PresscheckError):
                answer = await engine.read(call)
        self.model.take(call, answer)
        if answer is not None and isinstance(call, ListComments):
            following = self.model.discussion.next_comments(call, answer)
            if following:
                await self._take(following, request)
