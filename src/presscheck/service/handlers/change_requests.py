"""Change requests: list, create, edit, open and archive. A merged change request cannot be changed.

A listing over several spaces, newest first, must not read all change requests of each space. It reads the first page
of each space from an index and then takes the first page of the results. If the listing is filtered by people, it
reads the change requests of the person with the fewest and looks up the other people by key. The number of change
requests for each space, status and person is stored in `ChangeRequestCountRow`, so a total needs no counting unless the
listing is filtered by several people.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    FromClause,
    Integer,
    Select,
    bindparam,
    func,
    literal_column,
    select,
    true,
    tuple_,
)

from presscheck.api.change_requests import (
    ChangeRequest,
    CreateChangeRequest,
    GetChangeRequest,
    ListChangeRequests,
    ListOrganizationChangeRequests,
    UpdateChangeRequest,
)
from presscheck.api.operation import Page
from presscheck.service.db.ids import new_id
from presscheck.service.db.statements import among
from presscheck.service.http.operations import ApiError, Context, handles
from presscheck.service.http.pagination import MOST_COUNTED, SortKey, page_of_found
from presscheck.service.models.content import (
    ChangeRequestCountRow,
    ChangeRequestPersonRow,
    ChangeRequestRow,
    ContributorRow,
    RequestedReviewerRow,
)
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.permissions import organization_for, space_for, visible_space_ids
from presscheck.service.review.change_requests import (
    as_change_request,
    as_change_requests,
    change_request_for,
    know_place,
    note_work,
)

_KEY = SortKey.of((ChangeRequestRow.updated_at, ChangeRequestRow.id))
_spaces, _counts = SpaceRow.__table__, ChangeRequestCountRow.__table__.c
_COUNTS = select(_counts.role, _counts.user_id, _counts.space_id, _counts.number).where(
    among(_counts.space_id, "spaces"),
    among(_counts.role, "roles"),
    among(_counts.user_id, "users"),
    _counts.status == bindparam("status"),
    _counts.number > 0,
)
_PARTS = {"reviewer": RequestedReviewerRow, "contributor": ContributorRow}
LONGEST_SUBJECT = 100


class _Part(NamedTuple):
    """A filter by user and role, such as author; `_ALL` matches all change requests."""

    role: str
    user_id: str


_ALL = _Part("", "")


def listed(
    context: Context, call: ListChangeRequests | ListOrganizationChangeRequests, spaces: Sequence[str]
) -> Page[ChangeRequest]:
    """Return one page of the change requests that match the filters of a call, by default all open change requests.

    Args:
        context: the transaction.
        call: the filters, the cursor and the limit.
        spaces: the ids of the spaces.
    """
    people_by_role = {"reviewer": call.requested_reviewer, "author": call.creator, "contributor": call.contributor}
    parts = [_Part(role, user_id) for role, user_id in people_by_role.items() if user_id is not None] or [_ALL]
    status = call.status or "open"
    if call.conversations_issues_cluster is not None:
        spaces = ()  # not supported here: no change request has any
    numbers: dict[str, dict[str, int]] = {part.role: {} for part in parts}
    if spaces:
        roles, users = zip(*parts, strict=True)
        for role, user_id, space_id, number in context.rows(
            _COUNTS, spaces=spaces, roles=roles, users=users, status=status
        ):
            if _Part(role, user_id) in parts:
                numbers[role][space_id] = number
    fewest, *others = sorted(parts, key=lambda part: sum(numbers[part.role].values()))
    spaces_with_matches = sorted(numbers[fewest.role])
    shape = _FilterShape(fewest != _ALL, tuple(other.role for other in others), len(spaces_with_matches) > 1)
    values: dict[str, Any] = {
        "spaces": spaces_with_matches,
        "space": spaces_with_matches[0] if spaces_with_matches else "",
        "status": status,
        "role": fewest.role,
        "user": fewest.user_id,
    }
    for number, other in enumerate(others):
        values[f"user_{number}"] = other.user_id

    def read(place: list[Any] | None, most: int) -> Sequence[ChangeRequestRow]:
        if not spaces_with_matches:
            return ()
        after = {} if place is None else {"time": place[0], "id": place[1]}
        statement = _first(shape, place is not None, context.session.connection().dialect.name == "postgresql")
        return context.records(statement, **values, **after, most=most)

    def total() -> int | None:
        if not others or not spaces_with_matches:
            return sum(numbers[fewest.role].values())
        number = context.rows(_number(shape), **values)[0][0]
        return number if number <= MOST_COUNTED else None

    return page_of_found(call, read, lambda page_rows: as_change_requests(context, page_rows), key=_KEY, total=total)


class _FilterShape(NamedTuple):
    """The properties of the filters that determine the SQL of a listing.

    Attributes:
        of_person: whether the query starts from the change requests of one person.
        others: the roles of further people that the listing is filtered by.
        in_several: whether several spaces have matches.
    """

    of_person: bool
    others: tuple[str, ...]
    in_several: bool


@lru_cache
def _number(shape: _FilterShape) -> Select[Any]:
    """Return a query that counts the matches, up to one more than the largest reported total."""
    source = _source(shape, "each")
    within = among(source.space_id, "spaces")
    matches = select(source.id).where(within, *_conditions(shape, source, after=False)).limit(MOST_COUNTED + 1)
    return select(func.count()).select_from(matches.subquery())


@lru_cache
def _first(shape: _FilterShape, after: bool, has_lateral: bool) -> Select[Any]:
    """Return a query for the first matches, from the start or after the position of a cursor.

    Args:
        shape: the shape of the filters.
        after: whether there is a cursor.
        has_lateral: whether the database supports ``LATERAL`` joins.
    """
    source = _source(shape, "each")
    conditions = _conditions(shape, source, after=after)
    if not shape.in_several:
        ids = select(source.id).where(source.space_id == bindparam("space"), *conditions)
    else:
        of_space = source.space_id == _spaces.c.id, *conditions
        if has_lateral:
            each = _newest(select(source.id).where(*of_space), source).add_columns(source.updated_at).lateral()
            source = source._replace(id=each.c[0], updated_at=each.c[1])
            joined = _spaces.join(each, true())
        else:  # SQLite has no LATERAL: a subquery returns the row ids of each space, and a join reads those rows again
            rows = _newest(select(literal_column("each.rowid", Integer)).where(*of_space), source).correlate(_spaces)
            source = _source(shape, "again")
            joined = _spaces.join(source.table, literal_column("again.rowid", Integer).in_(rows))
        ids = select(source.id).select_from(joined).where(among(_spaces.c.id, "spaces"))
    listing = select(ChangeRequestRow).where(ChangeRequestRow.id.in_(_newest(ids, source)))
    return listing.order_by(ChangeRequestRow.updated_at.desc(), ChangeRequestRow.id.desc())


def _newest(ids: Select[Any], source: _Source) -> Select[Any]:
    """Sort ids, newest first, and limit them to the size of a page."""
    return ids.order_by(source.updated_at.desc(), source.id.desc()).limit(bindparam("most", type_=Integer))


def _source(shape: _FilterShape, name: str) -> _Source:
    if not shape.of_person:
        table = ChangeRequestRow.__table__.alias(name)
        return _Source(table, table.c.id, table.c.space_id, table.c.status, table.c.updated_at)
    table = ChangeRequestPersonRow.__table__.alias(name)
    return _Source(table, table.c.change_request_id, table.c.space_id, table.c.status, table.c.updated_at)


def _conditions(shape: _FilterShape, source: _Source, *, after: bool) -> list[ColumnElement[bool]]:
    conditions = [source.status == bindparam("status")]
    if shape.of_person:
        conditions += [source.table.c.role == bindparam("role"), source.table.c.user_id == bindparam("user")]
    for number, role in enumerate(shape.others):
        user: BindParameter[Any] = bindparam(f"user_{number}")
        conditions.append(_has_part(role, source.id, user).correlate(source.table).exists())
    if after:
        conditions.append(tuple_(source.updated_at, source.id) < tuple_(bindparam("time"), bindparam("id")))
    return conditions


def _has_part(role: str, change_request: ColumnElement[str], user: BindParameter[Any]) -> Select[Any]:
    """Return a query, on the smallest possible table, with a row if a user has a role in a change request."""
    table = _PARTS.get(role, ChangeRequestPersonRow).__table__.alias()
    part = select(table.c.user_id).where(table.c.change_request_id == change_request, table.c.user_id == user)
    return part if role in _PARTS else part.where(table.c.role == role)


class _Source(NamedTuple):
    """The table that a listing reads, either of change requests or of their people, and its columns."""

    table: FromClause
    id: ColumnElement[str]
    space_id: ColumnElement[str]
    status: ColumnElement[str]
    updated_at: ColumnElement[str]


@handles(ListChangeRequests)
def list_change_requests(context: Context, call: ListChangeRequests) -> Page[ChangeRequest]:
    """List the change requests of a space with one status (by default open), most recently updated first."""
    space = space_for(context, call.space_id)
    return listed(context, call, [space.id])


@handles(ListOrganizationChangeRequests)
def list_organization_change_requests(context: Context, call: ListOrganizationChangeRequests) -> Page[ChangeRequest]:
    """List the change requests in the spaces of an organization that the caller may see, latest update first."""
    organization = organization_for(context, call.organization_id, "guest")
    return listed(context, call, [*visible_space_ids(context, organization.id)])


@handles(CreateChangeRequest)
def create_change_request(context: Context, call: CreateChangeRequest) -> ChangeRequest:
    """Create a draft from the live content, with the next number of the space."""
    if call.subject and len(call.subject) > LONGEST_SUBJECT:
        raise ApiError(400, f"subject: must have at most {LONGEST_SUBJECT} characters")
    know_place(context, call.space_id)
    space = space_for(context, call.space_id, "edit")
    row = begin_change_request(context, space, call.subject or "")
    return as_change_request(context, row, is_new=True)


def begin_change_request(context: Context, space: SpaceRow, subject: str) -> ChangeRequestRow:
    """Create a draft change request from the live content of a space."""
    space.numbered += 1
    now = context.now()
    row = ChangeRequestRow(
        id=new_id(),
        space_id=space.id,
        number=space.numbered,
        status="draft",
        subject=subject,
        created_by=context.user.id,
        created_at=now,
        updated_at=now,
        revision=space.revision_id,
        revision_initial=space.revision_id,
    )
    context.session.add(row)
    context.session.flush()
    return row


@handles(GetChangeRequest)
def get_change_request(context: Context, call: GetChangeRequest) -> ChangeRequest:
    """Return a change request."""
    return as_change_request(context, change_request_for(context, call.space_id, call.change_request_id)[1])


@handles(UpdateChangeRequest)
def update_change_request(context: Context, call: UpdateChangeRequest) -> ChangeRequest:
    """Change the subject, description or state."""
    _, row = change_request_for(context, call.space_id, call.change_request_id, "edit")
    if row.status == "merged":
        raise ApiError(409, f"Change request #{row.number} is already merged. A merge cannot be undone.")
    changed: dict[str, Any] = {}
    if call.subject is not None:
        changed["subject"] = call.subject
    if "description" in call.model_fields_set:
        changed["description"] = call.description
    if call.status is not None:
        changed["status"] = call.status
    if call.model_fields_set & {"subject", "description", "status"}:
        note_work(context, row, **changed)
    return as_change_request(context, row)
