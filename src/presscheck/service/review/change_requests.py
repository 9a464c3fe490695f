"""Change requests as branches of a space: lookup, serialization, and activity tracking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import and_, bindparam, func, select, text

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.roles import Location
from presscheck.service.db.statements import among
from presscheck.service.http.operations import ApiError, Context, not_found
from presscheck.service.models.content import ChangeRequestRow, CommentRow
from presscheck.service.models.organizations import MemberRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.permissions import know_member, space_for
from presscheck.service.spaces.serializers import people

_comments = CommentRow.__table__.c
# FILTER instead of WHERE: with WHERE, SQLite would use the index of reviews and read all comments without a review. The
# index of open comments has all columns of this query, so no comment row is read
_OPEN_COMMENTS = (
    select(
        _comments.change_request_id, func.count().filter(_comments.resolved_at.is_(None), _comments.review_id.is_(None))
    )
    .where(among(_comments.change_request_id, "ids"))
    .group_by(_comments.change_request_id)
)
_spaces, _requests, _members = SpaceRow.__table__.c, ChangeRequestRow.__table__.c, MemberRow.__table__.c
_SPACE_AND_REQUEST = (
    select(SpaceRow, ChangeRequestRow, _members.user_id, _members.role)
    .select_from(
        SpaceRow.__table__.outerjoin(
            MemberRow.__table__,
            and_(
                _members.organization_id == _spaces.organization_id,
                _members.user_id == bindparam("user"),
                ~_members.disabled,
            ),
        ).outerjoin(
            ChangeRequestRow.__table__,
            and_(_requests.space_id == _spaces.id, _requests.id == bindparam("change_request")),
        )
    )
    .where(_spaces.id == bindparam("space"))
)
_ADD_CONTRIBUTION = text(
    "INSERT INTO contributors (change_request_id, user_id, action, count, updated_at) "
    "VALUES (:change_request, :user, :action, 1, :now) ON CONFLICT (change_request_id, user_id, action) "
    "DO UPDATE SET count = contributors.count + 1, updated_at = excluded.updated_at"
)
_BY_NUMBER = select(ChangeRequestRow).where(
    ChangeRequestRow.space_id == bindparam("space"), ChangeRequestRow.number == bindparam("number")
)


def change_request_for(
    context: Context, space_id: str, change_request: str, required: str = "read"
) -> tuple[SpaceRow, ChangeRequestRow]:
    """Return a change request by id or number, and its space, if the caller has the level `required` in the space."""
    if required != "read":
        know_place(context, space_id, change_request)
    space = space_for(context, space_id, required)
    return space, branch_of(context, space, change_request)


def know_place(context: Context, space_id: str, change_request: str | None = None) -> None:
    """Load in one statement the rows that a write checks first: space, role of the caller, and change request."""
    values = {"space": space_id, "user": context.user.id, "change_request": change_request or ""}
    for space, row, member, role in context.session.execute(_SPACE_AND_REQUEST, values):
        context.known["place"] = space, row  # keeps a reference, because a session drops rows that nothing refers to
        know_member(context, space.organization_id, is_member=bool(member), role=role)


def branch_of(context: Context, space: SpaceRow, change_request: str) -> ChangeRequestRow:
    """Return the change request of a space with this id or number.

    Raises:
        ApiError: 404, the change request does not exist.
    """
    row = context.row(ChangeRequestRow, change_request)
    if row is not None and row.space_id != space.id:
        row = None
    if row is None and change_request.isascii() and change_request.isdecimal() and len(change_request) < 10:
        row = context.session.scalar(_BY_NUMBER, {"space": space.id, "number": int(change_request)})
    if row is None:
        raise not_found("change request")
    return row


def require_unfinished(row: ChangeRequestRow) -> None:
    """Refuse changes to a merged or archived change request.

    Raises:
        ApiError: 409, the change request is merged or archived.
    """
    if row.status in ("merged", "archived"):
        raise ApiError(409, f"Change request #{row.number} is {row.status}.")


def ancestor(row: ChangeRequestRow) -> str:
    """Return the id of the newest live revision that a change request contains."""
    return row.revision_merged_ancestor or row.revision_initial


def note_work(context: Context, row: ChangeRequestRow, action: str | None = None, **changed: Any) -> None:
    """Update a change request and record activity on it.

    Args:
        context: the transaction.
        row: the change request.
        action: `edit` or `comment`, which makes the caller a participant, or None.
        changed: new values of columns of the change request.
    """
    now = context.now()
    row.updated_at = max(now, row.updated_at)
    for name, value in changed.items():
        setattr(row, name, value)
    context.session.flush()
    if action is not None:
        contribution = {"change_request": row.id, "user": context.user.id, "action": action, "now": now}
        context.session.connection().execute(_ADD_CONTRIBUTION, contribution)


def as_change_requests(
    context: Context, rows: Sequence[ChangeRequestRow], *, are_new: bool = False
) -> list[ChangeRequest]:
    """Serialize change requests, loading related data for all of them together.

    Args:
        context: the transaction.
        rows: the change requests.
        are_new: whether the change requests were just created. New ones have no comments, and no query is needed.
    """
    users = people(context, [user for row in rows for user in (row.created_by, row.merged_by)])
    # no query: the spaces were loaded to check the caller's access
    spaces = [context.row(SpaceRow, space) for space in {row.space_id for row in rows}]
    live = {space.id: space.revision_id for space in spaces if space}
    comments = {} if are_new else open_comments(context, [row.id for row in rows])
    answers: list[ChangeRequest] = []
    for row in rows:
        place = f"/spaces/{row.space_id}/change-requests"
        answers.append(
            ChangeRequest(
                id=row.id,
                number=row.number,
                status=row.status,
                subject=row.subject,
                description=row.description,
                created_by=users[row.created_by],
                created_at=row.created_at,
                updated_at=row.updated_at,
                merged_by=users[row.merged_by] if row.merged_by else None,
                merged_at=row.merged_at,
                space=row.space_id,
                revision=row.revision,
                revision_initial=row.revision_initial,
                revision_merged_ancestor=row.revision_merged_ancestor,
                revision_merged=row.revision_merged,
                comments=comments.get(row.id, 0),
                outdated=row.status != "merged" and ancestor(row) != live[row.space_id],
                urls=Location(location=context.location(f"{place}/{row.id}"), app=context.app(f"{place}/{row.number}")),
            )
        )
    return answers


def as_change_request(context: Context, row: ChangeRequestRow, *, is_new: bool = False) -> ChangeRequest:
    """Serialize one change request, see `as_change_requests`."""
    return as_change_requests(context, [row], are_new=is_new)[0]


def open_comments(context: Context, ids: Sequence[str]) -> dict[str | None, int]:
    """Return the number of open comments by change request id.

    Change requests without open comments are left out. Comments of reviews are not counted, because they need no
    response.
    """
    counted: Any = context.rows(_OPEN_COMMENTS, ids=ids) if ids else ()
    return dict(counted)
