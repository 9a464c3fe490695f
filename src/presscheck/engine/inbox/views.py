"""The views of the inbox, built in and saved, as listings of the service; and what the store knows of each row.

Nothing here asks the network: a row shows what is known, and the screen asks for the rows that are visible. Saved views
are narrowed, sorted and grouped from the store, so that those share a listing which differ only in that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from presscheck.api.change_requests import ChangeRequest, ListOrganizationChangeRequests, Review
from presscheck.config.saved_views import SavedView, same_name
from presscheck.engine.inbox.query_language import ME, asks_of, parse
from presscheck.engine.protocols import StoredReader, StoreWorker
from presscheck.engine.shared_calls import changes_in, comments_on, reviewers_of, reviews_of
from presscheck.errors import InvalidArgument

if TYPE_CHECKING:
    from presscheck.api.comments import Comment
    from presscheck.api.content_changes import SemanticChange


@dataclass(frozen=True)
class View:
    """One tab: a question to the service, for an organization and the signed-in user (both by id)."""

    id: str
    title: str
    listing: Callable[[str, str], ListOrganizationChangeRequests]
    empty: str
    """What to say, and to do first, when there is nothing."""
    hides: bool = False
    """Whether hidden change requests are left out."""
    words: str = ""
    """What one would type to say the same of all that is open."""
    saved: SavedView | None = None
    """What the person keeps of it, where it is a view of their own."""

    @property
    def query(self) -> str:
        """What it shows of its listing, and in which order, as one types it."""
        if self.saved is None:
            return ""
        return f"{self.saved.query} sort:{self.saved.sort}".strip() if self.saved.sort else self.saved.query

    @property
    def is_grouped(self) -> bool:
        """Whether its rows are grouped under headings."""
        return self.saved is not None and self.saved.group == "space"


VIEWS: tuple[View, ...] = (
    View(
        "needs-me",
        "Needs me",
        lambda org, me: ListOrganizationChangeRequests(organization_id=org, status="open", requested_reviewer=me),
        "No change request needs your review.",
        hides=True,
        words="reviewer:me",
    ),
    View(
        "mine",
        "Mine",
        lambda org, me: ListOrganizationChangeRequests(organization_id=org, status="open", creator=me),
        "You have no open change requests. Edit a page in Browse to start one.",
        hides=True,
        words="author:me",
    ),
    View(
        "involved",
        "Involved",
        lambda org, me: ListOrganizationChangeRequests(organization_id=org, status="open", contributor=me),
        "You are not involved in any open change request.",
        hides=True,
        words="involved:me",
    ),
    View(
        "all-open",
        "All open",
        lambda org, _: ListOrganizationChangeRequests(organization_id=org, status="open"),
        "There are no open change requests. Edit a page in Browse to start one.",
    ),
    View(
        "drafts",
        "Drafts",
        lambda org, _: ListOrganizationChangeRequests(organization_id=org, status="draft"),
        "There are no drafts.",
        words="status:draft",
    ),
    View(
        "merged",
        "Merged",
        lambda org, _: ListOrganizationChangeRequests(organization_id=org, status="merged"),
        "No change request was merged yet.",
        words="status:merged",
    ),
)


@dataclass(frozen=True)
class RowDetails:
    """Stored details of a change request; None for what was never fetched."""

    approved: tuple[str, ...] | None = None
    """Names of the reviewers whose newest review approves."""
    refused: tuple[str, ...] | None = None
    """Names of the reviewers whose newest review requests changes."""
    asked: tuple[str, ...] | None = None
    """Names of the requested reviewers without a review."""
    changes: tuple[int, int, int, int] | None = None
    """Pages added, edited, moved, deleted."""
    pages: int | None = None
    """How many pages change."""
    viewed: int = 0
    """How many of them were marked viewed as they are now."""
    latest: Comment | None = None
    collides: bool | None = None
    """Whether it conflicts with main; computed, not stored."""


class RowReader(StoredReader, Protocol):
    """Reads what the store knows of the rows of an inbox."""

    def viewed(self, change_request: str) -> dict[str, str]:
        """The revision at which each page of a change request was marked viewed, by the page's id."""
        ...


