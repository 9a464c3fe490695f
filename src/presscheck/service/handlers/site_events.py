"""Events on published pages. The feedback of readers is the only kind of event that this service stores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, cast

from sqlalchemy import select

from presscheck.api.site_events import RANGES, AggregateSiteEvents, EventTable, EventValues, Range
from presscheck.service.db.ids import moment_text
from presscheck.service.handlers.sites import site_for
from presscheck.service.http.operations import ApiError, Context, handles
from presscheck.service.models.sites import PageFeedbackRow

Column = Callable[[PageFeedbackRow], Any]

MOST_ROWS = 1000
MOST_READ = 50_000
"""Maximum number of events that one call reads; older ones are ignored."""
MOST_COLUMNS = 20
COLUMNS: dict[str, Column] = {
    "datetime": lambda row: row.created_at,
    "url": lambda row: row.url,
    "eventType": lambda row: "page_post_feedback_comment" if row.comment else "page_post_feedback",
    "eventPageFeedbackRating": lambda row: row.rating,
    "eventPageFeedbackComment": lambda row: row.comment,
}
"""Functions that read a column from an event."""
TOTALS: dict[str, Callable[[Sequence[PageFeedbackRow]], Any]] = {
    "eventsCount": len,
    "pageFeedbackRating": lambda rows: {"good": 0, "ok": 0, "bad": 0} | Counter(row.rating for row in rows),
}
"""Functions that compute a column of a group of events."""
INTERVALS = ("hour", "day", "week", "month")


@handles(AggregateSiteEvents, writes=False)
def aggregate_site_events(context: Context, call: AggregateSiteEvents) -> EventTable:
    """Return a row with the selected columns for each event, or for each group of events.

    Events are grouped if the call groups by columns or selects a total. At most `MOST_READ` events are read.
    """
    site = site_for(context, call.organization_id, call.site_id, "create")
    start, end = _range(context, call.range)
    in_range = select(PageFeedbackRow).where(
        PageFeedbackRow.site_id == site.id, PageFeedbackRow.created_at >= start, PageFeedbackRow.created_at <= end
    )
    newest = in_range.order_by(PageFeedbackRow.created_at.desc(), PageFeedbackRow.id.desc()).limit(MOST_READ)
    filters = [_filter(condition) for condition in call.where or ()]
    chosen = [*(call.group_by or ()), *(call.select or [{"column": name} for name in COLUMNS])]
    if len(chosen) > MOST_COLUMNS:
        raise ApiError(400, f"select: must have at most {MOST_COLUMNS} columns")
    columns = {_name(column): _column(column) for column in chosen if _name(column) not in TOTALS}
    totals = {_name(column): TOTALS[_name(column)] for column in chosen if _name(column) in TOTALS}
    rows = [row for row in context.session.scalars(newest) if all(holds(row) for holds in filters)]
    keys = [tuple(column(row) for column in columns.values()) for row in rows]
    if totals or call.group_by:
        groups: dict[tuple[Any, ...], list[PageFeedbackRow]] = {}
        for key, row in zip(keys, rows, strict=True):
            groups.setdefault(key, []).append(row)
        table = [(*key, *(total(members) for total in totals.values())) for key, members in groups.items()]
    else:
        table = keys
    names = [*columns, *totals]
    if call.order:
        _sort(table, names, _name(call.order.by), is_descending=call.order.direction == "desc")
    table = table[: call.limit or MOST_ROWS]
    values = [tuple(row[index] for row in table) for index in range(len(names))]
    return EventTable(
        columns=tuple(EventValues(column=name, values=column) for name, column in zip(names, values, strict=True))
    )


def _range(context: Context, given: Range | dict[str, Any]) -> tuple[str, str]:
    if isinstance(given, str):
        now = context.clock()
        return moment_text(now - timedelta(days=RANGES[given])), moment_text(now)
    try:
        start, end = (moment_text(datetime.fromisoformat(str(given.get(name)))) for name in ("from", "to"))
    except (ValueError, OverflowError):
        raise ApiError(400, "range: must be a name, or have the times from and to") from None
    return start, end


def _name(column: dict[str, Any]) -> str:
    return str(column.get("column"))


def _column(column: dict[str, Any]) -> Column:
    """Return the function that reads a column.

    Raises:
        ApiError: 400, this service has no such column or interval.
    """
    read, interval = COLUMNS.get(_name(column)), column.get("interval")
    if read is None:
        raise ApiError(400, f"column: must be one of {', '.join((*COLUMNS, *TOTALS))}")
    if interval is None or _name(column) != "datetime":
        return read
    if interval not in INTERVALS:
        raise ApiError(400, f"interval: must be one of {', '.join(INTERVALS)}")
    return lambda row: _start(row.created_at, interval)


def _start(text: str, interval: str) -> str:
    """Return the start of the hour, day, week or month that contains a time."""
    moment = datetime.fromisoformat(text).replace(minute=0, second=0, microsecond=0)
    if interval != "hour":
        days = {"day": 0, "week": moment.weekday(), "month": moment.day - 1}[interval]
        moment = moment.replace(hour=0) - timedelta(days=days)
    return moment_text(moment)


def _filter(condition: dict[str, Any]) -> Callable[[PageFeedbackRow], bool]:
    column, values, operator = _column(condition), condition.get("values"), condition.get("operator", "in")
    if not isinstance(values, list) or operator not in ("in", "notIn"):
        raise ApiError(400, "where: a filter must have values, and the operator in or notIn")
    wanted = cast("list[Any]", values)
    return lambda row: (column(row) in wanted) is (operator == "in")


def _sort(table: list[tuple[Any, ...]], names: list[str], name: str, *, is_descending: bool) -> None:
    if name not in names or name == "pageFeedbackRating":
        raise ApiError(400, "order.by: must be a selected column with values that have an order")
    index = names.index(name)
    table.sort(key=lambda row: row[index], reverse=is_descending)
