"""When a comment counts as open, for the inbox and the checks of a merge, which draw no threads."""

from __future__ import annotations

from presscheck.api.comments import Comment

NEW = "waiting:"
"""Prefix of the id of a message that is only in the outbox; the number of its outbox row follows."""


def is_open_comment(comment: Comment) -> bool:
    """Whether a comment is sent, not resolved, and more than the text of a review."""
    return comment.status != "resolved" and not comment.id.startswith(NEW) and not is_review_text(comment)


def is_review_text(comment: Comment) -> bool:
    """Whether a comment is the text of a review; one on a page that was sent with a review is a thread of its own."""
    return bool(comment.target.review) and comment.target.page is None
