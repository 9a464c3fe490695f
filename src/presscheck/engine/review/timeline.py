"""The events of a change request by time, which the conversation and the history of a review show.

Consecutive edits are one event, and so are consecutive review requests by one person. A review and the thread that its
text starts are one event.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from presscheck.engine.review.merge_readiness import person
from presscheck.engine.review.revision_history import author_of
from presscheck.text.sanitize import sanitize

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest, Contributor, RequestedReviewer, Review
    from presscheck.engine.review.revision_history import Step
    from presscheck.engine.review.threads import Thread

EventKind = Literal["opened", "edit", "request", "review", "comment", "merged"]
"""An `edit` is a revision: edits of pages, an update from main, or a rollback."""
CATEGORIES: dict[str, tuple[EventKind, ...]] = {
    "comments": ("comment",),
    "reviews": ("review", "request"),
    "edits": ("opened", "edit", "merged"),
}
"""The kinds of events that can be shown alone."""
BY = "by "
"""Prefix of the filter that shows only the events of a person, before the name."""


@dataclass(frozen=True)
class Event:
    """An event of a change request.

    Attributes:
        kind: the kind.
        key: an id that stays the same when other events are added.
        at: the time; empty for unsent comments, and if the service does not report it.
        who: the person, as display text; empty if the author of an edit is unknown, because revisions have no author.
        steps: the revisions of an edit, oldest first.
        reviewers: the people whose review is requested, as display text.
        review: the review.
        thread: the thread that a comment or the text of a review started.
    """

    kind: EventKind
    key: str
    at: str
    who: str = ""
    steps: tuple[Step, ...] = ()
    reviewers: tuple[str, ...] = ()
    review: Review | None = None
    thread: Thread | None = None


def timeline(
    request: ChangeRequest,
    me: str,
    *,
    steps: Iterable[Step] = (),
    contributors: Sequence[Contributor] = (),
    reviews: Iterable[Review] = (),
    requested: Iterable[RequestedReviewer] = (),
    threads: Iterable[Thread] = (),
) -> list[Event]:
    """Return the loaded events of a change request, oldest first; unsent comments are last.

    Args:
        request: the change request.
        me: the id of the signed-in user.
        steps: its revisions, oldest first.
        contributors: the people who edited it or commented.
        reviews: its reviews.
        requested: its open review requests.
        threads: its threads; the texts of reviews belong to their reviews.
    """
    texts = {thread.id: thread for thread in threads}
    events = [
        Event("opened", "opened", request.created_at, person(request.created_by, me)),
        *(_edit(step, contributors, me) for step in steps),
        *(_request(reviewer, me) for reviewer in requested),
        *(_review(review, texts, me) for review in reviews),
        *(
            Event("comment", thread.id, thread.first.posted_at, thread.first.author, thread=thread)
            for thread in texts.values()
        ),
    ]
    if request.merged_at:
        events.append(Event("merged", "merged", request.merged_at, person(request.merged_by, me)))
    return _join(sorted(events, key=lambda event: (_is_unsent(event), event.at)))


def select_events(events: Iterable[Event], query: str) -> list[Event]:
    """Return the events that match `query`: a key of `CATEGORIES`, or `BY` and a name.

    An empty query matches all events.
    """
    if query.startswith(BY):
        return [event for event in events if _is_by(event, query.removeprefix(BY))]
    return [event for event in events if event.kind in CATEGORIES.get(query, (event.kind,))]


def people_of(events: Iterable[Event]) -> list[str]:
    """Return the names of the people of the events, in the order of their first events."""
    return [*dict.fromkeys(event.who for event in events if event.who)]


def _is_by(event: Event, name: str) -> bool:
    """Return whether a person caused an event or wrote a message in the thread of the event."""
    return event.who == name or (event.thread is not None and name in event.thread.authors)


def _edit(step: Step, contributors: Sequence[Contributor], me: str) -> Event:
    author = author_of(step.revision, contributors)
    who = person(author, me) if author else ""
    return Event("edit", step.revision.id, step.revision.created_at or "", who, steps=(step,))


def _review(review: Review, texts: dict[str, Thread], me: str) -> Event:
    """Return the event of a review with the thread of its text, which is removed from `texts`."""
    thread = texts.pop(review.comment.id, None) if review.comment else None
    return Event("review", review.id, review.created_at, person(review.reviewer, me), review=review, thread=thread)


def _request(reviewer: RequestedReviewer, me: str) -> Event:
    name = f"team {sanitize(reviewer.team.id)}" if reviewer.team else person(reviewer.user, me)
    who = person(reviewer.requested_by, me)
    return Event("request", f"request {name}", reviewer.created_at or "", who, reviewers=(name,))


def _join(events: Sequence[Event]) -> list[Event]:
    """Join consecutive edits of pages, and consecutive review requests by one person. Other events stay separate.

    Joined edits have the author of the last edit.
    """
    joined: list[Event] = []
    for event in events:
        last = joined[-1] if joined else None
        if last and _belongs_to(event, last):
            steps, reviewers = (*last.steps, *event.steps), (*last.reviewers, *event.reviewers)
            joined[-1] = replace(last, at=event.at, who=event.who, steps=steps, reviewers=reviewers)
        else:
            joined.append(event)
    return joined


def _belongs_to(event: Event, last: Event) -> bool:
    if event.reviewers and last.reviewers:
        return event.who == last.who
    return all(other.steps and other.steps[-1].revision.type == "edits" for other in (event, last))


def _is_unsent(event: Event) -> bool:
    return event.thread is not None and event.thread.first.pending is not None
