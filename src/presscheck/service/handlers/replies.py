"""Replies to comments on change requests and live spaces, oldest first."""

from __future__ import annotations

from sqlalchemy import delete, select

from presscheck.api.comments import (
    CommentReply,
    DeleteReply,
    GetReply,
    ListReplies,
    ListSpaceReplies,
    PostReply,
    PostSpaceReply,
    UpdateReply,
)
from presscheck.api.operation import Page
from presscheck.service.db.ids import new_id
from presscheck.service.handlers.comments import resolve
from presscheck.service.http.operation_registry import ApiError, Context, handles
from presscheck.service.http.pagination import page_of_rows
from presscheck.service.models.content import ChangeRequestRow, CommentRow, ReactionRow, ReplyRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.permissions import space_for
from presscheck.service.review.change_requests import branch_of, note_work
from presscheck.service.review.threads import as_replies, comment_in, may_change, react, reply_to, stored_text

AnyCall = ListReplies | ListSpaceReplies | PostReply | PostSpaceReply | GetReply | UpdateReply | DeleteReply
Thread = tuple[SpaceRow, ChangeRequestRow | None, CommentRow]


@handles(ListReplies)
def list_replies(context: Context, call: ListReplies) -> Page[CommentReply]:
    """Lists the replies to a comment of a change request."""
    return _listed(context, call)


@handles(ListSpaceReplies)
def list_space_replies(context: Context, call: ListSpaceReplies) -> Page[CommentReply]:
    """Lists the replies to a comment on a live space."""
    return _listed(context, call)


@handles(PostReply)
def post_reply(context: Context, call: PostReply) -> CommentReply:
    """Replies to a comment of a change request."""
    return _posted(context, call)


@handles(PostSpaceReply)
def post_space_reply(context: Context, call: PostSpaceReply) -> CommentReply:
    """Replies to a comment on a live space."""
    return _posted(context, call)


@handles(GetReply)
def get_reply(context: Context, call: GetReply) -> CommentReply:
    """Returns a reply."""
    space, _, comment = _where(context, call)
    return as_replies(context, space, comment, [reply_to(context, comment, call.comment_reply_id)], call.format)[0]


@handles(UpdateReply)
def update_reply(context: Context, call: UpdateReply) -> CommentReply:
    """Edits a reply or reacts to it; `resolved` applies to the parent comment."""
    space, row, comment = _where(context, call, "comment")
    reply = reply_to(context, comment, call.comment_reply_id)
    if call.body is not None:
        if not may_change(context, space, reply):
            raise ApiError(403, "You can only edit your own replies, unless you are an admin of the space.")
        reply.body = stored_text(call.body)
        reply.edited_at = context.now()
    if call.resolved is not None:
        resolve(context, space, comment, resolved=call.resolved)
    react(context, reply.id, call.added_reactions or (), call.removed_reactions or ())
    if row is not None:
        note_work(context, row)
    context.session.flush()
    return as_replies(context, space, comment, [reply])[0]


@handles(DeleteReply)
def delete_reply(context: Context, call: DeleteReply) -> None:
    """Deletes a reply; a missing one is not an error."""
    space, row = _place(context, call, "comment")
    try:
        reply = reply_to(context, comment_in(context, space, row, call.comment_id), call.comment_reply_id)
    except ApiError:
        return  # missing, or elsewhere: the response is the same
    if not may_change(context, space, reply):
        raise ApiError(403, "You can only delete your own replies, unless you are an admin of the space.")
    context.session.execute(delete(ReactionRow).where(ReactionRow.target_id == reply.id))
    context.session.delete(reply)
    if row is not None:
        note_work(context, row)


def _where(context: Context, call: AnyCall, required: str = "read") -> Thread:
    space, row = _place(context, call, required)
    return space, row, comment_in(context, space, row, call.comment_id)


def _place(context: Context, call: AnyCall, required: str) -> tuple[SpaceRow, ChangeRequestRow | None]:
    space = space_for(context, call.space_id, required)
    change_request: str | None = getattr(call, "change_request_id", None)
    return space, None if change_request is None else branch_of(context, space, change_request)


def _listed(context: Context, call: ListReplies | ListSpaceReplies) -> Page[CommentReply]:
    space, _, comment = _where(context, call)
    rows = select(ReplyRow).where(ReplyRow.comment_id == comment.id)
    order = (ReplyRow.posted_at, ReplyRow.id)
    return page_of_rows(
        context, call, rows, lambda found: as_replies(context, space, comment, found, call.format), order=order
    )


def _posted(context: Context, call: PostReply | PostSpaceReply) -> CommentReply:
    space, row, comment = _where(context, call, "comment")
    reply = ReplyRow(
        id=new_id(),
        comment_id=comment.id,
        body=stored_text(call.body),
        posted_by=context.user.id,
        posted_at=context.now(),
    )
    context.session.add(reply)
    if row is not None:
        note_work(context, row, "comment")
    context.session.flush()
    return as_replies(context, space, comment, [reply], getattr(call, "format", None))[0]
