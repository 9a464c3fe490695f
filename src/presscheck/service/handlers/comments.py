"""Comments on change requests and live spaces; the same rules apply to both.

The author and admins of the space may change a comment; everyone who may comment may reply and react.
"""

from __future__ import annotations

from sqlalchemy import delete, select

from presscheck.api.comments import (
    Comment,
    DeleteComment,
    DeleteSpaceComment,
    GetComment,
    GetSpaceComment,
    ListComments,
    ListSpaceComments,
    PostComment,
    PostSpaceComment,
    UpdateComment,
    UpdateSpaceComment,
)
from presscheck.api.operation import Page
from presscheck.documents.pages.tree import find
from presscheck.service.http.operation_registry import ApiError, Context, handles
from presscheck.service.http.pagination import page_of_rows
from presscheck.service.models.content import ChangeRequestRow, CommentRow, ReactionRow, ReplyRow, RevisionRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.permissions import space_for
from presscheck.service.review.change_requests import ancestor, branch_of, note_work
from presscheck.service.review.threads import as_comments, comment_in, may_change, new_comment, react, stored_text


@handles(ListComments)
def list_comments(context: Context, call: ListComments) -> Page[Comment]:
    """Lists the comments of a change request."""
    return _listed(context, call)


@handles(ListSpaceComments)
def list_space_comments(context: Context, call: ListSpaceComments) -> Page[Comment]:
    """Lists the comments on a live space."""
    return _listed(context, call)


@handles(PostComment)
def post_comment(context: Context, call: PostComment) -> Comment:
    """Adds a comment to a change request."""
    return _posted(context, call)


@handles(PostSpaceComment)
def post_space_comment(context: Context, call: PostSpaceComment) -> Comment:
    """Adds a comment to a live space."""
    return _posted(context, call)


@handles(GetComment)
def get_comment(context: Context, call: GetComment) -> Comment:
    """Returns a comment of a change request."""
    return as_comments(context, [comment_in(context, *_where(context, call), call.comment_id)], call.format)[0]


@handles(GetSpaceComment)
def get_space_comment(context: Context, call: GetSpaceComment) -> Comment:
    """Returns a comment on a live space."""
    return as_comments(context, [comment_in(context, *_where(context, call), call.comment_id)], call.format)[0]


@handles(UpdateComment)
def update_comment(context: Context, call: UpdateComment) -> Comment:
    """Resolves, reopens or edits a comment of a change request, or reacts to it."""
    return _updated(context, call)


@handles(UpdateSpaceComment)
def update_space_comment(context: Context, call: UpdateSpaceComment) -> Comment:
    """Resolves, reopens or edits a comment on a live space, or reacts to it."""
    return _updated(context, call)


@handles(DeleteComment)
def delete_comment(context: Context, call: DeleteComment) -> None:
    """Deletes a comment of a change request and its replies."""
    _deleted(context, call)


@handles(DeleteSpaceComment)
def delete_space_comment(context: Context, call: DeleteSpaceComment) -> None:
    """Deletes a comment on a live space and its replies."""
    _deleted(context, call)


AnyComment = GetComment | UpdateComment | DeleteComment | GetSpaceComment | UpdateSpaceComment | DeleteSpaceComment
AnyCall = AnyComment | ListComments | PostComment | ListSpaceComments | PostSpaceComment


def resolve(context: Context, space: SpaceRow, comment: CommentRow, *, resolved: bool) -> None:
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
    space = space_for(context, call.space_id, required)
    change_request: str | None = getattr(call, "change_request_id", None)
    return space, None if change_request is None else branch_of(context, space, change_request)


def _listed(context: Context, call: ListComments | ListSpaceComments) -> Page[Comment]:
    space, row = _where(context, call)
    rows = select(CommentRow).where(CommentRow.space_id == space.id)
    rows = rows.where(CommentRow.change_request_id == row.id if row else CommentRow.change_request_id.is_(None))
    if call.status in ("open", "resolved"):
        unresolved = CommentRow.resolved_at.is_(None)
        rows = rows.where(unresolved if call.status == "open" else ~unresolved)
    if call.target_page is not None:
        rows = rows.where(CommentRow.page_id == call.target_page)
    if call.authors is not None:
        rows = rows.where(CommentRow.posted_by.in_(call.authors))
    return page_of_rows(
        context,
        call,
        rows,
        lambda found: as_comments(context, found, call.format),
        order=(CommentRow.posted_at, CommentRow.id),
        newest_first=call.order != "asc",
    )


def _posted(context: Context, call: PostComment | PostSpaceComment) -> Comment:
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
    return as_comments(context, [comment])[0]


def _has_page(context: Context, space: SpaceRow, row: ChangeRequestRow | None, page_id: str) -> bool:
    # comments may refer to a page that the change request deletes
    revisions = {row.revision, ancestor(row)} if row else {space.revision_id}
    trees = context.session.scalars(select(RevisionRow.tree).where(RevisionRow.id.in_(revisions)))
    return any(find(tree, page_id) for tree in trees)


def _updated(context: Context, call: UpdateComment | UpdateSpaceComment) -> Comment:
    space, row = _where(context, call, "comment")
    comment = comment_in(context, space, row, call.comment_id)
    if call.body is not None:
        if not may_change(context, space, comment):
            raise ApiError(403, "You can only edit your own comments, unless you are an admin of the space.")
        comment.body = stored_text(call.body)
        comment.edited_at = context.now()
    if call.resolved is not None:
        resolve(context, space, comment, resolved=call.resolved)
    react(context, comment.id, call.added_reactions or (), call.removed_reactions or ())
    if row is not None:
        note_work(context, row)
    context.session.flush()
    return as_comments(context, [comment])[0]


def _deleted(context: Context, call: DeleteComment | DeleteSpaceComment) -> None:
    space, row = _where(context, call, "comment")
    try:
        comment = comment_in(context, space, row, call.comment_id)
    except ApiError:
        return  # missing, or elsewhere: the response is the same
    if not may_change(context, space, comment):
        raise ApiError(403, "You can only delete your own comments, unless you are an admin of the space.")
    replies = select(ReplyRow.id).where(ReplyRow.comment_id == comment.id)
    context.session.execute(
        delete(ReactionRow).where((ReactionRow.target_id == comment.id) | ReactionRow.target_id.in_(replies))
    )
    context.session.delete(comment)
    if row is not None:
        note_work(context, row)
