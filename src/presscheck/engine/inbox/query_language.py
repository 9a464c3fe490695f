"""The filter language of the inbox: ``space:api outdated:yes updated:<2w limits sort:-comments``.

A plain word is searched in the subject; a word before a colon names a filter. All parts must match. Filters that the
service supports (``author:me``, ``status:merged``) become request parameters; all others are applied in the cache. A
sort order is ascending; a leading ``-`` makes it descending.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from presscheck.api.change_requests import ChangeRequest
from presscheck.engine.filter_words import filter_words
from presscheck.engine.shared_calls import reviewers_of, reviews_of
from presscheck.errors import InvalidArgument
from presscheck.store.cache import Condition

ORDERS = {
    "updated": "$.updatedAt",
    "created": "$.createdAt",
    "comments": "$.comments",
    "number": "$.number",
    "author": "$.createdBy.displayName",
    "subject": "$.subject",
    "space": "$.space",
}
"""The JSON path of each sort order."""
UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1), "m": timedelta(days=30)}
STATUSES = ("draft", "open", "archived", "merged")
OUTDATED = ("yes", "no")
ME = "me"
"""The name of the signed-in user in filters."""
REQUEST_PARAMETERS = {"reviewer": "requested_reviewer", "author": "creator", "waiting": "requested_reviewer"}
"""The request parameter of each filter by user. It is used only for `me`: the ids of other users are unknown."""
_ANY = ChangeRequest(id="{id}", space="{space}")
REVIEWERS_KEY, REVIEWS_KEY = reviewers_of(_ANY).key(), reviews_of(_ANY).key()
"""The cache keys of the requested reviewers and of the reviews, with placeholders for the ids."""
PERSONAL = frozenset(("involved", "not mine", "reviewed", "not reviewed"))
"""Relations that depend on the signed-in user. `Query.for_user` sets their values."""
NOTIFICATION_STATES = ("muted", "followed")
NOTIFICATIONS = frozenset((*NOTIFICATION_STATES, "not muted"))
"""Relations that depend on muted and followed targets. `Query.for_user` sets their values."""
HELD = "held"
"""The relation of change requests with held texts. `Query.for_user` sets their ids."""
_COUNT = re.compile(r"([<>]?)(\d{1,6})")
_AGE = re.compile(r"([<>]?)(\d{1,4})([hdwm])")


@dataclass(frozen=True)
class Query:
    """A parsed filter.

    Attributes:
        text: the filter as typed.
        conditions: filters for the cached rows; all must match.
        order: the JSON path to sort by, and whether the order is descending; None for the order of the listing.
        asks: parameters of the listing and their values (`ME` or a status), which replace the view's own values.
    """

    text: str = ""
    conditions: tuple[Condition, ...] = ()
    order: tuple[str, bool] | None = None
    asks: tuple[tuple[str, str], ...] = ()

    def for_user(
        self,
        me: str,
        listings: tuple[str, ...],
        reviewed: Mapping[str, float],
        notifications: Mapping[str, Mapping[str, str]] | None = None,
        held: Iterable[str] = (),
    ) -> tuple[Condition, ...]:
        """Return the conditions for a user. If `me` is empty, conditions that depend on the user are left out.

        Args:
            me: the id of the user.
            listings: the cache keys of the listings of change requests that the user takes part in.
            reviewed: the times of the user's latest reviews by change request id, in seconds since the epoch. Lists
                of reviews that were cached before such a time lack the review.
            notifications: the muted and followed targets, from `NotificationSettings.by_id`.
            held: the ids of the change requests with drafts or with comments of a pending review.
        """
        value = json.dumps(
            {"me": me, "reviewers": REVIEWERS_KEY, "listings": listings, "reviewed": reviewed, **(notifications or {})}
        )
        conditions = (
            replace(condition, relation="in", value=tuple(held)) if condition.relation == HELD else condition
            for condition in self.conditions
        )
        return tuple(
            replace(condition, value=value) if condition.relation in PERSONAL | NOTIFICATIONS else condition
            for condition in conditions
            if (me or condition.relation not in PERSONAL) and (notifications or condition.relation != "not muted")
        )


def parse(text: str, spaces: Mapping[str, str], moment: datetime) -> Query:
    """Parse a filter.

    Args:
        text: the filter as typed.
        spaces: titles of spaces by id.
        moment: the current time, for ages.

    Raises:
        InvalidArgument: an unknown filter or value; the message lists the allowed filters or values.
    """
    conditions: list[Condition] = []
    order: tuple[str, bool] | None = None
    asks: dict[str, str] = {}
    for name, colon, value in filter_words(text, "view"):
        if not colon:
            conditions.append(Condition("$.subject", "contains", name.lower()))
        elif name == "sort":
            order = _order(value)
        elif name in FIELDS:
            conditions += FIELDS[name](value, spaces, moment)
            if name == "status":
                asks[name] = value
            elif name in REQUEST_PARAMETERS and value == ME:
                asks[REQUEST_PARAMETERS[name]] = ME
        else:
            raise InvalidArgument(name, f"unknown filter; available: {', '.join([*FIELDS, 'sort'])}")
    if any(condition.relation == "muted" for condition in conditions):
        conditions = [condition for condition in conditions if condition.relation != "not muted"]
    return Query(text.strip(), tuple(conditions), order, tuple(asks.items()))


@lru_cache(maxsize=256)
def asks_of(text: str) -> tuple[tuple[str, str], ...]:
    """Return the request parameters of a filter; empty if the filter is invalid."""
    try:
        return parse(text, {}, datetime.now(UTC)).asks
    except InvalidArgument:
        return ()


@lru_cache(maxsize=256)
def is_local(text: str) -> bool:
    """Return whether a filter has conditions or a sort order to apply in the cache. False if the filter is invalid."""
    try:
        query = parse(text, {}, datetime.now(UTC))
    except InvalidArgument:
        return False
    return bool(query.conditions or query.order)


def _order(value: str) -> tuple[str, bool]:
    name = value.removeprefix("-")
    if name not in ORDERS:
        raise InvalidArgument("sort", f"one of {', '.join(ORDERS)}; a leading - reverses the order")
    return ORDERS[name], value.startswith("-")


Conditions = tuple[Condition, ...]


def _space(value: str, spaces: Mapping[str, str], _: datetime) -> Conditions:
    title_part = value.casefold()
    matches = tuple(
        key for key, title in spaces.items() if title_part in (key.casefold(), "") or title_part in title.casefold()
    )
    return (Condition("$.space", "in", matches),)


def _author(value: str, _: Mapping[str, str], __: datetime) -> Conditions:
    return () if value == ME else (Condition("$.createdBy.displayName", "contains", value.lower()),)


def _reviewer(value: str, _: Mapping[str, str], __: datetime) -> Conditions:
    if not value:
        raise InvalidArgument("reviewer", "me, or part of a name")
    return () if value == ME else (Condition(REVIEWERS_KEY, "asked", value.lower()),)


def _involved(value: str, _: Mapping[str, str], __: datetime) -> Conditions:
    if value != ME:
        raise InvalidArgument("involved", "only me is supported")
    return (Condition(REVIEWS_KEY, "involved", ""), Condition("", "not muted", ""))


def _waiting(value: str, _: Mapping[str, str], __: datetime) -> Conditions:
    """Return the conditions for `me` or `author`.

    `me`: the user's review is requested and not done. `author`: somebody else is the author, and the user reviewed the
    current revision.
    """
    if value == ME:
        return (Condition(REVIEWS_KEY, "not reviewed", ""), Condition("", "not muted", ""))
    if value == "author":
        return (Condition("$.createdBy.id", "not mine", ""), Condition(REVIEWS_KEY, "reviewed", ""))
    raise InvalidArgument("waiting", "me or author")


def _is(value: str, _: Mapping[str, str], __: datetime) -> Conditions:
    if value == "pending":
        return (Condition("$.id", HELD, ""),)
    if value not in NOTIFICATION_STATES:
        raise InvalidArgument("is", "muted, followed or pending")
    return (Condition("", value, ""),)


def _status(value: str, _: Mapping[str, str], __: datetime) -> Conditions:
    if value not in STATUSES:
        raise InvalidArgument("status", f"one of {', '.join(STATUSES)}")
    return (Condition("$.status", "is", value),)


def _outdated(value: str, _: Mapping[str, str], __: datetime) -> Conditions:
    if value not in OUTDATED:
        raise InvalidArgument("outdated", " or ".join(OUTDATED))
    return (Condition("$.outdated", "is", int(value == "yes")),)


def _comments(value: str, _: Mapping[str, str], __: datetime) -> Conditions:
    match = _COUNT.fullmatch(value)
    if match is None:
        raise InvalidArgument("comments", "a number, such as 0 or >2")
    return (Condition("$.comments", {"": "is", "<": "less", ">": "more"}[match[1]], int(match[2])),)


def _updated(value: str, _: Mapping[str, str], moment: datetime) -> Conditions:
    match = _AGE.fullmatch(value)
    if match is None:
        raise InvalidArgument("updated", "an age, such as <2w (newer) or >3d (older)")
    then = (moment - int(match[2]) * UNITS[match[3]]).strftime("%Y-%m-%dT%H:%M:%S")
    return (Condition("$.updatedAt", "less" if match[1] == ">" else "more", then),)


FIELDS: dict[str, Callable[[str, Mapping[str, str], datetime], Conditions]] = {
    "space": _space,
    "author": _author,
    "reviewer": _reviewer,
    "involved": _involved,
    "waiting": _waiting,
    "is": _is,
    "status": _status,
    "outdated": _outdated,
    "comments": _comments,
    "updated": _updated,
}
"""The filters by name."""


_VALUES: dict[str, tuple[str, ...]] = {
    "author": (ME,),
    "reviewer": (ME,),
    "involved": (ME,),
    "waiting": (ME, "author"),
    "is": (*NOTIFICATION_STATES, "pending"),
    "status": STATUSES,
    "outdated": OUTDATED,
    "comments": ("0", ">0"),
    "updated": ("<2w", ">3d"),
    "sort": (*ORDERS, *(f"-{order}" for order in ORDERS)),
}
"""Values of the filters, for completion."""


def completions(text: str, spaces: Iterable[str], people: Iterable[str]) -> list[str]:
    """Return the filters, or the values of a filter, that complete the last word of a text.

    Args:
        text: the filter as typed so far.
        spaces: titles of spaces.
        people: names of people.
    """
    word = text[text.rfind(" ") + 1 :]
    name, colon, value = word.partition(":")
    if not colon:
        options = [f"{field}:" for field in (*FIELDS, "sort")] if name else []
        return [option for option in options if option.startswith(name)]
    names = {"space": spaces, "author": people, "reviewer": people}.get(name, ())
    values = [*_VALUES.get(name, ()), *sorted({part for text in names for part in re.findall(r"\w+", text)})]
    return [f"{name}:{option}" for option in values if option.casefold().startswith(value.casefold())]
