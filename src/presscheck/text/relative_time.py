"""Moments as people say them: how long ago by default, the exact minute on demand, a dash where none can be read.

Nothing here reads a clock but `now`, so what is shown is a function of the time that it was asked for.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo

UNKNOWN = "–"

MINUTE, HOUR, DAY = 60, 3600, 86400
_STEPS = ((365 * DAY, "y"), (30 * DAY, "mo"), (7 * DAY, "w"), (DAY, "d"), (HOUR, "h"), (MINUTE, "min"))

_FIRST, _LAST = datetime.min + timedelta(days=2), datetime.max - timedelta(days=2)


def ago(iso: str | None, now: datetime) -> str:
    """How long ago that was, in a column's width: `now`, `5 min`, `2 h`, `3 d`, `6 w`, `4 mo`, `2 y`.

    What lies more than a day ahead, as when a clock is wrong, is shown as its date.
    """
    moment = parse_time(iso)
    if moment is None:
        return UNKNOWN
    seconds = (now - moment).total_seconds()
    return f"{moment:%Y-%m-%d}" if seconds < -DAY else span(seconds)


def since(iso: str | None, now: datetime) -> str:
    """How long ago that was, in a sentence: `just now`, `2 h ago`; the date where it lies ahead; a dash if unknown."""
    short = ago(iso, now)
    if short == "now":
        return "just now"
    return f"{short} ago" if short[-1].isalpha() else short


def long_ago(seconds: float) -> str:
    """How long ago, in a sentence: `just now`, `2 h ago`."""
    short = span(seconds)
    return "just now" if short == "now" else f"{short} ago"


def span(seconds: float) -> str:
    """A length of time in its largest unit: `now` below a minute, else `5 min`, `2 h`, `3 d`, `6 w`, `4 mo`, `2 y`."""
    for size, unit in _STEPS:
        # weeks read better than "1 mo" until a second month begins
        if seconds >= size * (2 if unit in ("mo", "w") else 1):
            return f"{int(seconds // size)} {unit}"
    return "now"


def exact(iso: str | None, zone: tzinfo | None = None) -> str:
    """The minute, in the zone of this machine unless another is given: `2026-11-20 23:04 +0100`."""
    moment = parse_time(iso)
    return f"{moment.astimezone(zone):%Y-%m-%d %H:%M %z}" if moment else UNKNOWN


def now() -> datetime:
    """This moment."""
    return datetime.now(UTC)


def parse_time(iso: str | None) -> datetime | None:
    """The moment that an ISO 8601 text names, in UTC where it tells no zone; None where it names none."""
    try:
        moment = datetime.fromisoformat(iso or "")
    except ValueError:
        return None
    # nearer to the ends of the calendar than a day, no zone could be reckoned in
    if not _FIRST <= moment.replace(tzinfo=None) <= _LAST:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
