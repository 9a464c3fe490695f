"""The built-in and saved views of the inbox, and the cached details of each row.

A view is a listing of the service and a filter. Parts of the filter that the service does not support are applied in
the cache, together with sorting and grouping, so that views share a listing if they differ only there. Nothing
here sends requests; the screen fetches the details of visible rows.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from presscheck.api.change_requests import (
    ChangeRequest,
    ChangeRequestStatus,
    ListOrganizationChangeRequests,
    Review,
)
from presscheck.config.saved_views import SavedView, same_name
from presscheck.engine.inbox.query_language import ME, Query, asks_of, parse
from presscheck.engine.protocols import StoredReader, StoreWorker
from presscheck.engine.review.changes import new_text
from presscheck.engine.review.comment_state import is_open_comment
from presscheck.engine.review.merge_readiness import newest_reviews
from presscheck.engine.shared_calls import changes_in, comments_on, reviewers_of, reviews_of
from presscheck.errors import InvalidArgument
from presscheck.text.phrases import now, parse_time

if TYPE_CHECKING:
    from collections.abc import Iterator

    from presscheck.api.comments import Comment
    from presscheck.api.content_changes import SemanticChange
    from presscheck.api.operation import Operation, Page
    from presscheck.engine.inbox.held_texts import HeldTexts
    from presscheck.engine.inbox.notification_settings import NotificationSettings
    from presscheck.engine.inbox.triage import Triage
    from presscheck.engine.results import Window
    from presscheck.store.cache import Condition

M = TypeVar("M")
MAX_REVIEWS = 100
"""Maximum number of change requests per listing whose reviews are read, latest first."""


@dataclass(frozen=True)
class View:
    """A tab of the inbox."""

    id: str
    title: str
    empty: str
    """The message for an empty view."""
    query: str = ""
    """The filter, including the sort order."""
    status: ChangeRequestStatus = "open"
    """The status of the change requests."""
    hides: bool = False
    """Whether hidden change requests are left out."""
    saved: SavedView | None = None
    """The settings of a saved view; None for a built-in view."""

    @property
    def words(self) -> str:
        """The filter that selects the same rows in the view of all open change requests."""
        return self.query if self.status == "open" else f"status:{self.status} {self.query}".strip()

    @property
    def is_grouped(self) -> bool:
        """Whether the rows are grouped under headings."""
        return self.saved is not None and self.saved.group == "space"


VIEWS: tuple[View, ...] = (
    View("needs-me", "Needs me", "No change request needs your review.", "waiting:me", hides=True),
    View(
        "mine",
        "Mine",
        "You have no open change requests. Edit a page in Browse to start one.",
        "author:me",
        hides=True,
    ),
    View("involved", "Involved", "You are not involved in any open change request.", "involved:me", hides=True),
    View("all-open", "All open", "There are no open change requests. Edit a page in Browse to start one."),
    View("drafts", "Drafts", "There are no drafts.", status="draft"),
    View("merged", "Merged", "No change request was merged yet.", status="merged"),
    View("archived", "Archived", "No change request is archived.", status="archived"),
    View(
        "waiting",
        "Waiting for author",
        "No change request that you reviewed waits for its author.",
        "waiting:author",
        hides=True,
    ),
    View(
        "pending",
        "Pending",
        "You have no drafts and no pending review. Here are open change requests with texts that you have not sent.",
        "is:pending",
    ),
)


@dataclass(frozen=True)
class RowDetails:
    """Cached details of a change request. A field is None if its data is not cached or not available."""

    approved: tuple[str, ...] | None = None
    """Names of the reviewers who approved the newest revision."""
    stale: tuple[str, ...] = ()
    """Names of the reviewers who approved an older revision."""
    refused: tuple[str, ...] | None = None
    """Names of the reviewers whose newest review requests changes."""
    asked: tuple[str, ...] | None = None
    """Names of the requested reviewers without a review since the request."""
    own: Literal["", "approved", "changes-requested"] = ""
    """The newest review of the signed-in user."""
    is_own_stale: bool = False
    """Whether the content changed since the user's newest review."""
    is_asked: bool = False
    """Whether a review by the signed-in user is requested and not done since."""
    changes: tuple[int, int, int, int] | None = None
    """The numbers of added, edited, moved and deleted pages."""
    pages: int | None = None
    """The number of changed pages."""
    viewed: int = 0
    """The number of changed pages that are marked as viewed in their current version."""
    latest: Comment | None = None
    open_comments: int | None = None
    """The number of open comments without the texts of reviews; None if unknown."""
    has_conflict: bool | None = None
    """Whether the change request conflicts with main or has unresolved conflicts; computed, not cached."""


