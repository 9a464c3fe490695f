"""Comments, replies and reactions: find, create, serialize. A comment without a change request is on the live space."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from sqlalchemy import func, select

from presscheck.api.comments import (
    Comment,
    CommentPermissions,
    CommentReply,
    CommentTarget,
    Document,
    Format,
    Pointer,
    Reaction,
    ReactionUser,
    TableCell,
)
from presscheck.api.roles import Location
from presscheck.api.users import Contribution, User
from presscheck.service.content.serializers import in_shape, text_of
from presscheck.service.db.ids import new_id
from presscheck.service.db.prepared_statements import among
from presscheck.service.http.operation_registry import ApiError, Context, not_found
from presscheck.service.http.serialization import unchecked
from presscheck.service.models.content import ChangeRequestRow, CommentRow, ReactionRow, ReplyRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.permissions import level_in_space, reaches
from presscheck.service.review.change_requests import note_work
from presscheck.service.spaces.serializers import people

_reacted, _replied = ReactionRow.__table__.c, ReplyRow.__table__.c
_REACTIONS = (
    select(_reacted.target_id, _reacted.emoji, _reacted.user_id, _reacted.reacted_at)
    .where(among(_reacted.target_id, "ids"))
    .order_by(_reacted.reacted_at, _reacted.emoji, _reacted.user_id)
)
_REPLIERS = (
    select(_replied.comment_id, _replied.posted_by, func.count(), func.max(_replied.posted_at))
    .where(among(_replied.comment_id, "ids"))
    .group_by(_replied.comment_id, _replied.posted_by)
    .order_by(func.max(_replied.posted_at).desc(), _replied.posted_by)
)
_comment_model, _reply_model, _document = unchecked(Comment), unchecked(CommentReply), unchecked(Document)
_comment_target, _pointer, _location = unchecked(CommentTarget), unchecked(Pointer), unchecked(Location)
_reaction, _reaction_user, _contribution = unchecked(Reaction), unchecked(ReactionUser), unchecked(Contribution)
Written = CommentRow | ReplyRow
"""What a person wrote, and others can react to."""


def has_text(body: Document) -> bool:
    """Whether a body has text."""
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
    """Adds a comment by the caller.

    Args:
        context: the transaction.
        space: the space.
        row: the change request; None for the live space.
        body: its text.
        page_id: the page that it refers to.
        node_id: the block of the page.
        table_cell: the cell of a table.
        review_id: the review that it belongs to.
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
    """Converts a body to its stored form.

    Raises:
        ApiError: 400 if it is empty.
    """
    if not has_text(body):
        raise ApiError(400, "body: must not be empty")
    if body.markdown is None and body.document is not None:
        text_of(body.document)
    return {"markdown": body.markdown} if body.markdown is not None else {"document": body.document}


def comment_in(context: Context, space: SpaceRow, row: ChangeRequestRow | None, comment_id: str) -> CommentRow:
    """Finds a comment by id in this change request, or on the live space."""
    comment = context.session.get(CommentRow, comment_id)
    if comment is None or (comment.space_id, comment.change_request_id) != (space.id, row.id if row else None):
        raise not_found("comment")
    return comment


def reply_to(context: Context, comment: CommentRow, reply_id: str) -> ReplyRow:
    """Finds a reply to a comment by id."""
    reply = context.session.get(ReplyRow, reply_id)
    if reply is None or reply.comment_id != comment.id:
        raise not_found("reply")
    return reply


def may_change(context: Context, space: SpaceRow, written: Written) -> bool:
    """Whether the caller may edit or delete it: its author, and admins of the space."""
    return written.posted_by == context.user.id or reaches(level_in_space(context, space), "admin")


def react(context: Context, target_id: str, added: Iterable[str], removed: Iterable[str]) -> None:
    """Adds and removes emoji reactions of the caller."""
    for emoji in removed:
        known = context.session.get(ReactionRow, (target_id, emoji, context.user.id))
        if known is not None:
            context.session.delete(known)
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
    """Serializes comments, with bodies in the requested format; related data is loaded for all at once.

    Args:
        context: the transaction.
        rows: the comments.
        shape: the format; by default that in which each was posted.
        are_new: whether they were just posted, so that no user has replied or reacted.
    """
    users = people(context, [user for row in rows for user in (row.posted_by, row.resolved_by)])
    reactions = {} if are_new else _reactions(context, [row.id for row in rows])
    repliers = {} if are_new else _repliers(context, [row.id for row in rows])
    spaces = {space_id: context.session.get_one(SpaceRow, space_id) for space_id in {row.space_id for row in rows}}
    return [
        _comment(context, spaces[row.space_id], row, users, reactions.get(row.id, ()), repliers.get(row.id, ()), shape)
        for row in rows
    ]


