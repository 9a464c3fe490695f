"""Review commands: start a review, approve, request changes, or submit comments only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from presscheck.api.change_requests import REVIEWS, ReviewStatus, SubmitReview
from presscheck.api.comments import Document, PostComment
from presscheck.text.phrases import count
from presscheck.tui.screens.review.drafts import REVIEW_DRAFT, VERDICT_TEXTS

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.engine.review.model import ReviewModel
    from presscheck.tui.screens.review.context import ReviewContext
    from presscheck.tui.screens.review.drafts import ReviewDrafts


class VerdictActions:
    """Handles the commands that start and submit a review.

    Args:
        model: the change request.
        context: the screen.
        drafts: composes and sends.
    """

    def __init__(self, model: ReviewModel, context: ReviewContext, drafts: ReviewDrafts) -> None:
        self._model, self._context, self._drafts = model, context, drafts

    def reason_approve(self) -> str | None:
        """Why it cannot be reviewed."""
        closed, space = self._model.closed_reason(), self._model.space
        if closed:
            return f"{closed}: it needs no review"
        if space and not space.permissions.review:
            return "you do not have permission to review in this space"
        return self._drafts.disabled_reason()

    reason_request_changes = reason_approve
    reason_begin_review = reason_approve

    def command_approve(self) -> None:
        """Approve, with or without a comment."""
        self._submit("approved", "Approve (comment optional)", may_be_empty=True)

    def command_request_changes(self) -> None:
        """Request changes, with a comment or with comments that were held."""
        held = len(self._model.discussion.collected())
        self._submit("changes-requested", "Request changes: say which", may_be_empty=held > 0)

    def command_begin_review(self) -> None:
        """Start a review: hold comments until it is submitted; again, end it if it has no comments."""
        number, drafts = len(self._model.discussion.collected()), self._drafts
        if drafts.collects and number:
            notice = f"{count(number, 'comment')} in your review: v a, v r or v c submits it, z undoes the last one"
        else:
            drafts.collect(starts=not drafts.collects)
            held = "review started: comments are held until you submit it with v a, v r or v c"
            notice = held if drafts.collects else "review ended: comments are sent at once"
        self._context.notify(notice)

    def command_comment_only(self) -> None:
        """Submit the review with comments only."""

        def call(text: str) -> Operation[Any] | None:
            return PostComment(**self._model.path, body=Document(markdown=text)) if text.strip() else None

        number = len(self._model.discussion.collected())
        submit = f"Submit your review with {count(number, 'comment')} (comment optional)"
        title = submit if number else "Comment on the change request"
        self._drafts.compose(title, "whole", call, may_be_empty=number > 0, submits=True)

    def _submit(self, status: ReviewStatus, title: str, *, may_be_empty: bool) -> None:
        has_reviews = not self._context.engine.lacks(REVIEWS)

        def call(text: str) -> Operation[Any]:
            if not has_reviews:
                return PostComment(**self._model.path, body=Document(markdown=text))
            given: dict[str, Any] = {"comment": Document(markdown=text)} if text.strip() else {}
            return SubmitReview(**self._model.path, status=status, **given)

        number, progress = len(self._model.discussion.collected()), self._model.progress()
        title = title if has_reviews else "This service has no reviews: post a comment instead"
        title = f"{title}, with {count(number, 'comment')}" if number else title
        title += f"; ⚠ {progress.missing}" if progress and progress.missing else ""
        initial = "" if has_reviews else VERDICT_TEXTS[status]
        self._drafts.compose(
            title,
            f"{REVIEW_DRAFT} {status}",
            call,
            initial=initial,
            may_be_empty=has_reviews and may_be_empty,
            submits=True,
        )
