"""Phrases with numbers and times: `5 min ago`, `2 h`, the exact minute, a dash for an unreadable time, `1 problem`,
`812 kB`.

Only `now` reads the clock. All other functions depend on their arguments only, but `exact` uses the local time zone by
default.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from functools import partial

UNKNOWN = "–"
MINUTE, HOUR, DAY = 60, 3600, 86400
_STEPS = ((365 * DAY, "y"), (30 * DAY, "mo"), (7 * DAY, "w"), (DAY, "d"), (HOUR, "h"), (MINUTE, "min"))
clock: Callable[[], datetime] = partial(datetime.now, UTC)
"""The clock that `now` reads; tests replace it."""
_FIRST, _LAST = datetime.min + timedelta(days=2), datetime.max - timedelta(days=2)


def ago(iso: str | None, now: datetime) -> str:
    """Return the age of a time in short form, for a column: `now`, `5 min`, `2 h`, `3 d`, `6 w`, `4 mo`, `2 y`.

    The result is a date for a time more than a day in the future (a wrong clock), and a dash for an unknown time.
    """
    moment = parse_time(iso)
    if moment is None:
        return UNKNOWN
    seconds = (now - moment).total_seconds()
    return f"{moment:%Y-%m-%d}" if seconds < -DAY else span(seconds)


def since(iso: str | None, now: datetime) -> str:
    """Return the age of a time for a sentence: `just now`, `2 h ago`.

    The result is a date for a time more than a day in the future, and a dash for an unknown time.
    """
    short = ago(iso, now)
    if short == "now":
        return "just now"
    return f"{short} ago" if short[-1].isalpha() else short


def long_ago(seconds: float) -> str:
    """Format a number of seconds as `just now` or `2 h ago`."""
    short = span(seconds)
    return "just now" if short == "now" else f"{short} ago"


def span(seconds: float) -> str:
    """Return a duration in its largest unit: `now` below a minute, `5 min`, `2 h`, `3 d`, `6 w`, `4 mo`, `2 y`."""
    for size, unit in _STEPS:
        # "6 w" is clearer than "1 mo", so weeks and months start at two
        if seconds >= size * (2 if unit in ("mo", "w") else 1):
            return f"{int(seconds // size)} {unit}"
    return "now"


def exact(iso: str | None, zone: tzinfo | None = None) -> str:
    """Format a time to the minute, in a time zone (the local one by default): `2026-11-20 23:04 +0100`.

    Return a dash for an unknown time.
    """
    moment = parse_time(iso)
    return f"{moment.astimezone(zone):%Y-%m-%d %H:%M %z}" if moment else UNKNOWN


def now() -> datetime:
    """Return the current time in UTC, from `clock`."""
    return clock()


def parse_time(iso: str | None) -> datetime | None:
    """Parse an ISO 8601 time. A time without a zone is in UTC. Return None for an invalid time."""
    try:
        moment = datetime.fromisoformat(iso or "")
    except ValueError:
        return None
    # closer to the limits of the calendar, converting to a time zone would overflow
    if not _FIRST <= moment.replace(tzinfo=None) <= _LAST:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def count(number: int, noun: str, plural: str = "") -> str:
    """Format a number with thousands separators, and its noun in the right form.

    Args:
        number: the number.
        noun: the noun in the singular.
        plural: the noun in the plural, if it is not the singular with an s.
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def size_of(count: int) -> str:
    """Format a number of bytes in the largest unit: `812 kB`."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.1f} {unit}" if count < 10 * size else f"{count // size} {unit}"
    return f"{max(count, 0)} B"
