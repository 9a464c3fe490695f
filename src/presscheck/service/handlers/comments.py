"""Comments and replies on change requests and on the live content of spaces, with the same rules for both.

The author and admins of the space may change a comment or reply. Everyone who may comment may also reply and react.
A comment without a change request is on the live content.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache, lru_cache, partial
from typing import Any

from sqlalchemy import bindparam, delete, func, literal, null, select, union_all

from presscheck.api.comments import (
    Comment,
    CommentPermissions,
    CommentReply,
    CommentTarget,
    DeleteComment,
    DeleteReply,
    DeleteSpaceComment,
    DeleteSpaceReply,
    Document,
    Format,
    GetComment,
    GetReply,
    GetSpaceComment,
    GetSpaceReply,
    ListComments,
    ListReplies,
    ListSpaceComments,
    ListSpaceReplies,
    Pointer,
    PostComment,
    PostReply,
    PostSpaceComment,
    PostSpaceReply,
    Reaction,
    ReactionUser,
    TableCell,
    UpdateComment,
    UpdateReply,
    UpdateSpaceComment,
    UpdateSpaceReply,
)
from presscheck.api.operation import Page
from presscheck.api.roles import Location
from presscheck.api.users import Contribution, User
from presscheck.documents.markdown.page_size import COMMENT_LIMITS, PAGE_LIMITS, count_parts, size_problem
from presscheck.documents.nodes.from_markdown import markdown_to_nodes
from presscheck.documents.nodes.to_markdown import nodes_to_markdown
from presscheck.documents.nodes.validation import InvalidNode
from presscheck.documents.pages.tree import find
from presscheck.service.content.serializers import require_size, text_of
from presscheck.service.db.ids import new_id
from presscheck.service.db.statements import among
from presscheck.service.http.operations import ApiError, Context, handles, not_found
from presscheck.service.http.pagination import Listing, page_of_listing
from presscheck.service.models.content import ChangeRequestRow, CommentRow, ReactionRow, ReplyRow, RevisionRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.permissions import level_in_space, reaches, space_for
from presscheck.service.review.change_requests import ancestor, branch_of, know_place, note_work
from presscheck.service.spaces.serializers import people

_reacted, _replied = ReactionRow.__table__.c, ReplyRow.__table__.c
_RESPONSES = union_all(
    select(
        _reacted.target_id.label("target"),
        _reacted.emoji,
        _reacted.user_id.label("user"),
        literal(1).label("number"),
        _reacted.reacted_at.label("latest"),
    ).where(among(_reacted.target_id, "ids")),
    select(_replied.comment_id, null(), _replied.posted_by, func.count(), func.max(_replied.posted_at))
    .where(among(_replied.comment_id, "ids"))
    .group_by(_replied.comment_id, _replied.posted_by),
)
"""Selects the reactions to comments and replies, and for each user the number of replies to a comment.

