"""Reads everything about a change request into the review model, as the review screen does."""

from __future__ import annotations

from typing import Any, NamedTuple

from presscheck.api.change_requests import ListRequestedReviewers, ListReviews
from presscheck.api.comments import ListComments
from presscheck.api.operation import Operation
from presscheck.cli.session import Session
from presscheck.engine.review.model import ReviewModel
from presscheck.engine.review.threads import Thread, locate_thread
from presscheck.errors import Forbidden, NetworkError, NotFound, NotSupported

OPTIONAL = (Forbidden, NetworkError, NotFound, NotSupported)
"""Errors after which a part of a change request stays unknown."""
PARTS: dict[type[Operation[Any]], str] = {
    ListReviews: "reviews",
    ListRequestedReviewers: "requested reviewers",
    ListComments: "comments",
}


class Loaded(NamedTuple):
    """A review model, and which parts of the change request could not be read, with the reasons."""

    model: ReviewModel
    unread: tuple[str, ...]


async def read_model(session: Session, space_id: str, request_id: str) -> Loaded:
    """Read a change request with its changes, reviews, comments and permissions.

    Raises:
        PresscheckError: the change request cannot be read.
    """
    model, unread = ReviewModel(session.engine, space_id, request_id), list[str]()
    model.set_request(await session.read(model.first_call()))
    # answers lead to more calls, such as for the organization of the space or for a truncated list of changes
    done = set[str]()
    while calls := [call for call in model.calls() if call.key() not in done]:
        for call in calls:
            done.add(call.key())
            try:
                answer: Any = await session.read(call)
            except OPTIONAL as error:
                if name := PARTS.get(type(call)):
                    unread.append(f"{name} not read: {error.message}")
                continue
            model.take(call, answer)
            following = model.discussion.next_comments(call, answer) if isinstance(call, ListComments) else None
            while following:
                answer = await session.read(following)
                model.take(following, answer)
                following = model.discussion.next_comments(following, answer)
    return Loaded(model, tuple(unread))


async def read_replies(session: Session, model: ReviewModel, thread: Thread) -> Thread:
    """Return a thread with all its replies."""
    if thread.reply_count > len(thread.replies) and not thread.first.pending:
        call: Any = model.discussion.list_replies(thread.id)
        model.discussion.set_replies(thread.id, await session.all(call))
    return model.discussion.thread(thread.id) or thread


def placed(threads: list[Thread], before: str, after: str) -> list[Thread]:
    """Return the threads of a page with the lines that they quote located in its texts."""
    return [locate_thread(thread, after, None, before) for thread in threads]
