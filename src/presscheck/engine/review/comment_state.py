"""Whether comments are open, for callers that do not build threads: the inbox and the merge checks."""

from __future__ import annotations

from presscheck.api.comments import Comment

NEW = "waiting:"
"""Prefix of the temporary id of an unsent message; the number of its outbox row follows."""


def is_open_comment(comment: Comment) -> bool:
    """Return whether a comment is sent, not resolved, and more than the text of a review."""
    return comment.status != "resolved" and not comment.id.startswith(NEW) and not is_review_text(comment)


def is_review_text(comment: Comment) -> bool:
    """Return whether a comment is the text of a review.

    A comment on a page that was submitted with a review is a thread of its own.
    """
    return bool(comment.target.review) and comment.target.page is None
