"""The endpoint of the feedback form of published pages, which works with and without a script."""

from __future__ import annotations

from functools import partial

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from presscheck.service.blobs.store import BlobStore
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import Clock
from presscheck.service.http.operations import ApiError
from presscheck.service.http.request_body import read_body
from presscheck.service.http.turns import Threads

LARGEST_FORM = 8_000
"""Maximum size of the body of a request, in bytes; enough for a comment of percent-encoded characters."""
MOST_WRITING, MOST_WAITING = 2, 100
"""Maximum number of forms that are stored at the same time, and of forms that wait."""


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

    async def respond(self, request: Request) -> Response:
        """Store the feedback, and redirect back to the page."""
        # take 106 ms to import, so only for feedback
        from presscheck.service.web.feedback import feedback_fields, store_feedback
        from presscheck.service.web.views import refused_form

        try:
            rating, comment = feedback_fields(await read_body(request, LARGEST_FORM))
            store = partial(store_feedback, self._files, self._clock, request, rating, comment)
            url = await self._threads.run(self._database.write, store)
        except ApiError as error:
            return refused_form(error)
        return RedirectResponse(f"{url}#Site-thanks", 303, {"cache-control": "no-store"})
