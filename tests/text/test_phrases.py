from datetime import UTC, datetime, timedelta, timezone

from tests.table import each_case

from presscheck.text.phrases import ago, count, exact, now, parse_time, since, span

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@each_case(
    ("seconds", "shown"),
    [
        (0, "now"),
        (59, "now"),
        (60, "1 min"),
        (3599, "59 min"),
        (3600, "1 h"),
        (86399, "23 h"),
        (86400, "1 d"),
        (13 * 86400, "13 d"),
        (14 * 86400, "2 w"),
        (59 * 86400, "8 w"),
        (60 * 86400, "2 mo"),
        (364 * 86400, "12 mo"),
        (365 * 86400, "1 y"),
        (-40, "now"),
    ],
)
def test_duration_in_its_largest_unit(seconds: int, shown: str) -> None:
    assert span(seconds) == shown
    assert ago((NOW - timedelta(seconds=seconds)).isoformat(), NOW) == shown


def test_since_for_sentences() -> None:
    assert since("2026-11-20T10:00:00Z", NOW) == "2 h ago"
    assert since("2026-11-20T11:59:30.123Z", NOW) == "just now"
    assert since("2026-12-24T00:00:00Z", NOW) == "2026-12-24"
    assert since("", NOW) == "–"


def test_time_zone_is_respected_and_defaults_to_utc() -> None:
    assert ago("2026-11-20T12:00:00+02:00", NOW) == "2 h"
    assert ago("2026-11-20T10:00:00", NOW) == "2 h"


@each_case(
    "unreadable",
    [
        "",
        None,
        "yesterday",
        "2026-13-40T00:00:00Z",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        "\x1b[2J",
    ],
)
def test_unreadable_time_is_a_dash(unreadable: str | None) -> None:
    assert ago(unreadable, NOW) == "–"
    assert exact(unreadable) == "–"


def test_future_time_is_a_date() -> None:
    assert ago("2026-11-22T00:00:00Z", NOW) == "2026-11-22"
    assert ago("2026-11-20T13:00:00Z", NOW) == "now"


def test_exact_minute_in_a_time_zone() -> None:
    assert exact("2026-11-20T22:04:59.9Z", timezone(timedelta(hours=1))) == "2026-11-20 23:04 +0100"


def test_now_compares_with_parsed_times() -> None:
    moment = parse_time("2020-01-01T00:00:00Z")
    assert moment is not None
    assert moment < now()


@each_case(
    ("number", "text"), [(0, "0 pages"), (1, "1 page"), (2, "2 pages"), (-1, "-1 pages"), (12345, "12,345 pages")]
)
def test_count_adds_an_s_except_after_one(number: int, text: str) -> None:
    assert count(number, "page") == text


def test_a_plural_can_be_given() -> None:
    assert [count(number, "reply", "replies") for number in (1, 2)] == ["1 reply", "2 replies"]
