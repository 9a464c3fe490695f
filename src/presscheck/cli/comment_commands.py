"""Comments and replies on the command line: `comments` and `replies` of `presscheck cr` and `presscheck space`."""

from __future__ import annotations

from typing import Any

import click

from presscheck.api.comments import (
    Comment,
    DeleteComment,
    DeleteReply,
    DeleteSpaceComment,
    DeleteSpaceReply,
    GetComment,
    GetReply,
    GetSpaceComment,
    GetSpaceReply,
    ListComments,
    ListReplies,
    ListSpaceCommenters,
    ListSpaceComments,
    ListSpaceReplies,
    PostSpaceComment,
    PostSpaceReply,
    UpdateComment,
    UpdateReply,
    UpdateSpaceComment,
    UpdateSpaceReply,
)
from presscheck.cli.operations.command_factory import CommandSpec, group_of
from presscheck.cli.output import as_json
from presscheck.engine.review.comment_state import NEW

COMMENT_COLUMNS = ("id", "postedBy.displayName", "status", "replies", "body.markdown")
REPLY_COLUMNS = ("id", "postedBy.displayName", "postedAt", "body.markdown")
MARKDOWN: dict[str, Any] = {"format": "markdown"}


def shown_status(comment: Comment) -> str:
    """Return the status of a comment: `held` in a pending review, `failed` or `pending` if it is not sent."""
    if not comment.id.startswith(NEW):
        return comment.status
    marks = comment.model_extra or {}
    return "held" if marks.get("held") else "failed" if marks.get("refused") else "pending"


def _shown(comment: Comment) -> Any:
    return {**as_json(comment), "status": shown_status(comment)}


def add_to_requests(group: click.Group) -> None:
    """Add the comments and replies of change requests to `presscheck cr`."""
    comments = group_of(
        "comments",
        "Manage the comments on a change request.\n\nCOMMENT is an id. `presscheck cr comment` adds one.",
        CommandSpec("list", ListComments, COMMENT_COLUMNS, preset=MARKDOWN, shown=_shown),
        CommandSpec("show", GetComment, preset=MARKDOWN, help="Show a comment on a change request."),
        CommandSpec("edit", UpdateComment, done="Comment updated."),
        CommandSpec("delete", DeleteComment, done="Comment deleted.", confirm="Delete this comment"),
    )
    replies = group_of(
        "replies",
        "Manage the replies to a comment.\n\nCOMMENT and REPLY are ids. `presscheck cr reply` adds one.",
        CommandSpec("list", ListReplies, REPLY_COLUMNS, preset=MARKDOWN),
        CommandSpec("show", GetReply, preset=MARKDOWN, help="Show a reply to a comment."),
        CommandSpec("edit", UpdateReply, done="Reply updated."),
        CommandSpec("delete", DeleteReply, done="Reply deleted.", confirm="Delete this reply"),
    )
    group.add_command(comments)
    group.add_command(replies)


def add_to_spaces(group: click.Group) -> None:
    """Add the comments on live content to `presscheck space`."""
    comments = group_of(
        "comments",
        "Manage the comments on the live content of a space.\n\nCOMMENT and REPLY are ids.",
        CommandSpec("list", ListSpaceComments, COMMENT_COLUMNS, preset=MARKDOWN, shown=_shown),
        CommandSpec("show", GetSpaceComment, preset=MARKDOWN, help="Show a comment on the live content."),
        CommandSpec("add", PostSpaceComment, done="Comment added.", is_written=True),
        CommandSpec("edit", UpdateSpaceComment, done="Comment updated."),
        CommandSpec("delete", DeleteSpaceComment, done="Comment deleted.", confirm="Delete this comment"),
        CommandSpec("replies", ListSpaceReplies, REPLY_COLUMNS, preset=MARKDOWN),
        CommandSpec("reply", PostSpaceReply, done="Reply added.", is_written=True),
        CommandSpec("show-reply", GetSpaceReply, preset=MARKDOWN, help="Show a reply to a comment."),
        CommandSpec("edit-reply", UpdateSpaceReply, done="Reply updated."),
        CommandSpec("delete-reply", DeleteSpaceReply, done="Reply deleted.", confirm="Delete this reply"),
        CommandSpec("people", ListSpaceCommenters, ("id", "user.displayName", "user.email")),
    )
    group.add_command(comments)