class RowReader(StoredReader, Protocol):
    """A reader of the cached details of inbox rows."""

    def viewed(self, change_request: str) -> dict[str, str]:
        """Return the revision at which each page of a change request was viewed, by page id."""
        ...


class LocalFacts(Protocol):
    """Data that only this machine has: the latest reviews, muted and followed targets, and held texts."""

    @property
    def notification_settings(self) -> NotificationSettings:
        """The muted and followed targets."""
        ...

    def own_reviews(self) -> Mapping[str, float]:
        """Return the times of the user's latest reviews that the cache may lack, by change request id."""
        ...

    def held_texts(self) -> Mapping[str, HeldTexts]:
        """Return the numbers of drafts and held comments by change request id."""
        ...


class FirstRows(LocalFacts, Protocol):
    """A filter for the first rows of a cached listing."""

    def first_matching(
        self, listing: ListOrganizationChangeRequests, conditions: Iterable[Condition], first: int, /
    ) -> array[int]:
        """Return the positions of the rows that meet all conditions, in the first `first` rows."""
        ...


class RowArranger(LocalFacts, StoreWorker, Protocol):
    """A worker that filters and sorts a cached listing in the cache's writer thread."""


def row_details(engine: RowReader, request: ChangeRequest, me: str) -> RowDetails:
    """Return the cached details of a row. `me` is the id of the signed-in user, who is named “you”."""
    reviews = engine.known(reviews_of(request))
    asked = engine.known(reviewers_of(request))
    changes = engine.known(changes_in(request))
    if changes and any(change.type == "page_listed" for change in changes.value.changes):
        changes = None  # the list has all pages, so the changed pages are unknown
    comments = engine.known(comments_on(request))
    current = newest_reviews(reviews.value.items) if reviews else ()
    reviewed = {review.reviewer.id: review.created_at for review in current}
    own = next((review for review in current if review.reviewer.id == me), None)
    author = request.created_by.id if request.created_by else ""
    others = [review for review in current if review.reviewer.id != author]  # an author's own approval does not count
    waiting = [
        reviewer.user
        for reviewer in (asked.value.items if asked else ())
        if reviewer.user
        and (reviewer.user.id not in reviewed or reviewed[reviewer.user.id] < (reviewer.created_at or ""))
    ]
    pages = [change for change in changes.value.changes if change.page] if changes else []
    viewed = engine.viewed(request.id) if pages else {}
    changed = {change.page.id: new_text(change) or request.revision for change in pages if change.page}
    return RowDetails(
        approved=_names((review for review in others if not _is_stale(review, request)), "approved", me)
        if reviews
        else None,
        stale=_names((review for review in others if _is_stale(review, request)), "approved", me),
        refused=_names(current, "changes-requested", me) if reviews else None,
        asked=tuple(name_of(user.id, user.display_name, me) for user in waiting) if asked else None,
        own="" if own is None else "approved" if own.status == "approved" else "changes-requested",
        is_own_stale=own is not None and _is_stale(own, request),
        is_asked=any(user.id == me for user in waiting),
        changes=_counts(pages) if changes else None,
        pages=len(changed) if changes else None,
        viewed=sum(viewed.get(page) in (text, request.revision) for page, text in changed.items()),
        latest=max(comments.value.items, key=lambda comment: comment.posted_at, default=None) if comments else None,
        open_comments=_open_comments(comments.value.items, request) if comments else None,
    )


def _open_comments(comments: Sequence[Comment], request: ChangeRequest) -> int | None:
    """Return the number of open comments, or None if the cached comments do not match the service's count."""
    unresolved = sum(comment.status != "resolved" for comment in comments)
    number = sum(map(is_open_comment, comments))
    return number if request.comments in (number, unresolved) else None


