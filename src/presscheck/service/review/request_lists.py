"""Lists change requests of one or many spaces, newest first, without reading more of them than are returned.

Each space is read by an index, at most one page of it: of all change requests, or of those in which a person has a
part. Of several people, the one with the fewest decides which are read. How many there are is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import BindParameter, ColumnElement, FromClause, Integer, Select, and_, bindparam, func, select, tuple_

from presscheck.api.change_requests import ChangeRequest, ListChangeRequests, ListOrganizationChangeRequests
from presscheck.api.operation import Page
from presscheck.service.http.operation_registry import Context
from presscheck.service.http.pagination import MOST_COUNTED, page_of_found
from presscheck.service.models.content import ChangeRequestCountRow, ChangeRequestPersonRow, ChangeRequestRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.review.change_requests import as_change_requests

_spaces, _counts = SpaceRow.__table__, ChangeRequestCountRow.__table__.c
_COUNTS = select(_counts.role, _counts.space_id, _counts.number).where(
    _counts.space_id.in_(bindparam("spaces", expanding=True)),
    _counts.status == bindparam("status"),
    tuple_(_counts.role, _counts.user_id).in_(bindparam("parts", expanding=True)),
    _counts.number > 0,
)


class _Part(NamedTuple):
    """The part that a person has in a change request; everybody in all of them, if both are empty."""

    role: str
    user_id: str


_ALL = _Part("", "")


def listed(
    context: Context, call: ListChangeRequests | ListOrganizationChangeRequests, spaces: Sequence[str]
) -> Page[ChangeRequest]:
    """One page of the change requests in one state, and of the people that the call names.

    Args:
        context: the transaction.
        call: the filters, the cursor and the limit.
        spaces: the ids of the spaces.
    """
    asked = {"reviewer": call.requested_reviewer, "author": call.creator, "contributor": call.contributor}
    parts = [_Part(role, user_id) for role, user_id in asked.items() if user_id is not None] or [_ALL]
    status = call.status or "open"
    if call.conversations_issues_cluster is not None:
        spaces = ()  # not supported here: no change request has any
    numbers: dict[str, dict[str, int]] = {part.role: {} for part in parts}
    if spaces:
        for role, space_id, number in context.rows(_COUNTS, spaces=spaces, status=status, parts=parts):
            numbers[role][space_id] = number
    fewest, *others = sorted(parts, key=lambda part: sum(numbers[part.role].values()))
    with_some = sorted(numbers[fewest.role])
    chosen = _Chosen(fewest != _ALL, len(others), len(with_some) > 1)
    values: dict[str, Any] = {"spaces": with_some, "status": status, "role": fewest.role, "user": fewest.user_id}
    for number, other in enumerate(others):
        values |= {f"role_{number}": other.role, f"user_{number}": other.user_id}

    def read(place: list[Any] | None, most: int) -> Sequence[ChangeRequestRow]:
        if not with_some:
            return ()
        after = {} if place is None else {"time": place[0], "id": place[1]}
        statement = _first(chosen, place is not None)
        return context.session.scalars(statement, {**values, **after, "most": most, "last": most - 1}).all()

    def total() -> int | None:
        if not others or not with_some:
            return sum(numbers[fewest.role].values())
        number = context.rows(_number(chosen), **values)[0][0]
        return number if number <= MOST_COUNTED else None

    order = (ChangeRequestRow.updated_at, ChangeRequestRow.id)
    return page_of_found(call, read, lambda found: as_change_requests(context, found), order=order, total=total)


class _Chosen(NamedTuple):
    """Which change requests a statement lists: of a person, of so many others as well, in one space or in several."""

    of_person: bool
    others: int
    in_several: bool


@lru_cache
def _number(chosen: _Chosen) -> Select[Any]:
    """Counts them, up to one more than the answer says."""
    source = _source(chosen)
    within = source.space_id.in_(bindparam("spaces", expanding=True))
    some = select(source.id).where(within, *_conditions(chosen, source, after=False)).limit(MOST_COUNTED + 1)
    return select(func.count()).select_from(some.subquery())


@lru_cache
def _first(chosen: _Chosen, after: bool) -> Select[Any]:
    """Selects the first so many of them, after a place or from the start."""
    source = _source(chosen)
    newest = source.updated_at.desc().nulls_last(), source.id.desc().nulls_last()
    spaces: BindParameter[Any] = bindparam("spaces", expanding=True)
    if not chosen.in_several:
        found = select(source.id).where(source.space_id.in_(spaces), *_conditions(chosen, source, after=after))
    else:
        last = [func.coalesce(_nth(chosen, name, after=after), "") for name in ("updated_at", "id")]
        not_before = tuple_(source.updated_at, source.id) >= tuple_(*last)
        within = and_(source.space_id == _spaces.c.id, not_before, *_conditions(chosen, source, after=after))
        # an outer join, so that SQLite begins with the spaces; a space without any adds a null, which is no id
        found = select(source.id).select_from(_spaces.outerjoin(source.table, within))
        found = found.where(_spaces.c.id.in_(spaces))
    ids = found.order_by(*newest).limit(bindparam("most", type_=Integer))
    listing = select(ChangeRequestRow).where(ChangeRequestRow.id.in_(ids))
    return listing.order_by(ChangeRequestRow.updated_at.desc(), ChangeRequestRow.id.desc()).limit(
        bindparam("most", type_=Integer)
    )


def _nth(chosen: _Chosen, name: str, *, after: bool) -> ColumnElement[Any]:
    """The time or id of the last one of a space that can be among the first so many; null if it has fewer."""
    source = _source(chosen)
    return (
        select(getattr(source, name))
        .where(source.space_id == _spaces.c.id, *_conditions(chosen, source, after=after))
        .order_by(source.updated_at.desc(), source.id.desc())
        .limit(1)
        .offset(bindparam("last", type_=Integer))
        .correlate(_spaces)
        .scalar_subquery()
    )


def _source(chosen: _Chosen) -> _Source:
    if not chosen.of_person:
        table = ChangeRequestRow.__table__.alias()
        return _Source(table, table.c.id, table.c.space_id, table.c.status, table.c.updated_at)
    table = ChangeRequestPersonRow.__table__.alias()
    return _Source(table, table.c.change_request_id, table.c.space_id, table.c.status, table.c.updated_at)


def _conditions(chosen: _Chosen, source: _Source, *, after: bool) -> list[ColumnElement[bool]]:
    conditions = [source.status == bindparam("status")]
    if chosen.of_person:
        conditions += [source.table.c.role == bindparam("role"), source.table.c.user_id == bindparam("user")]
    for number in range(chosen.others):
        people = ChangeRequestPersonRow.__table__.alias().c
        has_part = select(people.role).where(
            people.change_request_id == source.id,
            people.user_id == bindparam(f"user_{number}"),
            people.role == bindparam(f"role_{number}"),
        )
        conditions.append(has_part.correlate(source.table).exists())
    if after:
        conditions.append(tuple_(source.updated_at, source.id) < tuple_(bindparam("time"), bindparam("id")))
    return conditions


class _Source(NamedTuple):
    """The table that is read, of all change requests or of people, and its columns."""

    table: FromClause
    id: ColumnElement[str]
    space_id: ColumnElement[str]
    status: ColumnElement[str]
    updated_at: ColumnElement[str]
