"""The history of a change request, and the comparison with reviewed revisions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from typing_extensions import override

from presscheck.api.change_requests import Contributor, GetReview, ListCommenters, ListContributors
from presscheck.documents.terminal.page_lines import comment_lines
from presscheck.engine.review.merge_forecast import changes_between
from presscheck.engine.review.merge_readiness import person
from presscheck.engine.review.revision_history import Step, history
from presscheck.engine.review.threads import markdown_of_body
from presscheck.engine.shared_calls import ALL, reviews_of
from presscheck.errors import NotSupported, PresscheckError
from presscheck.text.phrases import now, since
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, pad
from presscheck.tui.screens.review.renderer import VERDICT_SIGNS
from presscheck.tui.screens.revision_lines import change_lines, revision_head
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.ui.ask import choose
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest, Review
    from presscheck.api.organizations import OrganizationMember
    from presscheck.tui.screens.review.session import ReviewSession


class HistoryScreen(TextScreen):
    """The contributors and revisions of a change request; enter opens one of its reviews.

    Args:
        session: the review.
    """

    SCOPE = "review"
    FOOTER = ("open", "down", "half_down", "find_here", "close")
    FOOTER_TITLES: ClassVar[Mapping[str, str]] = {"open": "a review"}

    def __init__(self, session: ReviewSession) -> None:
        request = session.model.request
        title = f"History of #{request.number} {sanitize(request.subject)}" if request else "History"
        super().__init__(title, [(), (Span(" Loading the history …", "waiting"),)])
        self._path, self._me, self._request = session.model.path, session.model.me, request
        self._reviews: Sequence[Review] | None = None

    @override
    def on_mount(self) -> None:
        super().on_mount()
        if self._request:
            self.run(self._load(self._request))

    async def _load(self, request: ChangeRequest) -> None:
        """Show the contributors, then each revision with its changes as it is loaded."""
        lines: list[Line] = []
        try:
            contributors = (await self.engine.read(ListContributors(**self._path))).items
            lines = [(), *contributor_lines(contributors, self._me, now()), ()]
            self.show(lines)
            if commenters := await self._commenters():
                lines = [*lines, *commenter_lines(commenters, self._me, now()), ()]
                self.show(lines)
            reviews = (await self.engine.read(reviews_of(request))).items
            self._reviews = sorted(reviews, key=lambda review: review.created_at, reverse=True)
            self.refresh_status_bars()
            async for step in history(self.engine, request):
                given = [review for review in reviews if review.revision == step.revision.id]
                reviews = tuple(review for review in reviews if review not in given)
                lines = [*lines, *step_lines(step, now(), given, self._me)]
                self.show(lines)
            if reviews:
                heading = (Span(" reviews of the base revision ", "strong"),)
                self.show([*lines, heading, *review_lines(reviews, self._me, now())])
        except PresscheckError as error:
            self.show([*lines, (Span(" ✗ ", "error"), Span(sanitize(error.message), "error"))])

    async def _commenters(self) -> Sequence[OrganizationMember]:
        """Return the members who commented, with their roles; empty if the service cannot list them."""
        try:
            return (await self.engine.read(ListCommenters(**self._path, limit=ALL))).items
        except NotSupported:
            return ()

    def reason_open(self) -> str | None:
        """Return why no review can be opened."""
        if self._reviews is None:
            return "the reviews are not loaded yet"
        return None if self._reviews else "it has no reviews yet"

    async def command_open(self) -> None:
        """Show a review with its whole text. If there are several, ask which."""
        reviews = self._reviews or ()
        chosen = reviews[0].id if reviews else None
        if len(reviews) > 1:
            choices = [
                Choice(review.id, f"{person(review.reviewer, self._me)}: {sanitize(review.status).replace('-', ' ')}")
                for review in reviews
            ]
            chosen = await choose(self, "Which review", choices)
        if not chosen:
            return
        call = GetReview(**self._path, review_id=chosen, format="markdown")
        review = await self.engine.read(call)
        lines = review_details(review, self._me, now(), max(20, self.size.width - 4))
        self.app_context.push_screen(TextScreen(f"Review by {person(review.reviewer, self._me)}", lines))


class HistoryActions:
    """The commands that show the history, and comparisons of the newest revision with reviewed revisions.

    Reviewed revisions are the revision of the user's last review, and the revisions of outdated reviews.

    Args:
        session: the review.
    """

    def __init__(self, session: ReviewSession) -> None:
        self._session, self._model, self._screen = session, session.model, session.screen
        self._requested: set[tuple[str, str]] = set()
        self.has_failed = False
        """Whether the last comparison failed and has to be repeated."""

    def command_history(self) -> None:
        """Show the history screen."""
        if self._model.request:
            self._screen.app_context.push_screen(HistoryScreen(self._session))

    def reason_since_review(self) -> str | None:
        """Return why the changes since the user's review cannot be shown."""
        review, request = self._model.own_review(), self._model.request
        if self._model.since:
            return None
        if request is None or self._model.reviews is None:
            return "the reviews are not loaded yet"
        if review is None:
            return "you have not reviewed it yet"
        if review.revision == request.revision:
            return f"no changes since your review, {since(review.created_at, now())}"
        return None

    async def command_since_review(self) -> None:
        """Show the changes since the user's last review, or all changes again."""
        review = None if self._model.since else self._model.own_review()
        if review:
            await self._compare(review.revision)
        self._model.compare_since(review)
        self._session.go_to_first()
        self._screen.notify("changes since your review" if review else "all changes")

    def update(self) -> None:
        """Compare with the revisions of outdated reviews, unless they were compared before."""
        request, self.has_failed = self._model.request, False
        if request is None:
            return
        revisions = {reviewer.revision for reviewer in self._model.reviewers() or () if reviewer.stale}
        if self._model.since:
            revisions.add(self._model.since.revision)
        for pair in {(revision, request.revision) for revision in revisions} - self._requested:
            self._requested.add(pair)
            self._screen.run(self._update(*pair))

    async def _update(self, before: str, after: str) -> None:
        try:
            await self._compare(before)
        except PresscheckError:
            self._requested.discard((before, after))
            self.has_failed = True
            return
        self._screen.redraw()

    async def _compare(self, revision: str) -> None:
        request = self._model.request
        if request and self._model.changes_since(revision) is None:
            changes = await changes_between(self._screen.engine, request.space, revision, request.revision)
            self._model.set_comparison(revision, request.revision, changes)


