"""Values of `--since`, and quiet hours."""

from __future__ import annotations

from datetime import datetime

import pytest
from tests.table import each_case

from presscheck.engine.inbox.digest import is_after, parse_since
from presscheck.engine.inbox.event_notifications import is_quiet
from presscheck.errors import InvalidArgument

pytestmark = pytest.mark.usefixtures("berlin")


def thursday() -> datetime:
    return datetime(2026, 11, 26, 15, 30).astimezone()


@each_case(
    ("text", "beginning"),
    [
        ("today", "2026-11-26T00:00:00+01:00"),
        (" Yesterday ", "2026-11-25T00:00:00+01:00"),
        ("wednesday", "2026-11-25T00:00:00+01:00"),
        ("thursday", "2026-11-19T00:00:00+01:00"),
        ("friday", "2026-11-20T00:00:00+01:00"),
        ("12h", "2026-11-26T03:30:00+01:00"),
        ("2d", "2026-11-24T15:30:00+01:00"),
        ("1w", "2026-11-19T15:30:00+01:00"),
        ("2026-11-01", "2026-11-01T00:00:00+01:00"),
        ("2026-10-25", "2026-10-25T00:00:00+02:00"),  # the day on which the clocks change
        ("2026-07-01T08:00", "2026-07-01T08:00:00+02:00"),
        ("2026-11-01T08:00Z", "2026-11-01T08:00:00+00:00"),
    ],
)
def test_since_is_a_word_an_age_or_a_date(text: str, beginning: str) -> None:
    assert parse_since(text, thursday()).isoformat() == beginning


def test_since_may_be_in_the_year_1() -> None:
    assert is_after("2026-11-01T08:00:00Z", parse_since("0001-01-01", thursday()))


@each_case("text", ["", "tomorrow", "2026-11-27", "-1d", "99999d", "13-13", "\x1b[2J", "1y"])
def test_invalid_since_is_an_error_that_names_the_option(text: str) -> None:
    with pytest.raises(InvalidArgument, match="--since"):
        parse_since(text, thursday())


@each_case(
    ("hours", "at", "quiet"),
    [
        (None, "03:00", False),
        ("22:00-07:00", "21:59", False),
        ("22:00-07:00", "22:00", True),
        ("22:00-07:00", "03:00", True),
        ("22:00-07:00", "07:00", False),
        ("12:00-13:30", "13:29", True),
        ("12:00-13:30", "11:59", False),
        ("08:00-08:00", "08:00", False),
    ],
)
def test_quiet_hours_may_include_midnight(hours: str | None, at: str, quiet: bool) -> None:
    assert is_quiet(hours, datetime.fromisoformat(f"2026-11-26T{at}")) is quiet
