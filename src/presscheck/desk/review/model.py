"""All that is known of one change request, as it comes in: from the store at once, then from the service.

Every question is spelled as the inbox spells it, so that what one screen fetched the other knows. Nothing here draws.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from presscheck.api.change_requests import ChangeRequest, GetChangeRequest
from presscheck.api.comments import ListComments, ListReplies
from presscheck.api.content import ListChangeRequestPages
from presscheck.api.organizations import GetOrganization
from presscheck.api.spaces import GetSpace
from presscheck.desk.questions import ALL, changes_in, comments_on, reviewers_of, reviews_of
from presscheck.desk.review.changes import Changed, changed_things, in_reading_order, is_viewed
from presscheck.desk.review.discussion import Discussion
from presscheck.desk.standing import Facts, Reviewer, Standing, newest_of, reviewers, standing

if TYPE_CHECKING:
    from presscheck.api.change_requests import RequestedReviewer, Review
    from presscheck.api.changes import SemanticChanges
    from presscheck.api.comments import Comment, CommentReply
    from presscheck.api.content import RevisionPage
    from presscheck.api.levels import MergeRules
    from presscheck.api.operation import Operation
    from presscheck.api.organizations import Organization
    from presscheck.api.spaces import Space
    from presscheck.desk.desk import Desk
    from presscheck.desk.forecast import Forecast
    from presscheck.desk.seen import Seen


@dataclass(frozen=True)
class Progress:
    """How much of the changes is here, and how much of it was looked at."""

    known: int
    total: int
    viewed: int

    @property
    def missing(self) -> str:
        """`only 12 of 37 changes are here`, where that is so."""
        return f"only {self.known:,} of {self.total:,} changes are here" if self.known < self.total else ""


class Dossier(Discussion):
    """One change request: what the service said of it, and what follows from that.

    Args:
        desk: where to ask.
        space: the id of its space.
        request: its id, or its number in the space.
    """

    def __init__(self, desk: Desk, space: str, request: str) -> None:
        self.desk, self.space_id, self.request_id = desk, space, request
        self.request: ChangeRequest | None = None
        self.space: Space | None = None
        self.organization: Organization | None = None
        self.changes: SemanticChanges | None = None
        self.tree: Sequence[RevisionPage] = ()
        self.reviews: Sequence[Review] | None = None
        self.asked: Sequence[RequestedReviewer] | None = None
        self.comments: dict[str | None, Sequence[Comment]] = {}
        self.replies: dict[str, Sequence[CommentReply]] = {}
        self.things: tuple[Changed, ...] = ()
        self.viewed: dict[str, str] = {}
        self.since: Review | None = None
        """The reader's review that the newest revision is compared with; None shows all that the request changes."""
        self.between: dict[tuple[str, str], SemanticChanges] = {}
        self.forecast: Forecast | None = None
        """What a merge would come to; None while that is not known."""

    @property
    def path(self) -> dict[str, Any]:
        """What every call about this change request is given."""
        return {"space_id": self.space_id, "change_request_id": self.request.id if self.request else self.request_id}

    def first_question(self) -> GetChangeRequest:
        """What must be answered before anything else can be asked."""
        return GetChangeRequest(space_id=self.space_id, change_request_id=self.request_id)

    def questions(self) -> Iterator[Operation[Any]]:
        """What else to ask, when the change request is known; what matters most first."""
        if self.request is None:
            return
        limit = ALL
        if self.changes and self.changes.more:
            limit = len(self.changes.changes) + self.changes.more + ALL
        yield changes_in(self.request, limit)
        yield reviews_of(self.request)
        yield reviewers_of(self.request)
        yield comments_on(self.request)
        yield ListChangeRequestPages(**self.path)
        yield GetSpace(space_id=self.space_id)
        if self.space and self.space.organization:
            yield GetOrganization(organization_id=self.space.organization)

    def take_request(self, seen: Seen[ChangeRequest | None]) -> None:
        """The change request itself."""
        self.request = seen.value or self.request

    def take(self, question: Operation[Any], value: Any) -> None:
        """An answer, or None where there is none."""
        if value is None:
            return
        name = type(question).__name__
        getattr(self, f"_take_{_TAKERS[name]}")(question, value)

    def _take_changes(self, question: Any, value: SemanticChanges) -> None:
        if self.changes and question.limit == ALL and len(self.changes.changes) > len(value.changes) and value.more:
            return  # the short answer to the first question, come again after the long one
        self.changes = value
        self._order()

    def _take_tree(self, _: Any, value: Any) -> None:
        self.tree = value.pages
        self._order()

    def _take_reviews(self, _: Any, value: Any) -> None:
        self.reviews = value.items

    def _take_asked(self, _: Any, value: Any) -> None:
        self.asked = value.items

    def _take_comments(self, question: ListComments, value: Any) -> None:
        self.comments[question.page] = value.items

    def _take_replies(self, question: ListReplies, value: Any) -> None:
        self.replies[question.comment_id] = value.items

    def _take_space(self, _: Any, value: Space) -> None:
        self.space = value

    def _take_organization(self, _: Any, value: Organization) -> None:
        self.organization = value

    def my_review(self) -> Review | None:
        """The last review of the reader."""
        return newest_of(self.reviews or (), self.me)

    def compare_since(self, review: Review | None) -> None:
        """Show what changed since a review, or all."""
        self.since = review
        self._order()

    def take_comparison(self, before: str, after: str, changes: SemanticChanges) -> None:
        """What changed from one revision to another."""
        self.between[before, after] = changes
        self._order()

    def is_compared(self, revision: str) -> bool:
        """Whether it is known what changed since a revision."""
        return self.changes_since(revision) is not None

    def changes_since(self, revision: str) -> SemanticChanges | None:
        """What changed from a revision to the newest."""
        return self.between.get((revision, self.request.revision)) if self.request else None

    @property
    def base(self) -> str | None:
        """The revision that the newest is compared with."""
        if self.since:
            return self.since.revision
        return (self.request.revision_merged_ancestor or self.request.revision_initial) if self.request else None

    @property
    def shown(self) -> SemanticChanges | None:
        """The changes that are shown: all, or those since a review."""
        return self.changes_since(self.since.revision) if self.since else self.changes

    def _order(self) -> None:
        things = changed_things(self.shown.changes) if self.shown else self.things
        self.things = in_reading_order(things, self.tree) if self.tree else things

    def read_marks(self) -> None:
        """What was viewed, from disk."""
        self.viewed = self.desk.viewed(self.request.id) if self.request else {}

    def is_viewed(self, thing: Changed) -> bool:
        """Whether a thing was looked at as it is now."""
        return self.request is not None and is_viewed(thing, self.viewed, self.request.revision)

    def mark_viewed(self, thing: Changed, *, viewed: bool) -> None:
        """Mark a thing as looked at, or not."""
        if self.request:
            self.desk.mark_viewed(self.request.id, thing.id, (thing.text or self.request.revision) if viewed else None)
            self.read_marks()

    def reviewers(self) -> tuple[Reviewer, ...] | None:
        """Everybody who was asked or who spoke; None where that is not known."""
        if self.request is None or (self.reviews is None and self.asked is None):
            return None
        return reviewers(self.request, self.asked or (), self.reviews or (), self.me)

    def progress(self) -> Progress | None:
        """How much is known, and how much was viewed."""
        if self.shown is None:
            return None
        known = len(self.shown.changes)
        return Progress(known, known + (self.shown.more or 0), sum(self.is_viewed(one) for one in self.things))

    def rules(self) -> MergeRules | None:
        """The merge rules in force, where they are known."""
        rules = self.space.merge_rules if self.space else None
        if rules and rules.type == "inherit":
            return self.organization.merge_rules if self.organization else None
        return rules

    def standing(self) -> Standing:
        """Whether it can be merged."""
        facts = self.facts()
        return standing(facts) if facts else Standing("unknown")

    def facts(self) -> Facts | None:
        """What a merge depends on; None before the change request is known."""
        if self.request is None:
            return None
        people, rules, threads = self.reviewers(), self.rules(), self.open_threads()
        titles = None if self.forecast is None else tuple(one.title for one in self.forecast.conflicts)
        return Facts(self.request, self.me, people, self.space, rules, threads, titles)


_TAKERS = {
    "GetChangeRequestChanges": "changes",
    "ListChangeRequestPages": "tree",
    "ListReviews": "reviews",
    "ListRequestedReviewers": "asked",
    "ListComments": "comments",
    "ListReplies": "replies",
    "GetSpace": "space",
    "GetOrganization": "organization",
}
