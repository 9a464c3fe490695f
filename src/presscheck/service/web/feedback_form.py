"""The endpoint of the feedback form of published pages, which works with and without a script."""

from __future__ import annotations

import asyncio
from functools import partial

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from presscheck.service.db.blob_store import BlobStore
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import Clock
from presscheck.service.http.operations import ApiError
from presscheck.service.http.turns import Threads

LARGEST_FORM = 8_000
"""Maximum size of the body of a request, in bytes: a comment of characters outside ASCII, with escapes."""
LONGEST_SENDING = 10
"""Timeout for the body of a request, in seconds."""
MOST_WRITING, MOST_WAITING = 2, 100
"""Maximum numbers of forms that are stored at the same time, and that wait."""


class FeedbackForm:
    """The endpoint of the form.

    Args:
        database: the database of the service.
        files: the stored files.
        clock: returns the current time.
    """

    def __init__(self, database: Database, files: BlobStore, clock: Clock) -> None:
        self._database, self._files, self._clock = database, files, clock
        self._threads = Threads(MOST_WRITING, waiting=MOST_WAITING, what="Feedback")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        # take 106 ms to import, so only for feedback
        from presscheck.service.web.feedback import feedback_fields, store_feedback
        from presscheck.service.web.views import refused_form

        request = Request(scope, receive)
        try:
            rating, comment = feedback_fields(await _body(request))
            store = partial(store_feedback, self._files, self._clock, request, rating, comment)
            url = await self._threads.run(self._database.write, store)
            response: Response = RedirectResponse(f"{url}#~thanks", 303, {"cache-control": "no-store"})
        except ApiError as error:
            response = refused_form(error)
        await response(scope, receive, send)


async def _body(request: Request) -> bytes:
    """Return the body of a request.

    Raises:
        ApiError: 408, it takes too long; 413, it is too large.
    """
    body = bytearray()
    try:
        async with asyncio.timeout(LONGEST_SENDING):
            async for chunk in request.stream():
                body += chunk
                if len(body) > LARGEST_FORM:
                    raise ApiError(413, "The comment is too long.")
    except TimeoutError:
        raise ApiError(408, f"The form did not arrive within {LONGEST_SENDING} seconds.") from None
    return bytes(body)