def _counts(pages: list[SemanticChange]) -> tuple[int, int, int, int]:
    kinds = [change.type for change in pages]
    return (
        kinds.count("page_created"),
        kinds.count("page_edited"),
        kinds.count("page_moved"),
        kinds.count("page_deleted"),
    )


def name_of(person: str, name: str, me: str) -> str:
    """Return the first name of a person, or “you” for the signed-in user."""
    return "you" if person == me else name.partition(" ")[0] or name


def _is_stale(review: Review, request: ChangeRequest) -> bool:
    """Return whether the content changed since a review."""
    return bool(review.revision) and review.revision != request.revision


def _names(reviews: Iterable[Review], status: str, me: str) -> tuple[str, ...]:
    reviewers = (review.reviewer for review in reviews if review.status == status)
    return tuple(name_of(reviewer.id, reviewer.display_name, me) for reviewer in reviewers)


@dataclass(frozen=True)
class Group:
    """A group of rows.

    Attributes:
        title: the heading; None in a view without groups.
        places: the positions of the rows in the listing.
    """

    title: str | None
    places: Sequence[int]


def own_view(saved: SavedView) -> View:
    """Return the tab of a saved view."""
    return View(
        saved.name,
        saved.name,
        "No change requests match this view.",
        f"{saved.query} sort:{saved.sort_by}".strip() if saved.sort_by else saved.query,
        hides=any(value == ME for _, value in asks_of(saved.query)),
        saved=saved,
    )


def all_views(saved: Iterable[SavedView]) -> tuple[View, ...]:
    """Return all tabs: the built-in views, with the saved views before the last one.

    The last built-in view is newer than the others. Its place keeps the number keys of saved views unchanged.
    """
    *built_in, pending = VIEWS
    return (*built_in, *(own_view(view) for view in saved), pending)


def validate_view(view: SavedView) -> tuple[str, str] | None:
    """Return the first invalid field of a saved view and the reason, or None if the view is valid."""
    if any(same_name(view.name, name) for built_in in VIEWS for name in (built_in.id, built_in.title)):
        return "name", "is the name of a built-in view"
    try:
        parse(view.query, {}, datetime.now(UTC))
    except InvalidArgument as error:
        return "query", f"is invalid: {error.message}"
    return None


def listing_of(view: View, more: str, organization: str, me: str) -> ListOrganizationChangeRequests:
    """Return the listing of a view for an organization.

    `organization` and `me` are ids; `more` is an additional filter. If `me` is empty, the listing is not restricted to
    the signed-in user.
    """
    asks = dict(asks_of(f"{view.query} {more}"))
    parameters = {field: me if value == ME else value for field, value in asks.items() if me or value != ME}
    listing = ListOrganizationChangeRequests(organization_id=organization, status=view.status)
    return listing.model_copy(update=parameters)


def personal_listings(organization: str, me: str) -> tuple[ListOrganizationChangeRequests, ...]:
    """Return the listings of change requests that concern the user: as a requested reviewer, author or contributor.

    If `me` is empty, return the listing of all open change requests.
    """
    listing = ListOrganizationChangeRequests(organization_id=organization, status="open")
    if not me:
        return (listing,)
    return tuple(listing.model_copy(update={field: me}) for field in ("requested_reviewer", "creator", "contributor"))


def listings_of(organization: str, me: str) -> tuple[ListOrganizationChangeRequests, ...]:
    """Return the listings of all built-in views, without duplicates."""
    listings = (listing_of(view, "", organization, me) for view in VIEWS)
    return tuple({listing.key(): listing for listing in (*listings, *personal_listings(organization, me))}.values())


def _conditions(
    query: Query, engine: LocalFacts, listing: ListOrganizationChangeRequests, me: str
) -> tuple[Condition, ...]:
    listings = tuple(personal.key() for personal in personal_listings(listing.organization_id, me))
    notifications = engine.notification_settings.by_id()
    return query.for_user(me, listings, engine.own_reviews(), notifications, engine.held_texts())


