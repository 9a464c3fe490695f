"""Events on the pages of a published site, such as feedback of readers."""

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from presscheck.api.operation import Argument, InSite, Model, Operation

Range = Literal["lastYear", "last3Months", "last30Days", "last7Days", "last24Hours"]
RANGES: dict[Range, int] = {"lastYear": 365, "last3Months": 91, "last30Days": 30, "last7Days": 7, "last24Hours": 1}
"""The ranges that have a name, in days."""


class EventOrder(Argument):
    """The order of the rows: the column to sort by, and the direction."""

    by: dict[str, Any]
    direction: Literal["asc", "desc"]


class EventValues(Model):
    """A column of the result, with a value for each row."""

    column: str
    values: tuple[Any, ...]


class EventTable(Model):
    """A table of events, column by column. All columns have the same number of values."""

    columns: tuple[EventValues, ...]

    @model_validator(mode="after")
    def _has_columns_of_one_length(self) -> Self:
        if len({len(column.values) for column in self.columns}) > 1:
            raise ValueError("the columns have different lengths")
        return self


class AggregateSiteEvents(InSite, Operation[EventTable]):
    """List or count the events on the pages of a site.

    `range` is a name such as `last30Days`, or the times `from` and `to`. Columns are objects such as
    `{"column": "eventType"}`; a filter also has `values` and an `operator`. The local service stores only feedback.
    """

    operation_id = "aggregateSiteEvents"
    route = "POST /orgs/{organization_id}/sites/{site_id}/insights/events/aggregate"
    feature = "feedback of readers"
    release = "0.202.0"

    range: Range | dict[str, Any]
    select: tuple[dict[str, Any], ...] | None = None
    where: tuple[dict[str, Any], ...] | None = None
    group_by: tuple[dict[str, Any], ...] | None = None
    order: EventOrder | None = None
    limit: int | None = Field(default=None, ge=1, le=1000)
