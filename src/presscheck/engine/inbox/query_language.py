"""The filter language of the inbox: ``space:api outdated:yes updated:<2w limits sort:-comments``.

A plain word is searched in the subject; a word before a colon names a filter. All of them must match. What the service
can filter (``author:me``, ``status:merged``) is part of the request; everything else is filtered in the cache.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from presscheck.api.change_requests import ChangeRequest
from presscheck.engine.shared_calls import reviewers_of
from presscheck.errors import InvalidArgument
from presscheck.store.cache import Condition

ORDERS = {
    "updated": ("$.updatedAt", True),
    "created": ("$.createdAt", True),
    "comments": ("$.comments", True),
    "number": ("$.number", False),
    "author": ("$.createdBy.displayName", False),
    "subject": ("$.subject", False),
    "space": ("$.space", False),
}
"""The sort orders: their JSON path, and whether they are descending by default."""
UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1), "m": timedelta(days=30)}
STATUSES = ("draft", "open", "archived", "merged")
ME = "me"
"""The name of the signed-in user in filters."""
REQUEST_PARAMETERS = {"reviewer": "requested_reviewer", "author": "creator", "involved": "contributor"}
"""The request parameter of each filter by user; the service filters by `me` only, because other ids are not known."""
REVIEWERS_KEY = reviewers_of(ChangeRequest(id="{id}", space="{space}")).key()
"""The cache key of the requested reviewers, with placeholders for the ids."""
_SORT = re.compile(r"(?:^|(?<!\s)\s++)sort:(\S*)")
_COUNT = re.compile(r"([<>]?)(\d{1,6})")
_AGE = re.compile(r"([<>]?)(\d{1,4})([hdwm])")


@dataclass(frozen=True)
class Query:
    """A parsed filter.

    Attributes:
        text: as it was typed.
        conditions: filters for the cached rows; all must match.
        order: the JSON path to sort by, and whether the order is descending; None for the order of the listing.
        asks: parameters of the listing and their values (`ME` or a status), which replace those of the view.
    """

    text: str = ""
    conditions: tuple[Condition, ...] = ()
    order: tuple[str, bool] | None = None
    asks: tuple[tuple[str, str], ...] = ()


def parse(text: str, spaces: Mapping[str, str], moment: datetime) -> Query:
    """Parse a filter.

    Args:
        text: as it was typed.
        spaces: titles of spaces by id.
        moment: the current time, for ages.

    Raises:
        InvalidArgument: an unknown filter or value; the message lists what is allowed.
    """
    found: list[Condition] = []
    order: tuple[str, bool] | None = None
    asks: dict[str, str] = {}
    for word in _words(text):
        name, colon, value = word.partition(":")
        if not colon:
            found.append(Condition("$.subject", "contains", word.lower()))
        elif name == "sort":
            order = _order(value)
        elif name in REQUEST_PARAMETERS and value == ME:
            asks[REQUEST_PARAMETERS[name]] = ME
        elif name in FIELDS:
            found.append(FIELDS[name](value, spaces, moment))
            asks |= {"status": value} if name == "status" else {}
        else:
            raise InvalidArgument(name, f"unknown filter; available: {', '.join([*FIELDS, 'sort'])}")
    return Query(text.strip(), tuple(found), order, tuple(asks.items()))


@lru_cache(maxsize=256)
def asks_of(text: str) -> tuple[tuple[str, str], ...]:
    """The request parameters of a filter; empty if it is invalid."""
    try:
        return parse(text, {}, datetime.now(UTC)).asks
    except InvalidArgument:
        return ()


def without_order(text: str) -> tuple[str, str]:
    """A filter without its sort order, and the order: the value of the last ``sort:``."""
    orders = _SORT.findall(text)
    return _SORT.sub("", text).strip(), orders[-1] if orders else ""


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        raise InvalidArgument("view", "missing closing quote") from None


def _order(value: str) -> tuple[str, bool]:
    name = value.removeprefix("-")
    if name not in ORDERS:
        raise InvalidArgument("sort", f"one of {', '.join(ORDERS)}; a leading - reverses the order")
    path, is_descending = ORDERS[name]
    return path, is_descending != value.startswith("-")


def _space(value: str, spaces: Mapping[str, str], _: datetime) -> Condition:
    title_part = value.casefold()
    matches = tuple(
        key for key, title in spaces.items() if title_part in (key.casefold(), "") or title_part in title.casefold()
    )
    return Condition("$.space", "in", matches)


def _author(value: str, _: Mapping[str, str], __: datetime) -> Condition:
    return Condition("$.createdBy.displayName", "contains", value.lower())


def _reviewer(value: str, _: Mapping[str, str], __: datetime) -> Condition:
    if not value:
        raise InvalidArgument("reviewer", "me, or part of a name")
    return Condition(REVIEWERS_KEY, "asked", value.lower())


def _involved(value: str, _: Mapping[str, str], __: datetime) -> Condition:
    raise InvalidArgument("involved", "only me is supported")


def _status(value: str, _: Mapping[str, str], __: datetime) -> Condition:
    if value not in STATUSES:
        raise InvalidArgument("status", f"one of {', '.join(STATUSES)}")
    return Condition("$.status", "is", value)


def _outdated(value: str, _: Mapping[str, str], __: datetime) -> Condition:
    if value not in ("yes", "no"):
        raise InvalidArgument("outdated", "yes or no")
    return Condition("$.outdated", "is", int(value == "yes"))


def _comments(value: str, _: Mapping[str, str], __: datetime) -> Condition:
    found = _COUNT.fullmatch(value)
    if found is None:
        raise InvalidArgument("comments", "a number, such as 0 or >2")
    return Condition("$.comments", {"": "is", "<": "less", ">": "more"}[found[1]], int(found[2]))


def _updated(value: str, _: Mapping[str, str], moment: datetime) -> Condition:
    found = _AGE.fullmatch(value)
    if found is None:
        raise InvalidArgument("updated", "an age, such as <2w (newer) or >3d (older)")
    then = (moment - int(found[2]) * UNITS[found[3]]).strftime("%Y-%m-%dT%H:%M:%S")
    return Condition("$.updatedAt", "less" if found[1] == ">" else "more", then)


FIELDS: dict[str, Callable[[str, Mapping[str, str], datetime], Condition]] = {
    "space": _space,
    "author": _author,
    "reviewer": _reviewer,
    "involved": _involved,
    "status": _status,
    "outdated": _outdated,
    "comments": _comments,
    "updated": _updated,
}
"""The filters by name."""
