"""Comments and replies on change requests and live spaces; the same rules apply to all of them.

The author and admins of the space may change a comment or reply; everyone who may comment may reply and react.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from sqlalchemy import bindparam, delete, select

from presscheck.api.comments import (
    Comment,
    CommentReply,
    DeleteComment,
    DeleteReply,
    DeleteSpaceComment,
    GetComment,
    GetReply,
    GetSpaceComment,
    ListComments,
    ListReplies,
    ListSpaceComments,
    ListSpaceReplies,
    PostComment,
    PostReply,
    PostSpaceComment,
    PostSpaceReply,
    UpdateComment,
    UpdateReply,
    UpdateSpaceComment,
)
from presscheck.api.operation import Page
from presscheck.documents.pages.tree import find
from presscheck.service.db.ids import new_id
from presscheck.service.http.operation_registry import ApiError, Context, handles
from presscheck.service.http.pagination import Listing, page_of_listing
from presscheck.service.models.content import ChangeRequestRow, CommentRow, ReactionRow, ReplyRow, RevisionRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.permissions import space_for
from presscheck.service.review.change_requests import ancestor, branch_of, know_place, note_work
from presscheck.service.review.threads import (
    Written,
    as_comments,
    as_replies,
    comment_in,
    may_change,
    new_comment,
    react,
    reply_to,
    stored_text,
)

_REPLIES = Listing(
    select(ReplyRow).where(ReplyRow.comment_id == bindparam("comment")), (ReplyRow.posted_at, ReplyRow.id)
)


@handles(ListComments)
@handles(ListSpaceComments)
def list_comments(context: Context, call: ListComments | ListSpaceComments) -> Page[Comment]:
    """Lists the comments of a change request, or on a live space."""
    space, row = _where(context, call)
    given = {"change_request": row.id if row else None, "page": call.target_page, "authors": call.authors}
    values = {name: value for name, value in given.items() if value is not None}
    return page_of_listing(
        context,
        call,
        _comments(frozenset(values), call.status),
        {"space": space.id, **values},
        lambda found: as_comments(context, found, call.format),
        newest_first=call.order != "asc",
    )


@lru_cache
def _comments(given: frozenset[str], status: str | None) -> Listing[Any]:
    """The comments of a space, or of one of its change requests, that fit what is given."""
    branch = CommentRow.change_request_id
    rows = select(CommentRow).where(CommentRow.space_id == bindparam("space"))
    rows = rows.where(branch == bindparam("change_request") if "change_request" in given else branch.is_(None))
    if status in ("open", "resolved"):
        unresolved = CommentRow.resolved_at.is_(None)
        rows = rows.where(unresolved if status == "open" else ~unresolved)
    if "page" in given:
        rows = rows.where(CommentRow.page_id == bindparam("page"))
    if "authors" in given:
        rows = rows.where(CommentRow.posted_by.in_(bindparam("authors", expanding=True)))
    return Listing(rows, (CommentRow.posted_at, CommentRow.id))


@handles(PostComment)
@handles(PostSpaceComment)
def post_comment(context: Context, call: PostComment | PostSpaceComment) -> Comment:
    """Adds a comment to a change request, or to a live space."""
    space, row = _where(context, call, "comment")
    if call.page is not None and not _has_page(context, space, row, call.page):
        raise ApiError(400, f"page: no page {call.page} in this content")
    comment = new_comment(
        context,
        space,
        row,
        call.body,
        page_id=call.page,
        node_id=call.node,
        table_cell=call.table_cell.model_dump() if call.table_cell else None,
    )
    context.session.flush()
    return as_comments(context, [comment], are_new=True)[0]


@handles(GetComment)
@handles(GetSpaceComment)
def get_comment(context: Context, call: GetComment | GetSpaceComment) -> Comment:
    """Returns a comment."""
    return as_comments(context, [comment_in(context, *_where(context, call), call.comment_id)], call.format)[0]


@handles(UpdateComment)
@handles(UpdateSpaceComment)
def update_comment(context: Context, call: UpdateComment | UpdateSpaceComment) -> Comment:
    """Resolves, reopens or edits a comment, or reacts to it."""
    space, row = _where(context, call, "comment")
    comment = comment_in(context, space, row, call.comment_id)
    _change(context, space, row, comment, comment, call)
    return as_comments(context, [comment])[0]


@handles(DeleteComment)
@handles(DeleteSpaceComment)
def delete_comment(context: Context, call: DeleteComment | DeleteSpaceComment) -> None:
    """Deletes a comment and its replies; a missing one is not an error."""
    space, row = _where(context, call, "comment")
    try:
        comment = comment_in(context, space, row, call.comment_id)
    except ApiError:
        return  # missing, or elsewhere: the response is the same
    _delete(context, space, row, comment)


@handles(ListReplies)
@handles(ListSpaceReplies)
def list_replies(context: Context, call: ListReplies | ListSpaceReplies) -> Page[CommentReply]:
    """Lists the replies to a comment, oldest first."""
    space, row = _where(context, call)
    comment = comment_in(context, space, row, call.comment_id)
    return page_of_listing(
        context,
        call,
        _REPLIES,
        {"comment": comment.id},
        lambda found: as_replies(context, space, comment, found, call.format),
    )


@handles(PostReply)
@handles(PostSpaceReply)
def post_reply(context: Context, call: PostReply | PostSpaceReply) -> CommentReply:
    """Replies to a comment."""
    space, row = _where(context, call, "comment")
    comment = comment_in(context, space, row, call.comment_id)
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


@handles(GetReply)
def get_reply(context: Context, call: GetReply) -> CommentReply:
    """Returns a reply."""
    space, row = _where(context, call)
    comment = comment_in(context, space, row, call.comment_id)
    return as_replies(context, space, comment, [reply_to(context, comment, call.comment_reply_id)], call.format)[0]


@handles(UpdateReply)
def update_reply(context: Context, call: UpdateReply) -> CommentReply:
    """Edits a reply or reacts to it; `resolved` applies to the parent comment."""
    space, row = _where(context, call, "comment")
    comment = comment_in(context, space, row, call.comment_id)
    reply = reply_to(context, comment, call.comment_reply_id)
    _change(context, space, row, comment, reply, call)
    return as_replies(context, space, comment, [reply])[0]


@handles(DeleteReply)
def delete_reply(context: Context, call: DeleteReply) -> None:
    """Deletes a reply; a missing one is not an error."""
    space, row = _where(context, call, "comment")
    try:
        reply = reply_to(context, comment_in(context, space, row, call.comment_id), call.comment_reply_id)
    except ApiError:
        return  # missing, or elsewhere: the response is the same
    _delete(context, space, row, reply)


AnyCall = (
    ListComments
    | ListSpaceComments
    | PostComment
    | PostSpaceComment
    | GetComment
    | GetSpaceComment
    | UpdateComment
    | UpdateSpaceComment
    | DeleteComment
    | DeleteSpaceComment
    | ListReplies
    | ListSpaceReplies
    | PostReply
    | PostSpaceReply
    | GetReply
    | UpdateReply
    | DeleteReply
)


def _resolve(context: Context, space: SpaceRow, comment: CommentRow, *, resolved: bool) -> None:
    """Resolves or reopens a comment if the caller may change it.

    Raises:
        ApiError: 403.
    """
    if not may_change(context, space, comment):
        raise ApiError(403, "You can only resolve or reopen your own comments, unless you are an admin of the space.")
    if resolved != (comment.resolved_at is not None):
        comment.resolved_at = context.now() if resolved else None
        comment.resolved_by = context.user.id if resolved else None


def _where(context: Context, call: AnyCall, required: str = "read") -> tuple[SpaceRow, ChangeRequestRow | None]:
    change_request: str | None = getattr(call, "change_request_id", None)
    if required != "read":
        know_place(context, call.space_id, change_request)
    space = space_for(context, call.space_id, required)
    return space, None if change_request is None else branch_of(context, space, change_request)


def _has_page(context: Context, space: SpaceRow, row: ChangeRequestRow | None, page_id: str) -> bool:
    # comments may refer to a page that the change request deletes
    revisions = {row.revision, ancestor(row)} if row else {space.revision_id}
    trees = context.session.scalars(select(RevisionRow.tree).where(RevisionRow.id.in_(revisions)))
    return any(find(tree, page_id) for tree in trees)


def _change(
    context: Context,
    space: SpaceRow,
    row: ChangeRequestRow | None,
    comment: CommentRow,
    written: Written,
    call: UpdateComment | UpdateSpaceComment | UpdateReply,
) -> None:
    """Edits a comment or a reply and reacts to it; resolves or reopens the comment that it belongs to.

    Raises:
        ApiError: 403.
    """
    if call.body is not None:
        if not may_change(context, space, written):
            raise ApiError(403, f"You can only edit your own {_kind(written)}, unless you are an admin of the space.")
        written.body = stored_text(call.body)
        written.edited_at = context.now()
    if call.resolved is not None:
        _resolve(context, space, comment, resolved=call.resolved)
    react(context, written.id, call.added_reactions or (), call.removed_reactions or ())
    if row is not None:
        note_work(context, row)
    context.session.flush()


def _delete(context: Context, space: SpaceRow, row: ChangeRequestRow | None, written: Written) -> None:
    """Deletes a reply, or a comment with its replies, and all reactions to them.

    Raises:
        ApiError: 403.
    """
    if not may_change(context, space, written):
        raise ApiError(403, f"You can only delete your own {_kind(written)}, unless you are an admin of the space.")
    replies = select(ReplyRow.id).where(ReplyRow.comment_id == written.id)
    context.session.execute(
        delete(ReactionRow).where((ReactionRow.target_id == written.id) | ReactionRow.target_id.in_(replies))
    )
    context.session.delete(written)
    if row is not None:
        note_work(context, row)


def _kind(written: Written) -> str:
    return "comments" if isinstance(written, CommentRow) else "replies"
