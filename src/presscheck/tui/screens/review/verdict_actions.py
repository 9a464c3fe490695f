"""Review commands: start a review, approve, request changes, or submit comments only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from presscheck.api.change_requests import REVIEWS, ReviewStatus, SubmitReview
from presscheck.api.comments import Document, PostComment
from presscheck.engine.drafts import REVIEW_DRAFT
from presscheck.engine.review.merge_readiness import review_reason
from presscheck.text.phrases import count
from presscheck.text.styled_text import Line, Span, join_fitting
from presscheck.tui.commands import key_for
from presscheck.tui.screens.review.drafts import VERDICT_TEXTS
from presscheck.tui.screens.review.submit_sheet import Submission, submit_held, with_comments

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.engine.review.changes import ChangedItem
    from presscheck.tui.screens.review.request_session import RequestSession

NOT_LOADED = "the changes are not loaded"


class VerdictActions:
    """The commands that start and submit a review.

    Args:
        session: the change request.
    """

    def __init__(self, session: RequestSession) -> None:
        self._model, self._screen, self._drafts = session.model, session.screen, session.drafts

    def reason_approve(self) -> str | None:
        """Return why the change request cannot be reviewed: it is closed, or the user may not review or write now."""
        request = self._model.request
        return (review_reason(request, self._model.space) if request else None) or self._drafts.disabled_reason()

    reason_request_changes = reason_approve
    reason_begin_review = reason_approve

    async def command_approve(self) -> None:
        """Approve with an optional text, and submit the held comments.

        If the service has no reviews, write a comment instead.
        """
        heading = "Approve your own change request (does not count)" if self._is_own else "Approve"
        title, name, call, initial = self._verdict("approved", heading)
        has_reviews = self._has_reviews

        def compose() -> None:
            self._drafts.compose_review(title, name, call, initial, may_be_empty=has_reviews)

        if has_reviews and self._held:
            submission = Submission(with_comments(heading), "approve", False, self._notes, compose)
            await submit_held(self._drafts, name, call, submission, initial)
        elif has_reviews:
            await self._drafts.prompt(title, name, call, "approve", notes=self._notes, expand=compose)
        else:
            compose()

    async def command_request_changes(self) -> None:
        """Request changes with a text, which is optional if comments are held, and submit the held comments.

        If the service has no reviews, write a comment instead.
        """
        title, name, call, initial = self._verdict("changes-requested", "Request changes")
        progress = self._model.progress()
        title += f"; ⚠ {progress.missing}" if progress and progress.missing else ""
        may_be_empty = self._has_reviews and self._held > 0

        def compose() -> None:
            self._drafts.compose_review(title, name, call, initial, may_be_empty=may_be_empty)

        if may_be_empty:
            submission = Submission(with_comments("Request changes"), "request changes", True, self._notes, compose)
            await submit_held(self._drafts, name, call, submission, initial)
        else:
            compose()

    def command_begin_review(self) -> None:
        """Start a review, which holds comments until the user submits it.

        If a review is started but holds no comment, end it. If it holds comments, only show how to submit it.
        """
        number, review = self._held, self._drafts.review
        if number:
            notice = (
                f"{count(number, 'comment')} in your review: {key_for('approve')}, {key_for('request_changes')} "
                f"or {key_for('comment_only')} submits it, {key_for('unsend')} undoes the last one"
            )
        elif review.is_started:
            review.end()
            notice = "review ended: comments are sent at once"
        else:
            review.start()
            notice = (
                f"review started: comments are held until {key_for('approve')}, {key_for('request_changes')} "
                f"or {key_for('comment_only')} submits it"
            )
        self._screen.redraw()
        self._screen.notify(notice)

    async def command_comment_only(self) -> None:
        """Submit the held comments without approving or requesting changes.

        If no comment is held, write a comment on the change request.
        """

        def call(text: str) -> Operation[Any] | None:
            return PostComment(**self._model.path, body=Document(markdown=text)) if text.strip() else None

        def title(number: int) -> str:
            submit = f"Submit your review with {count(number, 'comment')} (comment optional)"
            return submit if number else "Comment on the change request"

        def compose() -> None:
            self._drafts.compose_review(title(number), "whole", call, may_be_empty=number > 0)

        number = self._held
        if number:
            submission = Submission(title, "submit", True, lambda _: (), compose)
            await submit_held(self._drafts, "whole", call, submission)
        else:
            compose()

    def warnings(self) -> list[str]:
        """Return short warnings: why an approval would fail or not count, and that changes are not viewed or loaded."""
        if reason := self.reason_approve():
            return [reason]
        progress, unviewed = self._model.whole_progress(), self._model.unviewed()
        warnings = ["yours: does not count"] if self._is_own else []
        if progress is None:
            warnings.append(NOT_LOADED)
        elif progress.missing:
            warnings.append(progress.missing)
        return [*warnings, *([_unviewed_words(unviewed)] if unviewed else [])]

    @property
    def _is_own(self) -> bool:
        author = self._model.request.created_by if self._model.request else None
        return author is not None and author.id == self._model.me

    @property
    def _held(self) -> int:
        """The number of comments in the pending review."""
        return len(self._drafts.review.entries())

    @property
    def _has_reviews(self) -> bool:
        return not self._screen.engine.lacks(REVIEWS)

    def _verdict(self, status: ReviewStatus, title: str) -> tuple[str, str, Callable[[str], Operation[Any]], str]:
        """Return the parts of a review with this status for the composer.

        Returns:
            The title of the composer, the name of the draft, a function that creates the write from a text, and the
            initial text.
        """
        has_reviews = self._has_reviews

        def call(text: str) -> Operation[Any]:
            if not has_reviews:
                return PostComment(**self._model.path, body=Document(markdown=text))
            given: dict[str, Any] = {"comment": Document(markdown=text)} if text.strip() else {}
            return SubmitReview(**self._model.path, status=status, **given)

        title = title if has_reviews else "This service has no reviews: post a comment instead"
        return (
            with_comments(title)(self._held),
            f"{REVIEW_DRAFT} {status}",
            call,
            "" if has_reviews else VERDICT_TEXTS[status],
        )

    def _notes(self, columns: int) -> list[Line]:
        """Render warnings about changes that are not loaded, and about unviewed pages by name."""
        notes: list[str] = []
        progress, unviewed = self._model.whole_progress(), self._model.unviewed()
        if progress is None:
            notes.append(f"⚠ {NOT_LOADED}")
        elif progress.missing:
            notes.append(f"⚠ {progress.missing}")
        if unviewed:
            start = f"⚠ {_unviewed_words(unviewed)}: "
            notes.append(start + join_fitting([item.title for item in unviewed], columns - len(start)))
        return [(Span(note, "waiting"),) for note in notes]


def _unviewed_words(items: Sequence[ChangedItem]) -> str:
    noun = "page" if all(item.noun == "page" for item in items) else "change"
    return f"{count(len(items), noun)} not viewed"
