"""The review model: the data of one change request, from the cache first and from the service later.

Its calls equal the calls of the inbox, so that both share the cached responses. It does not render anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from presscheck.api.change_requests import ChangeRequest, GetChangeRequest, ListRequestedReviewers, ListReviews
from presscheck.api.comments import ListComments, ListReplies
from presscheck.api.content import ListChangeRequestPages
from presscheck.api.content_changes import GetChangeRequestChanges
from presscheck.api.operation import ALL
from presscheck.api.organizations import GetOrganization
from presscheck.api.spaces import GetSpace
from presscheck.engine.review.changes import ChangedItem, changed_items, in_reading_order, is_viewed
from presscheck.engine.review.merge_readiness import (
    LOCK,
    MergeInputs,
    MergeReadiness,
    Reviewer,
    checks,
    closed_reason,
    merge_readiness,
    newest_review_by,
    reviewers,
)
from presscheck.engine.review.threads import STATES, Discussion, PendingWrites, Thread, ThreadState, locate_thread
from presscheck.engine.review.timeline import Event, timeline
from presscheck.engine.shared_calls import changes_in, comments_on, reviewers_of, reviews_of

if TYPE_CHECKING:
    from presscheck.api.change_requests import Contributor, RequestedReviewer, Review
    from presscheck.api.content import RevisionPage
    from presscheck.api.content_changes import SemanticChanges
    from presscheck.api.operation import Operation
    from presscheck.api.organizations import Organization
    from presscheck.api.roles import MergeRules
    from presscheck.api.sites import Site
    from presscheck.api.spaces import Space
    from presscheck.api.users import User
    from presscheck.engine.review.merge_forecast import Forecast
    from presscheck.engine.review.revision_history import Step
    from presscheck.store.outbox import Outbox

HIDDEN = "threads not shown"
"""The key under which the hidden thread states are stored."""


class ReviewStore(PendingWrites, Protocol):
    """The parts of the engine that a review model needs: the outbox, the user, and the pages marked as viewed."""

    def viewed(self, change_request: str) -> dict[str, str]:
        """Return the version in which each page was viewed, by page id."""
        ...

    def mark_viewed(self, change_request: str, page: str, revision: str | None) -> None:
        """Mark a page as viewed in a version; None removes the mark."""
        ...


@dataclass(frozen=True)
class Progress:
    """The numbers of loaded changes, of all changes and of viewed items."""

    known: int
    total: int
    viewed: int

    @property
    def missing(self) -> str:
        """A note such as `only 12 of 37 changes are loaded`; empty if all are loaded."""
        return f"only {self.known:,} of {self.total:,} changes are loaded" if self.known < self.total else ""


class ReviewModel:
    """A change request: the responses of the service, and the data derived from them.

    Args:
        store: the local state.
        space_id: the id of the space.
        request_id: the id of the change request, or its number in the space.
        notifications: called with the ids of the change request and of a thread (empty for the whole change request);
            returns `muted`, `followed` or an empty text.
    """

    def __init__(
        self,
        store: ReviewStore,
        space_id: str,
        request_id: str,
        notifications: Callable[[str, str], str] = lambda _, __: "",
    ) -> None:
        self._store, self.space_id, self._request_id = store, space_id, request_id
        self._notifications = notifications
        self.discussion = Discussion(store, space_id, request_id, notifications)
        self.request: ChangeRequest | None = None
        self.space: Space | None = None
        self.organization: Organization | None = None
        self.live_sites: Sequence[Site] = ()
        """The published sites that show the space; empty until a merge sheet has loaded them."""
        self.changes: SemanticChanges | None = None
        self.changes_note = ""
        """A note on the source of the changes, for a service that does not list them; untrusted text."""
        self.tree: Sequence[RevisionPage] = ()
        self.reviews: Sequence[Review] | None = None
        self.requested: Sequence[RequestedReviewer] | None = None
        self.contributors: Sequence[Contributor] = ()
        """The people who edited it or commented; empty until the revisions are loaded."""
        self.steps: tuple[Step, ...] = ()
        """The loaded revisions, oldest first."""
        self.steps_note = ""
        """Why revisions are missing, as display text; empty if all are loaded."""
        self.items: tuple[ChangedItem, ...] = ()
        """The displayed items: all changed items, or the items changed since a review."""
        self.all_items: tuple[ChangedItem, ...] = ()
        """The items of the whole change request."""
        self.viewed: dict[str, str] = {}
        self.since: Review | None = None
        """The user's review with which the newest revision is compared; None shows all changes."""
        self.comparisons: dict[tuple[str, str], SemanticChanges] = {}
        """The changes between two revisions."""
        self.forecast: Forecast | None = None
        """The forecast of a merge; None until it is computed."""
        self.texts_with_conflicts: dict[str, bool] = {}
        """Whether the loaded text of a page has unresolved conflicts, by page id."""
        self._calls: tuple[Operation[Any], ...] = ()
        self._calls_depend_on: tuple[str, int, str | None] | None = None
        self._setters: dict[type[Operation[Any]], Callable[[Any, Any], None]] = {
            GetChangeRequestChanges: self._set_changes,
            ListChangeRequestPages: self._set_tree,
            ListReviews: self._set_reviews,
            ListRequestedReviewers: self._set_requested,
            ListComments: self._set_comments,
            ListReplies: self._set_replies,
            GetSpace: self._set_space,
            GetOrganization: self._set_organization,
        }

    @property
    def me(self) -> str:
        """The id of the signed-in user."""
        return self.discussion.me

    @property
    def path(self) -> dict[str, Any]:
        """The path parameters of all calls about this change request."""
        return {"space_id": self.space_id, "change_request_id": self.request.id if self.request else self._request_id}

    @property
    def notifications(self) -> str:
        """`muted` or `followed`, as set for the change request or its space; empty if neither is set."""
        return self._notifications(self.request.id, "") if self.request else ""

    def first_call(self) -> GetChangeRequest:
        """Return the call for the change request, whose response all other calls need."""
        return GetChangeRequest(space_id=self.space_id, change_request_id=self._request_id)

    def calls(self) -> tuple[Operation[Any], ...]:
        """Return the calls other than `first_call`, most important first; none before the change request is loaded.

        Returns the same tuple object until one of the calls changes.
        """
        if self.request is None:
            return ()
        limit = ALL
        if self.changes and self.changes.more:
            limit = len(self.changes.changes) + self.changes.more + ALL
        organization = self.space.organization if self.space else None
        depends_on = (self.request.id, limit, organization)
        if depends_on != self._calls_depend_on:
            self._calls_depend_on = depends_on
            self._calls = (
                changes_in(self.request, limit),
                reviews_of(self.request),
                reviewers_of(self.request),
                comments_on(self.request),
                ListChangeRequestPages(**self.path),
                GetSpace(space_id=self.space_id),
                *([GetOrganization(organization_id=organization)] if organization else ()),
            )
        return self._calls

    def set_request(self, request: ChangeRequest | None) -> None:
        """Set the change request, and load which pages were viewed. Does nothing if `request` is None."""
        if request:
            self.request = request
            self.discussion.set_request(request.id)
            self.viewed = self._store.viewed(request.id)

    def take(self, call: Operation[Any], answer: Any) -> None:
        """Store the response of a call in the model. Does nothing if `answer` is None."""
        if answer is not None:
            self._setters[type(call)](call, answer)

    def _set_changes(self, call: Any, answer: SemanticChanges) -> None:
        if self.changes and call.limit == ALL and len(self.changes.changes) > len(answer.changes) and answer.more:
            return  # the truncated response of the first call, which arrived after the complete one
        self.changes, self.changes_note = answer, answer.note
        self._sort_items()

    def _set_tree(self, _: Any, answer: Any) -> None:
        self.tree = answer.pages
        self._sort_items()

    def _set_reviews(self, _: Any, answer: Any) -> None:
        self.reviews = answer.items
        self.discussion.set_reviews(answer.items)

    def _set_requested(self, _: Any, answer: Any) -> None:
        self.requested = answer.items

    def _set_comments(self, call: ListComments, answer: Any) -> None:
        self.discussion.set_comments(call.page, answer.items)

    def _set_replies(self, call: ListReplies, answer: Any) -> None:
        self.discussion.set_replies(call.comment_id, answer.items)

    def _set_space(self, _: Any, answer: Space) -> None:
        self.space = answer

    def _set_organization(self, _: Any, answer: Organization) -> None:
        self.organization = answer

    def events(self, threads: Iterable[Thread]) -> list[Event]:
        """Return the loaded events, oldest first, with the given threads; none before the change request is loaded."""
        if self.request is None:
            return []
        return timeline(
            self.request,
            self.me,
            steps=self.steps,
            contributors=self.contributors,
            reviews=self.reviews or (),
            requested=self.requested or (),
            threads=threads,
        )

    def own_review(self) -> Review | None:
        """Return the user's newest review that names a revision, or None."""
        return newest_review_by(self.reviews or (), self.me)

    def compare_since(self, review: Review | None) -> None:
        """Show the changes since a review; None shows all changes."""
        self.since = review
        self._sort_items()

    def set_comparison(self, before: str, after: str, changes: SemanticChanges) -> None:
        """Store the changes between two revisions, given by id."""
        self.comparisons[before, after] = changes
        self._sort_items()

    def changes_since(self, revision: str) -> SemanticChanges | None:
        """Return the changes between a revision and the newest revision, or None if they are not loaded."""
        return self.comparisons.get((revision, self.request.revision)) if self.request else None

    @property
    def base(self) -> str | None:
        """The id of the revision with which the newest revision is compared; None before the request is loaded."""
        if self.since:
            return self.since.revision
        return (self.request.revision_merged_ancestor or self.request.revision_initial) if self.request else None

    @property
    def shown_changes(self) -> SemanticChanges | None:
        """The displayed changes: all changes, or the changes since a review; None until they are loaded."""
        return self.changes_since(self.since.revision) if self.since else self.changes

    def _sort_items(self) -> None:
        self.all_items = self._sorted(self.changes, self.all_items)
        self.items = self._sorted(self.shown_changes, self.items) if self.since else self.all_items

    def _sorted(self, changes: SemanticChanges | None, known: tuple[ChangedItem, ...]) -> tuple[ChangedItem, ...]:
        """Return the items of these changes in reading order, or the `known` items while the changes are not loaded."""
        items = changed_items(changes.changes) if changes else known
        return in_reading_order(items, self.tree) if self.tree else items

    @property
    def unresolved(self) -> dict[str, str]:
        """The titles of pages with unresolved conflicts, by page id; a loaded text overrides the forecast."""
        known = self.texts_with_conflicts
        found = {item.id: item.title for item in self.items if known.get(item.id)}
        forecast = self.forecast.unresolved if self.forecast else ()
        return found | {page.id: page.title for page in forecast if known.get(page.id, True)}

    def is_viewed(self, item: ChangedItem) -> bool:
        """Return whether the current version of an item was viewed."""
        return self.request is not None and is_viewed(item, self.viewed, self.request.revision)

    def mark_viewed(self, item: ChangedItem, *, viewed: bool) -> None:
        """Mark an item as viewed, or remove the mark."""
        if self.request:
            version = item.text or self.request.revision
            self._store.mark_viewed(self.request.id, item.id, version if viewed else None)
            self.viewed = self._store.viewed(self.request.id)

    def reviewers(self) -> tuple[Reviewer, ...] | None:
        """Return requested reviewers and everyone who reviewed. None if neither requests nor reviews are loaded."""
        if self.request is None or (self.reviews is None and self.requested is None):
            return None
        return reviewers(self.request, self.requested or (), self.reviews or (), self.me)

    def people(self) -> Iterator[User | None]:
        """Yield the loaded participants: the author, requested reviewers, reviewers and commenters.

        None stands for a missing user, and users can repeat.
        """
        yield self.request.created_by if self.request else None
        yield from (requested.user for requested in self.requested or ())
        yield from (review.reviewer for review in self.reviews or ())
        yield from self.discussion.people()

    def progress(self) -> Progress | None:
        """Return the progress on the displayed changes, or None if they are not loaded."""
        return self._progress(self.shown_changes, self.items)

    def whole_progress(self) -> Progress | None:
        """Return the progress on the whole change request, even while only the changes since a review are displayed.

        Returns None if the changes are not loaded.
        """
        return self._progress(self.changes, self.all_items)

    def unviewed(self) -> tuple[ChangedItem, ...]:
        """Return all changed items whose current version was not viewed."""
        return tuple(item for item in self.all_items if not self.is_viewed(item))

    def _progress(self, changes: SemanticChanges | None, items: Sequence[ChangedItem]) -> Progress | None:
        if changes is None:
            return None
        known = len(changes.changes)
        return Progress(known, known + (changes.more or 0), sum(map(self.is_viewed, items)))

    def open_threads(self) -> int:
        """Return the number of open comments, as counted by the service until comments are loaded."""
        if self.discussion.is_known:
            return self.discussion.open_comments()
        return self.request.comments if self.request else 0

    def rules(self) -> MergeRules | None:
        """Return the merge rules in force, or None if they are not loaded."""
        rules = self.space.merge_rules if self.space else None
        if rules and rules.type == "inherit":
            return self.organization.merge_rules if self.organization else None
        return rules

    def closed_reason(self) -> str | None:
        """Return why the change request cannot be changed: it is merged or archived. None if it can be changed."""
        return closed_reason(self.request) if self.request else None

    def readiness(self) -> MergeReadiness:
        """Return whether the change request can be merged, with the reasons; `unknown` before it is loaded."""
        inputs = self.merge_inputs()
        return merge_readiness(inputs) if inputs else MergeReadiness("unknown")

    def merge_reason(self) -> str | None:
        """Return the first merge requirement that is not met, or None if the service may accept a merge.

        A lock is left out, because users who administer the space can unlock it when they merge.
        """
        inputs = self.merge_inputs()
        results = checks(inputs) if inputs else ()
        return next((check.message for check in results if check.certainty == "no" and check.subject != LOCK), None)

    def update_reason(self) -> str | None:
        """Return why there is nothing to update from main: the change request is closed or up to date, or None."""
        is_current = self.request is not None and not self.request.outdated
        return self.closed_reason() or ("it is up to date with main" if is_current else None)

    def merge_inputs(self) -> MergeInputs | None:
        """Return the inputs of the merge checks, or None before the change request is loaded."""
        if self.request is None:
            return None
        conflicts = None if self.forecast is None else tuple(conflict.title for conflict in self.forecast.conflicts)
        return MergeInputs(
            self.request,
            self.me,
            self.reviewers(),
            self.space,
            self.rules(),
            self.open_threads(),
            conflicts,
            tuple(self.unresolved.values()),
        )


