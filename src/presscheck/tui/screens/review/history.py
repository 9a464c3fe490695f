"""The history of a change request, and the comparison with reviewed revisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from typing_extensions import override

from presscheck.api.change_requests import Contributor, GetReview, ListCommenters, ListContributors, SubmitReview
from presscheck.api.operation import ALL
from presscheck.documents.terminal.page_lines import comment_lines
from presscheck.engine.review.merge_forecast import changes_between
from presscheck.engine.review.merge_readiness import person
from presscheck.engine.review.threads import markdown_of_body
from presscheck.errors import NotSupported, PresscheckError
from presscheck.text.phrases import now, since
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, pad
from presscheck.tui.screens.review.event_lines import VERDICT_SIGNS, event_line
from presscheck.tui.screens.revision_lines import change_lines, revision_head
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.ui.ask import choose
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.api.change_requests import Review
    from presscheck.api.organizations import OrganizationMember
    from presscheck.engine.review.revision_history import Step
    from presscheck.engine.review.timeline import Event
    from presscheck.tui.screens.review.session import ReviewSession


class HistoryScreen(TextScreen):
    """The contributors of a change request, then its events, newest first. Enter opens a review.

    Comments are left out: the conversation and the list of threads show them.

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
        self._session, self._model = session, session.model
        self._people: list[Line] = []
        self._contributors: Sequence[Contributor] = ()

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self.run(self._load_people())
        self.draw()

    async def _load_people(self) -> None:
        """Load the contributors and the members who commented, and show them, or an error."""
        path, me = self._model.path, self._model.me
        try:
            contributors = self._contributors = (await self.engine.read(ListContributors(**path))).items
            self._people = [*contributor_lines(contributors, me, now()), ()]
            self.redraw()
            if commenters := await self._commenters():
                self._people += [*commenter_lines(commenters, me, now()), ()]
        except PresscheckError as error:
            self._people.append((Span(" ✗ ", "error"), Span(sanitize(error.message), "error")))
        self.redraw()

    @override
    def draw(self) -> None:
        self._session.loader.load_steps()
        note = self._model.steps_note
        lines: list[Line] = [(), *self._people]
        lines += [(Span(f" {note}", "waiting"),), ()] if note else []
        for event in reversed(self._model.events(())):
            lines += [()] if event.steps and lines[-1] else []
            lines += event_lines(event, now(), self._contributors)
        self.show(lines)
        self.refresh_status_bars()

    @override
    def command_refresh(self) -> None:
        self._session.loader.retry_steps()
        self.run(self._load_people())
        super().command_refresh()

    async def _commenters(self) -> Sequence[OrganizationMember]:
        """Return the members who commented, with their roles; empty if the service cannot list them."""
        try:
            return (await self.engine.read(ListCommenters(**self._model.path, limit=ALL))).items
        except NotSupported:
            return ()

    @property
    def _reviews(self) -> Sequence[Review]:
        """The loaded reviews, newest first."""
        return sorted(self._model.reviews or (), key=lambda review: review.created_at, reverse=True)

    def reason_open(self) -> str | None:
        """Return why no review can be opened: there are no reviews, or they are not loaded yet."""
        if self._model.reviews is None:
            return "the reviews are not loaded yet"
        return None if self._model.reviews else "it has no reviews yet"

    async def command_open(self) -> None:
        """Show a review with its whole text. If there are several, ask which."""
        reviews, me = self._reviews, self._model.me
        chosen = reviews[0].id if reviews else None
        if len(reviews) > 1:
            choices = [
                Choice(review.id, f"{person(review.reviewer, me)}: {sanitize(review.status).replace('-', ' ')}")
                for review in reviews
            ]
            chosen = await choose(self, "Which review", choices)
        if not chosen:
            return
        call = GetReview(**self._model.path, review_id=chosen, format="markdown")
        review = await self.engine.read(call)
        lines = review_details(review, me, now(), max(20, self.size.width - 4))
        self.app_context.push_screen(TextScreen(f"Review by {person(review.reviewer, me)}", lines))


class HistoryActions:
    """The commands that show the history, or the changes since the user's last review.

    The changes since outdated reviews are loaded too, because the list of reviewers shows them.

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
            self._session.open_part(HistoryScreen(self._session))

    def reason_since_review(self) -> str | None:
        """Return why the changes since the user's review cannot be shown: there is no review, or there are no changes.

        While these changes are shown, return None, because the command shows all changes again.
        """
        review, request = self._model.own_review(), self._model.request
        if self._model.since:
            return None
        if request is None or self._model.reviews is None:
            return "the reviews are not loaded yet"
        if review is None:
            is_queued = any(isinstance(entry.call, SubmitReview) for entry in self._model.discussion.pending())
            return "your review is not sent yet" if is_queued else "you have not reviewed it yet"
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
        """Load the changes since each outdated review and since the compared review, unless requested before."""
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
    """Render the contributors: name, edited or commented, and the time of the last change."""
    lines: list[Line] = [(Span(" Contributors", "title"),)]
    for contributor in contributors:
        when = since(contributor.updated_at, now) if contributor.updated_at else ""
        action = {"edit": "edited", "comment": "commented"}.get(contributor.action_type or "", "")
        name = pad((Span(f"   {person(contributor.user, me)}"),), 18)
        lines.append((*name, *pad((Span(sanitize(action)),), 12), Span(when, "quiet")))
    return lines if contributors else [*lines, (Span("   none yet", "quiet"),)]


def commenter_lines(commenters: Sequence[OrganizationMember], me: str, now: datetime) -> list[Line]:
    """Render the members who commented, each with the role and the time of the last visit."""
    lines: list[Line] = [(Span(" Commented", "title"),)]
    for member in commenters:
        seen = f"seen {since(member.last_seen_at, now)}" if member.last_seen_at else ""
        name = pad((Span(f"   {person(member.user, me)}"),), 18)
        lines.append(
            (*name, *pad((Span(f"role {sanitize(member.role or 'guest')}", "quiet"),), 16), Span(seen, "quiet"))
        )
    return lines


def review_details(review: Review, me: str, now: datetime, columns: int) -> list[Line]:
    """Render a review: approval or requested changes, time, requester, whether it still counts, revision and text."""
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


def event_lines(event: Event, now: datetime, contributors: Sequence[Contributor]) -> list[Line]:
    """Render an event in one line. For an edit, render the lines of each of its revisions, newest first."""
    if not event.steps:
        return [(Span(" "), *event_line(event, now, {}))]
    return [line for step in reversed(event.steps) for line in step_lines(step, now, contributors)]


def step_lines(step: Step, now: datetime, contributors: Sequence[Contributor]) -> list[Line]:
    """Render a revision, and a line for each change."""
    lines = [revision_head(step.revision, now, contributors), *change_lines(step.changes.changes)]
    if step.changes.more:
        lines.append((Span(f"   and {step.changes.more} more", "quiet"),))
    if not step.changes.changes:
        lines.append((Span("   no visible changes", "quiet"),))
    return [*lines, ()]