Rows of replies have no emoji. One statement selects both, because each takes a tenth of the time of a request.
"""
Written = CommentRow | ReplyRow
"""A comment or a reply."""
_REPLIES = Listing(
    select(ReplyRow).where(ReplyRow.comment_id == bindparam("comment")), (ReplyRow.posted_at, ReplyRow.id)
)
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
    | GetSpaceReply
    | UpdateReply
    | UpdateSpaceReply
    | DeleteReply
    | DeleteSpaceReply
)


def has_text(body: Document) -> bool:
    """Return whether a body is not empty."""
    return bool((body.markdown or "").strip() or body.document)


def new_comment(
    context: Context,
    space: SpaceRow,
    row: ChangeRequestRow | None,
    body: Document,
    *,
    page_id: str | None = None,
    node_id: str | None = None,
    table_cell: dict[str, Any] | None = None,
    review_id: str | None = None,
) -> CommentRow:
    """Add a comment by the caller.

    Args:
        context: the transaction.
        space: the space.
        row: the change request; None for the live space.
        body: the text of the comment.
        page_id: the page that the comment refers to.
        node_id: the block of the page.
        table_cell: the cell of a table.
        review_id: the review that the comment belongs to.
    """
    comment = CommentRow(
        id=new_id(),
        space_id=space.id,
        change_request_id=row.id if row else None,
        review_id=review_id,
        revision=row.revision if row else space.revision_id,
        page_id=page_id,
        node_id=node_id,
        table_cell=table_cell,
        body=stored_text(body),
        posted_by=context.user.id,
        posted_at=context.now(),
    )
    context.session.add(comment)
    if row is not None:
        note_work(context, row, "comment")
    return comment


def stored_text(body: Document) -> dict[str, Any]:
    """Convert a body to its stored form.

    Raises:
        ApiError: 400 if it is empty or has an invalid node, 413 if it is too large.
    """
    if not has_text(body):
        raise ApiError(400, "body: must not be empty")
    if body.markdown is None and body.document is not None:
        require_size("body", text_of(body.document), COMMENT_LIMITS)
    require_size("body", body.markdown or "", COMMENT_LIMITS)
    return {"markdown": body.markdown} if body.markdown is not None else {"document": body.document}


def comment_in(context: Context, space: SpaceRow, row: ChangeRequestRow | None, comment_id: str) -> CommentRow:
    """Return a comment on a change request; if `row` is None, return a comment on the live content.

    Raises:
        ApiError: 404 if the comment does not exist.
    """
    comment = context.session.get(CommentRow, comment_id)
    if comment is None or (comment.space_id, comment.change_request_id) != (space.id, row.id if row else None):
        raise not_found("comment")
    return comment


def reply_to(context: Context, comment: CommentRow, reply_id: str) -> ReplyRow:
    """Return a reply to a comment.

    Raises:
        ApiError: 404 if the comment does not have this reply.
    """
    reply = context.session.get(ReplyRow, reply_id)
    if reply is None or reply.comment_id != comment.id:
        raise not_found("reply")
    return reply


def may_change(context: Context, space: SpaceRow, written: Written) -> bool:
    """Return whether the caller may edit or delete a comment or reply, as its author or as an admin of the space."""
    return written.posted_by == context.user.id or reaches(level_in_space(context, space), "admin")


def react(context: Context, target_id: str, added: Iterable[str], removed: Iterable[str]) -> None:
    """Add and remove emoji reactions of the caller.

    Raises:
        ApiError: 400, an added emoji is empty or too long.
    """
    for emoji in removed:
        reaction = context.session.get(ReactionRow, (target_id, emoji, context.user.id))
        if reaction is not None:
            context.session.delete(reaction)
    context.session.flush()
    for emoji in added:
        if not emoji or len(emoji) > 50:
            raise ApiError(400, "addedReactions: each emoji must have 1 to 50 characters")
        if context.session.get(ReactionRow, (target_id, emoji, context.user.id)) is None:
            context.session.add(
                ReactionRow(target_id=target_id, emoji=emoji, user_id=context.user.id, reacted_at=context.now())
            )
    context.session.flush()


def as_comments(
    context: Context, rows: Sequence[CommentRow], shape: Format | None = None, *, are_new: bool = False
) -> list[Comment]:
    """Serialize comments, loading related data for all of them together.

    Args:
        context: the transaction.
        rows: the comments.
        shape: the format of the bodies; by default the format in which each was posted.
        are_new: whether they were just posted. New comments have no replies and reactions, and no query is needed.
    """
    users = people(context, [user for row in rows for user in (row.posted_by, row.resolved_by)])
    reactions, repliers = ({}, {}) if are_new else _responses(context, [row.id for row in rows])
    places = [context.row(SpaceRow, space) for space in {row.space_id for row in rows}]
    spaces = {space.id: space for space in places if space}
    return [
        _comment(context, spaces[row.space_id], row, users, reactions.get(row.id, ()), repliers.get(row.id, ()), shape)
        for row in rows
    ]


def as_replies(
    context: Context, space: SpaceRow, comment: CommentRow, rows: Sequence[ReplyRow], shape: Format | None = None
) -> list[CommentReply]:
    """Serialize the replies to one comment."""
    users = people(context, [row.posted_by for row in rows])
    reactions, _ = _responses(context, [row.id for row in rows])
    return [
        CommentReply(
            urls=Location(location=context.location(f"{_place(comment)}/replies/{row.id}")),
            **_common_fields(context, space, row, users, reactions.get(row.id, ()), shape),
        )
        for row in rows
    ]


def _comment(
    context: Context,
    space: SpaceRow,
    row: CommentRow,
    users: dict[str, User],
    reactions: tuple[Reaction, ...],
    repliers: tuple[Contribution, ...],
    shape: Format | None,
) -> Comment:
    return Comment(
        replies=sum([replier.count for replier in repliers]) if repliers else 0,
        repliers=repliers,
        target=_target(context, row),
        status="resolved" if row.resolved_at else "open",
        resolved_at=row.resolved_at,
        resolved_by=users[row.resolved_by] if row.resolved_by else None,
        urls=Location(location=context.location(_place(row))),
        **_common_fields(context, space, row, users, reactions, shape),
    )


def _common_fields(
    context: Context,
    space: SpaceRow,
    row: Written,
    users: dict[str, User],
    reactions: tuple[Reaction, ...],
    shape: Format | None,
) -> dict[str, Any]:
    """Return the fields that comments and replies have in common."""
    return {
        "id": row.id,
        "posted_by": users[row.posted_by],
        "posted_at": row.posted_at,
        "edited_at": row.edited_at,
        "reactions": reactions,
        "body": _in_shape(Document(**row.body), shape),
        "permissions": _permissions(context, space, row),
    }


def _target(context: Context, row: CommentRow) -> CommentTarget:
    """Return the target of a comment, cached because a listing has many comments on the same page."""
    place = (row.change_request_id, row.review_id, row.page_id, row.node_id, row.space_id, row.revision)
    key = "comment target", *place
    if row.table_cell is None and key in context.known:
        return context.known[key]
    request, review, page, node, space, revision = place
    target = CommentTarget(
        node=Pointer(id=node) if node else None,
        table_cell=TableCell(**row.table_cell) if row.table_cell else None,
        change_request=request,
        review=review,
        page=Pointer(id=page) if page else None,
        space=space,
        revision=revision,
    )
    if row.table_cell is None:
        context.known[key] = target
    return target


def _permissions(context: Context, space: SpaceRow, row: Written) -> CommentPermissions:
    key = "comment permissions", space.id, row.posted_by == context.user.id
    if key not in context.known:
        context.known[key] = _permitted(level_in_space(context, space), is_own=key[2])
    return context.known[key]


@cache
def _permitted(level: str | None, *, is_own: bool) -> CommentPermissions:
    may_comment = reaches(level, "comment")
    may_change_comment = may_comment and (is_own or reaches(level, "admin"))
    return CommentPermissions(view=True, edit=may_change_comment, reply=may_comment, delete=may_change_comment)


def _place(row: CommentRow) -> str:
    branch = f"/change-requests/{row.change_request_id}" if row.change_request_id else ""
    return f"/spaces/{row.space_id}{branch}/comments/{row.id}"


def _responses(
    context: Context, targets: Sequence[str]
) -> tuple[dict[str, tuple[Reaction, ...]], dict[str, tuple[Contribution, ...]]]:
    """Return two dicts by the id of a comment or reply: its reactions, and the users who replied to it.

    Reactions are in the order of their first use; users have the one with the latest reply first.
    """
    rows = sorted(context.rows(_RESPONSES, ids=targets), key=lambda row: (row.latest, row.emoji or "", row.user))
    users = people(context, [row.user for row in rows])
    by_emoji: dict[str, dict[str, list[ReactionUser]]] = {}
    for row in rows:
        if row.emoji is not None:
            reacted = ReactionUser(user=users[row.user], reacted_at=row.latest)
            by_emoji.setdefault(row.target, {}).setdefault(row.emoji, []).append(reacted)
    reactions = {
        target: tuple(Reaction(emoji=emoji, count=len(who), users=tuple(who)) for emoji, who in users_by_emoji.items())
        for target, users_by_emoji in by_emoji.items()
    }
    repliers: dict[str, tuple[Contribution, ...]] = {}
    for row in sorted(rows, key=lambda row: row.latest, reverse=True):
        if row.emoji is None:
            part = Contribution(user=users[row.user], count=row.number, updated_at=row.latest)
            repliers[row.target] = (*repliers.get(row.target, ()), part)
    return reactions, repliers


@handles(ListComments)
@handles(ListSpaceComments)
def list_comments(context: Context, call: ListComments | ListSpaceComments) -> Page[Comment]:
    """List the comments on a change request or on a live space, by default newest first."""
    space, row = _space_and_branch(context, call)
    filters = {"change_request": row.id if row else None, "page": call.target_page, "authors": call.authors}
    values = {name: value for name, value in filters.items() if value is not None}
    return page_of_listing(
        context,
        call,
        _comments(frozenset(values), call.status),
        {"space": space.id, **values},
        lambda page_rows: as_comments(context, page_rows, call.format),
        newest_first=call.order != "asc",
        fitting=partial(_count_that_fits, as_nodes=call.format == "document"),
    )


@lru_cache
def _comments(filters: frozenset[str], status: str | None) -> Listing[Any]:
    """Return the listing of comments for a combination of filters."""
    branch = CommentRow.change_request_id
    rows = select(CommentRow).where(CommentRow.space_id == bindparam("space"))
    rows = rows.where(branch == bindparam("change_request") if "change_request" in filters else branch.is_(None))
    if status in ("open", "resolved"):
        unresolved = CommentRow.resolved_at.is_(None)
        rows = rows.where(unresolved if status == "open" else ~unresolved)
    if "page" in filters:
        rows = rows.where(CommentRow.page_id == bindparam("page"))
    if "authors" in filters:
        rows = rows.where(among(CommentRow.__table__.c.posted_by, "authors"))
    return Listing(rows, (CommentRow.posted_at, CommentRow.id))


@handles(PostComment)
@handles(PostSpaceComment)
def post_comment(context: Context, call: PostComment | PostSpaceComment) -> Comment:
    """Add a comment to a change request, or to a live space."""
    space, row = _space_and_branch(context, call, "comment")
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
    """Return a comment."""
    return as_comments(context, [comment_in(context, *_space_and_branch(context, call), call.comment_id)], call.format)[
        0
    ]


@handles(UpdateComment)
@handles(UpdateSpaceComment)
def update_comment(context: Context, call: UpdateComment | UpdateSpaceComment) -> Comment:
    """Resolve, reopen or edit a comment, or react to it."""
    space, row = _space_and_branch(context, call, "comment")
    comment = comment_in(context, space, row, call.comment_id)
    _change(context, space, row, comment, comment, call)
    return as_comments(context, [comment])[0]


@handles(DeleteComment)
@handles(DeleteSpaceComment)
def delete_comment(context: Context, call: DeleteComment | DeleteSpaceComment) -> None:
    """Delete a comment and its replies. Return normally if the comment does not exist."""
    space, row = _space_and_branch(context, call, "comment")
    try:
        comment = comment_in(context, space, row, call.comment_id)
    except ApiError:
        return  # the response is the same whether the comment is missing or belongs to another change request
    _delete(context, space, row, comment)


@handles(ListReplies)
@handles(ListSpaceReplies)
def list_replies(context: Context, call: ListReplies | ListSpaceReplies) -> Page[CommentReply]:
    """List the replies to a comment, oldest first."""
    space, row = _space_and_branch(context, call)
    comment = comment_in(context, space, row, call.comment_id)
    return page_of_listing(
        context,
        call,
        _REPLIES,
        {"comment": comment.id},
        lambda page_rows: as_replies(context, space, comment, page_rows, call.format),
        fitting=partial(_count_that_fits, as_nodes=call.format == "document"),
    )


def _count_that_fits(rows: Sequence[CommentRow] | Sequence[ReplyRow], *, as_nodes: bool) -> int:
    """Return how many rows, from the first, fit into one page of a listing. The first row always fits."""
    characters = parts = 0
    for number, row in enumerate(rows):
        text = row.body.get("markdown") or json.dumps(row.body)
        characters += len(text)
        parts += count_parts(text) if as_nodes else 0
        if number and (characters > PAGE_LIMITS.characters or parts > PAGE_LIMITS.parts):
            return number
    return len(rows)


@handles(PostReply)
@handles(PostSpaceReply)
def post_reply(context: Context, call: PostReply | PostSpaceReply) -> CommentReply:
    """Reply to a comment."""
    space, row = _space_and_branch(context, call, "comment")
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
    return as_replies(context, space, comment, [reply], getattr(call, "format", None))[0]


@handles(GetReply)
@handles(GetSpaceReply)
def get_reply(context: Context, call: GetReply | GetSpaceReply) -> CommentReply:
    """Return a reply."""
    space, row = _space_and_branch(context, call)
    comment = comment_in(context, space, row, call.comment_id)
    return as_replies(context, space, comment, [reply_to(context, comment, call.comment_reply_id)], call.format)[0]


@handles(UpdateReply)
@handles(UpdateSpaceReply)
def update_reply(context: Context, call: UpdateReply | UpdateSpaceReply) -> CommentReply:
    """Edit a reply or react to it; `resolved` applies to the parent comment."""
    space, row = _space_and_branch(context, call, "comment")
    comment = comment_in(context, space, row, call.comment_id)
    reply = reply_to(context, comment, call.comment_reply_id)
    _change(context, space, row, comment, reply, call)
    return as_replies(context, space, comment, [reply])[0]


@handles(DeleteReply)
@handles(DeleteSpaceReply)
def delete_reply(context: Context, call: DeleteReply | DeleteSpaceReply) -> None:
    """Delete a reply. Return normally if the reply does not exist."""
    space, row = _space_and_branch(context, call, "comment")
    try:
        reply = reply_to(context, comment_in(context, space, row, call.comment_id), call.comment_reply_id)
    except ApiError:
        return  # the response is the same whether the reply is missing or belongs to another comment
    _delete(context, space, row, reply)


def _resolve(context: Context, space: SpaceRow, comment: CommentRow, *, resolved: bool) -> None:
    """Resolve or reopen a comment.

    Raises:
        ApiError: 403 if the caller is neither its author nor an admin of the space.
    """
    if not may_change(context, space, comment):
        raise ApiError(403, "You can only resolve or reopen your own comments, unless you are an admin of the space.")
    if resolved != (comment.resolved_at is not None):
        comment.resolved_at = context.now() if resolved else None
        comment.resolved_by = context.user.id if resolved else None


def _space_and_branch(
    context: Context, call: AnyCall, required: str = "read"
) -> tuple[SpaceRow, ChangeRequestRow | None]:
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
    call: UpdateComment | UpdateSpaceComment | UpdateReply | UpdateSpaceReply,
) -> None:
    """Edit a comment or reply and change reactions to it; `resolved` always applies to the comment.

    Raises:
        ApiError: 403 if the caller may not make one of the changes.
    """
    if call.body is not None:
        if not may_change(context, space, written):
            raise ApiError(403, f"You can only edit your own {_kind(written)}, unless you are an admin of the space.")
        written.body = stored_text(call.body)
        written.edited_at = context.now()
    if not isinstance(call, UpdateSpaceReply) and call.resolved is not None:
        _resolve(context, space, comment, resolved=call.resolved)
    react(context, written.id, call.added_reactions or (), call.removed_reactions or ())
    if row is not None:
        note_work(context, row)
    context.session.flush()


def _delete(context: Context, space: SpaceRow, row: ChangeRequestRow | None, written: Written) -> None:
    """Delete a reply, or a comment with its replies, and all reactions to them.

    Raises:
        ApiError: 403 if the caller is neither the author of `written` nor an admin of the space.
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


def _in_shape(document: Document, shape: Format | None) -> Document:
    """Convert a document to a format if possible; without a format, return it unchanged."""
    if shape == "document" and document.markdown is not None and not size_problem(document.markdown, COMMENT_LIMITS):
        return Document(document=markdown_to_nodes(document.markdown))
    if shape == "markdown" and document.document is not None:
        with suppress(InvalidNode):  # documents stored before validation existed may have any shape
            return Document(markdown=nodes_to_markdown(document.document))
    return document
