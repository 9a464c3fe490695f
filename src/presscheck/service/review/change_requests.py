"""Change requests as branches of a space: lookup, serialization, and activity tracking."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import bindparam, func, select

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.roles import Location
from presscheck.service.content.revisions import MOST_AT_ONCE
from presscheck.service.http.operation_registry import ApiError, Context, not_found
from presscheck.service.http.unchecked_models import unchecked
from presscheck.service.models.content import ChangeRequestRow, CommentRow, ContributorRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.permissions import space_for
from presscheck.service.spaces.user_serializer import people

_comments = CommentRow.__table__.c
_change_request, _location = unchecked(ChangeRequest), unchecked(Location)
# a filter of what is counted, not of the rows: SQLite would look for all comments without a review by their index
_OPEN_COMMENTS = (
    select(
        _comments.change_request_id, func.count().filter(_comments.resolved_at.is_(None), _comments.review_id.is_(None))
    )
    .where(_comments.change_request_id.in_(bindparam("ids", expanding=True)))
    .group_by(_comments.change_request_id)
)
_BY_ID = select(ChangeRequestRow).where(
    ChangeRequestRow.space_id == bindparam("space"), ChangeRequestRow.id == bindparam("id")
)
_BY_NUMBER = select(ChangeRequestRow).where(
    ChangeRequestRow.space_id == bindparam("space"), ChangeRequestRow.number == bindparam("number")
)


def change_request_for(
    context: Context, space_id: str, change_request: str, required: str = "read"
) -> tuple[SpaceRow, ChangeRequestRow]:
    """Returns a change request by id or number, and its space, if the caller has the level `required` in the space."""
    space = space_for(context, space_id, required)
    return space, branch_of(context, space, change_request)


def branch_of(context: Context, space: SpaceRow, change_request: str) -> ChangeRequestRow:
    """Finds a change request of a space by id or number."""
    row = context.session.scalar(_BY_ID, {"space": space.id, "id": change_request})
    if row is None and change_request.isascii() and change_request.isdecimal() and len(change_request) < 10:
        row = context.session.scalar(_BY_NUMBER, {"space": space.id, "number": int(change_request)})
    if row is None:
        raise not_found("change request")
    return row


def require_unfinished(row: ChangeRequestRow) -> None:
    """Refuses changes to a merged or archived change request.

    Raises:
        ApiError: 409.
    """
    if row.status in ("merged", "archived"):
        raise ApiError(409, f"Change request #{row.number} is {row.status}.")


def ancestor(row: ChangeRequestRow) -> str:
    """The newest live revision that a change request contains."""
    return row.revision_merged_ancestor or row.revision_initial


def note_work(context: Context, row: ChangeRequestRow, action: str | None = None) -> None:
    """Records activity on a change request; with an action (edit, comment), the caller becomes a participant."""
    now = context.now()
    row.updated_at = max(now, row.updated_at)
    if action is None:
        return
    part = context.session.get(ContributorRow, (row.id, context.user.id, action))
    if part is None:
        part = ContributorRow(change_request_id=row.id, user_id=context.user.id, action=action, count=0, updated_at=now)
        context.session.add(part)
    part.count += 1
    part.updated_at = now


def as_change_requests(context: Context, rows: Sequence[ChangeRequestRow]) -> list[ChangeRequest]:
    """Serializes change requests; related data is loaded for all of them at once."""
    users = people(context, [user for row in rows for user in (row.created_by, row.merged_by)])
    # they were read to see whether the caller may, so this takes no statement
    live = {space: context.session.get_one(SpaceRow, space).revision_id for space in {row.space_id for row in rows}}
    comments = open_comments(context, [row.id for row in rows])
    return [
        _change_request(
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
            urls=_location(
                location=context.location(f"/spaces/{row.space_id}/change-requests/{row.id}"),
                app=context.app(f"/spaces/{row.space_id}/change-requests/{row.number}"),
            ),
        )
        for row in rows
    ]


def as_change_request(context: Context, row: ChangeRequestRow) -> ChangeRequest:
    """Serializes one change request."""
    return as_change_requests(context, [row])[0]


def open_comments(context: Context, ids: Sequence[str]) -> dict[str | None, int]:
    """The number of open comments by change request id; change requests without any comment are missing.

    The text of a review is not counted, because it needs no answer.
    """
    counts: dict[str | None, int] = {}
    for start in range(0, len(ids), MOST_AT_ONCE):
        counted = context.rows(_OPEN_COMMENTS, ids=ids[start : start + MOST_AT_ONCE])
        counts.update(dict(counted))
    return counts