def facts(engine: RowReader, request: ChangeRequest, me: str) -> RowDetails:
    """What is known of a row, from the store alone; `me` is the signed-in user's id and reads as “you”."""
    reviews = engine.known(reviews_of(request))
    asked = engine.known(reviewers_of(request))
    changes = engine.known(changes_in(request))
    comments = engine.known(comments_on(request))
    standing = newest(reviews.value.items) if reviews else ()
    answered = {review.reviewer.id for review in standing}
    pages = [change for change in changes.value.changes if change.page] if changes else []
    viewed = engine.viewed(request.id) if pages else {}
    changed = {change.page.id: _new_text(change) or request.revision for change in pages if change.page}
    return RowDetails(
        approved=_names(standing, "approved", me) if reviews else None,
        refused=_names(standing, "changes-requested", me) if reviews else None,
        asked=tuple(
            name_of(one.user.id, one.user.display_name, me)
            for one in asked.value.items
            if one.user and one.user.id not in answered
        )
        if asked
        else None,
        changes=_counts(pages) if changes else None,
        pages=len(changed) if changes else None,
        viewed=sum(viewed.get(page) in (text, request.revision) for page, text in changed.items()),
        latest=max(comments.value.items, key=lambda comment: comment.posted_at, default=None) if comments else None,
    )


def _new_text(change: SemanticChange) -> str | None:
    """The id of the page's new text, by which a mark tells whether it changed since."""
    after = (change.attributes or {}).get("document")
    return after.after if after and isinstance(after.after, str) else None


def _counts(pages: list[SemanticChange]) -> tuple[int, int, int, int]:
    kinds = [change.type for change in pages]
    return (
        kinds.count("page_created"),
        kinds.count("page_edited"),
        kinds.count("page_moved"),
        kinds.count("page_deleted"),
    )


def newest(reviews: tuple[Review, ...]) -> tuple[Review, ...]:
    """The newest valid review of each person."""
    standing: dict[str, Review] = {}
    for review in sorted(reviews, key=lambda one: one.created_at):
        if not review.outdated:
            standing[review.reviewer.id] = review
    return tuple(standing.values())


def name_of(person: str, name: str, me: str) -> str:
    """The first name of a person, or “you”."""
    return "you" if person == me else name.partition(" ")[0] or name


def _names(reviews: tuple[Review, ...], status: str, me: str) -> tuple[str, ...]:
    return tuple(name_of(one.reviewer.id, one.reviewer.display_name, me) for one in reviews if one.status == status)


@dataclass(frozen=True)
class Group:
    """Rows that stand together, as places in their listing; `title` is None where nothing is grouped."""

    title: str | None
    places: tuple[int, ...]


def own_view(saved: SavedView) -> View:
    """The tab of a view that a person keeps."""
    return View(
        saved.name,
        saved.name,
        lambda org, _: ListOrganizationChangeRequests(organization_id=org, status="open"),
        "No change requests match this view. M e edits it.",
        hides=any(value == ME for _, value in asks_of(saved.query)),
        saved=saved,
    )


def all_views(saved: Iterable[SavedView]) -> tuple[View, ...]:
    """The tabs: those that are built in, and the person's own behind them."""
    return (*VIEWS, *(own_view(one) for one in saved))


def judge(view: SavedView) -> tuple[str, str] | None:
    """The field of a view that will not do, and why, as far as the file itself cannot tell."""
    if any(same_name(view.name, name) for one in VIEWS for name in (one.id, one.title)):
        return "name", "is the name of a built-in view"
    try:
        parse(view.query, {}, datetime.now(UTC))
    except InvalidArgument as error:
        return "query", f"is invalid: {error.message}"
    return None


def listing_of(view: View, more: str, organization: str, me: str) -> ListOrganizationChangeRequests:
    """The question behind a view, for an organization and the signed-in user; `more` is typed to narrow it."""
    asks = dict(asks_of(f"{view.query} {more}"))
    known = {field: me if value == ME else value for field, value in asks.items()}
    return view.listing(organization, me).model_copy(update=known)


async def arranged(
    engine: StoreWorker,
    view: View,
    listing: ListOrganizationChangeRequests,
    text: str,
    spaces: Mapping[str, str],
    now: datetime,
) -> tuple[Group, ...]:
    """What a view shows of a listing that is in the store, in the order and below the headings that it wants.

    Raises:
        InvalidArgument: `text` is not understood.
    """
    query, key = parse(text, spaces, now), listing.key()
    found = await engine.in_store(lambda cache: cache.matching(key, query.conditions, query.order))
    if not view.is_grouped:
        return (Group(None, tuple(place for place, _ in found)),)
    groups: dict[str, list[int]] = {}
    for place, space in found:
        groups.setdefault(space, []).append(place)
    titled = [(spaces.get(space, space), places) for space, places in groups.items()]
    return tuple(Group(title, tuple(places)) for title, places in sorted(titled, key=lambda one: one[0].casefold()))
