"""Pagination. The cursor of a stored list is the sort key of the last item, so new items do not shift pages."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar, cast

from sqlalchemy import Integer, Select, bindparam, func, literal, select, tuple_
from sqlalchemy.orm import InstrumentedAttribute

from presscheck.api.operation import Cursor, Page, Paged
from presscheck.service.http.operations import ApiError, Context, is_fit

Item = TypeVar("Item")
Row = TypeVar("Row")

USUAL_LIMIT = 50
"""Default number of items per page."""
MOST_COUNTED = 1000
"""Maximum number of items that are counted for `total`. Longer lists have no total, unless it is stored."""
LARGEST = 2**63
"""Exclusive limit for integers in cursors; the database has none that are larger."""


class SortKey(NamedTuple):
    """The sort key of a list: attributes of its rows, and the types of their values."""

    names: tuple[str, ...]
    kinds: tuple[type, ...]

    @classmethod
    def of(cls, columns: Iterable[InstrumentedAttribute[Any]]) -> SortKey:
        """Return the sort key for columns. Lists cache it, because SQLAlchemy computes each name and type again."""
        each = [*columns]
        return cls(tuple(column.key for column in each), tuple(column.type.python_type for column in each))


def page_of_rows(
    context: Context,
    call: Paged,
    rows: Select[Row],
    build: Callable[[Sequence[Row]], Iterable[Item]],
    *,
    order: Sequence[InstrumentedAttribute[Any]],
    newest_first: bool = False,
) -> Page[Item]:
    """Return one page of a list of rows.

    Args:
        context: the transaction.
        call: the operation, with cursor and limit.
        rows: selects all items, unordered and without duplicates, but without DISTINCT.
        build: serializes the rows of a page.
        order: columns that are never null and are unique together; the last is usually the id.
        newest_first: whether to sort in descending order.
    """

    return page_of_listing(context, call, Listing(rows, order), {}, build, newest_first=newest_first)


class Listing(Generic[Row]):
    """A list of rows with prepared statements, see `page_of_rows`.

    Args:
        rows: selects all items, unordered, with a parameter for each value of a call.
        order: columns that are never null and are unique together.
    """

    def __init__(self, rows: Select[Row], order: Sequence[InstrumentedAttribute[Any]]) -> None:
        self.key, self._rows, self._order = SortKey.of(order), rows, order
        self._pages: dict[tuple[bool, bool], Select[Row]] = {}

    @cached_property
    def count(self) -> Select[int]:
        """A query for the number of items, which counts at most one more than `MOST_COUNTED`."""
        limited = self._rows.with_only_columns(literal(1), maintain_column_froms=True).limit(MOST_COUNTED + 1)
        return select(func.count()).select_from(limited.subquery())

    def page(self, *, newest_first: bool, after: bool) -> Select[Row]:
        """Return a query for the first items, or with `after` for the items that follow a sort key."""
        if (newest_first, after) not in self._pages:
            rows = self._rows
            if after:
                place = (bindparam(f"after_{number}", type_=column.type) for number, column in enumerate(self._order))
                key, first = tuple_(*self._order), tuple_(*place)
                rows = rows.where(key < first if newest_first else key > first)
            rows = rows.order_by(*(column.desc() if newest_first else column.asc() for column in self._order))
            self._pages[newest_first, after] = rows.limit(bindparam("most", type_=Integer))
        return self._pages[newest_first, after]


def page_of_listing(
    context: Context,
    call: Paged,
    listing: Listing[Row],
    values: dict[str, Any],
    build: Callable[[Sequence[Row]], Iterable[Item]],
    *,
    newest_first: bool = False,
    fitting: Callable[[Sequence[Row]], int] = len,
) -> Page[Item]:
    """Return one page of a list with prepared statements, see `page_of_rows`.

    Args:
        context: the transaction.
        call: the operation, with cursor and limit.
        listing: the list.
        values: the parameters of its statements.
        build: serializes the rows of a page.
        newest_first: whether to sort in descending order.
        fitting: returns how many of the given rows fit on a page, at least one.
    """

    def read(place: list[Any] | None, most: int) -> Sequence[Row]:
        parameters = values | {"most": most} | {f"after_{number}": value for number, value in enumerate(place or ())}
        return context.records(listing.page(newest_first=newest_first, after=place is not None), **parameters)

    def total() -> int | None:
        number: int = context.rows(listing.count, **values)[0][0]
        return number if number <= MOST_COUNTED else None

    return page_of_found(call, read, build, key=listing.key, total=total, fitting=fitting)


def page_of_found(
    call: Paged,
    read: Callable[[list[Any] | None, int], Sequence[Row]],
    build: Callable[[Sequence[Row]], Iterable[Item]],
    *,
    key: SortKey,
    total: Callable[[], int | None],
    fitting: Callable[[Sequence[Row]], int] = len,
) -> Page[Item]:
    """Return one page of a list of rows that a function reads.

    Args:
        call: the operation, with cursor and limit.
        read: returns the first rows after a place, in order. Its arguments are the sort key of a row (None for the
            start) and the maximum number of rows.
        build: serializes the rows of a page.
        key: the sort key.
        total: returns the number of all items, or None if it is unknown; not called if the page has all items.
        fitting: returns how many of the given rows fit on a page, at least one.
    """
    # one more row than the page has shows whether another page follows
    limit = USUAL_LIMIT if call.limit is None else call.limit
    place = _place(call, key.kinds)
    rows: Sequence[Row] = read(place, limit + 1) if limit else ()
    page_rows = rows[: fitting(rows[:limit])] if rows else rows
    is_all = bool(limit) and place is None and len(rows) <= limit
    last = [getattr(page_rows[-1], name) for name in key.names] if len(rows) > len(page_rows) else None
    return _page(build(page_rows), last, len(rows) if is_all else total())


def page_of_items(call: Paged, items: Sequence[Item]) -> Page[Item]:
    """Return one page of a list in memory, such as the files of a revision. Its cursors are indexes."""
    limit = USUAL_LIMIT if call.limit is None else call.limit
    start = max(0, (_place(call, [int]) or [0])[0])
    end = start + limit
    return _page(items[start:end], [end] if limit and end < len(items) else None, len(items))


def _page(items: Iterable[Item], last: list[Any] | None, total: int | None) -> Page[Item]:
    following = None if last is None else Cursor(page=_cursor(last))
    # not validated: the items were when they were created
    listed = tuple(items)
    return Page.model_construct(items=listed, next=following, count=len(listed), total=total)


def _cursor(place: list[Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(place, separators=(",", ":")).encode()).decode().rstrip("=")


def _place(call: Paged, kinds: Sequence[type]) -> list[Any] | None:
    if call.page is None:
        return None
    try:
        value: Any = json.loads(base64.urlsafe_b64decode(call.page + "=" * (-len(call.page) % 4)))
    except (ValueError, RecursionError):
        value = None
    place = cast("list[Any]", value) if isinstance(value, list) else []
    if len(place) != len(kinds) or not all(map(_is_of, place, kinds)):
        raise ApiError(400, "page: invalid cursor for this list")
    return place


def _is_of(part: Any, kind: type) -> bool:
    """Return whether a value fits a column of this type."""
    if isinstance(part, str):
        return kind is str and is_fit(part)
    return type(part) is kind and abs(part) < LARGEST
