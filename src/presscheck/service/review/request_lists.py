"""Lists change requests of one or many spaces, newest first, without reading more of them than are returned.

Each space is read by an index, at most one page of it: of all change requests, or of those in which a person has a
part. Of several people, the one with the fewest decides which are read. How many there are is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, FromClause, Select, and_, bindparam, false, func, select, tuple_

from presscheck.api.change_requests import ChangeRequest, ListChangeRequests, ListOrganizationChangeRequests
from presscheck.api.operation import Page
from presscheck.service.http.operation_registry import Context
from presscheck.service.http.pagination import page_of_rows
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
    chosen = _Chosen(sorted(numbers[fewest.role]), status, fewest, others)
    return page_of_rows(
        context,
        call,
        chosen.all(),
        lambda found: as_change_requests(context, found),
        order=(ChangeRequestRow.updated_at, ChangeRequestRow.id),
        newest_first=True,
        total=None if others and chosen.spaces else sum(numbers[fewest.role].values()),
        first=chosen.first,
    )


@dataclass(frozen=True)
class _Chosen:
    """Which change requests are listed; `spaces` are those that have any."""

    spaces: Sequence[str]
    status: str
    part: _Part
    others: Sequence[_Part]

    def all(self) -> Select[Any]:
        """Selects the ids of all of them."""
        source = self._source()
        return select(source.id).where(source.space_id.in_(self.spaces), *self._conditions(source, None))

    def first(self, place: list[Any] | None, most: int) -> Select[Any]:
        """Selects those that can be among the first so many after a place."""
        if not self.spaces:
            return select(ChangeRequestRow).where(false())
        source = self._source()
        newest = source.updated_at.desc().nulls_last(), source.id.desc().nulls_last()
        if len(self.spaces) == 1:
            within = source.space_id == self.spaces[0]
            chosen = select(source.id).where(within, *self._conditions(source, place))
        else:
            last = [func.coalesce(self._nth(place, most, name), "") for name in ("updated_at", "id")]
            not_before = tuple_(source.updated_at, source.id) >= tuple_(*last)
            within = and_(source.space_id == _spaces.c.id, not_before, *self._conditions(source, place))
            # an outer join, so that SQLite begins with the spaces; a space without any adds a null, which is no id
            chosen = select(source.id).select_from(_spaces.outerjoin(source.table, within))
            chosen = chosen.where(_spaces.c.id.in_(self.spaces))
        return select(ChangeRequestRow).where(ChangeRequestRow.id.in_(chosen.order_by(*newest).limit(most)))

    def _nth(self, place: list[Any] | None, most: int, name: str) -> ColumnElement[Any]:
        """The time or id of the last one of a space that can be among the first so many; null if it has fewer."""
        source = self._source()
        return (
            select(getattr(source, name))
            .where(source.space_id == _spaces.c.id, *self._conditions(source, place))
            .order_by(source.updated_at.desc(), source.id.desc())
            .limit(1)
            .offset(most - 1)
            .correlate(_spaces)
            .scalar_subquery()
        )

    def _source(self) -> _Source:
        if self.part == _ALL:
            table = ChangeRequestRow.__table__.alias()
            return _Source(table, table.c.id, table.c.space_id, table.c.status, table.c.updated_at)
        table = ChangeRequestPersonRow.__table__.alias()
        return _Source(table, table.c.change_request_id, table.c.space_id, table.c.status, table.c.updated_at)

    def _conditions(self, source: _Source, place: list[Any] | None) -> list[ColumnElement[bool]]:
        conditions = [source.status == self.status]
        if self.part != _ALL:
            conditions += [source.table.c.role == self.part.role, source.table.c.user_id == self.part.user_id]
        for other in self.others:
            people = ChangeRequestPersonRow.__table__.alias().c
            has_part = select(people.role).where(
                people.change_request_id == source.id, people.user_id == other.user_id, people.role == other.role
            )
            conditions.append(has_part.correlate(source.table).exists())
        if place is not None:
            conditions.append(tuple_(source.updated_at, source.id) < tuple_(*place))
        return conditions


class _Source(NamedTuple):
    """The table that is read, of all change requests or of people, and its columns."""

    table: FromClause
    id: ColumnElement[str]
    space_id: ColumnElement[str]
    status: ColumnElement[str]
    updated_at: ColumnElement[str]