def first_rows(
    engine: FirstRows,
    listing: ListOrganizationChangeRequests,
    text: str,
    spaces: Mapping[str, str],
    now: datetime,
    me: str,
    count: int,
) -> tuple[Group, ...]:
    """Return the rows that match a filter among the first `count` cached rows of a listing, unsorted and ungrouped.

    The cache is read synchronously. The other arguments are the same as for `arrange_rows`.

    Raises:
        InvalidArgument: the filter is invalid.
    """
    conditions = _conditions(parse(text, spaces, now), engine, listing, me)
    return (Group(None, engine.first_matching(listing, conditions, count)),)


async def arrange_rows(
    engine: RowArranger,
    view: View,
    listing: ListOrganizationChangeRequests,
    text: str,
    spaces: Mapping[str, str],
    now: datetime,
    me: str,
) -> tuple[Group, ...]:
    """Filter, sort and group the cached rows of a view.

    Args:
        engine: runs the query in the cache's writer thread.
        view: the view.
        listing: the listing of the view.
        text: the filter.
        spaces: titles of spaces by id.
        now: the current time, for ages in the filter.
        me: the id of the signed-in user; empty if unknown.

    Raises:
        InvalidArgument: the filter is invalid.
    """
    query, key = parse(text, spaces, now), listing.key()
    conditions = _conditions(query, engine, listing, me)
    if not view.is_grouped:
        rows = await engine.in_store(lambda cache: cache.matching(key, conditions, query.order))
        return (Group(None, rows),)
    found = await engine.in_store(lambda cache: cache.matching_by_space(key, conditions, query.order))
    groups = [Group(spaces.get(space, space), rows) for space, rows in found.items()]
    return tuple(sorted(groups, key=lambda group: (group.title or "").casefold()))


class TriagedRows(Protocol):
    """A reader of cached listings that knows which change requests are hidden."""

    @property
    def triage(self) -> Triage:
        """The hidden change requests."""
        ...

    def positions(self, listing: Operation[Page[Any]], ids: Iterable[str]) -> dict[str, int]:
        """Return the positions of the items with these ids in a cached listing, by id."""
        ...

    def rows(self, listing: Operation[Page[M]], places: Iterable[int]) -> dict[int, M]:
        """Return the cached rows of a listing at these positions, by position."""
        ...


def hidden_positions(engine: TriagedRows, view: View, listing: ListOrganizationChangeRequests) -> list[int]:
    """Return the sorted positions of hidden (done or snoozed) rows in a listing. Empty if the view shows them."""
    if not view.hides:
        return []
    triage = engine.triage
    positions = engine.positions(listing, triage.hidden_ids).values()
    rows = engine.rows(listing, positions) if positions else {}
    return sorted(position for position, request in rows.items() if triage.hidden_state(request))


class WindowReader(Protocol):
    """A reader of windows of cached listings."""

    def window(self, listing: Operation[Page[M]], start: int, count: int, /) -> Window[M]:
        """Return rows of a listing."""
        ...


def missing_reviews(engine: WindowReader, organization: str, me: str) -> Iterator[Operation[Page[Any]]]:
    """Yield the reads of reviews whose cached response is missing or older than the change request's last update.

    Change requests that wait for the user's review come first, then the latest open change requests. The
    age is checked when the iterator reaches a call, because another reader may have fetched the response by then.

    Args:
        engine: reads the cached listings.
        organization: the id of the organization.
        me: the id of the user; if empty, nothing is yielded.
    """
    if not me:
        return
    requested, *_ = personal_listings(organization, me)
    all_open = ListOrganizationChangeRequests(organization_id=organization, status="open")
    seen: set[str] = set()
    for listing, is_requested in ((requested, True), (all_open, False)):
        for request in engine.window(listing, 0, MAX_REVIEWS).items:
            calls: list[Operation[Page[Any]]] = [reviews_of(request)]
            calls += [reviewers_of(request)] if is_requested else []
            for call in calls:
                age = engine.window(call, 0, 0).age
                if call.key() not in seen and (age is None or is_older(age, request)):
                    seen.add(call.key())
                    yield call


def is_older(age: float, request: ChangeRequest) -> bool:
    """Return whether a response of this age (seconds) is older than the last update of a change request."""
    updated = parse_time(request.updated_at)
    return updated is not None and age > (now() - updated).total_seconds()