class LoadedText(Protocol):
    """The parts of a changed page's text that threads need."""

    @property
    def difference(self) -> object | None:
        """The difference between both texts; None until it is loaded."""
        ...

    @property
    def before(self) -> str:
        """The old text."""
        ...

    @property
    def after(self) -> str:
        """The new text."""
        ...


class PageTexts(Protocol):
    """The texts of pages."""

    def loaded(self, item: ChangedItem) -> LoadedText:
        """Return the loaded parts of an item's text."""
        ...

    def document(self, item: ChangedItem) -> Mapping[str, Any] | None:
        """Return the nodes of a page, or None until they are loaded."""
        ...


class ThreadFilter:
    """The threads of each item with their lines.

    They are computed again only after a change of the threads, the items or a text.

    Args:
        model: the change request.
        texts: the texts of its pages.
        settings: remembers the hidden states.
    """

    def __init__(self, model: ReviewModel, texts: PageTexts, settings: Outbox) -> None:
        self._model, self._texts, self._settings = model, texts, settings
        self._visible: Set[ThreadState] | None = None
        self._grouped: dict[str | None, list[Thread]] = {}
        self._group_inputs: tuple[object, object, object] = (None, None, None)
        self._located: dict[str, tuple[tuple[object, ...], list[Thread]]] = {}

    @property
    def visible(self) -> Set[ThreadState]:
        """The states whose threads are shown."""
        if self._visible is None:
            hidden = (self._settings.recall(HIDDEN) or "").split()
            self._visible = {state for state in STATES if state not in hidden}
        return self._visible

    def reload(self) -> None:
        """Read the visible states again, because another review may have changed them."""
        self._visible = None

    def set_visible(self, state: ThreadState, *, visible: bool) -> None:
        """Show or hide the threads in a state, in all reviews."""
        others: set[ThreadState] = {other for other in self.visible if other != state}
        states: set[ThreadState] = {*others, state} if visible else others
        hidden = " ".join(state for state in STATES if state not in states)
        self._settings.remember(HIDDEN, hidden or None)
        self._visible = states

    def threads_on(self, item: ChangedItem | None) -> list[Thread]:
        """Return the threads on an item. None stands for the conversation: threads that are not on a changed page."""
        return self._locate(item, self._groups().get(_page_id(item), []))

    def visible_on(self, item: ChangedItem | None) -> list[Thread]:
        """Return the threads on an item, without threads in hidden states."""
        return [thread for thread in self.threads_on(item) if thread.state in self.visible]

    def all_threads(self) -> list[tuple[ChangedItem | None, Thread]]:
        """Return all threads with their items in reading order, including items that did not change since a review.

        The threads of the conversation come first and have no item.
        """
        return [(item, thread) for item in (None, *self._changed_items()) for thread in self.threads_on(item)]

    def all_visible(self) -> list[Thread]:
        """Return all threads, without threads in hidden states."""
        return [thread for _, thread in self.all_threads() if thread.state in self.visible]

    def rows_with_threads(self) -> list[int]:
        """Return the indexes of rows with visible threads. Row 0 is the conversation; the items follow."""
        items = enumerate((None, *self._model.items))
        return [row for row, item in items if self.visible_on(item)]

    def is_listed(self, thread: Thread) -> bool:
        """Return whether a thread's page is in the list of items, or the thread belongs to the conversation."""
        listed = {_page_id(item) for item in self._model.items}
        return thread.page in listed or thread.page not in {_page_id(item) for item in self._changed_items()}

    def open_count(self, item: ChangedItem | None) -> int:
        """Return the number of open comments on an item."""
        return sum(thread.is_open for thread in self._groups().get(_page_id(item), ()))

    def _changed_items(self) -> list[ChangedItem]:
        """Return all changed items; items in the displayed list replace their entries for the whole change request."""
        items = {(item.noun, item.id): item for item in self._model.all_items}
        return [*(items | {(item.noun, item.id): item for item in self._model.items}).values()]

    def has_new(self, item: ChangedItem | None) -> bool:
        """Return whether a thread on an item has new messages."""
        return any(thread.has_new for thread in self._groups().get(_page_id(item), ()))

    def _groups(self) -> Mapping[str | None, Sequence[Thread]]:
        """Group threads by page id; threads that are not on a changed page have the key None."""
        inputs = (self._model.discussion.threads(), self._model.items, self._model.all_items)
        if any(new is not old for new, old in zip(inputs, self._group_inputs, strict=True)):
            self._group_inputs, self._grouped = inputs, {}
            pages = {_page_id(item) for item in self._changed_items()}
            for thread in self._model.discussion.threads():
                self._grouped.setdefault(thread.page if thread.page in pages else None, []).append(thread)
        return self._grouped

    def _locate(self, item: ChangedItem | None, threads: Sequence[Thread]) -> list[Thread]:
        if item is None or not threads:
            return list(threads)
        page = self._texts.loaded(item)
        if not page.difference:
            return list(threads)
        document = self._texts.document(item) if any(thread.needs_nodes for thread in threads) else None
        inputs = (threads, page, document)
        known = self._located.get(item.id)
        if known is None or any(new is not old for new, old in zip(inputs, known[0], strict=True)):
            known = (inputs, [locate_thread(thread, page.after, document, page.before) for thread in threads])
            self._located[item.id] = known
        return known[1]


def _page_id(item: ChangedItem | None) -> str | None:
    """Return the id of a page, None for the conversation, or an empty text for other items, which have no threads."""
    return None if item is None else item.id if item.noun == "page" else ""