def contributor_lines(contributors: Sequence[Contributor], me: str, now: datetime) -> list[Line]:
    """Render who edited or commented, with the time of their last change."""
    lines: list[Line] = [(Span(" Contributors", "title"),)]
    for contributor in contributors:
        when = since(contributor.updated_at, now) if contributor.updated_at else ""
        action = {"edit": "edited", "comment": "commented"}.get(contributor.action_type or "", "")
        name = pad((Span(f"   {person(contributor.user, me)}"),), 18)
        lines.append((*name, *pad((Span(sanitize(action)),), 12), Span(when, "quiet")))
    return lines if contributors else [*lines, (Span("   none yet", "quiet"),)]


def commenter_lines(commenters: Sequence[OrganizationMember], me: str, now: datetime) -> list[Line]:
    """Render who commented, with role and time of the last visit."""
    lines: list[Line] = [(Span(" Commented", "title"),)]
    for member in commenters:
        seen = f"seen {since(member.last_seen_at, now)}" if member.last_seen_at else ""
        name = pad((Span(f"   {person(member.user, me)}"),), 18)
        lines.append(
            (*name, *pad((Span(f"role {sanitize(member.role or 'guest')}", "quiet"),), 16), Span(seen, "quiet"))
        )
    return lines


def review_details(review: Review, me: str, now: datetime, columns: int) -> list[Line]:
    """Render a review: status, time, requester, state, revision and text."""
    sign, style = VERDICT_SIGNS.get(review.status, ("·", "quiet"))
    state = "replaced by a newer review" if review.outdated else "counts"
    facts = [
        ("made", since(review.created_at, now) if review.created_at else ""),
        ("requested by", person(review.requested_by, me) if review.requested_by else ""),
        ("state", state),
        ("revision", sanitize(review.revision)),
    ]
    lines: list[Line] = [(), (Span(f"  {sign} {sanitize(review.status).replace('-', ' ')}", style),), ()]
    lines += [(*pad((Span(f"  {name}", "quiet"),), 18), Span(value)) for name, value in facts if value]
    text = markdown_of_body(review.comment.body).strip() if review.comment else ""
    lines.append(())
    lines += [(Span("  "), *line) for line in comment_lines(text, columns)] if text else []
    return lines if text else [*lines, (Span("  without a text", "quiet"),)]


def review_lines(reviews: Iterable[Review], me: str, now: datetime) -> list[Line]:
    """Render who approved or requested changes and when, newest first."""
    lines: list[Line] = []
    for review in sorted(reviews, key=lambda review: review.created_at, reverse=True):
        sign, style = VERDICT_SIGNS.get(review.status, ("·", "quiet"))
        words = {"changes-requested": "requested changes in", "approved": "approved"}.get(review.status, "reviewed")
        text = markdown_of_body(review.comment.body) if review.comment else ""
        said = sanitize(" ".join(text.split()))
        lines.append(
            (
                Span(f"   {sign} ", style),
                Span(person(review.reviewer, me), "strong"),
                Span(f" {words} this revision", style),
                Span(f" {since(review.created_at, now)}", "quiet"),
                Span(f"  {said}" if said else ""),
            )
        )
    return lines


def step_lines(step: Step, now: datetime, reviews: Iterable[Review] = (), me: str = "") -> list[Line]:
    """Render a revision, its reviews, and a line for each change."""
    revision = step.revision
    head = revision_head(revision, now)
    more = step.changes.more
    given = review_lines(reviews, me, now)
    lines = [head, *given, *change_lines(step.changes.changes)]
    if more:
        lines.append((Span(f"   and {more} more", "quiet"),))
    if not step.changes.changes:
        lines.append((Span("   no visible changes", "quiet"),))
    return [*lines, ()]