def as_replies(
    context: Context, space: SpaceRow, comment: CommentRow, rows: Sequence[ReplyRow], shape: Format | None = None
) -> list[CommentReply]:
    """Serializes the replies to one comment."""
    users = people(context, [row.posted_by for row in rows])
    reactions = _reactions(context, [row.id for row in rows])
    return [
        _reply_model(
            urls=_location(location=context.location(f"{_place(comment)}/replies/{row.id}")),
            **_written(context, space, row, users, reactions.get(row.id, ()), shape),
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
    return _comment_model(
        replies=sum(replier.count for replier in repliers),
        repliers=repliers,
        target=_target(row),
        status="resolved" if row.resolved_at else "open",
        resolved_at=row.resolved_at,
        resolved_by=users[row.resolved_by] if row.resolved_by else None,
        urls=_location(location=context.location(_place(row))),
        **_written(context, space, row, users, reactions, shape),
    )


def _written(
    context: Context,
    space: SpaceRow,
    row: Written,
    users: dict[str, User],
    reactions: tuple[Reaction, ...],
    shape: Format | None,
) -> dict[str, Any]:
    """The fields that comments and replies have in common."""
    return {
        "id": row.id,
        "posted_by": users[row.posted_by],
        "posted_at": row.posted_at,
        "edited_at": row.edited_at,
        "reactions": reactions,
        "body": in_shape(_document(**row.body), shape),
        "permissions": _permissions(context, space, row),
    }


def _target(row: CommentRow) -> CommentTarget:
    return _comment_target(
        node=_pointer(id=row.node_id) if row.node_id else None,
        table_cell=TableCell(**row.table_cell) if row.table_cell else None,
        change_request=row.change_request_id,
        review=row.review_id,
        page=_pointer(id=row.page_id) if row.page_id else None,
        space=row.space_id,
        revision=row.revision,
    )


def _permissions(context: Context, space: SpaceRow, row: Written) -> CommentPermissions:
    key = "comment permissions", space.id, row.posted_by == context.user.id
    if key not in context.known:
        context.known[key] = _permitted(level_in_space(context, space), is_own=key[2])
    return context.known[key]


@cache
def _permitted(level: str | None, *, is_own: bool) -> CommentPermissions:
    speaks = reaches(level, "comment")
    changes = speaks and (is_own or reaches(level, "admin"))
    return CommentPermissions(view=True, edit=changes, reply=speaks, delete=changes)


def _place(row: CommentRow) -> str:
    branch = f"/change-requests/{row.change_request_id}" if row.change_request_id else ""
    return f"/spaces/{row.space_id}{branch}/comments/{row.id}"


def _reactions(context: Context, targets: Sequence[str]) -> dict[str, tuple[Reaction, ...]]:
    rows = context.rows(_REACTIONS, ids=targets)
    users = people(context, [row.user_id for row in rows])
    by_emoji: dict[str, dict[str, list[ReactionUser]]] = {}
    for row in rows:
        reacted = _reaction_user(user=users[row.user_id], reacted_at=row.reacted_at)
        by_emoji.setdefault(row.target_id, {}).setdefault(row.emoji, []).append(reacted)
    return {
        target: tuple(_reaction(emoji=emoji, count=len(who), users=tuple(who)) for emoji, who in found.items())
        for target, found in by_emoji.items()
    }


def _repliers(context: Context, comments: Sequence[str]) -> dict[str, tuple[Contribution, ...]]:
    rows = context.rows(_REPLIERS, ids=comments)
    users = people(context, [row[1] for row in rows])
    contributions: dict[str, tuple[Contribution, ...]] = {}
    for comment_id, user_id, count, latest in rows:
        part = _contribution(user=users[user_id], count=count, updated_at=latest)
        contributions[comment_id] = (*contributions.get(comment_id, ()), part)
    return contributions
